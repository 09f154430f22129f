//! Runs transformers, from the first to the last.

pub(crate) mod call;
pub mod chain;
mod nested;
pub(crate) mod runner;
pub(crate) mod steps;
mod unread;
