//! What other programs get from this one: no seed, and temporary folders that nobody else reads and
//! that do not stay.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};

use crate::program;

pub(crate) fn trials() -> Vec<Trial> {
    if cfg!(not(target_os = "linux")) {
        return Vec::new();
    }
    vec![
        Trial::test("programs/none_gets_the_seed", no_seed),
        Trial::test("programs/temporary_files_are_for_the_user_alone", modes),
        Trial::test("programs/a_signal_removes_temporary_files", signals),
        Trial::test("programs/an_idle_signal_removes_temporary_files", idle),
        Trial::test("programs/each_application_has_its_own_values", applications),
    ]
}

const SEED: &str = "canary-seed-0123456789abcdef";

/// Every program that this one runs: it records its environment, and the modes of temporary files.
const FAKE: &str = r#"#!/bin/sh
me=$(basename "$0")
env >> "$PLACE/env-$me"
umask > "$PLACE/umask-$me"
case "$me $*" in
"helm template "*)
    cd "$TMPDIR"/krm-template-helm-* && touch made && mkdir folder
    echo $$ > "$PLACE/started"
    [ ! -e "$PLACE/sleeps" ] || sleep 60 ;;
"git "*" checkout "*)
    echo 'resources: []' > kustomization.yaml ;;
esac
(cd "$TMPDIR" && find . -mindepth 1 -printf '%y %m %p\n') >> "$PLACE/modes"
case "$me" in helm|git) exit 0 ;; esac
echo "no" >&2
exit 1
"#;

/// A folder with fake programs in `bin`, `tmp` for temporary files, and `app`.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Result<Self, Failed> {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs").join(name);
        let _ = fs::remove_dir_all(&folder);
        for inner in ["bin", "tmp", "app/charts/c"] {
            fs::create_dir_all(folder.join(inner))?;
        }
        for name in ["helm", "git", "docker", "kubectl", "fake"] {
            let path = folder.join("bin").join(name);
            fs::write(&path, FAKE)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
        fs::write(folder.join("app/charts/c/Chart.yaml"), "name: c\n")?;
        fs::write(folder.join("app/charts/c/values.yaml"), "{}\n")?;
        Ok(Self(folder))
    }

    /// Writes a Kustomization or Composition, and runs a line of the shell with `$K` for the program.
    fn run(&self, name: &str, text: &str, line: &str) -> Result<program::Output, Failed> {
        let app = self.0.join("app");
        for old in ["kustomization.yaml", "composition.yaml"] {
            let _ = fs::remove_file(app.join(old));
        }
        fs::write(app.join(name), text)?;
        let path = std::env::var("PATH")?;
        let mut command = Command::new("sh");
        command
            .current_dir(&app)
            .args(["-c", line])
            .env("PATH", format!("{}:{path}", self.0.join("bin").display()))
            .env("PLACE", &self.0)
            .env("TMPDIR", self.0.join("tmp"))
            .env("K", program::PATH)
            .env("KRM_TEMPLATE_SEED", SEED);
        Ok(program::run(&mut command, Vec::new())?)
    }

    fn is_empty(&self) -> Result<(), Failed> {
        match fs::read_dir(self.0.join("tmp"))?.next() {
            None => Ok(()),
            Some(entry) => Err(format!("{} stays", entry?.path().display()).into()),
        }
    }

    fn text(&self, name: &str) -> Result<String, Failed> {
        let read = fs::read_to_string(self.0.join(name));
        Ok(read.map_err(|error| format!("{name}: {error}"))?)
    }
}

const CHART: &str = "helmCharts:\n- {name: c, releaseName: r}\n";

fn function(runtime: &str) -> String {
    format!(
        "kind: Composition\ntransformers:\n- {{apiVersion: example.com/v1, kind: F, runtime: {{{runtime}}}}}\n"
    )
}

const IMAGE: &str = "container: {image: example.com/f, envs: [KRM_TEMPLATE_SEED]}";

fn no_seed() -> Result<(), Failed> {
    let place = Place::new("no-seed")?;
    let kustomization = "kustomization.yaml";
    let composition = "composition.yaml";
    let exec = function("exec: {path: fake, envs: [KRM_TEMPLATE_SEED]}");
    let runs = [
        ("helm", kustomization, CHART, "$K build --enable-helm"),
        ("git", kustomization, "resources: ['https://example.com/a/b']\n", "$K build --enable-git"),
        ("fake", composition, &exec, "$K build --enable-exec"),
        (
            "docker",
            composition,
            &function(IMAGE),
            "$K build --enable-alpha-plugins --env KRM_TEMPLATE_SEED",
        ),
        ("kubectl", kustomization, "", "$K export --from-cluster deployments"),
    ];
    for (name, file, text, line) in runs {
        let output = place.run(file, text, line)?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        let environment =
            place.text(&format!("env-{name}")).map_err(|error| format!("{error:?}\n{stderr}"))?;
        if environment.contains(SEED) || !environment.contains("TMPDIR=") {
            return Err(format!("{name}: {environment}").into());
        }
    }
    Ok(())
}

fn modes() -> Result<(), Failed> {
    let place = Place::new("modes")?;
    let all = format!("resources: ['https://example.com/a/b']\n{CHART}");
    let line = "umask 0; $K build --enable-helm --enable-git -o out.yaml; stat -c %a out.yaml";
    let output = place.run("kustomization.yaml", &all, line)?;
    let modes = place.text("modes")?;
    let made = ["-values.yaml", "/made", "/folder", "/000/kustomization.yaml"];
    if let Some(missing) = made.iter().find(|name| !modes.contains(**name)) {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{missing}: {modes}{stderr}").into());
    }
    let is_private = |line: &&str| line.starts_with("d 700 ") || line.starts_with("f 600 ");
    if let Some(open) = modes.lines().find(|line| !is_private(line)) {
        return Err(format!("others can read {open}").into());
    }
    if !output.stdout.ends_with(b"666\n") {
        return Err("the mask of the user does not count for the output".into());
    }
    place.is_empty()
}

/// Each signal, while a program runs.
fn signals() -> Result<(), Failed> {
    let place = Place::new("signals")?;
    fs::write(place.0.join("sleeps"), "")?;
    for signal in ["TERM", "INT", "HUP", "QUIT"] {
        let line = format!(
            "ulimit -c 0; env --default-signal=HUP,INT,QUIT,TERM $K build --enable-helm & \
             while [ ! -s $PLACE/started ]; do sleep 0.05; done; kill -{signal} $!; wait $!; \
             status=$?; rm $PLACE/started; exit $status"
        );
        let output = place.run("kustomization.yaml", CHART, &line)?;
        if output.exit.parse::<u8>().is_ok_and(|status| status > 128) {
            place.is_empty()?;
            continue;
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{signal}: {} {stderr}", output.exit).into());
    }
    Ok(())
}

/// A signal, while this program reads its input and has the copy of a repository.
fn idle() -> Result<(), Failed> {
    let place = Place::new("idle")?;
    let line = "mkfifo $PLACE/input; sleep 60 > $PLACE/input & writer=$!; \
         $K build --enable-git 'https://example.com/a/b' - < $PLACE/input & \
         while [ ! -e $PLACE/tmp/*/000/kustomization.yaml ]; do sleep 0.05; done; sleep 0.2; \
         kill -TERM $!; wait $!; status=$?; kill $writer; exit $status";
    let output = place.run("kustomization.yaml", "", line)?;
    if output.exit != "143" {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} {stderr}", output.exit).into());
    }
    place.is_empty()
}

const GENERATES: &str = "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nmetadata: {name: t}\n\
    parameters: [{name: PASSWORD, generate: expression, from: '[a-z]{20}'}]\n\
    objects:\n- {apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {p: $(PASSWORD)}}\n";

/// The text after a line of an example, as a block scalar has it.
fn block(file: &str, after: &str, indent: usize) -> Result<String, Failed> {
    let text = fs::read_to_string(crate::root().join("examples/argocd").join(file))?;
    let (_, text) = text.split_once(after).ok_or("the example has changed")?;
    let begin = " ".repeat(indent);
    let lines = text.lines().map_while(|line| line.strip_prefix(&begin));
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// The plugin and the kustomize of Argo CD give each Application other values, each time the same,
/// and none to one without a name.
fn applications() -> Result<(), Failed> {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::new("applications")?;
    let (bin, app) = (place.0.join("bin"), place.0.join("app"));
    std::os::unix::fs::symlink(program::PATH, bin.join("krm-template"))?;
    fs::write(bin.join("jq"), "#!/bin/sh\necho '{}'\n")?;
    fs::set_permissions(bin.join("jq"), fs::Permissions::from_mode(0o755))?;
    fs::write(app.join("template.yaml"), GENERATES)?;
    let plugin = block("plugin.yaml", "    args:\n    - |\n", 6)?;
    fs::write(app.join("plugin"), plugin)?;
    let script = block("kustomize.yaml", "<<'END'\n", 10)?;
    let script = script.split("\nEND").next().unwrap_or_default();
    let program = "/usr/local/bin/kustomize-krm/program/kustomize";
    if !script.contains(program) {
        return Err(script.into());
    }
    std::os::unix::fs::symlink(program::PATH, app.join("kustomize"))?;
    fs::write(app.join("wrapped"), script.replace(program, "./kustomize"))?;
    let kustomization = "generators: [template.yaml]\n";
    for line in ["bash -e -o pipefail plugin", "sh wrapped build ."] {
        let of = |namespace: &str, name: &str| -> Result<String, Failed> {
            let line = format!("ARGOCD_APP_NAMESPACE={namespace} ARGOCD_APP_NAME={name} {line}");
            let output = place.run("kustomization.yaml", kustomization, &line)?;
            let text = String::from_utf8([output.stdout, output.stderr].concat())?;
            match (output.exit == "0", name.is_empty()) {
                (true, false) | (false, true) => Ok(text),
                _ => Err(format!("{line}: {text}").into()),
            }
        };
        let values = [
            of("web", "shop")?,
            of("web", "team-a_shop")?,
            of("web", "blog")?,
            of("other", "shop")?,
        ];
        let different: std::collections::BTreeSet<&String> = values.iter().collect();
        if different.len() != values.len() || values[0] != of("web", "shop")? {
            return Err(values.concat().into());
        }
        if of("web", "")?.contains("kind: Secret") {
            return Err(format!("{line}: an Application without a name has values").into());
        }
    }
    Ok(())
}
