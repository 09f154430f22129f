//! `ValueAddTransformer`: sets fields, or inserts a part into the paths in them.
//!
//! Source: kustomize 5.8, `api/internal/builtins/ValueAddTransformer.go`, `api/filters/valueadd`
//! and `kyaml/filesys/util.go` (`InsertPathPart`).

use serde::Deserialize;

use crate::builtin::patches::{PatchText, select};
use crate::engine::step::{Context, Transform};
use crate::fields::field_spec::with_slashes;
use crate::fields::replacement_path::ReplacementPath;
use crate::fields::selector::Selector;
use crate::names::conflicts;
use crate::resources::resource::Resource;
use krm_core::identity::group;
use krm_core::scalar::text_of;
use krm_core::scope::is_namespaced;
use krm_core::typed;
use krm_yaml::diagnostic::Severity;
use krm_yaml::{Cursor, Data, DuplicateKeys, FieldPath, Scalar, Value, Words, name_of};

const NAMESPACE: &str = "metadata/namespace";

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ValueAddConfig {
    value: String,
    targets: Vec<Target>,
    target_file_path: String,
}

/// The content of `targetFilePath`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TargetFile {
    targets: Vec<Target>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Target {
    selector: Option<Selector>,
    field_path: String,
    /// 0 replaces the value; 1 inserts the text before the first part of the path, and so on.
    file_path_position: usize,
}

impl Transform for ValueAddConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let field = |name: &str| FieldPath::root().key(name);
        let value = self.value.trim();
        if value.is_empty() {
            context
                .diagnostics
                .push(context.transformer.error(&field("value"), "`value` is missing"));
            return;
        }
        let mut targets: Vec<&Target> = self.targets.iter().collect();
        let own = targets.len();
        let path = Some(self.target_file_path.as_str()).filter(|path| !path.is_empty());
        let in_file = path.and_then(|path| read(path, context));
        targets.extend(in_file.iter().flatten());
        if targets.is_empty() && !context.diagnostics.has_errors() {
            let error = context.transformer.error(&FieldPath::root(), "`targets` is missing");
            context.diagnostics.push(error);
        }
        for (index, target) in targets.into_iter().enumerate() {
            let field =
                if index < own { field("targets").index(index) } else { field("targetFilePath") };
            add(value, target, &field, resources, context);
        }
    }
}

/// The targets in a file.
fn read(path: &str, context: &mut Context<'_>) -> Option<Vec<Target>> {
    let field = FieldPath::root().key("targetFilePath");
    let text = PatchText::from_file(path, field, context)?;
    let node = text.documents().next()?;
    let value = node.value_with(DuplicateKeys::Refuse, Words::Texts, context.diagnostics)?;
    let (read, keys) = typed::read_in_any_case::<TargetFile>(&value, false);
    for key in keys {
        let place = node.lookup(&key.written).map(Cursor::key_place);
        let mut warning = text.error(context, place, key.in_words().0);
        warning.severity = Severity::Warning;
        context.diagnostics.push(warning);
    }
    match read {
        Ok(file) => Some(file.targets),
        Err(mismatch) => {
            let path = mismatch.field(&FieldPath::root());
            let (problem, hint) = mismatch.in_words();
            let place = node.lookup(&path).unwrap_or(node).place();
            let error = text.error(context, Some(place), problem);
            context.diagnostics.push(error.maybe_hint(hint));
            None
        }
    }
}

fn add(
    value: &str,
    target: &Target,
    field: &FieldPath,
    resources: &mut [Resource<'_>],
    context: &mut Context<'_>,
) {
    if target.field_path.is_empty() {
        let error = context.transformer.error(field, "the target has no `fieldPath`");
        context.diagnostics.push(error);
        return;
    }
    if let Some(meant) = with_slashes(&target.field_path) {
        let problem = format!("`{}` has dots between its keys", target.field_path);
        let field = field.clone().key("fieldPath");
        let error = context.transformer.error(&field, problem);
        let error = error.hint(format!("write slashes: `{meant}`"));
        context.diagnostics.push(error);
        return;
    }
    let selected = if let Some(selector) = &target.selector {
        select(selector, &field.clone().key("selector"), resources, context)
    } else {
        let all = resources.iter().enumerate();
        let all = all.filter(|(_, resource)| !resource.is_configuration);
        Some(all.map(|(index, _)| index).collect())
    };
    let path = ReplacementPath::parse(&target.field_path, '/');
    // Kustomize sets a namespace as it is.
    let position = match target.field_path.as_str() {
        NAMESPACE => 0,
        _ => target.file_path_position,
    };
    let mut renamed = Vec::new();
    for index in selected.unwrap_or_default() {
        let Some(resource) = resources.get_mut(index) else {
            continue;
        };
        if target.field_path == NAMESPACE && !has_namespace(resource.value()) {
            continue;
        }
        let before = resource.identity();
        let mut set = |found: &mut Value<'_>| {
            if context.budget.take(value.len()) { set(found, value, position) } else { Ok(()) }
        };
        let outcome = match path.visit(resource.value_mut(), true, &mut set) {
            Ok(0) => Err(format!("`{path}` leads nowhere")),
            Ok(_) => Ok(()),
            Err(problem) => Err(format!("`{path}`: {problem}")),
        };
        context.outcome(resource, outcome);
        if resource.identity() != before {
            renamed.push(index);
        }
    }
    conflicts::refuse_renamed(&renamed, resources, context);
}

fn has_namespace(object: &Value<'_>) -> bool {
    let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
    is_namespaced(group(api_version), object.str_at(&["kind"]).unwrap_or_default())
}

fn set(found: &mut Value<'_>, value: &str, position: usize) -> Result<(), String> {
    let old = match &found.data {
        Data::Scalar(Scalar::Null) => "",
        Data::Scalar(_) => text_of(found).unwrap_or_default(),
        _ => {
            return Err(format!("expected a string there, found {}", name_of(&found.data)));
        }
    };
    let new = match position.checked_sub(1) {
        Some(position) => with_part(old, position, value),
        None => value.to_owned(),
    };
    found.data = Value::string(new).data;
    Ok(())
}

/// A path with an additional part. The slash of an absolute path stays in front, and a position
/// that is too high means the end.
fn with_part(path: &str, position: usize, part: &str) -> String {
    let (slash, relative) = match path.strip_prefix('/') {
        Some(relative) => ("/", relative),
        None => ("", path),
    };
    let mut parts: Vec<&str> = relative.split('/').filter(|part| !part.is_empty()).collect();
    parts.insert(position.min(parts.len()), part);
    format!("{slash}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::with_part;

    #[test]
    fn parts_are_inserted_as_upstream() {
        let cases = [
            ("", 0, "x"),
            ("/", 0, "/x"),
            ("pie", 0, "x/pie"),
            ("/pie", 0, "/x/pie"),
            ("raw", 9, "raw/x"),
            ("/raw", 1, "/raw/x"),
            ("a/nice/warm/pie", 3, "a/nice/warm/x/pie"),
            ("/a/nice/warm/pie", 3, "/a/nice/warm/x/pie"),
        ];
        for (path, position, expected) in cases {
            assert_eq!(with_part(path, position, "x"), expected);
        }
    }
}
