//! What the program does with pipes, devices, links and a full disk where it writes files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};

use crate::program;

pub(crate) fn trials() -> Vec<Trial> {
    if cfg!(not(unix)) {
        return Vec::new();
    }
    vec![
        Trial::test("writing/a_source_map_may_go_to_a_pipe", pipe),
        Trial::test("writing/a_device_is_written_and_not_read", device),
        Trial::test("writing/a_file_is_written_whole_or_not_at_all", no_space),
        Trial::test("writing/links_are_not_followed_unless_asked", links),
        Trial::test("writing/files_with_secrets_are_for_their_owner", secrets),
        Trial::test("writing/the_record_confirms_no_guess_of_a_secret", record),
        Trial::test("writing/files_without_an_object_are_reported_and_pruned", prune),
    ]
}

const ARGUMENTS: &str = "process -f template.yaml NAME=shop --output-dir out";

/// Runs a line of the shell in `folder`, with `$PROGRAM` for the program.
fn shell(folder: &Path, line: &str) -> Result<program::Output, String> {
    let mut command = Command::new("sh");
    command.current_dir(folder).args(["-c", line]);
    command.env("PROGRAM", program::PATH);
    program::run(&mut command, Vec::new())
}

/// A new folder with a Template.
fn folder(name: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("writing").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let template = crate::root().join("examples/web/template.yaml");
    fs::copy(template, folder.join("template.yaml"))?;
    Ok(folder)
}

fn expect(what: &str, found: &str, expected: &str) -> Result<(), Failed> {
    if found.trim_end() == expected {
        Ok(())
    } else {
        Err(format!("{what}: expected {expected}, found {found}").into())
    }
}

fn pipe() -> Result<(), Failed> {
    let folder = folder("pipe")?;
    let line = format!(
        "mkfifo pipe; cat pipe > map.json & timeout 20 \"$PROGRAM\" {ARGUMENTS} --source-map pipe; echo $?; wait"
    );
    let output = shell(&folder, &line)?;
    expect("exit", &String::from_utf8_lossy(&output.stdout), "0")?;
    let map: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("map.json"))?)?;
    expect("version", &map.get("version").map_or_else(String::new, ToString::to_string), "1")
}

fn device() -> Result<(), Failed> {
    let folder = folder("device")?;
    let line = format!("timeout 20 \"$PROGRAM\" {ARGUMENTS} --source-map /dev/full");
    let output = shell(&folder, &line)?;
    expect("exit", &output.exit, "1")?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let expected = "error: `/dev/full` cannot be written: no space left on the device";
    expect("stderr", &stderr, expected)?;
    // The objects are nothing without their map.
    expect("out", &folder.join("out").exists().to_string(), "false")
}

/// The second file is too large: the first, which is not, stays as it was.
fn no_space() -> Result<(), Failed> {
    let folder = folder("no-space")?;
    let template = |text: &str| {
        format!(
            "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nmetadata: {{name: t}}\nobjects:\n\
             - {{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}, data: {{a: b{text:.1}}}}}\n\
             - {{apiVersion: v1, kind: ConfigMap, metadata: {{name: b}}, data: {{b: b{text}}}}}\n"
        )
    };
    fs::write(folder.join("template.yaml"), template(""))?;
    let run = "\"$PROGRAM\" process -f template.yaml --output-dir out";
    expect("exit", &shell(&folder, run)?.exit, "0")?;
    let before = listing(&folder.join("out"))?;
    fs::write(folder.join("template.yaml"), template(&"x".repeat(100_000)))?;
    let output = shell(&folder, &format!("trap '' XFSZ; ulimit -f 8; {run}"))?;
    expect("exit", &output.exit, "1")?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !stderr.contains("`out/configmap_b.yaml` cannot be written: ") {
        return Err(stderr.into_owned().into());
    }
    if listing(&folder.join("out"))? == before { Ok(()) } else { Err("files have changed".into()) }
}

/// The files of a folder, with their content.
fn listing(folder: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, Failed> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        files.push((path.clone(), fs::read(path)?));
    }
    files.sort();
    Ok(files)
}

fn links() -> Result<(), Failed> {
    let folder = folder("links")?;
    let line = format!(
        "mkdir out elsewhere; echo mine > file; ln -s ../file out/service_shop.yaml; \"$PROGRAM\" {ARGUMENTS}"
    );
    let output = shell(&folder, &line)?;
    expect("exit", &output.exit, "1")?;
    expect("file", &fs::read_to_string(folder.join("file"))?, "mine")?;
    let line = format!("ln -s ../elsewhere out/ns; \"$PROGRAM\" {ARGUMENTS} -n ns");
    expect("exit", &shell(&folder, &line)?.exit, "1")?;
    let found = listing(&folder.join("elsewhere"))?.len();
    expect("elsewhere", &found.to_string(), "0")?;
    let line = format!("\"$PROGRAM\" {ARGUMENTS} --overwrite");
    expect("exit", &shell(&folder, &line)?.exit, "0")?;
    expect("file", &fs::read_to_string(folder.join("file"))?, "mine")?;
    let written = folder.join("out/service_shop.yaml");
    expect("link", &written.is_symlink().to_string(), "false")
}

/// A Secret, an object with the value of a secret parameter, and one without.
const SECRETS: &str = "\
apiVersion: template.krm.dev/v1alpha1
kind: Template
metadata: {name: t}
parameters:
- {name: PASSWORD, secret: true}
- {name: TEXT, value: a}
objects:
- {apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {a: $(TEXT)}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {a: $(PASSWORD)}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: $(TEXT)}}
";

/// The modes of the files in `out`, by their names.
#[cfg(unix)]
fn modes(folder: &Path) -> Result<String, Failed> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut modes = Vec::new();
    for (path, _) in listing(&folder.join("out"))? {
        let name = path.file_name().unwrap_or_default().display().to_string();
        let mode = fs::metadata(&path)?.permissions().mode() & 0o777;
        modes.push(format!("{name} {mode:o}"));
    }
    Ok(modes.join("\n"))
}

#[cfg(not(unix))]
fn modes(_: &Path) -> Result<String, Failed> {
    Ok(String::new())
}

fn secrets() -> Result<(), Failed> {
    let folder = folder("secrets")?;
    fs::write(folder.join("template.yaml"), SECRETS)?;
    let run = |umask: &str, more: &str| {
        shell(
            &folder,
            &format!(
                "umask {umask}; \"$PROGRAM\" process -f template.yaml --output-dir out {more}"
            ),
        )
    };
    let all = ".krm-template.salt 600\n.krm-template.sha256 644\nconfigmap_b.yaml 600\n\
               configmap_c.yaml 644\nsecret_a.yaml 600";
    expect("exit", &run("022", "PASSWORD=one")?.exit, "0")?;
    expect("modes", &modes(&folder)?, all)?;
    // An older file with wider permissions, with the same text and with another one.
    shell(&folder, "chmod 644 out/*; chmod 640 out/configmap_c.yaml")?;
    let output = run("022", "PASSWORD=two")?;
    expect(
        "stderr",
        &String::from_utf8_lossy(&output.stderr),
        "out: 0 new, 2 changed, 1 unchanged",
    )?;
    let all = all.replace("configmap_c.yaml 644", "configmap_c.yaml 640");
    expect("modes", &modes(&folder)?, &all)?;
    // Narrower permissions stay.
    shell(&folder, "chmod 700 out/secret_a.yaml")?;
    expect("exit", &run("022", "PASSWORD=two TEXT=b")?.exit, "0")?;
    let all = all.replace("secret_a.yaml 600", "secret_a.yaml 700");
    expect("modes", &modes(&folder)?, &all)
}

fn record() -> Result<(), Failed> {
    let folder = folder("record")?;
    fs::write(folder.join("template.yaml"), SECRETS)?;
    let run = "\"$PROGRAM\" process -f template.yaml --output-dir out";
    expect("exit", &shell(&folder, &format!("{run} PASSWORD=one"))?.exit, "0")?;
    let output = shell(
        &folder,
        "cd out; for file in *.yaml; do grep -c $(sha256sum < $file | cut -c1-64) .krm-template.*; done; \
         sha256sum --quiet -c .krm-template.sha256",
    )?;
    let found = ".krm-template.salt:0\n.krm-template.sha256:0\n.krm-template.salt:0\n\
                 .krm-template.sha256:1\n.krm-template.salt:0\n.krm-template.sha256:0";
    expect("digests", &String::from_utf8_lossy(&output.stdout), found)?;
    // It still tells what was changed by hand.
    let change = "echo '# mine' >> out/secret_a.yaml";
    expect("exit", &shell(&folder, change)?.exit, "0")?;
    let output = shell(&folder, &format!("{run} PASSWORD=two"))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.exit != "1" || !stderr.contains("`out/secret_a.yaml` was changed after") {
        return Err(stderr.into_owned().into());
    }
    // Without the salt, as in another copy of the repository, it tells nothing.
    shell(&folder, "rm out/.krm-template.salt")?;
    let output = shell(&folder, &format!("{run} PASSWORD=two"))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.exit != "1" || !stderr.contains("`out/configmap_b.yaml` has secrets, and without") {
        return Err(stderr.into_owned().into());
    }
    let output = shell(&folder, &format!("{run} PASSWORD=two --overwrite"))?;
    expect("exit", &output.exit, "0")
}

fn prune() -> Result<(), Failed> {
    let folder = folder("prune")?;
    let objects = [
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: stays}}",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: goes, namespace: ns}}",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: edited}}",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: gone}}",
        "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: b}}",
    ];
    let write = |objects: &[&str]| {
        let head = "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nmetadata: {name: t}\n";
        let objects = objects.join("\n- ");
        let text = format!("{head}objects:\n- {objects}\n");
        fs::write(folder.join("template.yaml"), text)
    };
    let run = |more: &str| {
        let line = format!("\"$PROGRAM\" process -f template.yaml {more}");
        shell(&folder, &line)
    };
    let files = || {
        let found = shell(&folder, "cd out && find . -name '*.yaml' | sort")?;
        Ok::<_, Failed>(String::from_utf8_lossy(&found.stdout).into_owned())
    };
    write(&objects)?;
    expect("exit", &run("--output-dir out")?.exit, "0")?;
    shell(
        &folder,
        "echo '# mine' >> out/configmap_edited.yaml; rm out/configmap_gone.yaml; echo a > out/mine.yaml",
    )?;
    write(&objects[..1])?;
    let output = run("--diff-against out")?;
    let stale = "Only in out: configmap_edited.yaml\nOnly in out: ns/configmap_goes.yaml\n\
                 Only in out: secret_s.yaml";
    expect("diff", &String::from_utf8_lossy(&output.stdout), stale)?;
    expect("exit", &output.exit, "1")?;
    // Without the option they stay, and are still known.
    expect("exit", &run("--output-dir out")?.exit, "0")?;
    let all = "./configmap_edited.yaml\n./configmap_stays.yaml\n./mine.yaml\n\
               ./ns/configmap_goes.yaml\n./secret_s.yaml";
    expect("files", &files()?, all)?;
    let output = run("--output-dir out --prune")?;
    expect("exit", &output.exit, "0")?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !stderr.contains("`out/configmap_edited.yaml` has no object any more, but was changed after")
        || !stderr.ends_with("out: 0 new, 0 changed, 1 unchanged, 2 removed\n")
    {
        return Err(stderr.into_owned().into());
    }
    let left = "./configmap_edited.yaml\n./configmap_stays.yaml\n./mine.yaml";
    expect("files", &files()?, left)?;
    let folder_is_there = folder.join("out/ns").exists();
    expect("the empty folder", &folder_is_there.to_string(), "false")?;
    // A record that others have written leads nowhere else.
    fs::write(folder.join("outside.yaml"), "a\n")?;
    let forged = "sha=$(printf 'a\\n' | sha256sum | cut -c1-64); \
                  echo \"$sha  ../outside.yaml\" >> out/.krm-template.sha256";
    shell(&folder, forged)?;
    expect("exit", &run("--output-dir out --prune")?.exit, "0")?;
    let is_there = folder.join("outside.yaml").exists();
    expect("a file outside", &is_there.to_string(), "true")
}
