//! Where a block scalar is in a text.

use crate::lines::{is_document_marker, line_end, next_line, skip_blank};

/// Finds the `|` or `>` after anchors and tags.
pub(crate) fn block_header(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = skip_blank(text, from);
    while matches!(bytes.get(at), Some(b'&' | b'!')) {
        while bytes.get(at).is_some_and(|byte| !byte.is_ascii_whitespace()) {
            at += 1;
        }
        at = skip_blank(text, at);
    }
    at
}

/// Where the block scalar that begins at `header` ends: after the line break of its last line.
/// Blank lines at its end belong to it only if it keeps them (`|+`).
pub(crate) fn block_end(text: &str, header: usize, parent: Option<usize>) -> usize {
    let bytes = text.as_bytes();
    let header_end = line_end(text, header);
    let mut indicator = None;
    let mut keep = false;
    let mut indicators_end = header + 1;
    while let Some(&byte) = bytes.get(indicators_end) {
        match byte {
            b'+' => keep = true,
            b'-' => {}
            b'1'..=b'9' => indicator = Some(usize::from(byte - b'0')),
            _ => break,
        }
        indicators_end += 1;
    }
    let least = parent.map_or(0, |column| column + 1);
    let mut indentation = indicator.map(|count| parent.unwrap_or(0) + count);
    let mut at = next_line(text, header_end);
    let mut end = None;
    while at < text.len() {
        let after = next_line(text, at);
        let spaces = bytes
            .get(at..after)
            .unwrap_or_default()
            .iter()
            .take_while(|&&byte| byte == b' ')
            .count();
        let blank = matches!(bytes.get(at + spaces), None | Some(b'\n' | b'\r'));
        let content = match indentation {
            Some(indentation) => spaces >= indentation && (!blank || spaces > indentation),
            None => !blank && spaces >= least,
        };
        if content {
            if at_document_marker(text, at, after) {
                break;
            }
            indentation.get_or_insert(spaces);
            end = Some(after);
        } else if !blank {
            break;
        } else if keep {
            end = Some(after);
        }
        at = after;
    }
    end.unwrap_or(indicators_end)
}

/// Whether the line is `---` or `...`, which ends a scalar even without indentation.
fn at_document_marker(text: &str, start: usize, end: usize) -> bool {
    is_document_marker(text.get(start..end).unwrap_or_default())
}
