//! `--diff-against`: the changes of a file or directory.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use anstyle::{AnsiColor, Style};

use crate::output::destination::Output;
use crate::output::mask::Secrets;
use crate::output::record::Record;
use crate::output::writing::stale_files;
use krm_core::report::unified;
use krm_core::visible::visible;
use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_template_exec::status::{FAILED, OK};
use krm_yaml::diagnostic::{Diagnostics, Result};
use krm_yaml::source::Source;

/// The name shown for a missing file.
const NOTHING: &str = "/dev/null";

/// The diff from `path`, a file or a directory, to what is `new`: empty if both are equal, `None` if
/// they cannot be compared.
pub(crate) fn against(
    path: &str,
    new: &Output,
    secrets: &Secrets,
    console: Console,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let mut text = String::new();
    let mut compare = |path: &str, old: Option<Result<Arc<Source>>>, new: &str| {
        let name = if old.is_some() { path } else { NOTHING };
        let old = old.unwrap_or_else(|| Ok(Source::new(path, "")));
        let Some(old) = diagnostics.take(old) else {
            return;
        };
        if old.text() == new {
            return;
        }
        if let Some((old, new)) = diagnostics.take(secrets.masked(&old, new)) {
            text.push_str(&unified(&old, &new, name, path));
        }
    };
    match new {
        Output::Files(files) => {
            for file in files {
                let path = io::path_in(path, file.path());
                let old = io::is_there(&path).then(|| console.read(&path));
                compare(&path, old, file.text());
            }
            let record = Record::of(Path::new(path));
            for stale in stale_files(&record, files) {
                if io::is_there(&io::path_in(path, stale)) {
                    // As `diff -r` writes it. Writing to a string cannot fail.
                    let _ = writeln!(text, "Only in {path}: {stale}");
                }
            }
        }
        Output::Text(pieces) => compare(path, Some(console.read(path)), &pieces.concat()),
    }
    (!diagnostics.has_errors()).then_some(text)
}

/// Prints a diff. Returns the exit status.
pub(crate) fn show(diff: &str) -> anyhow::Result<u8> {
    if io::stdout_color() {
        io::print_text(&colored(&visible(diff)))?;
    } else {
        io::print([diff])?;
    }
    Ok(if diff.is_empty() { OK } else { FAILED })
}

/// The lines of a unified diff in the colours of git.
fn colored(diff: &str) -> String {
    let paint = |line: &str| {
        let style = match line.as_bytes() {
            [b'-', b'-', b'-', b' ', ..] | [b'+', b'+', b'+', b' ', ..] => Style::new().bold(),
            [b'-', ..] => AnsiColor::Red.on_default(),
            [b'+', ..] => AnsiColor::Green.on_default(),
            [b'@', ..] => AnsiColor::Cyan.on_default(),
            _ => Style::new(),
        };
        let end = line.trim_end_matches(['\n', '\r']).len();
        let (text, end) = line.split_at(end);
        format!("{style}{text}{style:#}{end}")
    };
    diff.split_inclusive('\n').map(paint).collect()
}
