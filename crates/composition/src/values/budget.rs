//! The memory that the objects of a build may take.

use std::cell::Cell;

use krm_yaml::{Data, MAX_DEPTH, Scalar, Value};

/// The maximum number of bytes that one build reads, generates and adds to objects.
const MAX_BYTES: usize = 512 * 1024 * 1024;
/// The bytes that count for a value besides its text.
const VALUE_BYTES: usize = 32;

/// Counts the bytes that a build reads, generates and adds to objects: a few small files can ask for
/// far more than there is memory.
pub(crate) struct Budget {
    /// None beyond the limit.
    left: Cell<Option<usize>>,
    is_reported: Cell<bool>,
}

impl Budget {
    pub(crate) const fn new() -> Self {
        Self { left: Cell::new(Some(MAX_BYTES)), is_reported: Cell::new(false) }
    }

    /// Takes so many bytes. False if they are not left: then the build ends after this transformer,
    /// and the caller need not add them.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        let left = self.left.get().and_then(|left| left.checked_sub(bytes));
        self.left.set(left);
        left.is_some()
    }

    pub(crate) fn is_exceeded(&self) -> bool {
        self.left.get().is_none()
    }

    /// The error of a build beyond the limit, the first time.
    pub(crate) fn report(&self) -> Option<String> {
        let is_new = self.is_exceeded() && !self.is_reported.replace(true);
        is_new.then(|| {
            let limit = MAX_BYTES / (1024 * 1024);
            format!("the objects of the build take more than {limit} MiB")
        })
    }
}

/// The size of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The bytes that the [`Budget`] counts.
    pub(crate) bytes: usize,
    /// The levels of collections.
    depth: usize,
}

impl Extent {
    pub(crate) fn of(value: &Value<'_>) -> Self {
        let mut inner = Self::default();
        let mut add = |key: usize, value: &Value<'_>| {
            let one = Self::of(value);
            inner.bytes += key + one.bytes;
            inner.depth = inner.depth.max(one.depth);
        };
        match &value.data {
            Data::Scalar(Scalar::String(text) | Scalar::Number(text)) => inner.bytes = text.len(),
            Data::Scalar(_) => {}
            Data::Sequence(items) => items.iter().for_each(|item| add(0, item)),
            Data::Mapping(entries) => entries.iter().for_each(|(key, value)| add(key.len(), value)),
        }
        Self {
            bytes: VALUE_BYTES + inner.bytes,
            depth: inner.depth + usize::from(value.scalar().is_none()),
        }
    }

    /// Checks that the value is not nested too deep below so many keys.
    ///
    /// # Errors
    /// The message.
    pub(crate) fn check_below(self, keys: usize) -> Result<(), String> {
        if self.depth == 0 || keys.saturating_add(self.depth) <= MAX_DEPTH {
            return Ok(());
        }
        Err(format!("the value would be nested more than {MAX_DEPTH} levels deep"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Extent, MAX_BYTES, VALUE_BYTES};
    use krm_yaml::{MAX_DEPTH, Value};

    fn value(json: &str) -> Value<'static> {
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        value.into()
    }

    #[test]
    fn a_build_beyond_the_limit_has_one_error() {
        let budget = Budget::new();
        assert!(budget.take(MAX_BYTES) && budget.take(0));
        assert_eq!(budget.report(), None);
        assert!(!budget.take(1) && !budget.take(0));
        assert!(budget.report().is_some());
        assert_eq!(budget.report(), None);
    }

    #[test]
    fn keys_texts_and_levels_count() {
        let extent = Extent::of(&value(r#"{"ab": [1, "cde"], "f": {}}"#));
        assert_eq!(extent.bytes, 7 + 5 * VALUE_BYTES);
        assert!(extent.check_below(MAX_DEPTH - 2).is_ok());
        assert!(extent.check_below(MAX_DEPTH - 1).is_err());
        assert!(Extent::of(&value("1")).check_below(MAX_DEPTH).is_ok());
    }
}
