//! The exit status of the program.

/// Everything went well.
pub(super) const OK: u8 = 0;
/// The input is wrong; what is wrong was printed.
pub(super) const FAILED: u8 = 1;
/// The arguments are wrong.
pub(super) const USAGE: u8 = 2;
