//! A step of a Composition: a transformer with what runs it.

use std::fmt;

use crate::composition::engine::context::Context;
use crate::composition::engine::program::Program;
use crate::composition::engine::transformer::Transformer;
use crate::composition::resources::resource::Resource;

/// A built-in transformer with its configuration.
pub(crate) trait Transform: fmt::Debug {
    /// Changes the resources, or reports errors.
    fn apply<'d>(&self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_, 'd>);
}

/// A transformer with what runs it.
#[derive(Debug)]
pub struct Step {
    /// How it is configured.
    pub transformer: Transformer,
    pub(crate) runner: Runner,
}

/// What runs a transformer.
#[derive(Debug)]
pub(crate) enum Runner {
    /// It is built in.
    Builtin(Box<dyn Transform>),
    /// It is itself a list of transformers.
    Composition,
    /// One of our own functions, in this process.
    Own,
    /// Another program.
    Program(Program),
    /// A Starlark script, which this program does not run.
    Starlark,
}

impl Step {
    /// Whether one of our own functions runs it.
    #[must_use]
    pub const fn is_own(&self) -> bool {
        matches!(self.runner, Runner::Own)
    }
}
