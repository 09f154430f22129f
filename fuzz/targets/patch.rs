//! Patches and managed fields.

#![no_main]

use krm_template_server::testing::patch::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| check(text));
