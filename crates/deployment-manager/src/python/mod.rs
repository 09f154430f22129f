//! Runs Python templates: the protocol, and a session with an interpreter.
//!
//! No interpreter in Rust runs enough of the real templates, so `python3` runs them with the
//! embedded `runner.py`. A session is one process an expansion, because its start takes most of the
//! time; requests and answers are a line of JSON each.
//!
//! The runner finds parts that a result shares with the properties by identity, since a change of
//! one is a change of the other. Its audit hook and limits protect from mistakes, and the
//! program runs it in a sandbox where the kernel has one. Python is off unless `--allow-python` is
//! given.

mod answer;
mod call;
mod failure;
mod request;
mod session;
#[cfg(test)]
mod tests;

pub use call::{Call, Output, Returned};
pub use session::{Forbidden, Interpreter, Interpreters, RUNNER, Session};
