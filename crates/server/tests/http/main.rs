//! The program on a port: hostile and slow clients, limits, HTTP/2, shutdown, and secrets.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::too_many_lines,
    clippy::format_push_string,
    reason = "tests"
)]

mod canary;
mod end;
mod framing;
mod limits;
mod program;
mod start;
mod two;
