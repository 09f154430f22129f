//! The text of the merged Template: that of the first one, edited, with the lists of the others.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::merge::options::Format;
use crate::merge::part::Part;
use crate::merge::splice::{self, Lines};
use crate::merge::values::compared;
use krm_core::item_keys::ITEM_KEYS;
use krm_template_engine::Template;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Data, Document, DuplicateKeys, Edit, Edited, NodeId, SharedNode, Value};

/// The lists whose items come from all Templates.
const LISTS: [&str; 2] = ["parameters", "objects"];

/// Makes strings of what is read by its text in parameters, such as `value: yes`, where this text is
/// not copied.
pub(super) fn keep_texts(parts: &mut [Part<'_>], format: Option<Format>) {
    let Some((first, others)) = parts.split_first_mut() else {
        return;
    };
    let to_json = format == Some(Format::Json);
    let is_flow = first.root.is_flow() && format != Some(Format::Yaml);
    let has_flow = |part: &Part<'_>| part.root.get("parameters").is_some_and(Cursor::is_flow);
    let is_joined = others.iter().any(|part| !part.items("parameters").is_empty());
    if !is_json(first) && (to_json || (is_joined && !is_flow && has_flow(first))) {
        by_text(first);
    }
    for part in others {
        if to_json || is_flow || has_flow(part) {
            by_text(part);
        }
    }
}

fn by_text(part: &mut Part<'_>) {
    let texts: Vec<Value<'static>> = part
        .items("parameters")
        .iter()
        .map(|parameter| {
            let fields = ["name", "value"].map(|key| (key, parameter.get(key)));
            let fields = fields.into_iter().filter(|(_, field)| is_word(*field));
            let fields = fields.map(|(key, field)| (Cow::Borrowed(key), compared(part, field)));
            Value::mapping(fields.collect())
        })
        .collect();
    let parameters = part.items_mut("parameters").into_iter().flatten();
    for (parameter, texts) in parameters.zip(texts) {
        for (key, text) in texts.entries().unwrap_or_default() {
            parameter.insert(key.clone(), text.clone());
        }
    }
}

/// Whether a scalar is neither a string nor null.
fn is_word(value: Option<&Value<'_>>) -> bool {
    value.is_some_and(|value| {
        let is_scalar = matches!(value.data, Data::Scalar(_));
        is_scalar && !value.is_null() && value.as_str().is_none()
    })
}

fn is_json(part: &Part<'_>) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(part.root.document().text()).is_ok()
}

/// Writes the merged Template.
///
/// # Errors
/// If the text does not hold the merged data: a defect of this program.
pub(super) fn text(parts: &[Part<'_>], format: Option<Format>) -> Result<String> {
    let Some((first, others)) = parts.split_first() else {
        return Ok(String::new());
    };
    let whole = whole(first, others);
    let is_alone = others.is_empty();
    match format {
        Some(Format::Json) if !is_json(first) => Ok(krm_yaml::render_json(&whole, Some(2))? + "\n"),
        Some(Format::Yaml) if is_json(first) => {
            let base = with_lists(first, others);
            let base = krm_yaml::to_string(&base.without_origin());
            spliced(with_heads(base, parts)?, others, &whole)
        }
        _ if first.root.is_flow() => updated(first, &whole, is_alone),
        _ => {
            let base = updated(first, &with_lists(first, others), is_alone)?;
            spliced(with_heads(base, parts)?, others, &whole)
        }
    }
}

/// The data of the merged Template.
fn whole<'d>(first: &Part<'d>, others: &[Part<'d>]) -> Value<'d> {
    let mut whole = with_lists(first, others);
    for key in LISTS {
        let items = others.iter().flat_map(|part| part.items(key));
        let items: Vec<Value<'d>> = items.map(|item| item.clone().without_origin()).collect();
        if let (Some(list), false) = (whole.get_mut(key), items.is_empty()) {
            add(list, items);
        }
    }
    whole
}

/// Adds items to a list, which null becomes.
fn add<'d>(list: &mut Value<'d>, items: Vec<Value<'d>>) {
    match list.items_mut() {
        Some(list) => list.extend(items),
        None => list.set(Data::Sequence(items)),
    }
}

/// The data of the first Template, with empty lists where others have items.
fn with_lists<'d>(first: &Part<'d>, others: &[Part<'_>]) -> Value<'d> {
    let mut value = first.value.clone();
    for key in LISTS {
        let is_needed = others.iter().any(|part| !part.items(key).is_empty());
        let is_there = value.get(key).is_some_and(|list| !list.is_null());
        if is_there || !is_needed {
            continue;
        }
        value.remove(key);
        if let Data::Mapping(entries) = &mut value.data {
            // The message of the others may have been added already.
            let place_of = |name| entries.iter().position(|(key, _)| key == name);
            let at = place_of("objects").or_else(|| place_of("message"));
            let at = at.unwrap_or(entries.len());
            entries.insert(at, (Cow::Borrowed(key), Value::sequence(Vec::new())));
        }
    }
    value
}

/// The text of a Template that was read, with this data. Where several are merged, of duplicate keys
/// only those that count are left.
fn updated(part: &Part<'_>, value: &Value<'_>, is_alone: bool) -> Result<String> {
    let document = part.root.document();
    let renamed = Edited::new(document, part.edits.clone())?.to_string();
    // New names change no node, so the data still fits.
    let renamed = Document::parse(&Source::new(part.file(), renamed))?;
    let root = renamed.cursor(part.root.id());
    let edits = if is_alone {
        edits_of_fields(root, value)?
    } else {
        krm_yaml::update_read(root, value.clone(), &ITEM_KEYS)?
    };
    let text = Edited::new(&renamed, edits)?.to_string();
    let index = document.roots().position(|root| root.id() == part.root.id());
    if document.roots().count() < 2 {
        return Ok(text);
    }
    let document = Document::parse(&Source::new(part.file(), text))?;
    let root = index.and_then(|index| document.roots().nth(index));
    let lines = root.map(krm_yaml::lines_of_root).unwrap_or_default();
    Ok(document.slice(lines).to_owned())
}

/// Edits that make a Template hold this data. Fields that hold it already are not compared with their
/// text, in which OpenShift's dialect allows duplicate keys.
fn edits_of_fields(root: Cursor<'_>, value: &Value<'_>) -> Result<Vec<Edit>> {
    let old = root.value(DuplicateKeys::LastWins, &mut Diagnostics::new());
    let entries = |value: &Value<'_>| -> Vec<(String, Option<NodeId>)> {
        let entries = value.entries().unwrap_or_default().iter();
        entries.map(|(key, value)| (key.clone().into_owned(), value.origin)).collect()
    };
    let Some(old) = old.filter(|old| entries(old) == entries(value)) else {
        return krm_yaml::update_read(root, value.clone(), &ITEM_KEYS);
    };
    let mut edits = Vec::new();
    let pairs = old.entries().into_iter().flatten().zip(value.entries().into_iter().flatten());
    for ((_, old), (_, new)) in pairs.filter(|((_, old), (_, new))| old != new) {
        let Some(node) = old.origin else {
            return krm_yaml::update_read(root, value.clone(), &ITEM_KEYS);
        };
        let node = root.document().cursor(node);
        edits.extend(krm_yaml::update_read(node, new.clone(), &ITEM_KEYS)?);
    }
    Ok(edits)
}

/// The text of the first Template with the comments above the others, each paragraph once.
fn with_heads(base: String, parts: &[Part<'_>]) -> Result<String> {
    let document = Document::parse(&Source::new("output", base.as_str()))?;
    let Some(root) = document.roots().next() else {
        return Ok(base);
    };
    let own = krm_yaml::paragraphs_above(root, false);
    let mut seen: BTreeSet<String> = own.iter().cloned().collect();
    let paragraphs = parts.iter().flat_map(|part| krm_yaml::paragraphs_above(part.root, false));
    let new = paragraphs.filter(|paragraph| seen.insert(paragraph.clone()));
    let new: Vec<String> = new.map(|paragraph| paragraph + "\n\n").collect();
    if new.is_empty() {
        return Ok(base);
    }
    let at = document.line_start(root.start());
    let is_apart = krm_yaml::paragraphs_above(root, true).len() == own.len();
    let space = if is_apart { "" } else { "\n" };
    let text = (space.to_owned() + &new.concat()).replace('\n', document.eol());
    Ok(Edited::new(&document, vec![Edit::insert(at, text)])?.to_string())
}

/// The text of the first Template with the lists of the others.
fn spliced(base: String, others: &[Part<'_>], whole: &Value<'_>) -> Result<String> {
    if others.is_empty() {
        return checked(base, whole);
    }
    let texts = others.iter().map(|part| updated(part, &part.value, false));
    let texts = texts.collect::<Result<Vec<String>>>()?;
    let documents = others
        .iter()
        .zip(texts)
        .map(|(part, text)| Document::parse(&Source::new(part.file(), text)));
    let documents = documents.collect::<Result<Vec<Document>>>()?;
    let base = Document::parse(&Source::new("output", base))?;
    let copied = splice::lists(&base, &documents, &LISTS, Lines::Copied)?;
    // Anchors may clash, and texts may depend on their column: then each item is written by itself.
    checked(copied, whole)
        .or_else(|_| checked(splice::lists(&base, &documents, &LISTS, Lines::Rendered)?, whole))
}

/// The text, if it holds this data.
fn checked(text: String, whole: &Value<'_>) -> Result<String> {
    let source = Source::new("output", text);
    let document = Document::parse(&source)?;
    let holds = |root: Cursor<'_>| {
        let duplicates = DuplicateKeys::LastWins;
        root.holds(whole) || root.value(duplicates, &mut Diagnostics::new()).as_ref() == Some(whole)
    };
    if document.roots().count() == 1 && document.roots().all(holds) {
        return Ok(document.text().to_owned());
    }
    Err(Diagnostic::error("internal error: the merged text has other data than the Templates")
        .hint("please report this: nothing was written")
        .into())
}

/// Whether the merged text is a Template of the same dialect: for `apiVersion: v1`, its references
/// decide.
pub(super) fn check_dialect(text: &str, parts: &[Part<'_>], found: &mut Diagnostics) -> bool {
    let Some(first) = parts.first() else {
        return false;
    };
    let Some(document) = found.take(Document::parse(&Source::new("output", text))) else {
        return false;
    };
    let mut again = Diagnostics::new();
    let root = SharedNode::roots(&Arc::new(document)).next();
    let template = root.and_then(|root| Template::read(&root, &mut again));
    found.append(again.errors());
    if let Some(template) = &template
        && template.dialect() != first.template.dialect()
    {
        let message = "references of the merged Template would be read in the other dialect";
        found.push(first.error(message.to_owned(), first.value.get("apiVersion")).hint(
            "set `apiVersion: template.openshift.io/v1` or `template.krm.dev/v1alpha1` in all files",
        ));
        return false;
    }
    template.is_some()
}
