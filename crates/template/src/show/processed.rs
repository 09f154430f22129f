//! The processed Template: the Template with expanded objects and the values of the expansion.
//!
//! The proposal's `/processedtemplates` and OpenShift's server return the same: parameters have
//! their effective values, and the references in `labels` and `message` are replaced.

use std::borrow::Cow;
use std::sync::Arc;

use crate::declare::detect::DIALECT;
use crate::declare::dialect::Dialect;
use crate::declare::model::Template;
use crate::expand::expansion::{Expansion, Options, expand};
use crate::resolve::parameters::Parameters;
use crate::show::output::print_items;
use crate::values::given::Assignment;
use krm_core::identity::group;
use krm_yaml::diagnostic::{Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, Position, SharedNode, Value};

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
    let mut text = complaints.take(whole(template, &head, &items));
    // Without references, a `v1` Template may be read in the other dialect.
    if let Some(first) = &text
        && group(template.api_version()).is_empty()
        && dialect_in(first) != Some(template.dialect)
    {
        set_dialect(&mut head, template.dialect);
        text = complaints.take(whole(template, &head, &items));
    }
    complaints.attribute_to(template.reference());
    if !diagnostics.has_errors() {
        diagnostics.append(complaints);
    }
    text
}

/// The text of a processed Template.
fn whole(template: &Template, head: &Value<'_>, items: &str) -> Result<String> {
    let document = template.node().document();
    let mut text = krm_yaml::render(document, head, Position::Document)?;
    text.push_str(if items.is_empty() { "objects: []" } else { "objects:" });
    text.push_str(document.eol());
    text.push_str(items);
    Ok(text)
}

/// The dialect in which a Template is read.
fn dialect_in(text: &str) -> Option<Dialect> {
    let document = Document::parse(&Source::new("output", text)).ok()?;
    let root = SharedNode::roots(&Arc::new(document)).next()?;
    let template = Template::read(&root, &mut Diagnostics::new())?;
    Some(template.dialect)
}

/// Sets the annotation for the dialect.
fn set_dialect(head: &mut Value<'_>, dialect: Dialect) {
    let metadata = head.mapping_at("metadata");
    if let Some(annotations) = metadata.and_then(|metadata| metadata.mapping_at("annotations")) {
        annotations.insert(Cow::Borrowed(DIALECT), Value::string(dialect.name()));
    }
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
        let Some(entry) = list.items_mut().and_then(|items| items.get_mut(parameter.index)) else {
            continue;
        };
        let Some(effective) = values.get(&parameter.name) else {
            continue;
        };
        let has_default = parameter.value().is_some_and(|value| !Cursor::is_null(value));
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

fn set_labels(field: &mut Value<'_>, expansion: &Expansion<'_, '_>) {
    let Some(labels) = &expansion.labels else {
        return;
    };
    let old = std::mem::replace(field, Value::mapping(Vec::new()));
    if !labels.is_grouped {
        field.origin = old.origin;
        set_pairs(field, &old, labels.all.iter());
        return;
    }
    let groups = labels.groups().into_iter();
    let groups = groups.filter(|(_, labels)| !labels.is_empty());
    let groups = groups.map(|(flag, labels)| {
        let mut pairs = Value::mapping(Vec::new());
        set_pairs(&mut pairs, &old, labels.into_iter());
        let flag = flag.map(|flag| (flag.into(), true.into()));
        let pairs = ("pairs".into(), pairs);
        Value::mapping([Some(pairs), flag].into_iter().flatten().collect())
    });
    *field = Value::sequence(groups.collect());
}

fn set_pairs<'l>(
    mapping: &mut Value<'_>,
    old: &Value<'_>,
    labels: impl Iterator<Item = &'l (String, String)>,
) {
    for (key, value) in labels {
        let mut new = Value::string(value.clone());
        new.origin = old.get(key).and_then(|old| old.origin);
        mapping.insert(Cow::Owned(key.clone()), new);
    }
}
