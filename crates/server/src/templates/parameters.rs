//! The request body `Parameters`: values, labels and a namespace for a stored Template.

use std::collections::BTreeSet;

use krm_template_engine::{Assignment, read_value_list, read_values};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, FieldPath, Scalar};

use krm_template_server_core::{Group, Result, Status};

/// The fields of `Parameters`. `data` is an alias of `values`, as in `ParameterValues`. In
/// `parameters`, the values are a list, as in the proposal.
const FIELDS: [&str; 9] = [
    "apiVersion",
    "kind",
    "metadata",
    "template",
    "values",
    "data",
    "parameters",
    "labels",
    "namespace",
];

/// The content of a `Parameters` object.
pub(super) struct Parameters {
    pub(super) values: Vec<Assignment>,
    pub(super) labels: Vec<(String, String)>,
    pub(super) namespace: Option<String>,
}

/// Reads `Parameters` for the Template named `template`. Errors about fields go to `diagnostics`.
///
/// # Errors
/// 400 if the object has another kind or version.
pub(super) fn read(
    root: Cursor<'_>,
    group: Group,
    template: &str,
    diagnostics: &mut Diagnostics,
) -> Result<Parameters> {
    check_type(root, group)?;
    let mut found = Diagnostics::new();
    if let Some(meant) = root.get("template").filter(|meant| !meant.is_null()) {
        let is_it = meant.text().ok().flatten().is_some_and(|meant| meant == template);
        if !is_it {
            let message = format!("these values are not for the Template `{template}`");
            found.push(Diagnostic::error(message).field("template"));
        }
    }
    check_fields(root, &mut found);
    let field = |key| root.get(key).filter(|values| !values.is_null());
    let mut values = Vec::new();
    for mapping in ["data", "values"].into_iter().filter_map(field) {
        values.extend(read_values(mapping, &mut found));
    }
    if let Some(list) = field("parameters") {
        values.extend(read_value_list(list, &mut found));
    }
    let labels = labels(root, &mut found);
    let namespace = string(root, "namespace", &mut found);
    diagnostics.append(found);
    Ok(Parameters { values, labels, namespace })
}

fn check_type(root: Cursor<'_>, group: Group) -> Result<()> {
    let text = |key: &str| root.text_at([key]).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if !matches!(api_version.as_ref(), "" | "v1") && api_version != group.api_version() {
        return Err(Status::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version ({})",
            group.api_version()
        )));
    }
    if !matches!(kind.as_ref(), "" | "Parameters" | "ParameterValues") {
        return Err(Status::bad_request(format!(
            "{kind} in version {:?} cannot be handled as a Parameters: no kind {kind:?} is registered for version {:?}",
            group.version(),
            group.api_version()
        )));
    }
    Ok(())
}

fn labels(root: Cursor<'_>, found: &mut Diagnostics) -> Vec<(String, String)> {
    let Some(labels) = root.get("labels").filter(|labels| !labels.is_null()) else {
        return Vec::new();
    };
    if !labels.is_mapping() {
        found.push(Diagnostic::error("`labels` must be a mapping").field("labels"));
        return Vec::new();
    }
    let mut read = Vec::new();
    for entry in labels.children() {
        let Some(key) = found.take(entry.key()) else {
            continue;
        };
        match entry.scalar() {
            Ok(Some(Scalar::String(value))) => read.push((key.into_owned(), value.into_owned())),
            _ => found.push(
                Diagnostic::error(format!("label `{key}` must be a string"))
                    .field(format!("labels.{key}"))
                    .hint("put it in quotes"),
            ),
        }
    }
    read
}

fn string(root: Cursor<'_>, key: &str, found: &mut Diagnostics) -> Option<String> {
    let node = root.get(key).filter(|node| !node.is_null())?;
    if let Ok(Some(Scalar::String(text))) = node.scalar() {
        return Some(text.into_owned()).filter(|text| !text.is_empty());
    }
    found.push(Diagnostic::error(format!("`{key}` must be a string")).field(key));
    None
}

/// Reports unknown and repeated fields, which would have no effect.
fn check_fields(root: Cursor<'_>, found: &mut Diagnostics) {
    let mut seen = BTreeSet::new();
    for entry in root.children() {
        let Some(key) = found.take(entry.key()) else {
            continue;
        };
        let error = match FIELDS.iter().find(|field| **field == key) {
            None => {
                let error = Diagnostic::error(format!("unknown field `{key}`"));
                match closest(&key, FIELDS) {
                    Some(field) => error.hint(format!("did you mean `{field}`?")),
                    None => error.hint("values of parameters are under `values`"),
                }
            }
            Some(field) if !seen.insert(*field) => {
                Diagnostic::error(format!("field `{key}` is given twice"))
            }
            Some(_) => continue,
        };
        found.push(error.field(FieldPath::default().key(key).to_string()));
    }
}
