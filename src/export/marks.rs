//! References in the making: marked in a text until the whole object is spelled in a dialect.

/// Begins a reference that inserts text.
const TEXT: &str = "\u{fdd0}";
/// Begins a reference that inserts a number.
const RAW: &str = "\u{fdd1}";
/// Ends a reference. No text that is exported has these noncharacters.
const END: &str = "\u{fdd2}";

/// The byte with which all three begin in UTF-8.
pub(super) const FIRST_BYTE: u8 = 0xef;

/// A part of a text with marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    Literal(&'t str),
    Text(&'t str),
    Raw(&'t str),
}

/// A reference to a parameter that inserts its text.
pub(super) fn text(name: &str) -> String {
    marked(TEXT, name)
}

/// A reference that is a whole number.
pub(super) fn raw(name: &str) -> String {
    marked(RAW, name)
}

fn marked(mark: &str, name: &str) -> String {
    [mark, name, END].concat()
}

/// Whether a text has marks, or could be mistaken for them.
pub(super) fn has_any(text: &str) -> bool {
    find(text, &[TEXT, RAW, END]).is_some()
}

/// Where the first of some marks is.
fn find(text: &str, marks: &[&str]) -> Option<usize> {
    let mut starts = memchr::memchr_iter(FIRST_BYTE, text.as_bytes());
    starts.find(|at| {
        let rest = text.get(*at..).unwrap_or_default();
        marks.iter().any(|mark| rest.starts_with(mark))
    })
}

/// The first piece of a text, and the rest.
pub(super) fn split(text: &str) -> Option<(Piece<'_>, &str)> {
    let at = find(text, &[TEXT, RAW]);
    let parts = at.and_then(|at| text.split_at_checked(at));
    let reference = parts.and_then(|(_, marked)| reference(marked));
    match (parts, reference) {
        (Some(("", _)), Some(reference)) => Some(reference),
        (Some((before, marked)), Some(_)) => Some((Piece::Literal(before), marked)),
        _ => (!text.is_empty()).then_some((Piece::Literal(text), "")),
    }
}

/// The reference that a text begins with, and the rest.
fn reference(marked: &str) -> Option<(Piece<'_>, &str)> {
    let at = find(marked, &[END])?;
    let (name, after) = marked.split_at_checked(at)?;
    let piece = match name.strip_prefix(RAW) {
        Some(name) => Piece::Raw(name),
        None => Piece::Text(name.strip_prefix(TEXT).unwrap_or(name)),
    };
    Some((piece, after.strip_prefix(END).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::{Piece, raw, split, text};

    fn pieces(mut text: &str) -> Vec<Piece<'_>> {
        let mut pieces = Vec::new();
        while let Some((piece, rest)) = split(text) {
            pieces.push(piece);
            text = rest;
        }
        pieces
    }

    #[test]
    fn a_text_is_split_at_its_marks() {
        let marked = format!("{}-web.{}", text("NAME"), raw("N"));
        let expected = [
            Piece::Text("NAME"),
            Piece::Literal("-web."),
            Piece::Raw("N"),
        ];
        assert_eq!(pieces(&marked), expected);
        assert_eq!(pieces("web"), [Piece::Literal("web")]);
        assert_eq!(pieces(""), []);
    }
}
