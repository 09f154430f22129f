//! Mappings with the same keys, written as items of a list.

use std::borrow::Cow;

use crate::diagnostic::Result;
use crate::scalar::data::Scalar;
use crate::scalar::{Context, write_scalar};
use crate::value::{Data, Value};
use crate::write::emit::Layout;
use crate::write::readback::{is_clearly, stays_itself};
use crate::write::render::{Position, render_new};

/// Columns before the lines of a block in an item at the left margin.
const BODY: usize = 4;

/// Writes mappings of scalars as items at the left margin, each as [`render_new`] writes it. Each
/// scalar is read back by itself.
#[derive(Debug)]
pub struct Rows<const N: usize> {
    keys: &'static [&'static str; N],
    /// The keys as they are written, with what is before their values.
    heads: Vec<String>,
    /// Whether these need not be read back.
    are_clear: bool,
    text: String,
}

impl<const N: usize> Rows<N> {
    /// For mappings that have some of these keys, in this order.
    #[must_use]
    pub fn new(keys: &'static [&'static str; N]) -> Self {
        let heads = keys.iter().map(|key| {
            let mut head = String::new();
            Layout::default().key(&mut head, key, 0);
            head + " "
        });
        let heads: Vec<String> = heads.collect();
        let mut both = keys.iter().zip(&heads);
        let are_clear = both.all(|(key, head)| {
            let key = Scalar::String(Cow::Borrowed(key));
            head.strip_suffix(": ")
                .is_some_and(|head| is_clearly(head, &key))
        });
        Self {
            keys,
            heads,
            are_clear,
            text: String::new(),
        }
    }

    /// Adds a mapping with a value for each key that it has.
    ///
    /// # Errors
    /// As [`render_new`].
    pub fn push(&mut self, row: &[Option<Scalar<'_>>; N]) -> Result<()> {
        let start = self.text.len();
        let is_read = self.are_clear && self.lines(row);
        if is_read && !cfg!(debug_assertions) {
            return Ok(());
        }
        let lines = self.text.split_off(start);
        let entries = self.keys.iter().zip(row);
        let entries = entries.filter_map(|(key, scalar)| {
            let value = Data::Scalar(scalar.clone()?).into();
            Some((Cow::Borrowed(*key), value))
        });
        let value = Value::mapping(entries.collect());
        let text = render_new(&value, Position::Item { column: 0 })?;
        debug_assert!(!is_read || lines == text, "{lines}\n{text}");
        self.text.push_str(&text);
        Ok(())
    }

    /// Writes the lines of a mapping. Returns whether they read as it.
    fn lines(&mut self, row: &[Option<Scalar<'_>>; N]) -> bool {
        let mut before = "- ";
        for (head, scalar) in self.heads.iter().zip(row) {
            let Some(scalar) = scalar else { continue };
            let text = &mut self.text;
            text.push_str(before);
            text.push_str(head);
            before = "\n  ";
            match scalar {
                Scalar::String(scalar) if stays_itself(scalar) => text.push_str(scalar),
                // Most flags are true.
                Scalar::Bool(true) => text.push_str("true"),
                scalar => {
                    let start = text.len();
                    write_scalar(text, scalar, Context::BlockValue, None, BODY, "\n");
                    let written = text.get(start..);
                    if !written.is_some_and(|written| is_clearly(written, scalar)) {
                        return false;
                    }
                }
            }
        }
        self.text.push('\n');
        before != "- "
    }

    /// The lines of all mappings.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::*;

    use super::Rows;
    use crate::scalar::data::Scalar;

    fn text(text: &str) -> Scalar<'_> {
        Scalar::String(Cow::Borrowed(text))
    }

    #[test]
    fn mappings_are_items_of_a_list() {
        let mut rows = Rows::new(&["name", "value", "required"]);
        rows.push(&[
            Some(text("A")),
            Some(text("a: b")),
            Some(Scalar::Bool(true)),
        ])
        .unwrap();
        rows.push(&[Some(text("B")), None, None]).unwrap();
        rows.push(&[None, Some(text("a\n\nb\n\n")), Some(Scalar::Null)])
            .unwrap();
        rows.push(&[None, None, None]).unwrap();
        let number = Some(Scalar::Number(Cow::Borrowed("1.10")));
        rows.push(&[Some(text("1")), Some(text("")), number])
            .unwrap();
        let expected = "\
- name: A
  value: 'a: b'
  required: true
- name: B
- value: |+
    a

    b

  required: null
- {}
- name: \"1\"
  value: \"\"
  required: 1.10
";
        assert_eq!(rows.as_str(), expected);
    }

    #[test]
    fn keys_are_quoted_as_elsewhere() {
        let mut rows = Rows::new(&["on", "a: b", "c\nd"]);
        rows.push(&[Some(text("A")), Some(text("B")), Some(text("C"))])
            .unwrap();
        assert_eq!(rows.as_str(), "- \"on\": A\n  'a: b': B\n  \"c\\nd\": C\n");
    }

    proptest! {
        /// Debug builds compare what is written with the whole mapping, and read that back.
        #[test]
        fn any_text_can_be_written(texts in prop::array::uniform2("[ -~]{0,3}[a/$0-9#: '\"`.\n\t\u{85}é-]{0,8}")) {
            let mut rows = Rows::new(&["a", "b"]);
            let [first, second] = &texts;
            prop_assert!(rows.push(&[Some(text(first)), Some(text(second))]).is_ok());
        }
    }
}
