//! Looks at eight bytes at a time where a text is too short for a call of memchr to pay.

const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGH: u64 = ONES << 7;
/// A bit of all letters that no byte has which plain text may stop at.
const LETTERS: u64 = u64::from_le_bytes([b'@'; 8]);
const DELETE: u8 = 0x7f;
const SPACES: u64 = u64::from_le_bytes([b' '; 8]);
const NEWLINES: u64 = u64::from_le_bytes([b'\n'; 8]);

/// Where `bytes` has the first one that is not a space.
pub(super) fn after_spaces(bytes: &[u8]) -> usize {
    position(bytes, |word| word ^ SPACES)
}

/// Where the first line ends, before its newline.
#[inline]
pub(super) fn newline(bytes: &[u8]) -> usize {
    position(bytes, |word| {
        let other = word ^ NEWLINES;
        other.wrapping_sub(ONES) & !other & HIGH
    })
}

/// Where plain text may stop: at a `:`, a `#` or a control character.
#[inline]
pub(super) fn plain_stop(bytes: &[u8]) -> usize {
    position(bytes, |word| controls_and([b':', b'#'], word))
}

/// Where plain text has the first byte that may not be a letter. Most keys stop there.
#[inline]
pub(super) fn after_letters(bytes: &[u8]) -> usize {
    position(bytes, |word| !word & LETTERS)
}

/// Where text in quotes may stop: at the quote, a `\` or a control character.
#[inline]
pub(super) fn quoted_stop(bytes: &[u8], quote: u8) -> usize {
    position(bytes, |word| controls_and([quote, b'\\'], word))
}

/// Whether all characters are printable ASCII other than `escapes`, one or more ASCII characters.
pub(super) fn is_printable_without<const N: usize>(text: &str, escapes: [u8; N]) -> bool {
    let bytes = text.as_bytes();
    let is_other = |word: u64| {
        let marks = escapes.map(|escape| controls_and([escape, DELETE], word));
        marks.into_iter().fold(word & HIGH, |any, marks| any | marks) != 0
    };
    let (words, rest) = bytes.as_chunks();
    if words.iter().any(|word| is_other(u64::from_le_bytes(*word))) {
        return false;
    }
    if rest.is_empty() {
        return true;
    }
    // The rest is looked at with bytes before it, or in two halves that may overlap.
    if let Some(last) = bytes.last_chunk() {
        return !is_other(u64::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (rest.first_chunk(), rest.last_chunk()) {
        let [first, last] = [first, last].map(|half| u64::from(u32::from_le_bytes(*half)));
        return !is_other(first << 32 | last);
    }
    rest.iter().all(|byte| (b' '..0x7f).contains(byte) && !escapes.contains(byte))
}

/// The first byte in which `marks` sets a bit; the bits of later bytes may be wrong.
#[inline]
fn position(bytes: &[u8], marks: impl Fn(u64) -> u64) -> usize {
    let (words, rest) = bytes.as_chunks();
    let mut at = 0_usize;
    for word in words {
        let marked = marks(u64::from_le_bytes(*word));
        if marked != 0 {
            // Within the text, so no sum is too large.
            return at.wrapping_add(marked.trailing_zeros() as usize / 8);
        }
        at = at.wrapping_add(8);
    }
    if rest.is_empty() {
        return at;
    }
    position_at_end(bytes, marks)
}

/// As [`position`], in less than eight bytes at the end of a text; those before them are not marked.
#[cold]
#[inline(never)]
fn position_at_end(bytes: &[u8], marks: impl Fn(u64) -> u64) -> usize {
    let (last, start) = (bytes.last_chunk(), bytes.len().saturating_sub(8));
    // In a shorter text, zeros are in place of the bytes after the end.
    let short = || {
        let bytes = bytes.iter().rev();
        bytes.fold(0, |word, &byte| word << 8 | u64::from(byte))
    };
    let marked = marks(last.map_or_else(short, |last| u64::from_le_bytes(*last)));
    bytes.len().min(start + marked.trailing_zeros() as usize / 8)
}

/// Sets the high bit of each byte that is one of `others`, which are ASCII, or a control character.
#[inline]
fn controls_and(others: [u8; 2], word: u64) -> u64 {
    // Without its high bit, a byte that is added to does not carry to the next one.
    let low = word & !HIGH;
    let [first, second] = others.map(|other| (low ^ (ONES * u64::from(other))) + !HIGH);
    let printed = low + ONES * u64::from(0x80 - b' ');
    !(first & second & printed | word) & HIGH
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{after_spaces, is_printable_without, newline, plain_stop, quoted_stop};

    /// Texts of the searched bytes and their neighbours.
    fn text() -> impl Strategy<Value = String> {
        let characters = " !\"#$'()9:;[\\]az~\t\n\r\x1f\x7f\u{80}é\u{2028}";
        let character = prop::sample::select(characters.chars().collect::<Vec<_>>());
        prop_oneof![
            prop::collection::vec(character, 0..24).prop_map(String::from_iter),
            "[ a-z]{0,24}[ -~]{0,4}",
        ]
    }

    fn first(text: &str, is_found: impl Fn(u8) -> bool) -> usize {
        text.bytes().position(is_found).unwrap_or(text.len())
    }

    proptest! {
        #[test]
        fn words_find_what_bytes_find(text in text()) {
            let bytes = text.as_bytes();
            prop_assert_eq!(after_spaces(bytes), first(&text, |byte| byte != b' '));
            prop_assert_eq!(newline(bytes), first(&text, |byte| byte == b'\n'));
            prop_assert_eq!(
                plain_stop(bytes),
                first(&text, |byte| byte < b' ' || byte == b':' || byte == b'#')
            );
            for quote in [b'"', b'\''] {
                prop_assert_eq!(
                    quoted_stop(bytes, quote),
                    first(&text, |byte| byte < b' ' || byte == b'\\' || byte == quote)
                );
            }
            for escapes in [[b'\\', b'"'], [b'\'', b'\''], [b'\n', b'z']] {
                let is_printable = |byte| (b' '..0x7f).contains(&byte) && !escapes.contains(&byte);
                prop_assert_eq!(
                    is_printable_without(&text, escapes),
                    text.bytes().all(is_printable)
                );
            }
        }
    }
}
