//! Replaces the references in an object.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::declare::dialect::Dialect;
use crate::expand::path::Path;
use crate::expand::spot::{Expanding, Spot, Variables};
use crate::expand::strings::{Dollars, Nothing, Replaced, Substitution};
use crate::values::budget;
use krm_yaml::diagnostic::Diagnostic;
use krm_yaml::scalar::is_non_finite;
use krm_yaml::{Data, Scalar, Value};

impl<'d> Substitution<'_, 'd> {
    /// Replaces the references in an object.
    pub(crate) fn object(&mut self, object: &mut Value<'d>, path: &str) {
        let path = Path::Root(path);
        let spot = Spot::new(&path, object.origin);
        self.dollars = Dollars::of(object, self.document, self.advice.has_braces);
        if self.value(object, spot).is_some() {
            self.error(spot, "", "an object must not be null".to_owned(), None);
        }
    }

    /// Replaces the references in a value. Returns why there is none, if it became nothing.
    fn value(&mut self, value: &mut Value<'d>, spot: Spot<'_>) -> Option<Nothing> {
        if self.is_plain(value) {
            return None;
        }
        self.replace_in(value, spot)
    }

    /// As [`value`](Self::value), for one that is not plain.
    pub(super) fn replace_in(&mut self, value: &mut Value<'d>, spot: Spot<'_>) -> Option<Nothing> {
        let spot = Spot { node: value.origin.or(spot.node), ..spot };
        match &mut value.data {
            Data::Scalar(Scalar::String(text)) if self.is_of_interest(text) => {
                match self.string(text, spot) {
                    Replaced::Unchanged => {}
                    Replaced::Text(text) => {
                        value.set(Data::Scalar(Scalar::String(Cow::Owned(text))));
                    }
                    Replaced::Data(data) => value.set(data),
                    Replaced::Nothing(why) => return Some(why),
                }
            }
            Data::Scalar(Scalar::Number(digits)) if is_non_finite(digits) => {
                let message =
                    format!("`{digits}` is not a number in JSON, the format that clusters read");
                let hint = format!("if it is a string, put it in quotes: `\"{digits}\"`");
                self.error(spot, digits, message, Some(hint));
            }
            Data::Scalar(_) => {}
            Data::Sequence(items) => {
                let mut omitted = BTreeSet::new();
                for (index, item) in items.iter_mut().enumerate() {
                    if self.is_plain(item) {
                        continue;
                    }
                    let path = Path::Index(spot.path, index);
                    let inner = Spot { path: &path, ..spot };
                    let nothing = if path.is_item_of_list() {
                        self.object_of_list(item, inner)
                    } else {
                        self.replace_in(item, inner)
                    };
                    if nothing == Some(Nothing::Omitted) {
                        omitted.insert(index);
                    } else if nothing.is_some() {
                        let inner = Spot { node: item.origin.or(spot.node), ..inner };
                        self.error(
                            inner,
                            "",
                            "a list cannot contain the value `null`".to_owned(),
                            Some("give the parameter another value, or use the reference in a mapping, where null removes the key".to_owned()),
                        );
                    }
                }
                remove(items, &omitted);
            }
            Data::Mapping(_) => self.mapping(value, spot),
        }
        None
    }

    /// As [`replace_in`](Self::replace_in), for what is an object of its own if the object is a
    /// list.
    fn object_of_list(&mut self, item: &mut Value<'d>, spot: Spot<'_>) -> Option<Nothing> {
        let kind = self.advice.object.and_then(|list| list.text_at(["kind"]));
        if !kind.is_some_and(|kind| kind.ends_with("List")) {
            return self.replace_in(item, spot);
        }
        let node = item.origin.map(|origin| self.document.cursor(origin));
        let list = std::mem::replace(&mut self.advice.object, node);
        let field = spot.path.to_string();
        let path = Path::Root(&field);
        let spot = Spot { path: &path, ..spot };
        let nothing = self.replace_in(item, spot);
        self.advice.object = list;
        nothing
    }

    /// Whether there is nothing to replace or to report in a value and its key, by the text that it
    /// was read from.
    fn is_plain(&self, value: &Value<'d>) -> bool {
        let node = value.origin.map(|origin| self.document.cursor(origin));
        node.is_some_and(|node| !self.dollars.may_be_in(node.start()..node.end()))
    }

    /// Whether there is nothing to replace in the key of a value.
    fn has_plain_key(&self, value: &Value<'d>) -> bool {
        let node = value.origin.map(|origin| self.document.cursor(origin));
        node.is_some_and(|node| !self.dollars.may_be_in(node.start()..node.value_start()))
    }

    fn mapping(&mut self, value: &mut Value<'d>, spot: Spot<'_>) {
        let variables = spot.path.is_container().then(|| self.variables((&*value).into()).found());
        let Data::Mapping(entries) = &mut value.data else {
            return;
        };
        let mut nothing = BTreeSet::new();
        let replaced_keys = self.keys(entries, spot);
        for (index, (key, inner)) in entries.iter_mut().enumerate() {
            if self.is_plain(inner) {
                continue;
            }
            let node = inner.origin.or(spot.node);
            let path = Path::Key(spot.path, key);
            let expanding = match (&variables, key.as_ref()) {
                (Some(variables), "command" | "args") => {
                    Some(Expanding { variables, before: usize::MAX })
                }
                (Some(variables), "env") => {
                    if self.env(inner, Spot::new(&path, node), variables).is_some() {
                        nothing.insert(index);
                    }
                    continue;
                }
                (Some(_), _) => None,
                (None, _) => spot.expanding,
            };
            let inner_spot = Spot { expanding, ..Spot::new(&path, node) };
            if self.replace_in(inner, inner_spot).is_some() {
                nothing.insert(index);
            }
        }
        if !replaced_keys.is_empty() {
            self.collisions(entries, &replaced_keys, &mut nothing, spot);
        }
        remove(entries, &nothing);
    }

    /// Replaces the references in the keys of a mapping. Returns which of them changed.
    fn keys(&mut self, entries: &mut [(Cow<'d, str>, Value<'d>)], spot: Spot<'_>) -> Vec<usize> {
        let mut replaced = Vec::new();
        for (index, (key, value)) in entries.iter_mut().enumerate() {
            if self.has_plain_key(value) || !self.is_of_interest(key) {
                continue;
            }
            let path = Path::Key(spot.path, key);
            let here = Spot {
                needs_replacement: path.needs_replaced_key(),
                is_text: true,
                ..Spot::new(&path, value.origin.or(spot.node))
            };
            if let Some(new) = self.key(key, here) {
                *key = Cow::Owned(new);
                replaced.push(index);
            }
        }
        replaced
    }

    /// The `env` of a container: in each value the kubelet expands the variables before it.
    fn env(
        &mut self,
        list: &mut Value<'d>,
        spot: Spot<'_>,
        variables: &Variables<'_>,
    ) -> Option<Nothing> {
        let Data::Sequence(items) = &mut list.data else {
            return self.value(list, spot);
        };
        let mut omitted = BTreeSet::new();
        for (index, item) in items.iter_mut().enumerate() {
            let path = Path::Index(spot.path, index);
            let here = Spot::new(&path, item.origin.or(spot.node));
            let Data::Mapping(entries) = &mut item.data else {
                if self.value(item, here) == Some(Nothing::Omitted) {
                    omitted.insert(index);
                }
                continue;
            };
            let replaced_keys = self.keys(entries, here);
            let mut collided = BTreeSet::new();
            self.collisions(entries, &replaced_keys, &mut collided, here);
            remove(entries, &collided);
            entries.retain_mut(|(key, value)| {
                let path = Path::Key(here.path, key);
                let expanding = (key == "value").then_some(Expanding { variables, before: index });
                let node = value.origin.or(here.node);
                let spot = Spot { expanding, ..Spot::new(&path, node) };
                self.value(value, spot).is_none()
            });
        }
        remove(items, &omitted);
        None
    }

    /// Two keys that became equal.
    fn collisions(
        &mut self,
        entries: &[(Cow<'d, str>, Value<'d>)],
        replaced: &[usize],
        nothing: &mut BTreeSet<usize>,
        spot: Spot<'_>,
    ) {
        for &index in replaced {
            if !budget::works(self.budget, entries.len()) {
                return;
            }
            let Some((key, value)) = entries.get(index) else {
                continue;
            };
            for (other_index, (other, other_value)) in entries.iter().enumerate() {
                if other_index == index
                    || other != key
                    || nothing.contains(&index)
                    || nothing.contains(&other_index)
                {
                    continue;
                }
                // In their order, as they were found.
                let both = replaced.binary_search(&other_index).is_ok();
                if self.dialect == Dialect::OpenShift && !both {
                    // As `oc`: the replaced key beats the literal one.
                    nothing.insert(other_index);
                    continue;
                }
                if both && other_index > index {
                    continue;
                }
                if !self.may_report() {
                    return;
                }
                let path = Path::Key(spot.path, key);
                let mut diagnostic = Diagnostic::error(format!(
                    "duplicate mapping key `{key}` after references are replaced"
                ))
                .rule("duplicate-key")
                .field(path.to_string());
                if let Some(node) = value.origin.or(spot.node) {
                    diagnostic = diagnostic.at(self.document.cursor(node).key_place());
                }
                if let Some(node) = other_value.origin {
                    diagnostic =
                        diagnostic.related(self.document.cursor(node).key_place(), "the other one");
                }
                self.diagnostics.push(diagnostic.hint("rename one of the two"));
            }
        }
    }
}

/// Removes the parts at these positions.
fn remove<T>(entries: &mut Vec<T>, positions: &BTreeSet<usize>) {
    if positions.is_empty() {
        return;
    }
    let mut index = 0;
    entries.retain(|_| {
        index += 1;
        !positions.contains(&(index - 1))
    });
}
