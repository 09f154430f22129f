//! The exit status of the program.

/// Success, perhaps with warnings printed.
pub const OK: u8 = 0;
/// The input is wrong, and its errors were printed.
pub const FAILED: u8 = 1;
/// The arguments are wrong, alone or together.
pub const USAGE: u8 = 2;
