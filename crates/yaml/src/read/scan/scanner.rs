//! The state of the line scanner, and how it looks at bytes.

use crate::read::characters::Characters;
use crate::scalar::data::Style;
use crate::table::{Slot, Table};
use crate::words;

/// Lists whose items are read one at a time: for each the keys that lead to it from the root of a
/// document, as they are written. Without keys, it is the list of the documents: all after the first
/// are read one at a time, and so are the items of JSON whose only key is `items`.
///
/// ```
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, LongLists};
///
/// const LISTS: LongLists = &[&["items"]];
/// let text = "kind: List\nitems:\n- kind: Pod\n- kind: Service # the shop\n";
/// let document = Document::open(&Source::new("list.yaml", text), LISTS)?;
/// let root = document.roots().next().expect("not empty");
/// let mut kinds = Vec::new();
/// for item in root.get("items").expect("a list").children() {
///     let item = item.open(); // The memory for it is freed with it.
///     kinds.extend(item.cursor().text_at(["kind"]).map(String::from));
/// }
/// assert!(document.upgrade()?.is_none(), "all items could be read by themselves");
/// assert_eq!(kinds, ["Pod", "Service"]);
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
pub type LongLists = &'static [&'static [&'static str]];

/// Whether the documents after the first are read one at a time.
pub(crate) fn defers_documents(lists: LongLists) -> bool {
    lists.iter().any(|path| path.is_empty())
}

/// The most bytes a key may have: readers look for the colon within 1,024 characters.
pub(super) const MAX_KEY: usize = 1_000;

/// More block collections are rarely inside one another.
const USUAL_DEPTH: usize = 16;

pub(super) struct Scanner<'t> {
    pub(super) bytes: &'t [u8],
    pub(super) characters: Characters,
    pub(super) table: Table,
    /// The lists whose items are deferred.
    pub(super) long_lists: LongLists,
    /// The block collections around the current line, outermost first.
    pub(super) blocks: Vec<Block>,
    /// The collections in braces or brackets around the current byte of the line.
    pub(super) braces: Vec<Braces>,
    /// The key, dash or document whose value follows.
    pub(super) pending: Option<Pending>,
    /// Whether the last value is a plain scalar that may go on in the next line.
    pub(super) continues: bool,
    /// The offset after the last value.
    pub(super) end: usize,
    /// How many `---` there were.
    pub(super) documents: usize,
}

/// The tables that a scanner fills, to be used again for the next text.
#[derive(Default)]
pub(crate) struct Memory {
    pub(super) table: Table,
    pub(super) blocks: Vec<Block>,
}

impl Memory {
    /// For a text of `length` bytes.
    pub(super) fn for_length(length: usize) -> Self {
        Self { table: Table::for_length(length), blocks: Vec::with_capacity(USUAL_DEPTH) }
    }

    pub(super) fn clear(&mut self) {
        self.table.nodes.clear();
        self.table.roots.clear();
        self.blocks.clear();
    }
}

pub(super) struct Block {
    pub(super) node: u32,
    pub(super) column: usize,
    pub(super) mapping: bool,
    /// A list whose items are deferred.
    pub(super) deferred: bool,
}

pub(super) struct Braces {
    pub(super) node: u32,
    pub(super) mapping: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Pending {
    pub(super) slot: Slot,
    /// The place of an absent value.
    pub(super) at: usize,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(
        text: &'t str,
        characters: Characters,
        memory: Memory,
        long_lists: LongLists,
    ) -> Self {
        let Memory { table, blocks } = memory;
        Self {
            bytes: text.as_bytes(),
            characters,
            table,
            long_lists,
            blocks,
            braces: Vec::new(),
            pending: None,
            continues: false,
            end: 0,
            documents: 0,
        }
    }

    pub(super) fn into_memory(self) -> Memory {
        Memory { table: self.table, blocks: self.blocks }
    }

    pub(super) fn depth(&self) -> usize {
        self.blocks.len() + self.braces.len()
    }
}

impl Scanner<'_> {
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// As [`skip_spaces`](Self::skip_spaces), for many spaces rather than one.
    pub(super) fn skip_indentation(&self, line: usize) -> usize {
        line + words::after_spaces(self.bytes.get(line..).unwrap_or_default())
    }

    pub(super) fn skip_spaces(&self, from: usize) -> usize {
        let mut at = from;
        while self.byte(at) == Some(b' ') {
            at += 1;
        }
        at
    }

    /// Where the spaces before `end` begin, after the byte at `from`.
    pub(super) fn before_spaces(&self, from: usize, end: usize) -> usize {
        let mut end = end;
        while end > from && self.byte(end - 1) == Some(b' ') {
            end -= 1;
        }
        end
    }

    /// Whether a line ends here: a `\r` is always before a `\n`.
    pub(super) fn is_line_end(&self, at: usize) -> bool {
        matches!(self.byte(at), None | Some(b'\n' | b'\r'))
    }

    pub(super) fn is_blank(&self, at: usize) -> bool {
        matches!(self.byte(at), None | Some(b' ' | b'\t' | b'\n' | b'\r'))
    }

    pub(super) fn is_dash(&self, at: usize) -> bool {
        self.byte(at) == Some(b'-') && self.is_blank(at + 1)
    }

    #[inline]
    pub(super) fn next_line(&self, at: usize) -> usize {
        if self.byte(at) == Some(b'\n') {
            return at + 1;
        }
        self.after_line(at)
    }

    #[inline(never)]
    fn after_line(&self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        memchr::memchr(b'\n', rest).map_or(self.bytes.len(), |newline| at + newline + 1)
    }
}

pub(super) const fn quote_style(quote: u8) -> Style {
    if quote == b'"' { Style::DoubleQuoted } else { Style::SingleQuoted }
}
