//! Messages on standard error, filtered by `--quiet` and `--verbose`.
//!
//! There are no progress bars: ten thousand objects take a fraction of a second.

use std::sync::Arc;

use clap::Args;

use crate::io;
use crate::status::{FAILED, OK};
use krm_core::report;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;

/// Sorts options after a command's own options.
const LAST: usize = 900;

/// Which messages are printed.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Console {
    /// Print only errors to standard error
    #[arg(short, long, global = true, conflicts_with = "verbose", display_order = LAST)]
    quiet: bool,

    /// Also print which files are read and which are skipped
    #[arg(short, long, global = true, display_order = LAST)]
    verbose: bool,
}

impl Console {
    /// Reads a file, or standard input for `-`.
    ///
    /// # Errors
    /// If it cannot be read, or is not UTF-8.
    pub fn read(self, path: &str) -> Result<Arc<Source>> {
        self.invite(path);
        let source = io::read(path)?;
        self.has_read(source.name(), source.text().len());
        Ok(source)
    }

    /// Reads a file that need not be text.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read_bytes(self, path: &str) -> Result<Vec<u8>> {
        self.invite(path);
        let bytes = io::read_bytes(path)?;
        self.has_read(path, bytes.len());
        Ok(bytes)
    }

    /// Tells the user that the program waits for input.
    fn invite(self, path: &str) {
        if path == "-" && io::stdin_is_terminal() {
            self.say("reading from standard input; to end it, press Ctrl-D");
        }
    }

    /// Reports, with `--verbose`, that `length` bytes were read from the file `name`.
    pub fn has_read(self, name: &str, length: usize) {
        self.info(format!("read `{name}`, {length} bytes"));
    }

    /// Reports a message that is printed only with `--verbose`.
    pub fn info(self, message: impl Into<String>) {
        if self.verbose {
            self.report(&Diagnostic::info(message).into());
        }
    }

    /// Reports diagnostics, in colour where that is wanted.
    pub fn report(self, diagnostics: &Diagnostics) {
        let text = if self.quiet {
            report::text(&diagnostics.errors(), io::color())
        } else {
            report::text(diagnostics, io::color())
        };
        io::print_error(&text);
    }

    /// Reports diagnostics, and prints a text if there is one. Returns the exit status.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn finish(self, diagnostics: &Diagnostics, text: Option<String>) -> anyhow::Result<u8> {
        self.report(diagnostics);
        let Some(text) = text else {
            return Ok(FAILED);
        };
        io::print([text.as_str()])?;
        Ok(OK)
    }

    /// Prints a line that is not a diagnostic, unless `--quiet` is given.
    pub fn say(self, line: &str) {
        self.say_lines(&[line, "\n"].concat());
    }

    /// The same, of whole lines.
    pub fn say_lines(self, lines: &str) {
        if !self.quiet {
            io::print_error(lines);
        }
    }
}
