//! Two Templates merged into one.

#![no_main]

use krm_template::testing::merge::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| check(text));
