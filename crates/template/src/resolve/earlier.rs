//! The value that a parameter had in an earlier run: read from the objects that the run created.
//!
//! The Template refers to the parameter in a field; the same field of the existing object has the
//! value. Items of lists are paired by their keys, as in updates. A value that the expression of
//! the parameter cannot generate was changed by hand: an error, as it would be lost otherwise.

use std::collections::{BTreeMap, BTreeSet};

use crate::declare::dialect::Dialect;
use crate::declare::legacy;
use crate::declare::model::Template;
use crate::declare::parameter::Parameter;
use crate::declare::reference;
use crate::resolve::parameters::Parameters;
use crate::values::generate;
use krm_core::identity::{self, Identity, group};
use krm_core::item_keys::ITEM_KEYS;
use krm_core::scope;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::{Cursor, DuplicateKeys, FieldPath, Scalar, SharedNode, Value};

/// How many items of a list without keys may refer to the parameter. Each is compared with all
/// items of the existing list.
const MAX_WITHOUT_KEY: usize = 16;

/// Finds the objects of earlier runs.
pub trait Earlier {
    /// The object that an earlier run created with this identity.
    fn object(&self, identity: &Identity) -> Option<SharedNode>;

    /// Whether earlier runs created objects.
    fn has_objects(&self) -> bool;
}

/// There was no earlier run.
impl Earlier for () {
    fn object(&self, _: &Identity) -> Option<SharedNode> {
        None
    }

    fn has_objects(&self) -> bool {
        false
    }
}

/// The way in which expansion gives objects their namespaces.
#[derive(Clone, Copy)]
pub(crate) struct Namespaces<'n> {
    /// The namespace of objects that name none.
    pub(crate) namespace: Option<&'n str>,
    /// Whether namespaces without references are removed.
    pub(crate) are_removed: bool,
}

/// The objects of a Template that refer to each name, to be opened.
pub(crate) struct Referring<'d> {
    by_name: BTreeMap<String, Vec<Cursor<'d>>>,
    /// The names to which its labels and its message refer.
    elsewhere: BTreeSet<String>,
}

impl<'d> Referring<'d> {
    /// Reads the references of a Template.
    pub(crate) fn of(template: &'d Template) -> Self {
        let mut by_name: BTreeMap<String, Vec<Cursor<'d>>> = BTreeMap::new();
        for object in template.objects().into_iter().flat_map(Cursor::children) {
            let names = reference::names(object.raw(), template.dialect);
            for name in names.collect::<BTreeSet<_>>() {
                by_name.entry(name.to_owned()).or_default().push(object);
            }
        }
        let elsewhere = [template.labels(), template.message()].into_iter().flatten();
        let elsewhere = elsewhere.flat_map(|node| reference::names(node.raw(), template.dialect));
        Self { by_name, elsewhere: elsewhere.map(str::to_owned).collect() }
    }

    fn to(&self, name: &str) -> impl Iterator<Item = Cursor<'d>> {
        self.by_name.get(name).into_iter().flatten().copied()
    }

    /// Whether anything refers to this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name) || self.elsewhere.contains(name)
    }
}

/// Looks for the value of a parameter.
pub(crate) struct Look<'s, 'd> {
    pub(crate) template: &'s Template,
    pub(crate) parameter: &'s Parameter,
    /// Its expression.
    pub(crate) from: &'s str,
    pub(crate) referring: &'s Referring<'d>,
    /// The values of other parameters.
    pub(crate) known: &'s Parameters<'d>,
    pub(crate) namespaces: Namespaces<'s>,
}

/// A value, and where it is. Messages name the field and show no line of it: it may be a secret.
struct FoundValue {
    text: String,
    /// The field, the object and the file.
    field: String,
}

impl Look<'_, '_> {
    /// The value in the objects of earlier runs.
    ///
    /// # Errors
    /// If it cannot have been generated, or several fields have different values.
    pub(crate) fn value(&self, earlier: &dyn Earlier) -> Result<Option<String>> {
        let mut values: Vec<FoundValue> = Vec::new();
        for object in self.referring.to(&self.parameter.name) {
            let object = object.open();
            let Some(identity) = self.identity(object.cursor()) else {
                continue;
            };
            let Some(old) = earlier.object(&identity) else {
                continue;
            };
            let old = old.open();
            let file = identity::reference(old.cursor()).path;
            let file = file.map_or_else(String::new, |file| format!(" in {file}"));
            let mut found = Vec::new();
            self.values(object.cursor(), old.cursor(), &FieldPath::root(), &mut found);
            for (text, field) in found {
                let field = format!("`{field}` of `{identity}`{file}");
                if !generate::fits(self.from, &text) {
                    return Err(self.misfit(&field).into());
                }
                values.push(FoundValue { text, field });
            }
        }
        let Some(first) = values.first() else {
            return Ok(None);
        };
        if values.iter().any(|one| one.text != first.text) {
            return Err(self.different(&values).into());
        }
        Ok(Some(first.text.clone()))
    }

    fn misfit(&self, field: &str) -> Diagnostic {
        let name = &self.parameter.name;
        Diagnostic::error(format!(
            "parameter `{name}`: the value in {field} is not one that `from` generates"
        ))
        .at(self.parameter.field("from").place())
        .field(format!("parameters[{}].from", self.parameter.index))
        .hint(format!("to keep it, give it as the value of `{name}`"))
        .hint("to get a new one, delete the field")
    }

    fn different(&self, values: &[FoundValue]) -> Diagnostic {
        let name = &self.parameter.name;
        let fields: Vec<&str> = values.iter().map(|one| one.field.as_str()).collect();
        Diagnostic::error(format!(
            "parameter `{name}`: its earlier values differ, in {}",
            fields.join(" and ")
        ))
        .at(self.parameter.field("name").place())
        .field(format!("parameters[{}].value", self.parameter.index))
        .hint(format!("give the right one as the value of `{name}`"))
    }

    /// A text with known values put in; `None` if another value is needed.
    fn text(&self, text: &str) -> Option<String> {
        let is_declared = |name: &str| {
            let mut parameters = self.template.parameters.iter();
            parameters.any(|parameter| parameter.name == name)
        };
        let dialect = self.template.dialect;
        let needs_another = reference::names(text, dialect)
            .any(|name| self.known.get(name).is_none() && is_declared(name));
        (!needs_another).then(|| {
            reference::with_values(text, dialect, |name| Some(self.known.get(name)?.text.as_ref()))
        })
    }

    /// The identity that expansion gives an object.
    fn identity(&self, object: Cursor<'_>) -> Option<Identity> {
        let text = |keys: [&str; 2]| object.text_at(keys).and_then(|text| self.text(&text));
        let kind = self.text(&object.text_at(["kind"])?)?;
        let api_version = self.text(&object.text_at(["apiVersion"])?)?;
        let group = match group(&api_version) {
            "" if !api_version.contains('/') => legacy::group_of(&kind).unwrap_or_default(),
            group => group,
        };
        let written = object.text_at(["metadata", "namespace"]);
        let is_removed = |written: &str| {
            self.namespaces.are_removed && !reference::has_openshift_reference(written)
        };
        let namespace = match written.filter(|written| !is_removed(written)) {
            Some(_) => text(["metadata", "namespace"])?,
            None => String::new(),
        };
        let namespace = match self.namespaces.namespace {
            Some(given) if namespace.is_empty() && scope::is_namespaced(group, &kind) => {
                given.to_owned()
            }
            _ => namespace,
        };
        Some(Identity {
            group: group.to_owned(),
            namespace,
            name: text(["metadata", "name"])?,
            kind,
        })
    }

    /// Adds the texts in `old` that stand where `new` has `prefix${NAME}suffix`.
    fn values(
        &self,
        new: Cursor<'_>,
        old: Cursor<'_>,
        path: &FieldPath,
        found: &mut Vec<(String, String)>,
    ) {
        if !new.raw().contains(&*self.parameter.name) {
            return;
        }
        if new.is_mapping() {
            for entry in new.children() {
                let key = entry.key().ok().and_then(|key| self.text(&key));
                let old = key.as_deref().and_then(|key| old.get(key));
                if let (Some(key), Some(old)) = (key, old) {
                    self.values(entry, old, &path.clone().key(key), found);
                }
            }
        } else if new.is_sequence() && old.is_sequence() {
            self.items(new, old, path, found);
        } else if let Some(text) = self.scalar(new, old) {
            found.push((text, path.to_string()));
        }
    }

    fn items(
        &self,
        new: Cursor<'_>,
        old: Cursor<'_>,
        path: &FieldPath,
        found: &mut Vec<(String, String)>,
    ) {
        let (items, olds): (Vec<_>, Vec<_>) = (new.children().collect(), old.children().collect());
        let values: Vec<_> = items.iter().map(|item| self.fields(*item)).collect();
        let old_values: Vec<_> = olds.iter().map(|old| plain(*old)).collect();
        if let Some(key) = ITEM_KEYS.of_both(&values, &old_values) {
            let pairs = key.pairs(&values, &old_values);
            for (item, pair) in items.iter().zip(pairs) {
                let old = pair.and_then(|at| Some((at, olds.get(at)?)));
                if let Some((at, old)) = old {
                    self.values(*item, *old, &path.clone().index(at), found);
                }
            }
            return;
        }
        let refers = |item: &&Cursor<'_>| item.raw().contains(&*self.parameter.name);
        for item in items.iter().filter(refers).take(MAX_WITHOUT_KEY) {
            let fitting = olds.iter().enumerate().filter_map(|(at, old)| {
                let mut one = Vec::new();
                self.values(*item, *old, &path.clone().index(at), &mut one);
                let is_whole =
                    !one.is_empty() && one.iter().all(|(text, _)| generate::fits(self.from, text));
                let is_other = old_values.get(at).is_some_and(|old| values.contains(old));
                (is_whole && !is_other).then_some(one)
            });
            let mut fitting: Vec<_> = fitting.take(2).collect();
            if let (1, Some(one)) = (fitting.len(), fitting.pop()) {
                found.extend(one);
            }
        }
    }

    /// The scalar fields of an item with known values put in, or the text of a scalar.
    fn fields(&self, item: Cursor<'_>) -> Value<'static> {
        let text = |node: Cursor<'_>| match node.scalar().ok()?? {
            Scalar::String(text) => Some(Value::string(self.text(&text)?)),
            _ => Some(plain(node)),
        };
        if !item.is_mapping() {
            return text(item).unwrap_or_else(|| Value::mapping(Vec::new()));
        }
        let fields = item.children().filter_map(|field| {
            let key = field.key().ok()?.into_owned();
            Some((key.into(), text(field)?))
        });
        Value::mapping(fields.collect())
    }

    /// The text in the place of the parameter, if what is around it is the same.
    fn scalar(&self, new: Cursor<'_>, old: Cursor<'_>) -> Option<String> {
        let text = new.text().ok()??;
        let name = &self.parameter.name;
        let spellings = match self.template.dialect {
            Dialect::Proposal => [format!("$({name})"), format!("$(({name}))")],
            Dialect::OpenShift => [format!("${{{name}}}"), format!("${{{{{name}}}}}")],
        };
        spellings.iter().find_map(|spelling| {
            let (prefix, suffix) = text.split_once(spelling.as_str())?;
            let (prefix, suffix) = (self.text(prefix)?, self.text(suffix)?);
            let old = old.text().ok()??;
            let value = old.strip_prefix(prefix.as_str())?.strip_suffix(suffix.as_str())?;
            Some(value.to_owned())
        })
    }
}

/// The data of an existing item.
fn plain(item: Cursor<'_>) -> Value<'static> {
    let value = item.value(DuplicateKeys::LastWins, &mut Diagnostics::new());
    value.map_or_else(|| Value::mapping(Vec::new()), Value::into_owned)
}
