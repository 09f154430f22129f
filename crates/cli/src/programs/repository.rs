//! The URLs of git repositories, as kustomize reads them.
//!
//! Source: kustomize 5.8, `api/internal/git/repospec.go`, and the calls of git by kubectl 1.37.

use std::borrow::Cow;
use std::time::Duration;

use krm_yaml::diagnostic::{Diagnostic, Result};
use percent_encoding::percent_decode_str;

/// The time limit of each call of git in seconds, without `timeout`.
const TIMEOUT: u64 = 27;
/// The number of parts in the path of a repository that no mark ends: its owner and its name.
const PARTS: usize = 2;

/// The ends of URLs that name a file.
const FILES: [&str; 3] = [".yaml", ".yml", ".json"];

const FILE: &str = "file://";
const HTTP: &str = "http://";
const SSH: &str = "ssh://";
const SCHEMES: [&str; 4] = [SSH, "https://", HTTP, FILE];
const GITHUB: &str = "github.com";

/// A directory in a git repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repository {
    /// The URL as git reads it.
    pub(crate) url: String,
    /// The path of the directory; empty for the whole repository.
    pub(crate) path: String,
    /// The branch, tag or commit; empty for the default branch.
    pub(crate) reference: String,
    pub(crate) has_submodules: bool,
    /// The time limit of each call of git.
    pub(crate) timeout: Duration,
}

impl Repository {
    /// Reads a URL; none if it is not that of a repository.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (text, query) = text.split_once('?').unwrap_or((text, ""));
        if FILES.iter().any(|end| text.ends_with(end)) {
            return None;
        }
        let text = without(text, "git::").unwrap_or(text);
        let mut schemes = SCHEMES.into_iter();
        let found = schemes.find_map(|scheme| Some((scheme, without(text, scheme)?)));
        let (scheme, rest) = found.unwrap_or(("", text));
        let user = rest.split_once('@').map(|(user, _)| user);
        let user = user.filter(|user| is_user(user));
        let github = without(rest.get(user.map_or(0, |user| user.len() + 1)..)?, GITHUB);
        let github = github.filter(|rest| rest.starts_with(['/', ':']));
        let (host, path) = if scheme == FILE {
            (FILE.to_owned(), rest)
        } else if let Some(rest) = github {
            let is_ssh = scheme == SSH || (scheme.is_empty() && user.is_some());
            let host = if is_ssh { "git@github.com:" } else { "https://github.com/" };
            (host.to_owned(), rest.get(1..)?)
        } else {
            let is_scp = scheme.is_empty();
            if is_scp && user.is_none() {
                return None;
            }
            let end = rest.find(|char| char == '/' || (is_scp && char == ':'))?;
            let (host, path) = rest.split_at(end + 1);
            (format!("{scheme}{host}"), path)
        };
        let (repository, path) = parts(path, scheme == FILE)?;
        if repository.is_empty() {
            return None;
        }
        let mut read = Self {
            url: format!("{host}{}", repository.trim_end_matches('/')),
            path: path.trim_matches('/').to_owned(),
            reference: String::new(),
            has_submodules: true,
            timeout: Duration::from_secs(TIMEOUT),
        };
        read.query(query);
        Some(read)
    }

    /// Reads the query. As in kustomize, what is not understood has no effect.
    fn query(&mut self, query: &str) {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let pairs: Vec<(&str, String)> = pairs.map(|(key, value)| (key, decoded(value))).collect();
        let get = |key| {
            let mut found =
                pairs.iter().filter(|(known, value)| *known == key && !value.is_empty());
            found.next().map(|(_, value)| value.as_str())
        };
        let reference = get("ref").or_else(|| get("version"));
        reference.unwrap_or_default().clone_into(&mut self.reference);
        if let Some(timeout) = get("timeout").and_then(duration) {
            self.timeout = timeout;
        }
        self.has_submodules =
            !matches!(get("submodules"), Some("0" | "f" | "F" | "false" | "False" | "FALSE"));
    }

    /// Refuses what is not safe. `is_nested` if the URL is in another repository.
    pub(crate) fn check(&self, address: &str, is_nested: bool) -> Result<()> {
        let Self { url, path, reference, .. } = self;
        let is_option = |host: &str| host.starts_with('-') || host.contains("@-");
        let host = SCHEMES.iter().find_map(|scheme| url.strip_prefix(scheme));
        let is_control = |char: char| char.is_control() || char == ' ';
        let (problem, hint) = if url.starts_with(HTTP) {
            ("has no encryption", "use `https`")
        } else if url.starts_with(FILE) && is_nested {
            let hint = "a git repository may name only those that are fetched with encryption";
            ("is a repository of this machine", hint)
        } else if path.split('/').any(|part| part == "..") {
            ("leads out of its repository", "name a directory in it")
        } else if reference.starts_with(['-', '+'])
            || reference.contains(|char| is_control(char) || char == ':')
        {
            ("has a `ref` that is not the name of a branch, tag or commit", "correct its query")
        } else if is_option(host.unwrap_or(url)) || url.contains(is_control) {
            ("is not the URL of a repository", "correct its host")
        } else {
            return Ok(());
        };
        let wrong = Diagnostic::error(format!("`{address}` {problem}"));
        Err(wrong.hint(hint).into())
    }

    /// The protocols that git may use for it and its submodules.
    pub(crate) fn protocols(&self) -> &'static str {
        if self.url.starts_with(FILE) { "https:ssh:file" } else { "https:ssh" }
    }

    /// Whether the copy of this one has the files of another one.
    pub(crate) fn has_files_of(&self, other: &Self) -> bool {
        self.url == other.url
            && self.reference == other.reference
            && self.has_submodules == other.has_submodules
    }
}

/// The text after a prefix, in any case.
fn without<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let start = text.get(..prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then(|| text.get(prefix.len()..))?
}

fn is_user(text: &str) -> bool {
    text.starts_with(|char: char| char.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Splits the path of a repository from that in it: after `_git/NAME`, at `//`, after `.git`, or
/// after two parts; a local one ends only at a mark.
fn parts(path: &str, is_local: bool) -> Option<(&str, &str)> {
    if let Some(at) = path.find("_git/") {
        let name = at + "_git/".len();
        let rest = path.get(name..)?;
        return path.split_at_checked(name + rest.find('/').unwrap_or(rest.len()));
    }
    if let Some((repository, rest)) = path.split_once("//") {
        return Some((repository, rest));
    }
    let mut ends = path.match_indices(".git").map(|(at, mark)| at + mark.len());
    let is_end = |end: &usize| matches!(path.as_bytes().get(*end), None | Some(b'/'));
    if let Some(end) = ends.find(is_end) {
        return path.split_at_checked(end);
    }
    if is_local {
        return Some((path, ""));
    }
    let mut slashes = path.match_indices('/').map(|(at, _)| at);
    let end = slashes.nth(PARTS - 1).unwrap_or(path.len());
    path.contains('/').then(|| path.split_at_checked(end))?
}

/// A value of a query. Text that is not encoded rightly stays.
fn decoded(value: &str) -> String {
    let plain = value.replace('+', " ");
    let decoded = percent_decode_str(&plain).decode_utf8();
    decoded.map_or_else(|_| value.to_owned(), Cow::into_owned)
}

/// A duration as Go writes it, such as `90`, `90s` or `1m30s`: at least a second.
fn duration(text: &str) -> Option<Duration> {
    let text = if text.ends_with(|char: char| char.is_ascii_digit()) {
        format!("{text}s")
    } else {
        text.to_owned()
    };
    let mut seconds: u64 = 0;
    for part in text.split_inclusive(|char: char| char.is_ascii_alphabetic()) {
        let (number, unit) = part.split_at_checked(part.len().checked_sub(1)?)?;
        let unit = match unit {
            "h" => 3600,
            "m" => 60,
            "s" => 1,
            _ => return None,
        };
        let part = number.parse::<u64>().ok()?.saturating_mul(unit);
        seconds = seconds.saturating_add(part);
    }
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::{Repository, duration};

    /// URLs, and for each what kubectl 1.37 has git fetch: the URL of the repository, the reference, and the
    /// directory in it.
    const FETCHED: &[(&str, [&str; 3])] = &[
        ("https://github.com/org/repo", ["https://github.com/org/repo", "", ""]),
        (
            "https://github.com/org/repo/dir/x?ref=v1",
            ["https://github.com/org/repo", "v1", "dir/x"],
        ),
        (
            "https://github.com/org/repo.git/dir?ref=v1",
            ["https://github.com/org/repo.git", "v1", "dir"],
        ),
        ("https://github.com/org/repo//dir?ref=v1", ["https://github.com/org/repo", "v1", "dir"]),
        ("https://host.x/org/repo//dir?ref=v1", ["https://host.x/org/repo", "v1", "dir"]),
        ("https://host.x/a/b/c/d?ref=v1", ["https://host.x/a/b", "v1", "c/d"]),
        ("https://host.x/a/b/c.git/d?version=v2", ["https://host.x/a/b/c.git", "v2", "d"]),
        (
            "https://host.x:8443/a/b/c.git//d?version=v2&ref=v3",
            ["https://host.x:8443/a/b/c.git", "v3", "d"],
        ),
        ("https://user:pw@host.x/a/b/c.git/d", ["https://user:pw@host.x/a/b/c.git", "", "d"]),
        ("github.com/org/repo/dir?ref=v1", ["https://github.com/org/repo", "v1", "dir"]),
        ("GitHub.com/org/repo", ["https://github.com/org/repo", "", ""]),
        ("github.com:org/repo/dir", ["https://github.com/org/repo", "", "dir"]),
        ("git@github.com:org/repo.git/dir?ref=a/b", ["git@github.com:org/repo.git", "a/b", "dir"]),
        ("git@github.com/org/repo", ["git@github.com:org/repo", "", ""]),
        ("git@host.x:org/repo/dir", ["git@host.x:org/repo", "", "dir"]),
        ("git@host.x:org/repo.git//dir", ["git@host.x:org/repo.git", "", "dir"]),
        ("git@host.x/org/repo", ["git@host.x/org/repo", "", ""]),
        ("user@host.x:org/repo", ["user@host.x:org/repo", "", ""]),
        ("ssh://git@github.com/org/repo/dir", ["git@github.com:org/repo", "", "dir"]),
        (
            "ssh://git@host.x:22/org/repo.git/dir?ref=v1",
            ["ssh://git@host.x:22/org/repo.git", "v1", "dir"],
        ),
        ("ssh://host.x/org/repo/dir", ["ssh://host.x/org/repo", "", "dir"]),
        ("file:///a/b/c", ["file:///a/b/c", "", ""]),
        ("file:///a/b/c//d?ref=x", ["file:///a/b/c", "x", "d"]),
        ("file:///a/b/c.git/d", ["file:///a/b/c.git", "", "d"]),
        (
            "https://org@dev.azure.com/org/proj/_git/repo//dir?version=GBmain",
            ["https://org@dev.azure.com/org/proj/_git/repo", "GBmain", "dir"],
        ),
        (
            "git@ssh.dev.azure.com:v3/org/proj/repo//dir",
            ["git@ssh.dev.azure.com:v3/org/proj/repo", "", "dir"],
        ),
        ("git::https://host.x/org/repo", ["https://host.x/org/repo", "", ""]),
        ("git::git@host.x:org/repo//d", ["git@host.x:org/repo", "", "d"]),
        ("https://host.x/org/repo?ref=a%2Fb", ["https://host.x/org/repo", "a/b", ""]),
        ("https://host.x/org/repo/", ["https://host.x/org/repo", "", ""]),
        // kustomize splits these at the first `.git`.
        ("https://host.x/org/o.github.io/d", ["https://host.x/org/o.github.io", "", "d"]),
    ];

    #[test]
    fn urls_are_read_as_in_kustomize() {
        for (url, expected) in FETCHED {
            let read = Repository::parse(url).expect(url);
            let found = [&read.url, &read.reference, &read.path].map(String::as_str);
            assert_eq!(found, *expected, "{url}");
            read.check(url, false).expect(url);
        }
        for path in [
            "www.github.com/org/repo",
            "gh:org/repo",
            "git://host.x/org/repo",
            "https://host.x/org",
            "https://host.x/",
            "https://host.x/a/b/c.yaml",
            "host.x/org/repo",
            "ext::sh -c x",
            "../x/github.com/y",
            "org/repo",
            "",
            "é",
        ] {
            assert_eq!(Repository::parse(path), None, "{path}");
        }
    }

    #[test]
    fn queries_may_set_the_time_and_leave_submodules_out() {
        let read = Repository::parse("https://h.x/o/r?submodules=false&timeout=1m30s").unwrap();
        assert!(!read.has_submodules && read.timeout.as_secs() == 90);
        for (text, expected) in [("90", Some(90)), ("2h", Some(7200)), ("0", None), ("x", None)] {
            assert_eq!(duration(text).map(|time| time.as_secs()), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_safe_is_refused() {
        for url in [
            "http://host.x/org/repo",
            "https://host.x/org/repo?ref=--upload-pack=x",
            "https://host.x/org/repo?ref=a:b",
            "https://host.x/org/repo?ref=a%0Ab",
            "https://host.x/org/repo//../x",
            "ssh://-oProxyCommand=x/org/repo",
            "ssh://a@-oProxyCommand=x/org/repo",
            "git@-oProxyCommand=x:org/repo",
        ] {
            let read = Repository::parse(url).expect(url);
            read.check(url, false).expect_err(url);
        }
        let local = Repository::parse("file:///a/b").unwrap();
        local.check("", false).unwrap();
        local.check("", true).unwrap_err();
        assert_eq!(local.protocols(), "https:ssh:file");
    }
}
