//! Functions that are not built in: the traits by which the caller offers them.

use std::sync::Arc;

use crate::engine::program::Program;
use crate::engine::transformer::Transformer;
use crate::resources::resource::Resource;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;

/// Runs functions that are not built in.
pub trait Functions {
    /// Checks that a program may run for a transformer.
    ///
    /// # Errors
    /// If that is not allowed.
    fn check(&self, _: &Transformer, _: &Program) -> Result<()> {
        Ok(())
    }

    /// Runs the program of a transformer on a ResourceList whose functionConfig is the transformer.
    fn run(
        &self,
        transformer: &Transformer,
        program: &Program,
        list: &Arc<Source>,
    ) -> FunctionOutput;

    /// Passes the resources through one of our own functions, which a transformer configures. After
    /// an error, do not use the result.
    fn run_own(
        &self,
        transformer: &Transformer,
        _: &mut Vec<Resource<'_>>,
        diagnostics: &mut Diagnostics,
    ) {
        let mut wrong = Diagnostic::error(format!("{}: nothing runs it here", transformer.id));
        wrong.place = transformer.place();
        diagnostics.push(wrong);
    }

    /// The stream of objects that kustomize prints.
    ///
    /// # Errors
    /// If kustomize is missing, or fails.
    fn kustomize(&self, _: &Kustomize<'_>) -> Result<Arc<Source>> {
        Err(
            Diagnostic::error("this needs kustomize, and a function cannot run other programs")
                .hint("on the command line, `krm-template build` runs kustomize")
                .into(),
        )
    }
}

/// A Kustomization to be built by kustomize.
#[derive(Clone, Copy, Debug)]
pub struct Kustomize<'k> {
    /// The directory with the Kustomization, relative to where files are read.
    pub directory: &'k str,
    /// Names and texts of files that replace those of the directory. If there are any, the
    /// Kustomization is one of them.
    pub files: &'k [(&'k str, String)],
    /// Paths in the directory under which files and directories from elsewhere appear, with their
    /// own paths.
    pub links: &'k [(String, String)],
    /// Whether kustomize will call helm.
    pub calls_helm: bool,
}

/// The output of a function.
#[derive(Debug)]
pub struct FunctionOutput {
    /// The ResourceList; none if it failed.
    pub list: Option<String>,
    /// Its messages; an error means that it failed.
    pub diagnostics: Diagnostics,
}
