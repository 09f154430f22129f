//! The paths and operations of the documents.

use serde_json::{Map, Value, json};

use super::schemas::{self, META};
use crate::request::resources::AUTHENTICATION;
use krm_template_server_core::{Group, Kind};

const OBJECTS: &[&str] = &["application/json", "application/yaml"];
const LISTS: &[&str] = &["application/json", "application/json;stream=watch", "application/yaml"];
const WRITE: &[&str] = &["dryRun", "fieldManager", "fieldValidation"];
const LIST: &[&str] = &[
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "timeoutSeconds",
    "watch",
];
const DELETE: &[&str] = &["dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy"];
const DELETE_ALL: &[&str] = &[
    "continue",
    "dryRun",
    "fieldSelector",
    "gracePeriodSeconds",
    "labelSelector",
    "limit",
    "orphanDependents",
    "propagationPolicy",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "timeoutSeconds",
];
/// The query parameters of processing, in addition to [`WRITE`].
const PROCESS: &[&str] = &["check", "labels", "namespace", "output", "sourceMap"];

/// The query and path parameters: name, type, description.
const PARAMETERS: &[(&str, &str, &str)] = &[
    ("allowWatchBookmarks", "boolean", "Whether a watch sends events of type BOOKMARK."),
    ("check", "boolean", "Whether to warn about objects that the API server of a cluster refuses."),
    ("continue", "string", "The continue token of the previous response."),
    ("dryRun", "string", "With All, nothing is stored. Other values are errors."),
    ("fieldManager", "string", "The owner of the fields that are written: at most 128 bytes."),
    (
        "fieldSelector",
        "string",
        "Selects objects by metadata.name and metadata.namespace, with =, == and !=.",
    ),
    (
        "fieldValidation",
        "string",
        "How to treat unknown and duplicate fields. Ignore: nothing. Warn: a Warning header for \
         each; the default. Strict: the request fails.",
    ),
    ("force", "boolean", "Whether an apply takes fields from other owners. Only for applies."),
    ("gracePeriodSeconds", "integer", "Ignored."),
    (
        "labels",
        "string",
        "Labels that are added to each object, as NAME=VALUE, separated by commas.",
    ),
    ("labelSelector", "string", "Selects objects by their labels."),
    ("limit", "integer", "The maximum number of objects in a response."),
    ("name", "string", "The name of the object."),
    ("namespace", "string", "The namespace; in a query, the namespace of objects without one."),
    (
        "orphanDependents",
        "boolean",
        "As propagationPolicy Orphan or Background. Not with propagationPolicy.",
    ),
    ("output", "string", "With list, the answer is a v1 List of the objects."),
    (
        "pretty",
        "string",
        "If 'true', the answer is indented. The default is 'true' for browsers, curl and wget.",
    ),
    (
        "propagationPolicy",
        "string",
        "What a cluster does with dependents: Orphan, Background or Foreground. Ignored without one.",
    ),
    (
        "resourceVersion",
        "string",
        "The version to return, or the version after which a watch starts.",
    ),
    ("resourceVersionMatch", "string", "How to match resourceVersion: Exact or NotOlderThan."),
    (
        "sendInitialEvents",
        "boolean",
        "Whether a watch starts with an event ADDED for each object. Needs \
         resourceVersionMatch=NotOlderThan.",
    ),
    ("sourceMap", "boolean", "Whether to return the origin of each field."),
    ("timeoutSeconds", "integer", "The seconds after which a watch ends."),
    ("watch", "boolean", "Whether to send changes as they happen, instead of a list."),
];

/// The data that the operations of a group share.
struct Api {
    group: &'static str,
    version: &'static str,
    /// The group and version in operation IDs, such as `TemplateKrmDevV1alpha1`.
    id: String,
    tag: String,
}

impl Api {
    fn new(group: &'static str, version: &'static str) -> Self {
        let group_id: String = group.split('.').map(capitalized).collect();
        let first = group_id.chars().next().map(|letter| letter.to_ascii_lowercase());
        let tag = first.into_iter().chain(group_id.chars().skip(1)).collect::<String>();
        Self {
            group,
            version,
            id: format!("{group_id}{}", capitalized(version)),
            tag: format!("{tag}_{version}"),
        }
    }

    /// Creates an operation without parameters, a request body or responses.
    fn operation(
        &self,
        action: &str,
        name: &str,
        description: &str,
        kind: &str,
    ) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert("tags".to_owned(), json!([self.tag]));
        fields.insert("description".to_owned(), json!(description));
        let (verb, rest) = name.split_once(' ').unwrap_or((name, ""));
        fields.insert("operationId".to_owned(), json!(format!("{verb}{}{rest}", self.id)));
        fields.insert("x-kubernetes-action".to_owned(), json!(action));
        let kind = json!({"group": self.group, "version": self.version, "kind": kind});
        fields.insert("x-kubernetes-group-version-kind".to_owned(), kind);
        fields
    }
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// Adds query parameters, a request body and responses to an operation.
fn with(
    mut operation: Map<String, Value>,
    queries: &[&str],
    body: Option<Value>,
    codes: &[&str],
    content: &Value,
) -> Value {
    if !queries.is_empty() {
        let queries: Vec<Value> = queries.iter().map(|name| parameter(name, "query")).collect();
        operation.insert("parameters".to_owned(), json!(queries));
    }
    if let Some(body) = body {
        operation.insert("requestBody".to_owned(), body);
    }
    let mut responses = Map::new();
    for code in codes {
        let description = if *code == "201" { "Created" } else { "OK" };
        responses
            .insert((*code).to_owned(), json!({"description": description, "content": content}));
    }
    responses.insert("401".to_owned(), json!({"description": "Unauthorized"}));
    let status = typed(OBJECTS, &schemas::reference(&format!("{META}.Status")));
    let default =
        json!({"description": "An error, or a Success without an object", "content": status});
    responses.insert("default".to_owned(), default);
    operation.insert("responses".to_owned(), Value::Object(responses));
    Value::Object(operation)
}

fn parameter(name: &str, place: &str) -> Value {
    let known = PARAMETERS.iter().find(|(known, ..)| *known == name);
    let (kind, description) = known.map_or(("string", ""), |(_, kind, text)| (*kind, *text));
    let mut parameter = json!({"name": name, "in": place, "description": description});
    if let Some(fields) = parameter.as_object_mut() {
        if place == "path" {
            fields.insert("required".to_owned(), json!(true));
        }
        fields.insert("schema".to_owned(), json!({"type": kind, "uniqueItems": true}));
    }
    parameter
}

/// Returns the parameters that all operations of a path share.
fn shared(in_path: &[&str]) -> Value {
    let in_path = in_path.iter().map(|name| parameter(name, "path"));
    in_path.chain([parameter("pretty", "query")]).collect()
}

/// Returns the content of a body: a schema for each media type.
fn typed(types: &[&str], schema: &Value) -> Value {
    types
        .iter()
        .map(|name| ((*name).to_owned(), json!({"schema": schema})))
        .collect::<Map<_, _>>()
        .into()
}

fn body(types: &[&str], schema: &Value, required: bool) -> Value {
    if required {
        json!({"content": typed(types, schema), "required": true})
    } else {
        json!({"content": typed(types, schema)})
    }
}

/// Returns the paths of a Template group, with their operations.
pub(super) fn of_group(group: Group) -> Map<String, Value> {
    let api = Api::new(group.name(), group.version());
    let base = format!("/apis/{}", group.api_version());
    let space = format!("{base}/namespaces/{{namespace}}");
    let mut paths = Map::new();
    paths.insert(format!("{base}/"), json!({"get": resources(&api)}));
    paths.insert(format!("{space}/processedtemplates"), process(&api, group));
    for kind in [Kind::Instance, Kind::Template] {
        let of_kind = format!("{space}/{}", kind.resource());
        paths.insert(of_kind.clone(), collection(&api, group, kind));
        paths.insert(format!("{of_kind}/{{name}}"), object(&api, group, kind));
        if kind == Kind::Instance {
            paths.insert(format!("{of_kind}/{{name}}/status"), status(&api, group));
        }
    }
    if group == Group::Krm {
        paths.insert(format!("{space}/templates/{{name}}/processed"), process_stored(&api, group));
        paths.insert(format!("{space}/templates/{{name}}/schema"), schema(&api));
    }
    for kind in [Kind::Instance, Kind::Template] {
        let name = kind.name();
        let list = typed(LISTS, &schemas::of(group, &format!("{name}List")));
        let operation = api.operation(
            "list",
            &format!("list {name}ForAllNamespaces"),
            &format!("list or watch objects of kind {name}"),
            name,
        );
        paths.insert(
            format!("{base}/{}", kind.resource()),
            json!({"get": with(operation, LIST, None, &["200"], &list), "parameters": shared(&[])}),
        );
    }
    paths
}

fn resources(api: &Api) -> Value {
    let mut operation = api.operation("", "get APIResources", "get available resources", "");
    operation.remove("x-kubernetes-action");
    operation.remove("x-kubernetes-group-version-kind");
    let list = schemas::reference(&format!("{META}.APIResourceList"));
    with(operation, &[], None, &["200"], &typed(OBJECTS, &list))
}

fn process(api: &Api, group: Group) -> Value {
    let template = schemas::of(group, "Template");
    let queries = [WRITE, PROCESS].concat();
    let operation = api.operation(
        "post",
        "create NamespacedProcessedTemplate",
        "process a Template",
        "Template",
    );
    let post = with(
        operation,
        &queries,
        Some(body(OBJECTS, &template, true)),
        &["201"],
        &typed(OBJECTS, &template),
    );
    json!({"post": post, "parameters": shared(&["namespace"])})
}

fn collection(api: &Api, group: Group, kind: Kind) -> Value {
    let kind = kind.name();
    let template = schemas::of(group, kind);
    let list = schemas::of(group, &format!("{kind}List"));
    let options = schemas::reference(&format!("{META}.DeleteOptions"));
    let operation = |action: &str, name: &str, text: &str| {
        let name = format!("{name}{kind}");
        api.operation(action, &name, &format!("{text} {kind}"), kind)
    };
    let get = operation("list", "list Namespaced", "list or watch objects of kind");
    let post = operation("post", "create Namespaced", "create a");
    let delete =
        operation("deletecollection", "delete CollectionNamespaced", "delete collection of");
    json!({
        "get": with(get, LIST, None, &["200"], &typed(LISTS, &list)),
        "post": with(
            post,
            WRITE,
            Some(body(OBJECTS, &template, true)),
            &["201"],
            &typed(OBJECTS, &template),
        ),
        "delete": with(
            delete,
            DELETE_ALL,
            Some(body(OBJECTS, &options, false)),
            &["200"],
            &typed(OBJECTS, &list),
        ),
        "parameters": shared(&["namespace"]),
    })
}

fn object(api: &Api, group: Group, kind: Kind) -> Value {
    let kind = kind.name();
    let template = schemas::of(group, kind);
    let patch = schemas::reference(&format!("{META}.Patch"));
    let options = schemas::reference(&format!("{META}.DeleteOptions"));
    let patches = patches(group);
    let answer = typed(OBJECTS, &template);
    let operation = |action: &str, verb: &str, text: &str| {
        let name = format!("{verb} Namespaced{kind}");
        api.operation(action, &name, &format!("{text} {kind}"), kind)
    };
    let get = operation("get", "read", "read the specified");
    let put = operation("put", "replace", "replace the specified");
    let delete = operation("delete", "delete", "delete a");
    let change = operation("patch", "patch", "partially update the specified");
    json!({
        "get": with(get, &["resourceVersion"], None, &["200"], &answer),
        "put": with(put, WRITE, Some(body(OBJECTS, &template, true)), &["200"], &answer),
        "delete": with(delete, DELETE, Some(body(OBJECTS, &options, false)), &["200"], &answer),
        "patch": with(
            change,
            &[WRITE, &["force"]].concat(),
            Some(body(&patches, &patch, true)),
            &["200", "201"],
            &answer,
        ),
        "parameters": shared(&["name", "namespace"]),
    })
}

fn patches(group: Group) -> Vec<&'static str> {
    let mut patches = vec![
        "application/apply-patch+yaml",
        "application/json-patch+json",
        "application/merge-patch+json",
    ];
    if group == Group::OpenShift {
        patches.push("application/strategic-merge-patch+json");
    }
    patches
}

/// Returns the operations of the subresource `status` of TemplateInstances.
fn status(api: &Api, group: Group) -> Value {
    let kind = Kind::Instance.name();
    let instance = schemas::of(group, kind);
    let patch = schemas::reference(&format!("{META}.Patch"));
    let answer = typed(OBJECTS, &instance);
    let operation = |action: &str, verb: &str, text: &str| {
        let name = format!("{verb} Namespaced{kind}Status");
        api.operation(action, &name, &format!("{text} status of the specified {kind}"), kind)
    };
    let get = operation("get", "read", "read");
    let put = operation("put", "replace", "replace");
    let change = operation("patch", "patch", "partially update");
    json!({
        "get": with(get, &["resourceVersion"], None, &["200"], &answer),
        "put": with(put, WRITE, Some(body(OBJECTS, &instance, true)), &["200"], &answer),
        "patch": with(
            change,
            &[WRITE, &["force"]].concat(),
            Some(body(&patches(group), &patch, true)),
            &["200", "201"],
            &answer,
        ),
        "parameters": shared(&["name", "namespace"]),
    })
}

fn process_stored(api: &Api, group: Group) -> Value {
    let queries = [WRITE, PROCESS].concat();
    let parameters = body(OBJECTS, &schemas::of(group, "Parameters"), true);
    let operation = api.operation(
        "connect",
        "create NamespacedTemplateProcessed",
        "process a stored Template",
        "Parameters",
    );
    let answer = typed(OBJECTS, &schemas::of(group, "Template"));
    json!({
        "post": with(operation, &queries, Some(parameters), &["201"], &answer),
        "parameters": shared(&["name", "namespace"]),
    })
}

fn schema(api: &Api) -> Value {
    let operation = api.operation(
        "get",
        "read NamespacedTemplateSchema",
        "read the JSON Schema of the values of a Template",
        "Schema",
    );
    let answer = typed(OBJECTS, &json!({"type": "object"}));
    json!({
        "get": with(operation, &[], None, &["200"], &answer),
        "parameters": shared(&["name", "namespace"]),
    })
}

/// Returns the paths of a review group, with their operations.
pub(super) fn of_reviews(group: &'static str) -> Map<String, Value> {
    let api = Api::new(group, "v1");
    let base = format!("/apis/{group}/v1");
    let mut paths = Map::new();
    paths.insert(format!("{base}/"), json!({"get": resources(&api)}));
    let kinds: &[&str] = if group == AUTHENTICATION {
        &["SelfSubjectReview"]
    } else {
        &["SelfSubjectAccessReview", "SelfSubjectRulesReview"]
    };
    for kind in kinds {
        let review = schemas::of_review(group, kind);
        let operation =
            api.operation("post", &format!("create {kind}"), &format!("create a {kind}"), kind);
        let post = with(
            operation,
            WRITE,
            Some(body(OBJECTS, &review, true)),
            &["201"],
            &typed(OBJECTS, &review),
        );
        let path = format!("{base}/{}s", kind.to_lowercase());
        paths.insert(path, json!({"post": post, "parameters": shared(&[])}));
    }
    paths
}
