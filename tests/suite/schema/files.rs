//! The schemas of our kinds, in every form that their users read.
//!
//! | file | for |
//! |---|---|
//! | `KIND.schema.json` | editors: JSON Schema 2020-12 |
//! | `KIND.crd.yaml` | Kubernetes, and tools that take schemas from CRDs |
//! | `KIND.function.yaml` | catalogs of functions: a `KRMFunctionDefinition` |
//! | `openapi.json` | kustomize's `openapi: {path: …}`: lists that patches merge by name |
//!
//! All are made from the types in [`kinds`] and stand in `functionconfig/`.

use krm_template::composition;
use krm_template::template::OWN_GROUP;
use krm_template::template::instance::{SHARED_FIELDS, VALUE_OBJECTS};
use krm_template::template::{PARAMETER_FIELDS, TEMPLATE_FIELDS};
use libtest_mimic::Failed;
use serde_json::{Map, Value, json};

use crate::schema::kind::{Column, Function, Kind, VERSION};
use crate::schema::{kinds, kustomization, kustomize, structural};

/// A file to be written to `functionconfig/`.
#[derive(Debug)]
pub(super) struct File {
    /// Its name, without a folder.
    pub(super) name: String,
    /// Its whole text: JSON or YAML.
    pub(super) text: String,
}

const TEMPLATES: Function = Function {
    tag: "template",
    usage: "docs/template.md",
    examples: &["examples/kustomize/README.md", "examples/kpt-instances/README.md"],
};
const DEPLOYMENTS: Function = Function {
    tag: "deployment-manager",
    usage: "docs/deployment-manager.md",
    examples: &["examples/deployment-manager/README.md"],
};
const EXPORTS: Function =
    Function { tag: "template", usage: "docs/export.md", examples: &["examples/export/README.md"] };
const COMPOSITIONS: Function = Function {
    tag: "composition",
    usage: "docs/composition.md",
    examples: &["examples/composition-function/README.md"],
};

const fn column(name: &'static str, json_path: &'static str, is_wide: bool) -> Column {
    Column { name, json_path, is_wide }
}

const TEMPLATE_COLUMNS: &[Column] = &[
    column("Description", ".metadata.annotations.description", false),
    column("Display Name", r".metadata.annotations.openshift\.io/display-name", true),
    column("Tags", ".metadata.annotations.tags", true),
];
const INSTANCE_COLUMNS: &[Column] = &[
    column("Template", ".spec.templateRef.name", false),
    column("Target Namespace", ".spec.namespace", true),
];

/// Returns the files of all kinds, `openapi.json` for kustomize, and the schema of its own file.
pub(super) fn files() -> Vec<File> {
    let kinds = [
        Kind::of::<kinds::Template>(OWN_GROUP, "Template", Some(TEMPLATES))
            .shown("tpl", TEMPLATE_COLUMNS),
        Kind::of::<kinds::TemplateInstance>(OWN_GROUP, "TemplateInstance", Some(TEMPLATES))
            .shown("tpli", INSTANCE_COLUMNS),
        Kind::of::<kinds::TemplateExport>(OWN_GROUP, "TemplateExport", Some(EXPORTS))
            .shown("tplx", &[]),
        Kind::of::<kinds::ParameterValues>(OWN_GROUP, "ParameterValues", None).shown("tplv", &[]),
        Kind::of::<kinds::DeploymentConfiguration>(
            OWN_GROUP,
            "DeploymentConfiguration",
            Some(DEPLOYMENTS),
        )
        .shown("dmc", &[]),
        Kind::of::<kinds::Composition>(composition::GROUP, "Composition", Some(COMPOSITIONS))
            .shown("kcomp", &[]),
    ];
    let mut files = vec![
        json_file("openapi.json", &kustomize::openapi(&kinds)),
        File { name: "kustomization.schema.json".to_owned(), text: kustomization::text() },
    ];
    for kind in kinds {
        let name = kind.name.to_lowercase();
        files.push(json_file(&format!("{name}.schema.json"), kind.json.as_value()));
        if let Some(function) = kind.function {
            files.push(yaml_file(
                &format!("{name}.function.yaml"),
                function_definition(&kind, function),
            ));
        }
        files.push(yaml_file(&format!("{name}.crd.yaml"), crd(kind)));
    }
    files
}

fn crd(kind: Kind) -> Value {
    let mut metadata = Map::from_iter([("name".to_owned(), kind.full_name().into())]);
    if kind.group.ends_with(".k8s.io") {
        // Without it, Kubernetes refuses a kind in one of its own groups.
        let annotations = json!({ "api-approved.kubernetes.io": "unapproved, a proposal" });
        metadata.insert("annotations".to_owned(), annotations);
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": kind.group,
            "names": {
                "kind": kind.name,
                "listKind": format!("{}List", kind.name),
                "plural": kind.plural(),
                "singular": kind.name.to_lowercase(),
                "shortNames": [kind.short_name],
                "categories": ["krm-template"],
            },
            "scope": "Namespaced",
            "versions": [{
                "name": VERSION,
                "served": true,
                "storage": true,
                "additionalPrinterColumns": printer_columns(kind.columns),
                "schema": { "openAPIV3Schema": structural::of_resource(kind.structural) },
            }],
        },
    })
}

/// The columns of a CRD. Kubernetes shows the age only if they include it.
fn printer_columns(columns: &[Column]) -> Value {
    let of = |name, json_path, kind, is_wide| {
        let mut column = json!({ "name": name, "type": kind, "jsonPath": json_path });
        if is_wide && let Some(column) = column.as_object_mut() {
            column.insert("priority".to_owned(), 1.into());
        }
        column
    };
    let columns = columns.iter();
    let own = columns.map(|one| of(one.name, one.json_path, "string", one.is_wide));
    let age = of("Age", ".metadata.creationTimestamp", "date", false);
    own.chain([age]).collect()
}

fn function_definition(kind: &Kind, function: Function) -> Value {
    json!({
        "apiVersion": "config.kubernetes.io/v1alpha1",
        "kind": "KRMFunctionDefinition",
        "metadata": { "name": kind.full_name() },
        "spec": {
            "group": kind.group,
            "names": { "kind": kind.name },
            "description": kind.structural.get("description"),
            "tags": ["generator", "transformer", function.tag],
            "versions": [{
                "name": VERSION,
                "idempotent": true,
                "usage": function.usage,
                "examples": function.examples,
                "license": env!("CARGO_PKG_LICENSE"),
                "runtime": { "container": { "image": "localhost/krm-template:dev" } },
                "schema": { "openAPIV3Schema": kind.structural },
            }],
        },
    })
}

fn json_file(name: &str, value: &Value) -> File {
    File { name: name.to_owned(), text: format!("{value:#}\n") }
}

fn yaml_file(name: &str, value: Value) -> File {
    let text = krm_yaml::to_string(&value.into());
    File {
        name: name.to_owned(),
        text: format!("# Made by tests/suite/schema; a test holds that it is current.\n{text}"),
    }
}

/// Compares the fields of our kinds with those that reading knows.
pub(super) fn have_the_fields_that_are_read() -> Result<(), Failed> {
    let kind = Kind::of::<kinds::Template>(OWN_GROUP, "Template", None);
    check(&kind, "/properties", TEMPLATE_FIELDS)?;
    let parameter = "/properties/parameters/items/properties";
    check(&kind, parameter, &PARAMETER_FIELDS)?;

    let kind = Kind::of::<kinds::Composition>(composition::GROUP, "Composition", None);
    check(&kind, "/properties", composition::FIELDS)?;
    let of = |list| format!("/properties/{list}/items/properties");
    check(&kind, &of("transformersFrom"), composition::IMPORT_FIELDS)?;
    check(&kind, &of("transformerOrder"), composition::ORDER_FIELDS)?;
    check(&kind, "/properties/openapi/properties", composition::OPENAPI_FIELDS)?;

    let kind = Kind::of::<kinds::TemplateInstance>(OWN_GROUP, "TemplateInstance", None);
    let spec = "/properties/spec/properties";
    check(&kind, spec, &[SHARED_FIELDS, &["instances"]].concat())?;
    let instance = format!("{spec}/instances/items/properties");
    check(&kind, &instance, &[&["name"], SHARED_FIELDS].concat())?;
    let objects: Vec<&str> = VALUE_OBJECTS.iter().map(|(key, _)| *key).collect();
    let from = format!("{spec}/parametersFrom/items/properties");
    check(&kind, &from, &objects)
}

/// Compares the fields of the kind at `pointer` with those that reading knows.
fn check(kind: &Kind, pointer: &str, read: &[&str]) -> Result<(), Failed> {
    let properties = kind.structural.pointer(pointer);
    let properties = properties.and_then(|part| part.as_object());
    let fields: Vec<&str> = properties
        .into_iter()
        .flat_map(|properties| properties.keys().map(String::as_str))
        .collect();
    if fields != read {
        return Err(format!("{}{pointer}: {fields:?} instead of {read:?}", kind.name).into());
    }
    Ok(())
}
