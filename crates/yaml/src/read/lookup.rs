//! Nodes found by their keys.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::path::{FieldPath, Step};
use crate::read::document::Cursor;
use crate::table::{Flags, NodeId};

impl<'d> Cursor<'d> {
    /// The entry with this key, the last one if there are several; looks through merge keys.
    ///
    /// ```
    /// use krm_yaml::Document;
    /// use krm_yaml::source::Source;
    ///
    /// let text = "base: &base {cpu: 1, memory: 1Gi}\nweb:\n  <<: *base\n  cpu: 2\n";
    /// let document = Document::parse(&Source::new("a.yaml", text))?;
    /// let root = document.roots().next().expect("not empty");
    /// let web = root.get("web").expect("an entry");
    /// assert_eq!(web.get("cpu").map(|cpu| cpu.raw()), Some("2"));
    /// assert_eq!(web.get("memory").map(|memory| memory.raw()), Some("1Gi"));
    /// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
    /// ```
    pub fn get(self, key: &str) -> Option<Self> {
        if self.document.is_simple {
            let is_mapping = self.is_mapping();
            let entries = self.children();
            let found = entries.filter(|entry| is_mapping && entry.has_key(key));
            return found.last();
        }
        self.get_beside(key, &mut BTreeSet::new())
    }

    /// Looks in merged mappings too, but in each only once.
    fn get_beside(self, key: &str, seen: &mut BTreeSet<NodeId>) -> Option<Self> {
        if !self.is_mapping() {
            return None;
        }
        let mut found = None;
        let mut merge = None;
        for entry in self.children() {
            if entry.has_key(key) {
                found = Some(entry);
            } else if entry.is_merge_key() {
                merge = Some(entry);
            }
        }
        let Some(merge) = merge.filter(|_| found.is_none()) else {
            return found;
        };
        let mut get = |map: Self| {
            let is_new = seen.insert(map.resolved().id);
            is_new.then(|| map.get_beside(key, seen)).flatten()
        };
        if merge.is_sequence() { merge.children().find_map(get) } else { get(merge) }
    }

    /// The first entry of a mapping that [has this key](Self::has_key).
    #[inline]
    pub(crate) fn entry(self, key: &str) -> Option<Self> {
        let nodes = self.document.nodes.as_slice();
        let nodes = nodes.get(..self.node().next as usize)?;
        let mut at = self.id.0.saturating_add(1);
        while let Some(node) = nodes.get(at as usize) {
            // Most keys differ in length; quotes add two.
            let longer = node.key.length().wrapping_sub(key.len());
            if longer & !2 == 0 || !node.has(Flags::KEY_TEXT) {
                let entry = self.document.cursor(NodeId(at));
                if entry.has_key(key) {
                    return Some(entry);
                }
            }
            at = node.next;
        }
        None
    }

    /// Whether the entry has this key; a merge key has none.
    #[inline]
    pub(crate) fn has_key(self, key: &str) -> bool {
        // Most keys differ in length: to see that takes less than a call.
        match self.node().key_text() {
            Some(text) => text.len() == key.len() && self.is_key(text, key),
            None => self.has_unnoted_key(key),
        }
    }

    #[inline(never)]
    fn is_key(self, text: Range<usize>, key: &str) -> bool {
        self.document.text().as_bytes().get(text) == Some(key.as_bytes())
    }

    #[cold]
    fn has_unnoted_key(self, key: &str) -> bool {
        !self.is_merge_key() && self.key().is_ok_and(|name| name == key)
    }

    /// The entries with these keys, each as [`get`](Self::get) finds it, in one walk.
    pub fn get_all<const N: usize>(self, keys: [&str; N]) -> [Option<Self>; N] {
        let mut found = [None; N];
        if !self.is_mapping() {
            return found;
        }
        let mut merges = false;
        for entry in self.children() {
            let slot = if let Some(text) = entry.node().key_text() {
                let name = entry.document.slice(text);
                keys.iter().position(|key| name == *key)
            } else {
                let Ok(name) = entry.key() else { continue };
                merges |= name == "<<";
                keys.iter().position(|key| name == *key)
            };
            if let Some(slot) = slot.and_then(|slot| found.get_mut(slot)) {
                *slot = Some(entry);
            }
        }
        if merges {
            for (slot, key) in found.iter_mut().zip(keys) {
                *slot = slot.or_else(|| self.get(key));
            }
        }
        found
    }

    /// Follows keys downwards: `at(["metadata", "name"])`.
    pub fn at<const N: usize>(self, keys: [&str; N]) -> Option<Self> {
        keys.iter().try_fold(self, |cursor, key| cursor.get(key))
    }

    /// The text of the scalar under these keys, if there is one.
    pub fn text_at<const N: usize>(self, keys: [&str; N]) -> Option<Cow<'d, str>> {
        self.at(keys)?.text().ok()?
    }

    /// The node at `path` from this one; looks through aliases and merge keys.
    pub fn lookup(self, path: &FieldPath) -> Option<Self> {
        path.steps().iter().try_fold(self, Self::step)
    }

    /// The node at `path`, or the innermost one that contains it.
    #[must_use]
    pub fn nearest(self, path: &FieldPath) -> Self {
        let mut steps = path.steps().iter();
        let outer = steps.try_fold(self, |cursor, step| cursor.step(step).ok_or(cursor));
        outer.unwrap_or_else(|nearest| nearest)
    }

    fn step(self, step: &Step) -> Option<Self> {
        match step {
            Step::Key(key) => self.get(key),
            Step::Index(index) if self.is_sequence() => self.children().nth(*index),
            Step::Index(_) => None,
        }
    }
}
