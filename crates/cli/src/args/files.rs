//! The files that arguments name.

use std::sync::Arc;

use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_yaml::Document;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;

/// Reads all files, of which one may be standard input; as many as can be read.
pub(crate) fn read_all(
    paths: &[String],
    console: Console,
    diagnostics: &mut Diagnostics,
) -> Vec<Arc<Source>> {
    let sources = paths.iter().map(|path| console.read(path));
    sources.filter_map(|source| diagnostics.take(source)).collect()
}

/// Parses all of them, as far as they can be read.
pub(crate) fn parse_all(
    paths: &[String],
    console: Console,
    diagnostics: &mut Diagnostics,
) -> Vec<Arc<Document>> {
    let sources = read_all(paths, console, diagnostics);
    let documents = sources.iter().map(Document::parse);
    documents.filter_map(|document| diagnostics.take(document).map(Arc::new)).collect()
}

/// The files in a directory, or the file itself.
pub(crate) fn files_of(path: &str, diagnostics: &mut Diagnostics) -> Vec<String> {
    let files = diagnostics.take(io::yaml_files(path, &[]));
    files.map(|files| files.unwrap_or_else(|| vec![path.to_owned()])).unwrap_or_default()
}
