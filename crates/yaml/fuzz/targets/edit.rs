//! An edit reads back as the intended value, and changes no other lines; so does an update of an
//! item, and a document that is put elsewhere.
//!
//! Input is a text; the bytes after its last NUL select the changes.

#![no_main]

use krm_yaml::testing::{changed_and_moved, edited, updated};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.rsplitn(2, |&byte| byte == 0);
    let (last, first) = (parts.next().unwrap_or_default(), parts.next());
    let (text, choices) = first.map_or((last, &[][..]), |first| (first, last));
    if let Ok(text) = std::str::from_utf8(text)
        && let Err(difference) = edited(text, choices)
            .and_then(|()| updated(text, choices))
            .and_then(|()| changed_and_moved(text, choices))
    {
        panic!("{difference}");
    }
});
