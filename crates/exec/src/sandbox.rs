//! A sandbox that the kernel of Linux keeps around Python templates.
//!
//! The program starts itself, restricts itself, and then becomes the interpreter: the restrictions
//! cannot be lifted, and Rust has no safe way to restrict a program between its start and its first
//! instruction. (A thread that restricts itself and starts the interpreter must be allowed to start
//! processes, and so would be the templates.)
//!
//! Landlock allows to read the files of the interpreter, and to execute the interpreter. seccomp
//! allows the system calls that an interpreter needs for computing: none that makes a socket or a
//! process, writes to a file system or looks at other processes. Where the kernel lacks one of them,
//! the interpreter is not started. What later versions of Landlock add is refused by seccomp, too.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};

use crate::group::Group;
use crate::io::print_error;

/// The first argument of a program that is to restrict itself.
const ARGUMENT: &str = "__sandbox";
/// Separates what is read, what is executed, and the command.
const END: &str = "--";
/// This program, also when its file was replaced.
const SELF: &str = "/proc/self/exe";

/// Whether this program knows the argument.
static IS_READY: AtomicBool = AtomicBool::new(false);

/// A Python program that prints the parts of the interpreter that runs it.
pub(crate) const QUESTION: &str = include_str!("sandbox/interpreter.py");

/// The parts of an interpreter.
pub(crate) struct Interpreter {
    program: OsString,
    reads: Vec<OsString>,
    executes: Vec<OsString>,
}

impl Interpreter {
    /// Reads the output of [`QUESTION`].
    pub(crate) fn parse(answer: &[u8]) -> Option<Self> {
        let mut parts = answer.strip_suffix(b"\0")?.split(|byte| *byte == 0);
        let path = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
        let mut found =
            Self { program: path(parts.next()?), reads: Vec::new(), executes: Vec::new() };
        for part in parts {
            match part {
                [b'r', read @ ..] => found.reads.push(path(read)),
                [b'x', executed @ ..] => found.executes.push(path(executed)),
                _ => return None,
            }
        }
        Some(found)
    }

    /// A command that runs the interpreter in the sandbox.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(SELF);
        command.arg(ARGUMENT);
        command.args(&self.reads).arg(END);
        command.args(&self.executes).arg(END);
        command.arg(&self.program);
        command
    }
}

/// Fails with the reason where a program cannot be kept in the sandbox.
pub(crate) fn check() -> Result<(), String> {
    if !IS_READY.load(Ordering::Relaxed) {
        return Err("this program has no sandbox".to_owned());
    }
    let mut command = Command::new(SELF);
    command.args([ARGUMENT, END, END]).stderr(Stdio::piped());
    let tried = Group::start(&mut command).and_then(|group| group.child.wait_with_output());
    let tried = tried.map_err(|error| format!("`{SELF}` cannot be run: {error}"))?;
    if tried.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&tried.stderr);
    Err(reason.trim().trim_start_matches("error: ").to_owned())
}

/// Becomes an interpreter in the sandbox if the program was started for that. Returns the exit
/// status if it cannot. To be called at the start of a program, which without it runs interpreters
/// outside of the sandbox.
pub fn enter() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != ARGUMENT) {
        IS_READY.store(true, Ordering::Relaxed);
        return None;
    }
    let arguments: Vec<OsString> = arguments.collect();
    let mut parts = arguments.splitn(3, |argument| argument == END);
    let mut part = || parts.next().unwrap_or_default();
    let (reads, executes, command) = (part(), part(), part());
    let failed = match (restrict(reads, executes), command.split_first()) {
        (Err(reason), _) => reason,
        (Ok(()), None) => return Some(ExitCode::SUCCESS),
        (Ok(()), Some((program, arguments))) => {
            let error = Command::new(program).args(arguments).exec();
            format!("{} cannot be run: {error}", program.display())
        }
    };
    print_error(&format!("error: {failed}\n"));
    Some(ExitCode::FAILURE)
}

/// Restricts this process, or fails with the part that the kernel lacks.
fn restrict(reads: &[OsString], executes: &[OsString]) -> Result<(), String> {
    restrict_files(reads, executes).map_err(|_| "the kernel has no Landlock".to_owned())?;
    restrict_calls().ok_or_else(|| "the kernel has no seccomp for programs".to_owned())
}

/// Allows only to read and to execute these files, and no TCP, no signals to other processes and no
/// abstract sockets of them.
fn restrict_files(reads: &[OsString], executes: &[OsString]) -> Result<(), RulesetError> {
    let abi = ABI::V6;
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?
        .add_rules(path_beneath_rules(reads, read))?
        .add_rules(path_beneath_rules(executes, read | AccessFs::Execute))?
        .restrict_self()?;
    Ok(())
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn restrict_calls() -> Option<()> {
    seccompiler::apply_filter(&calls::filter(std::process::id())?).ok()
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const fn restrict_calls() -> Option<()> {
    None
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod calls;
