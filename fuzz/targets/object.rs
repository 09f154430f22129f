//! Templates as objects of the API.

#![no_main]

use krm_template_server::testing::object::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| check(text));
