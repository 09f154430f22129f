//! Limits on the depth and the size of JSON values.

use std::io;

use serde_json::Value;

/// The maximum size in bytes of a patched object, and of all copies that a JSON patch makes.
///
/// Source: `MaxRequestBodyBytes` of `k8s.io/apiserver`.
pub(super) const MAX_BYTES: usize = 3 << 20;

/// Counts a value and all values in it. Returns `None` if it has more than `levels` levels of lists
/// and maps.
///
/// Never looks deeper than `levels`.
pub(super) fn count(value: &Value, levels: usize) -> Option<usize> {
    let below = |sum, child| Some(sum + count(child, levels.checked_sub(1)?)?);
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => None,
        Value::Array(items) => items.iter().try_fold(1, below),
        Value::Object(fields) => fields.values().try_fold(1, below),
        _ => Some(1),
    }
}

/// Returns the size of a value as JSON in bytes, or `None` if it is more than `limit`.
pub(super) fn size(value: &Value, limit: usize) -> Option<usize> {
    let mut counter = Counter { left: limit };
    serde_json::to_writer(&mut counter, value).ok()?;
    Some(limit - counter.left)
}

/// A writer that counts bytes, and fails at a limit.
struct Counter {
    left: usize,
}

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
