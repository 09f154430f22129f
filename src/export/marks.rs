//! References in the making: marked in a text until the whole object is spelled in a dialect.

/// Begins a reference that inserts text.
const TEXT: char = '\u{fdd0}';
/// Begins a reference that inserts a number.
const RAW: char = '\u{fdd1}';
/// Ends a reference. No text that is exported has these noncharacters.
const END: char = '\u{fdd2}';

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
    format!("{TEXT}{name}{END}")
}

/// A reference that is a whole number.
pub(super) fn raw(name: &str) -> String {
    format!("{RAW}{name}{END}")
}

/// Whether a text has marks, or could be mistaken for them.
pub(super) fn has_any(text: &str) -> bool {
    memchr::memchr(FIRST_BYTE, text.as_bytes()).is_some() && text.contains([TEXT, RAW, END])
}

/// Splits a text at its references.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once([TEXT, RAW]) {
        let is_raw = rest
            .get(before.len()..)
            .is_some_and(|at| at.starts_with(RAW));
        let Some((name, after)) = after.split_once(END) else {
            break;
        };
        if !before.is_empty() {
            pieces.push(Piece::Literal(before));
        }
        pieces.push(if is_raw {
            Piece::Raw(name)
        } else {
            Piece::Text(name)
        });
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Literal(rest));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::{Piece, pieces, raw, text};

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
