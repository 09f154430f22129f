//! Everything around the body of a request.

#![no_main]

use krm_template_server::testing::request::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check(bytes));
