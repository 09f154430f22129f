//! Block scalars, from their header to the line after them.

use crate::read::scan::scanner::Scanner;
use crate::scalar::data::Style;
use crate::table::{Slot, span};

impl Scanner<'_> {
    /// A block scalar after a dash.
    pub(super) fn block_item(&mut self, at: usize) -> Option<usize> {
        let pending = self.pending?;
        let column = self.blocks.last()?.column;
        let between = self.bytes.get(pending.at..at)?;
        if between.contains(&b'\n') {
            return None;
        }
        let slot = self.take_slot()?;
        self.block_scalar(slot, at, column)
    }

    /// The block scalar whose `|` or `>` is at `at`, in an entry or item that begins in `column`.
    pub(super) fn block_scalar(&mut self, slot: Slot, at: usize, column: usize) -> Option<usize> {
        let style = if self.byte(at) == Some(b'|') { Style::Literal } else { Style::Folded };
        let (header, header_end) = self.block_header(at)?;
        let first = self.ends(header_end)?;
        let (end, next) = self.block_lines(first, column, &header)?;
        let end = end.unwrap_or(header_end);
        self.table.scalar(slot, style, span(at, end));
        self.end = end;
        Some(next)
    }

    fn block_header(&self, at: usize) -> Option<(BlockHeader, usize)> {
        let mut header = BlockHeader { keep: false, indentation: None };
        let mut has_chomping = false;
        let mut end = at + 1;
        loop {
            match self.byte(end) {
                Some(sign @ (b'+' | b'-')) if !has_chomping => {
                    has_chomping = true;
                    header.keep = sign == b'+';
                }
                Some(digit @ b'1'..=b'9') if header.indentation.is_none() => {
                    header.indentation = Some(usize::from(digit - b'0'));
                }
                _ => return Some((header, end)),
            }
            end += 1;
        }
    }

    /// Skips a block scalar's lines. Returns the end of its text, if it has any, and the next line.
    fn block_lines(
        &self,
        first: usize,
        column: usize,
        header: &BlockHeader,
    ) -> Option<(Option<usize>, usize)> {
        let mut indentation = header.indentation.map(|count| column + count);
        let mut widest_blank = 0;
        let mut end = None;
        let mut line = first;
        while line < self.bytes.len() {
            let at = self.skip_indentation(line);
            let spaces = at - line;
            let blank = match self.byte(at) {
                None => return None,
                Some(b'\n' | b'\r') => true,
                Some(b'\t') if indentation.is_none_or(|least| spaces < least) => return None,
                Some(_) => false,
            };
            let is_text = match indentation {
                Some(least) if blank => spaces > least,
                Some(least) => spaces >= least,
                None if blank => {
                    widest_blank = widest_blank.max(spaces);
                    false
                }
                None if spaces <= column => false,
                None if spaces < widest_blank => return None,
                None => {
                    indentation = Some(spaces);
                    true
                }
            };
            if !is_text && !blank {
                // A comment between the scalar's indentation and its key's: readers differ.
                if header.indentation.is_some() && spaces > column {
                    return None;
                }
                break;
            }
            line = self.next_line(at);
            if is_text || header.keep {
                end = Some(line);
            }
        }
        Some((end, line))
    }
}

struct BlockHeader {
    keep: bool,
    indentation: Option<usize>,
}
