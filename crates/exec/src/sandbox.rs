//! A sandbox that the kernel of Linux keeps around Python templates.
//!
//! The program starts itself, restricts itself, and then becomes the interpreter: the restrictions
//! cannot be lifted, and Rust has no safe way to restrict a program between its start and its first
//! instruction. (A thread that restricts itself and starts the interpreter must be allowed to start
//! processes, and so would be the templates.)
//!
//! Landlock allows to read the files of the interpreter, and to execute the interpreter. seccomp
//! allows the system calls that an interpreter needs for computing: none that makes a socket or a
//! process, writes to a file system or looks at other processes. A kernel without one of them does
//! not have its part; the audit hook of the runner is always there.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
    RulesetError, Scope, path_beneath_rules,
};

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
        let mut found = Self {
            program: path(parts.next()?),
            reads: Vec::new(),
            executes: Vec::new(),
        };
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

/// Whether this program can run an interpreter in the sandbox.
pub(crate) fn is_ready() -> bool {
    IS_READY.load(Ordering::Relaxed) && Path::new(SELF).exists()
}

/// Becomes an interpreter in the sandbox if the program was started for that. Returns the exit
/// status if it cannot. To be called at the start of a program, which without it runs interpreters
/// outside of the sandbox.
#[must_use]
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
    let (program, arguments) = command.split_first()?;
    // A kernel without Landlock has only seccomp and the audit hook.
    let _ = restrict_files(reads, executes);
    restrict_calls();
    let error = Command::new(program).args(arguments).exec();
    print_error(&format!(
        "error: {} cannot be run: {error}\n",
        program.display()
    ));
    Some(ExitCode::FAILURE)
}

/// Allows only to read and to execute these files, and no TCP, no signals to other processes and no
/// abstract sockets of them.
fn restrict_files(reads: &[OsString], executes: &[OsString]) -> Result<(), RulesetError> {
    let abi = ABI::V6;
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    Ruleset::default()
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
fn restrict_calls() {
    // Without seccomp in the kernel, this fails.
    if let Some(filter) = calls::filter(std::process::id()) {
        let _ = seccompiler::apply_filter(&filter);
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const fn restrict_calls() {}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod calls;
