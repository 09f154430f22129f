//! The guestbook of `examples/deployment-manager` is written down several times, and all of them
//! create the same objects: on the command line, in a Composition, as a function, and what the
//! tests with real clients expect of kpt and kustomize.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::needs;
use crate::program;

/// The templates and schemas, which the kpt package has as keys of a ConfigMap.
const FILES: [&str; 4] = [
    "redis.jinja",
    "redis.jinja.schema",
    "replicatedservice.jinja",
    "replicatedservice.jinja.schema",
];
/// How many objects there are.
const OBJECTS: usize = 6;

pub(crate) fn trials() -> Vec<Trial> {
    let with_feature = |trial| needs::ignored(trial, program::needs(program::DEPLOYMENT_MANAGER));
    vec![
        Trial::test("guestbook/the_package_has_the_templates", templates),
        with_feature(Trial::test("guestbook/a_composition_creates_the_same", || {
            same(&printed(&["build", "composition.yaml"], "")?)
        })),
        with_feature(Trial::test("guestbook/a_function_creates_the_same", || {
            same(&printed(&[], &resource_list()?)?)
        })),
        with_feature(Trial::test("guestbook/kustomize_creates_the_same", || {
            same(&read("expected.yaml")?)
        })),
        with_feature(Trial::test("guestbook/kpt_creates_the_same", || {
            let patch = read("kpt/.expected/diff.patch")?;
            let added = patch.lines().filter(|line| !line.starts_with("+++"));
            let added = added.filter_map(|line| Some(line.strip_prefix('+')?.to_owned() + "\n"));
            same(&added.collect::<String>())
        })),
        needs::ignored(
            Trial::test("guestbook/python_creates_the_same_service", python),
            program::needs(program::DEPLOYMENT_MANAGER)
                .or_else(|| (!has_python()).then(|| "needs python3".to_owned())),
        ),
    ]
}

fn has_python() -> bool {
    let mut python = Command::new("python3");
    let done = python.args(["-c", ""]).output();
    done.is_ok_and(|output| output.status.success())
}

/// The Service that the template in Python makes is that of the one in Jinja.
fn python() -> Result<(), Failed> {
    let service = |template: &str| -> Result<Value, Failed> {
        let config = format!(
            "imports: [{{path: {template}}}]\nresources:\n- name: web\n  type: {template}\n  \
             properties: {{image: x, port: 80}}\n"
        );
        let arguments = ["dm", "expand", "-", "--objects", needs::allow_python()];
        let mut objects = objects(&printed(&arguments, &config)?)?;
        objects.retain(|object| object["kind"] == "Service");
        Ok(objects.into_iter().next().ok_or("there is no Service")?)
    };
    let (python, jinja) = (service("replicatedservice.py")?, service("replicatedservice.jinja")?);
    if python != jinja {
        return Err(format!("Python: {python:#}\nJinja: {jinja:#}").into());
    }
    Ok(())
}

fn folder() -> PathBuf {
    crate::root().join("examples/deployment-manager")
}

fn read(name: &str) -> Result<String, Failed> {
    let path = folder().join(name);
    fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// What the program prints.
fn printed(arguments: &[&str], stdin: &str) -> Result<String, Failed> {
    let mut command = program::command(&folder());
    let output = program::run(command.args(arguments), stdin.into())?;
    if output.exit != "0" {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// What kpt sends to the function.
fn resource_list() -> Result<String, Failed> {
    let indented = |text: String, indent: &str| {
        let lines = text.lines().map(|line| match line {
            "" => "\n".to_owned(),
            line => format!("{indent}{line}\n"),
        });
        lines.collect::<String>()
    };
    let item = |name: &str| -> Result<String, Failed> {
        Ok(format!("-\n{}", indented(read(name)?, "  ")))
    };
    Ok(format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{}{}functionConfig:\n{}",
        item("kpt/templates.yaml")?,
        item("kpt/guestbook.yaml")?,
        indented(read("kpt/guestbook.yaml")?, "  ")
    ))
}

/// Fails unless the objects in a text are those that the command line prints.
fn same(text: &str) -> Result<(), Failed> {
    let arguments = ["dm", "expand", "guestbook.yaml", "--objects"];
    let expected = objects(&printed(&arguments, "")?)?;
    let found = objects(text)?;
    if expected.len() != OBJECTS || found != expected {
        return Err(format!("expected {expected:#?}\nfound {found:#?}").into());
    }
    Ok(())
}

/// The objects in a stream or a ResourceList, sorted, without what their way adds: annotations and a
/// namespace.
fn objects(text: &str) -> Result<Vec<Value>, Failed> {
    let mut objects: Vec<Value> = Vec::new();
    for document in values(text)? {
        match document.get("items").and_then(Value::as_array) {
            Some(items) => objects.extend(items.iter().cloned()),
            None => objects.push(document),
        }
    }
    objects.retain(|object| {
        let kind = object["kind"].as_str().unwrap_or_default();
        !["ConfigMap", "DeploymentConfiguration"].contains(&kind)
    });
    for object in &mut objects {
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("annotations");
            metadata.remove("namespace");
        }
    }
    objects.sort_by_key(|object| {
        ["/kind", "/metadata/name"].map(|path| object.pointer(path).map(Value::to_string))
    });
    Ok(objects)
}

/// The documents of a YAML text.
fn values(text: &str) -> Result<Vec<Value>, Failed> {
    let document = Document::parse(&Source::new("text", text))?;
    let mut diagnostics = Diagnostics::new();
    let mut values = Vec::new();
    for root in document.roots() {
        let value = root.value(DuplicateKeys::Refuse, &mut diagnostics);
        let value = value.ok_or("a document has no value")?;
        values.push(serde_json::from_str(&value.to_json())?);
    }
    Ok(values)
}

fn templates() -> Result<(), Failed> {
    let documents = values(&read("kpt/templates.yaml")?)?;
    let data = documents.first().and_then(|one| one["data"].as_object());
    let data = data.ok_or("there is no ConfigMap")?;
    let keys: Vec<&str> = data.keys().map(String::as_str).collect();
    if keys != FILES {
        return Err(format!("expected the keys {FILES:?}, found {keys:?}").into());
    }
    for (name, text) in data {
        if text.as_str() != Some(read(name)?.as_str()) {
            return Err(format!("kpt/templates.yaml has another {name} than the example").into());
        }
    }
    Ok(())
}
