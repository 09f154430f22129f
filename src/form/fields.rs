//! Writes the fields of a form as HTML.

use std::collections::BTreeMap;

use crate::form::html::{escape, id, marked};
use crate::form::model::{Choice, Control, Field, Form, Group, Lacking};
use crate::form::pattern;
use crate::template::ParameterType;

/// Groups can be folded in a form with more fields than this.
const MAX_UNFOLDED: usize = 30;

/// What a person entered, and the messages about it, by the names of parameters.
#[derive(Clone, Debug, Default)]
pub struct Filled {
    /// The values, also those of secrets.
    pub values: BTreeMap<String, String>,
    /// The messages, in which names are in backticks.
    pub errors: BTreeMap<String, Vec<String>>,
}

/// Which program checks the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    /// The server: it has all rules, so the fields have none.
    Server,
    /// The browser, by the attributes of the fields.
    Browser,
}

impl Form {
    /// The fields as HTML.
    #[must_use]
    pub fn html(&self, checks: Checks, filled: &Filled) -> String {
        let mut writer = Writer {
            out: String::new(),
            checks,
            filled,
        };
        let is_folded = self.fields().count() > MAX_UNFOLDED;
        for (index, group) in self.groups.iter().enumerate() {
            let name = match group.name.as_str() {
                "" if self.groups.len() == 1 => "Parameters",
                "" => "Other parameters",
                name => name,
            };
            if is_folded {
                writer.fold(index, name, group);
            } else {
                writer.group(name, group, false);
            }
        }
        writer.out
    }
}

struct Writer<'w> {
    out: String,
    checks: Checks,
    filled: &'w Filled,
}

impl Writer<'_> {
    /// Markup of ours.
    fn raw(&mut self, markup: &str) {
        self.out.push_str(markup);
    }

    fn text(&mut self, text: &str) {
        escape(text, &mut self.out);
    }

    /// An attribute, after a space.
    fn attribute(&mut self, name: &str, value: &str) {
        self.raw(" ");
        self.raw(name);
        self.raw("=\"");
        self.text(value);
        self.raw("\"");
    }

    fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.raw(" ");
            self.raw(name);
        }
    }

    fn errors(&self, field: &Field) -> &[String] {
        self.filled
            .errors
            .get(&field.name)
            .map_or(&[], Vec::as_slice)
    }

    fn fold(&mut self, index: usize, name: &str, group: &Group) {
        let needs_look =
            |field: &Field| field.needs_value() || self.filled.errors.contains_key(&field.name);
        let is_open = index == 0 || group.fields.iter().any(needs_look);
        self.raw("<details class=\"group-fold\"");
        self.attribute("id", &format!("group-{index}"));
        self.flag("open", is_open);
        self.raw("><summary>");
        self.text(name);
        let count = group.fields.len();
        let s = if count == 1 { "" } else { "s" };
        let required = group.fields.iter().filter(|one| one.needs_value()).count();
        self.raw(&format!(" <span class=\"count\">{count} parameter{s}"));
        if required > 0 {
            self.raw(&format!(", {required} required"));
        }
        self.raw("</span></summary>\n");
        self.group(name, group, true);
        self.raw("</details>\n");
    }

    fn group(&mut self, name: &str, group: &Group, is_in_fold: bool) {
        self.raw("<fieldset class=\"group\"");
        self.attribute("data-group", name);
        self.raw(if is_in_fold {
            "><legend class=\"hidden\">"
        } else {
            "><legend>"
        });
        self.text(name);
        self.raw("</legend>\n");
        for field in &group.fields {
            self.field(field);
        }
        self.raw("</fieldset>\n");
    }

    fn field(&mut self, field: &Field) {
        let is_choice = matches!(field.control, Control::Buttons(_));
        let element = if is_choice { "fieldset" } else { "div" };
        self.raw("<");
        self.raw(element);
        self.raw(" class=\"field\"");
        self.attribute("id", &format!("field-{}", id(&field.name)));
        self.attribute("data-parameter", &field.name);
        self.attribute("data-type", field.kind.name());
        if let Some(default) = &field.default {
            self.attribute("data-default", default);
        }
        self.flag("data-required", field.needs_value());
        let is_generated = matches!(field.lacking, Lacking::Generated(_));
        self.flag("data-generated", is_generated);
        self.flag("data-secret", field.secret);
        if is_choice {
            self.attribute("aria-describedby", &Self::described_by(field));
        }
        self.raw(">\n");
        self.head(field, is_choice);
        self.help(field);
        match &field.control {
            Control::Buttons(choices) => self.buttons(field, choices),
            Control::List(choices) => self.list(field, choices),
            Control::Lines => self.lines(field),
            Control::Line | Control::Password => self.line(field),
        }
        self.messages(field);
        self.raw("</");
        self.raw(element);
        self.raw(">\n");
    }

    /// The label, the name and what to know at once.
    fn head(&mut self, field: &Field, is_choice: bool) {
        if is_choice {
            self.raw("<legend>");
        } else {
            self.raw("<label");
            self.attribute("for", &format!("p-{}", id(&field.name)));
            self.raw(">");
        }
        self.text(field.label.as_deref().unwrap_or(&field.name));
        if !is_choice {
            self.raw("</label>");
        }
        if field
            .label
            .as_ref()
            .is_some_and(|label| *label != field.name)
        {
            self.raw(" <code class=\"parameter\">");
            self.text(&field.name);
            self.raw("</code>");
        }
        let marks = [
            ("required", field.needs_value()),
            ("generated", matches!(field.lacking, Lacking::Generated(_))),
            ("secret", field.secret),
        ];
        for (mark, _) in marks.iter().filter(|(_, is_set)| *is_set) {
            self.raw(&format!(" <span class=\"mark {mark}\">{mark}</span>"));
        }
        if is_choice {
            self.raw("</legend>");
        }
        self.raw("\n");
    }

    fn help(&mut self, field: &Field) {
        if !has_help(field) {
            return;
        }
        self.raw("<p class=\"help\"");
        self.attribute("id", &format!("help-{}", id(&field.name)));
        self.raw(">");
        if let Some(description) = &field.description {
            self.raw("<span class=\"description\">");
            self.text(description);
            self.raw("</span> ");
        }
        let conditions: Vec<String> = conditions(field)
            .iter()
            .map(|condition| marked(condition))
            .collect();
        if !conditions.is_empty() {
            self.raw("<span class=\"conditions\">");
            self.raw(&conditions.join(" "));
            self.raw("</span>");
        }
        self.raw("</p>\n");
    }

    /// The element for messages, which is empty at first.
    fn messages(&mut self, field: &Field) {
        let messages: Vec<String> = self.errors(field).iter().map(|one| marked(one)).collect();
        self.raw("<p class=\"error\"");
        self.attribute("id", &format!("error-{}", id(&field.name)));
        self.flag("hidden", messages.is_empty());
        self.raw(">");
        self.raw(&messages.join("<br>"));
        self.raw("</p>\n");
    }

    /// The ids of the texts about a field.
    fn described_by(field: &Field) -> String {
        let id = id(&field.name);
        if has_help(field) {
            format!("help-{id} error-{id}")
        } else {
            format!("error-{id}")
        }
    }

    /// The attributes that all controls have.
    fn common(&mut self, field: &Field, is_first: bool) {
        let id = id(&field.name);
        if is_first {
            self.attribute("id", &format!("p-{id}"));
        }
        self.attribute("name", &format!("p.{}", field.name));
        if !matches!(field.control, Control::Buttons(_)) {
            self.attribute("aria-describedby", &Self::described_by(field));
        }
        if !self.errors(field).is_empty() {
            self.attribute("aria-invalid", "true");
            self.attribute("aria-errormessage", &format!("error-{id}"));
        }
        let must_be_filled =
            field.required && matches!(field.lacking, Lacking::Nothing | Lacking::Empty);
        self.flag("required", must_be_filled);
        if field.secret {
            self.attribute("autocomplete", "off");
        }
    }

    fn value(&self, field: &Field) -> String {
        let given = self.filled.values.get(&field.name);
        given
            .or(field.default.as_ref())
            .cloned()
            .unwrap_or_default()
    }

    fn buttons(&mut self, field: &Field, choices: &[Choice]) {
        let chosen = self.value(field);
        self.raw("<div class=\"choices\">\n");
        for (index, choice) in choices.iter().enumerate() {
            self.raw("<label class=\"choice\"><input type=\"radio\"");
            self.common(field, index == 0);
            self.attribute("value", &choice.value);
            self.flag("checked", choice.value == chosen);
            self.raw("> ");
            self.text(&choice.label);
            self.raw("</label>\n");
        }
        self.raw("</div>\n");
    }

    fn list(&mut self, field: &Field, choices: &[Choice]) {
        let chosen = self.value(field);
        self.raw("<div class=\"control\"><select");
        self.common(field, true);
        self.raw(">\n");
        if choices.iter().all(|choice| choice.value != chosen) {
            self.raw("<option value=\"\" selected>choose a value</option>\n");
        }
        for choice in choices {
            self.raw("<option");
            self.attribute("value", &choice.value);
            self.flag("selected", choice.value == chosen);
            self.raw(">");
            self.text(&choice.label);
            self.raw("</option>\n");
        }
        self.raw("</select></div>\n");
    }

    fn lines(&mut self, field: &Field) {
        let value = self.value(field);
        let is_plain = field.kind == ParameterType::String;
        self.raw("<div class=\"control\"><textarea");
        self.common(field, true);
        let rows = value.lines().count().clamp(3, 12);
        self.attribute("rows", &rows.to_string());
        if !is_plain {
            self.raw(" class=\"code\"");
        }
        self.raw(" spellcheck=\"false\"");
        self.hint(field);
        self.lengths(field);
        // A line break at the beginning is not part of the text.
        self.raw(">\n");
        self.text(&value);
        self.raw("</textarea></div>\n");
        if field.kind == ParameterType::Base64 {
            self.file(field);
        }
    }

    /// A file whose bytes are the value.
    fn file(&mut self, field: &Field) {
        let id = format!("f-{}", id(&field.name));
        self.raw("<p class=\"file\"><label");
        self.attribute("for", &id);
        self.raw(">or a file</label> <input type=\"file\"");
        self.attribute("id", &id);
        self.attribute("name", &format!("f.{}", field.name));
        self.raw("></p>\n");
    }

    fn line(&mut self, field: &Field) {
        let is_bounded = field.range.iter().any(Option::is_some);
        let kind = match (field.kind, &field.control) {
            (_, Control::Password) => "password",
            (ParameterType::Int | ParameterType::Number, _)
                if is_bounded && self.checks == Checks::Browser =>
            {
                "number"
            }
            _ => "text",
        };
        self.raw("<div class=\"control\"><input");
        self.attribute("type", kind);
        self.common(field, true);
        self.attribute("value", &self.value(field));
        self.raw(" spellcheck=\"false\" autocapitalize=\"none\"");
        match field.kind {
            ParameterType::Int => self.raw(" inputmode=\"numeric\""),
            ParameterType::Number => self.raw(" inputmode=\"decimal\""),
            _ => {}
        }
        self.hint(field);
        self.lengths(field);
        self.limits(field, kind);
        self.raw("></div>\n");
    }

    /// What an empty control means, in it.
    fn hint(&mut self, field: &Field) {
        if matches!(field.lacking, Lacking::Generated(_)) {
            self.attribute("placeholder", "generated when left empty");
        }
    }

    fn lengths(&mut self, field: &Field) {
        if self.checks == Checks::Server {
            return;
        }
        for (name, length) in ["minlength", "maxlength"].into_iter().zip(field.lengths) {
            if let Some(length) = length {
                self.attribute(name, &length.to_string());
            }
        }
    }

    /// What a browser checks of a control of one line.
    fn limits(&mut self, field: &Field, kind: &str) {
        if self.checks == Checks::Server {
            return;
        }
        if kind == "number" {
            let step = if field.kind == ParameterType::Int {
                "1"
            } else {
                "any"
            };
            self.attribute("step", step);
            for (name, bound) in ["min", "max"].into_iter().zip(&field.range) {
                if let Some(bound) = bound {
                    self.attribute(name, bound);
                }
            }
            return;
        }
        let own = match field.kind {
            ParameterType::Int => Some("[+\\-]?[0-9]+".to_owned()),
            ParameterType::Number => {
                Some("-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+\\-]?[0-9]+)?".to_owned())
            }
            _ => field.pattern.as_deref().map(pattern::for_browsers),
        };
        if let Some(pattern) = own {
            self.attribute("pattern", &pattern);
        }
    }
}

fn has_help(field: &Field) -> bool {
    field.description.is_some() || !conditions(field).is_empty()
}

/// What is so of a value, as sentences in which code is in backticks.
fn conditions(field: &Field) -> Vec<String> {
    let mut all = Vec::new();
    let kind = match field.kind {
        ParameterType::Int => "A whole number.",
        ParameterType::Number => "A number.",
        ParameterType::Array => "A list in YAML, such as `[a, b]`.",
        ParameterType::Map => "A mapping in YAML, such as `{key: value}`.",
        ParameterType::Base64 => "Base64.",
        ParameterType::String | ParameterType::Bool => "",
    };
    if !kind.is_empty() && !matches!(field.control, Control::Buttons(_) | Control::List(_)) {
        all.push(kind.to_owned());
    }
    if let Some(pattern) = &field.pattern {
        all.push(format!("Must match `{pattern}`."));
    }
    for bound in &field.bounds {
        let mut letters = bound.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        all.push(format!(
            "{}{}.",
            first.collect::<String>(),
            letters.as_str()
        ));
    }
    match &field.lacking {
        Lacking::Generated(from) => all.push(format!("Generated from `{from}` when left empty.")),
        Lacking::Computed(text) => all.push(format!("`{text}` when left empty.")),
        Lacking::Hidden => {
            all.push("Has a default that is not shown. To keep it, leave this empty.".to_owned());
        }
        Lacking::Empty | Lacking::Nothing => {}
    }
    all
}
