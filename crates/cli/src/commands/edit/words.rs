//! The words of the command line: labels, images, patterns of files.

use std::path::Path;

use crate::commands::edit::file::meant;
use krm_core::glob::{Patterns, fits};
use krm_core::names::is_label_key;
use krm_template_composition::KUSTOMIZATIONS;
use krm_yaml::diagnostic::{Diagnostic, Result};

/// The pairs in words such as `app:web` and `app:web,tier:front`. A comma separates pairs if a key
/// follows; text in quotes is a value as a whole.
pub(super) fn pairs(words: &[String], what: &str) -> Result<Vec<(String, String)>> {
    let pieces = words.iter().flat_map(|word| split(word));
    let pairs = pieces.map(|piece| match piece.split_once(':') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), unquoted(value).to_owned())),
        _ => {
            let wrong = Diagnostic::error(format!("`{piece}` is not a pair of key and value"));
            Err(wrong.hint(format!("write each {what} as KEY:VALUE")).into())
        }
    });
    pairs.collect()
}

fn split(word: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for part in word.split(',') {
        let begins = part.split_once(':').is_some_and(|(key, _)| is_label_key(key));
        match pieces.last_mut() {
            Some(last) if !begins || is_open(last) => {
                last.push(',');
                last.push_str(part);
            }
            _ => pieces.push(part.to_owned()),
        }
    }
    pieces
}

/// Whether the value of a pair begins with a quote that is not closed.
fn is_open(pair: &str) -> bool {
    let value = pair.split_once(':').map_or("", |(_, value)| value);
    ['"', '\''].into_iter().any(|quote| value.starts_with(quote)) && unquoted(value) == value
}

fn unquoted(value: &str) -> &str {
    let quotes = ['"', '\''].into_iter();
    let mut inner = quotes.filter_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    inner.next().unwrap_or(value)
}

/// What `set image` says of an image. `*` keeps what the file has.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Image {
    pub(super) name: String,
    /// The values of `newName`, `newTag` and `digest`; empty ones are absent.
    pub(super) parts: [(&'static str, String); 3],
}

/// Reads `NAME=NEWNAME:TAG`, `NAME:TAG`, `NAME@DIGEST` and their combinations.
pub(super) fn image(word: &str) -> Result<Image> {
    let (old, new) = match word.split_once('=') {
        Some((old, new)) => (Some(old), new),
        None => (None, word),
    };
    let (rest, digest) = new.split_once('@').unwrap_or((new, ""));
    let (name, tag) = match rest.rsplit_once(':') {
        Some((name, tag)) if is_tag(tag) => (name, tag),
        _ => (rest, ""),
    };
    let changes = old.is_some() || !tag.is_empty() || !digest.is_empty();
    let (name, new_name) = old.map_or((name, ""), |old| (old, name));
    if name.is_empty() || new.is_empty() || !changes || new.contains('=') {
        let wrong = Diagnostic::error(format!("`{word}` does not say what an image becomes"));
        let forms =
            "write NAME=NEWNAME, NAME=NEWNAME:TAG, NAME=NEWNAME@DIGEST, NAME:TAG or NAME@DIGEST";
        return Err(wrong.hint(forms).into());
    }
    Ok(Image {
        name: name.to_owned(),
        parts: [("newName", new_name), ("newTag", tag), ("digest", digest)]
            .map(|(field, text)| (field, text.to_owned())),
    })
}

fn is_tag(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    text == "*" || text.bytes().all(is_part)
}

/// The files and directories that a word names, which may be a pattern; a URL is taken as it is.
pub(super) fn paths(word: &str) -> Result<Vec<String>> {
    let is_url =
        word.contains("://") || word.starts_with("git@") || word.starts_with("github.com/");
    if is_url || Path::new(word).exists() {
        return Ok(vec![word.to_owned()]);
    }
    let mut found = glob(word);
    found.retain(|path| !KUSTOMIZATIONS.contains(&path.as_str()));
    if !found.is_empty() {
        return Ok(found);
    }
    let missing = Diagnostic::error(format!("no file or directory is named `{word}`"));
    let (folder, name) = word.rsplit_once('/').unwrap_or(("", word));
    let near = names_in(folder);
    let near = near.iter().map(|name| joined(folder, name));
    let near: Vec<String> = near.collect();
    let tip = meant(&joined(folder, name), near.iter().map(String::as_str));
    Err(missing.maybe_hint(tip).into())
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The sorted names in a directory.
pub(super) fn names_in(folder: &str) -> Vec<String> {
    let folder = if folder.is_empty() { "." } else { folder };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The paths that a pattern matches, one part after the other.
fn glob(pattern: &str) -> Vec<String> {
    let (start, pattern) = match pattern.strip_prefix('/') {
        Some(rest) => ("/", rest),
        None => ("", pattern),
    };
    let mut paths = vec![start.to_owned()];
    for part in pattern.split('/') {
        let is_pattern = part.contains(['*', '?', '[', '\\']);
        let below = |path: String| -> Vec<String> {
            let names = if is_pattern { names_in(&path) } else { vec![part.to_owned()] };
            let names = names.iter().filter(|name| !is_pattern || fits(part, name, Patterns::Go));
            let path = path.trim_end_matches('/');
            let prefix = if start == "/" && path.is_empty() { "/" } else { path };
            let join = |name: &String| joined(prefix, name).replacen("//", "/", 1);
            names.map(join).collect()
        };
        paths = paths.into_iter().flat_map(below).collect();
        paths.retain(|path| Path::new(path).exists());
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::{image, pairs};

    #[test]
    fn images_are_split_at_their_tag_and_digest() {
        let all = [
            ("a=b:1", ["a", "b", "1", ""]),
            ("a=localhost:5000/b", ["a", "localhost:5000/b", "", ""]),
            ("localhost:5000/a:1", ["localhost:5000/a", "", "1", ""]),
            ("a=*@sha256:0", ["a", "*", "", "sha256:0"]),
            ("a=b:1@sha256:0", ["a", "b", "1", "sha256:0"]),
            ("a:*", ["a", "", "*", ""]),
        ];
        for (word, [name, new_name, tag, digest]) in all {
            let image = image(word).expect(word);
            let parts = image.parts.map(|(_, text)| text);
            assert_eq!(image.name, name, "{word}");
            assert_eq!(parts, [new_name, tag, digest], "{word}");
        }
        for word in ["a", "=a", "a=", "a=b=c", ""] {
            assert!(image(word).is_err(), "{word}");
        }
    }

    #[test]
    fn pairs_are_split_at_commas_before_keys() {
        let all: [(&str, &[(&str, &str)]); 4] = [
            ("a:b,c:d", &[("a", "b"), ("c", "d")]),
            ("a:b,c", &[("a", "b,c")]),
            ("a:\"b,c:d\",e:f", &[("a", "b,c:d"), ("e", "f")]),
            ("a:http://x", &[("a", "http://x")]),
        ];
        for (word, expected) in all {
            let found = pairs(&[word.to_owned()], "label").expect(word);
            let found: Vec<(&str, &str)> =
                found.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
            assert_eq!(found, expected, "{word}");
        }
    }
}
