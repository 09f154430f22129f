//! The Template object as it is written: its parameters, objects, labels and message.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::declare::detect::dialect_of;
use crate::declare::dialect::{Dialect, OPENSHIFT_GROUP, OWN_API_VERSION, OWN_GROUP};
use crate::declare::fields::{check_fields, type_field, type_text};
use crate::declare::label::{self, Scope};
use crate::declare::parameter::{
    Parameter, ParameterStyle, check_duplicates, check_names, read_parameters,
};
use crate::declare::reference;
use crate::values::given::{self, Assignment};
use krm_core::{fields, identity};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, ObjectReference, Way};
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, NodeId, Scalar, SharedNode};

/// A Template that was read and found well-formed. It keeps its document, and may be used by several
/// threads.
#[derive(Debug)]
pub struct Template {
    node: SharedNode,
    pub(crate) reference: ObjectReference,
    pub(crate) dialect: Dialect,
    /// In the order they are declared.
    pub(crate) parameters: Vec<Parameter>,
    objects: Option<NodeId>,
    labels: Option<NodeId>,
    message: Option<NodeId>,
    /// The map `values`, which a strategic-merge patch merges where it replaces `parameters`.
    pub(crate) values: Vec<Assignment>,
    /// Whether no message shows a value or a text, so that nothing need be concealed.
    pub(crate) conceals_values: bool,
    /// Whether it is read as OpenShift's API reads it.
    pub(crate) is_upstream: bool,
}

/// How a Template is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading<'r> {
    /// Read it as one of this API version, whatever its `apiVersion` is. Its `kind` may be left out.
    pub api_version: Option<&'r str>,
    /// Treat each value of a parameter as a secret: no message shows one.
    pub conceals_values: bool,
}

/// The fields of a Template that are known.
pub const TEMPLATE_FIELDS: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "parameters",
    "objects",
    "labels",
    "objectLabels",
    "message",
    "values",
];

/// Whether `kind: Template` of this API group is one that is understood.
pub fn is_template_group(group: &str) -> bool {
    matches!(group, "" | OWN_GROUP | OPENSHIFT_GROUP)
}

/// Whether a Template may have this API version: we have one, and the versions that
/// OpenShift had mean the same.
fn is_known(api_version: &str) -> bool {
    match identity::group(api_version) {
        OWN_GROUP => api_version == OWN_API_VERSION,
        group => !api_version.is_empty() && is_template_group(group),
    }
}

/// A hint where values were found instead of a Template.
const VALUES_HINT: &str = "to give a file of values, use `-P`";

/// A hint for a document that is not a Template.
fn hint_for(kind: &str) -> &'static str {
    if closest(kind, ["Template"]).is_some() {
        return "did you mean `kind: Template`?";
    }
    match kind {
        "" => "a Template begins with `apiVersion` and `kind: Template`",
        "ResourceList" => {
            "to expand the functionConfig of a ResourceList, run `krm-template < FILE`"
        }
        "Kustomization" | "Component" | "Composition" => {
            "to build it, run `krm-template build DIR` with its directory"
        }
        "List" => "move the Template out of `items` to a document of its own",
        _ => "put objects under `objects` of a Template",
    }
}

impl Template {
    /// Reads the Template under a node. All errors and warnings go to `diagnostics`; after an
    /// error it returns `None`. A Template that is kept needs a document that needs no
    /// [upgrade](krm_yaml::Document::upgrade).
    pub fn read(node: &SharedNode, diagnostics: &mut Diagnostics) -> Option<Self> {
        Self::read_as(node, Reading::default(), diagnostics)
    }

    /// As [`read`](Self::read), in another way: as a server reads what it receives.
    pub fn read_as(
        node: &SharedNode,
        reading: Reading<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let mut found = Diagnostics::new();
        let template = Self::read_fields(node, reading, &mut found);
        let own = template.as_ref().map(|template| template.reference.clone());
        found.attribute_to(&own.unwrap_or_else(|| identity::reference(node.cursor())));
        let failed = found.has_errors();
        if let Some(template) = template.as_ref().filter(|one| !one.conceals_values) {
            found.conceal(&template.secrets(&[]));
        }
        diagnostics.append(found);
        template.filter(|_| !failed)
    }

    fn read_fields(
        shared: &SharedNode,
        reading: Reading<'_>,
        found: &mut Diagnostics,
    ) -> Option<Self> {
        let node = shared.cursor();
        if !node.is_mapping() {
            found.push(
                Diagnostic::error("a Template must be a mapping")
                    .at(node.place())
                    .hint(hint_for(""))
                    .advise(Way::Arguments, VALUES_HINT),
            );
            return None;
        }
        let is_served = reading.api_version.is_some();
        let has_kind = type_field(node, "kind").is_some_and(|kind| !kind.is_null());
        let kind = if is_served && !has_kind {
            Cow::Borrowed("Template")
        } else {
            read_kind(node, found)?
        };
        let api_version = match reading.api_version {
            Some(given) => Cow::Borrowed(given),
            None => read_api_version(node, found),
        };
        let dialect = dialect_of(node, &api_version, found);
        let lenient = identity::group(&api_version) == OPENSHIFT_GROUP;
        let is_upstream = is_served && lenient;
        let style = ParameterStyle {
            dialect,
            lenient,
            conceals_values: reading.conceals_values,
            is_upstream,
        };
        let parameters = read_parameters(shared, style, found);
        check_keys(node, dialect, found);
        check_duplicates(&parameters, dialect, found);
        check_names(&parameters, dialect, found);
        let template = Self {
            node: shared.clone(),
            reference: object_reference(node, &api_version, &kind),
            dialect,
            objects: read_objects(node, dialect, found).map(Cursor::id),
            labels: read_labels(node, dialect, is_upstream, found).map(Cursor::id),
            message: read_message(node, found).map(Cursor::id),
            values: if is_upstream {
                Vec::new()
            } else {
                read_values(node, reading.conceals_values, found)
            },
            is_upstream,
            conceals_values: reading.conceals_values,
            parameters,
        };
        let dialect = Some(dialect);
        check_fields(node, TEMPLATE_FIELDS, "", "a Template", dialect, found);
        Some(template)
    }

    /// `metadata.name`; empty if it has none.
    pub fn name(&self) -> &str {
        &self.reference.name
    }

    /// `apiVersion`, which the dialect follows from.
    pub fn api_version(&self) -> &str {
        &self.reference.api_version
    }

    /// The syntax and rules it is written in.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The node that it was read from.
    pub fn node(&self) -> Cursor<'_> {
        self.node.cursor()
    }

    /// The list `objects`, whose items are to be [opened](Cursor::open).
    pub fn objects(&self) -> Option<Cursor<'_>> {
        self.part(self.objects)
    }

    /// The field `labels` or `objectLabels`.
    pub fn labels(&self) -> Option<Cursor<'_>> {
        self.part(self.labels)
    }

    /// The labels in this field, and where each of them is set.
    pub fn label_entries(&self) -> impl Iterator<Item = (Cursor<'_>, Scope)> {
        self.labels().into_iter().flat_map(label::entries)
    }

    /// The field `message`, whose references are not replaced yet.
    pub fn message(&self) -> Option<Cursor<'_>> {
        self.part(self.message)
    }

    fn part(&self, id: Option<NodeId>) -> Option<Cursor<'_>> {
        Some(self.node.document().cursor(id?))
    }

    /// Its parameters, in the order they are declared.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The places of values that must not be shown: of its own parameters, and among those given.
    pub fn secrets(&self, given: &[Assignment]) -> Vec<Place> {
        let hidden = self.parameters.iter().filter(|one| !one.may_show());
        let hidden: BTreeMap<&str, &Parameter> =
            hidden.map(|one| (one.name.as_ref(), one)).collect();
        let defaults = hidden.values().filter_map(|one| Some(one.value()?.place()));
        let given = self.values.iter().chain(given);
        let given = given.filter(|one| one.secret || hidden.contains_key(one.name.as_str()));
        let given = given.filter_map(|given| given.place.clone());
        defaults.chain(given).collect()
    }

    /// The declared parameters that a text refers to, each once.
    pub fn names_in(&self, text: &str) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in reference::names(text, self.dialect) {
            let is_declared = self.parameters.iter().any(|one| one.name == name);
            if is_declared && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// Whether a text refers to a parameter whose value must not be shown.
    pub fn hides(&self, text: &str) -> bool {
        let mut names = reference::names(text, self.dialect);
        names.any(|name| {
            let mut declared = self.parameters.iter().filter(|one| one.name == name);
            declared.any(|one| !one.may_show())
        })
    }

    /// The Template itself, for a report.
    pub const fn reference(&self) -> &ObjectReference {
        &self.reference
    }

    /// Where an annotation of the Template is.
    pub fn annotation_place(&self, key: &str) -> Option<Place> {
        Some(self.node().at(["metadata", "annotations", key])?.place())
    }

    /// The value of an annotation of the Template.
    pub fn annotation(&self, key: &str) -> Option<Cow<'_, str>> {
        self.node().text_at(["metadata", "annotations", key])
    }
}

/// The `kind`, if it is that of a Template.
fn read_kind<'d>(node: Cursor<'d>, found: &mut Diagnostics) -> Option<Cow<'d, str>> {
    let kind = type_text(node, "kind").unwrap_or_default();
    if kind != "Template" {
        let place = type_field(node, "kind").map_or_else(|| node.key_place(), Cursor::place);
        let what = if kind.is_empty() { "no `kind`".to_owned() } else { format!("`kind: {kind}`") };
        let mut wrong = Diagnostic::error(format!("expected `kind: Template`, found {what}"))
            .at(place)
            .field("kind")
            .hint(hint_for(&kind));
        if kind.is_empty() {
            wrong = wrong.advise(Way::Arguments, VALUES_HINT);
        }
        found.push(wrong);
        return None;
    }
    Some(kind)
}

/// The `apiVersion`, which must be one that is understood.
fn read_api_version<'d>(node: Cursor<'d>, found: &mut Diagnostics) -> Cow<'d, str> {
    let api_version = type_text(node, "apiVersion").unwrap_or_default();
    if !is_known(&api_version) {
        let place = type_field(node, "apiVersion").map_or_else(|| node.key_place(), Cursor::place);
        let what = if api_version.is_empty() {
            "has no `apiVersion`".to_owned()
        } else {
            format!("has the unknown `apiVersion: {api_version}`")
        };
        found.push(
            Diagnostic::error(format!("the Template {what}"))
                .at(place)
                .field("apiVersion")
                .hint("use `template.krm.dev/v1alpha1`, `template.openshift.io/v1` or `v1`"),
        );
    }
    api_version
}

/// The Template for a report, whatever the case of its `apiVersion` and `kind`.
fn object_reference(node: Cursor<'_>, api_version: &str, kind: &str) -> ObjectReference {
    ObjectReference {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        ..identity::reference(node)
    }
}

/// The list `objects`. Without one, `oc` uses an empty list.
fn read_objects<'d>(
    node: Cursor<'d>,
    dialect: Dialect,
    found: &mut Diagnostics,
) -> Option<Cursor<'d>> {
    match node.get("objects") {
        None => {
            let message = "the Template has no `objects`";
            let diagnostic = match dialect {
                Dialect::Proposal => Diagnostic::error(message),
                Dialect::OpenShift => Diagnostic::warning(message),
            };
            found.push(
                diagnostic
                    .rule("structure")
                    .at(type_field(node, "kind").unwrap_or(node).place())
                    .field("objects")
                    .maybe_hint(misspelt(node, "objects"))
                    .hint(
                        "list the objects to create under `objects:`; an empty list is `objects: []`",
                    ),
            );
            None
        }
        Some(objects) if objects.is_null() => None,
        Some(objects) if objects.is_sequence() => Some(objects),
        Some(objects) => {
            found.push(
                Diagnostic::error("`objects` must be a list")
                    .at(objects.place())
                    .field("objects")
                    .hint("begin each object with `- `"),
            );
            None
        }
    }
}

/// A key of the mapping that is probably meant to be `name`.
fn misspelt(node: Cursor<'_>, name: &str) -> Option<String> {
    let mut keys = node.children().filter_map(|entry| entry.key().ok());
    let key = keys.find(|key| fields::meant(key, [name].into_iter()).is_some())?;
    Some(format!("did you mean `{name}` instead of `{key}`?"))
}

fn read_labels<'d>(
    node: Cursor<'d>,
    dialect: Dialect,
    is_upstream: bool,
    found: &mut Diagnostics,
) -> Option<Cursor<'d>> {
    let labels = node.get("labels").filter(|labels| !labels.is_null());
    let object_labels = node.get("objectLabels").filter(|labels| !labels.is_null());
    let object_labels = object_labels.filter(|_| !is_upstream);
    if let (Some(labels), Some(object_labels)) = (labels, object_labels) {
        found.push(
            Diagnostic::error("`labels` and `objectLabels` are the same field, but both are set")
                .at(object_labels.key_place())
                .related(labels.key_place(), "the other one")
                .field("objectLabels")
                .hint("put all labels under `labels`"),
        );
    }
    let labels = labels.or(object_labels)?;
    let may_have_groups = dialect == Dialect::Proposal && !is_upstream;
    label::check(labels, "labels", may_have_groups, found).then_some(labels)
}

fn read_values(node: Cursor<'_>, are_secret: bool, found: &mut Diagnostics) -> Vec<Assignment> {
    match node.get("values").filter(|values| !values.is_null()) {
        None => Vec::new(),
        Some(values) if values.is_mapping() => {
            let mut given = given::from_mapping(values, found);
            for one in &mut given {
                one.secret = are_secret;
            }
            given
        }
        Some(values) => {
            let declares = values.children().any(|item| item.get("name").is_some());
            let declares = declares && node.get("parameters").is_none();
            found.push(
                Diagnostic::error("`values` must be a mapping from parameter names to values")
                    .at(values.place())
                    .field("values")
                    .maybe_hint(values.space_hint())
                    .maybe_hint(
                        declares.then(|| "to declare parameters, use `parameters`".to_owned()),
                    )
                    .hint("write each value as `NAME: value`"),
            );
            Vec::new()
        }
    }
}

fn read_message<'d>(node: Cursor<'d>, found: &mut Diagnostics) -> Option<Cursor<'d>> {
    let message = node.get("message").filter(|message| !message.is_null())?;
    if matches!(message.scalar(), Ok(Some(Scalar::String(_)))) {
        return Some(message);
    }
    found
        .push(Diagnostic::error("`message` must be a string").at(message.place()).field("message"));
    None
}

/// Keys that the Template or one of its parameters has twice. Those of the objects are found when
/// the objects are read.
fn check_keys(node: Cursor<'_>, dialect: Dialect, found: &mut Diagnostics) {
    let duplicates = dialect.duplicate_keys();
    let metadata = node.get("metadata");
    let annotations = node.at(["metadata", "annotations"]);
    let labels = [node.get("labels"), node.get("objectLabels")];
    let groups = labels.into_iter().flatten().filter(|labels| labels.is_sequence());
    let groups = groups.flat_map(Cursor::children);
    let groups = groups.flat_map(|group| [Some(group), group.get("pairs")]);
    let parameters = node.get("parameters").into_iter().flat_map(Cursor::children);
    let mappings = [Some(node), metadata, annotations]
        .into_iter()
        .chain(labels)
        .chain(groups)
        .flatten()
        .chain(parameters);
    for mapping in mappings.filter(|mapping| mapping.is_mapping()) {
        mapping.check_keys(duplicates, found);
    }
}
