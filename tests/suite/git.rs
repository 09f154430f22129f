//! Kustomizations in git repositories, which are not trusted. The repositories are local.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};

use crate::{needs, program};

pub(crate) fn trials() -> Vec<Trial> {
    if cfg!(not(unix)) {
        return Vec::new();
    }
    let is_there = Command::new("git").arg("version").output().is_ok();
    let trials = [
        Trial::test("git/repositories_are_built_and_removed", built),
        Trial::test("git/submodules_are_cloned_unless_the_url_says_no", submodules),
        Trial::test("git/what_is_in_one_stays_in_it", escapes),
        Trial::test("git/no_hook_and_no_option_runs_anything", nothing_runs),
        Trial::test("git/without_the_option_nothing_is_fetched", refused),
    ];
    let reason = || (!is_there).then(|| "needs git".to_owned());
    trials.into_iter().map(|trial| needs::ignored(trial, reason())).collect()
}

const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a} # mine\n";

/// A folder with a repository `repository`, temporary files in `tmp`, and a Kustomization `app`.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Result<Self, Failed> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("git").join(name);
        let _ = fs::remove_dir_all(&folder);
        for inner in ["repository/base", "tmp", "app", "hooks"] {
            fs::create_dir_all(folder.join(inner))?;
        }
        let place = Self(folder);
        place.write("repository/base/kustomization.yaml", "resources: [a.yaml]\n")?;
        place.write("repository/base/a.yaml", OBJECT)?;
        place.write("kustomization.yaml", "resources: [outside.yaml]\n")?;
        place.write("outside.yaml", OBJECT)?;
        place.git(&["init", "--quiet"])?;
        Ok(place)
    }

    fn write(&self, path: &str, text: &str) -> Result<(), Failed> {
        Ok(fs::write(self.0.join(path), text)?)
    }

    fn git(&self, arguments: &[&str]) -> Result<(), Failed> {
        let mut command = Command::new("git");
        command
            .current_dir(self.0.join("repository"))
            .args(["-c", "user.name=test", "-c", "user.email=test"])
            .args(arguments);
        let output = program::run(&mut command, Vec::new())?;
        if output.exit == "0" {
            return Ok(());
        }
        Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into())
    }

    fn commit(&self) -> Result<(), Failed> {
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "a state"])
    }

    fn url(&self, rest: &str) -> String {
        format!("file://{}{rest}", self.0.join("repository").display())
    }

    /// Builds. Fails if temporary files stay.
    fn build(&self, arguments: &[&str]) -> Result<(String, String), Failed> {
        let mut command = program::command(&self.0);
        command
            .env("TMPDIR", self.0.join("tmp"))
            .env("GIT_CONFIG_GLOBAL", self.0.join("gitconfig"))
            .arg("build")
            .args(arguments);
        let output = program::run(&mut command, Vec::new())?;
        if fs::read_dir(self.0.join("tmp"))?.next().is_some() {
            return Err(format!("{arguments:?}: temporary files stay").into());
        }
        Ok((String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
    }

    /// Fails unless the Kustomization that names this resource is an error with these words.
    fn refuses(&self, resource: &str, options: &[&str], words: &str) -> Result<(), Failed> {
        self.write("app/kustomization.yaml", &format!("resources: ['{resource}']\n"))?;
        let (stdout, stderr) = self.build(&[&["app"], options].concat())?;
        if stdout.is_empty() && stderr.contains(words) && !stderr.contains("krm-template-git-") {
            return Ok(());
        }
        Err(format!("{resource}: {stdout}{stderr}").into())
    }
}

const GIT: &str = "--enable-git";

fn built() -> Result<(), Failed> {
    let place = Place::new("built")?;
    place.commit()?;
    place.git(&["tag", "v1"])?;
    fs::remove_file(place.0.join("repository/base/a.yaml"))?;
    place.commit()?;
    let url = place.url("//base?ref=v1");
    let resources = format!("resources: ['{url}']\nnamePrefix: x-\n");
    place.write("app/kustomization.yaml", &resources)?;
    let prefixed = OBJECT.replace("name: a", "name: x-a");
    for (directory, expected) in [(url.as_str(), OBJECT), ("app", &prefixed)] {
        let (stdout, stderr) = place.build(&[directory, GIT])?;
        if stdout != expected {
            return Err(format!("{directory}: {stdout}{stderr}").into());
        }
    }
    let missing = "there is no `file://";
    place.refuses(&place.url("//none"), &[GIT], missing)?;
    place.refuses(&place.url("//base?ref=v2"), &[GIT], "couldn't find remote ref v2")
}

fn submodules() -> Result<(), Failed> {
    let place = Place::new("submodules")?;
    place.commit()?;
    let (repository, inner) = (place.0.join("repository"), place.0.join("inner"));
    fs::rename(&repository, &inner)?;
    fs::create_dir_all(repository.join("base"))?;
    place.write("repository/base/kustomization.yaml", "resources: [../inner/base]\n")?;
    place.git(&["init", "--quiet"])?;
    let add = ["submodule", "--quiet", "add", "../inner", "inner"];
    let remote = format!("remote.origin.url={}", place.url(""));
    let options = ["-c", "protocol.file.allow=always", "-c", &remote];
    place.git(&[&options[..], &add].concat())?;
    place.commit()?;
    let (stdout, stderr) = place.build(&[&place.url("//base"), GIT])?;
    if stdout != OBJECT {
        return Err(format!("{stdout}{stderr}").into());
    }
    let without = place.url("//base?submodules=false");
    place.refuses(&without, &[GIT], "inner/base")
}

fn escapes() -> Result<(), Failed> {
    let place = Place::new("escapes")?;
    let secret = place.0.join("outside.yaml");
    std::os::unix::fs::symlink(&place.0, place.0.join("repository/link"))?;
    std::os::unix::fs::symlink(&secret, place.0.join("repository/base/link.yaml"))?;
    let bases = [
        ("up", "../../../..".to_owned(), "is not in or below `file://"),
        ("linked", "../link".to_owned(), "is not in or below `file://"),
        ("file", "../base/link.yaml".to_owned(), "is not in or below `file://"),
        ("local", place.url("//base"), "is a repository of this machine"),
    ];
    for (name, resource, _) in &bases {
        fs::create_dir(place.0.join("repository").join(name))?;
        let file = format!("repository/{name}/kustomization.yaml");
        place.write(&file, &format!("resources: ['{resource}']\n"))?;
    }
    place.write("repository/base/kustomization.yaml", "resources: [link.yaml]\n")?;
    place.commit()?;
    let all_files = ["--load-restrictor", "LoadRestrictionsNone", GIT];
    for options in [&[GIT][..], &all_files] {
        for (name, _, words) in &bases {
            place.refuses(&place.url(&format!("//{name}")), options, words)?;
        }
        place.refuses(&place.url("//base"), options, "is not in or below `file://")?;
    }
    place.refuses(&place.url("//base/../.."), &[GIT], "leads out of its repository")
}

fn nothing_runs() -> Result<(), Failed> {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::new("hooks")?;
    place.commit()?;
    let (mark, hooks) = (place.0.join("mark"), place.0.join("hooks"));
    let hook = hooks.join("post-checkout");
    fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", mark.display()))?;
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755))?;
    let config = format!("[core]\n\thooksPath = {}\n", hooks.display());
    place.write("gitconfig", &config)?;
    place.build(&[&place.url("//base"), GIT])?;
    let touch = format!("touch {}", mark.display());
    for (resource, words) in [
        (place.url(&format!("//base?ref=--upload-pack={touch}")), "has a `ref` that"),
        (format!("ext::sh -c {touch}"), "there is no"),
        (format!("ssh://-oProxyCommand={touch}/a/b"), "is not the URL of a repository"),
        ("http://localhost/a/b".to_owned(), "has no encryption"),
        ("git://localhost/a/b".to_owned(), "is a URL"),
    ] {
        place.refuses(&resource, &[GIT], words)?;
    }
    if mark.exists() {
        return Err("a program ran".into());
    }
    Ok(())
}

fn refused() -> Result<(), Failed> {
    let place = Place::new("refused")?;
    place.commit()?;
    for url in [place.url("//base"), "github.com/owner/name?ref=v1".to_owned()] {
        place.refuses(&url, &[], "allow that with `--enable-git`")?;
    }
    Ok(())
}
