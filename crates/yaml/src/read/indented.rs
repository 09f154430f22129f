//! Finds where lines end that are indented deeper than a column, many bytes at a time.

/// The number of bytes compared together, in a few instructions.
const BLOCK: usize = 128;

/// The column from which on lines are compared one by one.
const FAR_RIGHT: usize = 8;

/// Where the first line after `from` begins that has text at or left of `column`. Blank lines and
/// comments have none.
pub(crate) fn indented_end(bytes: &[u8], from: usize, column: usize) -> usize {
    let mut at = from;
    while let Some(block) = bytes.get(at..).filter(|_| column < FAR_RIGHT) {
        let Some(may_end) = may_have_text_up_to(column, block) else {
            break;
        };
        let end = may_end.then(|| first_line(bytes, at..at + BLOCK, column));
        if let Some(end) = end.flatten() {
            return end;
        }
        at += BLOCK;
    }
    first_line(bytes, at..bytes.len(), column).unwrap_or(bytes.len())
}

/// Whether a line that a newline in the first block begins may have text at or left of `column`;
/// `None` near the end of the text.
fn may_have_text_up_to(column: usize, bytes: &[u8]) -> Option<bool> {
    // Texts have no zero bytes, so only spaces together are a space.
    let mut together = [0; BLOCK];
    for shift in 1..=column + 1 {
        let shifted = bytes.get(shift..)?.first_chunk::<BLOCK>()?;
        for (all, byte) in together.iter_mut().zip(shifted) {
            *all |= byte;
        }
    }
    let pairs = bytes.first_chunk::<BLOCK>()?.iter().zip(&together);
    let is_start = |(byte, all): (&u8, &u8)| *byte == b'\n' && *all != b' ';
    Some(pairs.fold(false, |any, pair| any | is_start(pair)))
}

/// The first line that a newline in `range` begins and that has text at or left of `column`.
fn first_line(bytes: &[u8], range: std::ops::Range<usize>, column: usize) -> Option<usize> {
    let newlines = memchr::memchr_iter(b'\n', bytes.get(range.clone())?);
    let mut lines = newlines.map(|newline| range.start + newline + 1);
    lines.find(|&line| has_text_up_to(column, bytes.get(line..).unwrap_or_default()))
}

/// Whether the first line has text at or left of `column`.
fn has_text_up_to(column: usize, bytes: &[u8]) -> bool {
    let first = bytes.iter().take(column + 1).find(|&&byte| byte != b' ');
    !matches!(first, None | Some(b'\n' | b'\r' | b'#'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{has_text_up_to, indented_end};

    /// Where the lines end, found line by line.
    fn expected(text: &str, from: usize, column: usize) -> usize {
        let newlines = text.match_indices('\n').map(|(at, _)| at + 1);
        let mut lines = newlines.filter(|line| *line > from);
        let is_end =
            |line: &usize| has_text_up_to(column, text.get(*line..).unwrap_or_default().as_bytes());
        lines.find(is_end).unwrap_or(text.len())
    }

    proptest! {
        #[test]
        fn blocks_find_what_lines_find(
            lines in prop::collection::vec((0..12usize, "(|#|- |a: b|a  b|[ -~é]{20,140})(|\r)"), 0..40),
            column in 0..10usize,
        ) {
            let lines = lines.iter().map(|(spaces, text)| " ".repeat(*spaces) + text + "\n");
            let text = lines.collect::<String>();
            for from in [0, 1, 7].map(|from| from.min(text.len())) {
                prop_assert_eq!(
                    indented_end(text.as_bytes(), from, column),
                    expected(&text, from, column)
                );
            }
        }
    }
}
