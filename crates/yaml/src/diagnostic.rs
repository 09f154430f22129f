//! The one type of everything that is reported: errors, warnings and information.
//!
//! An error maps to one entry of `results`. Its place is symbolic until a report computes line and
//! column. The hint is written where the error is raised; one that depends on how the program runs
//! is advice for a [`Way`], which the caller decides. Each stage collects all its errors before it
//! stops.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::source::Place;

/// The severity of a [`Diagnostic`], as in a ResourceList result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Information: nothing needs to change.
    Info,
    /// Probably a mistake; the output is valid.
    Warning,
    /// A problem that prevents output.
    Error,
}

impl Severity {
    /// The word a ResourceList result uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The Kubernetes object a [`Diagnostic`] is about, and the file it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectReference {
    /// The field `apiVersion`, as written.
    pub api_version: String,
    /// The field `kind`, as written.
    pub kind: String,
    /// The field `metadata.namespace`, empty if there is none.
    pub namespace: String,
    /// The field `metadata.name`, empty if there is none.
    pub name: String,
    /// The slash-separated path its orchestrator keeps it under.
    pub path: Option<String>,
    /// Its position among the objects of that file, counted from 0.
    pub index: usize,
}

/// How the user ran the program: the advice may depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By a command that takes values as arguments.
    Arguments,
    /// By objects alone, as functions and Compositions are run.
    Objects,
}

/// One message to the user. It maps one to one to an entry of a ResourceList's `results`.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The severity: only errors prevent output.
    pub severity: Severity,
    /// The rule of `validate` that the text breaks, if there is one.
    pub rule: Option<&'static str>,
    /// The problem in one sentence: lower case, no final period, the user's names in backticks.
    pub message: String,
    /// The part of the text that the message is about.
    pub place: Option<Place>,
    /// Whether the lines there hold a secret and must not be drawn.
    pub conceals: bool,
    /// Other places that explain the message, each with a few words (`first declared here`).
    pub related: Vec<(Place, String)>,
    /// The object that the message is about.
    pub object: Option<ObjectReference>,
    /// The field path in that object, as `spec.containers[0].image`.
    pub field: Option<String>,
    /// Suggestions for the next step.
    pub hints: Vec<String>,
    /// Suggestions that apply only if the program was run in this way.
    pub advice: Vec<(Way, String)>,
    /// Whether the message is true only once everything has succeeded.
    pub of_success: bool,
}

/// The outcome of a step that stops at its first error.
pub type Result<T, E = Box<Diagnostic>> = std::result::Result<T, E>;

impl Diagnostic {
    fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self {
            severity,
            rule: None,
            message: message.into(),
            place: None,
            conceals: false,
            related: Vec::new(),
            object: None,
            field: None,
            hints: Vec::new(),
            advice: Vec::new(),
            of_success: false,
        }
    }

    /// A problem that prevents output.
    #[must_use]
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message)
    }

    /// A problem that is probably a mistake.
    #[must_use]
    pub fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message)
    }

    /// Information that needs no change of the input.
    #[must_use]
    pub fn info(message: impl Into<String>) -> Self {
        Self::new(Severity::Info, message)
    }

    /// Names the rule that it breaks.
    #[must_use]
    pub const fn rule(mut self, rule: &'static str) -> Self {
        self.rule = Some(rule);
        self
    }

    /// Sets the part of the text that the message is about.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// Sets whether the lines there hold a secret.
    #[must_use]
    pub fn conceal(mut self, conceals: bool) -> Self {
        self.conceals = conceals;
        self
    }

    /// Adds another place, with a few words about it.
    #[must_use]
    pub fn related(mut self, place: Place, label: impl Into<String>) -> Self {
        self.related.push((place, label.into()));
        self
    }

    /// Sets the field of the object that the message is about.
    #[must_use]
    pub fn field(mut self, path: impl Into<String>) -> Self {
        self.field = Some(path.into());
        self
    }

    /// Adds a suggestion for the next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a suggestion that applies only if the program was run in this way.
    #[must_use]
    pub fn advise(mut self, way: Way, hint: impl Into<String>) -> Self {
        self.advice.push((way, hint.into()));
        self
    }

    /// Marks the message as true only once everything has succeeded.
    #[must_use]
    pub const fn of_success(mut self) -> Self {
        self.of_success = true;
        self
    }

    /// Adds the hint if there is one.
    #[must_use]
    pub fn maybe_hint(self, hint: Option<String>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }
}

/// The diagnostics of a stage. A stage continues after an error and reports all errors at its end.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Creates a collection without diagnostics.
    #[must_use]
    pub const fn new() -> Self {
        Self { list: Vec::new() }
    }

    /// Adds a diagnostic at the end.
    pub fn push(&mut self, diagnostic: impl Into<Diagnostic>) {
        self.list.push(diagnostic.into());
    }

    /// Keeps the value of `result`, or its error among the others.
    pub fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(diagnostic) => {
                self.push(*diagnostic);
                None
            }
        }
    }

    /// Adds all of `others` at the end.
    pub fn append(&mut self, others: Self) {
        if self.list.is_empty() {
            *self = others;
        } else {
            self.list.extend(others.list);
        }
    }

    /// Whether there is an error among them.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// The errors, without warnings and information.
    #[must_use]
    pub fn errors(&self) -> Self {
        let errors = self.list.iter().filter(|d| d.severity == Severity::Error);
        Self {
            list: errors.cloned().collect(),
        }
    }

    /// All of them, in the order they were found.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Removes duplicates: several expansions of one Template report the same problem.
    pub fn dedup(&mut self) {
        let mut seen = BTreeSet::new();
        let list = self.list.iter();
        let are_new = list.map(|diagnostic| {
            let place = diagnostic.place.as_ref();
            let related = diagnostic.related.first();
            seen.insert((
                diagnostic.message.as_str(),
                place.map(|place| (place.source.name(), place.range.start)),
                diagnostic.object.as_ref(),
                diagnostic.field.as_deref(),
                related.map(|(place, _)| place.range.start),
            ))
        });
        let are_new: Vec<bool> = are_new.collect();
        let mut are_new = are_new.into_iter();
        self.list.retain(|_| are_new.next() == Some(true));
    }

    /// Sets the object of all diagnostics that have none.
    pub fn attribute_to(&mut self, object: &ObjectReference) {
        for diagnostic in &mut self.list {
            diagnostic.object.get_or_insert_with(|| object.clone());
        }
    }

    /// Prevents reports from showing lines that contain one of `secrets`.
    pub fn conceal(&mut self, secrets: &[Place]) {
        if self.list.is_empty() {
            return;
        }
        let lines = |place: &Place| {
            let (first, last) = place.lines();
            (Arc::as_ptr(&place.source), first, last)
        };
        // Sorted by the first line, each with the last line of all up to it.
        let mut hidden: Vec<_> = secrets.iter().map(lines).collect();
        hidden.sort_unstable();
        let mut before = (std::ptr::null(), 0);
        for (source, _, last) in &mut hidden {
            if before.0 == *source {
                *last = before.1.max(*last);
            }
            before = (*source, *last);
        }
        let is_secret = |place: &Place| {
            let (source, first, last) = lines(place);
            let after = hidden.partition_point(|one| (one.0, one.1) <= (source, last));
            let nearest = after.checked_sub(1).and_then(|at| hidden.get(at));
            nearest.is_some_and(|one| one.0 == source && first <= one.2)
        };
        for diagnostic in &mut self.list {
            diagnostic.conceals |= diagnostic.place.as_ref().is_some_and(is_secret);
            diagnostic.related.retain(|(place, _)| !is_secret(place));
        }
    }

    /// Adds to errors that they concern `place`, unless they are inside it.
    pub fn relate(&mut self, place: &Place, label: &str) {
        for diagnostic in &mut self.list {
            let is_error = diagnostic.severity == Severity::Error;
            if is_error && diagnostic.related.is_empty() {
                diagnostic.related.push((place.clone(), label.to_owned()));
            }
        }
    }

    /// Says of those about a part of `place` that they are about `object`, where their field is
    /// below `field`.
    pub fn move_to(&mut self, place: &Place, object: &ObjectReference, field: &str) {
        for diagnostic in &mut self.list {
            let found = diagnostic.place.as_ref();
            let is_inside = found.is_some_and(|found| {
                Arc::ptr_eq(&found.source, &place.source)
                    && place.range.start <= found.range.start
                    && found.range.end <= place.range.end
            });
            if is_inside && diagnostic.object.as_ref() != Some(object) {
                diagnostic.object = Some(object.clone());
                if let Some(old) = &mut diagnostic.field {
                    old.insert_str(0, field);
                }
            }
        }
    }

    /// Sets the rule of all diagnostics that have none.
    pub fn attribute_to_rule(&mut self, rule: &'static str) {
        for diagnostic in &mut self.list {
            diagnostic.rule.get_or_insert(rule);
        }
    }

    /// Turns the diagnostics of a rule into errors.
    pub fn take_for_errors(&mut self, rule: &str) {
        let meant = self.list.iter_mut().filter(|one| one.rule == Some(rule));
        for diagnostic in meant {
            diagnostic.severity = Severity::Error;
        }
    }

    /// Keeps the diagnostics for which `is_kept` is true.
    pub fn retain(&mut self, is_kept: impl FnMut(&Diagnostic) -> bool) {
        self.list.retain(is_kept);
    }

    /// Removes the diagnostics that are true only after success.
    pub fn drop_success(&mut self) {
        self.list.retain(|diagnostic| !diagnostic.of_success);
    }

    /// Turns advice for this way of running the program into hints, and drops all other advice.
    pub fn address(&mut self, way: Way) {
        for diagnostic in &mut self.list {
            let advice = std::mem::take(&mut diagnostic.advice).into_iter();
            let meant = advice.filter(|(meant, _)| *meant == way);
            diagnostic.hints.extend(meant.map(|(_, hint)| hint));
        }
    }

    /// Sorts the diagnostics about one text by their places.
    pub fn sort_by_place(&mut self) {
        let start = |diagnostic: &Diagnostic| diagnostic.place.as_ref().map(|at| at.range.start);
        self.list.sort_by_key(start);
    }

    /// Sets the field of all diagnostics that have none.
    pub fn attribute_to_field(&mut self, field: &str) {
        for diagnostic in &mut self.list {
            diagnostic.field.get_or_insert_with(|| field.to_owned());
        }
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self {
            list: vec![diagnostic],
        }
    }
}

impl From<Box<Diagnostic>> for Diagnostics {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Self::from(*diagnostic)
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.severity.as_str())?;
        if let Some(place) = &self.place {
            write!(f, "{}: ", place.to_text())?;
        }
        f.write_str(&self.message)?;
        for hint in &self.hints {
            write!(f, "\n  help: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}
