//! Compositions built in both formats.

#![no_main]

use krm_template::testing::composition::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check(bytes));
