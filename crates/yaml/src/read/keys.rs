//! Detects keys that may repeat, mostly without comparing texts.

/// How many marks there are.
const MARKS: usize = 64;

/// A set of keys that may take a new key for an old one, but never an old one for a new one.
#[derive(Clone, Copy, Default)]
pub(crate) struct Marks(u64);

impl Marks {
    /// Adds a key. Returns whether it may have been there before.
    #[inline]
    pub(crate) fn add(&mut self, key: &[u8]) -> bool {
        let bit = 1 << mark(key);
        let was_there = self.0 & bit != 0;
        self.0 |= bit;
        was_there
    }
}

/// A number below [`MARKS`] for a key, of its length, its first and its last byte.
#[inline]
fn mark(key: &[u8]) -> usize {
    let end = |byte: Option<&u8>| byte.map_or(0, |&byte| usize::from(byte));
    (end(key.first()) ^ end(key.last()) << 2 ^ key.len() << 3) % MARKS
}
