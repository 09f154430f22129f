//! Text without control characters for terminals.

use std::borrow::Cow;

/// `text` without the C1 control characters, which some terminals obey. Byte offsets stay; the
/// renderer replaces the other control characters.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    let is_c1 = |c: char| ('\u{80}'..='\u{9f}').contains(&c);
    if !text.is_ascii() && text.contains(is_c1) {
        Cow::Owned(text.replace(is_c1, "·"))
    } else {
        Cow::Borrowed(text)
    }
}
