//! Functions that are other programs: containers, executables, and kustomize for Kustomizations.

use std::cell::{Cell, OnceCell};
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crate::cli::build::installed::Installed;
use crate::cli::build::process::{self, Ended, Failure, MAX_OUTPUT};
use crate::cli::console::Console;
use crate::cli::disk::LoadRestrictor;
use crate::cli::interruption::Interruption;
use crate::composition::{Container, Exec, FunctionOutput};
use crate::files::join;
use crate::report;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;

/// The container engines, in search order.
const ENGINES: [&str; 3] = ["docker", "podman", "nerdctl"];
/// The variable that chooses the engine, as in kpt.
const ENGINE: &str = "KRM_FN_RUNTIME";
/// The user and group `nobody` as numbers: an image may lack a file with the names.
const NOBODY: &str = "65534:65534";
/// The time limit for removing a container.
const CLEANING: Duration = Duration::from_secs(30);
/// The maximum number of lines shown of standard error.
const SHOWN_LINES: usize = 20;

/// Runs other programs, if the user allows it.
pub(super) struct Programs {
    pub(super) containers: bool,
    pub(super) executables: bool,
    /// Whether kustomize may call helm.
    pub(super) helm: bool,
    /// Which files kustomize may read.
    pub(super) restrictor: LoadRestrictor,
    /// The time limit of a program.
    pub(super) limit: Duration,
    pub(super) console: Console,
    /// Stops programs when this program must end.
    pub(super) interruption: Interruption,
    /// The number of containers started.
    pub(super) started: Cell<u32>,
    /// The installed kustomize, after the search.
    pub(super) kustomize: OnceCell<Option<Installed>>,
}

impl Programs {
    /// Runs a function as kpt does: without a network and as nobody.
    pub(super) fn container(
        &self,
        container: &Container,
        list: &Arc<Source>,
    ) -> Result<FunctionOutput> {
        self.started.set(self.started.get() + 1);
        let name = format!("krm-template-{}-{}", std::process::id(), self.started.get());
        for engine in engines() {
            let mut command = Command::new(&engine);
            command.args(["run", "--rm", "-i", "--network", "none", "--user", NOBODY]);
            command.args(["--name", &name]);
            command.arg("--security-opt=no-new-privileges");
            for variable in &container.envs {
                command.args(["--env", variable]);
            }
            command.arg("--").arg(&container.image);
            match self.function(&mut command, &container.image, list) {
                Err(Failure::Missing) => {}
                Err(failure) if failure.is_a_stop() => {
                    // Only the client was stopped, so the container must be removed.
                    let mut command = Command::new(&engine);
                    command.args(["rm", "--force", &name]);
                    let _ = self.process(&mut command, String::new(), CLEANING);
                    return Err(self.failure(&container.image, failure));
                }
                output => return output.map_err(|failure| self.failure(&container.image, failure)),
            }
        }
        Err(Diagnostic::error(format!(
            "found no container engine to run `{}`",
            container.image
        ))
        .hint(format!(
            "install one of {}, or set `{ENGINE}` to the name of yours",
            ENGINES.join(", ")
        ))
        .into())
    }

    pub(super) fn executable(&self, exec: &Exec, list: &Arc<Source>) -> Result<FunctionOutput> {
        // The function runs in another directory, so a relative path is made absolute.
        let program = if exec.path.contains('/') {
            let here = std::env::current_dir().unwrap_or_default();
            here.join(&exec.path)
        } else {
            exec.path.clone().into()
        };
        let mut command = Command::new(program);
        command.args(&exec.args);
        if Path::new(&exec.directory).is_dir() {
            command.current_dir(join(".", &exec.directory));
        }
        for variable in &exec.envs {
            let (name, value) = variable.split_once('=').unwrap_or((variable, ""));
            command.env(name, value);
        }
        match self.function(&mut command, &exec.path, list) {
            Err(Failure::Missing) => {
                let hint = if exec.path.contains('/') {
                    "the path is relative to the file that contains it"
                } else {
                    "a name without a slash is searched for on the PATH; for a file next to the Composition, write `./NAME`"
                };
                Err(
                    Diagnostic::error(format!("program `{}` not found", exec.path))
                        .hint(hint)
                        .into(),
                )
            }
            output => output.map_err(|failure| self.failure(&exec.path, failure)),
        }
    }

    /// Runs a program.
    pub(super) fn process(
        &self,
        command: &mut Command,
        input: String,
        limit: Duration,
    ) -> std::result::Result<Ended, Failure> {
        process::run(command, input, limit, &self.interruption)
    }

    /// Runs a function, and reads its results.
    fn function(
        &self,
        command: &mut Command,
        name: &str,
        list: &Arc<Source>,
    ) -> std::result::Result<FunctionOutput, Failure> {
        let mut ended = self.process(command, list.text().to_owned(), self.limit)?;
        let list = String::from_utf8(std::mem::take(&mut ended.stdout)).ok();
        let mut diagnostics = if let Some(list) = &list {
            report::read_results(list)
        } else {
            let problem = format!("the output of `{name}` is not UTF-8");
            Diagnostics::from(Diagnostic::error(problem))
        };
        if !ended.status.success() {
            diagnostics.push(unsuccessful(name, &ended));
        } else if let Some(said) = said(&ended.stderr) {
            diagnostics.push(Diagnostic::info(format!("`{name}` succeeded")).hint(said));
        }
        Ok(FunctionOutput { list, diagnostics })
    }

    pub(super) fn failure(&self, name: &str, failure: Failure) -> Box<Diagnostic> {
        match failure {
            Failure::Missing => Diagnostic::error(format!("program `{name}` not found")),
            Failure::System(error) => {
                let denied = error.kind() == ErrorKind::PermissionDenied;
                let hint = denied.then(|| format!("make it executable: `chmod +x {name}`"));
                Diagnostic::error(format!("`{name}` cannot be run: {error}")).maybe_hint(hint)
            }
            Failure::TimedOut(stderr) => Diagnostic::error(format!(
                "`{name}` ran for more than {} s and was stopped",
                self.limit.as_secs()
            ))
            .maybe_hint(said(&stderr))
            .hint("to give it more time, use `--function-timeout`"),
            Failure::TooMuch => Diagnostic::error(format!(
                "`{name}` wrote more than {} MiB to standard output and was stopped",
                MAX_OUTPUT >> 20
            ))
            .hint("run it on fewer resources at a time"),
            Failure::Interrupted => Diagnostic::error(format!("`{name}` was interrupted")),
        }
        .into()
    }
}

pub(super) fn unsuccessful(name: &str, ended: &Ended) -> Diagnostic {
    let how = match ended.status.code() {
        Some(code) => format!("exit status {code}"),
        None => ended.status.to_string(),
    };
    Diagnostic::error(format!("`{name}` failed: {how}")).maybe_hint(said(&ended.stderr))
}

/// The last lines that a program wrote to standard error.
fn said(stderr: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    let text = without_klog(&text);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let first = lines.len().saturating_sub(SHOWN_LINES);
    let lines = lines.get(first..).unwrap_or_default();
    (!lines.is_empty()).then(|| format!("it wrote to standard error:\n{}", lines.join("\n")))
}

/// A message of kubectl without the log prefix.
fn without_klog(text: &str) -> &str {
    match text.split_once("] \"command failed\" err=") {
        Some((before, problem)) if !before.contains('\n') => {
            problem.trim_matches(|c: char| c.is_whitespace() || "<>\"".contains(c))
        }
        _ => text,
    }
}

fn engines() -> Vec<String> {
    let chosen = std::env::var_os(ENGINE).and_then(|name| name.into_string().ok());
    match chosen.filter(|name| !name.is_empty()) {
        Some(name) => vec![name],
        None => ENGINES.map(str::to_owned).to_vec(),
    }
}
