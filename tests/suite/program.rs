//! Runs the built program as its users do.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// The program cargo built for these tests.
pub(crate) const PATH: &str = env!("CARGO_BIN_EXE_krm-template");

/// The variable with the path of a program without features, which the cases then run.
const WITHOUT_FEATURES: &str = "KRM_TEMPLATE_WITHOUT_FEATURES";

/// The variable with the path of another program with all features, such as one for another processor.
const PROGRAM: &str = "KRM_TEMPLATE_PROGRAM";

/// The features that a program may be built without.
pub(crate) const DEPLOYMENT_MANAGER: &str = "deployment-manager";
pub(crate) const FORM: &str = "form";

/// The reason why tests of `feature` are ignored, if the program is built without it. `not FEATURE`
/// is for tests of a program without it.
pub(crate) fn needs(feature: &str) -> Option<String> {
    let (wanted, name) = match feature.strip_prefix("not ") {
        Some(name) => (false, name),
        None => (true, feature),
    };
    let is_there = match name {
        DEPLOYMENT_MANAGER | FORM if std::env::var_os(WITHOUT_FEATURES).is_some() => false,
        DEPLOYMENT_MANAGER => cfg!(feature = "deployment-manager"),
        FORM => cfg!(feature = "form"),
        // A misspelt name must not pass in silence.
        _ => return Some(format!("needs {name}, an unknown feature")),
    };
    (is_there != wanted).then(|| format!("needs {feature}"))
}

/// The result of one run.
pub(crate) struct Output {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// The exit status, or how the program was killed.
    pub(crate) exit: String,
}

/// Runs `command` with `stdin` as its input.
pub(crate) fn run(command: &mut Command, stdin: Vec<u8>) -> Result<Output, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|error| format!("cannot run {}: {error}", command.get_program().display()))?;
    if let Some(mut pipe) = child.stdin.take() {
        // A program may end without reading all its input, which breaks the pipe.
        thread::spawn(move || drop(pipe.write_all(&stdin)));
    }
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    Ok(Output {
        exit: match output.status.code() {
            Some(code) => code.to_string(),
            None => output.status.to_string(),
        },
        stdout: output.stdout,
        stderr: output.stderr,
    })
}

/// The program with no environment but `PATH`.
pub(crate) fn command(folder: &Path) -> Command {
    let program = std::env::var_os(WITHOUT_FEATURES).or_else(|| std::env::var_os(PROGRAM));
    let mut command = Command::new(program.unwrap_or_else(|| PATH.into()));
    command.current_dir(folder).env_clear();
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}
