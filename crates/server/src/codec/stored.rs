//! The storage format of an object: its JSON response, ready to be copied.
//!
//! It has five parts. Each of the first four is a line:
//!
//! 1. a header
//! 2. the cells of the table row
//! 3. the labels as JSON
//! 4. the object as JSON without `resourceVersion`, starting with `kind`, `apiVersion`, `metadata`
//! 5. the posted YAML text, if there is one
//!
//! The header has these fields, separated by spaces: format version, group (with `/KIND` for other
//! kinds than Template), namespace, name, uid, whether the object is being deleted, creation time in seconds, lengths of the next three parts,
//! and three offsets in the object: the start of `metadata`, the position of `resourceVersion`, and
//! the end of `metadata`.

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::Bytes;
use serde_json::Value;

use super::cells;
use super::draft::Draft;
use super::field_types::OBJECT_META;
use super::json;
use krm_template_server_core::{Group, Kind, Result, Revision, Status};

/// The version of the storage format.
const FORM: &str = "1";

/// The header field of a Template with a `deletionTimestamp`.
const DELETED: &str = "deleted";

/// A stored object. Decoding one parses no JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    bytes: Bytes,
    group: Group,
    kind: Kind,
    namespace: Range<usize>,
    name: Range<usize>,
    uid: Range<usize>,
    is_being_deleted: bool,
    created: i64,
    cells: Range<usize>,
    labels: Range<usize>,
    object: Range<usize>,
    metadata: Range<usize>,
    revision_at: usize,
}

impl Stored {
    /// Encodes a Template with its system fields.
    ///
    /// # Errors
    /// 500 if a system field contains white space, because it was not validated.
    pub fn encode(draft: &Draft) -> Result<Self> {
        let (object, metadata, revision_at) = object(draft);
        let mut labels = String::new();
        match draft.metadata.get("labels") {
            Some(map) => json::write(map, &mut labels),
            None => labels.push_str("{}"),
        }
        let cells = cells::of(draft);
        let created = draft.text("creationTimestamp").parse::<jiff::Timestamp>();
        let word = |text: &str| {
            if text.is_empty() { "-".to_owned() } else { text.to_owned() }
        };
        let words = [
            FORM.to_owned(),
            group_and_kind(draft.group, draft.kind),
            word(draft.namespace()),
            word(draft.name()),
            word(draft.text("uid")),
            word(if draft.is_being_deleted() { DELETED } else { "" }),
            created.map_or(0, jiff::Timestamp::as_second).to_string(),
        ];
        let numbers =
            [cells.len(), labels.len(), object.len(), metadata.start, revision_at, metadata.end];
        let mut head = words.join(" ");
        for number in numbers {
            head.push(' ');
            head.push_str(&number.to_string());
        }
        let yaml = draft.yaml().unwrap_or_default();
        let text = [&head, &cells, &labels, &object, yaml].join("\n");
        Self::decode(&Bytes::from(text))
    }

    /// Decodes a stored Template.
    ///
    /// # Errors
    /// 500 if this program did not encode it.
    pub fn decode(bytes: &Bytes) -> Result<Self> {
        Self::read(bytes).ok_or_else(|| Status::internal("the stored object is corrupt"))
    }

    fn read(bytes: &Bytes) -> Option<Self> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let head = std::str::from_utf8(bytes.get(..end)?).ok()?;
        let mut words = head.split(' ');
        let mut at = 0;
        let mut word = || {
            let word = words.next()?;
            let range = at..at + word.len();
            at = range.end + 1;
            Some((word, if word == "-" { 0..0 } else { range }))
        };
        let (form, (group, kind)) = (word()?.0, of_word(word()?.0)?);
        let (namespace, name, uid) = (word()?.1, word()?.1, word()?.1);
        let (deleted, created) = (word()?.0, word()?.0);
        let mut number = || word()?.0.parse::<usize>().ok();
        let mut after = end;
        let mut line = |length: usize| {
            let start = after.checked_add(1)?;
            after = start.checked_add(length).filter(|after| *after <= bytes.len())?;
            Some(start..after)
        };
        let (cells, labels, object) = (line(number()?)?, line(number()?)?, line(number()?)?);
        let [start, revision, end] = [number()?, number()?, number()?];
        let is_sound = start <= revision && revision <= end && end <= object.len();
        (form == FORM && is_sound).then_some(Self {
            bytes: bytes.clone(),
            group,
            kind,
            namespace,
            name,
            uid,
            is_being_deleted: deleted == DELETED,
            created: created.parse().ok()?,
            cells,
            labels,
            metadata: object.start + start..object.start + end,
            revision_at: object.start + revision,
            object,
        })
    }

    /// Returns the Template as a store keeps it: a header and the object's JSON.
    pub const fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Returns the API group in which it was written.
    pub const fn group(&self) -> Group {
        self.group
    }

    /// Returns `metadata.namespace`, which is never empty.
    pub fn namespace(&self) -> &str {
        self.slice(&self.namespace)
    }

    /// Returns `metadata.name`, which is never empty.
    pub fn name(&self) -> &str {
        self.slice(&self.name)
    }

    /// Returns `metadata.uid`, which the server set when the Template was created.
    pub fn uid(&self) -> &str {
        self.slice(&self.uid)
    }

    /// Returns `true` if it has a `deletionTimestamp`.
    pub const fn is_being_deleted(&self) -> bool {
        self.is_being_deleted
    }

    /// Returns `metadata.labels`; an empty map if there are none.
    pub fn labels(&self) -> BTreeMap<String, String> {
        serde_json::from_str(self.slice(&self.labels)).unwrap_or_default()
    }

    /// Returns the Template as a [`Draft`], with its `resourceVersion`.
    pub fn draft(&self, revision: Revision) -> Draft {
        let text = self.slice(&self.object);
        let yaml = self.yaml().map(str::to_owned);
        let mut draft = Draft::stored(self.group, self.kind, text, yaml);
        if revision > 0 {
            draft.metadata.insert("resourceVersion".to_owned(), Value::from(revision.to_string()));
        }
        draft
    }

    /// Returns the creation time, in seconds since 1970.
    pub(crate) const fn created(&self) -> i64 {
        self.created
    }

    /// Returns the cells of the table row. In our group, a tab marks the position of the age.
    pub(crate) fn cells(&self) -> &str {
        self.slice(&self.cells)
    }

    /// Returns the posted YAML text, if there is one.
    pub(crate) fn yaml(&self) -> Option<&str> {
        let text = self.bytes.get(self.object.end + 1..)?;
        std::str::from_utf8(text).ok().filter(|text| !text.is_empty())
    }

    /// Returns the object as JSON, split at the position of `resourceVersion`.
    pub(crate) fn object(&self) -> (&[u8], &[u8]) {
        self.around_revision(&self.object)
    }

    /// Returns the object from the key `metadata` on, split in the same way.
    pub(crate) fn item(&self) -> (&[u8], &[u8]) {
        let head = METADATA.len();
        self.around_revision(&(self.metadata.start.saturating_sub(head)..self.object.end))
    }

    /// Returns `metadata` as JSON, split at the position of `resourceVersion`.
    pub(crate) fn metadata(&self) -> (&[u8], &[u8]) {
        self.around_revision(&self.metadata)
    }

    fn around_revision(&self, range: &Range<usize>) -> (&[u8], &[u8]) {
        let part = |range: Range<usize>| self.bytes.get(range).unwrap_or_default();
        (part(range.start..self.revision_at), part(self.revision_at..range.end))
    }

    fn slice(&self, range: &Range<usize>) -> &str {
        let bytes = self.bytes.get(range.clone()).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

/// Returns the header field for the group and kind.
fn group_and_kind(group: Group, kind: Kind) -> String {
    match kind {
        Kind::Template => group.name().to_owned(),
        Kind::Instance => format!("{}/{}", group.name(), kind.name()),
    }
}

/// Reads the header field for the group and kind.
fn of_word(word: &str) -> Option<(Group, Kind)> {
    match word.split_once('/') {
        None => Some((Group::named(word)?, Kind::Template)),
        Some((group, kind)) => Some((Group::named(group)?, Kind::named(kind)?)),
    }
}

/// The key `metadata` in the JSON of an object.
pub(crate) const METADATA: &str = "\"metadata\":";

/// Returns the object as JSON, the range of its `metadata`, and the position of `resourceVersion`.
fn object(draft: &Draft) -> (String, Range<usize>, usize) {
    let mut out = format!(
        "{{\"kind\":\"{}\",\"apiVersion\":\"{}\",",
        draft.kind.name(),
        draft.group.api_version()
    );
    out.push_str(METADATA);
    let start = out.len();
    out.push('{');
    let mut is_first = true;
    let mut entry = |out: &mut String, key: &str, value: &Value| {
        if !std::mem::take(&mut is_first) {
            out.push(',');
        }
        json::quote(key, out);
        out.push(':');
        json::write(value, out);
    };
    let mut revision_at = out.len();
    for (key, _) in OBJECT_META.0 {
        if *key == "resourceVersion" {
            revision_at = out.len();
        } else if let Some(value) = draft.metadata.get(*key) {
            entry(&mut out, key, value);
        }
    }
    let unknown = |(key, _): &(&String, &Value)| !OBJECT_META.has(key);
    for (key, value) in draft.metadata.iter().filter(unknown) {
        entry(&mut out, key, value);
    }
    out.push('}');
    let end = out.len();
    for (key, text) in draft.stored_fields() {
        out.push(',');
        json::quote(key, &mut out);
        out.push(':');
        out.push_str(text);
    }
    out.push('}');
    (out, start..end, revision_at)
}
