//! The schemas of the documents.

use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys};
use serde_json::{Map, Value, json};

use krm_template_server_core::{Group, Kind};

/// The name prefix of the types that all APIs share.
pub(super) const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
const RAW: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";
/// The extension that marks a schema as a kind.
const KINDS: &str = "x-kubernetes-group-version-kind";

/// Returns a reference to a schema.
pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// Returns a reference to the schema of a kind in a group.
pub(super) fn of(group: Group, kind: &str) -> Value {
    reference(&name(group, kind))
}

/// Returns a reference to the schema of a review.
pub(super) fn of_review(group: &str, kind: &str) -> Value {
    reference(&review_name(group, kind))
}

fn name(group: Group, kind: &str) -> String {
    match group {
        Group::Krm => format!("dev.krm.template.v1alpha1.{kind}"),
        Group::OpenShift => format!("com.github.openshift.api.template.v1.{kind}"),
    }
}

fn review_name(group: &str, kind: &str) -> String {
    let package = group.split('.').next().unwrap_or_default();
    format!("io.k8s.api.{package}.v1.{kind}")
}

/// Returns the schemas of a Template group, including referenced schemas.
pub(super) fn of_group(group: Group) -> Map<String, Value> {
    let (api, version) = (group.name(), group.version());
    let mut schemas = Map::new();
    match group {
        Group::Krm => {
            let parameters = of_crd("parametervalues");
            schemas.insert(
                name(group, "Parameters"),
                resource(api, version, "Parameters", parameters),
            );
            let template = of_crd("template");
            schemas.insert(name(group, "Template"), resource(api, version, "Template", template));
            let instance = own_instance();
            schemas.insert(
                name(group, "TemplateInstance"),
                resource(api, version, "TemplateInstance", instance),
            );
        }
        Group::OpenShift => {
            schemas.insert(name(group, "Parameter"), openshift_parameter());
            let template = openshift_template(group);
            schemas.insert(name(group, "Template"), resource(api, version, "Template", template));
            schemas.extend(openshift_instance(group));
        }
    }
    for kind in Kind::ALL {
        schemas.insert(name(group, &format!("{}List", kind.name())), list(group, kind));
    }
    schemas.extend(shared(api, version));
    schemas
}

/// Returns the schema of a kind from its definition in `functionconfig/`.
fn of_crd(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../functionconfig");
    let text = std::fs::read_to_string(format!("{folder}/{name}.crd.yaml")).expect("a file");
    let document = Document::parse(&Source::new("crd", text)).expect("YAML");
    let root = document.roots().next().expect("a definition");
    let value = root.value(DuplicateKeys::LastWins, &mut Diagnostics::new());
    let crd: Value = serde_json::from_str(&value.expect("a value").to_json()).expect("JSON");
    let schema = crd.pointer("/spec/versions/0/schema/openAPIV3Schema");
    schema.expect("a schema").clone()
}

/// Returns the schemas of a review group, including referenced schemas.
pub(super) fn of_reviews(group: &str) -> Map<String, Value> {
    let open =
        |text: &str| json!({"description": text, "type": "object", "additionalProperties": true});
    let mut schemas = Map::new();
    let kinds = [
        ("authentication", "SelfSubjectReview", "Tells a client who it is."),
        ("authorization", "SelfSubjectAccessReview", "Tells a client whether it may do something."),
        (
            "authorization",
            "SelfSubjectRulesReview",
            "Tells a client what it may do in a namespace.",
        ),
    ];
    for (package, kind, text) in kinds {
        if group.starts_with(package) {
            let schema = json!({
                "description": text,
                "type": "object",
                "properties": {"spec": open("The question."), "status": open("The answer.")},
            });
            schemas.insert(review_name(group, kind), resource(group, "v1", kind, schema));
        }
    }
    schemas.extend(shared(group, "v1"));
    schemas
}

/// Adds `apiVersion`, `kind`, `metadata` and the extension of a kind to a schema.
fn resource(group: &str, version: &str, kind: &str, mut schema: Value) -> Value {
    if let Some(fields) = schema.as_object_mut() {
        if let Some(properties) = fields.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert("apiVersion".to_owned(), api_version());
            properties.insert("kind".to_owned(), kind_field());
            properties.insert(
                "metadata".to_owned(),
                part(&format!("{META}.ObjectMeta"), "The metadata of the object."),
            );
            properties.sort_keys();
        }
        fields
            .insert(KINDS.to_owned(), json!([{"group": group, "kind": kind, "version": version}]));
    }
    schema
}

fn api_version() -> Value {
    json!({"description": "The group and version of the object.", "type": "string"})
}

fn kind_field() -> Value {
    json!({"description": "The kind of the object.", "type": "string"})
}

/// Returns the schema of a field that refers to another schema.
fn part(name: &str, text: &str) -> Value {
    json!({"description": text, "default": {}, "allOf": [reference(name)]})
}

/// Returns the schema of our instances: that of the function, and the fields of the server.
fn own_instance() -> Value {
    let mut schema = of_crd("templateinstance");
    let text = |text: &str| json!({"description": text, "type": "string"});
    let choice = |text: &str, values: &[&str]| json!({"description": text, "type": "string", "enum": values});
    let more = json!({
        "suspend": {"description": "Whether the server leaves the objects as they are.", "type": "boolean"},
        "prune": choice(
            "The objects that an update may delete: Safe excepts Namespaces, PersistentVolumeClaims and CustomResourceDefinitions.",
            &["Safe", "All", "None"],
        ),
        "deletionPolicy": choice("What becomes of the objects when the instance is deleted.", &["Delete", "Orphan"]),
        "conflicts": choice("What to do with fields that others own.", &["Fail", "Overwrite"]),
        "wait": choice(
            "The objects that must be ready: all, those with the annotation `template.alpha.openshift.io/wait-for-ready`, or none.",
            &["All", "Annotated", "None"],
        ),
        "timeout": text("How long objects may take to become ready: `1h` by default."),
        "upgrades": choice(
            "Whether changes of stored Templates are installed: Automatic needs the permission to update them.",
            &["Manual", "Automatic"],
        ),
        "requestedAt": text("A time. A change is a request to install stored Templates as they are now."),
        "templateVersion": text("The version of the store whose Templates are installed. The server sets it."),
        "serviceAccountName": text("The ServiceAccount of the namespace that installs the objects."),
        "revisionHistoryLimit": {"description": "The number of revisions to keep: 10 by default.", "type": "integer"},
        "requester": {
            "description": "The user who last changed the spec. The server sets it.",
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": true,
        },
    });
    let properties =
        schema.pointer_mut("/properties/spec/properties").and_then(Value::as_object_mut);
    if let (Some(properties), Value::Object(more)) = (properties, more) {
        properties.extend(more);
    }
    if let Some(properties) = schema.pointer_mut("/properties").and_then(Value::as_object_mut) {
        properties.insert(
            "status".to_owned(),
            json!({
                "description": "The state of the instance and its objects. The server sets it.",
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": true,
            }),
        );
    }
    schema
}

/// Returns the schemas of OpenShift's TemplateInstance.
#[expect(clippy::too_many_lines, reason = "one schema after the other")]
fn openshift_instance(group: Group) -> Map<String, Value> {
    let part = |kind: &str, text: &str| json!({"description": text, "default": {}, "allOf": [of(group, kind)]});
    let text = |text: &str| json!({"description": text, "type": "string", "default": ""});
    let optional = |text: &str| json!({"description": text, "type": "string"});
    let object = |text: &str, required: &[&str], properties: Value| {
        let mut schema = json!({"description": text, "type": "object", "properties": properties});
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema
    };
    let list =
        |text: &str, items: Value| json!({"description": text, "type": "array", "items": items});
    let named = |kind: &str| json!({"default": {}, "allOf": [of(group, kind)]});
    let instance = object(
        "A Template with its values, whose objects are created once.",
        &["spec"],
        json!({
            "spec": part("TemplateInstanceSpec", "The Template and its values. It cannot change."),
            "status": part("TemplateInstanceStatus", "The state of the instance."),
        }),
    );
    let kinds: [(&str, Value); 6] = [
        ("TemplateInstance", resource(group.name(), group.version(), "TemplateInstance", instance)),
        (
            "TemplateInstanceSpec",
            object(
                "The Template and its values.",
                &["template"],
                json!({
                    "requester": {"description": "The user whose permissions count.", "allOf": [of(group, "TemplateInstanceRequester")]},
                    "secret": {"description": "A Secret with the values of parameters.", "type": "object", "properties": {"name": optional("The name of the Secret.")}},
                    "template": part("Template", "A copy of the Template."),
                }),
            ),
        ),
        (
            "TemplateInstanceRequester",
            object(
                "A user.",
                &[],
                json!({
                    "extra": {"description": "The extra fields of the user.", "type": "object", "additionalProperties": {"type": "array", "items": {"type": "string", "default": ""}}},
                    "groups": list("The groups of the user.", json!({"type": "string", "default": ""})),
                    "uid": optional("The uid of the user."),
                    "username": optional("The name of the user."),
                }),
            ),
        ),
        (
            "TemplateInstanceStatus",
            object(
                "The state of an instance.",
                &[],
                json!({
                    "conditions": list("The conditions.", named("TemplateInstanceCondition")),
                    "objects": list("The objects that were created.", named("TemplateInstanceObject")),
                }),
            ),
        ),
        (
            "TemplateInstanceCondition",
            object(
                "A condition of an instance.",
                &["type", "status", "lastTransitionTime", "reason", "message"],
                json!({
                    "lastTransitionTime": {"description": "The time of the last change of the status.", "type": "string", "format": "date-time", "nullable": true},
                    "message": text("A description of the last change."),
                    "reason": text("The reason of the last change."),
                    "status": text("True, False or Unknown."),
                    "type": text("The type: Ready or InstantiateFailure."),
                }),
            ),
        ),
        (
            "TemplateInstanceObject",
            object(
                "An object of an instance.",
                &[],
                json!({
                    "ref": {"description": "The object.", "type": "object", "additionalProperties": {"type": "string"}},
                }),
            ),
        ),
    ];
    let kinds = kinds.into_iter();
    kinds.map(|(kind, schema)| (name(group, kind), schema)).collect()
}

fn list(group: Group, kind: Kind) -> Value {
    let kind = kind.name();
    let items = json!({"default": {}, "allOf": [of(group, kind)]});
    json!({
        "description": format!("A list of {kind}s."),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": api_version(),
            "items": {"description": "The objects.", "type": "array", "items": items},
            "kind": kind_field(),
            "metadata": part(&format!("{META}.ListMeta"), "The metadata of the list."),
        },
        KINDS: [{"group": group.name(), "kind": format!("{kind}List"), "version": group.version()}],
    })
}

fn openshift_template(group: Group) -> Value {
    let parameter = json!({"default": {}, "allOf": [of(group, "Parameter")]});
    json!({
        "description": "A Template: objects with parameters.",
        "type": "object",
        "required": ["objects"],
        "properties": {
            "labels": labels("Labels that are added to each object."),
            "message": {
                "description": "A text for people who process the Template. Parameters are replaced in it.",
                "type": "string",
            },
            "objects": {
                "description": "The objects. A fixed namespace in them is removed.",
                "type": "array",
                "nullable": true,
                "items": reference(RAW),
            },
            "parameters": {
                "description": "The parameters of the Template.",
                "type": "array",
                "items": parameter,
            },
        },
    })
}

fn openshift_parameter() -> Value {
    let text = |text: &str| json!({"description": text, "type": "string"});
    json!({
        "description": "A parameter of a Template.",
        "type": "object",
        "required": ["name"],
        "properties": {
            "description": text("What the parameter is for."),
            "displayName": text("The name of the parameter that forms show."),
            "from": text("The input of the generator, for `expression` a pattern such as `[a-z]{8}`."),
            "generate": text("The generator of the value: `expression`."),
            "name": {
                "description": "The name, for references such as ${NAME}.",
                "type": "string",
                "default": "",
            },
            "required": {"description": "Whether the value must not be empty.", "type": "boolean"},
            "value": text("The value, if no other is given."),
        },
    })
}

fn labels(text: &str) -> Value {
    json!({
        "description": text,
        "type": "object",
        "additionalProperties": {"type": "string", "default": ""},
    })
}

/// Returns the schemas of the types that all APIs share.
fn shared(group: &str, version: &str) -> Map<String, Value> {
    let mut schemas: Map<String, Value> =
        serde_json::from_str(include_str!("shared.json")).unwrap_or_default();
    let options = schemas.get_mut(&format!("{META}.DeleteOptions"));
    if let Some(kinds) = options.and_then(|options| options.get_mut(KINDS)?.as_array_mut()) {
        kinds.push(json!({"group": group, "kind": "DeleteOptions", "version": version}));
    }
    schemas
}
