//! The fast path: reads plain block YAML line by line into the table of nodes.
//!
//! It reads the YAML that people and Kubernetes tools write: block mappings and lists, plain,
//! quoted and block scalars, braces that end on their line, comments, `---` between documents. **On
//! any doubt it gives up**, and the full path reads the text again from its start: anchors, aliases
//! and tags, `?` keys, directives and `...`, tabs outside of quotes, comments and block scalars,
//! braces over several lines, unusual line breaks and characters, a second `: ` on a line, odd
//! indentation, and everything that looks like an error. go-yaml and the full path accept every
//! text that it accepts, and the full path builds the same table.
//!
//! Why lines suffice: inside a block collection at column `c` only a quoted or braced scalar of
//! several lines can put text at a column ≤ `c`, and such ones make it give up.

mod blocks;
mod braces;
mod documents;
mod lines;
mod scalars;
mod scanner;

use std::ops::Range;

use crate::read::characters::{Characters, has_unusual};
pub use crate::read::scan::scanner::LongLists;
use crate::read::scan::scanner::Scanner;
pub(crate) use crate::read::scan::scanner::{Memory, defers_documents};
use crate::table::Table;

/// The table of `text`; `None` if the text needs the full path.
pub(crate) fn scan(text: &str, characters: Characters) -> Option<Table> {
    (!has_unusual(text, characters)).then_some(())?;
    let memory = Memory::for_length(text.len());
    stream(Scanner::new(text, characters, memory, &[]), text_start(text))
}

/// As [`scan`], of [common](Characters::Common) characters. Several texts share the memory, which
/// has the table then.
pub(crate) fn scan_into<'m>(text: &str, memory: &'m mut Memory) -> Option<&'m Table> {
    memory.clear();
    let mut scanner = Scanner::new(text, Characters::Common, std::mem::take(memory), &[]);
    let is_read = scanner.stream(0).is_some();
    *memory = scanner.into_memory();
    is_read.then_some(&memory.table)
}

fn stream(mut scanner: Scanner<'_>, start: usize) -> Option<Table> {
    scanner.stream(start)?;
    Some(scanner.table)
}

/// As [`scan`], but of the items of long lists only the extent is found: each is one node of the
/// kind [`Kind::Deferred`](crate::table::Kind::Deferred). The items must be [scanned](scan_item) too
/// before the text is known to be valid.
pub(crate) fn scan_shallowly(
    text: &str,
    characters: Characters,
    lists: LongLists,
) -> Option<Table> {
    (!has_unusual(text, characters)).then_some(())?;
    let memory = Memory::default();
    stream(Scanner::new(text, characters, memory, lists), text_start(text))
}

/// The table of an item that was deferred, as a list of one, or of a document. The range begins with
/// the line of its dash, or of its first text.
pub(crate) fn scan_item(text: &str, characters: Characters, range: Range<usize>) -> Option<Table> {
    let memory = Memory::for_length(range.len());
    let scanner = Scanner::new(text.get(..range.end)?, characters, memory, &[]);
    stream(scanner, range.start)
}

fn text_start(text: &str) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 }
}

const BYTE_ORDER_MARK: char = '\u{feff}';
