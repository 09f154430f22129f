//! Lines and columns of a text by offset, in time that no long line and no long text changes.

/// The number of bytes that are searched around an offset before the index is asked.
const BLOCK: usize = 1024;

/// The lines at the start of each block of a text.
#[derive(Debug)]
pub(crate) struct LineIndex {
    blocks: Vec<Block>,
}

/// The line that a block begins in. To readers of YAML a lone carriage return is a line break too;
/// in messages, lines are counted as editors do.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// The start of the line.
    start: usize,
    /// The end of the line, before its line break.
    end: usize,
    /// Line and column, both counted from 1, as [`LineIndex::line_column`] gives them.
    line: usize,
    column: usize,
}

const FIRST: Block = Block { start: 0, end: 0, line: 1, column: 1 };

impl LineIndex {
    pub(crate) fn new(text: &[u8]) -> Self {
        let mut blocks = vec![FIRST];
        let (mut last, mut at) = (FIRST, 0);
        for bytes in text.chunks_exact(BLOCK) {
            (last.line, last.column) = last.line_column_after(bytes);
            if let Some(newline) = memchr::memrchr2(b'\n', b'\r', bytes) {
                last.start = at + newline + 1;
            }
            at += BLOCK;
            blocks.push(last);
        }
        let mut end = text.len();
        for block in blocks.iter_mut().rev() {
            let bytes = text.get(at..text.len().min(at + BLOCK)).unwrap_or_default();
            end = memchr::memchr2(b'\n', b'\r', bytes).map_or(end, |newline| at + newline);
            block.end = end;
            at = at.saturating_sub(BLOCK);
        }
        Self { blocks }
    }

    /// The last block that begins at or before `offset`, and the text between.
    fn block<'t>(&self, text: &'t [u8], offset: usize) -> (Block, &'t [u8]) {
        let offset = offset.min(text.len());
        let block = self.blocks.get(offset / BLOCK).copied().unwrap_or(FIRST);
        let start = offset / BLOCK * BLOCK;
        (block, text.get(start..offset).unwrap_or_default())
    }

    /// The line and column of an offset, both counted from 1; the column counts characters.
    pub(crate) fn line_column(&self, text: &[u8], offset: usize) -> (usize, usize) {
        let (block, between) = self.block(text, offset);
        block.line_column_after(between)
    }
}

impl Block {
    /// The line and column after `bytes`, which follow the start of the block.
    fn line_column_after(&self, bytes: &[u8]) -> (usize, usize) {
        let Some(newline) = memchr::memrchr(b'\n', bytes) else {
            return (self.line, self.column + characters(bytes));
        };
        let (lines, rest) = bytes.split_at(newline + 1);
        (self.line + memchr::memchr_iter(b'\n', lines).count(), characters(rest) + 1)
    }
}

/// The start of the line that `offset` is on. The index is asked for only if the line is long.
pub(crate) fn line_start<'i>(
    text: &[u8],
    offset: usize,
    index: impl FnOnce() -> &'i LineIndex,
) -> usize {
    let from = offset.saturating_sub(BLOCK);
    let near = text.get(from..offset).unwrap_or_default();
    match memchr::memrchr2(b'\n', b'\r', near) {
        Some(newline) => from + newline + 1,
        None if from == 0 => 0,
        None => index().block(text, offset).0.start,
    }
}

/// The end of the line that `at` is on, before its line break.
pub(crate) fn line_end<'i>(text: &[u8], at: usize, index: impl FnOnce() -> &'i LineIndex) -> usize {
    if text.get(at) == Some(&b'\n') {
        return at;
    }
    let to = text.len().min(at.saturating_add(BLOCK));
    let near = text.get(at..to).unwrap_or_default();
    match memchr::memchr2(b'\n', b'\r', near) {
        Some(newline) => at + newline,
        None if to == text.len() => to,
        None => index().block(text, to).0.end,
    }
}

fn characters(bytes: &[u8]) -> usize {
    /// So many are counted in a byte each, which the compiler turns into a few instructions.
    const CHUNK: usize = 128;
    if bytes.is_ascii() {
        return bytes.len();
    }
    let add = |count: u8, byte: &u8| count.wrapping_add(u8::from(byte & 0xC0 != 0x80));
    let chunks = bytes.chunks(CHUNK);
    chunks.map(|chunk| usize::from(chunk.iter().fold(0, add))).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BLOCK, LineIndex, line_end, line_start};

    proptest! {
        #[test]
        fn agrees_with_a_search(
            parts in prop::collection::vec(("[aä]{0,3}(\n|\r|\r\n)?", 1usize..1500), 0..4),
            offset in 0usize..6 * BLOCK,
        ) {
            let text: String = parts.iter().map(|(part, count)| part.repeat(*count)).collect();
            let offset = text.floor_char_boundary(offset.min(text.len()));
            let (before, after) = text.split_at(offset);
            let index = LineIndex::new(text.as_bytes());
            let start = before.rfind(['\n', '\r']).map_or(0, |newline| newline + 1);
            prop_assert_eq!(line_start(text.as_bytes(), offset, || &index), start);
            let end = after.find(['\n', '\r']).map_or(text.len(), |end| offset + end);
            prop_assert_eq!(line_end(text.as_bytes(), offset, || &index), end);
            let line = before.rsplit('\n').next().unwrap_or_default();
            let expected = (before.matches('\n').count() + 1, line.chars().count() + 1);
            prop_assert_eq!(index.line_column(text.as_bytes(), offset), expected);
        }
    }
}
