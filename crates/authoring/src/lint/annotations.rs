//! Rules about the annotations of this program, on Templates, on their objects and on the other
//! kinds that control an expansion.

use std::borrow::Cow;

use crate::lint::context::Context;
use krm_core::identity::reference;
use krm_template_engine::{Look, OWN_GROUP};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, View};

/// The kinds that may be a functionConfig.
const CONFIGS: &[&str] = &[
    "Template",
    "TemplateInstance",
    "Composition",
    "DeploymentConfiguration",
    "ConfigMap",
    "ParameterValues",
];

/// The name of the rule.
const RULE: &str = "own-annotation";

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
    Known { name, values, kinds }
}

/// The annotations that users write.
const KNOWN: &[Known] = &[
    known("adopt", FLAG, &[]),
    known("update", &["merge", "replace"], &[]),
    known("ownership", FLAG, CONFIGS),
    known("dialect", &[], &["Template"]),
    // On an object, the rules about what the API server refuses.
    known("disable-rules", &[], &[]),
    known("check", FLAG, CONFIGS),
    known("keep-namespace", FLAG, &["Template"]),
    known("label-selectors", FLAG, &["Template"]),
    known("seed-secret", &[], &["Template"]),
    known("template", &[], &["ConfigMap", "ParameterValues"]),
];

/// The annotations that the program writes.
const WRITTEN: [&str; 6] = ["instance", "instance-id", "keep", "number", "origin", "owner"];

/// The annotations of the Template.
pub(super) fn own_annotation(context: &Context<'_>, found: &mut Diagnostics) {
    check(context.template.node(), "Template", found);
}

/// Warns of annotations of this program on an object that a Template creates. `metadata` is that of
/// the object.
pub fn warn_about_annotations_of(
    object: &Look<'_>,
    metadata: Option<View<'_>>,
    found: &mut Diagnostics,
) {
    let annotations = metadata.and_then(|metadata| metadata.get("annotations"));
    for (key, value) in annotations.and_then(View::entries).into_iter().flatten() {
        let kind = || object.view.str_at(&["kind"]).unwrap_or_default();
        let text = || value.as_str().unwrap_or_default();
        let Some(diagnostic) = problem(&key, text, kind) else {
            continue;
        };
        // A key with a reference may hold a secret.
        let node = value.origin().map(|node| object.document.cursor(node));
        let is_written = |node: &Cursor<'_>| node.key().is_ok_and(|written| written == key);
        if let Some(node) = node.filter(is_written) {
            let field = format!("{}.metadata.annotations[{key}]", object.field);
            found.push(diagnostic.rule(RULE).at(node.key_place()).field(field));
        }
    }
}

/// Warns of annotations of this program on another object than a Template.
pub fn warn_about_annotations(root: Cursor<'_>, found: &mut Diagnostics) {
    let mut own = Diagnostics::new();
    let kind = root.text_at(["kind"]).unwrap_or_default();
    check(root, &kind, &mut own);
    if own.iter().next().is_none() {
        return;
    }
    own.attribute_to_rule(RULE);
    own.attribute_to(&reference(root));
    found.append(own);
}

fn check(object: Cursor<'_>, kind: &str, found: &mut Diagnostics) {
    let annotations = object.at(["metadata", "annotations"]);
    for entry in annotations.into_iter().flat_map(Cursor::children) {
        let Ok(key) = entry.key() else { continue };
        let value = || entry.text().ok().flatten().unwrap_or_default();
        if let Some(diagnostic) = problem(&key, value, || kind.into()) {
            let field = format!("metadata.annotations[{key}]");
            found.push(diagnostic.at(entry.key_place()).field(field));
        }
    }
}

/// The problem with an annotation that has this value on an object of this kind.
fn problem<'t>(
    key: &str,
    value: impl FnOnce() -> Cow<'t, str>,
    kind: impl FnOnce() -> Cow<'t, str>,
) -> Option<Diagnostic> {
    let name = key.strip_prefix(OWN_GROUP)?.strip_prefix('/')?;
    if WRITTEN.contains(&name) {
        return None;
    }
    let (value, kind) = (value(), kind());
    let Some(known) = KNOWN.iter().find(|known| known.name == name) else {
        let unknown = Diagnostic::warning(format!("unknown annotation `{key}`"));
        let near = closest(name, KNOWN.iter().map(|known| known.name));
        return Some(match near {
            Some(near) => unknown.hint(format!("did you mean `{OWN_GROUP}/{near}`?")),
            None => unknown.hint("it has no effect: remove it"),
        });
    };
    if !known.kinds.is_empty() && !known.kinds.contains(&kind.as_ref()) {
        let message = format!("annotation `{key}` has no effect on a {kind}");
        let hint = format!("put it on the {}", known.kinds.join(" or the "));
        return Some(Diagnostic::warning(message).hint(hint));
    }
    let is_allowed =
        known.values.is_empty() || known.values.contains(&value.as_ref()) || value.contains('$');
    if is_allowed {
        return None;
    }
    let values: Vec<String> = known.values.iter().map(|one| format!("`\"{one}\"`")).collect();
    let near = closest(&value, known.values.iter().copied());
    let message = format!("annotation `{key}` must be {}", values.join(" or "));
    let hint = near.map(|near| format!("did you mean `{near}`?"));
    Some(Diagnostic::warning(message).maybe_hint(hint))
}
