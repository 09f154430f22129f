//! What is read is printed as it was; moved elsewhere, it reads the same.

#![no_main]

use krm_yaml::testing::{moved, unchanged};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(difference) = unchanged(text).and_then(|()| moved(text)) {
        panic!("{difference}");
    }
});
