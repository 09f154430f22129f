//! A text with a name, and places in it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A text that was read, with the name users know it by (a path as they gave it, or `stdin`).
#[derive(Debug)]
pub struct Source {
    name: String,
    text: String,
    /// Where places in it come from, by their start and end, if this is known.
    origins: OnceLock<BTreeMap<(usize, usize), Origin>>,
}

/// Where a part of a text comes from, if the text combines objects from several files.
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
        Arc::new(Self {
            name: name.into(),
            text: text.into(),
            origins: OnceLock::new(),
        })
    }

    /// Sets where places in the text come from. Only the first call counts.
    pub fn set_origins(&self, origins: BTreeMap<(usize, usize), Origin>) {
        // Places may have been looked up already. A second reading takes a source of its own.
        let _ = self.origins.set(origins);
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// The name users know the text by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text, from the first byte to the last.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A byte range of a [`Source`].
#[derive(Clone, Debug)]
pub struct Place {
    /// The text the range lies in.
    pub source: Arc<Source>,
    /// Byte offsets into the text, end exclusive.
    pub range: Range<usize>,
}

impl Place {
    /// The user's file that it comes from, if the text itself is not a file.
    #[must_use]
    pub fn origin(&self) -> Option<&Origin> {
        self.source
            .origins
            .get()?
            .get(&(self.range.start, self.range.end))
    }

    /// Line and column of the start, both counted from 1; the column counts characters.
    #[must_use]
    pub fn line_column(&self) -> (usize, usize) {
        let text = self.source.text();
        let start = self.range.start.min(text.len());
        let before = text.as_bytes().get(..start).unwrap_or_default();
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let column = before
            .get(line_start..)
            .unwrap_or_default()
            .iter()
            .filter(|&&byte| byte & 0xC0 != 0x80)
            .count()
            + 1;
        (line, column)
    }

    /// `name:line:column`, as compilers print it.
    #[must_use]
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
        let place = Place {
            source,
            range: start..start + 2,
        };
        assert_eq!(place.to_text(), "test:2:4");
    }
}
