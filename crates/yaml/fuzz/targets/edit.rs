//! An edit reads back as the intended value, and changes no other lines; so does an update of an
//! item, and a document that is put elsewhere.
//!
//! Input is a text; the bytes after its last NUL select the changes.

#![no_main]

use krm_yaml::testing::edit;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(difference) = edit(bytes) {
        panic!("{difference}");
    }
});
