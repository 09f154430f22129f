//! Files and standard streams.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{BufWriter, ErrorKind, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use walkdir::{DirEntry, WalkDir};

use crate::io_error::{reason, refuse_folder};
use crate::staged::{Access, Staged};
use crate::status::{OK, USAGE};
use krm_core::visible::{visible, visible_in_color};
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::source::Source;
use krm_yaml::suggest::closest;

/// Reads all of standard input.
///
/// # Errors
/// If it cannot be read, or is not UTF-8.
pub fn stdin() -> Result<Arc<Source>> {
    krm_yaml::decode("stdin", stdin_bytes()?)
}

fn stdin_bytes() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| Diagnostic::error(format!("standard input cannot be read: {error}")))?;
    Ok(bytes)
}

/// Refuses several `-` among the names of files.
///
/// # Errors
/// If there is more than one.
pub fn check_stdin<'f>(files: impl Iterator<Item = &'f String>) -> Result<()> {
    if files.filter(|file| *file == "-").count() > 1 {
        return Err(Diagnostic::error(
            "`-` is given more than once, but standard input can be read only once",
        )
        .hint("replace one of them with the name of a file")
        .into());
    }
    Ok(())
}

/// Reads a file of text, or standard input for `-`.
///
/// # Errors
/// If it cannot be read, or is not UTF-8.
pub fn read(path: &str) -> Result<Arc<Source>> {
    match path {
        "-" => stdin(),
        _ => krm_yaml::decode(path, read_bytes(path)?),
    }
}

/// Reads a file, or standard input for `-`.
///
/// # Errors
/// If it cannot be read.
#[expect(clippy::disallowed_methods, reason = "the command line reads files, for all the others")]
pub fn read_bytes(path: &str) -> Result<Vec<u8>> {
    if path == "-" {
        return stdin_bytes();
    }
    if path.starts_with("http://") || path.starts_with("https://") {
        return Err(Diagnostic::error(format!(
            "`{path}` is a URL, and krm-template fetches nothing from the network"
        ))
        .hint("download it first, or pipe it in: `curl -sSf URL | krm-template process -f -`")
        .into());
    }
    std::fs::read(path).map_err(|error| unreadable(path, &error))
}

/// The error for a file that cannot be read.
pub fn unreadable(path: &str, error: &std::io::Error) -> Box<Diagnostic> {
    let reason = match error.kind() {
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::NotADirectory => "no such file".to_owned(),
        _ => reason(error),
    };
    Diagnostic::error(format!("`{path}` cannot be read: {reason}"))
        .maybe_hint(hint(Path::new(path), error.kind()))
        .into()
}

/// The hint for a file that cannot be read, such as a file with a similar name.
fn hint(path: &Path, kind: ErrorKind) -> Option<String> {
    if kind == ErrorKind::IsADirectory {
        return Some("give a file in it".to_owned());
    }
    if kind != ErrorKind::NotFound {
        return None;
    }
    if path.as_os_str().is_empty() {
        return Some("the file name is empty: is a shell variable not set?".to_owned());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = std::fs::read_dir(folder.unwrap_or(Path::new("."))) else {
        return Some(format!("directory `{}` does not exist", folder?.display()));
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names: Vec<String> = names.collect();
    let meant = closest_file(path.file_name()?.to_str()?, &names)?;
    Some(format!("did you mean `{}`?", path.with_file_name(meant).display()))
}

/// The name of a file that is close. Its extension, which most have in common, does not count.
fn closest_file<'n>(name: &str, names: &'n [String]) -> Option<&'n str> {
    let (stem, extension) = parts(name);
    let is_near = |other: &&str| {
        let (other, kind) = parts(other);
        let is_alike = closest(stem, [other]).is_some() && closest(extension, [kind]).is_some();
        is_alike || stem == other && matches!(kind, "yaml" | "yml" | "json")
    };
    let names = names.iter().map(String::as_str);
    let mut near = names.filter(is_near);
    closest(name, near.clone()).or_else(|| near.next())
}

/// The parts of a file name before and after the last dot.
fn parts(name: &str) -> (&str, &str) {
    name.rsplit_once('.').unwrap_or((name, ""))
}

/// Whether `path` names a folder.
pub fn is_folder(path: &str) -> bool {
    Path::new(path).is_dir()
}

/// Whether there is anything at `path`.
pub fn is_there(path: &str) -> bool {
    Path::new(path).exists()
}

/// A path with `/` in a folder.
pub fn path_in(folder: &str, path: &str) -> String {
    let start = Path::new(folder).to_owned();
    let whole = path.split('/').fold(start, |path, part| path.join(part));
    whole.display().to_string()
}

/// Writes a file, in folders that are made where they are missing, or to standard output for `-`.
/// A file that holds `text` already is left alone. A pipe, a device and what a link leads to are
/// written to, and not read.
///
/// # Errors
/// If it cannot be written.
pub fn write(path: &str, text: &str) -> anyhow::Result<()> {
    if path == "-" {
        return print([text]);
    }
    let path = Path::new(path);
    match std::fs::symlink_metadata(path) {
        Ok(there) if there.is_file() && there.len() == text.len() as u64 && holds(path, text) => {
            Ok(())
        }
        Ok(there) if !there.is_file() => std::fs::write(path, text).map_err(|error| {
            let reason = reason(&error);
            anyhow!("`{}` cannot be written: {reason}", path.display())
        }),
        _ => {
            let mut staged = Staged::default();
            staged.make_folder(path.parent().unwrap_or(path))?;
            staged.add(path, text, Access::Usual)?;
            staged.commit()
        }
    }
}

/// Whether a file holds `text`.
#[expect(clippy::disallowed_methods, reason = "the command line reads files, for all the others")]
fn holds(path: &Path, text: &str) -> bool {
    std::fs::read(path).is_ok_and(|old| old == text.as_bytes())
}

/// Makes a folder, and those around it, where they are missing.
///
/// # Errors
/// If one cannot be made.
pub fn make_folder(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| refuse_folder(folder, &error))
}

/// The variables of the environment whose names are text, in alphabetical order.
pub fn environment() -> Vec<(String, OsString)> {
    let variables = std::env::vars_os();
    let mut variables: Vec<_> =
        variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect();
    variables.sort();
    variables
}

/// The YAML and JSON files in a directory and the directories in it, and those with one of these
/// names, sorted; nothing if `path` is not a directory. Ignores pipes and devices, and names that
/// begin with a dot.
///
/// # Errors
/// If a directory cannot be searched.
pub fn yaml_files(path: &str, names: &[&str]) -> Result<Option<Vec<String>>> {
    if path == "-" || !is_folder(path) {
        return Ok(None);
    }
    let is_hidden = |entry: &DirEntry| {
        entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".")
    };
    let mut files = Vec::new();
    let entries = WalkDir::new(path).sort_by_file_name().into_iter();
    for entry in entries.filter_entry(|entry| !is_hidden(entry)) {
        let entry = entry
            .map_err(|error| Diagnostic::error(format!("`{path}` cannot be searched: {error}")))?;
        let is_named = names.iter().any(|name| entry.file_name() == *name);
        // A link that leads nowhere is reported when it is read.
        let may_be_read = entry.path().metadata().map_or(true, |there| there.is_file());
        if (is_yaml(entry.path()) || is_named) && may_be_read {
            files.push(entry.path().display().to_string());
        }
    }
    Ok(Some(files))
}

/// Whether a file has the extension of YAML or JSON.
pub fn is_yaml(path: &Path) -> bool {
    let extension = path.extension();
    extension.is_some_and(|one| one == "yaml" || one == "yml" || one == "json")
}

/// Whether standard input is a terminal.
pub fn stdin_is_terminal() -> bool {
    std::io::stdin().is_terminal()
}

/// Writes data to standard output. A closed pipe is not an error.
///
/// Files and pipes get the data as it is. A terminal would obey control characters in it, and has
/// no use for them, so it shows escapes.
///
/// # Errors
/// If it cannot be written.
pub fn print<'t>(pieces: impl IntoIterator<Item = &'t str>) -> anyhow::Result<()> {
    if std::io::stdout().is_terminal() {
        write_all(pieces.into_iter().map(visible))
    } else {
        write_all(pieces.into_iter().map(Cow::Borrowed))
    }
}

/// Writes a text for people to standard output, with escapes for hidden characters. A closed pipe
/// is not an error.
///
/// # Errors
/// If it cannot be written.
pub fn print_text(text: &str) -> anyhow::Result<()> {
    write_all([shown(text, stdout_color())])
}

/// How much a pipe takes in at once.
const PIPE: usize = 64 << 10;

fn write_all<'t>(pieces: impl IntoIterator<Item = Cow<'t, str>>) -> anyhow::Result<()> {
    let mut stdout = BufWriter::with_capacity(PIPE, std::io::stdout().lock());
    let mut pieces = pieces.into_iter();
    let printed = pieces
        .try_for_each(|piece| stdout.write_all(piece.as_bytes()))
        .and_then(|()| stdout.flush());
    printed.or_else(|error| unless_gone(&error))
}

/// A text for people, which may have our own colours.
fn shown(text: &str, color: bool) -> Cow<'_, str> {
    if color { visible_in_color(text) } else { visible(text) }
}

/// The error for standard output, unless it is a closed pipe.
fn unless_gone(error: &std::io::Error) -> anyhow::Result<()> {
    if error.kind() == ErrorKind::BrokenPipe {
        return Ok(());
    }
    let reason = reason(error);
    Err(anyhow!("standard output cannot be written: {reason}"))
}

/// Writes to standard error, with escapes for hidden characters. A failure cannot be reported.
pub fn print_error(text: &str) {
    let text = shown(text, color());
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Prints invalid arguments, the help or the version. Returns the exit status.
///
/// # Errors
/// If standard output cannot be written.
pub fn refuse(error: &clap::Error) -> anyhow::Result<u8> {
    let text = error.render().to_string();
    if error.use_stderr() {
        print_error(&text);
        return Ok(USAGE);
    }
    print_text(&text).map(|()| OK)
}

/// Whether messages are coloured: on a terminal, unless the environment overrides it.
pub fn color() -> bool {
    is_colored(std::io::stderr().is_terminal())
}

/// The same for standard output.
pub fn stdout_color() -> bool {
    is_colored(std::io::stdout().is_terminal())
}

fn is_colored(is_terminal: bool) -> bool {
    let value = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let is_forced = value("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    let is_plain = value("TERM").is_some_and(|value| value == "dumb");
    value("NO_COLOR").is_none() && (is_forced || (is_terminal && !is_plain))
}

/// The columns of the terminal that standard output is, if it is one.
pub fn width() -> Option<u16> {
    let (width, _) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some(width.0)
}
