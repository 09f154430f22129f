//! [`decode`](crate::scalar::decode) turns the span of each scalar into the value that
//! granit-parser reports.

use std::borrow::Cow;
use std::path::PathBuf;

use granit_parser::{Event, Parser, ScalarStyle, options};

use super::corpus;
use crate::diagnostic::Result;
use crate::limits::MAX_DEPTH;
use crate::read::document::Document;
use crate::scalar::Style;
use crate::source::Source;
use crate::table::{KeyKind, Kind, Node, NodeId, Span};

/// All scalars as the parser reports them, keys and values in order; `None` if it refuses the text,
/// as it does where quoted text is not indented.
fn reported(text: &str) -> Option<Vec<String>> {
    let options = options! {
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
        simple_key_max_lookahead: usize::MAX,
    };
    let mut scalars = Vec::new();
    for event in Parser::new_from_str_with_options(text, options) {
        if let (Event::Scalar(value, style, ..), span) = event.ok()? {
            let absent = style == ScalarStyle::Plain && span.byte_range().unwrap().is_empty();
            scalars.push(if absent { String::new() } else { value.into_owned() });
        }
    }
    Some(scalars)
}

/// The same from the table; `None` where the two differ on purpose.
fn decoded(document: &Document) -> Vec<Option<String>> {
    let mut scalars = Vec::new();
    for (id, node) in document.nodes.iter().enumerate() {
        let cursor = document.cursor(NodeId(u32::try_from(id).unwrap()));
        let mut add = |text: Result<Cow<'_, str>>, span: Span, style: Style| {
            let text = text.map_or_else(|error| error.message.clone(), Into::into);
            let raw = document.slice(span.range());
            scalars.push((!differs_on_purpose(raw, style)).then_some(text));
        };
        if let KeyKind::Scalar(style) = node.key_kind {
            add(cursor.key_text(), node.key, style);
        }
        if let Kind::Scalar(style) = node.kind {
            let text = cursor.decode(cursor.raw(), style, node.value.start);
            add(text, node.value, style);
        }
    }
    scalars
}

/// Texts that we read as go-yaml does, and the parser does not.
fn differs_on_purpose(raw: &str, style: Style) -> bool {
    // YAML 1.1 has more line breaks (b13, c11).
    if raw.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
        return true;
    }
    if !matches!(style, Style::Literal | Style::Folded) {
        return false;
    }
    let mut lines = raw.lines().skip(1);
    let first = lines.find(|line| !line.trim_start_matches(' ').is_empty());
    let first = first.unwrap_or_default();
    // Where the file ends in spaces that a block keeps, they are a line to kubectl (b05).
    (raw.ends_with(' ') && raw.starts_with(['|', '>']) && raw.lines().next().is_some_and(|line| line.contains('+')))
        // Not indented at all (b10): to go-yaml it is not the scalar's text.
        || !(first.is_empty() || first.starts_with(' '))
        // A tab where go-yaml looks for the indentation is an error.
        || first.trim_start_matches(' ').starts_with('\t')
}

#[test]
fn every_scalar_decodes_to_what_the_parser_reports() {
    all_decode(corpus::repository());
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn scalars_of_shared_texts_decode_to_what_the_parser_reports() {
    all_decode(corpus::shared());
}

#[track_caller]
fn all_decode(files: Vec<(PathBuf, String)>) {
    let mut failures = Vec::new();
    for (path, text) in files {
        let item = format!("- - {}", text.replace('\n', "\n    "));
        for text in [text.replace('\n', "\r\n"), item, text] {
            if let Some(difference) = difference(&text) {
                failures.push(format!("{}: {difference}", path.display()));
                break;
            }
        }
    }
    let count = failures.len();
    failures.truncate(20);
    assert!(count == 0, "{count} files differ\n{}", failures.join("\n"));
}

fn difference(text: &str) -> Option<String> {
    let source = Source::new("test", text);
    let document = Document::parse_fully(&source).ok()?;
    let has_complex_key = |node: &Node| node.key_kind == KeyKind::Complex;
    if document.nodes.iter().any(has_complex_key) {
        return None;
    }
    let (reported, decoded) = (reported(text)?, decoded(&document));
    if reported.len() != decoded.len() {
        let (reported, decoded) = (reported.len(), decoded.len());
        return Some(format!("{reported} scalars, not {decoded}\n{text:?}"));
    }
    let mut pairs = reported.iter().zip(&decoded);
    pairs.find_map(|(reported, decoded)| {
        let decoded = decoded.as_ref()?;
        (reported != decoded).then(|| format!("{reported:?} is decoded as {decoded:?}\n{text:?}"))
    })
}
