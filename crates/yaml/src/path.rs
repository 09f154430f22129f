//! Field paths: `spec.containers[0].image`, `metadata.annotations[example.com/name]`.
//!
//! A key follows a dot; the index of an item is in brackets. A key that contains a dot, a slash or
//! an opening bracket is in brackets too. A key that would still be unclear (an empty one, or one
//! with `]`, quotes or control characters) is in brackets and JSON quotes: `data["a]b"]`. Digits
//! after a dot are a key; digits in brackets are an index.

use std::fmt;
use std::str::FromStr;

use crate::diagnostic::{Diagnostic, Result};
use crate::source::{Place, Source};
use crate::value::{Data, Value};

/// One step of a [`FieldPath`].
///
/// ```
/// use krm_yaml::{FieldPath, Step};
///
/// let path: FieldPath = "ports[0].name".parse()?;
/// let steps = [Step::Key("ports".to_owned()), Step::Index(0), Step::Key("name".to_owned())];
/// assert_eq!(path.steps(), steps);
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Into the entry of a mapping.
    Key(String),
    /// Into an item of a sequence, counted from 0.
    Index(usize),
}

/// The path from an object to one of its fields.
///
/// ```
/// use krm_yaml::FieldPath;
///
/// let path: FieldPath = "metadata.annotations[example.com/name]".parse()?;
/// assert_eq!(path.steps().len(), 3);
/// assert_eq!(path, FieldPath::root().key("metadata").key("annotations").key("example.com/name"));
/// assert_eq!(FieldPath::root().key("args").index(0).to_string(), "args[0]");
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath {
    steps: Vec<Step>,
}

impl FieldPath {
    /// The empty path: the object itself.
    #[must_use]
    pub const fn root() -> Self {
        Self { steps: Vec::new() }
    }

    /// The field under a key of this one.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.steps.push(Step::Key(key.into()));
        self
    }

    /// An item of this field.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.steps.push(Step::Index(index));
        self
    }

    /// The field that these steps lead to from this one.
    #[must_use]
    pub fn join<'s>(mut self, steps: impl IntoIterator<Item = &'s Step>) -> Self {
        self.steps.extend(steps.into_iter().cloned());
        self
    }

    /// Goes into a part of this field.
    pub fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Goes back to the parent; `None` for the root.
    pub fn pop(&mut self) -> Option<Step> {
        self.steps.pop()
    }

    /// The steps from the top.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The parent, and the step from there; `None` for the root.
    pub fn split_last(&self) -> Option<(Self, &Step)> {
        let (last, steps) = self.steps.split_last()?;
        let parent = Self { steps: steps.to_vec() };
        Some((parent, last))
    }

    /// Whether this is `other` or a field in it.
    pub fn starts_with(&self, other: &Self) -> bool {
        self.steps.starts_with(&other.steps)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().enumerate() {
            match step {
                Step::Key(key) => write_key(f, key, at == 0)?,
                Step::Index(index) => write_index(f, *index)?,
            }
        }
        Ok(())
    }
}

/// Writes the step to a key, as all paths spell it.
///
/// # Errors
/// If `out` cannot be written to.
pub fn write_key(out: &mut impl fmt::Write, key: &str, is_first: bool) -> fmt::Result {
    let is_unclear = |c: char| c == ']' || c == '"' || c.is_control();
    if key.is_empty() || key.contains(is_unclear) {
        write!(out, "[{}]", serde_json::Value::from(key))
    } else if key.contains(['.', '/', '[']) {
        write!(out, "[{key}]")
    } else if is_first {
        out.write_str(key)
    } else {
        write!(out, ".{key}")
    }
}

/// Writes the step to an item, as all paths spell it.
///
/// # Errors
/// If `out` cannot be written to.
pub fn write_index(out: &mut impl fmt::Write, index: usize) -> fmt::Result {
    write!(out, "[{index}]")
}

impl FromStr for FieldPath {
    type Err = Box<Diagnostic>;

    /// Reads a path as it is printed. The empty text is the root.
    ///
    /// ```
    /// use krm_yaml::FieldPath;
    ///
    /// let error = "metadata.annotations.example.com/name".parse::<FieldPath>().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "error: field path:1:33: `metadata.annotations.example.com/name` is not a field path: a key \
    ///      with this character must be in brackets\
    ///      \n  help: as in `metadata.annotations[example.com/name]`"
    /// );
    /// ```
    fn from_str(text: &str) -> Result<Self> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let at = text.len() - rest.len();
            let (step, after) =
                next_step(rest, steps.is_empty()).map_err(|problem| problem.in_path(text, at))?;
            steps.push(step);
            rest = after;
        }
        Ok(Self { steps })
    }
}

/// The problem of a path, and its offset from the start of a step.
struct Problem {
    offset: usize,
    message: &'static str,
    hint: &'static str,
}

impl Problem {
    fn in_path(&self, text: &str, step: usize) -> Box<Diagnostic> {
        let start = (step + self.offset).min(text.len());
        let place = Place {
            source: Source::new("field path", text),
            range: start..text.len().min(start + 1),
        };
        Diagnostic::error(format!("`{text}` is not a field path: {}", self.message))
            .at(place)
            .hint(self.hint)
            .into()
    }
}

/// Splits a path into its first step and the rest.
fn next_step(text: &str, is_first: bool) -> Result<(Step, &str), Problem> {
    if let Some(inside) = text.strip_prefix('[') {
        return bracketed(inside);
    }
    let (key, offset) = match text.strip_prefix('.') {
        Some(_) if is_first => {
            return Err(Problem {
                offset: 0,
                message: "expected a key, found `.`",
                hint: "a path begins with a key: `spec.replicas`, not `.spec.replicas`",
            });
        }
        Some(key) => (key, 1),
        None if is_first => (text, 0),
        None => {
            return Err(Problem {
                offset: 0,
                message: "expected `.` or `[` after `]`",
                hint: "as in `containers[0].image`",
            });
        }
    };
    let length = key.find(['.', '[']).unwrap_or(key.len());
    let (key, rest) = key.split_at_checked(length).unwrap_or((key, ""));
    if key.is_empty() {
        return Err(Problem {
            offset,
            message: "expected a key after `.`",
            hint: "put a key that is empty or contains dots in brackets: `annotations[example.com/name]`",
        });
    }
    let is_out_of_place = |c: char| matches!(c, '/' | ']' | '"') || c.is_control();
    if let Some(at) = key.find(is_out_of_place) {
        return Err(Problem {
            offset: offset + at,
            message: "a key with this character must be in brackets",
            hint: "as in `metadata.annotations[example.com/name]`",
        });
    }
    Ok((Step::Key(key.to_owned()), rest))
}

/// The step whose text begins after `[`.
fn bracketed(inside: &str) -> Result<(Step, &str), Problem> {
    if inside.starts_with('"') {
        return quoted(inside);
    }
    let Some((content, rest)) = inside.split_once(']') else {
        return Err(Problem {
            offset: 0,
            message: "`[` is never closed",
            hint: "put `]` after the index or key",
        });
    };
    if content.is_empty() {
        return Err(Problem {
            offset: 1,
            message: "expected an index or a key between `[` and `]`",
            hint: "an index counts from 0: `containers[0]`",
        });
    }
    if !content.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok((Step::Key(content.to_owned()), rest));
    }
    match content.parse() {
        Ok(index) => Ok((Step::Index(index), rest)),
        Err(_) => Err(Problem {
            offset: 1,
            message: "the index is too large",
            hint: "write a key of digits after a dot: `data.123`",
        }),
    }
}

/// The step whose text begins with the `"` after `[`.
fn quoted(inside: &str) -> Result<(Step, &str), Problem> {
    let mut strings = serde_json::Deserializer::from_str(inside).into_iter::<String>();
    let key = strings.next().and_then(std::result::Result::ok);
    let rest = inside.get(strings.byte_offset()..).unwrap_or_default();
    match (key, rest.strip_prefix(']')) {
        (Some(key), Some(rest)) => Ok((Step::Key(key), rest)),
        _ => Err(Problem {
            offset: 1,
            message: "expected a key in JSON quotes and `]`",
            hint: r#"as in `data["a]b"]`"#,
        }),
    }
}

impl Value<'_> {
    /// The value one step down.
    pub fn step(&self, step: &Step) -> Option<&Self> {
        match step {
            Step::Key(key) => self.get(key),
            Step::Index(index) => self.items()?.get(*index),
        }
    }

    /// The value at `path` from this one.
    pub fn lookup(&self, path: &FieldPath) -> Option<&Self> {
        path.steps.iter().try_fold(self, |value, step| value.step(step))
    }

    /// The value at `path` from this one, to change it.
    pub fn lookup_mut(&mut self, path: &FieldPath) -> Option<&mut Self> {
        path.steps.iter().try_fold(self, |value, step| match step {
            Step::Key(key) => value.get_mut(key),
            Step::Index(index) => value.items_mut()?.get_mut(*index),
        })
    }

    /// The items, if this is a sequence, to change them.
    pub fn items_mut(&mut self) -> Option<&mut Vec<Self>> {
        match &mut self.data {
            Data::Sequence(items) => Some(items),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FieldPath;

    #[track_caller]
    fn check(path: &FieldPath, text: &str) {
        assert_eq!(path.to_string(), text);
        assert_eq!(text.parse::<FieldPath>().as_ref().ok(), Some(path));
    }

    #[test]
    fn reads_what_it_prints() {
        let root = FieldPath::root;
        check(&root(), "");
        check(&root().key("spec").key("replicas"), "spec.replicas");
        check(
            &root().key("spec").key("containers").index(10).key("image"),
            "spec.containers[10].image",
        );
        check(&root().index(0).index(1), "[0][1]");
        check(&root().key("a.b").key("c"), "[a.b].c");
        check(&root().key("data").key("0"), "data.0");
        check(&root().key("0"), "0");
        check(&root().key("data").key("1.2"), "data[1.2]");
        check(&root().key("a").key(""), r#"a[""]"#);
        check(&root().key("a").key("x]y"), r#"a["x]y"]"#);
        check(&root().key("a").key("\"q\"\n"), r#"a["\"q\"\n"]"#);
        check(&root().key("a b").key("ü"), "a b.ü");
        check(&root().key("[").key("[0"), "[[][[0]");
    }

    #[track_caller]
    fn check_error(text: &str, expected: &str) {
        let error = text.parse::<FieldPath>().unwrap_err();
        let place = error.place.as_ref().map_or(0, |place| place.line_column().1);
        assert_eq!(format!("{place}: {}", error.message), expected);
        assert!(!error.hints.is_empty());
    }

    #[test]
    fn says_where_a_path_is_wrong() {
        check_error(".a", "1: `.a` is not a field path: expected a key, found `.`");
        check_error("a..b", "3: `a..b` is not a field path: expected a key after `.`");
        check_error("a.", "3: `a.` is not a field path: expected a key after `.`");
        check_error("a[", "2: `a[` is not a field path: `[` is never closed");
        check_error(
            "a[]",
            "3: `a[]` is not a field path: expected an index or a key between `[` and `]`",
        );
        check_error("a[0]b", "5: `a[0]b` is not a field path: expected `.` or `[` after `]`");
        check_error(
            "a.b/c",
            "4: `a.b/c` is not a field path: a key with this character must be in brackets",
        );
        check_error(
            "a[99999999999999999999]",
            "3: `a[99999999999999999999]` is not a field path: the index is too large",
        );
        check_error(
            r#"a["b]"#,
            r#"3: `a["b]` is not a field path: expected a key in JSON quotes and `]`"#,
        );
    }
}
