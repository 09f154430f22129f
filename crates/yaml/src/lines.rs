//! Lines of a text, and what may be between its tokens.

pub(crate) const BYTE_ORDER_MARK: &str = "\u{feff}";

pub(crate) fn byte_at(text: &str, at: usize) -> Option<u8> {
    text.as_bytes().get(at).copied()
}

pub(crate) fn column(text: &str, offset: usize) -> usize {
    offset - line_start(text, offset)
}

/// Where the line begins that `offset` is on; after a byte order mark, if there is one.
pub(crate) fn line_start(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or_default();
    let start = memchr::memrchr2(b'\n', b'\r', before).map_or(0, |newline| newline + 1);
    let has_mark =
        before.get(start..).is_some_and(|line| line.starts_with(BYTE_ORDER_MARK.as_bytes()));
    start + if has_mark { BYTE_ORDER_MARK.len() } else { 0 }
}

/// The end of the line that `at` is on, before its line break.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    if rest.first() == Some(&b'\n') {
        return at;
    }
    memchr::memchr2(b'\n', b'\r', rest).map_or(text.len(), |end| at + end)
}

/// The start of the line after the one that `at` is on.
pub fn next_line(text: &str, at: usize) -> usize {
    after_line_break(text, line_end(text, at))
}

/// After the line break at the end of a line; at the end of the text there is none.
pub(crate) fn after_line_break(text: &str, end: usize) -> usize {
    let rest = text.as_bytes().get(end..).unwrap_or_default();
    match rest {
        [b'\r', b'\n', ..] => end + 2,
        [_, ..] => end + 1,
        [] => end,
    }
}

/// Whether a line ends before `at`.
pub fn ends_line(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    before.ends_with(['\n', '\r'])
}

/// The lines of a text without their line breaks, of which a lone carriage return is one too.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        at = next_line(text, start);
        (at > start).then(|| text.get(start..line_end(text, start)).unwrap_or_default())
    })
}

/// Whether a byte order mark begins a line at `at`.
fn is_mark(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    rest.starts_with(BYTE_ORDER_MARK) && (at == 0 || ends_line(text, at))
}

/// Skips white space, line breaks and comments between tokens.
pub(crate) fn skip_blank(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\r' | b'\n') => at += 1,
            Some(b'#') => at = line_end(text, at),
            Some(0xEF) if is_mark(text, at) => at += BYTE_ORDER_MARK.len(),
            _ => return at,
        }
    }
}

/// Whether a line begins or ends a document.
pub(crate) fn is_document_marker(line: &str) -> bool {
    (line.starts_with("---") || line.starts_with("..."))
        && line.as_bytes().get(3).is_none_or(u8::is_ascii_whitespace)
}

/// Whether a reader reads a line as the start or end of a document: kubectl and kustomize do so
/// with each that begins with `---`.
pub(crate) fn may_end_document(line: &str) -> bool {
    let is_end = line.strip_prefix("...").is_some_and(|rest| {
        let next = rest.chars().next();
        next.is_none_or(|c| c.is_ascii_whitespace() || "\u{85}\u{2028}\u{2029}".contains(c))
    });
    is_end || line.starts_with("---")
}
