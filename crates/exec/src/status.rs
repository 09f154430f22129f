//! The exit status of the program.

/// Everything went well.
pub const OK: u8 = 0;
/// The input is wrong; what is wrong was printed.
pub const FAILED: u8 = 1;
/// The arguments are wrong.
pub const USAGE: u8 = 2;
