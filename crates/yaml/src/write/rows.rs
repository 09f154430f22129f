//! Mappings with the same keys, written as items of a list.

use std::borrow::Cow;

use crate::diagnostic::Result;
use crate::scalar::data::Scalar;
use crate::scalar::{Context, write_scalar};
use crate::value::{Data, Value};
use crate::write::emit::Layout;
use crate::write::readback::{is_clearly, stays_itself};
use crate::write::render::{Position, render_new};

/// The indentation of block scalars in an item at the left margin, in columns.
const BODY: usize = 4;
/// The text before the first key of a mapping; [`LINE`] is before the others.
const DASH: &str = "- ";
const LINE: &str = "\n  ";

/// A scalar of a mapping.
#[derive(Clone, Copy, Debug)]
pub enum Field<'f> {
    /// A string, quoted where necessary.
    Text(&'f str),
    /// A number, as it is spelled.
    Number(&'f str),
    /// A flag that is set.
    True,
}

impl<'f> From<Field<'f>> for Scalar<'f> {
    fn from(field: Field<'f>) -> Self {
        match field {
            Field::Text(text) => Self::String(Cow::Borrowed(text)),
            Field::Number(digits) => Self::Number(Cow::Borrowed(digits)),
            Field::True => Self::Bool(true),
        }
    }
}

/// Writes mappings of scalars as items at the left margin, each as [`render_new`] writes it. Each
/// scalar is read back by itself.
#[derive(Debug)]
pub struct Rows<const N: usize> {
    keys: &'static [&'static str; N],
    /// The keys as written on a line of their own, with the text before their values.
    heads: Vec<String>,
    /// Whether the keys need not be read back.
    are_clear: bool,
    text: String,
}

impl<const N: usize> Rows<N> {
    /// For mappings that have some of these keys, in this order.
    #[must_use]
    pub fn new(keys: &'static [&'static str; N]) -> Self {
        let heads = keys.iter().map(|key| {
            let mut head = LINE.to_owned();
            Layout::default().key(&mut head, key, 0);
            head + " "
        });
        let heads: Vec<String> = heads.collect();
        let mut both = keys.iter().zip(&heads);
        let are_clear = both.all(|(key, head)| {
            let key = Scalar::String(Cow::Borrowed(key));
            let head = head.strip_prefix(LINE).and_then(|head| head.strip_suffix(": "));
            head.is_some_and(|head| is_clearly(head, &key))
        });
        Self { keys, heads, are_clear, text: String::new() }
    }

    /// Adds a mapping with a value for each key that it has.
    ///
    /// # Errors
    /// As [`render_new`].
    pub fn push(&mut self, row: &[Option<Field<'_>>; N]) -> Result<()> {
        let start = self.text.len();
        let is_read = self.are_clear && self.lines(row);
        if is_read && !cfg!(debug_assertions) {
            return Ok(());
        }
        let lines = self.text.split_off(start);
        let entries = self.keys.iter().zip(row);
        let entries = entries.filter_map(|(key, field)| {
            let value = Data::Scalar((*field)?.into()).into();
            Some((Cow::Borrowed(*key), value))
        });
        let value = Value::mapping(entries.collect());
        let text = render_new(&value, Position::Item { column: 0 })?;
        debug_assert!(!is_read || lines == text, "{lines}\n{text}");
        self.text.push_str(&text);
        Ok(())
    }

    /// Writes the lines of a mapping. Returns whether they read back as the mapping.
    fn lines(&mut self, row: &[Option<Field<'_>>; N]) -> bool {
        let start = self.text.len();
        for (head, field) in self.heads.iter().zip(row) {
            let Some(field) = *field else { continue };
            let text = &mut self.text;
            if text.len() == start {
                text.push_str(DASH);
                text.push_str(head.get(LINE.len()..).unwrap_or_default());
            } else {
                text.push_str(head);
            }
            match field {
                Field::Text(field) if stays_itself(field) => text.push_str(field),
                Field::True => text.push_str("true"),
                Field::Text(_) | Field::Number(_) => {
                    let scalar = field.into();
                    let start = text.len();
                    write_scalar(text, &scalar, Context::BlockValue, None, BODY, "\n");
                    let written = text.get(start..);
                    if !written.is_some_and(|written| is_clearly(written, &scalar)) {
                        return false;
                    }
                }
            }
        }
        let has_any = self.text.len() > start;
        self.text.push('\n');
        has_any
    }

    /// The lines of all mappings.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Field::{Number, Text, True};
    use super::Rows;

    #[test]
    fn mappings_are_items_of_a_list() {
        let mut rows = Rows::new(&["name", "value", "required"]);
        rows.push(&[Some(Text("A")), Some(Text("a: b")), Some(True)]).unwrap();
        rows.push(&[Some(Text("B")), None, None]).unwrap();
        rows.push(&[None, Some(Text("a\n\nb\n\n")), Some(True)]).unwrap();
        rows.push(&[None, None, None]).unwrap();
        rows.push(&[Some(Text("1")), Some(Text("")), Some(Number("1.10"))]).unwrap();
        let expected = "\
- name: A
  value: 'a: b'
  required: true
- name: B
- value: |+
    a

    b

  required: true
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
        rows.push(&[Some(Text("A")), Some(Text("B")), Some(Text("C"))]).unwrap();
        assert_eq!(rows.as_str(), "- \"on\": A\n  'a: b': B\n  \"c\\nd\": C\n");
    }

    proptest! {
        /// Debug builds compare what is written with the whole mapping, and read that back.
        #[test]
        fn any_text_can_be_written(texts in prop::array::uniform2("[ -~]{0,3}[a/$0-9#: '\"`.\n\t\u{85}é-]{0,8}")) {
            let mut rows = Rows::new(&["a", "b"]);
            let [first, second] = &texts;
            prop_assert!(rows.push(&[Some(Text(first)), Some(Text(second))]).is_ok());
        }
    }
}
