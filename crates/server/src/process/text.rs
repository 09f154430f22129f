//! The response in YAML: the edited request body with its comments, or the converted JSON response.

use krm_template_engine::{Assignment, Format, Options, Template, print, processed};
use krm_yaml::diagnostic::{Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys, Editor, FieldPath, Spot};

use super::metadata::REMOVED;
use super::request::{Output, Request};

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
        with_system_fields(request, &text).ok()?
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
fn with_system_fields(request: &Request<'_>, text: &str) -> Result<String> {
    let document = Document::parse(&Source::new("Template", text))?;
    let Some(root) = document.roots().next() else {
        return Ok(text.to_owned());
    };
    let mut editor = Editor::new(root)?;
    let path = |keys: &[&str]| keys.iter().fold(FieldPath::default(), |path, key| path.key(*key));
    let types = [("kind", "Template"), ("apiVersion", request.group.api_version())];
    for (key, value) in types {
        if editor.value().get(key).is_some() {
            editor.put(&path(&[key]), value)?;
        } else {
            let first = root.children().next().and_then(|entry| entry.key().ok());
            let spot = first.as_deref().map_or(Spot::End, Spot::Before);
            editor.insert(&path(&[key]), value, spot)?;
        }
    }
    editor.put(&path(&["metadata", "namespace"]), request.namespace)?;
    for key in REMOVED {
        if editor.value().at(&["metadata", key]).is_some() {
            editor.remove(&path(&["metadata", key]))?;
        }
    }
    Ok(editor.finish()?.to_string())
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
