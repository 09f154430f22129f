//! Writes the fields of a form as HTML.

use crate::form::conditions::{conditions, has_help};
use crate::form::controls::{Checks, Filled, Writer};
use crate::form::html::{id, marked};
use crate::form::links::linked;
use crate::form::model::{Control, Field, Form, Group, Lacking};
use krm_core::visible::counted;

/// The maximum number of fields in a form whose groups cannot be collapsed.
const MAX_UNFOLDED: usize = 30;

impl Form {
    /// Renders the fields as HTML.
    pub fn html(&self, checks: Checks, filled: &Filled) -> String {
        let mut writer = Writer::new(checks, filled);
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

impl Writer<'_> {
    fn fold(&mut self, index: usize, name: &str, group: &Group) {
        let needs_look = |field: &Field| field.needs_value() || !self.errors(field).is_empty();
        let is_open = index == 0 || group.fields.iter().any(needs_look);
        self.raw("<details class=\"group-fold\"");
        self.attribute("id", &format!("group-{index}"));
        self.flag("open", is_open);
        self.raw("><summary>");
        self.text(name);
        let count = group.fields.len();
        let required = group.fields.iter().filter(|one| one.needs_value()).count();
        self.raw(&format!(" <span class=\"count\">{}", counted(count, "parameter")));
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
        self.raw(if is_in_fold { "><legend class=\"hidden\">" } else { "><legend>" });
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
        self.flag("data-masked", field.is_masked);
        if is_choice {
            self.attribute("aria-describedby", &Self::described_by(field));
        }
        self.raw(">\n");
        self.head(field, is_choice);
        self.help(field);
        self.control(field);
        self.messages(field);
        self.raw("</");
        self.raw(element);
        self.raw(">\n");
    }

    /// Writes the label, the name and the marks of a field.
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
        if field.label.as_ref().is_some_and(|label| *label != field.name) {
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
            self.raw(&linked(description));
            self.raw("</span> ");
        }
        let conditions: Vec<String> =
            conditions(field).iter().map(|condition| marked(condition)).collect();
        if !conditions.is_empty() {
            self.raw("<span class=\"conditions\">");
            self.raw(&conditions.join(" "));
            self.raw("</span>");
        }
        self.raw("</p>\n");
    }

    /// Writes the element for messages, which is empty at first.
    fn messages(&mut self, field: &Field) {
        let messages: Vec<String> = self.errors(field).iter().map(|one| marked(one)).collect();
        self.raw("<p class=\"error\"");
        self.attribute("id", &format!("error-{}", id(&field.name)));
        self.flag("hidden", messages.is_empty());
        self.raw(">");
        self.raw(&messages.join("<br>"));
        self.raw("</p>\n");
    }
}
