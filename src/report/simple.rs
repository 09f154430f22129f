//! Draws a diagnostic as the renderer does, if that is simple: one place on one line, in characters
//! of one column each. The renderer takes ten times as long, and a text may have many warnings.

use krm_yaml::diagnostic::Diagnostic;

use crate::report::excerpt::{CUT, Excerpt, Spot};

/// A diagnostic of one place.
pub(super) struct Simple<'d> {
    pub(super) diagnostic: &'d Diagnostic,
    /// The rule that is shown.
    pub(super) rule: Option<&'d str>,
    pub(super) spot: &'d Spot,
    pub(super) excerpt: &'d Excerpt,
}

impl Simple<'_> {
    /// `error: title`, or `error[rule]: title`.
    pub(super) fn title(&self) -> Option<String> {
        let title = self.diagnostic.message.as_str();
        let severity = self.diagnostic.severity.as_str();
        is_simple(title).then(|| match self.rule {
            Some(rule) => format!("{severity}[{rule}]: {title}"),
            None => format!("{severity}: {title}"),
        })
    }

    /// The width of the line number.
    pub(super) fn margin(&self) -> usize {
        self.spot.line.to_string().len()
    }

    /// The line with its underline, and the notes.
    pub(super) fn body(&self) -> Option<String> {
        let line = self.excerpt.text().strip_suffix('\n')?;
        let marked = self.excerpt.find(self.spot)?;
        let (before, from) = line.split_at_checked(marked.start)?;
        let (marked, _) = from.split_at_checked(marked.len())?;
        // The renderer keeps or trims blanks at the end, as the width of the line asks for.
        let is_trimmed = line.trim_end() == line;
        if marked.is_empty() || !is_trimmed || !line.split(CUT).all(is_simple) {
            return None;
        }
        let [before, marked] = [before, marked].map(|part| part.chars().count());
        let number = self.spot.line.to_string();
        let margin = " ".repeat(number.len());
        let mut out = String::with_capacity(4 * line.len());
        let mut add = |parts: &[&str]| parts.iter().for_each(|part| out.push_str(part));
        add(&[&margin, " |\n", &number, " | ", line, "\n"]);
        add(&[&margin, " | ", &" ".repeat(before), &"^".repeat(marked)]);
        let subject = subject(self.diagnostic);
        let hints = self.diagnostic.hints.iter().map(|hint| ("help", hint));
        let notes = subject.iter().map(|subject| ("note", subject)).chain(hints);
        for (index, (name, note)) in notes.enumerate() {
            if !is_simple(note) {
                return None;
            }
            if index == 0 {
                add(&["\n", &margin, " |"]);
            }
            add(&["\n", &margin, " = ", name, ": ", note]);
        }
        Some(out)
    }
}

/// Whether each character takes a column.
fn is_simple(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// `in Kind/name (path), field a.b`, or as much of it as is known.
pub(super) fn subject(diagnostic: &Diagnostic) -> Option<String> {
    let object = diagnostic.object.as_ref().and_then(|object| {
        let name = match (object.kind.as_str(), object.name.as_str()) {
            ("", "") => return None,
            (kind, "") => kind.to_owned(),
            ("", name) => name.to_owned(),
            (kind, name) => format!("{kind}/{name}"),
        };
        Some(match &object.path {
            Some(path) => format!("in {name} ({path})"),
            None => format!("in {name}"),
        })
    });
    match (object, diagnostic.field.as_deref()) {
        (Some(object), Some(field)) => Some(format!("{object}, field {field}")),
        (Some(object), None) => Some(object),
        (None, Some(field)) => Some(format!("in field {field}")),
        (None, None) => None,
    }
}
