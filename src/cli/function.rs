//! Without arguments: the KRM function on standard input and output.

use crate::cli::build::disk::Disk;
use crate::cli::{Console, FAILED, OK, USAGE, io};
use crate::diagnostic::Diagnostics;
use crate::function::{self, Environment};
use crate::yaml::Edited;

const USAGE_TEXT: &str = "\
krm-template expands Templates into Kubernetes objects.

As a KRM function it reads a ResourceList on standard input, which is a terminal here:
  krm-template < resource-list.yaml
On the command line:
  krm-template process -f TEMPLATE [-p NAME=VALUE]...

For more, run `krm-template --help`.
";

pub(super) fn run(console: Console) -> anyhow::Result<u8> {
    if io::stdin_is_terminal() {
        io::print_error(USAGE_TEXT);
        return Ok(USAGE);
    }
    let source = match console.read("-") {
        Ok(source) => source,
        Err(diagnostic) => {
            console.report(&Diagnostics::from(diagnostic));
            return Ok(FAILED);
        }
    };
    let disk = Disk { console };
    let output = function::run(&source, &environment(&disk));
    console.report(&output.diagnostics);
    io::print(output.list.iter().flat_map(Edited::pieces))?;
    Ok(if output.diagnostics.has_errors() {
        FAILED
    } else {
        OK
    })
}

/// What a function may know of this machine.
#[expect(
    clippy::disallowed_methods,
    reason = "the command line reads the environment, for all the others"
)]
pub(super) fn environment(disk: &Disk) -> Environment<'_> {
    let seed = std::env::var("KRM_TEMPLATE_SEED")
        .ok()
        .filter(|seed| !seed.is_empty());
    Environment {
        seed: seed.map(String::into_bytes),
        files: Some(disk),
    }
}
