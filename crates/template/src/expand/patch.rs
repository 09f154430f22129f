//! Replaces the references in an object that is not read as a whole: nodes without a `$` are passed
//! over. As [`substitute`](super::substitute) does it in a value.

use std::borrow::Cow;

use crate::expand::path::Path;
use crate::expand::spot::{Expanding, Spot, Variables};
use crate::expand::strings::{Dollars, Replaced, Substitution};
use krm_yaml::{Cursor, Data, Patched, Scalar, Value};

impl<'d> Substitution<'_, 'd> {
    /// Replaces the references in an object, and reads only the parts that have some. `None` if it
    /// must be read as a whole.
    pub(super) fn patch_object(&mut self, object: &mut Patched<'d>, path: &str) -> Option<()> {
        let path = Path::Root(path);
        let root = object.root().cursor();
        self.dollars = Dollars::in_node(root, self.advice.has_braces);
        self.patch(object, root, Spot::new(&path, Some(root.id())))
    }

    fn patch(&mut self, object: &mut Patched<'d>, node: Cursor<'d>, spot: Spot<'_>) -> Option<()> {
        let spot = Spot { node: Some(node.id()), ..spot };
        if node.is_mapping() {
            return self.patch_entries(object, node, spot);
        }
        if !node.is_sequence() {
            let Some(Scalar::String(text)) = node.scalar().ok()? else {
                return Some(());
            };
            match self.string(&text, spot) {
                Replaced::Unchanged => {}
                Replaced::Text(text) => {
                    object.set(node, Data::Scalar(Scalar::String(Cow::Owned(text))));
                }
                Replaced::Data(data) => object.set(node, data),
                Replaced::Nothing(_) => return None,
            }
            return Some(());
        }
        for (index, item) in node.children().enumerate() {
            if !self.is_plain_node(item) {
                let path = Path::Index(spot.path, index);
                let inner = Spot { path: &path, ..spot };
                self.patch(object, item, inner)?;
            }
        }
        Some(())
    }

    fn patch_entries(
        &mut self,
        object: &mut Patched<'d>,
        node: Cursor<'d>,
        spot: Spot<'_>,
    ) -> Option<()> {
        let is_container = spot.path.is_container();
        let mut variables = None;
        for entry in node.children() {
            if self.is_plain_node(entry) {
                continue;
            }
            let key = self.plain_key(entry)?;
            let path = Path::Key(spot.path, &key);
            let mut inner =
                Spot { expanding: spot.expanding, ..Spot::new(&path, Some(entry.id())) };
            if is_container && matches!(key.as_ref(), "command" | "args" | "env") {
                let known = variables.get_or_insert_with(|| self.variables(object.written(node)));
                if key == "env" {
                    self.patch_env(object, entry, inner, known)?;
                    continue;
                }
                inner.expanding = Some(Expanding { variables: known, before: usize::MAX });
            }
            match object.changed_mut(entry) {
                Some(value) => self.patch_value(value, inner)?,
                None => self.patch(object, entry, inner)?,
            }
        }
        Some(())
    }

    /// The `env` of a container: in each value the kubelet expands the variables before it.
    fn patch_env(
        &mut self,
        object: &mut Patched<'d>,
        list: Cursor<'d>,
        spot: Spot<'_>,
        variables: &Variables<'_>,
    ) -> Option<()> {
        if !list.is_sequence() {
            return self.patch(object, list, spot);
        }
        for (before, item) in list.children().enumerate() {
            let path = Path::Index(spot.path, before);
            if !item.is_mapping() {
                self.patch(object, item, Spot::new(&path, Some(item.id())))?;
                continue;
            }
            for entry in item.children() {
                if self.is_plain_node(entry) {
                    continue;
                }
                let key = self.plain_key(entry)?;
                let path = Path::Key(&path, &key);
                let expanding = (key == "value").then_some(Expanding { variables, before });
                let inner = Spot { expanding, ..Spot::new(&path, Some(entry.id())) };
                self.patch(object, entry, inner)?;
            }
        }
        Some(())
    }

    /// Whether there is nothing to replace in a node and its key.
    fn is_plain_node(&self, node: Cursor<'d>) -> bool {
        !self.dollars.may_be_in(node.start()..node.end())
    }

    /// The key of an entry, if it has no `$`.
    fn plain_key(&self, entry: Cursor<'d>) -> Option<Cow<'d, str>> {
        let has_dollar = self.dollars.may_be_in(entry.start()..entry.value_start());
        if has_dollar { None } else { entry.key().ok() }
    }

    fn patch_value(&mut self, value: &mut Value<'d>, spot: Spot<'_>) -> Option<()> {
        let nothing = self.replace_in(value, spot);
        nothing.is_none().then_some(())
    }
}
