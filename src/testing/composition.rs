//! A Composition builds the same each time, in both formats.
//!
//! The input is the Composition; the text after its last NUL is the content of each file that it names.

use std::sync::Arc;

use crate::composition::chain::Build;
use crate::composition::{
    Format, FunctionOutput, Functions, Program, Transformer, consolidate, print, show,
};
use crate::files::{Entry, Files};
use crate::function::{Environment, InProcess};
use crate::report;
use crate::testing::has_internal_error;
use krm_yaml::Value;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;

use super::reading::read;

const COMPOSITION: &str = "composition.yaml";

/// Holds the property for an input.
///
/// # Panics
/// If it does not hold.
pub fn check(bytes: &[u8]) {
    let mut parts = bytes.rsplitn(2, |&byte| byte == 0);
    let (last, first) = (parts.next().unwrap_or_default(), parts.next());
    let (composition, other) = first.map_or((last, &[][..]), |first| (first, last));
    let files = TwoFiles { composition, other };
    let built =
        [Format::Yaml, Format::ResourceList, Format::Yaml].map(|format| build(&files, format));
    assert_eq!(built[0], built[2], "{bytes:?}");
    let [Some(yaml), Some(resource_list), _] = built else {
        return;
    };
    let documents = read(&resource_list);
    let items = documents.first().and_then(|document| document.get("items"));
    let items = items.and_then(Value::items).expect("it is a ResourceList");
    assert_eq!(read(&yaml), items, "{yaml:?}\n{resource_list:?}");
}

/// The output of a build; nothing if something is wrong.
fn build(files: &TwoFiles<'_>, format: Format) -> Option<String> {
    let mut diagnostics = Diagnostics::new();
    let mut transformers = consolidate(files, COMPOSITION, &mut diagnostics);
    let mut printed = None;
    if !diagnostics.has_errors() {
        diagnostics.take(show(&transformers));
        let environment =
            Environment { seed: Some(b"a seed for tests".to_vec()), ..Environment::default() };
        let functions = InProcess::new(&environment, &NoOthers);
        let build = Build::new(files, &functions);
        let resources = build.run(&mut transformers, Vec::new(), &mut diagnostics).resources;
        if !diagnostics.has_errors() {
            printed = print(&resources, format, &mut diagnostics).map(|pieces| pieces.concat());
        }
    }
    let errors = report::text(&diagnostics, false);
    assert!(!has_internal_error(&diagnostics), "{files:?}\n{errors}");
    printed
}

#[derive(Debug)]
struct TwoFiles<'b> {
    composition: &'b [u8],
    other: &'b [u8],
}

impl Files for TwoFiles<'_> {
    fn entry(&self, _: &str) -> Option<Entry> {
        Some(Entry::File)
    }

    fn read(&self, path: &str, _: &str) -> Result<Vec<u8>> {
        let bytes = if path == COMPOSITION { self.composition } else { self.other };
        Ok(bytes.to_vec())
    }
}

struct NoOthers;

impl Functions for NoOthers {
    fn check(&self, _: &Transformer, _: &Program) -> Result<()> {
        Err(Diagnostic::error("no other programs").into())
    }

    fn run(&self, _: &Transformer, _: &Program, _: &Arc<Source>) -> FunctionOutput {
        unreachable!("checked before")
    }
}
