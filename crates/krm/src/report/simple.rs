//! Draws a diagnostic as the renderer does, if that is simple: one place on one line, in characters
//! of one column each. The renderer takes ten times as long, and a text may have many warnings: with
//! the renderer alone, `process` of the largest real Template in JSON takes 126 instructions a byte
//! instead of 67. A property compares both.

use krm_yaml::diagnostic::Diagnostic;

use crate::report::excerpt::{CUT, Excerpt, Spot};

/// A diagnostic of one place.
pub(super) struct Simple<'d> {
    diagnostic: &'d Diagnostic,
    /// The rule that is shown.
    rule: Option<&'d str>,
    /// The number of its line.
    number: String,
    line: &'d str,
    /// The columns before what is marked, and of it.
    columns: [usize; 2],
    subject: Option<String>,
}

impl<'d> Simple<'d> {
    pub(super) fn of(
        diagnostic: &'d Diagnostic,
        rule: Option<&'d str>,
        spot: &Spot,
        excerpt: &'d Excerpt,
    ) -> Option<Self> {
        let line = excerpt.text().strip_suffix('\n')?;
        let marked = excerpt.find(spot)?;
        let (before, from) = line.split_at_checked(marked.start)?;
        let (marked, _) = from.split_at_checked(marked.len())?;
        // The renderer keeps or trims blanks at the end, as the width of the line asks for.
        let is_trimmed = line.trim_end() == line;
        let subject = subject(diagnostic);
        let hints = &diagnostic.hints;
        let is_simple = !marked.is_empty()
            && is_trimmed
            && line.split(CUT).all(is_simple)
            && is_simple(&diagnostic.message)
            && subject.iter().chain(hints).all(|text| is_simple(text));
        is_simple.then(|| Self {
            diagnostic,
            rule,
            number: spot.line.to_string(),
            line,
            columns: [before, marked].map(|part| part.chars().count()),
            subject,
        })
    }

    /// Adds `error: title`, or `error[rule]: title`.
    pub(super) fn title(&self, out: &mut String) {
        let severity = self.diagnostic.severity.as_str();
        let mut add = |parts: &[&str]| parts.iter().for_each(|part| out.push_str(part));
        add(&[severity]);
        if let Some(rule) = self.rule {
            add(&["[", rule, "]"]);
        }
        add(&[": ", &self.diagnostic.message]);
    }

    /// The width of the line number.
    pub(super) const fn margin(&self) -> usize {
        self.number.len()
    }

    /// Adds the line with its underline, and the notes.
    pub(super) fn body(&self, out: &mut String) {
        let margin = " ".repeat(self.margin());
        let [before, marked] = self.columns;
        let mut add = |parts: &[&str]| parts.iter().for_each(|part| out.push_str(part));
        add(&[&margin, " |\n", &self.number, " | ", self.line, "\n"]);
        add(&[&margin, " | ", &" ".repeat(before), &"^".repeat(marked)]);
        let hints = self.diagnostic.hints.iter().map(|hint| ("help", hint));
        let notes = self.subject.iter().map(|subject| ("note", subject));
        for (index, (name, note)) in notes.chain(hints).enumerate() {
            if index == 0 {
                add(&["\n", &margin, " |"]);
            }
            add(&["\n", &margin, " = ", name, ": ", note]);
        }
    }
}

/// Whether each character takes a column.
fn is_simple(text: &str) -> bool {
    // Not `all`: without a way out of the loop, it looks at several bytes at a time.
    let is_other = |byte: u8| !(b' '..=b'~').contains(&byte);
    !text.bytes().fold(false, |any, byte| any | is_other(byte))
}

/// `in Kind/name (path), field a.b`, or as much of it as is known.
pub(super) fn subject(diagnostic: &Diagnostic) -> Option<String> {
    let object = diagnostic.object.as_ref();
    let object = object.filter(|object| !(object.kind.is_empty() && object.name.is_empty()));
    let mut out = String::new();
    let mut add = |parts: &[&str]| parts.iter().for_each(|part| out.push_str(part));
    if let Some(object) = object {
        let both = !object.kind.is_empty() && !object.name.is_empty();
        let slash = if both { "/" } else { "" };
        add(&["in ", &object.kind, slash, &object.name]);
        if let Some(path) = &object.path {
            add(&[" (", path, ")"]);
        }
    }
    match (object, diagnostic.field.as_deref()) {
        (Some(_), Some(field)) => add(&[", field ", field]),
        (None, Some(field)) => add(&["in field ", field]),
        (Some(_), None) => {}
        (None, None) => return None,
    }
    Some(out)
}
