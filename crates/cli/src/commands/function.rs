//! Without arguments: the KRM function on standard input and output.

use crate::args::environment::{SeedScope, disk, environment};
use krm_template_exec::console::Console;
use krm_template_exec::disk::Disk;
use krm_template_exec::io;
use krm_template_exec::status::{FAILED, OK, USAGE};
use krm_template_function as function;
use krm_yaml::Edited;
use krm_yaml::diagnostic::Diagnostics;

const USAGE_TEXT: &str = "\
krm-template expands Templates into Kubernetes objects.

As a KRM function, it reads a ResourceList from standard input, but standard input is a terminal:
  krm-template < resource-list.yaml
On the command line:
  krm-template process -f TEMPLATE [-p NAME=VALUE]...

For more, run `krm-template --help`.
";

pub(crate) fn run(console: Console) -> anyhow::Result<u8> {
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
    let disk = Disk {
        way_out: "copy it there, or refer to a directory with a Composition that adds it",
        ..disk(console, "the Composition")
    };
    let mut output = function::run(&source, &environment(&disk, &SeedScope::default()));
    let printed = io::print(output.list.iter().flat_map(Edited::pieces));
    if printed.is_err() {
        output.diagnostics.drop_success();
    }
    console.report(&output.diagnostics);
    printed?;
    Ok(if output.diagnostics.has_errors() { FAILED } else { OK })
}
