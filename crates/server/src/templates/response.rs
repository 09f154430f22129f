//! The response to a processing request, in JSON.

use std::borrow::Cow;

use krm_template_engine::{Assignment, Options, Origin, Parameter, Parameters, Template, visit};
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Cursor, DuplicateKeys, Value};

use super::causes::Hidden;
use super::json::{Style, Writer};
use super::openshift_errors;
use super::request::{Output, Request};
use krm_template_server_core::Group;

/// An expansion as parts of a response.
pub(super) struct Expanded {
    /// The objects, separated by commas.
    objects: Writer,
    /// The fields after `objects`, each with a leading comma.
    rest: Writer,
    message: Option<String>,
    /// The index of the first object that is a list, if its items got labels.
    pub(super) labelled_list: Option<usize>,
    /// The generated values, which messages must not show.
    generated: Vec<(String, String)>,
}

impl Expanded {
    /// Returns `true` if the response is longer than `limit`.
    pub(super) fn is_over(&self, limit: usize) -> bool {
        self.objects.is_over()
            || self.rest.is_over()
            || self.objects.text.len() + self.rest.text.len() > limit
    }

    /// Returns the objects as a JSON list.
    pub(super) fn objects(&self) -> String {
        format!("[{}]", self.objects.text)
    }

    /// Returns the generated values, by the names of parameters.
    pub(super) fn generated(&self) -> impl Iterator<Item = (&str, &String)> {
        self.generated.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Adds the generated values to the hidden ones.
    pub(super) fn hide_generated(&self, hidden: &mut Hidden) {
        for (_, text) in &self.generated {
            hidden.add(text);
        }
    }
}

/// Returns the JSON style of a group.
const fn style(group: Group) -> Style {
    Style { is_go: matches!(group, Group::OpenShift) }
}

/// Expands a Template. Returns `None` after an error in `diagnostics`.
pub(super) fn expand(
    request: &Request<'_>,
    template: &Template,
    given: &[Assignment],
    options: &Options<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Expanded> {
    let limit = request.limits.bytes;
    let mut objects = Writer::new(style(request.group), limit);
    let mut rest = Writer::new(style(request.group), limit);
    let (mut is_first, mut list) = (true, None);
    let mut generated = Vec::new();
    let (message, has_labels) = visit(
        template,
        given,
        options,
        diagnostics,
        &mut |object, _| {
            objects.comma(is_first);
            objects.view(object.view);
            is_first = false;
            if list.is_none() && object.field.contains("].items[") {
                list = openshift_errors::index_of(object.field);
            }
        },
        |values, labels| {
            write_parameters(&mut rest, request.group, template, values);
            write_labels(&mut rest, request.group, labels);
            for name in values.names() {
                let value = values.get(name).filter(|value| value.origin == Origin::Generated);
                generated
                    .extend(value.map(|value| (name.to_owned(), value.text.clone().into_owned())));
            }
            !labels.is_empty()
        },
    )?;
    let labelled_list = list.filter(|_| has_labels && request.group == Group::OpenShift);
    Some(Expanded { objects, rest, message, labelled_list, generated })
}

/// Why a response cannot be written.
pub(super) enum Unwritable {
    /// It exceeds the size limit.
    TooLong,
    /// A number in it is not finite.
    NonFinite,
}

/// Returns the complete response. `source_map` is JSON.
pub(super) fn whole(
    request: &Request<'_>,
    root: Cursor<'_>,
    expanded: Expanded,
    source_map: Option<&str>,
) -> Result<String, Unwritable> {
    let Expanded { objects, rest, message, .. } = expanded;
    let mut out = Writer::new(style(request.group), request.limits.bytes);
    out.text.reserve(objects.text.len() + rest.text.len() + 256);
    if request.output == Output::List {
        out.raw(r#"{"kind":"List","apiVersion":"v1","metadata":{},"items":["#);
        out.raw(&objects.text);
        out.raw("]");
    } else {
        out.raw(r#"{"kind":"Template","apiVersion":""#);
        out.raw(request.group.api_version());
        out.raw(r#"","metadata":"#);
        write_metadata(&mut out, root, request.namespace);
        if let Some(message) = message.filter(|message| !message.is_empty()) {
            out.key(false, "message");
            out.string(&message);
        }
        out.key(false, "objects");
        if root.get("objects").is_none_or(Cursor::is_null) {
            out.raw("null");
        } else {
            out.raw("[");
            out.raw(&objects.text);
            out.raw("]");
        }
        out.raw(&rest.text);
        // The engine has checked the objects only.
        if out.has_non_finite() || rest.has_non_finite() {
            return Err(Unwritable::NonFinite);
        }
    }
    if let Some(source_map) = source_map {
        out.key(false, "sourceMap");
        out.raw(source_map);
    }
    out.raw("}\n");
    if out.is_over() {
        return Err(Unwritable::TooLong);
    }
    Ok(out.text)
}

fn write_labels(out: &mut Writer, group: Group, labels: &[(String, String)]) {
    if labels.is_empty() {
        return;
    }
    let mut labels: Vec<&(String, String)> = labels.iter().collect();
    if group == Group::OpenShift {
        labels.sort();
    }
    out.key(false, "labels");
    out.raw("{");
    for (index, (key, value)) in labels.into_iter().enumerate() {
        out.key(index == 0, key);
        out.string(value);
    }
    out.raw("}");
}

fn write_parameters(out: &mut Writer, group: Group, template: &Template, values: &Parameters<'_>) {
    if template.parameters().is_empty() {
        return;
    }
    out.key(false, "parameters");
    out.raw("[");
    for (index, parameter) in template.parameters().iter().enumerate() {
        out.comma(index == 0);
        match group {
            Group::OpenShift => upstream_parameter(out, parameter, values),
            Group::Krm => own_parameter(out, parameter, values),
        }
    }
    out.raw("]");
}

/// Writes a parameter with its fields in the order of OpenShift's API.
fn upstream_parameter(out: &mut Writer, parameter: &Parameter, values: &Parameters<'_>) {
    let own = parameter.default_text().filter(|text| !text.is_empty());
    let effective = || Some(Cow::Borrowed(values.get(&parameter.name)?.text.as_ref()));
    let field = |key: &str| parameter.node().text_at([key]);
    let value = if parameter.expression().is_some() { own.or_else(effective) } else { own };
    out.raw("{");
    out.key(true, "name");
    out.string(&parameter.name);
    let fields = [
        ("displayName", parameter.display_name()),
        ("description", parameter.description()),
        ("value", value),
        ("generate", field("generate")),
        ("from", field("from")),
    ];
    for (key, text) in fields {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            out.key(false, key);
            out.string(&text);
        }
    }
    if parameter.required {
        out.raw(r#","required":true"#);
    }
    out.raw("}");
}

/// Writes a parameter as declared, with its effective value.
fn own_parameter(out: &mut Writer, parameter: &Parameter, values: &Parameters<'_>) {
    let Some(mut value) = value_of(parameter.node()) else {
        return;
    };
    if let Some(effective) = values.get(&parameter.name) {
        let has_default = parameter.default_text().is_some();
        if !effective.text.is_empty() || has_default {
            let new = match &effective.structured {
                Some(structured) => structured.clone(),
                None => Value::string(effective.text.as_ref()),
            };
            value.insert(Cow::Borrowed("value"), new);
        }
    }
    out.value(&value);
}

/// The fields that a processed Template keeps, in the order of Kubernetes.
///
/// Source: `metav1.ObjectMeta` of `k8s.io/apimachinery`.
const FIELDS: [&str; 10] = [
    "name",
    "generateName",
    "namespace",
    "resourceVersion",
    "generation",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
];

/// The system fields that processing removes.
pub(super) const REMOVED: [&str; 5] =
    ["selfLink", "uid", "creationTimestamp", "deletionTimestamp", "managedFields"];

/// Writes the metadata of `template`, with `namespace` as its namespace.
fn write_metadata(out: &mut Writer, template: Cursor<'_>, namespace: &str) {
    let metadata = template.get("metadata");
    out.raw("{");
    let mut is_first = true;
    for name in FIELDS {
        let value = if name == "namespace" {
            Some(Value::from(namespace))
        } else {
            metadata.and_then(|metadata| value_of(metadata.get(name)?))
        };
        if let Some(value) = value.filter(|value| !is_empty(value)) {
            out.key(is_first, name);
            out.value(&value);
            is_first = false;
        }
    }
    out.raw("}");
}

/// Returns the value of a node. The last of duplicate keys wins, as in Go.
fn value_of(node: Cursor<'_>) -> Option<Value<'_>> {
    node.value(DuplicateKeys::LastWins, &mut Diagnostics::new())
}

/// Returns `true` if Go omits the value: it is null, empty or zero.
fn is_empty(value: &Value<'_>) -> bool {
    value.is_null()
        || value.as_str() == Some("")
        || value.items().is_some_and(<[_]>::is_empty)
        || value.entries().is_some_and(<[_]>::is_empty)
        || *value == Value::number("0")
}
