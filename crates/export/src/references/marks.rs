//! References in the making: marked in a text until the whole object is spelled in a dialect.

use krm_yaml::{Data, Scalar, Value};

/// Begins a reference that inserts text.
const TEXT: &str = "\u{fdd0}";
/// Begins a reference that inserts a number.
const RAW: &str = "\u{fdd1}";
/// Ends a reference. An object with these noncharacters is not exported.
const END: &str = "\u{fdd2}";

/// The byte with which all three begin in UTF-8.
pub(crate) const FIRST_BYTE: u8 = 0xef;

/// A reference in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference<'t> {
    Text(&'t str),
    Raw(&'t str),
}

/// A reference to a parameter that inserts its text.
pub(crate) fn text(name: &str) -> String {
    [TEXT, name, END].concat()
}

/// Adds such a reference to a text.
pub(crate) fn add_text(out: &mut String, name: &str) {
    out.extend([TEXT, name, END]);
}

/// A reference that is a whole number.
pub(crate) fn raw(name: &str) -> String {
    [RAW, name, END].concat()
}

/// Whether a text has marks, or could be mistaken for them.
pub(crate) fn has_any(text: &str) -> bool {
    find(text, &[TEXT, RAW, END]).is_some()
}

/// Whether a key or a string of a part has marks.
pub(crate) fn are_in(part: &Value<'_>) -> bool {
    match &part.data {
        Data::Scalar(Scalar::String(text)) => has_any(text),
        Data::Scalar(_) => false,
        Data::Sequence(items) => items.iter().any(are_in),
        Data::Mapping(entries) => {
            let mut entries = entries.iter();
            entries.any(|(key, value)| has_any(key) || are_in(value))
        }
    }
}

/// Where the first of some marks is.
fn find(text: &str, marks: &[&str]) -> Option<usize> {
    let mut starts = memchr::memchr_iter(FIRST_BYTE, text.as_bytes());
    starts.find(|at| {
        let mark = text.as_bytes().get(*at..at + TEXT.len());
        mark.is_some_and(|mark| marks.iter().any(|one| mark == one.as_bytes()))
    })
}

/// The first reference of a text, with what is before and after it.
pub(crate) fn split(text: &str) -> Option<(&str, Reference<'_>, &str)> {
    let (before, marked) = text.split_at_checked(find(text, &[TEXT, RAW])?)?;
    let (mark, marked) = marked.split_at_checked(TEXT.len())?;
    // Names are short, and ASCII.
    let end = marked.bytes().position(|byte| byte == FIRST_BYTE)?;
    let (name, end) = marked.split_at_checked(end)?;
    let reference = match mark {
        RAW => Reference::Raw(name),
        _ => Reference::Text(name),
    };
    Some((before, reference, end.strip_prefix(END)?))
}

#[cfg(test)]
mod tests {
    use super::{Reference, raw, split, text};

    #[test]
    fn a_text_is_split_at_its_marks() {
        let marked = format!("{}-web.{}", text("NAME"), raw("N"));
        let rest = format!("-web.{}", raw("N"));
        let first = ("", Reference::Text("NAME"), rest.as_str());
        assert_eq!(split(&marked), Some(first));
        assert_eq!(split(&rest), Some(("-web.", Reference::Raw("N"), "")));
        assert_eq!(split("web"), None);
        assert_eq!(split(""), None);
        assert_eq!(split("a\u{fdd0}b"), None);
    }
}
