//! Expands all Jinja cases of a folder some times, for `benches/deployment_manager.py`.

#![expect(
    clippy::expect_used,
    reason = "an input that cannot be read is a mistake of the benchmark"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "the folder is not one of the program"
)]

use std::fs;
use std::path::Path;

use krm_template::deployment_manager::expand::expand;
use krm_template::deployment_manager::model::{Options, Request};
use krm_template::deployment_manager::python::Forbidden;
use krm_template::deployment_manager::request;
use krm_yaml::source::Source;

fn main() {
    // cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, rounds, ..] = arguments.as_slice() else {
        // As one of all benchmarks, it has nothing to expand.
        return;
    };
    let requests = requests(Path::new(folder));
    let rounds: usize = rounds.parse().expect("the rounds are a number");
    for _ in 0..rounds {
        for request in &requests {
            let expansion = expand(request, &mut Forbidden(&[])).expect("each case is expanded");
            std::hint::black_box(expansion.to_value());
        }
    }
}

/// The cases that have only Jinja templates, and are expanded without an error.
fn requests(folder: &Path) -> Vec<Request> {
    let options = Options {
        validate_schema: true,
        strict_schemas: true,
        outputs: false,
    };
    let mut requests = Vec::new();
    for case in fs::read_dir(folder).expect("there is such a folder") {
        let case = case.expect("it can be listed").path();
        let meta = fs::read_to_string(case.join("meta.json")).expect("each case has it");
        if !meta.contains("\"template_kinds\": \"jinja\"") || !case.join("expected.yaml").exists() {
            continue;
        }
        let input = fs::read_to_string(case.join("input.json")).expect("each case has it");
        let request = request::read(&Source::new("input.json", input), options);
        requests.push(request.expect("it is a request"));
    }
    requests
}
