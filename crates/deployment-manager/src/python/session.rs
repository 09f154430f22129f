//! A session with an interpreter.

use krm_yaml::diagnostic::{Diagnostic, Result};

use crate::python::answer::{self, Answer};
use crate::python::call::{Call, Returned};
use crate::python::{failure, request};

/// The program that a Python interpreter runs: it reads a request a line, and answers with a line.
pub const RUNNER: &str = include_str!("runner.py");

/// A Python interpreter that runs [`RUNNER`], one process an expansion.
pub trait Interpreter {
    /// Returns the advice about a Python template, if Python is not run.
    fn ways_out(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// Sends a line, and returns the line that the runner answers. Starts the process before the
    /// first line.
    ///
    /// # Errors
    /// If Python cannot be started, or exceeds a limit: with the way out.
    fn ask(&mut self, line: &str) -> Result<String>;
}

/// Makes the interpreter of each expansion.
pub trait Interpreters: Send + Sync {
    /// An interpreter for one expansion.
    fn interpreter(&self) -> Box<dyn Interpreter>;
}

/// Does not run Python, and says what to do instead.
#[derive(Clone, Copy, Debug)]
pub struct Forbidden(pub &'static [&'static str]);

impl Forbidden {
    /// The advice to users of a KRM function.
    pub const IN_FUNCTION: Self = Self(&[
        "add the expanded objects to the package: `krm-template dm expand CONFIG --objects --allow-python`",
        "or make it a transformer of a Composition: `krm-template build --allow-python`",
    ]);
}

impl Interpreters for Forbidden {
    fn interpreter(&self) -> Box<dyn Interpreter> {
        Box::new(*self)
    }
}

impl Interpreter for Forbidden {
    fn ways_out(&self) -> Option<&'static [&'static str]> {
        Some(self.0)
    }

    fn ask(&mut self, _: &str) -> Result<String> {
        Err(Diagnostic::error("Python is not run").into())
    }
}

/// An expansion's session with Python.
pub struct Session<'p> {
    interpreter: &'p mut dyn Interpreter,
    /// Whether the runner has the imports.
    has_imports: bool,
    /// Whether an answer could not be read. The next one may be an answer to another request.
    is_broken: bool,
}

impl<'p> Session<'p> {
    /// A session that has not started yet.
    pub fn new(interpreter: &'p mut dyn Interpreter) -> Self {
        Self { interpreter, has_imports: false, is_broken: false }
    }

    /// Runs a template.
    ///
    /// # Errors
    /// If the template fails: with its line, in the template itself.
    pub fn call(&mut self, call: Call<'_>) -> Result<Returned> {
        if let Some(ways_out) = self.interpreter.ways_out() {
            return Err(failure::not_allowed(call.template, ways_out));
        }
        if self.is_broken {
            return Err(failure::unreadable(call.template));
        }
        let request = request::line(call, !self.has_imports);
        let answered = self.interpreter.ask(&request);
        self.has_imports = true;
        let line = answered.map_err(|error| failure::of_interpreter(*error, call.template))?;
        match answer::read(&line, call.properties) {
            Some(Answer::Returned(returned)) => Ok(returned),
            Some(Answer::Failed(failed)) => Err(failure::of_template(&failed, call)),
            None => {
                self.is_broken = true;
                Err(failure::unreadable(call.template))
            }
        }
    }
}
