//! The program called as `kustomize`, by a link.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};

use crate::program::{self, Output};

pub(crate) fn trials() -> Vec<Trial> {
    if cfg!(not(unix)) {
        return Vec::new();
    }
    vec![
        Trial::test("called/versions_are_those_of_kustomize", versions),
        Trial::test("called/output_goes_to_files_and_folders", output),
        Trial::test("called/options_of_kustomize_are_accepted", options),
    ]
}

/// A folder with a Kustomization and a link to the program.
fn folder(name: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("called").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("dir"))?;
    fs::write(folder.join("kustomization.yaml"), "resources: [a.yaml]\n")?;
    fs::write(folder.join("a.yaml"), OBJECT)?;
    #[cfg(unix)]
    std::os::unix::fs::symlink(program::PATH, folder.join("kustomize"))?;
    Ok(folder)
}

const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a} # mine\n";

fn kustomize(folder: &Path, arguments: &[&str]) -> Result<Output, String> {
    let mut command = Command::new(folder.join("kustomize"));
    program::run(command.current_dir(folder).args(arguments), Vec::new())
}

fn expect(folder: &Path, arguments: &[&str], expected: &str) -> Result<(), Failed> {
    let output = kustomize(folder, arguments)?;
    let found = String::from_utf8(output.stdout)?;
    if output.exit != "0" || found != expected {
        return Err(format!("{arguments:?}: exit {}, found {found:?}", output.exit).into());
    }
    Ok(())
}

fn versions() -> Result<(), Failed> {
    let folder = folder("versions")?;
    expect(&folder, &["version"], "v5.8.1\n")?;
    expect(&folder, &["version", "--short"], "{kustomize/v5.8.1    }\n")
}

fn output() -> Result<(), Failed> {
    let folder = folder("output")?;
    expect(&folder, &["build"], OBJECT)?;
    expect(&folder, &["build", "-o", "name"], "configmap/a\n")?;
    for arguments in [["-o", "./out"], ["--output", "dir"]] {
        expect(&folder, &["build", ".", arguments[0], arguments[1]], "")?;
    }
    for file in ["out", "dir/v1_configmap_a.yaml"] {
        let found = fs::read_to_string(folder.join(file))?;
        if found != OBJECT {
            return Err(format!("{file}: {found}").into());
        }
    }
    Ok(())
}

/// Each option of `kustomize build` 5.8 and `kubectl kustomize` 1.37 but `-o`.
const OPTIONS: &[&str] = &[
    "--as-current-user",
    "--enable-alpha-plugins",
    "--enable-exec",
    "--enable-helm",
    "--enable-managedby-label=false",
    "--enable-star",
    "-eA=b",
    "--env=C",
    "--helm-api-versions=v1/x",
    "--helm-command=helm",
    "--helm-debug",
    "--helm-kube-version=1.30",
    "--load-restrictor=LoadRestrictionsRootOnly",
    "--mount=type=bind,src=.,dst=/x",
    "--network",
    "--network-name=bridge",
    "--reorder=none",
    "--stack-trace",
];

fn options() -> Result<(), Failed> {
    let folder = folder("options")?;
    expect(&folder, &[&["build", "."], OPTIONS].concat(), OBJECT)?;
    for option in OPTIONS {
        expect(&folder, &["build", option, "."], OBJECT)?;
    }
    Ok(())
}
