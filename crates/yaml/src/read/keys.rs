//! Looks up keys in a small set, mostly without comparing texts.

/// How many marks there are.
const MARKS: usize = 64;

/// Up to 64 keys to look for in mappings, each with a number.
#[derive(Clone, Debug)]
pub struct KeyIndex {
    keys: Vec<Key>,
    /// The first key with each mark; counted from 1.
    first: [u8; MARKS],
}

#[derive(Clone, Debug)]
struct Key {
    text: String,
    /// The next key with the same mark; counted from 1, and 0 if there is none.
    next: u8,
}

impl Default for KeyIndex {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            first: [0; MARKS],
        }
    }
}

impl KeyIndex {
    /// The maximum number of keys.
    pub const MOST: usize = 64;

    /// The number of a key, counted from 0. The key is added if it is not there; `None` if there are
    /// [`MOST`](Self::MOST) others.
    pub fn add(&mut self, key: &str) -> Option<usize> {
        if let Some(known) = self.get(key) {
            return Some(known);
        }
        let number = self.keys.len() + 1;
        let number = u8::try_from(number).ok().filter(|_| number <= Self::MOST)?;
        let first = self.first.get_mut(mark(key.as_bytes()))?;
        self.keys.push(Key {
            text: key.to_owned(),
            next: std::mem::replace(first, number),
        });
        Some(self.keys.len() - 1)
    }

    /// The key with a number.
    #[must_use]
    pub fn key(&self, number: usize) -> Option<&str> {
        self.keys.get(number).map(|key| key.text.as_str())
    }

    /// The number of a key.
    #[inline]
    pub(crate) fn get(&self, key: &str) -> Option<usize> {
        let mut number = self.first.get(mark(key.as_bytes())).copied()?;
        loop {
            let at = usize::from(number).checked_sub(1)?;
            let known = self.keys.get(at)?;
            if known.text == key {
                return Some(at);
            }
            number = known.next;
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::KeyIndex;

    #[test]
    fn each_key_has_a_number() {
        let mut index = KeyIndex::default();
        let keys: Vec<String> = (0..KeyIndex::MOST)
            .map(|number| format!("key{number}"))
            .collect();
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(index.get(key), None);
            assert_eq!(index.add(key), Some(number));
        }
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(index.add(key), Some(number));
        }
        assert_eq!(index.add("one more"), None);
    }
}
