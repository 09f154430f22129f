//! Line and column of many places without counting from the top each time.

use std::sync::Arc;

use crate::source::place::{Place, Source};

/// Counts on from the last place in each source.
#[derive(Default)]
pub struct Positions {
    known: Vec<(Arc<Source>, Position)>,
}

#[derive(Clone, Copy)]
struct Position {
    offset: usize,
    line: usize,
    column: usize,
}

const START: Position = Position {
    offset: 0,
    line: 1,
    column: 1,
};

impl Positions {
    /// The line and column of a place, as [`Place::line_column`] counts them.
    pub fn of(&mut self, place: &Place) -> (usize, usize) {
        let known = self
            .known
            .iter_mut()
            .find(|(source, _)| Arc::ptr_eq(source, &place.source));
        let last = known.as_ref().map_or(START, |(_, position)| *position);
        let text = place.source.text().as_bytes();
        let position = last.moved(text, place.range.start.min(text.len()));
        match known {
            Some((_, known)) => *known = position,
            None => self.known.push((Arc::clone(&place.source), position)),
        }
        (position.line, position.column)
    }
}

impl Positions {
    /// Line and column of the end, which is after the last character.
    pub fn of_end(&mut self, place: &Place) -> (usize, usize) {
        let end = place.range.end.max(place.range.start);
        self.of(&Place {
            source: Arc::clone(&place.source),
            range: end..end,
        })
    }
}

impl Position {
    fn moved(self, text: &[u8], offset: usize) -> Self {
        let part = |from, to| text.get(from..to).unwrap_or_default();
        let column = || {
            let before = part(0, offset);
            let line = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
            characters(part(line, offset)) + 1
        };
        let between = part(self.offset.min(offset), self.offset.max(offset));
        let lines = memchr::memchr_iter(b'\n', between).count();
        let is_before = offset < self.offset;
        let (line, column) = match (lines, is_before) {
            (0, true) => (self.line, self.column - characters(between)),
            (0, false) => (self.line, self.column + characters(between)),
            (_, true) => (self.line - lines, column()),
            (_, false) => (self.line + lines, column()),
        };
        Self {
            offset,
            line,
            column,
        }
    }
}

fn characters(bytes: &[u8]) -> usize {
    /// So many are counted in a byte each, which the compiler turns into a few instructions.
    const BLOCK: usize = 128;
    let add = |count: u8, byte: &u8| count.wrapping_add(u8::from(byte & 0xC0 != 0x80));
    let blocks = bytes.chunks(BLOCK);
    blocks
        .map(|block| usize::from(block.iter().fold(0, add)))
        .sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Positions;
    use crate::source::{Place, Source};

    proptest! {
        #[test]
        fn agrees_with_place(text in "[aä\n\r]{0,40}|[aä]{100,200}", starts in prop::collection::vec(0usize..400, 0..12)) {
            let source = Source::new("test", text);
            let mut positions = Positions::default();
            for start in starts {
                let place = Place { source: source.clone(), range: start..start };
                prop_assert_eq!(positions.of(&place), place.line_column());
            }
        }
    }
}
