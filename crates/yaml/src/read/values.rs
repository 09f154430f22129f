//! Reads nodes into [`Value`]s: resolves aliases and merge keys, finds duplicate keys.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, Diagnostics, Result, Severity};
use crate::limits::{ALIASES_EXPAND, MAX_ALIASED_BYTES, MAX_ALIASED_NODES};
use crate::read::document::Cursor;
use crate::scalar;
use crate::scalar::data::Scalar;
use crate::table::{Flags, KeyKind, Kind, NONE, NodeId};
use crate::value::{Data, Value};

/// The meaning of a mapping that has a key twice.
///
/// ```
/// use krm_yaml::diagnostic::Diagnostics;
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, DuplicateKeys, Value};
///
/// let document = Document::parse(&Source::new("a.yaml", "app: web\napp: shop\n"))?;
/// let root = document.roots().next().expect("not empty");
/// let mut diagnostics = Diagnostics::new();
/// assert_eq!(root.value(DuplicateKeys::Refuse, &mut diagnostics), None);
/// assert!(diagnostics.has_errors());
///
/// let value = root.value(DuplicateKeys::LastWins, &mut Diagnostics::new());
/// assert_eq!(value.as_ref().and_then(|value| value.str_at(&["app"])), Some("shop"));
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateKeys {
    /// An error that names both places.
    Refuse,
    /// The last one counts; a warning names both places.
    LastWins,
}

/// The meaning of plain scalars where readers differ: `yes`, `no`, `on`, `off`, `y` and `n`, and to
/// PyYAML some numbers, too.
///
/// ```
/// use krm_yaml::diagnostic::Diagnostics;
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, DuplicateKeys, Words};
///
/// let document = Document::parse(&Source::new("a.yaml", "debug: on\n"))?;
/// let root = document.roots().next().expect("not empty");
/// let read = |words| {
///     let value = root.value_with(DuplicateKeys::Refuse, words, &mut Diagnostics::new());
///     value.map(|value| value.to_json())
/// };
/// assert_eq!(read(Words::Bools).as_deref(), Some(r#"{"debug":true}"#));
/// assert_eq!(read(Words::Texts).as_deref(), Some(r#"{"debug":"on"}"#));
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// Bools, as in YAML 1.1 and to kubectl.
    Bools,
    /// Texts, as in YAML 1.2 and to kustomize and kpt.
    Texts,
    /// As PyYAML reads YAML 1.1: `yes` is a bool, `y` a text, `1:30` the number 90. Any scalar may be a
    /// key.
    PyYaml,
}

impl<'d> Cursor<'d> {
    /// The whole value under this node. Errors and warnings go to `diagnostics`, all of them.
    ///
    /// Returns `None` if there was an error.
    ///
    /// ```
    /// use krm_yaml::diagnostic::Diagnostics;
    /// use krm_yaml::source::Source;
    /// use krm_yaml::{Document, DuplicateKeys};
    ///
    /// let document = Document::parse(&Source::new("a.yaml", "mode: 0644\nowner: ~\n"))?;
    /// let root = document.roots().next().expect("not empty");
    /// let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new()).expect("valid");
    /// assert_eq!(value.to_json(), r#"{"mode":420,"owner":null}"#);
    /// assert!(value.get("owner").is_some_and(|owner| owner.is_null()));
    /// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
    /// ```
    pub fn value(
        self,
        duplicates: DuplicateKeys,
        diagnostics: &mut Diagnostics,
    ) -> Option<Value<'d>> {
        self.value_with(duplicates, Words::Bools, diagnostics)
    }

    /// As [`value`](Self::value). A word that is read as text by choice differs from the node's
    /// value, so it is written in quotes.
    pub fn value_with(
        self,
        duplicates: DuplicateKeys,
        words: Words,
        diagnostics: &mut Diagnostics,
    ) -> Option<Value<'d>> {
        let (value, is_whole) = self.read(duplicates, words, diagnostics);
        is_whole.then_some(value)
    }

    /// The value as far as it can be read, and whether there was no error.
    pub(crate) fn read(
        self,
        duplicates: DuplicateKeys,
        words: Words,
        diagnostics: &mut Diagnostics,
    ) -> (Value<'d>, bool) {
        /// Entries of an ordinary object, and of what is around them.
        const PLACES: usize = 32;
        let has_entries = matches!(self.node().kind, Kind::Mapping | Kind::Sequence);
        let mut reader = Reader {
            duplicates,
            words,
            diagnostics,
            nodes_left: MAX_ALIASED_NODES,
            bytes_left: MAX_ALIASED_BYTES,
            inside: Vec::new(),
            places: Vec::with_capacity(if has_entries { PLACES } else { 0 }),
            failed: false,
        };
        let value = reader.value(self);
        (value, !reader.failed)
    }

    /// Refuses keys and values that go-yaml refuses in any object, even if nothing reads them: a
    /// key that is a collection, and a scalar that does not fit its tag. Both need the full path,
    /// so deferred items have neither.
    ///
    /// # Errors
    /// At the first such key or value.
    pub fn check_values(self) -> Result<()> {
        if self.document().is_simple {
            return Ok(());
        }
        let top = self.resolved();
        let nodes = (top.id().0..top.node().next).map(|at| top.document().cursor(NodeId(at)));
        for cursor in nodes {
            let node = cursor.node();
            let has_props = node.entry != node.key.start && node.key_kind != KeyKind::None;
            if has_props || node.key_kind == KeyKind::Complex {
                cursor.key()?;
            }
            if node.has(Flags::TAG) {
                cursor.scalar()?;
            }
        }
        Ok(())
    }

    /// Reports the keys that this mapping has twice, without looking at its values.
    pub fn check_keys(self, duplicates: DuplicateKeys, diagnostics: &mut Diagnostics) {
        if self.has_distinct_keys() {
            return;
        }
        let mut seen = BTreeMap::new();
        for entry in self.children() {
            let Ok(key) = entry.key() else { continue };
            if entry.is_merge_key() {
                continue;
            }
            if let Some(first) = seen.get(&key) {
                diagnostics.push(duplicate_key(&key, entry, Some(*first), duplicates));
            } else {
                seen.insert(key, entry);
            }
        }
    }

    /// Whether the text under this node reads as `value`, entries in any order and no key twice. An
    /// alias and a mapping with a merge key do not.
    pub fn holds(self, value: &Value<'_>) -> bool {
        match (self.node().kind, &value.data) {
            (Kind::Scalar(_), Data::Scalar(scalar)) => {
                self.scalar().is_ok_and(|read| read.as_ref() == Some(scalar))
            }
            (Kind::Sequence, Data::Sequence(items)) => {
                let mut children = self.children();
                let all =
                    items.iter().all(|item| children.next().is_some_and(|child| child.holds(item)));
                all && children.next().is_none()
            }
            (Kind::Mapping, Data::Mapping(entries)) => {
                let children = self.document().children(self.id());
                hold_entries(children, entries)
            }
            _ => false,
        }
    }

    pub(crate) fn has_distinct_keys(self) -> bool {
        self.few_keys_differ().unwrap_or_else(|| are_distinct(self.children().map(Self::key)))
    }

    /// The key, if it is [spelled as it is read](Flags::KEY_TEXT).
    #[inline]
    pub(crate) fn noted_key(self) -> Option<&'d [u8]> {
        let text = self.document().text().as_bytes();
        text.get(self.node().key_text()?)
    }

    /// Whether no two keys are equal, compared one by one; `None` if one of them is not
    /// [noted](Self::noted_key), or there are too many.
    fn few_keys_differ(self) -> Option<bool> {
        /// The number of keys up to which comparing each pair is faster than sorting.
        const FEW: usize = 16;
        let mut keys = [&[] as &[u8]; FEW];
        for (count, child) in self.children().enumerate() {
            let key = child.noted_key()?;
            let (before, after) = keys.split_at_mut_checked(count)?;
            if before.contains(&key) {
                return Some(false);
            }
            *after.first_mut()? = key;
        }
        Some(true)
    }
}

/// Whether the children of a mapping have these keys and [hold](Cursor::holds) these values, in any
/// order and no key twice.
fn hold_entries<'d>(
    children: impl Iterator<Item = Cursor<'d>> + Clone,
    entries: &[(Cow<'_, str>, Value<'_>)],
) -> bool {
    let mut rest = entries.iter();
    // Filled once the entries are in another order.
    let mut by_key = BTreeMap::new();
    let mut count = 0;
    for child in children.clone() {
        let Ok(key) = child.key() else { return false };
        // A key that was read from there is the same slice.
        let is_key = |name: &str| std::ptr::eq(name, key.as_ref()) || name == key;
        let next = rest.next().filter(|(name, _)| is_key(name));
        let mut value = next.map(|(_, value)| value);
        if value.is_none() {
            if by_key.is_empty() {
                let entries = entries.iter().map(|(name, value)| (&**name, value));
                by_key = entries.collect();
            }
            value = by_key.get(&*key).copied();
        }
        if !value.is_some_and(|value| child.holds(value)) {
            return false;
        }
        count += 1;
    }
    count == entries.len() && (by_key.is_empty() || are_distinct(children.map(Cursor::key)))
}

/// Whether no two of the keys that can be read are equal.
fn are_distinct<'d>(keys: impl Iterator<Item = Result<Cow<'d, str>>>) -> bool {
    let mut keys: Vec<Cow<'_, str>> = keys.filter_map(Result::ok).collect();
    keys.sort_unstable();
    keys.windows(2).all(|pair| pair.first() != pair.last())
}

fn duplicate_key(
    key: &str,
    entry: Cursor<'_>,
    first: Option<Cursor<'_>>,
    duplicates: DuplicateKeys,
) -> Diagnostic {
    let message = format!("duplicate mapping key `{key}`");
    let (diagnostic, hint) = match duplicates {
        DuplicateKeys::Refuse => (Diagnostic::error(message), "remove one of the two"),
        DuplicateKeys::LastWins => {
            (Diagnostic::warning(message), "the last one counts; remove the other")
        }
    };
    let diagnostic = diagnostic.rule("duplicate-key");
    let diagnostic = diagnostic.at(entry.key_place()).hint(hint);
    match first {
        Some(first) => diagnostic.related(first.key_place(), "first here"),
        None => diagnostic,
    }
}

struct Reader<'r> {
    duplicates: DuplicateKeys,
    words: Words,
    diagnostics: &'r mut Diagnostics,
    nodes_left: usize,
    bytes_left: usize,
    /// The anchored nodes whose aliases are followed at the moment.
    inside: Vec<u32>,
    /// Where each entry is of the mappings that are being read, outermost first.
    places: Vec<NodeId>,
    failed: bool,
}

impl<'d> Reader<'_> {
    fn fail(&mut self, diagnostic: Box<Diagnostic>) -> Value<'d> {
        if !self.failed || diagnostic.severity == Severity::Error {
            self.diagnostics.push(*diagnostic);
        }
        self.failed = true;
        Data::Scalar(Scalar::Null).into()
    }

    // Calls itself for nested nodes: so its stack frame must be small, and other functions do the
    // work.
    fn value(&mut self, cursor: Cursor<'d>) -> Value<'d> {
        if !self.inside.is_empty() && !self.spend(cursor) {
            return Data::Scalar(Scalar::Null).into();
        }
        let data = match cursor.node().kind {
            Kind::Alias => return self.alias(cursor),
            Kind::Deferred => {
                let message = "internal error: an item of a list was not opened";
                return self.fail(Diagnostic::error(message).at(cursor.place()).into());
            }
            Kind::Scalar(_) => self.scalar(cursor),
            Kind::Sequence => self.sequence(cursor),
            Kind::Mapping => self.mapping(cursor),
        };
        let origin = self.inside.is_empty().then(|| cursor.id());
        Value { origin, data }
    }

    /// The common case of [`value`](Self::value): a string that is spelled as it is read. Whatever
    /// the [`Words`], it is a string.
    #[inline]
    fn value_as_spelled(&self, cursor: Cursor<'d>) -> Option<Value<'d>> {
        let text = cursor.node().value_text()?;
        self.inside.is_empty().then(|| Value {
            origin: Some(cursor.id()),
            data: Data::Scalar(Scalar::String(Cow::Borrowed(cursor.document().slice(text)))),
        })
    }

    /// Counts a node that is read through an alias; false beyond the limit.
    fn spend(&mut self, cursor: Cursor<'d>) -> bool {
        self.nodes_left = self.nodes_left.saturating_sub(1);
        if matches!(cursor.node().kind, Kind::Scalar(_)) {
            self.bytes_left = self.bytes_left.saturating_sub(cursor.raw().len());
        }
        let limit = match (self.nodes_left, self.bytes_left) {
            (0, _) => format!("{MAX_ALIASED_NODES} nodes"),
            (_, 0) => format!("{MAX_ALIASED_BYTES} bytes"),
            _ => return true,
        };
        if !self.failed {
            self.fail(
                Diagnostic::error(format!("{ALIASES_EXPAND} {limit}"))
                    .at(cursor.place())
                    .hint("write the text out instead of using `*aliases`")
                    .into(),
            );
        }
        false
    }

    fn scalar(&mut self, cursor: Cursor<'d>) -> Data<'d> {
        let scalar = match self.words {
            Words::PyYaml => cursor.scalar_of_pyyaml(),
            Words::Bools | Words::Texts => cursor.scalar(),
        };
        match scalar {
            Ok(Some(Scalar::Bool(_))) if self.is_text(cursor) => {
                Data::Scalar(Scalar::String(Cow::Owned(cursor.raw().to_owned())))
            }
            Ok(scalar) => Data::Scalar(scalar.unwrap_or(Scalar::Null)),
            Err(diagnostic) => self.fail(diagnostic).data,
        }
    }

    /// Whether a scalar that kubectl reads as a bool is a text here.
    fn is_text(&self, cursor: Cursor<'d>) -> bool {
        let is_tagged = cursor.node().has(Flags::TAG);
        self.words == Words::Texts && !is_tagged && is_word(cursor.raw())
    }

    #[inline]
    fn key(&self, entry: Cursor<'d>) -> Result<Cow<'d, str>> {
        if let Some(text) = entry.node().key_text() {
            return Ok(Cow::Borrowed(entry.document().slice(text)));
        }
        self.key_slowly(entry)
    }

    fn key_slowly(&self, entry: Cursor<'d>) -> Result<Cow<'d, str>> {
        if self.words == Words::PyYaml {
            return entry.key_of_pyyaml();
        }
        let key = entry.key()?;
        if self.words == Words::Texts && matches!(key.as_ref(), "true" | "false") {
            let text = entry.key_text()?;
            if is_word(&text) {
                return Ok(Cow::Owned(text.into_owned()));
            }
        }
        Ok(key)
    }

    fn sequence(&mut self, cursor: Cursor<'d>) -> Data<'d> {
        let document = cursor.document();
        let mut items = Vec::with_capacity(document.children(cursor.id()).count());
        for item in document.children(cursor.id()) {
            let text = self.value_as_spelled(item);
            items.push(text.unwrap_or_else(|| self.value(item)));
        }
        Data::Sequence(items)
    }

    fn alias(&mut self, cursor: Cursor<'d>) -> Value<'d> {
        if cursor.entry_of_key().is_some() {
            let data = self.scalar(cursor);
            let origin = self.inside.is_empty().then(|| cursor.id());
            return Value { origin, data };
        }
        let target = cursor.node().target;
        let own = cursor.id().0;
        let target_node = cursor.resolved().node();
        if target == NONE
            || self.inside.contains(&target)
            || (target <= own && own < target_node.next)
        {
            return self.fail(
                Diagnostic::error(format!("alias `{}` refers to itself", cursor.raw()))
                    .at(cursor.place())
                    .hint("write the value out")
                    .into(),
            );
        }
        self.inside.push(target);
        let value = self.value(cursor.resolved());
        self.inside.pop();
        let origin = self.inside.is_empty().then(|| cursor.id());
        Value { origin, data: value.data }
    }

    fn mapping(&mut self, cursor: Cursor<'d>) -> Data<'d> {
        let document = cursor.document();
        let mut mapping = Mapping {
            entries: Vec::with_capacity(document.children(cursor.id()).count()),
            places: self.places.len(),
            ..Mapping::default()
        };
        for entry in document.children(cursor.id()) {
            match self.key(entry) {
                Ok(key) => {
                    let text = self.value_as_spelled(entry);
                    let value = text.unwrap_or_else(|| self.value(entry));
                    self.entry(&mut mapping, entry, key, value);
                }
                Err(diagnostic) => drop(self.fail(diagnostic)),
            }
        }
        self.places.truncate(mapping.places);
        if !mapping.merged.is_empty() {
            self.merge_all(cursor, &mut mapping.entries, mapping.merged);
        }
        Data::Mapping(mapping.entries)
    }

    #[inline]
    fn entry(
        &mut self,
        mapping: &mut Mapping<'d>,
        entry: Cursor<'d>,
        key: Cow<'d, str>,
        value: Value<'d>,
    ) {
        if entry.is_merge_key() {
            mapping.merged.push((mapping.entries.len(), value));
            return;
        }
        let Some(first) = mapping.index.insert(&key, &mapping.entries) else {
            mapping.entries.push((key, value));
            self.places.push(entry.id());
            return;
        };
        let first_place = self.places.get(mapping.places + first);
        let first_entry = first_place.map(|&id| entry.document().cursor(id));
        self.duplicate(&key, entry, first_entry);
        // The later one counts, in the place of the first.
        if let Some(slot) = mapping.entries.get_mut(first) {
            slot.1 = value;
        }
    }

    fn duplicate(&mut self, key: &str, entry: Cursor<'d>, first: Option<Cursor<'d>>) {
        self.failed |= self.duplicates == DuplicateKeys::Refuse;
        self.diagnostics.push(duplicate_key(key, entry, first, self.duplicates));
    }

    /// Puts the entries of merge keys in their places; the mapping's own keys win, then those of the
    /// last merge key, and of the first mapping merged by it.
    fn merge_all(
        &mut self,
        cursor: Cursor<'d>,
        entries: &mut Vec<(Cow<'d, str>, Value<'d>)>,
        merged: Vec<(usize, Value<'d>)>,
    ) {
        let mut names: BTreeSet<Cow<'d, str>> =
            entries.iter().map(|(name, _)| name.clone()).collect();
        let mut additions = Vec::new();
        for (at, value) in merged.into_iter().rev() {
            let mut added = Vec::new();
            self.merge(cursor, &mut names, value, &mut added);
            additions.push((at, added));
        }
        let mut own = std::mem::take(entries).into_iter().enumerate().peekable();
        for (at, added) in additions.into_iter().rev() {
            while let Some((_, entry)) = own.next_if(|(index, _)| *index < at) {
                entries.push(entry);
            }
            entries.extend(added);
        }
        entries.extend(own.map(|(_, entry)| entry));
    }

    /// Collects the entries of a merge key whose names are new.
    fn merge(
        &mut self,
        cursor: Cursor<'d>,
        names: &mut BTreeSet<Cow<'d, str>>,
        value: Value<'d>,
        added: &mut Vec<(Cow<'d, str>, Value<'d>)>,
    ) {
        let maps = match value.data {
            Data::Sequence(items) => items,
            _ => vec![value],
        };
        for map in maps {
            let Data::Mapping(merged) = map.data else {
                self.fail(
                    Diagnostic::error("a merge key `<<` needs a mapping or a list of mappings")
                        .at(cursor.place())
                        .hint("write an alias of a mapping, as in `<<: *defaults`, or put the key in quotes")
                        .into(),
                );
                return;
            };
            for (key, value) in merged {
                if names.insert(key.clone()) {
                    added.push((key, value.without_origin()));
                }
            }
        }
    }
}

/// Whether a text is a bool in YAML 1.1 only.
pub fn is_word(text: &str) -> bool {
    let is_core = matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE");
    !is_core && matches!(scalar::resolve(text), Scalar::Bool(_))
}

/// A mapping while it is read.
#[derive(Default)]
struct Mapping<'d> {
    entries: Vec<(Cow<'d, str>, Value<'d>)>,
    /// The number of places that belong to the mappings around it.
    places: usize,
    /// The values of merge keys, each with the number of entries before it.
    merged: Vec<(usize, Value<'d>)>,
    index: EntryIndex<'d>,
}

/// Finds a key among entries: by looking at each in small mappings, by a tree in large ones.
#[derive(Default)]
struct EntryIndex<'d> {
    tree: BTreeMap<Cow<'d, str>, usize>,
}

/// Mappings up to this many entries are searched one by one.
const SMALL: usize = 16;

impl<'d> EntryIndex<'d> {
    /// The index of the entry with this key, if there is one already.
    #[expect(clippy::ptr_arg, reason = "the index keeps a copy, borrowed where the key is")]
    fn insert(
        &mut self,
        key: &Cow<'d, str>,
        entries: &[(Cow<'d, str>, Value<'d>)],
    ) -> Option<usize> {
        if entries.len() < SMALL {
            // A call that compares two texts costs more than all else here.
            let may_equal = |name: &str| {
                name.len() == key.len() && name.as_bytes().first() == key.as_bytes().first()
            };
            return entries.iter().position(|(name, _)| may_equal(name) && name == key);
        }
        if self.tree.is_empty() {
            for (index, (name, _)) in entries.iter().enumerate() {
                self.tree.insert(name.clone(), index);
            }
        }
        if let Some(&index) = self.tree.get(key) {
            Some(index)
        } else {
            self.tree.insert(key.clone(), entries.len());
            None
        }
    }
}
