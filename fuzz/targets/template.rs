//! Templates expanded in both dialects.

#![no_main]

use krm_template::testing::template::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| check(text));
