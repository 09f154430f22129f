//! `--fail-on` and `--strict`: which messages make a command fail.

use clap::{Args, ValueEnum};
use krm_yaml::diagnostic::Diagnostics;

/// The least severity that makes a command fail.
#[derive(Args, Debug)]
pub(crate) struct FailOn {
    /// Fail if there is a message of this severity; `warning` treats warnings as errors
    #[arg(long, value_name = "SEVERITY", default_value = "error")]
    fail_on: Least,

    /// The same as `--fail-on warning`
    #[arg(long)]
    strict: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Least {
    Error,
    Warning,
}

impl FailOn {
    /// Whether warnings count as errors.
    pub(crate) fn includes_warnings(&self) -> bool {
        self.strict || self.fail_on == Least::Warning
    }

    /// Turns warnings into errors if they count as such.
    pub(crate) fn apply(&self, diagnostics: &mut Diagnostics) {
        if self.includes_warnings() {
            diagnostics.take_warnings_for_errors();
        }
    }
}
