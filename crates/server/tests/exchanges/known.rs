//! Recorded values that differ in each run, mapped to ours.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex_lite::{Captures, Regex};

use crate::words::are_same_error;

/// A uid of the recorded servers or ours.
pub(crate) const UUID: &str = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
/// A time in seconds, in UTC.
pub(crate) const TIME: &str = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z";

static ID: LazyLock<Regex> = LazyLock::new(|| Regex::new(UUID).unwrap());
static MOMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(TIME).unwrap());
static REVISION_IN_BODY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"("?resourceVersion"?: ?")([0-9]{3})""#).unwrap());
static REVISION_IN_PATH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("(resourceVersion=)([0-9]{3})(&|$)").unwrap());
static HASH: LazyLock<Regex> = LazyLock::new(|| Regex::new("hash=[0-9A-F]{128}").unwrap());
/// Revisions in messages.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(current: |in record \(|too old resource version: [0-9]+ \(|resourceVersion\\?":\\?")[0-9]+"#)
        .unwrap()
});
/// Parts of recorded messages that ours never have: media types of protobuf, positions in Go source
/// and Go types.
static LEFT_OUT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#", application/vnd\.kubernetes\.protobuf(;stream=watch)?| in scheme "[^"]*"|\*template\."#)
        .unwrap()
});
static QUOTED_BODY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?s)^(the object provided is unrecognized .*?) \((<empty>|[0-9a-f]+( \.\.\.)?|[\[{"].*)\)$"#)
        .unwrap()
});
static AGE: LazyLock<Regex> = LazyLock::new(|| Regex::new("^[0-9]+s$").unwrap());

/// The values learned from the responses: recorded values, mapped to ours.
#[derive(Default)]
pub(crate) struct Known {
    /// Uids, generated names, hashes, entity tags.
    ids: BTreeMap<String, String>,
    /// Revisions of objects.
    revisions: BTreeMap<String, String>,
}

impl Known {
    /// Maps a recorded uid or generated name to ours. Fails if it already has another value.
    pub(crate) fn learn_id(&mut self, recorded: &str, ours: &str) -> Result<(), String> {
        learn(&mut self.ids, recorded, ours)
    }

    /// Maps a recorded revision of an object to ours.
    pub(crate) fn learn_revision(&mut self, recorded: &str, ours: &str) -> Result<(), String> {
        learn(&mut self.revisions, recorded, ours)
    }

    pub(crate) fn revision(&self, recorded: &str) -> Option<&str> {
        self.revisions.get(recorded).map(String::as_str)
    }

    pub(crate) fn id(&self, recorded: &str) -> Option<&str> {
        self.ids.get(recorded).map(String::as_str)
    }

    /// Replaces the recorded values in a request with ours. `current` is our latest revision. It
    /// replaces recorded revisions that no object has.
    pub(crate) fn fill(&self, text: &str, current: &str) -> String {
        let revision = |found: &Captures<'_>, end: &str| {
            let recorded = &found[2];
            // Smaller numbers are not revisions in the recording.
            if recorded.parse().is_ok_and(|number: u32| number < 500) {
                return found[0].to_owned();
            }
            let ours = self.revision(recorded).unwrap_or(current);
            format!("{}{ours}{end}", &found[1])
        };
        let text = ID.replace_all(text, |found: &Captures<'_>| {
            self.id(&found[0]).unwrap_or(&found[0]).to_owned()
        });
        let text =
            REVISION_IN_BODY.replace_all(&text, |found: &Captures<'_>| revision(found, "\""));
        let text =
            REVISION_IN_PATH.replace_all(&text, |found: &Captures<'_>| revision(found, &found[3]));
        let text = HASH.replace_all(&text, |found: &Captures<'_>| {
            self.id(&found[0]).unwrap_or(&found[0]).to_owned()
        });
        text.into_owned()
    }
}

fn learn(known: &mut BTreeMap<String, String>, recorded: &str, ours: &str) -> Result<(), String> {
    match known.get(recorded) {
        Some(before) if before != ours => Err(format!("{ours}, which was {before} before")),
        Some(_) => Ok(()),
        None => {
            known.insert(recorded.to_owned(), ours.to_owned());
            Ok(())
        }
    }
}

/// Returns `true` if a text is a uid.
pub(crate) fn is_uid(text: &str) -> bool {
    ID.find(text).is_some_and(|found| found.len() == text.len())
}

/// Returns `true` if a text is a time in seconds, in UTC.
pub(crate) fn is_time(text: &str) -> bool {
    MOMENT.find(text).is_some_and(|found| found.len() == text.len())
}

/// Returns `true` if two texts differ only in uids, times, ages, revisions, parts that our messages
/// omit, and words about malformed JSON and wrong types.
pub(crate) fn alike(recorded: &str, ours: &str) -> bool {
    let plain = without_details(recorded);
    recorded == ours || anonymous(&plain) == anonymous(ours) || are_same_error(&plain, ours)
}

fn without_details(recorded: &str) -> String {
    let text = LEFT_OUT.replace_all(recorded, "");
    QUOTED_BODY.replace_all(&text, "${1}").into_owned()
}

fn anonymous(text: &str) -> String {
    let text = ID.replace_all(text, "UID");
    let text = MOMENT.replace_all(&text, "TIME");
    let text = QUOTED.replace_all(&text, "${1}N");
    AGE.replace_all(&text, "AGE").into_owned()
}
