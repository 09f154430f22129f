//! Functions that are other programs: containers and executables.

pub(crate) mod chart;
pub(crate) mod clones;
pub(crate) mod containers;
mod git;
mod helm;
pub(crate) mod no_exec;
pub(crate) mod repository;

use std::cell::Cell;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crate::programs::chart::HelmOptions;
use crate::programs::clones::Git;
use crate::programs::containers::{ContainerOptions, Roots};
use krm_core::files::{Checkout, join};
use krm_core::report;
use krm_core::secret_places::SecretPlaces;
use krm_template_composition::{
    Chart, Container, Exec, FunctionOutput, Functions, Program, Transformer,
};
use krm_template_exec::console::Console;
use krm_template_exec::interruption::Interruption;
use krm_template_exec::subprocess::{self, Ended, Failure, Limits, said, unsuccessful};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;

/// The container engines, in search order.
const ENGINES: [&str; 3] = ["docker", "podman", "nerdctl"];
/// The variable that chooses the engine, as in kpt.
const ENGINE: &str = "KRM_FN_RUNTIME";
/// The time limit for removing a container.
const CLEANING: Duration = Duration::from_secs(30);
/// How many bytes a program may write to its standard output. Resources that are read take up to
/// eleven times as much memory.
const MAX_OUTPUT: u64 = 64 << 20;

/// Runs other programs, if the user allows it.
pub(crate) struct Programs {
    pub(crate) containers: bool,
    pub(crate) options: ContainerOptions,
    pub(crate) roots: Roots,
    pub(crate) executables: bool,
    pub(crate) helm: HelmOptions,
    /// Where repositories are cloned; none if that is not allowed.
    pub(crate) git: Option<Git>,
    /// The time limit of a program.
    pub(crate) limit: Duration,
    pub(crate) console: Console,
    /// Stops programs when this program must end.
    pub(crate) interruption: Interruption,
    /// The number of containers started.
    pub(crate) started: Cell<u32>,
}

impl Programs {
    /// Runs a function as kpt does: without a network and as nobody, unless the user says otherwise.
    pub(crate) fn container(
        &self,
        container: &Container,
        list: &Arc<Source>,
    ) -> Result<FunctionOutput> {
        self.started.set(self.started.get() + 1);
        let name = format!("krm-template-{}-{}", std::process::id(), self.started.get());
        let surroundings = self.options.surroundings(container, &self.roots)?;
        for engine in engines() {
            let mut command = Command::new(&engine);
            command.args(["run", "--rm", "-i"]);
            command.args(self.options.access(container));
            command.args(["--name", &name]);
            command.arg("--security-opt=no-new-privileges");
            command.args(&surroundings);
            command.arg("--").arg(&container.image);
            match self.function(&mut command, &container.image, list) {
                Err(Failure::Missing) => {}
                Err(failure) if failure.is_a_stop() => {
                    // Only the client was stopped, so the container must be removed.
                    let mut command = Command::new(&engine);
                    command.args(["rm", "--force", &name]);
                    let _ = self.process(&mut command, String::new(), CLEANING);
                    return Err(self.failure(&container.image, &failure));
                }
                output => {
                    return output.map_err(|failure| self.failure(&container.image, &failure));
                }
            }
        }
        Err(Diagnostic::error(format!("found no container engine to run `{}`", container.image))
            .hint(format!(
                "install one of {}, or set `{ENGINE}` to the name of yours",
                ENGINES.join(", ")
            ))
            .into())
    }

    pub(crate) fn executable(&self, exec: &Exec, list: &Arc<Source>) -> Result<FunctionOutput> {
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
                Err(Diagnostic::error(format!("program `{}` not found", exec.path))
                    .hint(hint)
                    .into())
            }
            output => output.map_err(|failure| self.failure(&exec.path, &failure)),
        }
    }

    /// Runs a program for at most `limit`.
    pub(crate) fn process(
        &self,
        command: &mut Command,
        input: String,
        limit: Duration,
    ) -> std::result::Result<Ended, Failure> {
        subprocess::run(command, input, limits(limit), &self.interruption)
    }

    /// Runs a function, and reads its results.
    fn function(
        &self,
        command: &mut Command,
        name: &str,
        list: &Arc<Source>,
    ) -> std::result::Result<FunctionOutput, Failure> {
        let input = list;
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
        if diagnostics.iter().next().is_some() {
            SecretPlaces::of(input, true).values.conceal(&mut diagnostics);
        }
        Ok(FunctionOutput { list, diagnostics })
    }

    pub(crate) fn failure(&self, name: &str, failure: &Failure) -> Box<Diagnostic> {
        let hint = match failure {
            Failure::System(error) if error.kind() == ErrorKind::PermissionDenied => {
                Some(format!("make it executable: `chmod +x {name}`"))
            }
            Failure::TimedOut(_) => {
                Some("to give it more time, use `--function-timeout`".to_owned())
            }
            Failure::TooMuch => Some("run it on fewer resources at a time".to_owned()),
            _ => None,
        };
        failure.diagnostic(name, limits(self.limit)).maybe_hint(hint).into()
    }
}

impl Functions for Programs {
    fn check(&self, transformer: &Transformer, program: &Program) -> Result<()> {
        let (what, option) = match program {
            Program::Container(_) if !self.containers => {
                ("running containers", "--enable-alpha-plugins")
            }
            Program::Container(container) if container.network && !self.options.network => {
                ("a network for its container", "--network")
            }
            Program::Exec(_) if !self.executables => ("running executables", "--enable-exec"),
            Program::Container(container) => return self.roots.note(container),
            Program::Exec(_) => return Ok(()),
        };
        let problem = format!("{}: {what} is not allowed", transformer.id);
        let mut wrong = Diagnostic::error(problem).hint(format!("allow it with `{option}`"));
        wrong.place = transformer.place();
        Err(wrong.into())
    }

    fn run(
        &self,
        transformer: &Transformer,
        program: &Program,
        list: &Arc<Source>,
    ) -> FunctionOutput {
        let output = match program {
            Program::Container(container) => self.container(container, list),
            Program::Exec(exec) => self.executable(exec, list),
        };
        output.unwrap_or_else(|mut problem| {
            problem.message.insert_str(0, &format!("{}: ", transformer.id));
            problem.place = problem.place.or_else(|| transformer.place());
            FunctionOutput { list: None, diagnostics: problem.into() }
        })
    }

    fn fetch(&self, path: &str, from: &str) -> Result<Option<Checkout>> {
        self.cloned(path, from)
    }

    fn helm(&self, chart: &Chart<'_>) -> Result<Arc<Source>> {
        self.inflate(chart)
    }
}

pub(crate) const fn limits(time: Duration) -> Limits {
    Limits { time, output: MAX_OUTPUT }
}

fn engines() -> Vec<String> {
    let chosen = std::env::var_os(ENGINE).and_then(|name| name.into_string().ok());
    match chosen.filter(|name| !name.is_empty()) {
        Some(name) => vec![name],
        None => ENGINES.map(str::to_owned).to_vec(),
    }
}
