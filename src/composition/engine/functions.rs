//! Functions that are not built in, as the program that has transformers run offers them.

use std::sync::Arc;

use crate::composition::engine::program::Program;
use crate::composition::engine::transformer::Transformer;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;

/// Runs what is not built in.
pub trait Functions {
    /// Whether it would run a program for a transformer.
    ///
    /// # Errors
    /// If that is not allowed.
    fn check(&self, _: &Transformer, _: &Program) -> Result<()> {
        Ok(())
    }

    /// Runs the program that a transformer names on a ResourceList, whose functionConfig the
    /// transformer is.
    fn run(
        &self,
        transformer: &Transformer,
        program: &Program,
        list: &Arc<Source>,
    ) -> FunctionOutput;

    /// Runs one of our own functions on a ResourceList, whose functionConfig the transformer is.
    fn run_own(&self, transformer: &Transformer, _: &Arc<Source>) -> FunctionOutput {
        let mut wrong = Diagnostic::error(format!("{}: nothing runs it here", transformer.id));
        wrong.place = transformer.place();
        FunctionOutput {
            list: None,
            diagnostics: wrong.into(),
        }
    }

    /// The stream of objects that kustomize makes.
    ///
    /// # Errors
    /// If there is no kustomize, or it fails.
    fn kustomize(&self, _: &Kustomize<'_>) -> Result<Arc<Source>> {
        Err(
            Diagnostic::error("this is for kustomize, and a function runs no other programs")
                .hint("on the command line, `krm-template build` runs kustomize")
                .into(),
        )
    }
}

/// What kustomize is to build.
#[derive(Clone, Copy, Debug)]
pub struct Kustomize<'k> {
    /// The directory with the Kustomization, from where files are read.
    pub directory: &'k str,
    /// Names and texts of files that are to stand there instead of those it has. If there are
    /// any, so is the Kustomization.
    pub files: &'k [(&'k str, String)],
    /// Paths of files and directories from elsewhere that are to be found there, and which these
    /// are.
    pub links: &'k [(String, String)],
    /// Other Kustomizations, in which files are to stand, too.
    pub bases: &'k [Base],
    /// Whether kustomize will call helm.
    pub calls_helm: bool,
}

/// The directory of a Kustomization that another one names.
#[derive(Clone, Debug)]
pub struct Base {
    /// The directory, from where files are read.
    pub directory: String,
    /// Names and texts of files that are to stand there instead of those it has.
    pub files: Vec<(String, String)>,
}

/// What a function gave back.
#[derive(Debug)]
pub struct FunctionOutput {
    /// The ResourceList; none if it failed.
    pub list: Option<String>,
    /// What it has to say; with an error it has failed.
    pub diagnostics: Diagnostics,
}
