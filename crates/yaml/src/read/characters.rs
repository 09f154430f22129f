//! The characters of a text: which of them no reader accepts, and which readers differ in.

/// Which characters a text has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Characters {
    /// Only those of ASCII that are printed, tabs and newlines.
    Common,
    #[default]
    Any,
}

/// The only ASCII control character after the printable ones.
pub(crate) const DELETE: u8 = 0x7f;

/// Whether a byte is none of [`Characters::Common`].
#[inline]
const fn is_uncommon(byte: u8) -> bool {
    // As a signed number, a byte that is not ASCII is less than zero.
    let is_printed = byte.cast_signed() >= 0x20 && byte != DELETE;
    !is_printed && byte != b'\t' && byte != b'\n'
}

/// Whether a byte is a control character that is neither a tab nor part of a line break.
#[inline]
const fn is_forbidden(byte: u8) -> bool {
    is_uncommon(byte) && byte != b'\r' && byte <= DELETE
}

/// A place before the first byte that is none of [`Characters::Common`], and near it.
pub(crate) fn first_uncommon(bytes: &[u8]) -> Option<usize> {
    first_block(bytes, is_uncommon)
}

/// The first control character at or after `from` that is neither a tab nor part of a line break.
pub(crate) fn first_forbidden(bytes: &[u8], from: usize) -> Option<usize> {
    let block = from + first_block(bytes.get(from..)?, is_forbidden)?;
    let mut rest = bytes.get(block..)?.iter();
    let at = rest.position(|&byte| is_forbidden(byte))?;
    Some(block + at)
}

/// Where the first block begins that has a byte for which `is` holds.
fn first_block(bytes: &[u8], is: impl Fn(u8) -> bool) -> Option<usize> {
    /// The number of bytes compared together, in a few instructions.
    const BLOCK: usize = 128;
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let any = |block: &[u8]| block.iter().fold(false, |any, &byte| any | is(byte));
    let block = blocks.iter().position(|block| any(block));
    let block = block.or_else(|| any(rest).then_some(blocks.len()))?;
    Some(block * BLOCK)
}

/// Whether there are characters that readers differ in: a carriage return that does not end a
/// line with a newline, the line breaks of YAML 1.1, C1 controls, byte order marks inside of the
/// text, and what is not a character.
pub(crate) fn has_unusual(text: &str, characters: Characters) -> bool {
    if characters == Characters::Common {
        return false;
    }
    let bytes = text.as_bytes();
    let lone_return = memchr::memchr_iter(b'\r', bytes).any(|at| bytes.get(at + 1) != Some(&b'\n'));
    lone_return || (!text.is_ascii() && has_unusual_unicode(text))
}

fn has_unusual_unicode(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr3_iter(0xC2, 0xE2, 0xEF, bytes).any(|at| match bytes.get(at..at + 3) {
        Some([0xC2, 0x80..=0x9F, _] | [0xE2, 0x80, 0xA8 | 0xA9] | [0xEF, 0xBF, 0xBE | 0xBF]) => {
            true
        }
        Some([0xEF, 0xBB, 0xBF]) => at > 0,
        Some(_) => false,
        // Two bytes at the end of the text.
        None => matches!(bytes.get(at..), Some([0xC2, 0x80..=0x9F])),
    })
}
