//! Functions that are other programs, for a Composition.

use std::sync::Arc;

use crate::programs::Programs;
use krm_core::files::Checkout;
use krm_template_composition::{Chart, FunctionOutput, Functions, Program, Transformer};
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::source::Source;

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
