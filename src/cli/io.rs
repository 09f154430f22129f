//! Files and standard streams, by the names users give them.

use std::io::{BufWriter, ErrorKind, IsTerminal, Read, Write};
use std::sync::Arc;

use anyhow::Context as _;

use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::files;
use crate::report;
use crate::source::Source;

/// Reads all of standard input.
pub(super) fn stdin() -> Result<Arc<Source>> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| Diagnostic::error(format!("standard input cannot be read: {error}")))?;
    files::source("stdin", bytes)
}

/// Reads a file, or standard input for `-`.
#[expect(
    clippy::disallowed_methods,
    reason = "the command line reads files, for all the others"
)]
pub(super) fn read(path: &str) -> Result<Arc<Source>> {
    if path == "-" {
        return stdin();
    }
    if path.starts_with("http://") || path.starts_with("https://") {
        return Err(Diagnostic::error(format!(
            "`{path}` is an address, and nothing is fetched from the network"
        ))
        .hint("download it first, or pipe it in: `curl -sSf ADDRESS | krm-template process -f -`")
        .into());
    }
    match std::fs::read(path) {
        Ok(bytes) => files::source(path, bytes),
        Err(error) => {
            let reason = match error.kind() {
                ErrorKind::NotFound => "there is no such file".to_owned(),
                ErrorKind::IsADirectory => "it is a directory".to_owned(),
                ErrorKind::PermissionDenied => "you may not read it".to_owned(),
                _ => error.to_string(),
            };
            Err(Diagnostic::error(format!("`{path}` cannot be read: {reason}")).into())
        }
    }
}

/// Writes to standard output. A reader that has gone away is no error.
pub(super) fn print<'t>(pieces: impl IntoIterator<Item = &'t str>) -> anyhow::Result<()> {
    let mut stdout = BufWriter::new(std::io::stdout().lock());
    let mut pieces = pieces.into_iter();
    match pieces
        .try_for_each(|piece| stdout.write_all(piece.as_bytes()))
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("standard output cannot be written")
        }
        _ => Ok(()),
    }
}

/// Writes to standard error; there is nowhere to report a failure to.
pub(super) fn print_error(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Writes diagnostics to standard error, in colour on a terminal.
pub(super) fn report(diagnostics: &Diagnostics) {
    print_error(&report::text(diagnostics, color()));
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command line reads the environment, for all the others"
)]
fn color() -> bool {
    std::io::stderr().is_terminal()
        && std::env::var("NO_COLOR").map_or(true, |value| value.is_empty())
}
