//! The function, from bytes to text.

#![no_main]

use krm_template::testing::function::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check(bytes));
