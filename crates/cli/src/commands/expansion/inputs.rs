//! The texts of all files that the arguments name.

use std::sync::Arc;

use crate::args::files::read_all;
use crate::commands::expansion::arguments::Arguments;
use krm_core::long_lists::LONG_LISTS;
use krm_template_engine::env_file;
use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_yaml::Document;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;

/// The texts of all files.
pub(super) struct Inputs {
    /// The files with Templates and instances.
    pub(super) documents: Vec<Arc<Document>>,
    pub(super) parameter_files: Vec<Arc<Source>>,
    pub(super) env_files: Vec<Arc<Source>>,
    /// The parameters whose values are files, with the bytes of these.
    pub(super) value_files: Vec<(String, Vec<u8>)>,
}

impl Inputs {
    /// Reads all files; nothing if one of them cannot be read. `others` are read elsewhere.
    pub(super) fn read(
        arguments: &Arguments,
        others: &[String],
        console: Console,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let value_files: Vec<(String, String)> = arguments
            .value_files
            .iter()
            .filter_map(|argument| diagnostics.take(value_file(argument)))
            .collect();
        let paths = [&arguments.filename, &arguments.parameter_files, &arguments.env_files];
        let paths = paths.into_iter().flatten();
        let paths = paths.chain(value_files.iter().map(|(_, path)| path));
        let paths = paths.chain(others);
        diagnostics.take(io::check_stdin(paths))?;
        let mut read = |paths: &[String]| read_all(paths, console, diagnostics);
        let templates = read(&arguments.filename);
        let parameter_files = read(&arguments.parameter_files);
        let env_files = read(&arguments.env_files);
        let value_files = value_files
            .into_iter()
            .filter_map(|(name, path)| Some((name, diagnostics.take(console.read_bytes(&path))?)))
            .collect();
        if diagnostics.has_errors() {
            return None;
        }
        let documents = Document::open_all(&templates, LONG_LISTS);
        let documents = documents.map_err(|errors| diagnostics.append(errors));
        Some(Self { documents: documents.ok()?, parameter_files, env_files, value_files })
    }
}

/// Reads the argument `NAME=FILE`.
pub(super) fn value_file(argument: &str) -> Result<(String, String)> {
    env_file::parse_assignment(argument)
        .map_err(|error| Diagnostic::error(error.message).hint("write it as `NAME=FILE`").into())
}
