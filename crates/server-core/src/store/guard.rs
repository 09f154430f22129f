//! Catches the panics of `redb` on a damaged file.
//!
//! `redb` reports most damage as an error, and panics on the rest. A panic while a file is opened
//! is expected and not logged.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs work with `redb` that can panic, without logging the panic.
///
/// # Errors
///
/// The error of the work, or [`redb::Error::Corrupted`] if it panics.
pub(super) fn quietly<T>(work: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, redb::Error> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let known = panic::take_hook();
        panic::set_hook(Box::new(move |panicked| {
            if !IS_QUIET.get() {
                known(panicked);
            }
        }));
    });
    let before = IS_QUIET.replace(true);
    let done = caught(work);
    IS_QUIET.set(before);
    done
}

/// Runs work with `redb` that can panic.
///
/// # Errors
///
/// The error of the work, or [`redb::Error::Corrupted`] if it panics.
pub(super) fn caught<T>(work: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, redb::Error> {
    panic::catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(redb::Error::Corrupted("a page is not readable".to_owned())))
}
