//! What is read is printed as it was; moved elsewhere, it reads the same.

#![no_main]

use krm_yaml::testing::print;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(difference) = print(text) {
        panic!("{difference}");
    }
});
