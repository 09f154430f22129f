//! The value of a secret parameter occurs in the objects, and nowhere else: in no table, list,
//! schema or values file, in no explanation, difference or source map, and in no message, also
//! where the value is wrong. Holds for secrets of every kind that `docs/template.md` names, of odd
//! shapes, from every source of values.
//!
//! Two outputs show a value on purpose, so no secret is put there: the name of an object, and the
//! `enum` of a parameter.
#![expect(clippy::indexing_slicing, reason = "what is not there in JSON is null")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys};
use libtest_mimic::{Failed, Trial};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Map, Value, json};

use crate::{needs, program};

/// The number of random Templates in each test.
const CASES: u32 = 48;

pub(crate) fn trials() -> Vec<Trial> {
    let tests: [(&str, Runs); 9] = [
        ("form", form),
        ("parameters", parameters),
        ("dump_parameters", dump_parameters),
        ("process", process),
        ("source_map", source_map),
        ("explain", explain),
        ("diff_against", diff_against),
        ("validate", validate),
        ("function", function),
    ];
    let trials = tests.into_iter().map(|(name, runs)| {
        let trial =
            Trial::test(format!("secrets/are_hidden_by_{name}"), move || property(name, runs));
        let is_form = name == "form";
        needs::ignored(trial, is_form.then(|| program::needs(program::FORM)).flatten())
    });
    trials.collect()
}

/// Runs the program on a case, and returns all output that must not contain the secret.
type Runs = fn(&Case) -> Result<Vec<Said>, String>;

/// An output, and the command that printed it.
struct Said {
    command: String,
    text: String,
}

fn property(name: &str, runs: Runs) -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("secrets").join(name);
    let config = Config {
        cases: CASES,
        failure_persistence: None,
        max_shrink_iters: 100,
        ..Config::default()
    };
    let result = TestRunner::new(config).run(&shapes(), |shape| {
        let case = Case::new(&folder, shape).map_err(TestCaseError::fail)?;
        let said = runs(&case).map_err(TestCaseError::fail)?;
        if said.is_empty() {
            return Err(TestCaseError::fail("the program was not run"));
        }
        case.check(&said).map_err(TestCaseError::fail)
    });
    result.map_err(|error| error.to_string().into())
}

/// What makes a value secret.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Secrecy {
    Flag,
    Base64,
    /// The default of a parameter that is not secret refers to one that is.
    Derived,
}

/// Where the value comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Origin {
    Default,
    Values,
    Option,
    Argument,
    YamlFile,
    EnvFile,
    Environment,
    File,
    Secret,
}

#[derive(Clone, Copy, Debug)]
enum Layout {
    /// JSON on one line.
    Line,
    /// Each entry of a list on a line of its own.
    Entries,
    /// Each field on a line of its own.
    Fields,
}

#[derive(Clone, Debug)]
struct Shape {
    is_openshift: bool,
    /// What occurs nowhere else.
    token: String,
    /// What another value has in place of the token.
    other: String,
    /// The value, with `@` for the token.
    disguise: &'static str,
    secrecy: Secrecy,
    origin: Origin,
    layout: Layout,
    /// Further fields of the parameter, mostly such as the value does not keep.
    limits: &'static str,
    /// Where in the objects the value is used.
    uses: Vec<usize>,
    /// A mistake elsewhere in the Template.
    mistake: &'static str,
}

const DISGUISES: &[&str] = &[
    "@",
    "a @ b",
    "@\n@",
    "first\n  @\nlast\n",
    "'@'",
    "\"@\"",
    ": @ #",
    "{\"k\": \"@\"}",
    "[@, x]",
    "{k: @",
    "$(OTHER)@${OTHER}",
    "é@日",
    "\\@\\n",
    "@=@",
    "- @",
    "&@ *x",
    "-----BEGIN KEY-----\n@\n-----END KEY-----\n",
    "@                                                                                    @",
];

const LIMITS: &[&str] = &[
    "{}",
    "{\"type\": \"int\"}",
    "{\"type\": \"number\", \"maximum\": 1}",
    "{\"type\": \"bool\"}",
    "{\"type\": \"base64\"}",
    "{\"type\": \"array\"}",
    "{\"type\": \"map\"}",
    "{\"type\": \"unknown\"}",
    "{\"enum\": [\"x\", \"y\"]}",
    "{\"pattern\": \"^x$\"}",
    "{\"pattern\": \"(\"}",
    "{\"minLength\": 4000}",
    "{\"maxLength\": 2}",
    "{\"maximum\": 1}",
    "{\"required\": true, \"description\": \"a password\"}",
    "{\"generate\": \"expression\", \"from\": \"[a-z]{8}\"}",
    "{\"unknownField\": 1}",
];

/// The fields of objects that refer to the parameter, as patches of [`objects`].
const USES: &[(&str, &str)] = &[
    ("/0/data/a", "@"),
    ("/0/data/json", "{\"a\": \"@\"}"),
    ("/0/metadata/annotations/a", "x @ y"),
    ("/0/metadata/labels/a", "@"),
    ("/0/data/raw", "@@"),
    ("/1/stringData/password", "@"),
    ("/1/data/password", "@"),
    ("/2/spec/replicas", "@@"),
    ("/2/spec/selector/matchLabels/a", "@"),
    ("/2/spec/template/metadata/labels/a", "@"),
    ("/2/spec/template/spec/containers/0/env/0/value", "@"),
    ("/2/spec/template/spec/containers/0/env/1/value", "@@"),
    ("/2/spec/template/spec/containers/0/args/0", "--p=@"),
    ("/2/spec/template/spec/containers/0/image", "@"),
    ("/2/spec/template/spec/containers/0/name", "@"),
    ("/2/spec/template/spec/containers/0/ports/0/containerPort", "@@"),
];
/// Of an object a key that refers to the parameter, not a value.
const KEYS: &[&str] = &["/0/data", "/0/metadata/labels", "/1/stringData"];

const MISTAKES: &[&str] = &["", "", "", "undeclared", "field", "name", "same key", "label"];

fn shapes() -> impl Strategy<Value = Shape> {
    let limits = select(LIMITS);
    let secrecy = select(&[Secrecy::Flag, Secrecy::Flag, Secrecy::Base64, Secrecy::Derived][..]);
    let origin = select(
        &[
            Origin::Default,
            Origin::Values,
            Origin::Option,
            Origin::Argument,
            Origin::YamlFile,
            Origin::EnvFile,
            Origin::Environment,
            Origin::File,
            Origin::Secret,
        ][..],
    );
    let layout = select(&[Layout::Line, Layout::Entries, Layout::Fields][..]);
    let token = prop_oneof!["[a-z]{6}[0-9]{8}", "[1-9][0-9]{13}"];
    let uses = prop::collection::vec(0..USES.len() + KEYS.len(), 1..6);
    (
        (any::<bool>(), token, select(DISGUISES), secrecy, origin),
        (layout, limits, uses, select(MISTAKES)),
    )
        .prop_map(|((is_openshift, token, disguise, secrecy, origin), rest)| {
            let (layout, limits, uses, mistake) = rest;
            // As long, for limits; and without a character in common.
            let other = token.chars().map(|c| if c.is_ascii_digit() { 'K' } else { 'Q' });
            Shape {
                is_openshift,
                other: other.collect(),
                token,
                disguise,
                secrecy,
                origin,
                layout,
                limits,
                uses,
                mistake,
            }
        })
}

/// A Template with a secret, in a folder.
struct Case {
    shape: Shape,
    folder: PathBuf,
    template: String,
    /// The arguments and the environment that give the value.
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
}

/// The parameter whose value is the secret.
const NAME: &str = "SECRET";

impl Case {
    fn new(folder: &Path, shape: Shape) -> Result<Self, String> {
        let text = |error: std::io::Error| error.to_string();
        // Files of an earlier case.
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder).map_err(text)?;
        let value = shape.value(&shape.token);
        let template = print(&shape.template(&value), shape.layout);
        fs::write(folder.join("t.yaml"), &template).map_err(text)?;
        let mut case = Self {
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: folder.to_owned(),
            template,
            shape,
        };
        case.give(&value).map_err(text)?;
        Ok(case)
    }

    /// Gives the value in the way that the shape names.
    fn give(&mut self, value: &str) -> std::io::Result<()> {
        let mut arguments = |all: &[&str]| {
            self.arguments.extend(all.iter().map(|&one| one.to_owned()));
        };
        let write = |name: &str, text: &str| fs::write(self.folder.join(name), text);
        match self.shape.origin {
            Origin::Default | Origin::Values => {}
            Origin::Option => arguments(&["-p", &format!("{NAME}={value}")]),
            Origin::Argument => arguments(&[&format!("{NAME}={value}")]),
            Origin::YamlFile => {
                write("v.yaml", &json!({NAME: value}).to_string())?;
                arguments(&["-P", "v.yaml"]);
            }
            Origin::EnvFile => {
                let line = value.replace('\\', "\\\\").replace('\n', "\\n");
                write("v.env", &format!("{NAME}=\"{}\"\n", line.replace('"', "\\\"")))?;
                arguments(&["--param-file", "v.env"]);
            }
            Origin::Environment => {
                arguments(&["--env", "T_"]);
                let variable = (format!("T_{NAME}"), value.to_owned());
                self.environment.push(variable);
            }
            Origin::File => {
                write("v", value)?;
                arguments(&["--parameter-from-file", &format!("{NAME}=v")]);
            }
            Origin::Secret => {
                let instance = instance().to_string();
                let secret = secret(value).to_string();
                write("i.yaml", &format!("{instance}\n---\n{secret}\n"))?;
                arguments(&["-f", "i.yaml"]);
            }
        }
        Ok(())
    }

    /// The standard output and standard error of a command, whatever its exit status.
    fn run(&self, arguments: &[&str], stdin: &str) -> Result<[Said; 2], String> {
        let mut command = program::command(&self.folder);
        command.args(arguments);
        command.envs(self.environment.iter().cloned());
        let output = program::run(&mut command, stdin.into())?;
        if output.exit != "0" && output.exit != "1" && output.exit != "2" {
            return Err(format!("{arguments:?}: exit {}", output.exit));
        }
        Ok([output.stdout, output.stderr].map(|bytes| Said {
            command: arguments.join(" "),
            text: String::from_utf8_lossy(&bytes).into_owned(),
        }))
    }

    /// The same for a command that takes values.
    fn with_values(&self, arguments: &[&str]) -> Result<[Said; 2], String> {
        let values = self.arguments.iter().map(String::as_str);
        let arguments: Vec<&str> = arguments.iter().copied().chain(values).collect();
        self.run(&arguments, "")
    }

    fn check(&self, said: &[Said]) -> Result<(), String> {
        let needles = needles(&self.shape.token);
        let others = needles.iter().map(String::as_str);
        let others = others.chain([self.shape.other.as_str()]);
        let others: Vec<&str> = others.collect();
        for Said { command, text } in said {
            if let Some(found) = others.iter().find(|needle| text.contains(**needle)) {
                let template = &self.template;
                return Err(format!(
                    "krm-template {command}\nshows `{found}`:\n{text}\nof the Template\n{template}"
                ));
            }
        }
        Ok(())
    }
}

/// What must not be seen: the token, or most of it, as it is and in base64.
pub(crate) fn needles(token: &str) -> Vec<String> {
    /// So much of it, for texts may be cut.
    const MOST: usize = 9;
    let most: String = token.chars().take(MOST).collect();
    let mut needles = vec![most];
    for before in ["", "x", "xx"] {
        let code = BASE64.encode(format!("{before}{token}"));
        // Without the parts that depend on its neighbours.
        let inner: String = code.chars().skip(4).take(12).collect();
        needles.push(inner);
    }
    needles
}

impl Shape {
    fn value(&self, token: &str) -> String {
        let value = self.disguise.replace('@', token);
        match self.secrecy {
            Secrecy::Base64 => BASE64.encode(value),
            Secrecy::Flag | Secrecy::Derived => value,
        }
    }

    fn reference(&self, name: &str, is_raw: bool) -> String {
        match (self.is_openshift, is_raw) {
            (false, false) => format!("$({name})"),
            (false, true) => format!("$(({name}))"),
            (true, false) => format!("${{{name}}}"),
            (true, true) => format!("${{{{{name}}}}}"),
        }
    }

    fn template(&self, value: &str) -> Value {
        let group = if self.is_openshift {
            "template.openshift.io/v1"
        } else {
            "template.krm.dev/v1alpha1"
        };
        let mut template = json!({
            "apiVersion": group,
            "kind": "Template",
            "metadata": {"name": "t"},
            "parameters": self.parameters(value),
            "objects": self.objects(),
        });
        if self.origin == Origin::Values {
            template["values"] = json!({NAME: value});
        }
        match self.mistake {
            "field" => template["objets"] = json!([]),
            "name" => template["objects"][0]["metadata"]["name"] = json!("A B"),
            "undeclared" => {
                let reference = self.reference("SECRT", false);
                template["objects"][0]["data"]["misspelt"] = reference.into();
            }
            "same key" => {
                let reference = self.reference("OTHER", false);
                template["objects"][0]["data"][reference] = "1".into();
                template["objects"][0]["data"]["o"] = "2".into();
            }
            "label" => template["labels"] = json!({"a b": self.reference(NAME, false)}),
            _ => {}
        }
        template
    }

    fn parameters(&self, value: &str) -> Value {
        let mut parameter = Map::new();
        parameter.insert("name".to_owned(), NAME.into());
        match self.secrecy {
            Secrecy::Base64 => parameter.insert("type".to_owned(), "base64".into()),
            Secrecy::Flag | Secrecy::Derived => parameter.insert("secret".to_owned(), true.into()),
        };
        if self.origin == Origin::Default {
            parameter.insert("value".to_owned(), value.into());
        }
        let limits: Value = serde_json::from_str(self.limits).unwrap_or_default();
        let limits = limits.as_object().cloned().unwrap_or_default();
        let mut derived = json!({"name": "DERIVED", "value": self.reference(NAME, false)});
        let limited = match (self.secrecy, derived.as_object_mut()) {
            (Secrecy::Derived, Some(derived)) => derived,
            _ => &mut parameter,
        };
        for (key, value) in limits {
            limited.entry(key).or_insert(value);
        }
        json!([parameter, {"name": "OTHER", "value": "o"}, derived])
    }

    fn objects(&self) -> Value {
        let mut objects = objects();
        // In OpenShift's dialect a default is literal.
        let name = match self.secrecy {
            Secrecy::Derived if !self.is_openshift => "DERIVED",
            _ => NAME,
        };
        for &used in &self.uses {
            if let Some((path, text)) = USES.get(used) {
                let text = text.replace("@@", &self.reference(name, true));
                let text = text.replace('@', &self.reference(name, false));
                set(&mut objects, path, text.into());
            } else if let Some(path) = KEYS.get(used - USES.len()) {
                let key = format!("{path}/k-{}", self.reference(name, false));
                set(&mut objects, &key, "v".into());
            }
        }
        objects
    }
}

fn objects() -> Value {
    json!([
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "type": "Opaque"},
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "d"},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": {"app": "d"}},
                "template": {
                    "metadata": {"labels": {"app": "d"}},
                    "spec": {
                        "containers": [{
                            "name": "d",
                            "image": "d:1",
                            "args": ["x"],
                            "ports": [{"containerPort": 80}],
                            "env": [{"name": "A", "value": "x"}, {"name": "B", "value": "y"}],
                        }],
                    },
                },
            },
        },
    ])
}

/// Sets a field, with the mappings around it that are not there.
fn set(root: &mut Value, path: &str, value: Value) {
    let mut at = root;
    for key in path.split('/').skip(1) {
        at = match key.parse::<usize>() {
            Ok(index) if at.is_array() => &mut at[index],
            _ => &mut at[key],
        };
    }
    *at = value;
}

fn instance() -> Value {
    json!({
        "apiVersion": "template.krm.dev/v1alpha1",
        "kind": "TemplateInstance",
        "metadata": {"name": "i"},
        "spec": {"templateRef": {"name": "t"}, "parametersFrom": [{"secretRef": {"name": "v"}}]},
    })
}

fn secret(value: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "v"},
        "stringData": {NAME: value},
    })
}

fn print(template: &Value, layout: Layout) -> String {
    if matches!(layout, Layout::Line) {
        return format!("{template}\n");
    }
    let mut out = String::new();
    for (key, value) in template.as_object().into_iter().flatten() {
        let Some(items) = value.as_array() else {
            let _ = writeln!(out, "{key}: {value}");
            continue;
        };
        let _ = writeln!(out, "{key}:");
        for item in items {
            if matches!(layout, Layout::Entries) {
                let _ = writeln!(out, "- {item}");
                continue;
            }
            let fields = item.as_object().into_iter().flatten();
            for (index, (key, value)) in fields.enumerate() {
                let dash = if index == 0 { "- " } else { "  " };
                let _ = writeln!(out, "{dash}{key}: {}", field(value));
            }
        }
    }
    out
}

/// A field, as a block scalar if it has several lines.
fn field(value: &Value) -> String {
    match value.as_str() {
        Some(text)
            if text.contains('\n') && text.starts_with(|c: char| c.is_ascii_alphabetic()) =>
        {
            let chomping = if text.ends_with('\n') { "" } else { "-" };
            let lines = text.trim_end().replace('\n', "\n    ");
            format!("|{chomping}\n    {lines}")
        }
        _ => value.to_string(),
    }
}

fn parameters(case: &Case) -> Result<Vec<Said>, String> {
    let mut said = Vec::new();
    for format in ["table", "json", "yaml", "schema", "values", "env"] {
        said.extend(case.run(&["parameters", "-f", "t.yaml", "-o", format], "")?);
    }
    said.extend(case.run(&["process", "-f", "t.yaml", "--parameters"], "")?);
    Ok(said)
}

fn form(case: &Case) -> Result<Vec<Said>, String> {
    Ok(case.run(&["form", "-f", "t.yaml"], "")?.into())
}

fn dump_parameters(case: &Case) -> Result<Vec<Said>, String> {
    let arguments = ["process", "-f", "t.yaml", "--dump-parameters"];
    Ok(case.with_values(&arguments)?.into())
}

/// All but the objects.
fn process(case: &Case) -> Result<Vec<Said>, String> {
    let [_, said] = case.with_values(&["process", "-v", "-f", "t.yaml"])?;
    let [_, strict] = case.with_values(&["process", "-f", "t.yaml", "--strict", "-o", "json"])?;
    let more = ["process", "-f", "t.yaml", "-l", "a=b", "-n", "n", "-o", "name"];
    let mut said = vec![said, strict];
    said.extend(case.with_values(&more)?);
    Ok(said)
}

fn source_map(case: &Case) -> Result<Vec<Said>, String> {
    let arguments = ["process", "-f", "t.yaml", "-o", "name", "--source-map", "map"];
    let mut said: Vec<Said> = case.with_values(&arguments)?.into();
    said.push(Said {
        command: arguments.join(" "),
        // There is none after an error.
        text: fs::read_to_string(case.folder.join("map")).unwrap_or_default(),
    });
    Ok(said)
}

fn explain(case: &Case) -> Result<Vec<Said>, String> {
    let mut said = Vec::new();
    for object in ["configmap/c", "secret/s", "deployment/d", "cm/c.data", "cm/x", "cm/c.data.x"] {
        said.extend(case.with_values(&["explain", object, "-f", "t.yaml"])?);
    }
    Ok(said)
}

fn diff_against(case: &Case) -> Result<Vec<Said>, String> {
    let shape = &case.shape;
    // What was printed with another value.
    let [before, _] = case.with_values(&["process", "-f", "t.yaml"])?;
    let is_base64 = shape.secrecy == Secrecy::Base64;
    let before = if is_base64 {
        before.text.replace(&shape.value(&shape.token), &shape.value(&shape.other))
    } else {
        before.text.replace(&shape.token, &shape.other)
    };
    let write = |name: &str, text: &str| {
        fs::write(case.folder.join(name), text).map_err(|error| error.to_string())
    };
    write("before.yaml", &before)?;
    write("empty.yaml", "")?;
    let mut said = Vec::new();
    for file in ["before.yaml", "empty.yaml"] {
        said.extend(case.with_values(&["process", "-f", "t.yaml", "--diff-against", file])?);
    }
    Ok(said)
}

fn validate(case: &Case) -> Result<Vec<Said>, String> {
    let mut said = Vec::new();
    for format in ["text", "json", "sarif", "results", "github"] {
        said.extend(case.run(&["validate", "--strict", "-o", format, "t.yaml"], "")?);
    }
    Ok(said)
}

/// The results of the function, and its standard error.
fn function(case: &Case) -> Result<Vec<Said>, String> {
    let value = case.shape.value(&case.shape.token);
    let list = |config: &str, items: &str| {
        format!(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig: {config}\n\
             items: [{items}]\n"
        )
    };
    let template = case.shape.template(&value).to_string();
    let mut given = instance();
    given["spec"] = json!({"templateRef": {"name": "t"}, "parameters": {NAME: value}});
    let data = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "x"},
        "data": {NAME: value},
    });
    let secret = secret(&value).to_string();
    let inputs = [
        list(&template, ""),
        list(&instance().to_string(), &format!("{template}, {secret}")),
        list(&given.to_string(), &template),
        list(&data.to_string(), &template),
    ];
    let mut said = Vec::new();
    for input in inputs {
        let [stdout, stderr] = case.run(&[], &input)?;
        said.push(stderr);
        said.push(Said { text: results(&stdout.text)?, command: format!("<<'.'\n{input}.\n") });
    }
    Ok(said)
}

/// The results of a `ResourceList`; all of a text that is none.
pub(crate) fn results(text: &str) -> Result<String, String> {
    let document = Document::parse(&Source::new("list", text));
    let document = document.map_err(|error| error.message)?;
    let Some(root) = document.roots().next() else {
        return Ok(text.to_owned());
    };
    let results = root.get("results");
    let results =
        results.and_then(|results| results.value(DuplicateKeys::Refuse, &mut Diagnostics::new()));
    Ok(results.map(|results| results.to_json()).unwrap_or_default())
}
