//! The `TemplateInstance` as it is written: a Template, or the name of one, and the values, labels
//! and namespace of each expansion.
//!
//! Ours is `template.krm.dev/v1alpha1`. OpenShift's own kind (`template.openshift.io/v1`) has its
//! Template and names a Secret with the values; its objects go into its own namespace.

use std::collections::BTreeMap;

use crate::declare::count;
use crate::declare::dialect::{OPENSHIFT_GROUP, OWN_API_VERSION, OWN_GROUP};
use crate::declare::fields::unknown_fields;
use crate::declare::label::{self, Label};
use crate::values::given::{self, Assignment};
use krm_core::identity::{self, group};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::Place;
use krm_yaml::{Cursor, NodeId, Scalar};

/// One expansion of a Template.
#[derive(Debug)]
pub struct Instance {
    /// Its name among the `instances`; `None` without such a list.
    pub name: Option<String>,
    /// The Template, given here or by its name.
    pub template: TemplateSource,
    /// Values, of which later ones override earlier ones.
    pub values: Vec<ValueSource>,
    /// Labels that win over those of the Template.
    pub labels: Vec<Label>,
    /// The namespace of objects that name none.
    pub namespace: Option<String>,
    /// Its number, if it is one of a `count`.
    pub index: Option<usize>,
    /// The place of its name, or of the instance without one.
    pub place: Place,
}

/// Where the Template of an instance is.
#[derive(Clone, Debug)]
pub enum TemplateSource {
    /// A Template in the instance itself.
    Inline {
        /// Its node, in the document of the instance.
        node: NodeId,
        /// Its own field path, with a dot.
        field: String,
    },
    /// Among the items, by name.
    Named {
        /// The name of the Template.
        name: String,
        /// The place of the name.
        place: Place,
        /// The field path of the name, with a dot.
        field: String,
    },
}

/// A source of values, in the order of the instance.
#[derive(Clone, Debug)]
pub enum ValueSource {
    /// Values in the instance itself.
    Given(Vec<Assignment>),
    /// An object among the items.
    Object(ObjectSource),
}

impl ValueSource {
    /// The same for an instance with a number.
    fn numbered(&self, index: usize) -> Self {
        match self {
            Self::Given(values) => Self::Given(count::values(values, index)),
            Self::Object(object) => Self::Object(object.clone()),
        }
    }
}

/// A ConfigMap or Secret with values.
#[derive(Clone, Debug)]
pub struct ObjectSource {
    /// `"ConfigMap"` or `"Secret"`, both of the core group.
    pub kind: &'static str,
    /// The name of the object.
    pub name: String,
    /// Whether the object may be missing.
    pub optional: bool,
    /// Whether it may have values for names that the Template does not declare.
    pub may_have_others: bool,
    /// The place of the reference.
    pub place: Place,
    /// The field path of the reference.
    pub field: String,
}

/// The fields that an instance and the whole have in common.
pub const SHARED_FIELDS: &[&str] =
    &["templateRef", "template", "parameters", "parametersFrom", "labels", "namespace", "count"];
/// The kinds of objects that can provide values.
pub const VALUE_OBJECTS: &[(&str, &str)] =
    &[("configMapRef", "ConfigMap"), ("secretRef", "Secret")];

/// Reads a `TemplateInstance`: each expansion of its Template, in order. All errors
/// and warnings go to `diagnostics`.
pub fn read(node: Cursor<'_>, diagnostics: &mut Diagnostics) -> Vec<Instance> {
    let mut found = Diagnostics::new();
    let instances = read_spec(node, &mut found);
    found.attribute_to(&identity::reference(node));
    diagnostics.append(found);
    instances
}

fn read_spec(node: Cursor<'_>, found: &mut Diagnostics) -> Vec<Instance> {
    let api_version = node.text_at(["apiVersion"]).unwrap_or_default();
    let is_openshift = match group(&api_version) {
        OWN_GROUP if api_version == OWN_API_VERSION => false,
        OPENSHIFT_GROUP => true,
        _ => {
            let version = node.get("apiVersion");
            found.push(
                Diagnostic::error(format!(
                    "the TemplateInstance has the unknown `apiVersion: {api_version}`"
                ))
                .at(version.map_or_else(|| node.key_place(), Cursor::place))
                .field("apiVersion")
                .hint("use `template.krm.dev/v1alpha1` or `template.openshift.io/v1`"),
            );
            return Vec::new();
        }
    };
    let Some(spec) = node.get("spec").filter(|spec| spec.is_mapping()) else {
        let place = node.get("spec").or_else(|| node.get("kind"));
        found.push(
            Diagnostic::error("the TemplateInstance has no `spec`")
                .at(place.unwrap_or(node).place())
                .field("spec")
                .hint("name the Template under `spec.templateRef.name`, or put it under `spec.template`"),
        );
        return Vec::new();
    };
    if is_openshift {
        return read_openshift(node, spec, found).into_iter().collect();
    }
    unknown(spec, &["instances"], "spec.", "the `spec` of a TemplateInstance", found);
    let shared = Shared::read(spec, "spec", found);
    let Some(list) = spec.get("instances").filter(|list| !list.is_null()) else {
        let name = node.text_at(["metadata", "name"]).unwrap_or_default();
        return shared.instances(None, &name, spec, found);
    };
    if !list.is_sequence() {
        found.push(
            Diagnostic::error("`instances` must be a list")
                .at(list.place())
                .field("spec.instances")
                .hint("begin each instance with `- name: NAME`"),
        );
        return Vec::new();
    }
    read_list(list, &shared, found)
}

fn read_list(list: Cursor<'_>, shared: &Shared, found: &mut Diagnostics) -> Vec<Instance> {
    let mut names: BTreeMap<String, Place> = BTreeMap::new();
    let mut instances = Vec::new();
    for (index, node) in list.children().enumerate() {
        let field = format!("spec.instances[{index}]");
        let name = node.get("name").filter(|name| !name.is_null());
        let Some(name) = name.filter(|_| node.is_mapping()) else {
            found.push(
                Diagnostic::error("the instance has no `name`")
                    .at(node.key_place())
                    .field(format!("{field}.name"))
                    .maybe_hint(node.space_hint())
                    .hint("begin it with `- name: NAME`: later runs find its objects by this name"),
            );
            continue;
        };
        unknown(node, &["name"], &format!("{field}."), "an instance", found);
        let place = name.place();
        let Some(name) = text(node, "name", &field, found) else {
            continue;
        };
        if !is_name(&name) {
            found.push(
                Diagnostic::error(format!("`{name}` is not the name of an instance"))
                    .at(place)
                    .field(format!("{field}.name"))
                    .hint("use letters, digits, `-`, `_` and `.`: the file of its objects gets this name"),
            );
            continue;
        }
        if let Some(first) = names.insert(name.clone(), place.clone()) {
            found.push(twice(&name, place, first, &field));
            continue;
        }
        let own = Shared::read(node, &field, found).over(shared);
        let own = own.instances(Some(name.clone()), &name, node, found);
        for instance in own.iter().filter(|one| one.index.is_some()) {
            let Some(numbered) = &instance.name else {
                continue;
            };
            if let Some(first) = names.insert(numbered.clone(), place.clone()) {
                found.push(twice(numbered, place.clone(), first, &field));
            }
        }
        instances.extend(own);
    }
    instances
}

fn twice(name: &str, place: Place, first: Place, field: &str) -> Diagnostic {
    Diagnostic::error(format!("two instances are named `{name}`"))
        .at(place)
        .related(first, "first here")
        .field(format!("{field}.name"))
        .hint("rename one of them")
}

/// Whether a name is valid in the value of an annotation and as the name of a file.
fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// OpenShift's kind: `spec.template`, and `spec.secret.name` with its values.
fn read_openshift(node: Cursor<'_>, spec: Cursor<'_>, found: &mut Diagnostics) -> Option<Instance> {
    unknown_fields(
        spec,
        &["template", "secret", "requester"],
        "spec.",
        "the `spec` of OpenShift's TemplateInstance",
        found,
    );
    let secret = spec.get("secret").filter(|secret| !secret.is_null());
    let values = secret.and_then(|secret| {
        let field = "spec.secret";
        let name = required_name(secret, field, found)?;
        Some(ValueSource::Object(ObjectSource {
            kind: "Secret",
            name,
            optional: false,
            may_have_others: true,
            place: secret.get("name").unwrap_or(secret).place(),
            field: format!("{field}.name"),
        }))
    });
    let shared = Shared {
        template: Shared::template(spec, "spec", found),
        values: values.into_iter().collect(),
        labels: Vec::new(),
        namespace: node.text_at(["metadata", "namespace"]).map(std::borrow::Cow::into_owned),
        count: None,
    };
    shared.instance(None, spec, found)
}

/// The fields of the `spec`, for every instance, or of one instance, for itself.
struct Shared {
    template: Option<TemplateSource>,
    values: Vec<ValueSource>,
    labels: Vec<Label>,
    namespace: Option<String>,
    count: Option<usize>,
}

impl Shared {
    fn read(node: Cursor<'_>, field: &str, found: &mut Diagnostics) -> Self {
        let mut values = values_from(node, field, found);
        values.extend(own_values(node, field, found).map(ValueSource::Given));
        Self {
            template: Self::template(node, field, found),
            values,
            labels: labels(node, field, found),
            namespace: text(node, "namespace", field, found),
            count: count::read(node, field, found),
        }
    }

    /// These fields, completed with those for all instances.
    fn over(mut self, all: &Self) -> Self {
        self.values.splice(..0, all.values.iter().cloned());
        let others = all.labels.iter();
        let others = others.filter(|one| self.labels.iter().all(|own| own.key != one.key));
        let mut labels: Vec<_> = others.cloned().collect();
        labels.append(&mut self.labels);
        Self {
            template: self.template.or_else(|| all.template.clone()),
            values: self.values,
            labels,
            namespace: self.namespace.or_else(|| all.namespace.clone()),
            count: self.count.or(all.count),
        }
    }

    fn template(node: Cursor<'_>, field: &str, found: &mut Diagnostics) -> Option<TemplateSource> {
        let inline = node.get("template").filter(|inline| !inline.is_null());
        let named = node.get("templateRef").filter(|named| !named.is_null());
        match (inline, named) {
            (Some(inline), None) if !inline.is_mapping() => {
                let name = inline.text().ok().flatten().unwrap_or_default();
                found.push(
                    Diagnostic::error("`template` must be a mapping: the whole Template")
                        .at(inline.place())
                        .field(format!("{field}.template"))
                        .hint(format!("to name one, write `templateRef: {{name: {name}}}`")),
                );
                None
            }
            (Some(inline), Some(named)) => {
                found.push(
                    Diagnostic::error("both `template` and `templateRef` are set")
                        .at(named.key_place())
                        .related(inline.key_place(), "the other one")
                        .field(format!("{field}.templateRef"))
                        .hint("remove one of the two"),
                );
                None
            }
            (Some(inline), None) => Some(TemplateSource::Inline {
                node: inline.id(),
                field: format!("{field}.template."),
            }),
            (None, Some(named)) => {
                let field = format!("{field}.templateRef");
                if named.is_mapping() {
                    unknown_fields(
                        named,
                        &["name"],
                        &format!("{field}."),
                        "a `templateRef`",
                        found,
                    );
                }
                let name = required_name(named, &field, found)?;
                Some(TemplateSource::Named {
                    name,
                    place: named.get("name").unwrap_or(named).place(),
                    field: format!("{field}.name"),
                })
            }
            (None, None) => None,
        }
    }

    /// The instance, or each of its `count`, named after `base`.
    fn instances(
        self,
        name: Option<String>,
        base: &str,
        node: Cursor<'_>,
        found: &mut Diagnostics,
    ) -> Vec<Instance> {
        let Some(number) = self.count else {
            return self.instance(name, node, found).into_iter().collect();
        };
        let Some(all) = self.instance(name, node, found) else {
            return Vec::new();
        };
        let numbered = (0..number).map(|index| Instance {
            name: Some(format!("{base}-{index}")),
            template: all.template.clone(),
            values: all.values.iter().map(|one| one.numbered(index)).collect(),
            labels: count::labels(&all.labels, index),
            namespace: all.namespace.as_deref().map(|own| count::text(own, index)),
            index: Some(index),
            place: all.place.clone(),
        });
        numbered.collect()
    }

    fn instance(
        self,
        name: Option<String>,
        node: Cursor<'_>,
        found: &mut Diagnostics,
    ) -> Option<Instance> {
        let Some(template) = self.template else {
            // Errors in the fields were reported.
            if !found.has_errors() {
                found.push(
                    Diagnostic::error("no Template is given")
                        .at(node.key_place())
                        .field("spec.templateRef")
                        .hint("name one of the items under `spec.templateRef.name`, or put a Template under `spec.template`"),
                );
            }
            return None;
        };
        Some(Instance {
            name,
            template,
            values: self.values,
            labels: self.labels,
            namespace: self.namespace.filter(|namespace| !namespace.is_empty()),
            index: None,
            place: node.get("name").unwrap_or(node).key_place(),
        })
    }
}

/// Reads the mapping `parameters` of an instance.
fn own_values(node: Cursor<'_>, field: &str, found: &mut Diagnostics) -> Option<Vec<Assignment>> {
    let mapping = node.get("parameters").filter(|values| !values.is_null())?;
    let mut own = Diagnostics::new();
    if mapping.is_sequence() {
        own.push(
            Diagnostic::error("`parameters` of an instance must be a mapping")
                .at(mapping.place())
                .hint("write each value as `NAME: value`"),
        );
    }
    let values = (!own.has_errors()).then(|| given::from_mapping(mapping, &mut own));
    own.attribute_to_field(&format!("{field}.parameters"));
    found.append(own);
    values
}

fn values_from(node: Cursor<'_>, field: &str, found: &mut Diagnostics) -> Vec<ValueSource> {
    let field = format!("{field}.parametersFrom");
    let Some(list) = node.get("parametersFrom").filter(|list| !list.is_null()) else {
        return Vec::new();
    };
    if !list.is_sequence() {
        found.push(
            Diagnostic::error("`parametersFrom` must be a list")
                .at(list.place())
                .field(field)
                .hint("write `- configMapRef: {name: NAME}` or `- secretRef: {name: NAME}`"),
        );
        return Vec::new();
    }
    let entries = list.children().enumerate();
    entries
        .filter_map(|(index, entry)| value_object(entry, &format!("{field}[{index}]"), found))
        .map(ValueSource::Object)
        .collect()
}

fn value_object(entry: Cursor<'_>, field: &str, found: &mut Diagnostics) -> Option<ObjectSource> {
    let keys: Vec<&'static str> = VALUE_OBJECTS.iter().map(|(key, _)| *key).collect();
    if entry.is_mapping() {
        unknown_fields(entry, &keys, &format!("{field}."), "`parametersFrom`", found);
    }
    let mut there =
        VALUE_OBJECTS.iter().filter_map(|(key, kind)| Some((*key, *kind, entry.get(key)?)));
    let (Some((key, kind, object)), None) = (there.next(), there.next()) else {
        found.push(
            Diagnostic::error("an entry of `parametersFrom` must name exactly one object")
                .at(entry.place())
                .field(field)
                .hint("write `configMapRef: {name: NAME}` or `secretRef: {name: NAME}`"),
        );
        return None;
    };
    let field = format!("{field}.{key}");
    if object.is_mapping() {
        unknown_fields(
            object,
            &["name", "optional"],
            &format!("{field}."),
            &format!("a `{key}`"),
            found,
        );
    }
    let name = required_name(object, &field, found)?;
    let optional = match object.get("optional").map(Cursor::scalar) {
        None | Some(Ok(Some(Scalar::Null))) => false,
        Some(Ok(Some(Scalar::Bool(optional)))) => optional,
        Some(_) => {
            found.push(
                Diagnostic::error("`optional` must be `true` or `false`")
                    .at(object.get("optional").unwrap_or(object).place())
                    .field(format!("{field}.optional")),
            );
            return None;
        }
    };
    Some(ObjectSource {
        kind,
        name,
        optional,
        may_have_others: false,
        place: object.get("name").unwrap_or(object).place(),
        field: format!("{field}.name"),
    })
}

fn labels(node: Cursor<'_>, field: &str, found: &mut Diagnostics) -> Vec<Label> {
    let Some(labels) = node.get("labels").filter(|labels| !labels.is_null()) else {
        return Vec::new();
    };
    if !label::check(labels, &format!("{field}.labels"), true, found) {
        return Vec::new();
    }
    let mut list = Vec::new();
    for (entry, scope) in label::entries(labels) {
        if let Some(key) = found.take(entry.key())
            && let Ok(Some(Scalar::String(value))) = entry.scalar()
        {
            list.push(Label { key: key.into_owned(), value: value.into_owned(), scope });
        }
    }
    list
}

/// The text under `key`, which must be a string if it is set.
fn text(node: Cursor<'_>, key: &str, field: &str, found: &mut Diagnostics) -> Option<String> {
    let value = node.get(key).filter(|value| !value.is_null())?;
    if let Ok(Some(Scalar::String(text))) = value.scalar() {
        return Some(text.into_owned());
    }
    found.push(
        Diagnostic::error(format!("`{key}` must be a string"))
            .at(value.place())
            .field(format!("{field}.{key}"))
            .hint(format!("put it in quotes: `\"{}\"`", value.raw())),
    );
    None
}

/// The `name` that a reference must have.
fn required_name(node: Cursor<'_>, field: &str, found: &mut Diagnostics) -> Option<String> {
    if node.get("name").is_some_and(|name| !name.is_null()) {
        return text(node, "name", field, found).filter(|name| !name.is_empty());
    }
    found.push(
        Diagnostic::error("the reference has no `name`")
            .at(node.place())
            .field(format!("{field}.name"))
            .hint(node.space_hint().unwrap_or_else(|| match node.raw() {
                name if node.is_mapping() || name.is_empty() || name.contains('\n') => {
                    "write it as `name: NAME`".to_owned()
                }
                name => format!("write it as `{{name: {name}}}`"),
            })),
    );
    None
}

fn unknown(
    node: Cursor<'_>,
    own: &[&'static str],
    path: &str,
    what: &str,
    found: &mut Diagnostics,
) {
    let known = [SHARED_FIELDS, own].concat();
    unknown_fields(node, &known, path, what, found);
}
