//! The one type of everything that is reported: errors, warnings and information.
//!
//! Its place is an offset until a report computes line and column. The hint is written where the error
//! is raised. Each stage collects all its errors before it stops.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::shorten;
use crate::source::Place;

/// The most diagnostics of one severity that a collection keeps.
const MAX_KEPT: usize = 5_000;

/// The most bytes that their texts have together.
const MAX_KEPT_BYTES: usize = 1024 * 1024;

/// The most bytes of a part of an object's identity, except its path.
const MAX_NAME: usize = 253;

/// The most bytes of the path of an object.
const MAX_PATH: usize = 1_024;

/// The severity of a [`Diagnostic`], as in a ResourceList result.
///
/// ```
/// use krm_yaml::diagnostic::Severity;
///
/// assert!(Severity::Error > Severity::Warning);
/// assert_eq!(Severity::Error.as_str(), "error");
/// ```
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
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The Kubernetes object a [`Diagnostic`] is about, and the file it came from.
#[doc(hidden)]
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

impl ObjectReference {
    /// The same, with each part cut to the length that a message needs.
    fn shortened(&self) -> Self {
        let short = |text: &String, most| shorten::start(text, most);
        Self {
            api_version: short(&self.api_version, MAX_NAME),
            kind: short(&self.kind, MAX_NAME),
            namespace: short(&self.namespace, MAX_NAME),
            name: short(&self.name, MAX_NAME),
            path: self.path.as_ref().map(|path| short(path, MAX_PATH)),
            index: self.index,
        }
    }
}

/// How the user ran the program: the advice may depend on it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By a command that takes values as arguments.
    Arguments,
    /// By objects alone, as functions and Compositions are run.
    Objects,
}

/// One message to the user: an error, if a function returns one.
///
/// ```
/// use krm_yaml::Document;
/// use krm_yaml::source::Source;
///
/// let error = Document::parse(&Source::new("web.yaml", "spec:\n\t- b\n")).unwrap_err();
/// assert_eq!(error.place.map(|place| place.to_text()).as_deref(), Some("web.yaml:2:2"));
/// assert_eq!(error.hints, ["indent with spaces, not with tabs"]);
/// ```
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The severity: only errors prevent output.
    pub severity: Severity,
    /// The rule of `validate` that the text breaks, if there is one.
    #[doc(hidden)]
    pub rule: Option<&'static str>,
    /// The problem in one sentence: lower case, no final period, the user's names in backticks.
    pub message: String,
    /// The part of the text that the message is about.
    pub place: Option<Place>,
    /// Whether the lines there hold a secret and must not be drawn.
    #[doc(hidden)]
    pub conceals: bool,
    /// Other places that explain the message, each with a few words (`first declared here`).
    pub related: Vec<(Place, String)>,
    /// The object that the message is about.
    #[doc(hidden)]
    pub object: Option<ObjectReference>,
    /// The path of the field that the message is about, as `spec.containers[0].image`.
    pub field: Option<String>,
    /// Suggestions for the next step.
    pub hints: Vec<String>,
    /// The text to write at its place instead, if it is clear what mends it.
    #[doc(hidden)]
    pub fix: Option<String>,
    /// Suggestions that apply only if the program was run in this way.
    #[doc(hidden)]
    pub advice: Vec<(Way, String)>,
    /// Whether the message is true only once everything has succeeded.
    #[doc(hidden)]
    pub of_success: bool,
}

/// The outcome of a step that stops at its first error.
///
/// ```
/// use krm_yaml::diagnostic::Result;
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, Edited, ItemKeys, update};
///
/// fn scaled(text: &str, replicas: i64) -> Result<String> {
///     let document = Document::parse(&Source::new("stdin", text))?;
///     let old = document.roots().next().and_then(|root| root.lookup(&"spec.replicas".parse().ok()?));
///     let Some(old) = old else { return Ok(text.to_owned()) };
///     Ok(Edited::new(&document, update(old, replicas.into(), &ItemKeys::NONE)?)?.to_string())
/// }
///
/// assert_eq!(scaled("spec:\n  replicas: 2\n", 3)?, "spec:\n  replicas: 3\n");
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
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
            fix: None,
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

    /// Sets the part of the text that the message is about.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
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

    /// Cuts its texts to the lengths of messages.
    fn shorten(&mut self) {
        let advice = self.advice.iter_mut().map(|(_, text)| text);
        let related = self.related.iter_mut().map(|(_, text)| text);
        let texts = self.hints.iter_mut().chain(advice).chain(related);
        texts.chain([&mut self.message]).for_each(shorten::message);
        if let Some(field) = &mut self.field {
            shorten::cut(field, shorten::MAX_MESSAGE);
        }
        if let Some(object) = &mut self.object {
            *object = object.shortened();
        }
    }

    /// The bytes of its texts.
    fn size(&self) -> usize {
        let advice = self.advice.iter().map(|(_, text)| text);
        let related = self.related.iter().map(|(_, text)| text);
        let texts = self.hints.iter().chain(advice).chain(related);
        let texts = texts.chain([&self.message]).chain(&self.field);
        texts.map(String::len).sum()
    }
}

#[doc(hidden)]
impl Diagnostic {
    /// Names the rule that it breaks.
    #[must_use]
    pub const fn rule(mut self, rule: &'static str) -> Self {
        self.rule = Some(rule);
        self
    }

    /// Sets whether the lines there hold a secret.
    #[must_use]
    pub fn conceal(mut self, conceals: bool) -> Self {
        self.conceals = conceals;
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
///
/// Messages are cut to 4,096 bytes and what they quote to 256. Beyond 5,000 diagnostics of a severity, or
/// 1 MiB of texts, diagnostics are only counted.
///
/// ```
/// use krm_yaml::diagnostic::Diagnostics;
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, DuplicateKeys};
///
/// let text = "metadata: {app: web, app: shop}\nspec: {replicas: 1, replicas: 2}\n";
/// let document = Document::parse(&Source::new("web.yaml", text))?;
/// let root = document.roots().next().expect("not empty");
/// let mut diagnostics = Diagnostics::new();
/// assert!(root.value(DuplicateKeys::Refuse, &mut diagnostics).is_none());
/// let messages = diagnostics.iter().map(|one| one.message.as_str());
/// assert_eq!(
///     messages.collect::<Vec<_>>(),
///     ["duplicate mapping key `app`", "duplicate mapping key `replicas`"]
/// );
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    /// None without diagnostics. Boxed, as this type is part of errors.
    totals: Option<Box<Totals>>,
}

/// The numbers of diagnostics.
#[derive(Clone, Debug, Default)]
struct Totals {
    /// The severities and rules in the list.
    kinds: Vec<(Severity, Option<&'static str>)>,
    /// By severity.
    counts: [Count; 3],
}

/// The diagnostics of one severity.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    kept: usize,
    bytes: usize,
    /// The number of those that were not kept.
    more: usize,
}

impl Diagnostics {
    /// Creates a collection without diagnostics.
    #[must_use]
    pub const fn new() -> Self {
        Self { list: Vec::new(), totals: None }
    }

    /// Adds a diagnostic at the end.
    pub fn push(&mut self, diagnostic: impl Into<Diagnostic>) {
        let mut diagnostic = diagnostic.into();
        diagnostic.shorten();
        if self.takes(&diagnostic) {
            self.list.push(diagnostic);
        }
    }

    /// Counts a diagnostic. Returns whether it is kept.
    fn takes(&mut self, diagnostic: &Diagnostic) -> bool {
        let kind = (diagnostic.severity, diagnostic.rule);
        let size = diagnostic.size();
        let Totals { kinds, counts } = &mut **self.totals.get_or_insert_default();
        let is_new = !kinds.contains(&kind);
        let Some(count) = counts.get_mut(diagnostic.severity as usize) else {
            return true;
        };
        let fits = count.kept < MAX_KEPT && count.bytes + size <= MAX_KEPT_BYTES;
        if is_new {
            kinds.push(kind);
        }
        if fits || is_new {
            count.kept += 1;
            count.bytes += size;
        } else {
            count.more += 1;
        }
        fits || is_new
    }

    /// Counts what is in the list anew.
    fn recount(&mut self) {
        if let Some(totals) = &mut self.totals {
            totals.kinds.clear();
            for count in &mut totals.counts {
                (count.kept, count.bytes) = (0, 0);
            }
        }
        let mut list = std::mem::take(&mut self.list);
        list.retain(|diagnostic| self.takes(diagnostic));
        self.list = list;
    }

    /// The number of diagnostics of a severity that were only counted.
    pub fn more(&self, severity: Severity) -> usize {
        let totals = self.totals.as_ref();
        let count = totals.and_then(|totals| totals.counts.get(severity as usize));
        count.map_or(0, |count| count.more)
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
        if let Some(others) = others.totals {
            let totals = self.totals.get_or_insert_default();
            for (count, other) in totals.counts.iter_mut().zip(others.counts) {
                count.more += other.more;
            }
        }
        for diagnostic in others.list {
            if self.takes(&diagnostic) {
                self.list.push(diagnostic);
            }
        }
    }

    /// Whether there is an error among them.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// All that are kept, in the order they were found.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }
}

#[doc(hidden)]
impl Diagnostics {
    /// The errors, without warnings and information.
    #[must_use]
    pub fn errors(&self) -> Self {
        let mut errors = self.clone();
        errors.retain(|one| one.severity == Severity::Error);
        errors
    }

    /// Changes each diagnostic.
    #[must_use]
    pub fn map(mut self, change: impl FnMut(Diagnostic) -> Diagnostic) -> Self {
        self.list = self.list.into_iter().map(change).collect();
        self.list.iter_mut().for_each(Diagnostic::shorten);
        self.recount();
        self
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
        self.recount();
    }

    /// Sets the object of all diagnostics that have none.
    pub fn attribute_to(&mut self, object: &ObjectReference) {
        if self.list.is_empty() {
            return;
        }
        let object = object.shortened();
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

    /// Replaces the texts for which `text` has others, of the diagnostic at a place.
    pub fn rewrite(&mut self, text: impl Fn(Option<&Place>, &str) -> Option<String>) {
        for one in &mut self.list {
            let place = one.place.as_ref();
            let text = |old: &str| text(place, old);
            let related = one.related.iter_mut().map(|(_, label)| label);
            let name = one.object.iter_mut().map(|object| &mut object.name);
            let texts = one.hints.iter_mut().chain(related).chain(name);
            for old in texts.chain(&mut one.field).chain([&mut one.message]) {
                if let Some(new) = text(old) {
                    *old = new;
                }
            }
            one.fix = one.fix.take().filter(|fix| text(fix).is_none());
        }
    }

    /// Prevents reports from showing lines that hold a secret.
    pub fn hide_lines(&mut self, holds: impl Fn(&str) -> bool) {
        for one in &mut self.list {
            let related = one.related.iter().map(|(place, _)| place);
            let mut places = one.place.iter().chain(related);
            one.conceals |= places.any(|place| holds(place.shown()));
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
        let object = &object.shortened();
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
                    shorten::cut(old, shorten::MAX_MESSAGE);
                }
            }
        }
    }

    /// Adds a hint before the others, to diagnostics for which there is one.
    pub fn explain(&mut self, hint: impl Fn(&Diagnostic) -> Option<String>) {
        for diagnostic in &mut self.list {
            if let Some(hint) = hint(diagnostic) {
                diagnostic.hints.insert(0, hint);
            }
        }
        self.recount();
    }

    /// Sets the rule of all diagnostics that have none.
    pub fn attribute_to_rule(&mut self, rule: &'static str) {
        for diagnostic in &mut self.list {
            diagnostic.rule.get_or_insert(rule);
        }
        self.recount();
    }

    /// Turns the diagnostics of a rule into errors.
    pub fn take_for_errors(&mut self, rule: &str) {
        let meant = self.list.iter_mut().filter(|one| one.rule == Some(rule));
        for diagnostic in meant {
            diagnostic.severity = Severity::Error;
        }
        self.recount();
    }

    /// Turns the errors for which `is_harmless` is true into warnings.
    pub fn take_for_warnings(&mut self, is_harmless: impl Fn(&Diagnostic) -> bool) {
        for diagnostic in &mut self.list {
            if diagnostic.severity == Severity::Error && is_harmless(diagnostic) {
                diagnostic.severity = Severity::Warning;
            }
        }
        self.recount();
    }

    /// Turns warnings into errors.
    pub fn take_warnings_for_errors(&mut self) {
        for diagnostic in &mut self.list {
            if diagnostic.severity == Severity::Warning {
                diagnostic.severity = Severity::Error;
            }
        }
        self.recount();
    }

    /// Keeps the diagnostics for which `is_kept` is true.
    pub fn retain(&mut self, is_kept: impl FnMut(&Diagnostic) -> bool) {
        self.list.retain(is_kept);
        self.recount();
    }

    /// Removes the diagnostics that are true only after success.
    pub fn drop_success(&mut self) {
        self.list.retain(|diagnostic| !diagnostic.of_success);
    }

    /// Adds advice to the last error, for all of them.
    pub fn advise(&mut self, way: Way, hint: &str) {
        let mut errors = self.list.iter_mut().rev();
        if let Some(last) = errors.find(|one| one.severity == Severity::Error) {
            last.advice.push((way, hint.to_owned()));
        }
        self.recount();
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
        let mut all = Self::new();
        all.push(diagnostic);
        all
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

#[cfg(test)]
mod tests {
    use super::{Diagnostic, Diagnostics, MAX_KEPT, MAX_KEPT_BYTES, ObjectReference, Severity};
    use crate::shorten::MAX_MESSAGE;

    #[test]
    fn diagnostics_beyond_a_number_are_counted() {
        let mut all = Diagnostics::new();
        for _ in 0..3 {
            let mut some = Diagnostics::new();
            (0..MAX_KEPT).for_each(|_| some.push(Diagnostic::warning("w").rule("a")));
            all.append(some);
        }
        all.push(Diagnostic::warning("w").rule("b"));
        all.push(Diagnostic::warning("w").rule("b"));
        all.push(Diagnostic::error("e"));
        assert_eq!(all.iter().count(), MAX_KEPT + 2);
        assert_eq!(all.more(Severity::Warning), 2 * MAX_KEPT + 1);
        assert_eq!(all.more(Severity::Error), 0);
        all.take_for_errors("b");
        assert_eq!(all.errors().iter().count(), 2);
        all.dedup();
        assert_eq!(all.iter().count(), 2);
        all.push(Diagnostic::warning("w"));
        assert_eq!(all.iter().count(), 3);
    }

    #[test]
    fn their_texts_are_short() {
        let long = "x".repeat(1_000_000);
        let mut all = Diagnostics::new();
        for _ in 0..1_000 {
            let error = Diagnostic::error(format!("`{long}` in {long}")).field(long.clone());
            all.push(error.hint(long.clone()));
        }
        let object =
            ObjectReference { name: long.clone(), path: Some(long), ..ObjectReference::default() };
        all.attribute_to(&object);
        let size: usize = all.iter().map(Diagnostic::size).sum();
        assert!(size <= MAX_KEPT_BYTES && all.more(Severity::Error) > 0, "{size}");
        for one in &all {
            let texts = [Some(&one.message), one.field.as_ref(), one.hints.first()];
            assert!(texts.into_iter().flatten().all(|text| text.len() <= MAX_MESSAGE + 3));
            assert!(one.object.as_ref().is_some_and(|object| object.name.len() < 300));
        }
    }
}
