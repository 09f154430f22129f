//! Values of a recording that differ at each run, and ours in their place.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex_lite::{Captures, Regex};

/// A uid, as the recorded servers and ours make them.
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
/// Revisions that messages quote, and how long ago something was.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(current: |in record \(|too old resource version: [0-9]+ \(|resourceVersion\\?":\\?")[0-9]+"#)
        .unwrap()
});
/// What recorded texts say and ours never do: media types of protobuf, places in Go source, Go
/// types, and the beginning of the body that could not be read.
static LEFT_OUT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#", application/vnd\.kubernetes\.protobuf(;stream=watch)?| in scheme "[^"]*"|\*template\."#)
        .unwrap()
});
static QUOTED_BODY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?s)^(the object provided is unrecognized .*?) \((<empty>|[0-9a-f]+( \.\.\.)?|[\[{"].*)\)$"#)
        .unwrap()
});
static AGE: LazyLock<Regex> = LazyLock::new(|| Regex::new("^[0-9]+s$").unwrap());

/// What was learned from the answers so far: recorded values, and ours in their place.
#[derive(Default)]
pub(crate) struct Known {
    /// uids, made names, hashes, tags.
    ids: BTreeMap<String, String>,
    /// Revisions of objects.
    revisions: BTreeMap<String, String>,
}

impl Known {
    /// Takes a uid or a made name of ours for a recorded one. The error says what was taken before.
    pub(crate) fn learn_id(&mut self, recorded: &str, ours: &str) -> Result<(), String> {
        learn(&mut self.ids, recorded, ours)
    }

    /// Takes the revision of an object of ours for a recorded one.
    pub(crate) fn learn_revision(&mut self, recorded: &str, ours: &str) -> Result<(), String> {
        learn(&mut self.revisions, recorded, ours)
    }

    pub(crate) fn revision(&self, recorded: &str) -> Option<&str> {
        self.revisions.get(recorded).map(String::as_str)
    }

    pub(crate) fn id(&self, recorded: &str) -> Option<&str> {
        self.ids.get(recorded).map(String::as_str)
    }

    /// The text of a request with our values in it. `current` is our newest revision. It
    /// replaces recorded ones that no object has.
    pub(crate) fn fill(&self, text: &str, current: &str) -> String {
        let revision = |found: &Captures<'_>, end: &str| {
            let recorded = &found[2];
            // Only numbers of this size were revisions in the recording.
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

/// Whether a text is a uid.
pub(crate) fn is_uid(text: &str) -> bool {
    ID.find(text).is_some_and(|found| found.len() == text.len())
}

/// Whether a text is a time in seconds, in UTC.
pub(crate) fn is_time(text: &str) -> bool {
    MOMENT
        .find(text)
        .is_some_and(|found| found.len() == text.len())
}

/// Whether two texts differ in no more than uids, times, ages, quoted revisions, and what ours
/// leave out.
pub(crate) fn alike(recorded: &str, ours: &str) -> bool {
    recorded == ours || anonymous(&without_details(recorded)) == anonymous(ours)
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
