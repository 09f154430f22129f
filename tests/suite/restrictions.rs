//! Which files a Composition may read: regular ones in or below its directory, and not too large.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use krm_template::files::MAX_FILE;
use libtest_mimic::{Failed, Trial};

use crate::{needs, program};

pub(crate) fn trials() -> Vec<Trial> {
    if cfg!(not(unix)) {
        return Vec::new();
    }
    vec![
        Trial::test("restrictions/what_names_files_reads_none_outside", outside),
        Trial::test("restrictions/links_are_resolved_first", links),
        Trial::test("restrictions/mounts_are_held_to_the_same", mounts),
        Trial::test("restrictions/mounts_are_resolved_before_each_start", mounts_that_change),
        Trial::test(
            "restrictions/roots_of_mounts_are_those_before_the_first_start",
            roots_that_change,
        ),
        Trial::test("restrictions/only_regular_files_are_read", special),
        Trial::test("restrictions/kustomizations_are_regular_files", special_kustomizations),
        Trial::test("restrictions/a_file_that_is_too_large_is_refused", large),
        Trial::test("restrictions/kustomize_is_held_to_the_same", kustomize),
        Trial::test("restrictions/a_function_is_held_to_the_same", function),
        Trial::test("restrictions/a_function_reads_only_its_package", package),
        Trial::test("restrictions/a_subpackage_is_a_package", packages),
        needs::ignored(
            Trial::test("restrictions/names_of_files_outside_are_not_told", names),
            program::needs(program::DEPLOYMENT_MANAGER),
        ),
        needs::ignored(
            Trial::test("restrictions/imports_are_held_to_the_same", imports),
            program::needs(program::DEPLOYMENT_MANAGER),
        ),
    ]
}

/// What may name a file, with `FILE` for its name.
const READERS: [&str; 6] = [
    "{kind: ResourceAccumulator, paths: [FILE]}",
    "{kind: ConfigMapGenerator, metadata: {name: a}, files: [key=FILE]}",
    "{kind: SecretGenerator, metadata: {name: a}, envs: [FILE]}",
    "{kind: PatchTransformer, path: FILE}",
    "{kind: PatchStrategicMergeTransformer, paths: [FILE]}",
    "{kind: PatchJson6902Transformer, target: {kind: ConfigMap, name: a}, path: FILE}",
];

/// A new folder with the folder `app`, and a file beside that.
fn folder(name: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("restrictions").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(folder.join("app"))?;
    fs::write(folder.join("file"), "secret=1\n")?;
    Ok(folder)
}

/// Builds the Composition with this transformer; it must fail and say `expected`.
fn refused(folder: &Path, transformer: &str, expected: &str) -> Result<(), Failed> {
    let text = format!("kind: Composition\ntransformers:\n- {transformer}\n");
    fs::write(folder.join("app/composition.yaml"), text)?;
    let mut command = program::command(folder);
    // A pipe that is read would never end.
    let output = program::run(command.args(["build", "app"]), Vec::new())?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.exit != "1" || !stderr.contains(expected) || stderr.contains("secret") {
        let what = format!("{transformer}: expected {expected}, exit {}", output.exit);
        return Err(format!("{what}\n{stderr}").into());
    }
    Ok(())
}

fn outside() -> Result<(), Failed> {
    let folder = folder("outside")?;
    let absolute = folder.join("file").display().to_string();
    let expected = "is not in or below `app`, the directory of the Composition";
    for reader in READERS {
        for file in ["../file", "../app/../file", &absolute, "/etc/hostname"] {
            refused(&folder, &reader.replace("FILE", file), expected)?;
        }
    }
    Ok(())
}

fn links() -> Result<(), Failed> {
    let folder = folder("links")?;
    std::os::unix::fs::symlink("../file", folder.join("app/link"))?;
    std::os::unix::fs::symlink("..", folder.join("app/up"))?;
    for reader in READERS {
        for file in ["link", "up/file"] {
            let expected = format!("`app/{file}` leads to `");
            refused(&folder, &reader.replace("FILE", file), &expected)?;
        }
    }
    Ok(())
}

fn mounts() -> Result<(), Failed> {
    let folder = folder("mounts")?;
    std::os::unix::fs::symlink("../file", folder.join("app/link"))?;
    std::os::unix::fs::symlink("..", folder.join("app/up"))?;
    let mount = "{kind: F, runtime: {container: {image: f, mounts: [{src: FILE, dst: /data}]}}}";
    for file in ["link", "up/file", "up"] {
        let expected = format!("`app/{file}` leads to `");
        refused(&folder, &mount.replace("FILE", file), &expected)?;
    }
    refused(&folder, &mount.replace("FILE", "../file"), "is not in or below `app`")
}

/// A container engine that notes its arguments in `calls`, and runs `swap` when it is first called.
const ENGINE: &str =
    "#!/bin/sh\necho \"$*\" >> calls\n[ -e swapped ] || sh ./swap\ntouch swapped\nexec cat\n";

/// A container changes a directory, and the next one mounts it: what it changed, how, what the next
/// one mounts, and the part of the message that refuses it; none if it is started.
const CHANGES: [(&str, &str, Option<&str>); 5] = [
    ("rmdir app/data; ln -s /etc app/data", "data", Some("`app/data` leads to `/etc`")),
    (
        "rmdir app/parent/inner app/parent; ln -s ../outside app/parent",
        "parent/inner",
        Some("outside/inner`, which is not in or below `app`"),
    ),
    (
        "rmdir app/data; mkdir -p 'app/a,source=/etc'; ln -s 'a,source=/etc' app/data",
        "data",
        Some("`app/data` leads to `"),
    ),
    ("rmdir app/data", "data", Some("`app/data` cannot be read: no such file")),
    ("rmdir app/data; ln -s parent app/data", "data", None),
];

/// A new folder whose container engine runs `swap` when it is first called, before its directory `app`
/// is built.
fn with_engine(name: &str, swap: &str) -> Result<PathBuf, Failed> {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder(name)?;
    for directory in ["bin", "app/data", "app/parent/inner", "app/sub", "outside/inner"] {
        fs::create_dir_all(folder.join(directory))?;
    }
    let engine = folder.join("bin/docker");
    fs::write(&engine, ENGINE)?;
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755))?;
    fs::write(folder.join("swap"), swap)?;
    Ok(folder)
}

/// A function with this mount.
fn with_mount(name: &str, source: &str) -> String {
    let mount = format!("{{src: {source}, dst: /d, rw: true}}");
    format!(
        "- {{apiVersion: example.com/v1, kind: F, metadata: {{name: {name}}}, \
         runtime: {{container: {{image: f, mounts: [{mount}]}}}}}}\n"
    )
}

/// The messages of a build of `app`, and the calls of the engine.
fn built(folder: &Path) -> Result<(String, String), Failed> {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = program::command(folder);
    command.env("PATH", format!("{}:{path}", folder.join("bin").display()));
    command.args(["build", "--enable-alpha-plugins", "app"]);
    let output = program::run(&mut command, Vec::new())?;
    let calls = fs::read_to_string(folder.join("calls"))?;
    Ok((String::from_utf8(output.stderr)?, calls))
}

/// A container that may write to the directory must not lead the next one out of it.
fn mounts_that_change() -> Result<(), Failed> {
    for (swap, source, expected) in CHANGES {
        let folder = with_engine("mounts-that-change", swap)?;
        let (first, second) = (with_mount("first", "."), with_mount("second", source));
        let text = format!("kind: Composition\ntransformers:\n{first}{second}");
        fs::write(folder.join("app/composition.yaml"), text)?;
        let (stderr, calls) = built(&folder)?;
        let app = fs::canonicalize(folder.join("app"))?;
        let is_mounted = |source: &str| {
            let mount = format!("--mount type=bind,source={}{source},target=/d", app.display());
            calls.contains(&format!("{mount} "))
        };
        let is_right = match expected {
            Some(words) => stderr.contains(words) && calls.lines().count() == 1,
            None => is_mounted("/parent") && calls.lines().count() == 2,
        };
        if !is_right || !is_mounted("") {
            return Err(format!("{swap}\n{stderr}\n{calls}").into());
        }
    }
    Ok(())
}

/// Nor does it move the directory of an imported Composition.
fn roots_that_change() -> Result<(), Failed> {
    let folder = with_engine("roots-that-change", "mv app/sub app/old; ln -s /etc app/sub")?;
    let imports = "transformersFrom: [{path: sub, importMode: append}]";
    let text = format!("kind: Composition\n{imports}\ntransformers:\n{}", with_mount("first", "."));
    fs::write(folder.join("app/composition.yaml"), text)?;
    let text = format!("kind: Composition\ntransformers:\n{}", with_mount("second", "."));
    fs::write(folder.join("app/sub/composition.yaml"), text)?;
    let (stderr, calls) = built(&folder)?;
    if stderr.contains("`app/sub` leads to `/etc`") && calls.lines().count() == 1 {
        return Ok(());
    }
    Err(format!("{stderr}\n{calls}").into())
}

fn special() -> Result<(), Failed> {
    let folder = folder("special")?;
    Command::new("mkfifo").arg(folder.join("app/pipe")).status()?;
    for reader in READERS {
        let expected = "`app/pipe` cannot be read: it is not a regular file";
        refused(&folder, &reader.replace("FILE", "pipe"), expected)?;
    }
    Ok(())
}

/// `validate` reads no pipe or device that is called like a file, or that a Kustomization names.
fn special_kustomizations() -> Result<(), Failed> {
    let folder = folder("special-kustomizations")?;
    for pipe in ["app/pipe.yaml", "app/base/kustomization.yaml"] {
        fs::create_dir_all(folder.join("app/base"))?;
        Command::new("mkfifo").arg(folder.join(pipe)).status()?;
    }
    std::os::unix::fs::symlink("/dev/zero", folder.join("app/zero.yaml"))?;
    let text = "resources: [pipe.yaml, zero.yaml, base]\n";
    fs::write(folder.join("app/kustomization.yaml"), text)?;
    let output = program::run(program::command(&folder).args(["validate", "app"]), Vec::new())?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let expected = [
        "`app/pipe.yaml` cannot be read: it is not a regular file",
        "`app/zero.yaml` leads to `/dev/zero`, which is not in or below `app`",
        "`app/base/kustomization.yaml` cannot be read: it is not a regular file",
    ];
    if output.exit == "1" && expected.iter().all(|one| stdout.contains(one)) {
        return Ok(());
    }
    Err(format!("{stdout}{}", String::from_utf8_lossy(&output.stderr)).into())
}

fn large() -> Result<(), Failed> {
    let folder = folder("large")?;
    fs::File::create(folder.join("app/large"))?.set_len(MAX_FILE + 1)?;
    let transformer = "{kind: ConfigMapGenerator, metadata: {name: a}, files: [large]}";
    let expected = "`app/large` cannot be read: it is larger than 64 MiB";
    refused(&folder, transformer, expected)
}

/// As far as there is a kustomize.
fn kustomize() -> Result<(), Failed> {
    let folder = folder("kustomize")?;
    fs::create_dir(folder.join("base"))?;
    let map = "configMapGenerator: [{name: a, files: [FILE]}]";
    let base =
        |file: &str| fs::write(folder.join("base/kustomization.yaml"), map.replace("FILE", file));
    std::os::unix::fs::symlink("../file", folder.join("app/link"))?;
    base("../file")?;
    let at_base = "resources: [../base]";
    for kustomization in
        [map.replace("FILE", "../file"), map.replace("FILE", "link"), at_base.into()]
    {
        let transformer = format!("{{kind: Kustomization, {kustomization}}}");
        refused(&folder, &transformer, "is not in or below")?;
    }
    refused(&folder, "{kind: ResourceAccumulator, paths: [../base]}", "is not in or below")?;
    // Files below the directory exist, and files below a base.
    fs::write(folder.join("base/text"), "1\n")?;
    fs::create_dir(folder.join("app/files"))?;
    fs::write(folder.join("app/files/text"), "2\n")?;
    base("text")?;
    let text = "kind: Composition\ntransformers:\n- kind: Kustomization\n  resources: [../base]\n  \
                configMapGenerator: [{name: b, files: [files/text]}]\n";
    fs::write(folder.join("app/composition.yaml"), text)?;
    let output = program::run(program::command(&folder).args(["build", "app"]), Vec::new())?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    if stdout.contains("    1\n") && stdout.contains("    2\n") {
        Ok(())
    } else {
        Err(format!("{stdout}{}", String::from_utf8_lossy(&output.stderr)).into())
    }
}

/// The functionConfig is in `app`, or its annotation names another place.
/// The input of a function whose functionConfig is a Composition with this field.
fn list(path: &str, field: &str) -> String {
    format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n  \
         apiVersion: kustomize.config.k8s.io/v1alpha1\n  kind: Composition\n  metadata:\n    \
         name: c\n    annotations: {{internal.config.kubernetes.io/path: {path}}}\n  {field}\n"
    )
}

fn function() -> Result<(), Failed> {
    let folder = folder("function")?;
    fs::write(folder.join("app/below"), "a=1\n")?;
    for (path, file, expected) in [
        ("app/composition.yaml", "below", ""),
        ("app/composition.yaml", "../file", "is not in or below `app`"),
        ("composition.yaml", "/etc/hostname", "the directory of the package"),
        ("../composition.yaml", "file", "outside of the package"),
        ("/etc/composition.yaml", "hostname", "outside of the package"),
    ] {
        let list = list(
            path,
            &format!(
                "transformers: [{{kind: ConfigMapGenerator, metadata: {{name: a}}, files: [key={file}]}}]"
            ),
        );
        let output = program::run(&mut program::command(&folder), list.into_bytes())?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        let is_right = if expected.is_empty() {
            output.exit == "0"
        } else {
            output.exit == "1" && stderr.contains(expected)
        };
        if !is_right {
            return Err(format!("{path} {file}: exit {}\n{stderr}", output.exit).into());
        }
    }
    Ok(())
}

/// Imports of a Deployment Manager configuration, also those of a schema in its directory.
fn imports() -> Result<(), Failed> {
    let folder = folder("imports")?;
    std::os::unix::fs::symlink("../file", folder.join("app/link"))?;
    std::os::unix::fs::symlink("..", folder.join("app/up"))?;
    fs::create_dir(folder.join("app/t"))?;
    fs::write(folder.join("app/t/a.txt"), "1\n")?;
    fs::write(folder.join("app/t/a.jinja"), "resources: []\n")?;
    let imports = |file: &str, name: &str| format!("imports:\n- path: {file}\n  name: {name}\n");
    fs::write(folder.join("app/t/a.jinja.schema"), imports("../../file", "y"))?;
    let absolute = folder.join("file").display().to_string();
    for (file, expected) in [
        ("t/a.txt", ""),
        ("../app/t/a.txt", ""),
        ("../file", "`file` is not in or below `app`, the directory of the configuration"),
        ("../f*", "`file` is not in or below `app`, the directory of the configuration"),
        (&*absolute, "is not in or below `app`"),
        ("link", "`app/link` leads to `"),
        ("up/file", "`app/up/file` leads to `"),
        ("up/f*", "leads to `"),
        ("t/a.jinja", "`file` is not in or below `app`"),
    ] {
        let config = format!("{}resources: []\n", imports(file, "x"));
        fs::write(folder.join("app/config.yaml"), config)?;
        for command in ["expand", "validate", "types"] {
            let arguments = ["dm", command, "app/config.yaml"];
            let mut given = program::command(&folder);
            let output = program::run(given.args(arguments), Vec::new())?;
            let stderr = String::from_utf8_lossy(&output.stderr);
            let hint = "use `--load-restrictor LoadRestrictionsNone`";
            let is_refused = stderr.contains(expected) && stderr.contains(hint);
            if (output.exit == "0") != expected.is_empty()
                || !(expected.is_empty() || is_refused)
                || stderr.contains("secret")
            {
                return Err(format!("{command} {file}: exit {}\n{stderr}", output.exit).into());
            }
            let mut lifted = program::command(&folder);
            let all = ["--load-restrictor", "LoadRestrictionsNone"];
            let output = program::run(lifted.args(arguments).args(all), Vec::new())?;
            if output.exit != "0" {
                let stderr = String::from_utf8_lossy(&output.stderr);
                return Err(format!("{command} {file}, without a limit: {stderr}").into());
            }
        }
    }
    Ok(())
}

/// What may add a directory with a Kustomization, `DIR`.
const ADDERS: [&str; 8] = [
    "transformers: [{kind: ResourceAccumulator, paths: [DIR]}]",
    "transformers: [{kind: ResourceAccumulator, paths: [DIR/kustomization.yaml]}]",
    "transformers: [{kind: ResourceAccumulator, paths: [DIR/composition/composition.yaml]}]",
    "transformers: [{kind: Kustomization, resources: [DIR]}]",
    "transformers: [{kind: Kustomization, bases: [DIR]}]",
    "transformers: [{kind: Kustomization, transformers: [DIR]}]",
    "transformersFrom: [{path: DIR/composition}]",
    "transformersFrom: [{path: DIR/composition/composition.yaml}]",
];

/// The same for a directory that the text of a Kustomization in the package names.
const INNER: [&str; 4] = [
    "resources: [DIR]\n",
    "components: [DIR/component]\n",
    "generators: [DIR]\n",
    "validators: [DIR]\n",
];

/// Runs the function in a directory; returns its standard error, and whether it succeeded.
fn run_function(at: &Path, path: &str, field: &str) -> Result<(String, bool), Failed> {
    let list = list(path, field).into_bytes();
    let output = program::run(&mut program::command(at), list)?;
    let stderr = String::from_utf8(output.stderr)?;
    if String::from_utf8_lossy(&output.stdout).contains("canary") && output.exit != "0" {
        return Err(format!("{field}: a file is shown").into());
    }
    Ok((stderr, output.exit == "0"))
}

/// Fails unless the function refuses this as outside of the package, and shows no file.
fn leads_out(at: &Path, path: &str, field: &str) -> Result<(), Failed> {
    let (stderr, succeeded) = run_function(at, path, field)?;
    let words = ["the directory of the package", "`krm-template build`"];
    let is_right = words.iter().all(|words| stderr.contains(words));
    if succeeded || !is_right || stderr.contains("canary") {
        return Err(format!("{path}: {field}: {stderr}").into());
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Failed> {
    fs::create_dir_all(path.parent().ok_or("it is in no directory")?)?;
    Ok(fs::write(path, text)?)
}

/// A folder with a package, `package`, and beside it `outside`; both have the same to be added.
fn tree(name: &str) -> Result<PathBuf, Failed> {
    let folder = folder(name)?;
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: canary}\n";
    for base in ["outside", "package/base", "package/sub/base"] {
        let write = |path, text| write(&folder.join(base).join(path), text);
        write("kustomization.yaml", "resources: [a.yaml]\n")?;
        write("a.yaml", object)?;
        let component = "kind: Component\nconfigMapGenerator: [{name: b, files: [../a.yaml]}]\n";
        write("component/kustomization.yaml", component)?;
        let composition =
            "kind: Composition\ntransformers:\n- {kind: LabelTransformer, labels: {a: b}}\n";
        write("composition/composition.yaml", composition)?;
    }
    write(&folder.join("package/Kptfile"), "")?;
    write(&folder.join("package/inner/kustomization.yaml"), "")?;
    std::os::unix::fs::symlink("../outside", folder.join("package/link"))?;
    std::os::unix::fs::symlink("../../outside", folder.join("package/inner/link"))?;
    Ok(folder)
}

/// Whether anything is there makes no difference.
fn package() -> Result<(), Failed> {
    let folder = tree("package")?;
    let top = folder.join("package");
    let absolute = folder.join("outside").display().to_string();
    for directory in
        ["../outside", "./../package/../outside", "link", "../none", "/none", &absolute]
    {
        for adder in ADDERS {
            leads_out(&top, "fn.yaml", &adder.replace("DIR", directory))?;
        }
    }
    let inner = ADDERS[0].replace("DIR", "inner");
    let file = top.join("inner/kustomization.yaml");
    for directory in ["../../outside", "link", "../link", "../../none", &absolute] {
        for text in INNER {
            write(&file, &text.replace("DIR", directory))?;
            leads_out(&top, "fn.yaml", &inner)?;
        }
    }
    // A command reads what kustomize reads.
    write(&file, "resources: [../../outside]\n")?;
    let mut build = program::command(&top);
    let output = program::run(build.args(["build", "inner"]), Vec::new())?;
    if output.exit == "0" {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned().into())
}

/// A subpackage is a package, and an annotation does not move the root.
fn packages() -> Result<(), Failed> {
    let folder = tree("packages")?;
    let top = folder.join("package");
    let add = |directory: &str| ADDERS[0].replace("DIR", directory);
    let allowed = |at: &str, path: &str, directory: &str| -> Result<(), Failed> {
        match run_function(&folder.join(at), path, &add(directory))? {
            (_, true) => Ok(()),
            (stderr, false) => Err(format!("{at}: {path}: {directory}: {stderr}").into()),
        }
    };
    allowed("package", "fn.yaml", "base")?;
    allowed("package", "sub/fn.yaml", "../base")?;
    allowed("package/sub", "fn.yaml", "../base")?;
    let absolute = top.join("base").display().to_string();
    allowed("package", "fn.yaml", &absolute)?;
    write(&top.join("sub/Kptfile"), "")?;
    allowed("package", "sub/fn.yaml", "base")?;
    leads_out(&top, "sub/fn.yaml", &add("../base"))?;
    leads_out(&folder.join("package/sub"), "fn.yaml", &add("../base"))?;
    for path in ["../outside/fn.yaml", "/fn.yaml", "../../../../../fn.yaml"] {
        let (stderr, succeeded) = run_function(&top, path, &add("."))?;
        if succeeded || !stderr.contains("outside of the package") {
            return Err(format!("{path}: {stderr}").into());
        }
    }
    Ok(())
}

/// Of a directory outside, not even the names of its files are told.
fn names() -> Result<(), Failed> {
    let folder = tree("names")?;
    let absolute = folder.join("outside").display().to_string();
    for directory in ["../outside", "link", &absolute] {
        let field = format!(
            "transformers: [{{apiVersion: template.krm.dev/v1alpha1, kind: DeploymentConfiguration, \
             metadata: {{name: d}}, spec: {{config: {{resources: []}}, imports: [{{path: {directory}}}]}}}}]"
        );
        let (stderr, succeeded) = run_function(&folder.join("package"), "fn.yaml", &field)?;
        if succeeded || !stderr.contains("not in or below") || stderr.contains("a.yaml") {
            return Err(format!("{directory}: {stderr}").into());
        }
    }
    Ok(())
}
