//! A text that is being decoded, and the error of decoding.

use std::borrow::Cow;

/// Why the text of a scalar cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// Where in the token, in bytes.
    pub offset: usize,
    /// The problem: lower case, no final period.
    pub message: String,
}

impl DecodeError {
    pub(super) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into() }
    }
}

/// A text that is being decoded, borrowed from the source as long as it is one slice of it.
pub(super) struct Text<'s> {
    source: &'s str,
    start: usize,
    end: usize,
    owned: Option<String>,
}

impl<'s> Text<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self { source, start: 0, end: 0, owned: None }
    }

    fn borrowed(&self) -> &'s str {
        self.source.get(self.start..self.end).unwrap_or_default()
    }

    fn owned(&mut self) -> &mut String {
        let (borrowed, capacity) = (self.borrowed(), self.source.len());
        self.owned.get_or_insert_with(|| {
            let mut owned = String::with_capacity(capacity);
            owned.push_str(borrowed);
            owned
        })
    }

    /// Adds `slice`, which is at `offset` of the source.
    pub(super) fn copy(&mut self, offset: usize, slice: &str) {
        if slice.is_empty() {
        } else if self.owned.is_some() || (self.start != self.end && self.end != offset) {
            self.owned().push_str(slice);
        } else {
            if self.start == self.end {
                self.start = offset;
            }
            self.end = offset + slice.len();
        }
    }

    /// Adds text that the source spells differently.
    pub(super) fn add(&mut self, text: &str) {
        if !text.is_empty() {
            self.owned().push_str(text);
        }
    }

    pub(super) fn finish(self) -> Cow<'s, str> {
        let borrowed = self.borrowed();
        self.owned.map_or(Cow::Borrowed(borrowed), Cow::Owned)
    }
}
