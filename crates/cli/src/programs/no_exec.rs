//! The functions of commands that run no other programs.

use std::sync::Arc;

use crate::programs::repository::Repository;
use krm_core::files::{self, Checkout};
use krm_template_composition::{Chart, Functions, Program, Transformer};
use krm_template_workspace::build::NOT_RUN;
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::source::Source;

/// Runs no programs of others.
pub(crate) struct NoPrograms;

impl Functions for NoPrograms {
    fn check(&self, transformer: &Transformer, _: &Program) -> Result<()> {
        let mut wrong = refused();
        wrong.message = format!("{}: {}", transformer.id, wrong.message);
        wrong.place = transformer.place();
        Err(wrong.into())
    }

    fn fetch(&self, path: &str, _from: &str) -> Result<Option<Checkout>> {
        if Repository::parse(path).is_some() {
            return Err(refused().into());
        }
        if files::is_address(path) {
            return Err(files::address(path).into());
        }
        Ok(None)
    }

    fn helm(&self, _: &Chart<'_>) -> Result<Arc<Source>> {
        Err(refused().into())
    }
}

fn refused() -> Diagnostic {
    Diagnostic::error("it needs another program, which this command does not run").rule(NOT_RUN)
}
