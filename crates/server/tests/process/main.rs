//! Processing of Templates: recorded responses of OpenShift's API, real Templates, limits, secrets.
//!
//! The recorded responses and real Templates are in the folder that `KRM_TEMPLATE_SHARED` names.
//! Without it, these tests are ignored.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    reason = "a test"
)]

mod hostile;
mod own;
mod real;
mod recorded;
mod shared;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = [
        hostile::trials(),
        own::trials(),
        recorded::trials(),
        real::trials(),
    ]
    .concat_all();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Concatenates lists of trials, which cannot be cloned.
trait ConcatAll {
    fn concat_all(self) -> Vec<libtest_mimic::Trial>;
}

impl<const N: usize> ConcatAll for [Vec<libtest_mimic::Trial>; N] {
    fn concat_all(self) -> Vec<libtest_mimic::Trial> {
        self.into_iter().flatten().collect()
    }
}
