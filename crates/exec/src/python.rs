//! Runs Python templates with a Python interpreter of the machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, ExitStatus};
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::group::Group;
use crate::interruption::Interruption;
use crate::io::print_error;
#[cfg(target_os = "linux")]
use crate::sandbox::{self, QUESTION};
use crate::subprocess::{self, GRACE, LISTEN, Limits, PAUSE, now, with_streams};
use krm_template_deployment_manager::python::{Forbidden, Interpreter, Interpreters, RUNNER};
use krm_yaml::diagnostic::{Diagnostic, Result};

#[cfg(target_os = "linux")]
pub use crate::sandbox::enter as enter_sandbox;

/// Does nothing: only Linux has a sandbox.
#[cfg(not(target_os = "linux"))]
pub const fn enter_sandbox() -> Option<std::process::ExitCode> {
    None
}

/// The interpreter that is run if no other is named.
const PROGRAM: &str = "python3";

/// How long the templates of an expansion may take together.
const LIMIT: Duration = Duration::from_secs(30);
/// How many bytes an answer may have.
const MAX_ANSWER: u64 = 64 << 20;
/// The maximum number of bytes that templates may print.
const MAX_PRINTED: u64 = 1 << 20;

/// The confinement of Python templates: files, networks and other programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Confinement {
    /// A sandbox of the kernel, without which none runs
    #[default]
    Confined,
    /// Nothing: they have your permissions
    Unconfined,
}

/// Arguments for running Python templates.
#[derive(Args, Debug, Default)]
pub struct PythonArguments {
    /// Run Python templates, in a sandbox of the kernel. `unconfined` runs them with your
    /// permissions: only for templates you trust
    #[arg(
        long,
        value_name = "CONFINEMENT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "confined"
    )]
    allow_python: Option<Confinement>,

    /// The Python interpreter, 3.8 or later
    #[arg(long, value_name = "PROGRAM", default_value = PROGRAM)]
    python: String,
}

impl PythonArguments {
    /// Creates the source of interpreters for expansions.
    pub fn interpreters(&self, interruption: &Interruption) -> Arc<dyn Interpreters> {
        let Some(confinement) = self.allow_python else {
            return Arc::new(Forbidden(&[
                "pass `--allow-python` to run it in a sandbox of the kernel",
            ]));
        };
        let python = Allowed::new(&self.python, confinement, interruption.clone());
        Arc::new(Allowed { is_forwarded: true, ..python })
    }
}

/// Makes interpreters for a program that serves others: what templates print is dropped, and the
/// templates of an expansion may take as long as `limit`.
pub fn interpreters(
    program: &str,
    limit: Duration,
    confinement: Confinement,
) -> Arc<dyn Interpreters> {
    let python = Allowed::new(program, confinement, Interruption::never());
    Arc::new(Allowed { limit, ..python })
}

/// Checks that the kernel can keep templates in a sandbox.
///
/// # Errors
/// If it cannot: the reason.
pub fn check_sandbox() -> std::result::Result<(), String> {
    #[cfg(target_os = "linux")]
    return sandbox::check();
    #[cfg(not(target_os = "linux"))]
    Err("only Linux has it".to_owned())
}

/// How a program is run as the interpreter.
#[derive(Clone)]
struct Allowed {
    program: String,
    confinement: Confinement,
    limit: Duration,
    /// Whether what templates print goes to standard error; otherwise it is dropped.
    is_forwarded: bool,
    interruption: Interruption,
    /// The parts of the interpreter, once they are known.
    #[cfg(target_os = "linux")]
    found: Arc<OnceLock<sandbox::Interpreter>>,
}

impl Interpreters for Allowed {
    fn interpreter(&self) -> Box<dyn Interpreter> {
        Box::new(Python {
            allowed: self.clone(),
            taken: Duration::ZERO,
            has_answered: false,
            state: State::New,
        })
    }
}

/// A Python interpreter; started by the first template, and stopped when it is dropped.
struct Python {
    allowed: Allowed,
    /// The time that templates took so far.
    taken: Duration,
    has_answered: bool,
    state: State,
}

enum State {
    New,
    Running(Process),
    /// It cannot answer any more.
    Ended,
}

/// A process that runs the runner.
struct Process {
    group: Group,
    requests: Sender<String>,
    answers: Receiver<Result<String, Failure>>,
    /// Gets a message when all that was printed is forwarded.
    printed: Receiver<()>,
}

impl Allowed {
    fn new(program: &str, confinement: Confinement, interruption: Interruption) -> Self {
        Self {
            program: program.to_owned(),
            confinement,
            limit: LIMIT,
            is_forwarded: false,
            interruption,
            #[cfg(target_os = "linux")]
            found: Arc::default(),
        }
    }

    /// The command that runs the interpreter.
    fn command(&self) -> Command {
        // It runs in another directory, so a relative path is made absolute.
        let program = if self.program.contains('/') {
            let here = std::env::current_dir().unwrap_or_default();
            here.join(&self.program)
        } else {
            PathBuf::from(&self.program)
        };
        Command::new(program)
    }

    /// The same in the sandbox.
    #[cfg(target_os = "linux")]
    fn sandboxed(&self) -> Result<Command, Failure> {
        if let Some(found) = self.found.get() {
            return Ok(found.command());
        }
        check_sandbox().map_err(Failure::Exposed)?;
        let mut command = self.command();
        let command = with_program(&mut command, QUESTION);
        let ended = subprocess::run(command, String::new(), self.limits(), &self.interruption);
        // That has ended with the program.
        self.interruption.keep(true);
        let ended = ended?;
        let found = sandbox::Interpreter::parse(&ended.stdout);
        match found.filter(|_| ended.status.success()) {
            Some(found) => Ok(self.found.get_or_init(|| found).command()),
            None => Err(Failure::Unusable(ended.status)),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn sandboxed(&self) -> Result<Command, Failure> {
        check_sandbox().map_err(Failure::Exposed)?;
        Ok(self.command())
    }

    const fn limits(&self) -> Limits {
        Limits { time: self.limit, output: MAX_ANSWER }
    }
}

impl Python {
    /// The answer to a request.
    fn answer(&mut self, line: &str) -> Result<String, Failure> {
        if matches!(self.state, State::New) {
            let allowed = &self.allowed;
            let mut command = match allowed.confinement {
                Confinement::Confined => allowed.sandboxed()?,
                Confinement::Unconfined => allowed.command(),
            };
            let process = Process::start(&mut command, allowed.is_forwarded)?;
            self.state = State::Running(process);
        }
        let State::Running(process) = &mut self.state else {
            return Err(Failure::Gone);
        };
        // If the process has ended, that arrives at its output.
        let _ = process.requests.send(line.to_owned());
        let start = now();
        loop {
            if self.allowed.interruption.take() {
                return Err(subprocess::Failure::Interrupted.into());
            }
            let left = self.allowed.limit.saturating_sub(self.taken + start.elapsed());
            if left.is_zero() {
                return Err(subprocess::Failure::TimedOut(Vec::new()).into());
            }
            match process.answers.recv_timeout(LISTEN.min(left)) {
                Ok(answer) => {
                    self.taken += start.elapsed();
                    self.has_answered |= answer.is_ok();
                    return answer;
                }
                Err(RecvTimeoutError::Disconnected) => return Err(Failure::Ended),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Stops the process with its children. Returns the exit status if it ended by itself.
    fn stop(&mut self, has_closed: bool) -> Option<ExitStatus> {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Running(process) => process.stop(has_closed),
            State::New | State::Ended => None,
        }
    }

    fn diagnostic(&self, failure: &Failure, status: Option<ExitStatus>) -> Diagnostic {
        let (program, limits) = (&self.allowed.program, self.allowed.limits());
        match failure {
            Failure::Stopped(failure) => match failure {
                subprocess::Failure::TimedOut(_) => Diagnostic::error(format!(
                    "the templates ran for more than {} s and were stopped",
                    limits.time.as_secs()
                )),
                subprocess::Failure::TooMuch => Diagnostic::error(format!(
                    "the template returned more than {} MiB",
                    MAX_ANSWER >> 20
                )),
                failure => {
                    let is_missing = matches!(failure, subprocess::Failure::Missing);
                    let hint = "install Python 3.8 or later, or name its program with `--python`";
                    failure.diagnostic(program, limits).maybe_hint(is_missing.then(|| hint.to_owned()))
                }
            },
            Failure::Gone => Diagnostic::error(format!("`{program}` is not running any more"))
                .hint("the first error of a Python template says why"),
            Failure::Exposed(reason) => Diagnostic::error(format!(
                "`{program}` is not run, because there is no sandbox for it: {reason}"
            ))
            .hint("run it on Linux with Landlock and seccomp; a container's runtime must allow Landlock")
            .hint("or on the command line, only for templates you trust, with your permissions: `--allow-python=unconfined`"),
            Failure::Unusable(status) => self.ended(Some(*status)),
            Failure::Ended => self.ended(status),
        }
    }

    fn ended(&self, status: Option<ExitStatus>) -> Diagnostic {
        let how = match status {
            None => "closed its output".to_owned(),
            Some(status) => match status.code() {
                Some(code) => format!("ended with exit status {code}"),
                None => format!("was stopped by {status}"),
            },
        };
        let wrong =
            Diagnostic::error(format!("`{}` {how} before it answered", self.allowed.program));
        if !self.has_answered && status.is_some_and(|status| status.code().is_some()) {
            wrong.hint("Python 3.8 or later is needed; name its program with `--python`")
        } else {
            wrong.hint("templates may use 10 s of processor time and 1 GiB of memory")
        }
    }
}

impl Interpreter for Python {
    fn ask(&mut self, line: &str) -> Result<String> {
        self.allowed.interruption.keep(true);
        let answered = self.answer(line).map_err(|failure| {
            let status = self.stop(matches!(failure, Failure::Ended));
            self.diagnostic(&failure, status).into()
        });
        self.allowed.interruption.keep(false);
        answered
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        self.stop(false);
    }
}

/// The reason for a missing answer.
enum Failure {
    /// The program did not start, or was stopped.
    Stopped(subprocess::Failure),
    /// Nothing would keep it from the rest of the machine, for this reason.
    Exposed(String),
    /// It does not say what it consists of.
    Unusable(ExitStatus),
    /// It ended, or closed its output.
    Ended,
    Gone,
}

impl From<subprocess::Failure> for Failure {
    fn from(failure: subprocess::Failure) -> Self {
        Self::Stopped(failure)
    }
}

/// Has an interpreter run `program`, alone with the path.
fn with_program<'c>(command: &'c mut Command, program: &str) -> &'c mut Command {
    command
        .args(["-s", "-B", "-c", program])
        .env_clear()
        .env("PYTHONHASHSEED", "0")
        .env("PYTHONUTF8", "1")
        .current_dir("/");
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}

impl Process {
    fn start(command: &mut Command, is_forwarded: bool) -> Result<Self, Failure> {
        let mut group = with_streams(with_program(command, RUNNER))?;
        let (requests, to_write) = channel();
        let (to_read, answers) = sync_channel(1);
        let (forwarded, all_printed) = channel();
        let (stdin, stdout) = (group.child.stdin.take(), group.child.stdout.take());
        let stderr = group.child.stderr.take();
        thread::spawn(move || stdin.map(|stream| write(stream, &to_write)));
        thread::spawn(move || stdout.map(|stream| read(stream, &to_read)));
        thread::spawn(move || {
            if let Some(stream) = stderr {
                forward(stream, is_forwarded);
            }
            // The receiver may be gone.
            forwarded.send(())
        });
        Ok(Self { group, requests, answers, printed: all_printed })
    }

    /// Stops the process with its children. If it `has_closed` its output, it gets some time to end
    /// by itself, and its exit status is returned.
    fn stop(mut self, has_closed: bool) -> Option<ExitStatus> {
        let start = now();
        while has_closed && matches!(self.group.has_ended(), Ok(false)) && start.elapsed() < GRACE {
            thread::sleep(PAUSE);
        }
        let has_ended = has_closed && matches!(self.group.has_ended(), Ok(true));
        let status = self.group.stop();
        // A child that has left the group may keep the stream open.
        let _ = self.printed.recv_timeout(GRACE);
        status.ok().filter(|_| has_ended)
    }
}

/// Writes requests in a thread of its own: the process may stop reading.
fn write(mut stream: ChildStdin, requests: &Receiver<String>) {
    while let Ok(line) = requests.recv() {
        if stream.write_all(line.as_bytes()).is_err() {
            return;
        }
    }
}

/// Reads answers until nobody waits for them.
fn read(stream: impl Read, answers: &SyncSender<Result<String, Failure>>) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        let mut limited = stream.by_ref().take(MAX_ANSWER + 1);
        let length = limited.read_until(b'\n', &mut line);
        let answer = match (length, line.last()) {
            (Ok(_), Some(b'\n')) => Ok(String::from_utf8_lossy(&line).trim_end().to_owned()),
            _ if line.len() as u64 > MAX_ANSWER => Err(subprocess::Failure::TooMuch.into()),
            _ => Err(Failure::Ended),
        };
        let is_last = answer.is_err();
        if answers.send(answer).is_err() || is_last {
            return;
        }
    }
}

/// Forwards the output of templates to standard error by lines, or drops it.
fn forward(mut stream: impl Read, is_forwarded: bool) {
    if is_forwarded {
        let mut kept = BufReader::new(stream.by_ref().take(MAX_PRINTED));
        let mut line = Vec::new();
        while let Ok(1..) = kept.read_until(b'\n', &mut line) {
            print_error(&String::from_utf8_lossy(&line));
            line.clear();
        }
    }
    let _ = std::io::copy(&mut stream, &mut std::io::sink());
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::Duration;

    use super::{Allowed, Confinement};
    use crate::interruption::Interruption;
    use krm_template_deployment_manager::python::Interpreters as _;

    /// Asks a program with this shell script once, and again after an answer.
    fn ask(script: &str, limit: Duration) -> (Result<String, String>, Result<String, String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("python");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let program = path.to_str().unwrap();
        let python = Allowed::new(program, Confinement::Unconfined, Interruption::listen());
        let mut python = Allowed { limit, ..python }.interpreter();
        let mut ask = || {
            let answer = python.ask("request\n");
            answer.map_err(|wrong| wrong.to_string().replace(program, "python"))
        };
        (ask(), ask())
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn answers_are_lines() {
        let (first, second) = ask("while read x; do echo got $x; done", LONG);
        assert_eq!(first.as_deref(), Ok("got request"));
        assert_eq!(second.as_deref(), Ok("got request"));
    }

    #[test]
    fn the_environment_is_empty_but_for_the_path() {
        let (answer, _) = ask("echo $(env | cut -d= -f1 | sort) in $(pwd)", LONG);
        let answer = answer.unwrap();
        // A shell sets variables of its own.
        let names = answer.replace("OLDPWD ", "").replace("PWD ", "").replace("SHLVL ", "");
        assert_eq!(names.replace("_ ", ""), "PATH PYTHONHASHSEED PYTHONUTF8 in /");
    }

    #[test]
    fn a_program_that_ends_is_an_error() {
        let (first, second) = ask("exit 3", LONG);
        assert_eq!(
            first.unwrap_err(),
            "error: `python` ended with exit status 3 before it answered\n  help: Python 3.8 or later is needed; name its program with `--python`"
        );
        assert_eq!(
            second.unwrap_err(),
            "error: `python` is not running any more\n  help: the first error of a Python template says why"
        );
        let (first, _) = ask("kill -9 $$", LONG);
        assert_eq!(
            first.unwrap_err(),
            "error: `python` was stopped by signal: 9 (SIGKILL) before it answered\n  help: templates may use 10 s of processor time and 1 GiB of memory"
        );
        let (first, _) = ask("printf 'half a line'", LONG);
        assert!(first.unwrap_err().contains("exit status 0"));
    }

    #[test]
    fn a_program_that_takes_too_long_is_stopped_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let late = folder.path().join("late");
        let script = format!("(sleep 2; touch {}) & sleep 60", late.display());
        let (first, _) = ask(&script, Duration::from_millis(300));
        assert_eq!(
            first.unwrap_err(),
            "error: the templates ran for more than 0 s and were stopped"
        );
        std::thread::sleep(Duration::from_millis(2500));
        assert!(!late.exists(), "a child was not stopped");
    }

    #[test]
    fn an_answer_without_end_is_an_error() {
        let (first, _) = ask("yes | tr -d '\\n'", LONG);
        assert_eq!(first.unwrap_err(), "error: the template returned more than 64 MiB");
    }

    #[test]
    fn without_a_sandbox_nothing_is_run() {
        // The program of the tests does not begin with the sandbox.
        let python = Allowed::new("python3", Confinement::Confined, Interruption::never());
        let mut python = python.interpreter();
        let refused = python.ask("request\n").unwrap_err().to_string();
        let expected = "error: `python3` is not run, because there is no sandbox for it: ";
        assert!(refused.starts_with(expected), "{refused}");
    }

    #[test]
    fn a_program_that_is_missing_is_an_error() {
        let python =
            Allowed::new("/there/is/no/python", Confinement::Unconfined, Interruption::listen());
        let mut python = python.interpreter();
        assert_eq!(
            python.ask("request\n").unwrap_err().to_string(),
            "error: program `/there/is/no/python` not found\n  help: install Python 3.8 or later, or name its program with `--python`"
        );
    }
}
