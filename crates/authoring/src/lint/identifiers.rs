//! Rules about names and labels, which Kubernetes checks letter by letter.

use crate::lint::context::{Context, place};
use crate::lint::fields::follow;
use krm_core::identity::{Typed, group, is_built_in};
use krm_core::names::{
    Form, is_label_key, is_label_text, not_the_key, not_the_name, not_the_value,
};
use krm_core::pods;
use krm_template_engine::{Dialect, Look, Object, Part, Path, parts};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};
use krm_yaml::source::Place;
use krm_yaml::{Cursor, View};

/// The names of objects, and those in pods.
pub(super) fn invalid_name(context: &Context<'_>, object: &Object<'_>, found: &mut Diagnostics) {
    let object = &object.look();
    let head = &Typed::of(object.view);
    each_name(object, head, &mut |name, value, path, what, form| {
        if !form.fits(&context.at_best(name)) {
            found.push(
                not_the_name(name, &what(), form).at(place(object, value)).field(path.to_string()),
            );
        }
    });
}

/// Warns about names in an object that Kubernetes rejects. Does not show a name with a secret in it.
pub fn warn_about_names(
    object: &Look<'_>,
    head: &Typed<'_>,
    dialect: Dialect,
    may_show: &dyn Fn(&str) -> bool,
    found: &mut Diagnostics,
) {
    each_name(object, head, &mut |name, value, path, what, form| {
        // In the proposal's dialect, expanding reports references that are not replaced.
        let refers = || parts(name, dialect).any(|part| !matches!(part, Part::Text(_)));
        // Another warning reports the namespace for all objects.
        let is_written = value.origin().is_some();
        if form.fits(name) || !is_written || (dialect == Dialect::Proposal && refers()) {
            return;
        }
        let diagnostic = if may_show(name) {
            not_the_name(name, &what(), form)
        } else {
            let message = format!("the value is not a valid name for {}", what());
            Diagnostic::error(message).hint(form.rule())
        };
        found.push(Diagnostic {
            severity: Severity::Warning,
            ..diagnostic.rule("invalid-name").at(place(object, value)).field(path.to_string())
        });
    });
}

/// Visits a name: its value, its path, a description of the named thing, and the required form.
type VisitName<'f> = dyn FnMut(&str, View<'_>, &Path<'_>, &dyn Fn() -> String, Form) + 'f;

/// Names in the items of a list: their path, a description of the named thing, and the required form.
type ListNames = &'static [(&'static [&'static str], &'static str, Form)];

/// The lists in the specification of pods in which things have names.
const POD_LISTS: &[(&str, ListNames)] = &[
    ("volumes", &[(&["name"], "a volume", Form::Label)]),
    ("containers", CONTAINERS),
    ("initContainers", CONTAINERS),
];

const CONTAINERS: ListNames = &[
    (&["name"], "a container", Form::Label),
    (&["ports", "name"], "a port of a container", Form::Port),
];

/// Visits the names in an object that are not empty.
fn each_name(object: &Look<'_>, head: &Typed<'_>, visit: &mut VisitName<'_>) {
    let value = object.view;
    let (group, kind) = (group(&head.api_version), head.kind.as_ref());
    let root = Path::Root(object.field);
    let mut each =
        |value: View<'_>, path: &Path<'_>, keys: &[&str], what: &dyn Fn() -> String, form: Form| {
            follow(value, keys, path, &mut |value, path| {
                if let Some(name) = value.as_str().filter(|name| !name.is_empty()) {
                    visit(&name, value, path, what, form);
                }
            });
        };
    let own = || {
        let is_vowel = kind.starts_with(['A', 'E', 'I', 'O', 'U']);
        format!("{} {kind}", if is_vowel { "an" } else { "a" })
    };
    let form = Form::of_object(group, kind);
    let namespace = || "a namespace".to_owned();
    if let Some(metadata) = head.metadata {
        let path = Path::Key(&root, "metadata");
        each(metadata, &path, &["name"], &own, form);
        each(metadata, &path, &["namespace"], &namespace, Form::Label);
    }
    if !is_built_in(group) {
        return;
    }
    if kind == "Service" {
        let port = || "a port of a Service".to_owned();
        each(value, &root, &["spec", "ports", "name"], &port, Form::Label);
    }
    if let Some(pod) = pods::pod(kind) {
        follow(value, pod, &root, &mut |pod, path| {
            follow(pod, &["spec"], path, &mut |spec, path| {
                for (key, names) in POD_LISTS {
                    let Some(list) = spec.get(key) else { continue };
                    let path = Path::Key(path, key);
                    for (keys, what, form) in *names {
                        each(list, &path, keys, &|| (*what).to_owned(), *form);
                    }
                }
            });
        });
    }
}

/// Labels, selectors and the keys of annotations.
pub(super) fn invalid_label(context: &Context<'_>, object: &Object<'_>, found: &mut Diagnostics) {
    let value = &object.value;
    let kind = value.str_at(&["kind"]).unwrap_or_default();
    let root = Path::Root(&object.field);
    let mut labels = Labels { context, object, found };
    let mut check = |keys: &[&str], has_values: bool| {
        follow(value.into(), keys, &root, &mut |mapping, path| {
            labels.check(mapping, path, has_values);
        });
    };
    check(&["metadata", "labels"], true);
    check(&["metadata", "annotations"], false);
    if !is_built_in(group(value.str_at(&["apiVersion"]).unwrap_or_default())) {
        return;
    }
    check(&["spec", "selector", "matchLabels"], true);
    if matches!(kind, "Service" | "ReplicationController" | "DeploymentConfig") {
        check(&["spec", "selector"], true);
    }
    if let Some(maker) = pods::maker(kind) {
        let mut check = |keys: &[&str], has_values: bool| {
            check(&[maker, &["template"], keys].concat(), has_values);
        };
        check(&["metadata", "labels"], true);
        check(&["metadata", "annotations"], false);
        check(&["spec", "nodeSelector"], true);
    }
}

struct Labels<'l, 'c, 'o> {
    context: &'l Context<'c>,
    object: &'l Object<'o>,
    found: &'l mut Diagnostics,
}

impl Labels<'_, '_, '_> {
    fn check(&mut self, mapping: View<'_>, path: &Path<'_>, has_values: bool) {
        let what = if has_values { "a label" } else { "an annotation" };
        for (key, value) in mapping.entries().into_iter().flatten() {
            let at = Where::of(self, &key, value, mapping, path);
            let best = self.context.at_best(&key);
            // The keys of annotations are compared in lower case.
            if !is_label_key(&best) && (has_values || !is_label_key(&best.to_lowercase())) {
                self.found.push(not_the_key(&key, what).at(at.key).field(&at.field));
            }
            let Some(text) = value.as_str().filter(|text| has_values && !text.is_empty()) else {
                continue;
            };
            if !is_label_text(&self.context.at_best(&text)) {
                self.found.push(not_the_value(&text).at(at.value).field(at.field));
            }
        }
    }
}

/// Where a label is written.
struct Where {
    key: Place,
    value: Place,
    field: String,
}

impl Where {
    fn of(
        labels: &Labels<'_, '_, '_>,
        key: &str,
        value: View<'_>,
        mapping: View<'_>,
        path: &Path<'_>,
    ) -> Self {
        if let Some(node) = value.origin() {
            let node = labels.object.document.cursor(node);
            return Self {
                key: node.key_place(),
                value: node.place(),
                field: Path::Key(path, key).to_string(),
            };
        }
        let own = labels.context.template.label_entries();
        let mut own = own.map(|(entry, _)| entry);
        let is_meant = |entry: &Cursor<'_>| {
            let written = entry.key();
            written.is_ok_and(|written| labels.context.survey.text(&written) == key)
        };
        if let Some(entry) = own.find(is_meant) {
            return Self {
                key: entry.key_place(),
                value: entry.place(),
                field: Path::Key(&Path::Key(&Path::Root(""), "labels"), key).to_string(),
            };
        }
        // It came by an alias.
        let place = place(&labels.object.look(), mapping);
        Self { key: place.clone(), value: place, field: Path::Key(path, key).to_string() }
    }
}
