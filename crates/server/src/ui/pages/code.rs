//! YAML as HTML: each line is a block, and each part has a class.

use std::fmt::Write as _;

use krm_template_authoring::form::escape;

use crate::templates::Span;

/// Renders the text of an object. The `id` of each line begins with `o`, the number and `-l`.
pub(crate) fn object(number: usize, pieces: &[Span]) -> String {
    lines(&format!("o{number}-l"), pieces)
}

/// Renders the text of a Template. The `id` of each line begins with `t-l`.
pub(crate) fn text(pieces: &[Span]) -> String {
    lines("t-l", pieces)
}

fn lines(id: &str, pieces: &[Span]) -> String {
    let mut out = String::new();
    let mut number = 0;
    let mut is_open = false;
    for piece in pieces {
        for part in piece.text.split_inclusive('\n') {
            if !is_open {
                number += 1;
                // Writing to a string cannot fail.
                let _ = write!(out, "<span class=\"line\" id=\"{id}{number}\">");
                is_open = true;
            }
            let text = part.trim_end_matches('\n');
            span(piece, text, &mut out);
            if part.len() > text.len() {
                out.push_str("\n</span>");
                is_open = false;
            }
        }
    }
    if is_open {
        out.push_str("\n</span>");
    }
    out
}

fn span(piece: &Span, text: &str, out: &mut String) {
    let class = piece.class.name();
    if class.is_empty() || text.trim().is_empty() {
        escape(text, out);
        return;
    }
    // The indentation of a continuation line is not part of the value.
    let start = text.len() - text.trim_start_matches(' ').len();
    let (indentation, text) = text.split_at_checked(start).unwrap_or(("", text));
    out.push_str(indentation);
    let from = piece.from.as_ref();
    let is_from = from.is_some_and(|from| !from.parameters.is_empty());
    let element = if is_from { "a" } else { "span" };
    let value = if piece.class.is_value() { "value " } else { "" };
    let mark = if is_from { " from" } else { "" };
    let _ = write!(out, "<{element} class=\"{value}{class}{mark}\"");
    if let Some(from) = from {
        if let Some(first) = from.parameters.first() {
            out.push_str(" href=\"#field-");
            escape(&krm_template_authoring::form::id(first), out);
            out.push_str("\" data-parameters=\"");
            escape(&from.parameters.join(" "), out);
            out.push('"');
        }
        if from.line > 0 {
            let _ = write!(out, " data-line=\"{}\"", from.line);
        }
        out.push_str(" title=\"");
        escape(&from.words, out);
        out.push('"');
    }
    out.push('>');
    escape(text, out);
    let _ = write!(out, "</{element}>");
}
