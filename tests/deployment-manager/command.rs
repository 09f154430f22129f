//! Runs the program with `--allow-python`.

use std::process::Command;

use libtest_mimic::{Failed, Trial};

use crate::{needs, with_python};

/// A Composition with a Python template that imports a module.
const COMPOSITION: &str = "tests/cases/build/a-deployment-configuration-runs-no-python";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        with_python("python/build", |_| {
            let (output, messages) = build(&[needs::allow_python()])?;
            let expected = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  labels:\n    env: prod\nspec:\n  ports:\n  - port: 80\n";
            equal(&output, expected)?;
            equal(&messages, "")
        }),
        with_python("python/build_with_another_interpreter", |_| {
            let (output, messages) = build(&[needs::allow_python(), "--python", "/no/python"])?;
            equal(&output, "")?;
            let expected = "error: program `/no/python` not found";
            if messages.starts_with(expected) {
                return Ok(());
            }
            Err(format!("wanted {expected}\nfound {messages}").into())
        }),
    ]
}

/// What `krm-template build` prints to standard output and to standard error.
fn build(arguments: &[&str]) -> Result<(String, String), Failed> {
    let output = Command::new(env!("CARGO_BIN_EXE_krm-template"))
        .arg("build")
        .args(arguments)
        .current_dir(COMPOSITION)
        .output()?;
    Ok((String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
}

fn equal(found: &str, wanted: &str) -> Result<(), Failed> {
    if found == wanted {
        return Ok(());
    }
    Err(format!("wanted {wanted}\nfound {found}").into())
}
