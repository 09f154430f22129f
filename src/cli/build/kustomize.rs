//! Runs an installed kustomize, or the one in kubectl.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tempfile::TempDir;

use super::process::{self, Failure};
use super::programs::{Programs, unsuccessful};
use crate::composition::chain::Kustomize;
use crate::composition::consolidate::KUSTOMIZATIONS;
use crate::diagnostic::{Diagnostic, Result};
use crate::files;
use crate::source::Source;

/// The programs that build a Kustomization, in the order in which they are looked for: how each is
/// called, and how it says its version.
const PROGRAMS: [(&[&str], &[&str]); 2] = [
    (&["kustomize", "build"], &["kustomize", "version"]),
    (
        &["kubectl", "kustomize"],
        &["kubectl", "version", "--client"],
    ),
];

/// The kustomize that is installed.
#[derive(Clone, Debug)]
pub(super) struct Installed {
    program: &'static [&'static str],
    version: String,
}

impl Programs {
    pub(super) fn run_kustomize(&self, build: &Kustomize<'_>) -> Result<Arc<Source>> {
        if build.calls_helm && !self.helm {
            return Err(Diagnostic::error("helm runs only if that is allowed")
                .hint("allow it with `--enable-helm`")
                .into());
        }
        let Some(installed) = self.kustomize.get_or_init(|| self.find_kustomize()) else {
            return Err(Diagnostic::error(
                "there is no `kustomize` or `kubectl` on the PATH to build it with",
            )
            .hint("install one of them")
            .into());
        };
        let name = installed.program.join(" ");
        let unable = |error: io::Error| {
            Diagnostic::error(format!(
                "`{name}` cannot be run in a copy of `{}`: {error}",
                build.directory
            ))
        };
        // Dropped at the end, which removes it.
        let copy = if build.files.is_empty() {
            None
        } else {
            Some(Copy::make(build).map_err(unable)?)
        };
        let mut command = command(installed.program);
        if installed.program.first() == Some(&"kustomize") && self.executables {
            command.arg("--enable-exec");
        }
        if self.containers {
            command.arg("--enable-alpha-plugins");
        }
        if self.helm {
            command.arg("--enable-helm");
        }
        match &copy {
            Some(copy) => command
                .args(["--load-restrictor", "LoadRestrictionsNone"])
                .arg(&copy.directory),
            None => command.arg(build.directory),
        };
        let ended = process::run(&mut command, String::new(), self.limit);
        let mut ended = ended.map_err(|failure| self.failure(&name, failure))?;
        let Installed { version, .. } = installed;
        self.console
            .remark(format!("ran `{name}` {version} in `{}`", build.directory));
        if !ended.status.success() {
            if let Some(copy) = &copy {
                ended.stderr = copy.in_words_of_the_user(&ended.stderr).into_bytes();
            }
            return Err(unsuccessful(&name, &ended).into());
        }
        files::source(format!("{name} {}", build.directory), ended.stdout)
    }

    fn find_kustomize(&self) -> Option<Installed> {
        PROGRAMS.into_iter().find_map(|(program, version)| {
            let ended = process::run(&mut command(version), String::new(), self.limit);
            let version = match ended {
                Err(Failure::Missing) => return None,
                Ok(ended) => version_in(&String::from_utf8_lossy(&ended.stdout)),
                // What is wrong with it shows when it is to build something.
                Err(_) => None,
            };
            let version = version.unwrap_or_else(|| "of an unknown version".to_owned());
            Some(Installed { program, version })
        })
    }
}

fn command(words: &[&str]) -> Command {
    let mut words = words.iter();
    let mut command = Command::new(words.next().copied().unwrap_or_default());
    command.args(words);
    command
}

/// The version of kustomize: alone, or on the line of kubectl that is about it.
fn version_in(text: &str) -> Option<String> {
    let line = text
        .lines()
        .find(|line| line.starts_with("Kustomize Version:"))
        .or_else(|| text.lines().next())?;
    let mut words =
        line.split(|letter: char| letter.is_whitespace() || letter == '/' || letter == ':');
    let is_version = |word: &&str| {
        let digits = word.strip_prefix('v').unwrap_or_default();
        digits.starts_with(|letter: char| letter.is_ascii_digit())
    };
    words.find(is_version).map(str::to_owned)
}

/// A directory of links to what is in another, and other files. So are the directories that it is
/// in, so that relative paths lead where they would lead there.
struct Copy {
    root: TempDir,
    directory: PathBuf,
    /// Paths of links, and what they lead to.
    links: Vec<(PathBuf, PathBuf)>,
}

impl Copy {
    fn make(build: &Kustomize<'_>) -> io::Result<Self> {
        let original = fs::canonicalize(build.directory)?;
        let root = TempDir::with_prefix("krm-template-")?;
        let mut directory = fs::canonicalize(root.path())?;
        let mut there = PathBuf::new();
        for part in original.components() {
            if let Component::Normal(name) = part {
                link_all(&there, &directory, &[name])?;
                directory.push(name);
                fs::create_dir(&directory)?;
            }
            there.push(part);
        }
        let files = build.files.iter().map(|(name, _)| *name);
        let links = build.links.iter().map(|(name, _)| name.as_str());
        let names = KUSTOMIZATIONS.into_iter().chain(files).chain(links);
        let names: Vec<&OsStr> = names.map(OsStr::new).collect();
        link_all(&original, &directory, &names)?;
        for (name, text) in build.files {
            fs::write(directory.join(name), text)?;
        }
        let mut links = Vec::new();
        for (name, target) in build.links {
            let (target, here) = (fs::canonicalize(target)?, directory.join(name));
            link(&target, &here)?;
            links.push((here, target));
        }
        Ok(Self {
            root,
            directory,
            links,
        })
    }

    /// Names the originals where a text names what is in the copy.
    fn in_words_of_the_user(&self, text: &[u8]) -> String {
        let mut text = String::from_utf8_lossy(text).into_owned();
        for (link, target) in &self.links {
            let target = target.to_string_lossy();
            text = text.replace(link.to_string_lossy().as_ref(), &target);
            if let Some(name) = link.file_name() {
                text = text.replace(name.to_string_lossy().as_ref(), &target);
            }
        }
        let real = fs::canonicalize(self.root.path()).unwrap_or_default();
        for root in [real.as_path(), self.root.path()] {
            if root.file_name().is_some() {
                text = text.replace(root.to_string_lossy().as_ref(), "");
            }
        }
        match std::env::current_dir() {
            Ok(here) if here.file_name().is_some() => {
                text.replace(&format!("{}/", here.display()), "")
            }
            _ => text,
        }
    }
}

/// Links what is in a directory, but for some names. A directory that cannot be listed is left out:
/// nothing in it may be needed.
fn link_all(from: &Path, to: &Path, except: &[&OsStr]) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(from) else {
        return Ok(());
    };
    for entry in entries {
        let name = entry?.file_name();
        if !except.contains(&name.as_os_str()) {
            link(&from.join(&name), &to.join(&name))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn link(original: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(original, link)
}

#[cfg(windows)]
fn link(original: &Path, link: &Path) -> io::Result<()> {
    if original.is_dir() {
        std::os::windows::fs::symlink_dir(original, link)
    } else {
        std::os::windows::fs::symlink_file(original, link)
    }
}

#[cfg(test)]
mod tests {
    use super::version_in;

    #[test]
    fn versions_are_found_as_programs_print_them() {
        for (text, expected) in [
            ("v5.8.0\n", Some("v5.8.0")),
            (
                "Client Version: v1.32.4\nKustomize Version: v5.5.0\n",
                Some("v5.5.0"),
            ),
            (
                "{Version:kustomize/v4.5.7 GitCommit:56d82a8 BuildDate:2022}\n",
                Some("v4.5.7"),
            ),
            ("(devel)\n", None),
            ("", None),
        ] {
            assert_eq!(version_in(text).as_deref(), expected, "{text}");
        }
    }
}
