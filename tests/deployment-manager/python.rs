//! Runs the embedded runner with python3.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use krm_template::deployment_manager::python::{Interpreter, RUNNER};
use krm_yaml::diagnostic::{Diagnostic, Result};

/// A process, once it is needed.
#[derive(Default)]
pub(crate) struct Python {
    process: Option<(Child, ChildStdin, BufReader<ChildStdout>)>,
}

/// Whether python3 is there with what templates import.
pub(crate) fn is_there() -> bool {
    let mut command = Command::new("python3");
    let command = command
        .args(["-c", "import yaml, six"])
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

impl Python {
    fn ask_process(&mut self, line: &str) -> std::io::Result<String> {
        if self.process.is_none() {
            let mut child = Command::new("python3")
                .args(["-s", "-B", "-c", RUNNER])
                .env_clear()
                .env("PATH", std::env::var_os("PATH").unwrap_or_default())
                .env("PYTHONHASHSEED", "0")
                .env("PYTHONUTF8", "1")
                .current_dir("/")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                // The runner must not write to files, and standard error may be one.
                .stderr(Stdio::null())
                .spawn()?;
            let pipes = child.stdin.take().zip(child.stdout.take());
            let (input, output) = pipes.ok_or_else(|| std::io::Error::other("no pipes"))?;
            self.process = Some((child, input, BufReader::new(output)));
        }
        let (_, input, output) = self
            .process
            .as_mut()
            .ok_or_else(|| std::io::Error::other("no process"))?;
        input.write_all(line.as_bytes())?;
        input.flush()?;
        let mut answer = String::new();
        output.read_line(&mut answer)?;
        Ok(answer)
    }
}

impl Interpreter for Python {
    fn ask(&mut self, line: &str) -> Result<String> {
        self.ask_process(line)
            .map_err(|error| Diagnostic::error(error.to_string()).into())
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        if let Some((mut child, input, _)) = self.process.take() {
            drop(input);
            // It ends with its input.
            let _ = child.wait();
        }
    }
}
