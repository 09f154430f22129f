//! `vars`: values of fields that other fields name as `$(NAME)`.
//!
//! Source: kustomize 5.8, `api/internal/accumulator` (`MergeVars`, `ResolveVars`) and
//! `api/filters/refvar`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::engine::step::{Context, Transform};
use crate::engine::var::Var;
use crate::fields::field_spec::{FieldSpec, MissingField};
use crate::fields::field_tree::FieldTrees;
use crate::fields::replacement_path::ReplacementPath;
use crate::fields::selector::version;
use crate::resources::resource::Resource;
use crate::values::budget::{Budget, Extent};
use krm_core::Identity;
use krm_core::identity::group;
use krm_core::scalar::text_of;
use krm_core::scope::{effective_namespace, is_namespaced};
use krm_yaml::diagnostic::{Result, Severity};
use krm_yaml::{Data, FieldPath, Scalar, Value, ViewMut};

/// The field of a variable that names none.
const DEFAULT_FIELD: &str = "metadata.name";

/// The field `vars`: notes variables, which are resolved at the end of the build.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VarsField {
    vars: Vec<Written>,
}

/// A variable as it is written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    name: String,
    objref: Object,
    fieldref: Field,
}

/// The object of a variable.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Object {
    api_version: String,
    group: String,
    version: String,
    kind: String,
    name: String,
    namespace: String,
}

/// The field of a variable.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Field {
    field_path: String,
}

impl Object {
    fn group(&self) -> &str {
        if self.api_version.contains('/') { group(&self.api_version) } else { &self.group }
    }

    fn version(&self) -> &str {
        match self.api_version.as_str() {
            "" => &self.version,
            api_version => version(api_version),
        }
    }

    /// Whether a resource is, or was, this object. Without a namespace, it may be in any.
    fn is(&self, resource: &Resource<'_>) -> bool {
        let api_version = resource.str_at(&["apiVersion"]).unwrap_or_default();
        let own = Identity {
            group: self.group().to_owned(),
            kind: self.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        };
        let is_anywhere = self.namespace.is_empty() && is_namespaced(&own.group, &own.kind);
        version(api_version) == self.version()
            && resource.is_or_was(|one| {
                one.name == own.name
                    && one.kind == own.kind
                    && one.group == own.group
                    && (is_anywhere || effective_namespace(one) == effective_namespace(&own))
            })
    }
}

impl Transform for VarsField {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let mut by_name: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for (at, resource) in resources.iter().enumerate() {
            for identity in resource.identities() {
                by_name.entry(identity.name).or_default().insert(at);
            }
        }
        let known = context.state.shared.vars.iter().enumerate();
        let mut known: BTreeMap<_, _> = known.map(|(at, var)| (var.name.clone(), at)).collect();
        for (index, written) in self.vars.iter().enumerate() {
            let at = FieldPath::root().key("vars").index(index);
            let named = by_name.get(&written.objref.name).into_iter().flatten().copied();
            let is_it = |at: &usize| resources.get(*at).is_some_and(|one| written.objref.is(one));
            let found: Vec<usize> = named.filter(is_it).collect();
            let object = format!("{} {}", written.objref.kind, written.objref.name);
            if let [first, second, ..] = found.as_slice() {
                let problem = format!(
                    "the variable `{}` may be of several objects named `{object}`",
                    written.name
                );
                let mut wrong = context
                    .transformer
                    .error(&at.clone().key("objref"), problem)
                    .hint("name the namespace of one of them as `objref.namespace`");
                for at in [first, second] {
                    if let Some(place) = resources.get(*at).and_then(Resource::place) {
                        wrong = wrong.related(place, "this object");
                    }
                }
                context.diagnostics.push(wrong);
                continue;
            }
            let var = Var {
                name: written.name.clone(),
                object,
                field: match written.fieldref.field_path.as_str() {
                    "" => DEFAULT_FIELD.to_owned(),
                    path => path.to_owned(),
                },
                place: context.transformer.place_of(&at),
                written_as: context.transformer.written_as(&at).to_string(),
            };
            let all = &mut context.state.shared.vars;
            if let Some(other) = known.get(&var.name).and_then(|at| all.get(*at)) {
                let mut wrong = var.error(format!("duplicate variable `{}`", var.name)).hint(
                    "each name of a variable may be declared once in all directories of a build",
                );
                if let Some(place) = &other.place {
                    wrong = wrong.related(place.clone(), "declared here first");
                }
                context.diagnostics.push(wrong);
                continue;
            }
            if let Some(resource) = found.first().and_then(|at| resources.get_mut(*at)) {
                resource.vars.push(var.name.clone());
            }
            known.insert(var.name.clone(), all.len());
            all.push(var);
        }
    }
}

/// Replaces the names of variables by their values, at the end of a build.
#[derive(Debug)]
pub(crate) struct Resolution;

impl Transform for Resolution {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let vars = std::mem::take(&mut context.state.shared.vars);
        if vars.is_empty() {
            return;
        }
        let mut values = BTreeMap::new();
        let mut objects = BTreeMap::new();
        for resource in resources.iter().rev() {
            objects.extend(resource.vars.iter().map(|name| (name.as_str(), resource)));
        }
        for var in &vars {
            match value_of(var, objects.get(var.name.as_str()).copied()) {
                Ok(value) => drop(values.insert(var.name.as_str(), value)),
                Err(wrong) => context.diagnostics.push(*wrong),
            }
        }
        if context.diagnostics.has_errors() {
            return;
        }
        let mut used = BTreeSet::new();
        let fields = &context.tables.fields().var_reference;
        let mut trees = FieldTrees::default();
        for resource in resources.iter_mut() {
            if !mentions(resource.value()) {
                continue;
            }
            let tree = trees.of_resource(resource, fields.iter());
            let set = &mut |index: usize, value: ViewMut<'_, '_>| {
                let is_text = fields.get(index).is_some_and(is_text);
                let value = value.value_mut();
                replace_in(value, &values, is_text, context.budget, &mut used);
                Ok(())
            };
            let problems = tree.visit(resource.view_mut(), MissingField::Nothing, set);
            context.problems(resource, problems);
            replace_shared(resource);
        }
        for var in vars.iter().filter(|var| !used.contains(&var.name)) {
            let problem = format!("the variable `{}` is never used", var.name);
            let mut warning = var.error(problem);
            warning.severity = Severity::Warning;
            context.diagnostics.push(warning);
        }
    }
}

/// Gives labels and annotations that one transformer has created in several fields the value that
/// they have in `metadata`.
fn replace_shared(resource: &mut Resource<'_>) {
    for shared in std::mem::take(&mut resource.shared) {
        let now = resource.str_at(&["metadata", shared.mapping, &shared.key]);
        if let Some(new) = now.filter(|now| *now != shared.value) {
            let new = new.to_owned();
            set_all(resource.value_mut(), &shared.key, &shared.value, &new);
        }
    }
}

/// Sets the entries that have this key and text to another one.
fn set_all(value: &mut Value<'_>, key: &str, old: &str, new: &str) {
    match &mut value.data {
        Data::Scalar(_) => {}
        Data::Sequence(items) => items.iter_mut().for_each(|item| set_all(item, key, old, new)),
        Data::Mapping(entries) => {
            for (name, value) in entries {
                if name == key && value.as_str() == Some(old) {
                    value.set(Value::string(new.to_owned()).data);
                } else {
                    set_all(value, key, old, new);
                }
            }
        }
    }
}

/// Whether a text in an object may have a variable: most have none.
fn mentions(value: &Value<'_>) -> bool {
    match &value.data {
        Data::Scalar(Scalar::String(text)) => text.contains('$'),
        Data::Scalar(_) => false,
        Data::Sequence(items) => items.iter().any(mentions),
        Data::Mapping(entries) => entries.iter().any(|(_, value)| mentions(value)),
    }
}

/// Whether Kubernetes accepts only a string in a field.
fn is_text(field: &FieldSpec) -> bool {
    let ends = ["env/value", "/args", "/command", "annotations", "labels"];
    ends.iter().any(|end| field.path.ends_with(end))
}

/// The value of a variable.
fn value_of(var: &Var, resource: Option<&Resource<'_>>) -> Result<Value<'static>> {
    let Some(resource) = resource else {
        let problem =
            format!("the object `{}` of the variable `{}` does not exist", var.object, var.name);
        return Err(var.error(problem).into());
    };
    let path = path_of(&var.field);
    let found = path.find(resource.value());
    let problem = match found {
        Ok(Some(value)) => return Ok(value.clone().into_owned().without_origin()),
        Ok(None) => {
            format!("`{}` of the variable `{}` has no field `{}`", var.object, var.name, var.field)
        }
        Err(problem) => format!("`{}` of the variable `{}`: {problem}", var.field, var.name),
    };
    let mut wrong = var.error(problem);
    if let Some(place) = resource.place() {
        wrong = wrong.related(place, "the object");
    }
    let hint = path.suggestion(resource.value());
    Err(wrong.maybe_hint(hint).into())
}

/// A path, in which `a[0]` and `a[x=y]` may be written without a dot.
fn path_of(text: &str) -> ReplacementPath {
    let mut with_dots = String::with_capacity(text.len() + 4);
    for (at, c) in text.char_indices() {
        if c == '[' && at > 0 && !with_dots.ends_with('.') {
            with_dots.push('.');
        }
        with_dots.push(c);
    }
    ReplacementPath::parse(&with_dots, '.')
}

/// Replaces variables in a text, in the items of a list, or in the values of a mapping.
fn replace_in(
    value: &mut Value<'_>,
    values: &BTreeMap<&str, Value<'static>>,
    is_text: bool,
    budget: &Budget,
    used: &mut BTreeSet<String>,
) {
    let mut replace = |value: &mut Value<'_>| {
        if let Some(text) = value.as_str()
            && let Some(new) = replaced(text, values, is_text, budget, used)
        {
            value.set(new);
        }
    };
    match &mut value.data {
        Data::Scalar(_) => replace(value),
        Data::Sequence(items) => items.iter_mut().for_each(replace),
        Data::Mapping(entries) => entries.iter_mut().for_each(|(_, value)| replace(value)),
    }
}

/// A text with the values of its variables; none if it has no `$`. One that is nothing but a
/// variable becomes the value itself, unless it has to be a text.
fn replaced(
    text: &str,
    values: &BTreeMap<&str, Value<'static>>,
    is_text: bool,
    budget: &Budget,
    used: &mut BTreeSet<String>,
) -> Option<Data<'static>> {
    let mut rest = text;
    let mut new = String::with_capacity(text.len());
    while let Some((before, after)) = rest.split_once('$') {
        new.push_str(before);
        rest = after;
        if let Some(after) = rest.strip_prefix('$') {
            new.push('$');
            rest = after;
            continue;
        }
        let name = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        let found = name.and_then(|(name, after)| Some((name, values.get(name)?, after)));
        let Some((name, value, after)) = found else {
            new.push('$');
            continue;
        };
        if !budget.take(Extent::of(value).bytes) {
            return None;
        }
        used.insert(name.to_owned());
        if text.len() == name.len() + 3 && !is_text {
            return Some(value.data.clone());
        }
        match text_of(value) {
            Some(part) => new.push_str(part),
            None => new.push_str(&value.to_json()),
        }
        rest = after;
    }
    (rest.len() < text.len()).then(|| {
        new.push_str(rest);
        Data::Scalar(Scalar::String(new.into()))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::replaced;
    use crate::values::budget::Budget;
    use krm_yaml::Value;

    #[test]
    fn variables_are_replaced_as_in_kustomize() {
        let values = BTreeMap::from([("A", Value::from("x")), ("N", Value::from(80_i64))]);
        for (text, expected) in [
            ("a", None),
            ("$(A)", Some("\"x\"")),
            ("$(N)", Some("80")),
            (":$(N)$(A)", Some("\":80x\"")),
            ("$$(A) $", Some("\"$(A) $\"")),
            ("$(B) $(A $A", Some("\"$(B) $(A $A\"")),
        ] {
            let found = replaced(text, &values, false, &Budget::new(), &mut BTreeSet::new());
            let found = found.map(|data| Value::from(data).to_json());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
        let found = replaced("$(N)", &values, true, &Budget::new(), &mut BTreeSet::new()).unwrap();
        assert_eq!(Value::from(found).to_json(), "\"80\"");
    }
}
