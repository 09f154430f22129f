//! The real kpt, which must write what its contract says.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::judge::Failure;
use super::package::{Files, directory};
use super::render::LATER;
use super::steps::first_difference;
use crate::program;

/// The reason why the real kpt cannot be asked, if there is one.
pub(super) fn missing() -> Option<String> {
    let found = Command::new("kpt").arg("version").output();
    let is_there = found.is_ok_and(|output| output.status.success());
    (!is_there).then(|| "needs kpt".to_owned())
}

/// Renders `files` with kpt and compares the result with `expected`; an error must leave them as they are.
pub(super) fn check(
    files: &Files,
    package: &str,
    seed: Option<&str>,
    expected: Option<&Files>,
) -> Result<(), Failure> {
    let about = |error: std::io::Error| Failure::new("kpt cannot be run", error.to_string());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ownership");
    write(&folder, files).map_err(about)?;
    let programs = Path::new(program::PATH).parent().map(Path::to_path_buf);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(programs.into_iter().chain(std::env::split_paths(&path)));
    let path = path.map_err(|error| Failure::new("kpt cannot be run", error.to_string()))?;
    let mut command = Command::new("kpt");
    command.current_dir(&folder).env("PATH", path).env_remove("KRM_TEMPLATE_SEED");
    command.args(["fn", "render", "--allow-exec", "--truncate-output=false"]);
    command.arg(Path::new("shop").join(package));
    if let Some(seed) = seed {
        command.env("KRM_TEMPLATE_SEED", seed);
    }
    let output = command.output().map_err(about)?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() != expected.is_some() {
        return Err(Failure::new(
            "kpt fails where its contract does not, or the other way round",
            said,
        ));
    }
    let mut found = Files::new();
    let shop = folder.join("shop");
    read(&shop, &shop, &mut found).map_err(about)?;
    let expected = expected.unwrap_or(files);
    if found == *expected {
        return Ok(());
    }
    Err(Failure::new(
        "kpt writes other files than its contract",
        first_difference(expected, &found),
    ))
}

fn write(folder: &Path, files: &Files) -> std::io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    for (path, text) in files {
        let shop = folder.join("shop");
        fs::create_dir_all(shop.join(directory(path)))?;
        fs::write(shop.join(path), text)?;
    }
    fs::write(folder.join("later.py"), LATER)
}

fn read(folder: &Path, top: &Path, files: &mut Files) -> std::io::Result<()> {
    for found in fs::read_dir(folder)? {
        let path: PathBuf = found?.path();
        if path.is_dir() {
            read(&path, top, files)?;
        } else if let Ok(name) = path.strip_prefix(top) {
            files.insert(name.display().to_string(), fs::read_to_string(&path)?);
        }
    }
    Ok(())
}
