//! Jinja templates rendered twice.

#![no_main]

use krm_template::testing::jinja::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| check(text));
