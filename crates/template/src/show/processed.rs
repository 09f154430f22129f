//! The processed Template: the Template with expanded objects and the values of the expansion.
//!
//! The proposal's `/processedtemplates` and OpenShift's server return the same: parameters have
//! their effective values, and the references in `labels` and `message` are replaced.

use std::borrow::Cow;

use crate::declare::model::Template;
use crate::expand::expansion::{Expansion, Options, expand};
use crate::resolve::parameters::Parameters;
use crate::show::output::print_items;
use crate::values::given::Assignment;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Cursor, Position, Value};

/// Expands `template` with the `given` values and returns the text of the processed Template, in
/// YAML with the original layout.
///
/// Later values override earlier ones. All errors and warnings go to `diagnostics`. Do not use the
/// text after an error.
pub fn processed<'d>(
    template: &'d Template,
    given: &[Assignment],
    options: &Options<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let run = |expansion: &Expansion<'_, 'd>, found: &mut Diagnostics| {
        expansion.warn(found);
        let head = head(template, expansion, found);
        (head, print_items(expansion, found))
    };
    let (message, (head, printed)) = expand(template, given, options, diagnostics, run)?;
    let (items, mut complaints) = printed;
    let mut head = head?;
    if let (Some(entry), Some(message)) = (head.get_mut("message"), message) {
        entry.set(Value::string(message).data);
    }
    let document = template.node().document();
    let mut text = complaints.take(krm_yaml::render(document, &head, Position::Document))?;
    complaints.attribute_to(template.reference());
    if !diagnostics.has_errors() {
        diagnostics.append(complaints);
    }
    text.push_str(if items.is_empty() {
        "objects: []"
    } else {
        "objects:"
    });
    text.push_str(document.eol());
    text.push_str(&items);
    Some(text)
}

/// Returns the Template without its objects and the map `values`, which is no longer needed.
fn head<'d>(
    template: &'d Template,
    expansion: &Expansion<'_, 'd>,
    diagnostics: &mut Diagnostics,
) -> Option<Value<'d>> {
    let duplicates = template.dialect.duplicate_keys();
    let mut head = Value::mapping(Vec::new());
    head.origin = Some(template.node().id());
    for entry in template.node().children() {
        let key = diagnostics.take(entry.key())?;
        if matches!(key.as_ref(), "objects" | "values") {
            continue;
        }
        // Its problems were reported when the Template was read.
        let mut value = entry.value(duplicates, &mut Diagnostics::new())?;
        match key.as_ref() {
            "parameters" => set_values(&mut value, template, expansion.parameters),
            "labels" | "objectLabels" => set_labels(&mut value, expansion),
            _ => {}
        }
        head.remove(&key);
        head.insert(key, value);
    }
    if template.labels().is_none() && expansion.labels.is_some() {
        let mut labels = Value::mapping(Vec::new());
        set_labels(&mut labels, expansion);
        head.insert(Cow::Borrowed("labels"), labels);
    }
    Some(head)
}

fn set_values<'d>(list: &mut Value<'d>, template: &Template, values: &Parameters<'d>) {
    for parameter in &template.parameters {
        let Some(entry) = list
            .items_mut()
            .and_then(|items| items.get_mut(parameter.index))
        else {
            continue;
        };
        let Some(effective) = values.get(&parameter.name) else {
            continue;
        };
        let has_default = parameter
            .value()
            .is_some_and(|value| !Cursor::is_null(value));
        if effective.text.is_empty() && !has_default {
            continue;
        }
        let value = match &effective.structured {
            Some(value) => value.clone().without_origin(),
            None => Value::string(effective.text.clone().into_owned()),
        };
        entry.insert(Cow::Borrowed("value"), value);
    }
}

fn set_labels(mapping: &mut Value<'_>, expansion: &Expansion<'_, '_>) {
    let labels = expansion.labels.iter().flat_map(|labels| &labels.all);
    let old = std::mem::replace(mapping, Value::mapping(Vec::new()));
    mapping.origin = old.origin;
    for (key, value) in labels {
        let mut new = Value::string(value.clone());
        new.origin = old.get(key).and_then(|old| old.origin);
        mapping.insert(Cow::Owned(key.clone()), new);
    }
}
