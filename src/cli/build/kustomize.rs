//! Runs an installed kustomize, or the one in kubectl.

use std::io;
use std::process::Command;
use std::sync::Arc;

use super::copy::Copy;
use super::installed::Installed;
use super::programs::Programs;
use crate::composition::Kustomize;
use krm_template_exec::disk::{LoadRestrictor, WAY_OUT};
use krm_template_exec::subprocess::{Failure, unsuccessful};
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::source::Source;

/// The programs that build a Kustomization, in search order: the command to build, and the command
/// that prints the version.
const PROGRAMS: [(&[&str], &[&str]); 2] = [
    (&["kustomize", "build"], &["kustomize", "version"]),
    (
        &["kubectl", "kustomize"],
        &["kubectl", "version", "--client"],
    ),
];

/// A part of kustomize's error for a file outside of the directory that names it.
const OUTSIDE: &str = "security; file";

/// The hint for a file outside of the directory that names it.
impl Programs {
    pub(super) fn run_kustomize(&self, build: &Kustomize<'_>) -> Result<Arc<Source>> {
        if build.calls_helm && !self.helm {
            return Err(Diagnostic::error("running helm is not allowed")
                .hint("allow it with `--enable-helm`")
                .into());
        }
        let Some(installed) = self.kustomize.get_or_init(|| self.find_kustomize()) else {
            return Err(
                Diagnostic::error("neither `kustomize` nor `kubectl` is on the PATH")
                    .hint("install one of them: krm-template runs it to build a Kustomization")
                    .into(),
            );
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
            Some(Copy::make(build, self.restrictor).map_err(unable)?)
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
        if self.restrictor == LoadRestrictor::None {
            command.args(["--load-restrictor", "LoadRestrictionsNone"]);
        }
        match &copy {
            Some(copy) => command.arg(&copy.directory),
            None => command.arg(build.directory),
        };
        let ended = self.process(&mut command, String::new(), self.limit);
        let mut ended = ended.map_err(|failure| self.failure(&name, &failure))?;
        let Installed { version, .. } = installed;
        self.console
            .info(format!("ran `{name}` {version} in `{}`", build.directory));
        if !ended.status.success() {
            if let Some(copy) = &copy {
                ended.stderr = copy.in_words_of_the_user(&ended.stderr).into_bytes();
            }
            let is_outside = String::from_utf8_lossy(&ended.stderr).contains(OUTSIDE);
            let way_out = is_outside.then(|| WAY_OUT.to_owned());
            return Err(unsuccessful(&name, &ended).maybe_hint(way_out).into());
        }
        krm_yaml::decode(format!("{name} {}", build.directory), ended.stdout)
    }

    fn find_kustomize(&self) -> Option<Installed> {
        PROGRAMS.into_iter().find_map(|(program, version)| {
            let ended = self.process(&mut command(version), String::new(), self.limit);
            let version = match ended {
                Err(Failure::Missing) => return None,
                Ok(ended) => version_in(&String::from_utf8_lossy(&ended.stdout)),
                // If it is broken, building reports the error.
                Err(_) => None,
            };
            let version = version.unwrap_or_else(|| "(unknown version)".to_owned());
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

/// The version of kustomize: alone, or from kubectl's line about it.
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
