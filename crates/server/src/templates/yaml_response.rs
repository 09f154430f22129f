//! The response in YAML: the edited request body with its comments, or the converted JSON response.

use krm_template_engine::{Assignment, Format, Options, Template, print, processed};
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Data, Document, DuplicateKeys, Edited, ItemKeys, update_read};

use super::request::{Output, Request};
use super::response::REMOVED;

/// Returns an upper bound of the size of a YAML response with the content of `json`.
///
/// It assumes that each line is indented like the deepest line of the body plus the deepest value.
pub(super) fn size(json: &str, body: &str) -> usize {
    let deepest = body.lines().map(|line| line.len() - line.trim_start_matches(' ').len()).max();
    let (mut lines, mut depth, mut most) = (0_usize, 0_usize, 0_usize);
    let mut bytes = json.bytes();
    let mut in_string = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' => lines += usize::from(bytes.next() == Some(b'n')),
            _ if in_string => {}
            b'{' | b'[' => {
                (depth, lines) = (depth + 1, lines + 1);
                most = most.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => lines += 1,
            _ => {}
        }
    }
    let column = deepest.unwrap_or_default() + 2 * most;
    lines.saturating_mul(column).saturating_add(json.len())
}

/// Returns the response to a YAML body, with its comments. Returns `None` if the text cannot be
/// edited, or after an error in `diagnostics`.
pub(super) fn kept(
    request: &Request<'_>,
    template: &Template,
    given: &[Assignment],
    options: &Options<'_>,
    source_map: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let mut text = if request.output == Output::List {
        let printed = print(template, given, options, Format::List, diagnostics)?;
        printed.pieces.concat()
    } else {
        let text = processed(template, given, options, diagnostics)?;
        with_system_fields(request, &text)?
    };
    if let Some(source_map) = source_map {
        text.push_str("sourceMap: ");
        text.push_str(source_map);
        text.push('\n');
    }
    Some(text)
}

/// Sets the version and namespace of the URL in the text of a processed Template, and removes the
/// fields in [`REMOVED`].
fn with_system_fields(request: &Request<'_>, text: &str) -> Option<String> {
    let document = Document::parse(&Source::new("Template", text)).ok()?;
    let Some(root) = document.roots().next() else {
        return Some(text.to_owned());
    };
    let mut value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new())?;
    for (key, text) in [("apiVersion", request.group.api_version()), ("kind", "Template")] {
        match (value.get(key).is_some(), &mut value.data) {
            (false, Data::Mapping(entries)) => entries.insert(0, (key.into(), text.into())),
            _ => value.insert(key.into(), text.into()),
        }
    }
    let metadata = value.mapping_at("metadata")?;
    metadata.insert("namespace".into(), request.namespace.into());
    for key in REMOVED {
        metadata.remove(key);
    }
    let edits = update_read(root, value, &ItemKeys::NONE).ok()?;
    Some(Edited::new(&document, edits).ok()?.to_string())
}

/// Converts a JSON response to YAML.
pub(super) fn rewritten(json: String) -> String {
    let document = Document::parse(&Source::new("answer", json.as_str()));
    let text = document.ok().and_then(|document| {
        let value =
            document.roots().next()?.value(DuplicateKeys::LastWins, &mut Diagnostics::new());
        Some(krm_yaml::to_string(&value?))
    });
    // JSON is YAML.
    text.unwrap_or(json)
}
