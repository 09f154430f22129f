//! Clones the git repositories that Kustomizations name, by an installed git.
//!
//! The URLs, and what is in the repositories, are not trusted: git may not use protocols without
//! encryption or those that run programs, runs no hooks, and takes no part of a URL for an option.
//!
//! Source: kustomize 5.8, `api/internal/git`, and the calls of git by kubectl 1.37.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use crate::programs::repository::Repository;
use crate::programs::{Programs, limits};
use krm_core::files::{self, Checkout, join};
use krm_template_exec::subprocess::{Ended, Failure, private, unsuccessful};
use krm_yaml::diagnostic::{Diagnostic, Result};

/// How many repositories are cloned in one build.
const MAX_CLONES: usize = 100;
/// How many files a repository may have, and how many bytes they may have together.
const MAX_FILES: usize = 200_000;
const MAX_BYTES: u64 = 2 << 30;

/// Variables by which git would work on another repository: a hook sets them for its programs.
const OF_REPOSITORIES: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
];

impl Programs {
    /// The copy of the repository that an address names for a file in the directory `from`; none if
    /// it is a path.
    pub(crate) fn cloned(&self, address: &str, from: &str) -> Result<Option<Checkout>> {
        let Some(repository) = Repository::parse(address) else {
            if files::is_address(address) {
                return Err(files::address(address).into());
            }
            return Ok(None);
        };
        let Some(git) = &self.git else {
            let problem =
                format!("`{address}` is a git repository, which krm-template does not clone");
            let hint = "allow that with `--enable-git`, or clone it first and name its directory";
            return Err(Diagnostic::error(problem).hint(hint).into());
        };
        let unable =
            |error: io::Error| Diagnostic::error(format!("`{address}` cannot be cloned: {error}"));
        let folder = git.directory().map_err(unable)?;
        let is_nested = Path::new(from).starts_with(&folder);
        repository.check(address, is_nested)?;
        let clones = git.clones.borrow();
        let same = clones.iter().find(|(known, _)| known.has_files_of(&repository));
        let same = same.map(|(_, clone)| clone.directory.clone());
        let count = clones.len();
        drop(clones);
        let directory = if let Some(known) = same {
            known
        } else {
            if count >= MAX_CLONES {
                let problem = format!("more than {MAX_CLONES} git repositories are named");
                return Err(Diagnostic::error(problem).into());
            }
            // No name begins with another one: messages have them replaced.
            let directory = folder.join(format!("{count:03}"));
            private(|| fs::create_dir(&directory)).map_err(unable)?;
            self.clone_into(&directory, &repository).inspect_err(|_| {
                // The next one takes its place.
                let _ = fs::remove_dir_all(&directory);
            })?;
            self.console.info(format!("cloned `{}`", repository.url));
            directory.to_string_lossy().into_owned()
        };
        let checkout = Checkout {
            directory,
            path: join(".", &repository.path),
            repository: repository.url.clone(),
            reference: repository.reference.clone(),
        };
        let mut clones = git.clones.borrow_mut();
        clones.push((repository, checkout.clone()));
        Ok(Some(checkout))
    }

    /// Fetches the one commit, and writes its files.
    fn clone_into(&self, directory: &Path, repository: &Repository) -> Result<()> {
        let git = |arguments: &[&str]| self.git(arguments, directory, repository);
        git(&["init", "--quiet", "--template="])?;
        git(&["remote", "add", "--", "origin", &repository.url])?;
        let reference = match repository.reference.as_str() {
            "" => "HEAD",
            reference => reference,
        };
        let fetch = ["fetch", "--quiet", "--depth=1", "--no-tags", "--"];
        git(&[&fetch[..], &["origin", reference]].concat())?;
        let mut listed = git(&["ls-tree", "-r", "-l", "FETCH_HEAD"])?.stdout;
        check_size(&String::from_utf8_lossy(&listed), &repository.url)?;
        git(&["checkout", "--quiet", "FETCH_HEAD"])?;
        if repository.has_submodules && directory.join(".gitmodules").exists() {
            let submodules = |rest: &[&str]| git(&[&["submodule", "--quiet"], rest].concat());
            submodules(&["update", "--init", "--recursive", "--depth=1"])?;
            // Git writes the files of submodules before it can list them.
            let list = ["foreach", "--recursive", "git ls-tree -r -l HEAD"];
            listed.extend(submodules(&list)?.stdout);
            check_size(&String::from_utf8_lossy(&listed), &repository.url)?;
        }
        Ok(())
    }

    fn git(&self, arguments: &[&str], directory: &Path, repository: &Repository) -> Result<Ended> {
        let mut command = Command::new("git");
        for name in OF_REPOSITORIES {
            command.env_remove(name);
        }
        command
            .current_dir(directory)
            .args(["-c", "core.hooksPath=/dev/null"])
            .args(arguments)
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ALLOW_PROTOCOL", repository.protocols());
        let limit = repository.timeout.min(self.limit);
        let verb = arguments.first().copied().unwrap_or_default();
        let name = format!("git {verb}` of `{}", repository.url);
        match private(|| self.process(&mut command, String::new(), limit)) {
            Ok(ended) if ended.status.success() => Ok(ended),
            Ok(ended) => Err(unsuccessful(&name, &ended).into()),
            Err(Failure::Missing) => {
                let missing = Diagnostic::error("program `git` not found");
                Err(missing.hint("install it: `--enable-git` needs it").into())
            }
            Err(failure) => {
                let hint = matches!(failure, Failure::TimedOut(_))
                    .then(|| "to give it more time, add `timeout=SECONDS` to the query of the URL");
                let hint = hint.map(str::to_owned);
                Err(failure.diagnostic(&name, limits(limit)).maybe_hint(hint).into())
            }
        }
    }
}

/// Refuses a repository whose files would take too much room; `listed` has a line for each.
fn check_size(listed: &str, url: &str) -> Result<()> {
    let size = |line: &str| line.split_whitespace().nth(3)?.parse::<u64>().ok();
    let bytes = listed.lines().filter_map(size);
    let bytes = bytes.fold(0_u64, u64::saturating_add);
    if bytes <= MAX_BYTES && listed.lines().count() <= MAX_FILES {
        return Ok(());
    }
    let problem = format!(
        "`{url}` has more than {MAX_FILES} files or {} MiB, which is too much",
        MAX_BYTES >> 20
    );
    Err(Diagnostic::error(problem).into())
}

#[cfg(test)]
mod tests {
    use super::{MAX_FILES, check_size};

    #[test]
    fn only_so_much_is_written() {
        let line = |size: &str| format!("100644 blob 0123 {size}\ta b\n");
        check_size(&[line("10"), line("-")].concat(), "url").unwrap();
        check_size(&line("99999999999"), "url").unwrap_err();
        check_size(&line("18446744073709551615").repeat(2), "url").unwrap_err();
        check_size(&line("0").repeat(MAX_FILES + 1), "url").unwrap_err();
    }
}
