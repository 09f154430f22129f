//! Where a text has the values of secrets.
//!
//! Messages about any text are drawn with lines of it. Which of these have a secret is decided here,
//! by the text alone, and only when there is a message.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use memchr::memmem;

use krm_yaml::diagnostic::{Diagnostics, Severity};
use krm_yaml::shorten::is_reference;
use krm_yaml::source::{Place, Source};
use krm_yaml::{Cursor, Document};

use crate::secrets::KnownSecrets;

/// A text without these has no places.
const SIGNS: [&str; 6] = ["ecret", "ase64", "tringData", "/data", "assword", "token"];

/// The kinds of values, of which some may be secret.
const VALUES: [&str; 3] = ["TemplateInstance", "ParameterValues", "ConfigMap"];

/// The places of secrets in a text, and their values: of Secrets, also in lists and patches, of
/// generators of Secrets and of secret parameters. If a text is not YAML, all of a document that
/// mentions a secret.
#[derive(Debug, Default)]
pub struct SecretPlaces {
    ranges: Vec<Range<usize>>,
    /// The ranges of texts, in which nothing is a key.
    texts: Vec<Range<usize>>,
    /// The values.
    pub values: KnownSecrets,
    /// The nodes that aliases refer to.
    seen: BTreeSet<usize>,
    /// If given, only nodes that overlap one of these ranges are looked at.
    near: Option<Vec<Range<usize>>>,
}

/// More bytes than a report shows of the lines before and after the start of a place.
const AROUND: usize = 192;

impl SecretPlaces {
    /// Finds the places in a text, which `may_be_read` as YAML.
    #[must_use]
    pub fn of(source: &Arc<Source>, may_be_read: bool) -> Self {
        Self::near(source, may_be_read, None)
    }

    /// As [`of`](Self::of), but of a text without aliases only the places near others.
    fn near(source: &Arc<Source>, may_be_read: bool, near: Option<&[&Place]>) -> Self {
        let mut places = Self::default();
        if is_about_secrets(source.text())
            && let Ok(document) = Document::parse(source)
        {
            let near = near.filter(|_| document.is_simple()).unwrap_or_default().iter();
            let ranges = near.map(|Place { range: Range { start, end }, .. }| {
                start.saturating_sub(AROUND)..(*end).max(start.saturating_add(AROUND))
            });
            let ranges = sorted(ranges.collect());
            places.near = (!ranges.is_empty()).then_some(ranges);
            document.roots().for_each(|root| places.find(root, false));
        } else if !may_be_read && Document::parse(source).is_err() {
            places.documents(source);
        }
        places.ranges = sorted(places.ranges);
        places.texts = sorted(places.texts);
        places
    }

    /// Returns `true` if a part of the text may have a secret.
    pub fn overlap(&self, part: &Range<usize>) -> bool {
        overlap(&self.ranges, part)
    }

    /// Returns `true` if an offset is in the text of a secret.
    pub fn is_text(&self, at: usize) -> bool {
        overlap(&self.texts, &(at..at))
    }

    /// Adds the documents that mention a secret, or are values. Of others, the lines with a value.
    fn documents(&mut self, source: &Source) {
        let text = source.text();
        // Templates of Deployment Manager are not YAML.
        let is_values = |document: &str| {
            source.name().rsplit('.').next() != Some("jinja")
                && VALUES.iter().any(|kind| document.contains(kind))
        };
        let (mut start, mut end) = (0, 0);
        for line in text.split_inclusive('\n').chain(["---"]) {
            if line.trim_end() == "---" || line.starts_with("--- ") {
                let document = text.get(start..end).unwrap_or_default();
                if is_about_secrets(document) || is_values(document) {
                    self.ranges.push(start..end + 1);
                    // A line of a text may look like a key.
                    if document.lines().any(begins_text) {
                        self.texts.push(start..end + 1);
                    }
                }
                start = end;
            }
            if line.contains("value:") || line.contains("value\":") {
                self.ranges.push(end..end + line.len());
            }
            end += line.len();
        }
    }

    /// Finds the places below a node. In a list of Secrets, `is_of_secret` even without a kind, and
    /// in properties, which have names such as `password`.
    fn find<'d>(&mut self, node: Cursor<'d>, is_of_secret: bool) {
        if self.near.as_ref().is_some_and(|near| !overlap(near, &(node.start()..node.end()))) {
            return;
        }
        let is_alias = node.resolved().id() != node.id();
        if is_alias || !(node.is_mapping() || node.is_sequence()) {
            let is_object = || {
                let raw = node.raw();
                let kinds = ["Secret", "stringData"];
                // Without spaces, quotes and backslashes, of which there may be many.
                let is_meant = |c: &char| !(c.is_whitespace() || "\"'\\".contains(*c));
                kinds.iter().any(|word| raw.contains(word)) && {
                    let text: String = raw.chars().filter(is_meant).collect();
                    text.contains("kind:Secret") || text.contains("stringData:")
                }
            };
            if !is_alias && is_object() {
                self.hide(node);
            }
            return;
        }
        let text = |part: Option<Cursor<'d>>| part?.text().ok()?;
        let [kind, secret, type_of, target, path] =
            node.get_all(["kind", "secret", "type", "target", "path"]);
        let kind = text(kind);
        let is_secret = match kind.as_deref() {
            Some(kind) => kind.starts_with("Secret"),
            None => is_of_secret,
        };
        let is_parameter =
            text(secret).as_deref() == Some("true") || text(type_of).as_deref() == Some("base64");
        let target = target.and_then(|target| target.text_at(["kind"]));
        let is_patch = target.as_deref() == Some("Secret")
            || text(path)
                .is_some_and(|path| path.starts_with("/data") || path.starts_with("/stringData"));
        for child in node.children() {
            let is_hidden = match child.key().unwrap_or_default().as_ref() {
                "data" | "stringData" | "literals" => is_secret,
                "patch" | "patches" => is_patch,
                "value" => is_patch || is_parameter,
                key if is_of_secret && kind.is_none() && is_name_of_secret(key) => true,
                // A key such as `value:TEXT`, in which a space is missing.
                key => is_parameter && key.contains([':', ' ', '=']),
            };
            let is_of_secret = match child.key().unwrap_or_default().as_ref() {
                "secretGenerator" | "properties" => true,
                _ => is_secret,
            };
            if is_hidden {
                self.hide(child);
            } else {
                self.find(child, is_of_secret);
            }
        }
    }

    /// Adds all values at and below a node.
    fn hide(&mut self, node: Cursor<'_>) {
        let target = node.resolved();
        let is_alias = target.id() != node.id();
        if is_alias && !self.seen.insert(target.start()) {
            return;
        }
        // A key in which a space is missing has the value.
        let key = node.key().unwrap_or_default();
        let value = key.split_once([':', ' ', '=']).map(|(_, value)| value);
        self.values.add_encoded(value.unwrap_or_default());
        if target.is_mapping() || target.is_sequence() {
            target.children().for_each(|child| self.hide(child));
            return;
        }
        let text = target.text().ok().flatten().unwrap_or_default();
        if is_reference(&text) {
            return;
        }
        self.ranges.push(node.start()..node.end());
        self.ranges.push(target.place().range);
        self.texts.push(target.place().range);
        // Also of `NAME=VALUE`.
        let value = text.split_once('=').map(|(_, value)| value);
        for value in [&*text, target.raw(), value.unwrap_or_default()] {
            self.values.add_encoded(value);
        }
        // A value may have been read as a tag.
        let tags = node.document().slice(node.value_start()..target.place().range.start);
        for tag in tags.split_whitespace() {
            self.values.add_encoded(tag.trim_start_matches(['!', '&']));
        }
    }
}

/// Returns `true` for a name such as `password`.
pub fn is_name_of_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let mut words = ["password", "secret", "token"].iter();
    words.any(|word| name.contains(word))
}

fn begins_text(line: &str) -> bool {
    let is_after = |c: char| c.is_whitespace() || c.is_ascii_digit() || "+-".contains(c);
    line.trim_end_matches(is_after).ends_with(['|', '>'])
}

fn is_about_secrets(text: &str) -> bool {
    SIGNS.iter().any(|sign| memmem::find(text.as_bytes(), sign.as_bytes()).is_some())
}

/// Ranges sorted by their start, each up to where the last of all up to it ends.
fn sorted(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut last = 0;
    for range in &mut ranges {
        last = range.end.max(last);
        range.end = last;
    }
    ranges
}

fn overlap(ranges: &[Range<usize>], part: &Range<usize>) -> bool {
    let end = part.end.max(part.start + 1);
    let before = ranges.partition_point(|range| range.start < end);
    let last = before.checked_sub(1).and_then(|at| ranges.get(at));
    last.is_some_and(|last| last.end > part.start)
}

/// The places of secrets in the texts that diagnostics are about.
#[derive(Debug, Default)]
pub(crate) struct AllPlaces(BTreeMap<*const Source, SecretPlaces>);

impl AllPlaces {
    /// Also returns the diagnostics, with masks for the secrets that those at their places quote.
    pub(crate) fn of(diagnostics: &Diagnostics) -> (Self, Cow<'_, Diagnostics>) {
        let mut shown: BTreeMap<_, (bool, Vec<&Place>)> = BTreeMap::new();
        for one in diagnostics {
            let related = one.related.iter().map(|(place, _)| place);
            for place in one.place.iter().chain(related) {
                let of_source = shown.entry(Arc::as_ptr(&place.source));
                let (may_be_read, places) = of_source.or_insert((true, Vec::new()));
                *may_be_read &= one.severity != Severity::Error;
                places.push(place);
            }
        }
        let mut all = Self::default();
        let mut is_masked = false;
        for (key, (may_be_read, shown)) in shown {
            let Some(Place { source, .. }) = shown.first() else { continue };
            let mut known = SecretPlaces::near(source, may_be_read, Some(&shown));
            // Then messages may quote any value of the text.
            if shown.iter().any(|place| known.overlap(&place.range)) {
                known = SecretPlaces::of(source, may_be_read);
                is_masked |= !known.values.is_empty();
            }
            all.0.insert(key, known);
        }
        if !is_masked {
            return (all, Cow::Borrowed(diagnostics));
        }
        let mut masked = diagnostics.clone();
        masked.rewrite(|place, text| {
            let place = place?;
            let known = all.at(place).filter(|known| known.overlap(&place.range))?;
            known.values.changed(text)
        });
        (all, Cow::Owned(masked))
    }

    /// The places in the text of a place.
    pub(crate) fn at(&self, place: &Place) -> Option<&SecretPlaces> {
        self.0.get(&Arc::as_ptr(&place.source))
    }
}

/// Diagnostics with masks for the secrets that those at their places quote.
pub(crate) fn concealed(diagnostics: &Diagnostics) -> Cow<'_, Diagnostics> {
    AllPlaces::of(diagnostics).1
}

#[cfg(test)]
mod tests {
    use krm_yaml::diagnostic::Diagnostic;

    use super::*;

    /// An error far from a secret, where a warning is about the secret.
    #[test]
    fn a_secret_far_from_an_error_is_concealed() {
        let text =
            format!("kind: Secret\nstringData: {{a: hunter2}}\n---\n{}x: y\n", "# c\n".repeat(200));
        let source = Source::new("test", text.as_str());
        let place = |part: &str| {
            let at = text.find(part).expect("a part of the text");
            Place { source: Arc::clone(&source), range: at..at + part.len() }
        };
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(Diagnostic::error("wrong").at(place("x: y")));
        diagnostics.push(Diagnostic::warning("`hunter2` is weak").at(place("hunter2")));
        let (places, concealed) = AllPlaces::of(&diagnostics);
        let secret = place("hunter2");
        assert!(places.at(&secret).is_some_and(|known| known.overlap(&secret.range)));
        assert!(concealed.iter().all(|one| !one.message.contains("hunter2")));
    }

    /// Each text has marks around what must be a place, and no other. An item has its dash.
    #[test]
    fn places_are_found() {
        for text in [
            "kind: Secret\ndata: {<a: aHVudGVyMg==>, b: $(B)}\n",
            "stringData:\n  <a: |\n    x: y\n>kind: Secret\n---\nkind: ConfigMap\ndata: {a: b}\n",
            "items:\n- {\"kind\":\"Secret\",\"stringData\":{<\"a\":\"hunter2\">}}\n- {kind: ConfigMap, data: {a: b}}\n",
            "kind: SecretList\nitems:\n- data: {<a: aHVudGVyMg==>}\n",
            "secretGenerator:\n- name: a\n  literals:\n  <- a=b>\n",
            "kind: SecretGenerator\nliterals:\n<- a=b>\n",
            "parameters:\n- name: A\n  <value: hunter2>\n  secret: true\n- {name: B, value: b}\n",
            "parameters:\n- {name: A, <value:hunter2>, type: base64}\n",
            "patches:\n- target: {kind: Secret}\n  <patch: |-\n    x\n>- patch: y\n",
            "- op: add\n  path: /stringData/a\n  <value: hunter2>\n",
            "patches:\n- <patch: |-\n    kind: Secret\n    data: {a: b}\n>",
            "x: &x <hunter2>\nkind: Secret\nstringData: {<a: *x>}\n",
            "resources:\n- type: x\n  properties: {size: 1, <dbPassword: x>}\n",
            "description: the secret of all\nname: a\n",
            // An error may be right behind the document.
            "<a: [secret\n->--\nb: c\n",
            "kind: Template\na: [\n<value: x\n>b: c\n",
        ] {
            let plain = text.replace(['<', '>'], "");
            let places = SecretPlaces::of(&Source::new("test", plain.as_str()), false);
            let mut found = String::new();
            let mut was_in = false;
            for (at, c) in plain.char_indices() {
                let is_in = places.overlap(&(at..at));
                if is_in != was_in {
                    found.push(if is_in { '<' } else { '>' });
                }
                found.push(c);
                was_in = is_in;
            }
            if was_in {
                found.push('>');
            }
            assert_eq!(found, text);
        }
    }
}
