//! The characters that a written scalar holds only as escapes.

/// Characters that readers refuse or read as a line break: they need an escape.
pub(super) fn is_forbidden(character: char) -> bool {
    match character {
        '\t' | '\n' | ' '..='~' => false,
        _ => matches!(
            character,
            '\0'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        ),
    }
}

/// Characters that are invisible or have several encodings: they are escaped in new text, although
/// readers allow them.
pub(super) fn is_unclear(character: char) -> bool {
    match character {
        '\0'..='~' => false,
        '\u{a0}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{e000}'..='\u{f8ff}' => true,
        // Each plane ends in two code points that are not characters.
        _ => u32::from(character) & 0xfffe == 0xfffe,
    }
}

/// Whether double quotes hold the character as an escape.
pub(super) fn needs_escape(character: char) -> bool {
    is_forbidden(character) || is_unclear(character)
}
