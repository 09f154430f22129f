//! What the fast path takes, the full path reads the same.

#![no_main]

use krm_yaml::testing::compare;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(difference) = compare(text) {
        panic!("{difference}");
    }
});
