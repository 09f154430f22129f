//! Rules about the annotations of this program, on Templates, on their objects and on the other
//! kinds that control an expansion.

use crate::lint::context::Context;
use krm_core::identity::reference;
use krm_template_engine::OWN_GROUP;
use krm_yaml::Cursor;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::suggest::closest;

/// The kinds that may be a functionConfig.
const CONFIGS: &[&str] = &[
    "Template",
    "TemplateInstance",
    "Composition",
    "DeploymentConfiguration",
    "ConfigMap",
    "ParameterValues",
];

const FLAG: &[&str] = &["true", "false"];

/// An annotation of this program.
struct Known {
    /// Its name, without the group.
    name: &'static str,
    /// The values that it takes; none if any.
    values: &'static [&'static str],
    /// The kinds that it has an effect on; none for objects that a Template creates.
    kinds: &'static [&'static str],
}

const fn known(
    name: &'static str,
    values: &'static [&'static str],
    kinds: &'static [&'static str],
) -> Known {
    Known {
        name,
        values,
        kinds,
    }
}

/// The annotations that users write.
const KNOWN: &[Known] = &[
    known("adopt", FLAG, &[]),
    known("update", &["merge", "replace"], &[]),
    known("ownership", FLAG, CONFIGS),
    known("dialect", &[], &["Template"]),
    known(
        "disable-rules",
        &[],
        &["Template", "DeploymentConfiguration"],
    ),
    known("keep-namespace", FLAG, &["Template"]),
    known("label-selectors", FLAG, &["Template"]),
    known("seed-secret", &[], &["Template"]),
    known("template", &[], &["ConfigMap", "ParameterValues"]),
];

/// The annotations that the program writes.
const WRITTEN: [&str; 6] = [
    "instance",
    "instance-id",
    "keep",
    "number",
    "origin",
    "owner",
];

/// The annotations of the Template and of its objects.
pub(super) fn own_annotation(context: &Context<'_>, found: &mut Diagnostics) {
    check(context.template.node(), "Template", "", found);
    let objects = context.template.objects();
    for (index, object) in objects.into_iter().flat_map(Cursor::children).enumerate() {
        let opened = object.open();
        let object = opened.cursor();
        let kind = object.text_at(["kind"]).unwrap_or_default();
        check(object, &kind, &format!("objects[{index}]"), found);
    }
}

/// Warns of annotations of this program on another object than a Template.
pub fn warn_about_annotations(root: Cursor<'_>, found: &mut Diagnostics) {
    let mut own = Diagnostics::new();
    let kind = root.text_at(["kind"]).unwrap_or_default();
    check(root, &kind, "", &mut own);
    own.attribute_to_rule("own-annotation");
    own.attribute_to(&reference(root));
    found.append(own);
}

fn check(object: Cursor<'_>, kind: &str, field: &str, found: &mut Diagnostics) {
    let annotations = object.at(["metadata", "annotations"]);
    for entry in annotations.into_iter().flat_map(Cursor::children) {
        let Ok(key) = entry.key() else { continue };
        let name = key
            .strip_prefix(OWN_GROUP)
            .and_then(|rest| rest.strip_prefix('/'));
        let Some(name) = name.filter(|name| !WRITTEN.contains(name)) else {
            continue;
        };
        let value = entry.text().ok().flatten().unwrap_or_default();
        let Some(diagnostic) = problem(&key, name, &value, kind) else {
            continue;
        };
        let dot = if field.is_empty() { "" } else { "." };
        found.push(
            diagnostic
                .at(entry.key_place())
                .field(format!("{field}{dot}metadata.annotations[{key}]")),
        );
    }
}

fn problem(key: &str, name: &str, value: &str, kind: &str) -> Option<Diagnostic> {
    let Some(known) = KNOWN.iter().find(|known| known.name == name) else {
        let unknown = Diagnostic::warning(format!("unknown annotation `{key}`"));
        let near = closest(name, KNOWN.iter().map(|known| known.name));
        return Some(match near {
            Some(near) => unknown.hint(format!("did you mean `{OWN_GROUP}/{near}`?")),
            None => unknown.hint("it has no effect: remove it"),
        });
    };
    if !known.kinds.is_empty() && !known.kinds.contains(&kind) {
        let message = format!("annotation `{key}` has no effect on a {kind}");
        let hint = format!("put it on the {}", known.kinds.join(" or the "));
        return Some(Diagnostic::warning(message).hint(hint));
    }
    let is_allowed =
        known.values.is_empty() || known.values.contains(&value) || value.contains('$');
    if is_allowed {
        return None;
    }
    let values: Vec<String> = known
        .values
        .iter()
        .map(|one| format!("`\"{one}\"`"))
        .collect();
    let near = closest(value, known.values.iter().copied());
    let message = format!("annotation `{key}` must be {}", values.join(" or "));
    let hint = near.map(|near| format!("did you mean `{near}`?"));
    Some(Diagnostic::warning(message).maybe_hint(hint))
}
