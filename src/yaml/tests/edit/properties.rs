//! Any operations on any small document.
