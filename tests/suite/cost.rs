//! Twice the input costs about twice the work: instructions, counted by callgrind, so the same on a
//! busy machine as on an idle one. Each row says which part of the input grows.
//!
//! Without valgrind these tests are ignored; `.ci/run` does not let them be.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libtest_mimic::{Failed, Trial};

use crate::needs;
use crate::program;

/// What twice as much may cost, as a multiple: 2, and some for sorted lists and for chance.
pub(crate) const MOST: f64 = 2.2;

/// What is measured.
struct Work {
    name: &'static str,
    /// How much more of it there is than one: so much that it counts beside starting the program.
    count: usize,
    /// Writes the input for a count into a folder.
    prepare: fn(&Path, usize) -> Result<Run, Failed>,
}

/// How the program is run in the folder.
#[derive(Default)]
struct Run {
    arguments: Vec<String>,
    stdin: String,
}

const WORKS: &[Work] = &[
    Work { name: "files", count: 100, prepare: |folder, count| files(folder, count, "{}") },
    Work {
        name: "files_with_anchors",
        count: 4,
        prepare: |folder, count| files(folder, count, "{a: &a b, c: *a}"),
    },
    Work { name: "items_that_pass", count: 200, prepare: items_that_pass },
    Work { name: "items_that_are_updated", count: 100, prepare: items_that_are_updated },
    Work { name: "items_of_an_older_version", count: 100, prepare: items_of_an_older_version },
    Work { name: "generated_values", count: 50, prepare: generated_values },
    Work { name: "objects", count: 100, prepare: objects },
    Work { name: "exported_objects", count: 100, prepare: exported_objects },
    Work { name: "instances", count: 100, prepare: instances },
    Work { name: "parameters", count: 200, prepare: parameters },
    Work { name: "groups_of_a_form", count: 400, prepare: groups_of_a_form },
    Work { name: "values", count: 200, prepare: values },
    Work { name: "merged_values", count: 100, prepare: merged_values },
    Work { name: "merged_objects", count: 100, prepare: merged_objects },
    Work { name: "merged_templates", count: 30, prepare: merged_templates },
    Work { name: "transformers", count: 50, prepare: transformers },
    Work { name: "imports", count: 50, prepare: imports },
    Work { name: "nested_imports", count: 24, prepare: nested_imports },
    Work { name: "objects_that_merge", count: 200, prepare: objects_that_merge },
    Work { name: "items_of_a_strategic_merge", count: 200, prepare: items_of_a_strategic_merge },
    Work {
        name: "variables_of_a_kustomization",
        count: 100,
        prepare: variables_of_a_kustomization,
    },
    Work {
        name: "generators_of_a_kustomization",
        count: 100,
        prepare: generators_of_a_kustomization,
    },
    Work {
        name: "checked_objects",
        count: 400,
        prepare: |folder, count| checked(folder, count, "", checked_service, ""),
    },
    Work {
        name: "checked_containers",
        count: 200,
        prepare: |folder, count| checked(folder, count, CONTAINERS, checked_container, ""),
    },
    Work {
        name: "checked_volumes",
        count: 400,
        prepare: |folder, count| {
            let end = format!("      containers: [{{name: a, image: a, volumeMounts: [{}]}}]\n", {
                let mounts = (0..count).map(|at| format!("{{name: v{at}, mountPath: /v{at}}}"));
                mounts.collect::<Vec<_>>().join(", ")
            });
            let volume = |at| format!("      - name: v{at}\n        emptyDir: {{}}\n");
            checked(folder, count, VOLUMES, volume, &end)
        },
    },
    Work {
        name: "checked_ports",
        count: 400,
        prepare: |folder, count| {
            let port = |at| format!("  - {{name: p{at}, port: {}}}\n", at + 1);
            checked(folder, count, PORTS, port, "")
        },
    },
    Work {
        name: "checked_fields",
        count: 1_000,
        prepare: |folder, count| {
            let field = |at| format!("  f{at}: {at}\n");
            checked(folder, count, FIELDS, field, "")
        },
    },
    Work {
        name: "checked_definitions",
        count: 100,
        prepare: |folder, count| checked(folder, count, "", definition, ""),
    },
    Work {
        name: "checked_fields_of_a_definition",
        count: 400,
        prepare: |folder, count| {
            let head = definition(0).replace("{type: object}", "");
            let head = format!("{head}          type: object\n          properties:\n");
            let field = |at| format!("            f{at}: {{type: integer}}\n");
            let fields = (0..count).map(|at| format!("f{at}: {at}\n"));
            let end = format!(
                "---\napiVersion: example.com/v1\nkind: Kind0\nmetadata: {{name: a}}\n{}",
                fields.collect::<String>()
            );
            checked(folder, count, &head, field, &end)
        },
    },
    Work {
        name: "transformers_of_a_kustomization",
        count: 100,
        prepare: transformers_of_a_kustomization,
    },
    Work {
        name: "components_of_a_kustomization",
        count: 100,
        prepare: components_of_a_kustomization,
    },
    Work {
        name: "resources_of_a_kustomization",
        count: 100,
        prepare: resources_of_a_kustomization,
    },
    Work { name: "overlays_that_are_validated", count: 50, prepare: overlays_that_are_validated },
    Work {
        name: "compositions_that_are_validated",
        count: 50,
        prepare: compositions_that_are_validated,
    },
    Work {
        name: "instances_that_are_validated",
        count: 100,
        prepare: instances_that_are_validated,
    },
    Work { name: "packages_that_are_validated", count: 50, prepare: packages_that_are_validated },
    Work {
        name: "templates_that_a_kustomization_lists",
        count: 50,
        prepare: |folder, count| listed_templates(folder, "validate", count),
    },
    Work {
        name: "parameters_of_templates_that_a_kustomization_lists",
        count: 50,
        prepare: |folder, count| listed_templates(folder, "parameters", count),
    },
    Work {
        name: "configurations_of_a_kustomization",
        count: 200,
        prepare: configurations_of_a_kustomization,
    },
];

const CONTAINERS: &str = "apiVersion: v1\nkind: PodTemplate\nmetadata: {name: a}\ntemplate:\n  metadata: {labels: {a: a}}\n  spec:\n      containers:\n";
const VOLUMES: &str = "apiVersion: v1\nkind: PodTemplate\nmetadata: {name: a}\ntemplate:\n  metadata: {labels: {a: a}}\n  spec:\n      volumes:\n";
const PORTS: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  ports:\n";
/// What follows are fields that a Service does not have.
const FIELDS: &str =
    "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  ports: [{port: 80}]\n";

fn checked_service(at: usize) -> String {
    format!(
        "---\napiVersion: v1\nkind: Service\nmetadata: {{name: a{at}}}\nspec: {{ports: [{{port: 80, prot: 1}}]}}\n"
    )
}

fn checked_container(at: usize) -> String {
    format!(
        "      - name: c{at}\n        image: a\n        ports: [{{name: p{at}, containerPort: {}}}]\n        env: [{{name: A, value: a}}]\n",
        at + 1
    )
}

fn definition(at: usize) -> String {
    format!(
        "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: kind{at}s.example.com}}\nspec:\n  group: example.com\n  names: {{kind: Kind{at}, listKind: Kind{at}List, plural: kind{at}s, singular: kind{at}}}\n  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n        openAPIV3Schema: {{type: object}}\n"
    )
}

/// A file that `validate` checks: a head, lines for each of `count`, and an end.
fn checked(
    folder: &Path,
    count: usize,
    head: &str,
    line: impl Fn(usize) -> String,
    end: &str,
) -> Result<Run, Failed> {
    let lines: String = (0..count).map(line).collect();
    fs::write(folder.join("a.yaml"), format!("{head}{lines}{end}"))?;
    Ok(Run { arguments: arguments(&["validate", "a.yaml"]), stdin: String::new() })
}

pub(crate) fn trials() -> Vec<Trial> {
    let is_missing = has_no_valgrind();
    let trials = WORKS.iter().map(|work| {
        let name = format!("cost/of_{}_grows_with_their_number", work.name);
        let trial = Trial::test(name, || grows_in_proportion(work));
        needs::ignored(trial, is_missing.then(|| "needs valgrind".to_owned()))
    });
    trials.collect()
}

pub(crate) fn has_no_valgrind() -> bool {
    let valgrind = Command::new("valgrind").arg("--version").stdin(Stdio::null()).output();
    !valgrind.is_ok_and(|output| output.status.success())
}

/// What the program costs with one of something is left out of the comparison.
fn grows_in_proportion(work: &Work) -> Result<(), Failed> {
    let count = work.count;
    let one = instructions(work, 1)?;
    let more = instructions(work, 1 + count)?.saturating_sub(one);
    if more < one / 10 {
        return Err(format!("{more} instructions are too few to judge by: raise the count").into());
    }
    let much_more = instructions(work, 1 + 2 * count)?.saturating_sub(one);
    #[expect(clippy::cast_precision_loss, reason = "far fewer instructions than a float can count")]
    let ratio = much_more as f64 / more as f64;
    let figures = format!(
        "{one} instructions for 1, {more} for {count} more, {much_more} for {} more: {ratio:.2}",
        2 * count
    );
    if ratio > MOST {
        return Err(format!("{figures} times as many, {MOST} at most are expected").into());
    }
    #[expect(clippy::print_stdout, reason = "the figures are worth a look")]
    {
        println!("{}: {figures}", work.name);
    }
    Ok(())
}

fn instructions(work: &Work, count: usize) -> Result<u64, Failed> {
    let folder = folder(work.name, count)?;
    let run = (work.prepare)(&folder, count)?;
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--callgrind-out-file=callgrind.out"])
        .arg(program::PATH)
        .args(&run.arguments)
        .current_dir(&folder);
    let output = program::run(&mut command, run.stdin.into())?;
    let said = String::from_utf8_lossy(&output.stderr);
    let found = said.lines().find_map(|line| line.split_once("Collected : "));
    let count = found.and_then(|(_, count)| count.trim().parse().ok());
    match count {
        Some(count) if output.exit == "0" => Ok(count),
        _ => Err(format!("{:?}: exit {}\n{said}", run.arguments, output.exit).into()),
    }
}

fn folder(name: &str, count: usize) -> Result<PathBuf, Failed> {
    let top = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cost");
    let folder = top.join(name).join(count.to_string());
    // Files of an earlier run.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn arguments(all: &[&str]) -> Vec<String> {
    all.iter().map(|&one| one.to_owned()).collect()
}

const TEMPLATE: &str = "apiVersion: template.krm.dev/v1alpha1\nkind: Template\n";

fn config_map(name: &str) -> String {
    format!(
        "apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: {name}\n  data:\n    a: b\n    c: \"1\"\n"
    )
}

/// A Template in each file, the first of which an instance expands.
fn files(folder: &Path, count: usize, data: &str) -> Result<Run, Failed> {
    let instance = "apiVersion: template.krm.dev/v1alpha1\nkind: TemplateInstance\n\
                    metadata: {name: i}\nspec:\n  templateRef: {name: t0}\n";
    fs::write(folder.join("i.yaml"), instance)?;
    let mut run = Run { arguments: arguments(&["process", "-f", "i.yaml"]), stdin: String::new() };
    for index in 0..count {
        let name = format!("t{index}.yaml");
        let object = "apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: c";
        let text = format!(
            "{TEMPLATE}metadata:\n  name: t{index}\nobjects:\n- {object}\n  data: {data}\n"
        );
        fs::write(folder.join(&name), text)?;
        run.arguments.extend(arguments(&["-f", &name]));
    }
    Ok(run)
}

/// A Deployment, a Service and a Secret each, as `kubectl get -o json` prints them.
#[expect(clippy::unnecessary_wraps, reason = "others of the table fail")]
fn exported_objects(_: &Path, count: usize) -> Result<Run, Failed> {
    let mut items = Vec::new();
    for index in 0..count {
        let name = format!("shop-n{index}");
        let metadata = format!(
            r#""metadata": {{"name": "{name}", "namespace": "shop", "uid": "{index}", "labels": {{"app": "{name}"}}}}"#
        );
        items.push(format!(
            r#"{{"apiVersion": "apps/v1", "kind": "Deployment", {metadata}, "spec": {{"replicas": 2, "selector": {{"matchLabels": {{"app": "{name}"}}}}, "template": {{"metadata": {{"labels": {{"app": "{name}"}}}}, "spec": {{"dnsPolicy": "ClusterFirst", "containers": [{{"name": "web", "image": "example.org/{name}:1", "env": [{{"name": "DB", "value": "http://{name}.shop.svc/"}}], "resources": {{}}}}]}}}}}}, "status": {{"replicas": 2}}}}"#
        ));
        items.push(format!(
            r#"{{"apiVersion": "v1", "kind": "Service", {metadata}, "spec": {{"clusterIP": "10.96.1.2", "selector": {{"app": "{name}"}}, "ports": [{{"port": 80, "protocol": "TCP"}}]}}}}"#
        ));
        items.push(format!(
            r#"{{"apiVersion": "v1", "kind": "Secret", {metadata}, "data": {{"password": "Y2FuYXJ5", "text": "JChYKQ=="}}}}"#
        ));
    }
    Ok(Run {
        arguments: arguments(&["export", "--quiet"]),
        stdin: format!(
            r#"{{"apiVersion": "v1", "kind": "List", "items": [{}]}}"#,
            items.join(", ")
        ),
    })
}

fn list(config: &str, items: &str) -> String {
    let config = config.trim_end().replace('\n', "\n  ");
    format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig:\n  {config}\n\
         items:\n{items}"
    )
}

fn items(count: usize) -> String {
    let items = (0..count).map(|index| format!("- {}", config_map(&format!("c{index}"))));
    items.collect()
}

#[expect(clippy::unnecessary_wraps, reason = "as the others that write files")]
fn items_that_pass(_: &Path, count: usize) -> Result<Run, Failed> {
    let config = format!("{TEMPLATE}metadata:\n  name: t\nobjects: []\n");
    Ok(Run { arguments: Vec::new(), stdin: list(&config, &items(count)) })
}

/// The function gets its own output once more, with another label to put on.
fn items_that_are_updated(folder: &Path, count: usize) -> Result<Run, Failed> {
    let config = |label: &str| {
        let objects = items(count);
        format!("{TEMPLATE}metadata:\n  name: t\nlabels: {{l: {label}}}\nobjects:\n{objects}")
    };
    // Where items have a path, the objects are written back.
    let first = "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: first\n    \
                 annotations:\n      internal.config.kubernetes.io/path: first.yaml\n";
    let stdin = list(&config("one"), first);
    let output = program::run(&mut program::command(folder), stdin.into())?;
    if output.exit != "0" {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let made = String::from_utf8(output.stdout)?;
    Ok(Run {
        arguments: Vec::new(),
        stdin: made.replacen("labels: {l: one}", "labels: {l: two}", 1),
    })
}

/// Objects without an origin, which a later function has renamed.
fn items_of_an_older_version(folder: &Path, count: usize) -> Result<Run, Failed> {
    let Run { arguments, stdin } = items_that_are_updated(folder, count)?;
    let lines = stdin.lines().map(|line| {
        let is_name = line.starts_with("    name: c");
        match line.strip_prefix("    name: ").filter(|_| is_name) {
            Some(name) => format!("    name: later-{name}\n"),
            None if line.contains("template.krm.dev/origin") => String::new(),
            None => format!("{line}\n"),
        }
    });
    Ok(Run { arguments, stdin: lines.collect() })
}

/// Each object has the earlier value of a parameter.
#[expect(clippy::unnecessary_wraps, reason = "as the others that write files")]
fn generated_values(_: &Path, count: usize) -> Result<Run, Failed> {
    let mut config = format!("{TEMPLATE}metadata:\n  name: t\nparameters:\n");
    let (mut objects, mut items) = (String::new(), String::new());
    for index in 0..count {
        let _ = writeln!(config, "- {{name: P{index}, generate: expression, from: '[a-z]{{8}}'}}");
        for (out, value) in
            [(&mut objects, format!("$(P{index})")), (&mut items, "abcdefgh".to_owned())]
        {
            let map = config_map(&format!("c{index}"));
            let _ = writeln!(
                out,
                "- {}  value: {value}",
                map.replace("data:", "data:\n    own: a\n  ")
            );
        }
    }
    config.push_str("objects:\n");
    config.push_str(&objects);
    Ok(Run { arguments: Vec::new(), stdin: list(&config, &items) })
}

fn objects(folder: &Path, count: usize) -> Result<Run, Failed> {
    let text = format!("{TEMPLATE}metadata:\n  name: t\nobjects:\n{}", items(count));
    fs::write(folder.join("t.yaml"), text)?;
    Ok(Run { arguments: arguments(&["process", "-f", "t.yaml"]), stdin: String::new() })
}

fn instances(folder: &Path, count: usize) -> Result<Run, Failed> {
    let mut text = format!(
        "{TEMPLATE}metadata:\n  name: t\nparameters:\n- name: NAME\nobjects:\n- {}---\n\
         apiVersion: template.krm.dev/v1alpha1\nkind: TemplateInstance\nmetadata:\n  name: i\n\
         spec:\n  templateRef:\n    name: t\n  instances:\n",
        config_map("$(NAME)")
    );
    for index in 0..count {
        writeln!(text, "  - name: i{index}\n    parameters:\n      NAME: c{index}")?;
    }
    fs::write(folder.join("t.yaml"), text)?;
    Ok(Run { arguments: arguments(&["process", "-f", "t.yaml"]), stdin: String::new() })
}

fn with_parameters(count: usize) -> Result<String, Failed> {
    let mut text = format!("{TEMPLATE}metadata:\n  name: t\nparameters:\n");
    for index in 0..count {
        writeln!(text, "- name: P{index}\n  value: \"v\"\n  description: a value")?;
    }
    write!(text, "objects:\n- {}", config_map("c"))?;
    for index in 0..count {
        writeln!(text, "    p{index}: x-$(P{index})")?;
    }
    Ok(text)
}

fn parameters(folder: &Path, count: usize) -> Result<Run, Failed> {
    fs::write(folder.join("t.yaml"), with_parameters(count)?)?;
    Ok(Run { arguments: arguments(&["process", "-f", "t.yaml"]), stdin: String::new() })
}

fn groups_of_a_form(folder: &Path, count: usize) -> Result<Run, Failed> {
    let mut template = format!("{TEMPLATE}metadata:\n  name: t\nobjects: []\n");
    template.push_str("parameters:\n");
    for index in 0..count {
        writeln!(template, "- {{name: P{index}, group: g{index}}}")?;
    }
    fs::write(folder.join("t.yaml"), template)?;
    Ok(Run { arguments: arguments(&["form", "-f", "t.yaml"]), stdin: String::new() })
}

/// All parameters are given, from three sources.
fn values(folder: &Path, count: usize) -> Result<Run, Failed> {
    let mut run = parameters(folder, count)?;
    let (mut yaml, mut env) = (String::new(), String::new());
    for index in 0..count {
        writeln!(yaml, "P{index}: a")?;
        writeln!(env, "P{index}=b")?;
        run.arguments.push(format!("-pP{index}=c"));
    }
    fs::write(folder.join("v.yaml"), yaml)?;
    fs::write(folder.join("v.env"), env)?;
    let files = ["-P", "v.yaml", "--param-file", "v.env"];
    run.arguments.extend(arguments(&files));
    Ok(run)
}

fn merge(folder: &Path, templates: &[String]) -> Result<Run, Failed> {
    let mut arguments = arguments(&["merge", "--quiet", "--name", "merged"]);
    for (index, template) in templates.iter().enumerate() {
        let name = format!("t{index}.yaml");
        fs::write(folder.join(&name), template)?;
        arguments.extend(["-f".to_owned(), name]);
    }
    Ok(Run { arguments, stdin: String::new() })
}

/// Two Templates with the same parameters and values, and one with others.
fn merged_values(folder: &Path, count: usize) -> Result<Run, Failed> {
    let template = |name: &str, letter: &str| -> Result<String, Failed> {
        let mut text = format!("{TEMPLATE}metadata:\n  name: {name}\nparameters:\n");
        let mut values = String::new();
        for index in 0..count {
            writeln!(text, "- name: {letter}{index}\n  value: v")?;
            writeln!(values, "  {letter}{index}: v")?;
        }
        let object = config_map(&format!("{name}-$({letter}0)"));
        write!(text, "values:\n{values}objects:\n- {object}")?;
        Ok(text)
    };
    let templates = [template("a", "P")?, template("b", "P")?, template("c", "Q")?];
    merge(folder, &templates)
}

/// Two Templates: half of the objects of the second are in the first, too.
fn merged_objects(folder: &Path, count: usize) -> Result<Run, Failed> {
    let template = |name: &str| {
        let own = (0..count).map(|index| format!("- {}", config_map(&format!("{name}{index}"))));
        let shared = (0..count).map(|index| format!("- {}", config_map(&format!("s{index}"))));
        let objects: String = own.chain(shared).collect();
        format!("{TEMPLATE}metadata:\n  name: {name}\nobjects:\n{objects}")
    };
    merge(folder, &[template("a"), template("b")])
}

/// Each has a parameter and a value of its own, and one of all.
fn merged_templates(folder: &Path, count: usize) -> Result<Run, Failed> {
    let templates = (0..count).map(|index| {
        format!(
            "{TEMPLATE}metadata:\n  name: t{index}\n  annotations:\n    tags: t{index}\n    \
             description: Part {index}\nmessage: Part {index}.\nparameters:\n- name: ALL\n- name: P{index}\n\
             values:\n  P{index}: v\n  ALL: a\nobjects:\n- {}",
            config_map(&format!("$(ALL)-$(P{index})"))
        )
    });
    let templates: Vec<String> = templates.collect();
    merge(folder, &templates)
}

const COMPOSITION: &str = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Composition\n";

fn transformer(index: usize) -> String {
    let kind = "kind: AnnotationsTransformer\n  metadata:\n    name: a";
    format!("- {kind}{index}\n  annotations:\n    a: v{index}\n")
}

/// Each changes the same resource.
fn transformers(folder: &Path, count: usize) -> Result<Run, Failed> {
    let resource = config_map("c").replace("\n  ", "\n");
    fs::write(folder.join("c.yaml"), resource)?;
    let mut text = format!(
        "{COMPOSITION}transformers:\n- kind: ResourceAccumulator\n  metadata:\n    name: all\n  \
         paths: [c.yaml]\n"
    );
    text.extend((0..count).map(transformer));
    fs::write(folder.join("composition.yaml"), text)?;
    Ok(Run { arguments: arguments(&["build"]), stdin: String::new() })
}

/// Of many Compositions into one.
fn imports(folder: &Path, count: usize) -> Result<Run, Failed> {
    let mut text = format!("{COMPOSITION}transformersFrom:\n");
    for index in 0..count {
        writeln!(text, "- path: c{index}.yaml")?;
        let imported = format!("{COMPOSITION}transformers:\n{}", transformer(index));
        fs::write(folder.join(format!("c{index}.yaml")), imported)?;
    }
    fs::write(folder.join("composition.yaml"), text)?;
    Ok(Run { arguments: arguments(&["build"]), stdin: String::new() })
}

/// Each Composition imports the next.
fn nested_imports(folder: &Path, count: usize) -> Result<Run, Failed> {
    for index in 0..=count {
        let mut text = COMPOSITION.to_owned();
        if index < count {
            writeln!(text, "transformersFrom:\n- path: c{}.yaml", index + 1)?;
        }
        write!(text, "transformers:\n{}", transformer(index))?;
        fs::write(folder.join(format!("c{index}.yaml")), text)?;
    }
    Ok(Run { arguments: arguments(&["build", "c0.yaml"]), stdin: String::new() })
}

/// A Template of a Kustomization creates as many objects as there are, and each merges with one.
fn objects_that_merge(folder: &Path, count: usize) -> Result<Run, Failed> {
    let objects = items(count);
    let merged = objects.replace(
        "\n  data:",
        "\n    annotations: {kustomize.config.k8s.io/behavior: merge}\n  data:",
    );
    let text = format!("{TEMPLATE}metadata:\n  name: t\nobjects:\n{merged}");
    fs::write(folder.join("template.yaml"), text)?;
    let text = format!("apiVersion: v1\nkind: List\nitems:\n{objects}");
    fs::write(folder.join("list.yaml"), text)?;
    let text = "resources: [list.yaml]\ngenerators: [template.yaml]\n";
    fs::write(folder.join("kustomization.yaml"), text)?;
    Ok(Run { arguments: arguments(&["build"]), stdin: String::new() })
}

/// Lists of an object and of a patch: some items are in both, in another order.
fn items_of_a_strategic_merge(folder: &Path, count: usize) -> Result<Run, Failed> {
    let object = |start: usize, value: &str| {
        let list = |item: &dyn Fn(usize) -> String| {
            let items: Vec<String> = (start..start + count).rev().map(item).collect();
            items.join(", ")
        };
        let env = list(&|at| format!("{{name: E{at}, value: {value}}}"));
        let ports = list(&|at| format!("{{containerPort: {}, protocol: TCP}}", at + 1));
        let finalizers = list(&|at| format!("example.com/{at}"));
        let container = format!("{{name: a, image: a, env: [{env}], ports: [{ports}]}}");
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, finalizers: [{finalizers}]}}\n\
             spec: {{template: {{spec: {{containers: [{container}]}}}}}}\n"
        )
    };
    fs::write(folder.join("object.yaml"), object(0, "old"))?;
    fs::write(folder.join("patch.yaml"), object(count / 2, "new"))?;
    let text = "resources: [object.yaml]\npatches: [{path: patch.yaml}]\n";
    fs::write(folder.join("kustomization.yaml"), text)?;
    Ok(Run { arguments: arguments(&["build"]), stdin: String::new() })
}

/// Each of another object.
fn variables_of_a_kustomization(folder: &Path, count: usize) -> Result<Run, Failed> {
    fs::write(
        folder.join("list.yaml"),
        format!("apiVersion: v1\nkind: List\nitems:\n{}", items(count)),
    )?;
    let mut text = "resources: [list.yaml]\nvars:\n".to_owned();
    for index in 0..count {
        let object = format!("{{apiVersion: v1, kind: ConfigMap, name: c{index}}}");
        writeln!(text, "- {{name: V{index}, objref: {object}}}")?;
    }
    fs::write(folder.join("kustomization.yaml"), text)?;
    Ok(Run { arguments: arguments(&["build"]), stdin: String::new() })
}

/// As many in each of its lists of generators.
fn generators_of_a_kustomization(folder: &Path, count: usize) -> Result<Run, Failed> {
    let mut text = String::new();
    for (list, name) in [("configMap", "c"), ("secret", "s")] {
        writeln!(text, "{list}Generator:")?;
        for index in 0..count {
            writeln!(text, "- {{name: {name}{index}, literals: [a=b]}}")?;
        }
    }
    text.push_str("generators:\n");
    for index in 0..count {
        let plugin = "apiVersion: builtin, kind: ConfigMapGenerator";
        writeln!(text, "- '{{{plugin}, metadata: {{name: p{index}}}, literals: [a=b]}}'")?;
    }
    fs::write(folder.join("kustomization.yaml"), text)?;
    Ok(Run { arguments: arguments(&["build"]), stdin: String::new() })
}

/// As many in each list of what changes the one object.
fn transformers_of_a_kustomization(folder: &Path, count: usize) -> Result<Run, Failed> {
    let object = "apiVersion: apps/v1, kind: Deployment";
    let select = "kind: Deployment, name: web";
    let replacement = format!(
        "{{source: {{{select}, fieldPath: metadata.name}}, targets: [{{select: {{{select}}}, \
         fieldPaths: [metadata.annotations.name], options: {{create: true}}}}]}}"
    );
    let patch = format!("'{{{object}, metadata: {{name: web}}, spec: {{paused: true}}}}'");
    let operation = r#"'[{"op": "add", "path": "/spec/paused", "value": false}]'"#;
    let plugin = "apiVersion: builtin, kind: PrefixTransformer, metadata: {name: p}, prefix: x";
    let lists = [
        ("images", "{name: web, newTag: vINDEX}".to_owned()),
        ("replicas", "{name: web, count: INDEX}".to_owned()),
        ("labels", "{pairs: {tier: vINDEX}}".to_owned()),
        ("patches", format!("{{patch: {patch}}}")),
        ("patchesStrategicMerge", patch),
        ("patchesJson6902", format!("{{target: {{{select}}}, patch: {operation}}}")),
        ("replacements", replacement),
        ("transformers", format!("'{{{}}}'", plugin.replace('\'', "x"))),
    ];
    let mut text = "resources: [web.yaml]\n".to_owned();
    for (field, entry) in lists {
        writeln!(text, "{field}:")?;
        for index in 0..count {
            writeln!(text, "- {}", entry.replace("INDEX", &index.to_string()))?;
        }
    }
    fs::write(folder.join("kustomization.yaml"), text)?;
    let web = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n\
               spec: {replicas: 1, template: {spec: {containers: [{name: web, image: web}]}}}\n";
    fs::write(folder.join("web.yaml"), web)?;
    Ok(Run { arguments: arguments(&["build"]), stdin: String::new() })
}

/// Writes files below a folder, in which a command runs.
fn in_files(
    folder: &Path,
    words: &[&str],
    files: impl IntoIterator<Item = (String, String)>,
) -> Result<Run, Failed> {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, text)?;
    }
    Ok(Run { arguments: arguments(words), stdin: String::new() })
}

/// Writes an object, as many files as `file` returns, and a Kustomization that lists each of them
/// after `head`.
fn list_of_files(
    folder: &Path,
    head: &str,
    count: usize,
    file: impl Fn(usize) -> (String, String),
) -> Result<Run, Failed> {
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: o}\n";
    let mut text = head.to_owned();
    let mut files = vec![("object.yaml".to_owned(), object.to_owned())];
    for index in 0..count {
        let (path, content) = file(index);
        writeln!(text, "- {}", path.trim_end_matches("/kustomization.yaml"))?;
        files.push((path, content));
    }
    files.push(("kustomization.yaml".to_owned(), text));
    in_files(folder, &["build"], files)
}

/// As many Components, for one object.
fn components_of_a_kustomization(folder: &Path, count: usize) -> Result<Run, Failed> {
    let head = "resources: [object.yaml]\ncomponents:\n";
    list_of_files(folder, head, count, |index| {
        let path = format!("component-{index}/kustomization.yaml");
        (path, "kind: Component\nnamePrefix: x\n".to_owned())
    })
}

/// As many files of objects.
fn resources_of_a_kustomization(folder: &Path, count: usize) -> Result<Run, Failed> {
    let head = "namePrefix: x-\nresources:\n";
    list_of_files(folder, head, count, |index| {
        let object = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: o{index}}}\n");
        (format!("object-{index}.yaml"), object)
    })
}

/// As many files of `configurations`, with a field in each list of a table.
fn configurations_of_a_kustomization(folder: &Path, count: usize) -> Result<Run, Failed> {
    let head = "namePrefix: x-\nresources: [object.yaml]\nconfigurations:\n";
    list_of_files(folder, head, count, |index| {
        let field = format!("{{kind: Kind{index}, path: spec/field{index}}}");
        let table = format!(
            "namePrefix: [{field}]\nnameReference: [{{kind: Kind{index}, fieldSpecs: [{field}]}}]\n"
        );
        (format!("table-{index}.yaml"), table)
    })
}

/// Writes a Service and as many files that build it.
fn overlays(
    folder: &Path,
    base: (&str, &str),
    count: usize,
    overlay: impl Fn(usize) -> (String, String),
) -> Result<Run, Failed> {
    let service =
        "apiVersion: v1\nkind: Service\nmetadata: {name: o}\nspec: {ports: [{port: 80}]}\n";
    let shared = [("base/object.yaml", service), base];
    let shared = shared.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let files = shared.into_iter().chain((0..count).map(overlay));
    in_files(folder, &["validate", "."], files)
}

/// As many Kustomizations of the same base.
fn overlays_that_are_validated(folder: &Path, count: usize) -> Result<Run, Failed> {
    let base = ("base/kustomization.yaml", "resources: [object.yaml]\n");
    overlays(folder, base, count, |index| {
        let text = format!("namePrefix: x{index}-\nresources: [../base]\n");
        (format!("overlay-{index}/kustomization.yaml"), text)
    })
}

/// As many Compositions that import the same one.
fn compositions_that_are_validated(folder: &Path, count: usize) -> Result<Run, Failed> {
    let accumulator = "transformers:\n- {kind: ResourceAccumulator, paths: [object.yaml]}\n";
    let base = format!("kind: Composition\n{accumulator}");
    overlays(folder, ("base/composition.yaml", &base), count, |index| {
        let prefix = format!("transformers:\n- {{kind: PrefixTransformer, prefix: x{index}-}}\n");
        let text = format!("kind: Composition\ntransformersFrom: [{{path: ../base}}]\n{prefix}");
        (format!("overlay-{index}/composition.yaml"), text)
    })
}

const TEMPLATE_OF_A: &str = "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nmetadata: {name: t}\nparameters: [{name: A}]\nobjects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: $(A)}}]\n";

/// An instance of the Template `t` with the values of a ConfigMap.
fn instance_of_values(index: usize) -> String {
    format!(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: values-{index}}}\ndata: {{A: a{index}}}\n---\napiVersion: template.krm.dev/v1alpha1\nkind: TemplateInstance\nmetadata: {{name: i{index}}}\nspec: {{templateRef: {{name: t}}, parametersFrom: [{{configMapRef: {{name: values-{index}}}}}]}}\n"
    )
}

/// As many instances of a Template, each with values of its own.
fn instances_that_are_validated(folder: &Path, count: usize) -> Result<Run, Failed> {
    checked(folder, count, TEMPLATE_OF_A, instance_of_values, "")
}

/// As many directories, each with a Template of the same name and an instance of it.
fn packages_that_are_validated(folder: &Path, count: usize) -> Result<Run, Failed> {
    let packages = (0..count).map(|index| {
        (format!("package-{index}/a.yaml"), format!("{TEMPLATE_OF_A}{}", instance_of_values(index)))
    });
    in_files(folder, &["validate", "."], packages)
}

/// As many Templates in files that one Kustomization lists.
fn listed_templates(folder: &Path, command: &str, count: usize) -> Result<Run, Failed> {
    let mut list = "resources:\n".to_owned();
    for index in 0..count {
        writeln!(list, "- t{index}.yaml")?;
    }
    let kustomization = ("kustomization.yaml".to_owned(), list);
    let template = |index: usize| {
        let name = format!("name: t{index}");
        (format!("t{index}.yaml"), TEMPLATE_OF_A.replace("name: t", &name))
    };
    let files = std::iter::once(kustomization).chain((0..count).map(template));
    in_files(folder, &[command, "."], files)
}
