//! What [`decode`](crate::yaml::scalar::decode) makes of each scalar's span is what granit-parser
//! reports as its value.

use granit_parser::{Event, Parser, ScalarStyle, options};

use super::{corpus, variants};
use crate::source::Source;
use crate::yaml::node::{Document, KeyKind, Kind, NodeId};
use crate::yaml::parse::MAX_DEPTH;
use crate::yaml::scalar::Style;

/// All scalars as the parser reports them, keys and values in order.
fn reported(text: &str) -> Vec<String> {
    let options = options! {
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
        simple_key_max_lookahead: usize::MAX,
    };
    let mut scalars = Vec::new();
    for event in Parser::new_from_str_with_options(text, options) {
        if let Ok((Event::Scalar(value, style, ..), span)) = event {
            let absent = style == ScalarStyle::Plain && span.byte_range().unwrap().is_empty();
            scalars.push(if absent {
                String::new()
            } else {
                value.into_owned()
            });
        }
    }
    scalars
}

/// The same from the table.
fn decoded(document: &Document) -> Vec<String> {
    let mut scalars = Vec::new();
    for (id, node) in document.nodes.iter().enumerate() {
        let cursor = document.cursor(NodeId(u32::try_from(id).unwrap()));
        if matches!(node.key_kind, KeyKind::Scalar(_)) {
            scalars.push(
                cursor
                    .key_text()
                    .map_or_else(|error| error.message.clone(), Into::into),
            );
        }
        if let Kind::Scalar(style) = node.kind {
            let text = cursor.decode(cursor.raw(), style, node.value.start);
            scalars.push(text.map_or_else(|error| error.message.clone(), Into::into));
        }
    }
    scalars
}

/// Where the two may differ, because we read what go-yaml reads.
fn differs_on_purpose(text: &str, document: &Document) -> bool {
    document.nodes.iter().any(|node| {
        if !matches!(node.kind, Kind::Scalar(Style::Literal | Style::Folded)) {
            return false;
        }
        let block = text.get(node.value.range()).unwrap();
        let mut lines = block.lines().skip(1);
        let first = lines.find(|line| !line.trim_start_matches(' ').is_empty());
        let first = first.unwrap_or_default();
        // Without a line break at the end of the file, the text has none either (b03, b05).
        !block.ends_with('\n')
            // Not indented at all (b10): to go-yaml it is not the scalar's text.
            || !(first.is_empty() || first.starts_with(' '))
            // A tab where go-yaml looks for the indentation is an error.
            || first.trim_start_matches(' ').starts_with('\t')
        // YAML 1.1 has more line breaks (b13, c11).
    }) || text.contains(['\u{85}', '\u{2028}', '\u{2029}'])
}

#[test]
fn every_scalar_decodes_to_what_the_parser_reports() {
    let mut failures = Vec::new();
    for (path, text) in corpus::repository().into_iter().chain(corpus::shared()) {
        for text in variants(&text) {
            let source = Source::new("test", text.as_str());
            let Ok(document) = Document::parse_fully(&source) else {
                continue;
            };
            let complex = document
                .nodes
                .iter()
                .any(|node| node.key_kind == KeyKind::Complex);
            if complex || differs_on_purpose(&text, &document) {
                continue;
            }
            let (reported, decoded) = (reported(&text), decoded(&document));
            if reported != decoded {
                let at = reported.iter().zip(&decoded).position(|(a, b)| a != b);
                let at = at.unwrap_or(reported.len().min(decoded.len()));
                failures.push(format!(
                    "{}: {:?} is decoded as {:?}\n{:?}",
                    path.display(),
                    reported.get(at),
                    decoded.get(at),
                    text.chars().take(300).collect::<String>(),
                ));
                break;
            }
        }
    }
    let count = failures.len();
    failures.truncate(20);
    assert!(count == 0, "{count} files differ\n{}", failures.join("\n"));
}
