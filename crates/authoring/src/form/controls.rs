//! Writes the control of a field as HTML.

use std::collections::BTreeMap;

use crate::form::conditions::has_help;
use crate::form::html::{escape, id};
use crate::form::lines;
use crate::form::model::{Choice, Control, Field, Lacking};
use crate::form::pattern;
use krm_template_engine::ParameterType;

/// Entered values and messages about them, by parameter name.
#[derive(Clone, Debug, Default)]
pub struct Filled {
    /// The values as they were entered, including secrets.
    pub values: BTreeMap<String, String>,
    /// The messages, with names in backticks.
    pub errors: BTreeMap<String, Vec<String>>,
}

/// The program that checks the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    /// The server. The fields need no validation attributes.
    Server,
    /// The browser, with validation attributes of the fields.
    Browser,
}

/// A writer of HTML that escapes texts.
pub(super) struct Writer<'w> {
    pub(super) out: String,
    checks: Checks,
    filled: &'w Filled,
}

impl<'w> Writer<'w> {
    pub(super) const fn new(checks: Checks, filled: &'w Filled) -> Self {
        Self { out: String::new(), checks, filled }
    }
}

impl Writer<'_> {
    /// Writes markup without escaping it.
    pub(super) fn raw(&mut self, markup: &str) {
        self.out.push_str(markup);
    }

    pub(super) fn text(&mut self, text: &str) {
        escape(text, &mut self.out);
    }

    /// Writes an attribute after a space.
    pub(super) fn attribute(&mut self, name: &str, value: &str) {
        self.raw(" ");
        self.raw(name);
        self.raw("=\"");
        self.text(value);
        self.raw("\"");
    }

    pub(super) fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.raw(" ");
            self.raw(name);
        }
    }

    pub(super) fn errors(&self, field: &Field) -> &[String] {
        self.filled.errors.get(&field.name).map_or(&[], Vec::as_slice)
    }

    /// Writes the control of a field.
    pub(super) fn control(&mut self, field: &Field) {
        match &field.control {
            Control::Buttons(choices) => self.buttons(field, choices),
            Control::List(choices) => self.list(field, choices),
            Control::Line if !lines::are_in(&self.value(field)) => self.line(field),
            Control::Line | Control::Lines => self.lines(field),
        }
    }

    /// Returns the ids of the texts that describe a field.
    pub(super) fn described_by(field: &Field) -> String {
        let id = id(&field.name);
        if has_help(field) { format!("help-{id} error-{id}") } else { format!("error-{id}") }
    }

    /// Writes the attributes that all controls have.
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
        if field.is_masked {
            self.attribute("autocomplete", "off");
        }
    }

    fn value(&self, field: &Field) -> String {
        let given = self.filled.values.get(&field.name);
        given.or(field.default.as_ref()).cloned().unwrap_or_default()
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
        match (field.is_masked, is_plain) {
            (true, _) => self.raw(" class=\"masked\""),
            (false, false) => self.raw(" class=\"code\""),
            (false, true) => {}
        }
        self.raw(" spellcheck=\"false\"");
        self.hint(field);
        self.lengths(field);
        if self.checks == Checks::Browser
            && is_plain
            && let Some(pattern) = &field.pattern
        {
            // HTML has no attribute for it here.
            self.attribute("data-pattern", &pattern::for_browsers(pattern));
        }
        // HTML ignores a line break after the start tag.
        self.raw(">\n");
        self.text(&value);
        self.raw("</textarea></div>\n");
        if field.kind == ParameterType::Base64 {
            self.file(field);
        }
    }

    /// Writes the input for a file whose bytes are the value.
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
        let kind = match field.kind {
            _ if field.is_masked => "password",
            ParameterType::Int | ParameterType::Number
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

    /// Writes the meaning of an empty control as its placeholder.
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

    /// Writes the validation attributes of a control of one line.
    fn limits(&mut self, field: &Field, kind: &str) {
        if self.checks == Checks::Server {
            return;
        }
        if kind == "number" {
            let step = if field.kind == ParameterType::Int { "1" } else { "any" };
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
