//! Finds imports that neither the configuration nor a template uses.

use memchr::memmem;

use crate::expansion::Expansion;
use crate::instances::types;
use crate::model::{Import, Request};

/// The imports that the expansion does not use as a type, and that no other text names.
///
/// The schema of an import counts as a part of it.
pub fn unused_imports<'r>(request: &'r Request, expansion: &Expansion<'_>) -> Vec<&'r Import> {
    let types = types(&expansion.layout);
    let is_used = |import: &Import| {
        let template = import.name.strip_suffix(".schema");
        types.contains(&import.name)
            || template.is_some_and(|template| request.imports.get(template).is_some())
            || is_named(import, request)
    };
    let imports = request.imports.iter();
    imports.filter(|import| !is_used(import)).collect()
}

/// Whether another text has the name of an import: the module's, for Python.
fn is_named(import: &Import, request: &Request) -> bool {
    let file = import.name.rsplit('/').next().unwrap_or_default();
    let word = file.strip_suffix(".py").unwrap_or(&import.name);
    let finder = memmem::Finder::new(word);
    let others = request.imports.iter();
    let others = others.filter(|other| other.name != import.name);
    let mut texts = others.map(|other| &other.content).chain([request.config.source()]);
    texts.any(|source| finder.find(source.text().as_bytes()).is_some())
}
