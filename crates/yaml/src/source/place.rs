//! A text with a name, and places in it.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::lines::BYTE_ORDER_MARK;
use crate::source::line_index::{self, LineIndex};
use crate::table::Table;

/// A text that was read, with the name users know it by (a path as they gave it, or `stdin`).
///
/// ```
/// use krm_yaml::source::Source;
///
/// let source = Source::new("deploy/web.yaml", "kind: Pod\n");
/// assert_eq!((source.name(), source.text()), ("deploy/web.yaml", "kind: Pod\n"));
/// ```
#[derive(Debug)]
pub struct Source {
    name: String,
    text: String,
    kind: Kind,
    /// Where places in it come from, by their start and end, if this is known.
    origins: OnceLock<BTreeMap<(usize, usize), Origin>>,
    /// Its lines, once a long line or a message needs them.
    index: OnceLock<LineIndex>,
    /// The table of its nodes, once a fast path has read it.
    table: OnceLock<Table>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    /// A part of another text, or one that is made of parts of others.
    Inline,
    /// The output of a program or function.
    Output,
}

/// The beginning of the names of outputs.
const OUTPUT: &str = "output of ";

/// The bytes of the longest text of which the table is kept.
const MAX_KEPT: usize = 1 << 20;

/// Where a part of a text comes from, if the text combines objects from several files.
#[doc(hidden)]
#[derive(Debug)]
pub struct Origin {
    /// The file, as the user knows it.
    pub file: String,
    /// The field of the object; empty for the object itself.
    pub field: String,
}

impl Source {
    /// Pairs `text` with the name it is reported under.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Self::of_kind(Kind::File, name.into(), text.into())
    }

    /// A text that is a part of another one, or is made of parts of others.
    #[doc(hidden)]
    pub fn inline(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Self::of_kind(Kind::Inline, name.into(), text.into())
    }

    /// The text that a program or function has printed.
    #[doc(hidden)]
    pub fn output_of(maker: impl Display, text: impl Into<String>) -> Arc<Self> {
        Self::of_kind(Kind::Output, format!("{OUTPUT}{maker}"), text.into())
    }

    fn of_kind(kind: Kind, name: String, text: String) -> Arc<Self> {
        let (origins, index) = (OnceLock::new(), OnceLock::new());
        Arc::new(Self { name, text, kind, origins, index, table: OnceLock::new() })
    }

    /// The table of the whole text, if it was [kept](Self::keep).
    pub(crate) fn table(&self) -> Option<&Table> {
        self.table.get()
    }

    /// Keeps a copy of the table of the whole text, if it is not too large.
    pub(crate) fn keep(&self, table: &Table) {
        if self.text.len() <= MAX_KEPT {
            self.table.get_or_init(|| table.clone());
        }
    }

    /// Sets where places in the text come from. Only the first call counts.
    #[doc(hidden)]
    pub fn set_origins(&self, origins: BTreeMap<(usize, usize), Origin>) {
        // Places may have been looked up already. A second reading takes a source of its own.
        let _ = self.origins.set(origins);
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Whether it was [made of others](Self::inline) and not read from a file.
    #[doc(hidden)]
    pub fn is_inline(&self) -> bool {
        self.kind == Kind::Inline
    }

    /// The program or function that has [printed](Self::output_of) it.
    #[doc(hidden)]
    pub fn maker(&self) -> Option<&str> {
        self.name.strip_prefix(OUTPUT).filter(|_| self.kind == Kind::Output)
    }

    /// The name users know the text by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text, from the first byte to the last.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn index(&self) -> &LineIndex {
        let text = self.text.as_bytes();
        self.index.get_or_init(|| LineIndex::new(text))
    }

    /// Line and column of an offset, both counted from 1; the column counts characters.
    fn line_column(&self, offset: usize) -> (usize, usize) {
        self.index().line_column(self.text.as_bytes(), offset)
    }

    /// The start of the line that `offset` is on; after a byte order mark, if there is one.
    pub(crate) fn line_start(&self, offset: usize) -> usize {
        let text = self.text.as_bytes();
        let start = line_index::line_start(text, offset, || self.index());
        let line = text.get(start..offset).unwrap_or_default();
        let has_mark = line.starts_with(BYTE_ORDER_MARK.as_bytes());
        start + if has_mark { BYTE_ORDER_MARK.len() } else { 0 }
    }

    /// The end of the line that `at` is on, before its line break.
    pub(crate) fn line_end(&self, at: usize) -> usize {
        line_index::line_end(self.text.as_bytes(), at, || self.index())
    }
}

/// A byte range of a [`Source`].
///
/// ```
/// use krm_yaml::source::{Place, Source};
///
/// let source = Source::new("web.yaml", "kind: Pod\nname: é1\n");
/// let range = 18..19;
/// assert_eq!(&source.text()[range.clone()], "1");
/// let place = Place { source, range };
/// assert_eq!(place.line_column(), (2, 8)); // in characters
/// assert_eq!(place.to_text(), "web.yaml:2:8");
/// ```
#[derive(Clone, Debug)]
pub struct Place {
    /// The text the range lies in.
    pub source: Arc<Source>,
    /// Byte offsets into the text, end exclusive.
    pub range: Range<usize>,
}

impl Place {
    /// The user's file that it comes from, if the text itself is not a file.
    #[doc(hidden)]
    pub fn origin(&self) -> Option<&Origin> {
        self.source.origins.get()?.get(&(self.range.start, self.range.end))
    }

    /// Line and column of the start, both counted from 1; the column counts characters.
    pub fn line_column(&self) -> (usize, usize) {
        self.source.line_column(self.range.start)
    }

    /// Line and column of the end, which is after the last character.
    pub fn end_line_column(&self) -> (usize, usize) {
        let end = self.range.end.max(self.range.start);
        self.source.line_column(end)
    }

    /// The part of its line that a report may show.
    pub(crate) fn shown(&self) -> &str {
        /// The most bytes before and after its beginning.
        const AROUND: usize = 200;
        let (text, at) = (self.source.text(), self.range.start);
        let start = self.source.line_start(at).max(at.saturating_sub(AROUND));
        let end = self.source.line_end(at).min(at.saturating_add(AROUND));
        text.get(text.floor_char_boundary(start)..text.ceil_char_boundary(end)).unwrap_or_default()
    }

    /// The first and the last line that it is on.
    pub(crate) fn lines(&self) -> (usize, usize) {
        (self.line_column().0, self.end_line_column().0)
    }

    /// `name:line:column`, as compilers print it.
    pub fn to_text(&self) -> String {
        let (line, column) = self.line_column();
        format!("{}:{line}:{column}", self.source.name())
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, Source};

    #[test]
    fn columns_count_characters_not_bytes() {
        let source = Source::new("test", "a: b\nä: ö\n");
        let start = source.text().find('ö').unwrap();
        let place = Place { source, range: start..start + 2 };
        assert_eq!(place.to_text(), "test:2:4");
    }
}
