//! Runs Python templates as the program does, in the sandbox if the kernel has what it needs.

use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use krm_template::deployment_manager::python::{Interpreter, Interpreters};
use krm_template_exec::python::{Confinement, interpreters};

use crate::needs;

/// One for all tests: it remembers what the interpreter consists of.
static INTERPRETERS: LazyLock<Arc<dyn Interpreters>> = LazyLock::new(|| {
    let confinement =
        if needs::has_landlock() { Confinement::Confined } else { Confinement::Unconfined };
    interpreters("python3", Duration::from_mins(1), confinement)
});

/// Whether python3 is there with what templates import.
pub(crate) fn is_there() -> bool {
    let mut command = Command::new("python3");
    let command = command.args(["-c", "import yaml, six"]).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The interpreter of an expansion.
pub(crate) fn interpreter() -> Box<dyn Interpreter> {
    INTERPRETERS.interpreter()
}
