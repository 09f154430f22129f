//! The full path reads the same from each text that the fast path accepts.

#![no_main]

use krm_yaml::testing::compare;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(difference) = compare(text) {
        panic!("{difference}");
    }
});
