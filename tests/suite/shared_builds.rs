//! The function's program and the server's share what they build: each of our crates has the same
//! dependencies with the same features in both, so cargo compiles it once.

use std::collections::BTreeMap;
use std::env;
use std::process::Command;

use libtest_mimic::{Failed, Trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::test("shared_builds/features", crates_have_the_same_features)]
}

fn crates_have_the_same_features() -> Result<(), Failed> {
    let function = own_crates("krm-template")?;
    let server = own_crates("krm-template-server")?;
    let mut shared = 0;
    for (name, ours) in &function {
        let Some(theirs) = server.get(name) else { continue };
        let other = ours.iter().find(|line| !theirs.contains(line));
        if let Some(other) = other.or_else(|| theirs.iter().find(|line| !ours.contains(line))) {
            return Err(format!("{name} is compiled twice, because of {other}").into());
        }
        shared += 1;
    }
    if shared < 5 { Err(format!("{shared} shared crates").into()) } else { Ok(()) }
}

/// Our crates below a program, each with the lines of `cargo tree` below it: dependencies and features.
fn own_crates(program: &str) -> Result<BTreeMap<String, Vec<String>>, Failed> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let shape = ["--no-dedupe", "--prefix", "depth", "--format", " {p} {f}"];
    let tree = Command::new(cargo)
        .args(["tree", "--locked", "--edges", "normal,build", "--package", program])
        .args(shape)
        .current_dir(crate::root())
        .output()?;
    if !tree.status.success() {
        return Err(String::from_utf8_lossy(&tree.stderr).into_owned().into());
    }
    let tree = String::from_utf8(tree.stdout)?;
    let depth_and_name = |line: &'_ str| -> Option<(usize, String)> {
        let (depth, name) = line.split_once(' ')?;
        Some((depth.parse().ok()?, name.trim().to_owned()))
    };
    let lines: Vec<_> = tree.lines().filter_map(depth_and_name).collect();
    let mut found = BTreeMap::new();
    for (index, (depth, name)) in lines.iter().enumerate() {
        // The crates of this repository have a path.
        if name.contains("(/") {
            let below = lines.iter().skip(index + 1).take_while(|(below, _)| below > depth);
            let below = below.map(|(below, name)| format!("{} {name}", below - depth));
            found.insert(name.clone(), below.collect());
        }
    }
    Ok(found)
}
