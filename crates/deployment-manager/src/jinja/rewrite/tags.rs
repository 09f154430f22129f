//! The tags of a template.

use super::tokens;

/// The inside of a `{{ }}` or `{% %}`.
pub(super) struct Tag {
    pub start: usize,
    pub end: usize,
    pub is_statement: bool,
}

/// The tags of a template outside of comments and `raw` blocks.
pub(super) fn tags(source: &str) -> impl Iterator<Item = Tag> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += memchr::memchr(b'{', source.as_bytes().get(at..)?)?;
            let rest = source.get(at..)?;
            match rest.as_bytes().get(1) {
                Some(b'#') => at += rest.find("#}").map_or(rest.len(), |end| end + 2),
                Some(b'{') => {
                    let tag = tag(source, at + 2, "}}", false);
                    at = tag.end + 2;
                    return Some(tag);
                }
                Some(b'%') => {
                    if let Some(end) = raw_end(rest) {
                        at += end;
                        continue;
                    }
                    let tag = tag(source, at + 2, "%}", true);
                    at = tag.end + 2;
                    return Some(tag);
                }
                _ => at += 1,
            }
        }
    })
}

/// The tag whose inside starts here.
fn tag(source: &str, start: usize, close: &str, is_statement: bool) -> Tag {
    let rest = source.get(start..).unwrap_or_default();
    Tag {
        start,
        end: start + tokens::end_of_tag(rest, close),
        is_statement,
    }
}

/// The length of the `raw` block at the start of this text, if it is one.
fn raw_end(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("{%")?;
    let inside = inside.strip_prefix(['-', '+']).unwrap_or(inside);
    let after = inside.trim_start().strip_prefix("raw")?;
    let after = after.trim_start();
    let after = after.strip_prefix(['-', '+']).unwrap_or(after);
    let mut rest = after.strip_prefix("%}")?;
    while let Some(at) = rest.find("{%") {
        rest = rest.get(at + 2..)?;
        let inside = rest.strip_prefix(['-', '+']).unwrap_or(rest);
        let Some(end) = inside.trim_start().strip_prefix("endraw") else {
            continue;
        };
        let end = end.trim_start();
        let end = end.strip_prefix(['-', '+']).unwrap_or(end);
        if let Some(end) = end.strip_prefix("%}") {
            return Some(text.len() - end.len());
        }
    }
    Some(text.len())
}
