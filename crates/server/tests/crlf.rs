//! Requests whose YAML has lines that end with CRLF: tests run again with them.

use std::borrow::Cow;
use std::cell::Cell;

thread_local! {
    static IS_SENT: Cell<bool> = const { Cell::new(false) };
}

/// Runs a test with CRLF.
pub(crate) fn with(test: fn()) {
    /// Ends it when the test fails, too: other tests run on this thread.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            IS_SENT.set(false);
        }
    }
    let _end = End;
    IS_SENT.set(true);
    test();
}

/// Returns a text as it is sent.
pub(crate) fn sent(text: &str) -> Cow<'_, str> {
    if IS_SENT.get() { text.replace('\n', "\r\n").into() } else { text.into() }
}

/// Returns a body as it is sent with these headers: if it is YAML, with CRLF.
pub(crate) fn sent_body<'b>(headers: &[(&str, &str)], body: &'b [u8]) -> Cow<'b, [u8]> {
    let is_yaml = headers
        .iter()
        .any(|(name, value)| name.eq_ignore_ascii_case("content-type") && value.contains("yaml"));
    match std::str::from_utf8(body) {
        Ok(text) if is_yaml => match sent(text) {
            Cow::Borrowed(_) => body.into(),
            Cow::Owned(text) => text.into_bytes().into(),
        },
        _ => body.into(),
    }
}
