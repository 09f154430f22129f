//! The guard: a new text must read back as the intended value, or it is not written.
//!
//! A difference is an internal error, never silent output. Text is not parsed again where its nodes
//! are known: copied lines keep theirs, of an object of a Template only the changed parts are values
//! (`read/patched`), and new lines are read by themselves (`write/readback`). Debug builds and fuzzing
//! read the whole text too.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::path::{write_index, write_key};
use crate::read::document::Cursor;
use crate::read::values::DuplicateKeys;
use crate::scalar::data::Scalar;
use crate::source::Source;
use crate::value::{Data, Value};

pub(crate) fn wrong(source: &Arc<Source>, what: &str) -> Box<Diagnostic> {
    let head: String = source.text().chars().take(400).collect();
    Diagnostic::error(format!(
        "internal error: the text written for an object does not read back as that object: {what}"
    ))
    .hint("please report this with your input: nothing was written")
    .hint(format!("the text begins:\n{head}"))
    .into()
}

/// Finds the first field in which a text differs from `value` when it is read.
pub(crate) fn difference(read: Cursor<'_>, value: &Value<'_>) -> Option<String> {
    let mut diagnostics = Diagnostics::new();
    let Some(other) = read.value(DuplicateKeys::Refuse, &mut diagnostics) else {
        return diagnostics.iter().next().map(|diagnostic| diagnostic.message.clone());
    };
    first_difference(&other, value, &mut String::new())
}

fn first_difference(read: &Value<'_>, meant: &Value<'_>, path: &mut String) -> Option<String> {
    if read == meant {
        return None;
    }
    match (&read.data, &meant.data) {
        (Data::Mapping(a), Data::Mapping(b)) if a.len() <= b.len() => {
            b.iter().find_map(|(key, meant)| {
                let length = path.len();
                let _ = write_key(path, key, length == 0);
                let found = match read.get(key) {
                    Some(read) => first_difference(read, meant, path),
                    None => Some(format!("`{path}` is missing")),
                };
                path.truncate(length);
                found
            })
        }
        (Data::Sequence(a), Data::Sequence(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(index, (read, meant))| {
                let length = path.len();
                let _ = write_index(path, index);
                let found = first_difference(read, meant, path);
                path.truncate(length);
                found
            })
        }
        (Data::Mapping(a), Data::Mapping(_)) => {
            a.iter().find(|(key, _)| meant.get(key).is_none()).map(|(key, _)| {
                let mut path = path.clone();
                let is_first = path.is_empty();
                let _ = write_key(&mut path, key, is_first);
                format!("unexpected `{path}`")
            })
        }
        _ => {
            Some(format!("`{path}` is {}, expected {}", name_of(&read.data), name_of(&meant.data)))
        }
    }
}

/// The name of a type of data in messages.
pub const fn name_of(data: &Data<'_>) -> &'static str {
    match data {
        Data::Scalar(Scalar::Null) => "null",
        Data::Scalar(Scalar::Bool(_)) => "a bool",
        Data::Scalar(Scalar::Number(_)) => "a number",
        Data::Scalar(Scalar::String(_)) => "a string",
        Data::Sequence(_) => "a list",
        Data::Mapping(_) => "a mapping",
    }
}
