//! Runs Python templates: the protocol, and a session with an interpreter.

mod answer;
mod call;
mod failure;
mod request;
mod session;
#[cfg(test)]
mod tests;

pub use call::{Call, Output, Returned};
pub use session::{Forbidden, Interpreter, Interpreters, RUNNER, Session};
