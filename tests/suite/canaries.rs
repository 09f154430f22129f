//! Secrets of all cases occur in objects only: a canary is put into each place of a case that holds
//! a secret, the case is run as it is and with each kind of mistake at that place, and no message,
//! result, table or list may have the canary, in no spelling.
//!
//! `KRM_TEMPLATE_CANARIES=all` makes every mistake in every place, not some of them in some.
#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "the canary is ASCII, and a wrong place fails the test"
)]

use std::collections::BTreeSet;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document};
use libtest_mimic::{Failed, Trial};

use crate::cases::{self, Case, Files};
use crate::secrets::{needles, results};

/// What occurs nowhere else.
const CANARY: &str = "canaryq7w3kz0v9x2";

/// Tries all mistakes.
const ALL: &str = "KRM_TEMPLATE_CANARIES";
/// Otherwise each case makes one of so many, which its name decides.
const SOME: usize = 9;

pub(crate) fn trials() -> Vec<Trial> {
    let mut cases = cases::all();
    cases.extend(OWN.iter().map(|(name, text)| Case::of(name, text)));
    let mut areas: Vec<(String, Vec<Case>)> = Vec::new();
    for case in cases.into_iter().filter(Case::can_run) {
        let area = case.name.split('/').next().unwrap_or_default().to_owned();
        match areas.last_mut() {
            Some((last, cases)) if *last == area => cases.push(case),
            _ => areas.push((area, vec![case])),
        }
    }
    let trials = areas
        .into_iter()
        .map(|(area, cases)| Trial::test(format!("canaries/{area}"), move || check_all(&cases)));
    trials.collect()
}

fn check_all(cases: &[Case]) -> Result<(), Failed> {
    let mut leaks = Vec::new();
    for case in cases {
        let whole = case.whole(format!("canaries/{}", case.name))?;
        // The names of its objects are secrets, and names are shown.
        if case.name == "explain/a-secret-key-is-shown-as-it-is-written" {
            continue;
        }
        let planted = plant(&whole);
        if planted.is_empty() {
            continue;
        }
        let mut case = whole;
        case.files = planted.files;
        check(&case, "as it is", &mut leaks)?;
        let is_all = std::env::var_os(ALL).is_some();
        let mut count = case.name.len();
        for (name, at) in places(&case.files) {
            for (mistake, text) in mistakes(case.get(&name).unwrap_or_default(), at) {
                count += 1;
                if !is_all && count % SOME != 0 {
                    continue;
                }
                let mut files = case.files.clone();
                files.insert(name.clone(), text);
                let broken = case.with(files);
                check(&broken, &format!("{mistake} in {name}"), &mut leaks)?;
            }
        }
    }
    if leaks.is_empty() {
        return Ok(());
    }
    let count = leaks.len();
    Err(format!("{}\n{count} leaks", leaks.join("\n")).into())
}

/// Runs a case, and adds the outputs that show the canary.
fn check(case: &Case, mistake: &str, leaks: &mut Vec<String>) -> Result<(), Failed> {
    let (output, files) = case.output()?;
    let arguments = case.arguments()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let mut said = vec![String::from_utf8_lossy(&output.stderr).into_owned()];
    match what_is_printed(&arguments) {
        Printed::Objects => {}
        Printed::List => said.push(results(&stdout).unwrap_or_else(|_| stdout.into_owned())),
        Printed::Text => said.push(stdout.into_owned()),
    }
    let map = arguments.iter().position(|one| one == "--source-map");
    let map = map.and_then(|at| files.get(arguments.get(at + 1)?));
    said.extend(map.map(|map| String::from_utf8_lossy(map).into_owned()));
    for text in said {
        if let Some(line) = needles(CANARY).iter().find_map(|needle| {
            let at = text.find(needle.as_str())?;
            Some(text[..at].lines().count())
        }) {
            let around: Vec<&str> = text.lines().skip(line.saturating_sub(5)).take(9).collect();
            leaks.push(format!("{} ({mistake}):\n{}", case.name, around.join("\n")));
        }
    }
    Ok(())
}

enum Printed {
    Objects,
    /// A ResourceList, whose results are not objects.
    List,
    Text,
}

fn what_is_printed(arguments: &[String]) -> Printed {
    let has = |options: &[&str]| {
        let mut all = arguments.iter();
        all.any(|one| options.iter().any(|option| one.starts_with(option)))
    };
    let is_text = has(&["--diff", "--parameters", "--dump-parameters", "--source-map", "--stats"])
        || arguments.windows(2).any(|two| two == ["-o", "name"]);
    match arguments.first().map(String::as_str) {
        None | Some("function") => Printed::List,
        Some("process" | "build" | "merge" | "dm" | "deployment-manager" | "edit") if !is_text => {
            Printed::Objects
        }
        Some(_) => Printed::Text,
    }
}

/// The places of the canary in files.
fn places(files: &Files) -> Vec<(String, usize)> {
    let mut places = Vec::new();
    let code = BASE64.encode(CANARY);
    for (name, bytes) in files.iter().filter(|(name, _)| *name != "args" && *name != "env") {
        let text = String::from_utf8_lossy(bytes);
        for needle in [CANARY, &code] {
            places.extend(text.match_indices(needle).map(|(at, _)| (name.clone(), at)));
        }
    }
    places
}

/// The text with each kind of mistake at the canary, which begins at `at`.
fn mistakes(bytes: &[u8], at: usize) -> Vec<(&'static str, Vec<u8>)> {
    let Ok(text) = str::from_utf8(bytes) else {
        return Vec::new();
    };
    let (before, after) = text.split_at(at);
    let length = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '=');
    let (canary, after) = after.split_at(length.unwrap_or(after.len()));
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let (above, line) = before.split_at(start);
    let rest = after.split('\n').next().unwrap_or_default();
    let made = |parts: &[&str]| parts.concat().into_bytes();
    let half = &canary[..12];
    let name = line.trim_end().trim_end_matches(['=', ':']);
    let mut all = vec![
        ("the line twice", made(&[above, line, canary, rest, "\n", line, canary, after])),
        ("a tab", made(&[above, "\t", line, canary, after])),
        ("a space more", made(&[above, " ", line, canary, after])),
        ("a quote", made(&[before, "\"", canary, after])),
        ("a single quote", made(&[before, "'", canary, after])),
        ("a quote behind", made(&[before, "\"", canary, "\" ", canary, after])),
        ("a list", made(&[before, "[", canary, "]", after])),
        ("a mapping", made(&[before, "{a: ", canary, "}", after])),
        ("a bracket", made(&[before, "[", canary, after])),
        ("a brace", made(&[before, "{", canary, after])),
        ("a colon", made(&[before, canary, ": x: y", after])),
        ("an alias", made(&[before, "*", canary, after])),
        ("an anchor", made(&[before, "&", canary, " *", canary, after])),
        ("a tag", made(&[before, "!", canary, " x", after])),
        ("an escape", made(&[before, "\"\\", canary, "\"", after])),
        ("another letter", made(&[before, "@", canary, after])),
        ("a percent", made(&[before, "%", canary, after])),
        ("a number", made(&[before, "1", canary, after])),
        ("a template", made(&[before, "{{ ", canary, " }}", after])),
        ("a control character", made(&[before, canary, "\u{1}", after])),
        ("no colon", made(&[above, name, " ", canary, after])),
        ("no space", made(&[above, name, ":", canary, after])),
    ];
    if !line.contains("://") {
        all.push(("a line more", made(&[before, canary, "\n", canary, after])));
    }
    if !line.ends_with("://") {
        all.push(("the end", made(&[before, half])));
    }
    // Not where it also removes what makes the value secret.
    if !line.contains(['{', '[']) && !line.contains("://") {
        all.push(("no name", made(&[above, canary, after])));
    }
    let mut bytes = made(&[before, canary]);
    bytes.push(0xff);
    bytes.extend(after.as_bytes());
    all.push(("a byte that is not UTF-8", bytes));
    all
}

/// A case with canaries.
#[derive(Default)]
struct Planted {
    files: Files,
    count: usize,
}

impl Planted {
    fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Puts the canary into each place of a secret.
fn plant(case: &Case) -> Planted {
    let mut names = BTreeSet::new();
    for bytes in case.files.values() {
        with_roots(bytes, |root| secret_names(root, &mut names));
    }
    let mut planted = Planted::default();
    for (name, bytes) in &case.files {
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        if ["args", "env"].contains(&name.as_str()) || is_env_file(name, bytes) {
            text = plant_lines(&text, &names, &mut planted.count);
        } else {
            let mut found = Vec::new();
            with_roots(bytes, |root| find(root, &names, &mut found));
            found.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
            found.dedup();
            for (range, canary) in found {
                if text.get(range.clone()).is_some() {
                    text.replace_range(range, &canary);
                    planted.count += 1;
                }
            }
        }
        let is_text = str::from_utf8(bytes).is_ok();
        let bytes = if is_text { text.into_bytes() } else { bytes.clone() };
        planted.count +=
            usize::from(is_text && bytes.windows(9).any(|part| part == &CANARY.as_bytes()[..9]));
        planted.files.insert(name.clone(), bytes);
    }
    planted
}

fn is_env_file(name: &str, bytes: &[u8]) -> bool {
    let extension = Path::new(name).extension();
    extension.is_some_and(|one| one == "env" || one == "properties")
        || (extension.is_none() && bytes.contains(&b'=') && !bytes.contains(&b':'))
}

fn plant_lines(text: &str, names: &BTreeSet<String>, count: &mut usize) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let is_file = out.ends_with("--parameter-from-file\n");
        let secret = line.split_once('=').filter(|(name, _)| {
            let name = name.trim_start_matches("export ").trim();
            !is_file && names.iter().any(|secret| name.ends_with(secret.as_str()))
        });
        if let Some((name, _)) = secret {
            out.extend([name, "=", CANARY, "\n"]);
            *count += 1;
        } else {
            out.push_str(line);
        }
    }
    out
}

fn with_roots(bytes: &[u8], mut look: impl FnMut(Cursor<'_>)) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    if let Ok(document) = Document::parse(&Source::new("case", text)) {
        document.roots().for_each(&mut look);
    }
}

/// The names of secret parameters.
fn secret_names(node: Cursor<'_>, names: &mut BTreeSet<String>) {
    let is_secret = node.text_at(["secret"]).as_deref() == Some("true")
        || node.text_at(["type"]).as_deref() == Some("base64");
    if let (true, Some(name)) = (is_secret, node.text_at(["name"])) {
        names.insert(name.into_owned());
    }
    if !node.raw().starts_with('*') && (node.is_mapping() || node.is_sequence()) {
        node.children().for_each(|child| secret_names(child, names));
    }
}

fn spelled(is_base64: bool) -> String {
    if is_base64 { BASE64.encode(CANARY) } else { CANARY.to_owned() }
}

type Found = Vec<(std::ops::Range<usize>, String)>;

fn find(node: Cursor<'_>, names: &BTreeSet<String>, found: &mut Found) {
    let is_alias = node.raw().starts_with('*');
    if is_alias || (!node.is_mapping() && !node.is_sequence()) {
        return;
    }
    let mut add = |value: Cursor<'_>, canary: String| {
        let raw = value.raw();
        let is_plain = !raw.contains("$(")
            && !raw.contains("${")
            && !raw.starts_with(['*', '&', '!', '|', '>', '{', '['])
            && !raw.is_empty();
        if is_plain {
            let quote = raw.get(..1).filter(|one| ["\"", "'"].contains(one));
            let quote = quote.unwrap_or_default();
            found.push((value.place().range, format!("{quote}{canary}{quote}")));
        }
    };
    if node.text_at(["kind"]).as_deref() == Some("Secret") {
        for (key, is_encoded) in [("data", true), ("stringData", false)] {
            for value in node.get(key).into_iter().flat_map(Cursor::children) {
                add(value, spelled(is_encoded));
            }
        }
    }
    for generator in node.get("secretGenerator").into_iter().flat_map(Cursor::children) {
        for literal in generator.get("literals").into_iter().flat_map(Cursor::children) {
            let text = literal.text().ok().flatten().unwrap_or_default();
            let name = text.split('=').next().unwrap_or_default();
            add(literal, format!("{name}={CANARY}"));
        }
    }
    let is_parameter = node.text_at(["secret"]).as_deref() == Some("true")
        || node.text_at(["type"]).as_deref() == Some("base64");
    if let (true, Some(value)) = (is_parameter, node.get("value")) {
        let is_base64 = node.text_at(["type"]).as_deref() == Some("base64");
        add(value, spelled(is_base64));
    }
    for child in node.children() {
        let is_named = node.is_mapping() && child.key().is_ok_and(|key| names.contains(&*key));
        if is_named {
            add(child, CANARY.to_owned());
        }
    }
    node.children().for_each(|child| find(child, names, found));
}

/// Cases for places that the others do not have.
const OWN: &[(&str, &str)] = &[
    ("own/generator", "build .
-- kustomization.yaml --
resources: [app.yaml]
secretGenerator:
- name: made
  literals:
  - password=canaryq7w3kz0v9x2
  envs: [made.env]
  files: [key.txt]
patches:
- path: patch.yaml
- path: ops.yaml
  target: {kind: Secret, name: app}
- target: {kind: Secret, name: app}
  patch: |-
    - op: add
      path: /stringData/more
      value: canaryq7w3kz0v9x2
- patch: |-
    apiVersion: v1
    kind: Secret
    metadata: {name: app}
    stringData:
      inline: canaryq7w3kz0v9x2
replacements:
- source: {kind: Secret, name: app, fieldPath: stringData.password}
  targets:
  - select: {kind: ConfigMap}
    fieldPaths: [data.url]
    options: {delimiter: '@', index: 0}
-- made.env --
TOKEN=canaryq7w3kz0v9x2
-- key.txt --
canaryq7w3kz0v9x2
-- patch.yaml --
apiVersion: v1
kind: Secret
metadata:
  name: app
stringData:
  patched: canaryq7w3kz0v9x2
-- ops.yaml --
- op: add
  path: /stringData/added
  value: canaryq7w3kz0v9x2
-- app.yaml --
apiVersion: v1
kind: Secret
metadata:
  name: app
stringData:
  password: canaryq7w3kz0v9x2
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: app
data:
  url: x@host
"),
    ("own/derived", "build --check .
-- kustomization.yaml --
resources: [app.yaml]
replacements:
- source: {kind: Secret, name: app, fieldPath: stringData.password}
  targets:
  - select: {kind: Deployment}
    fieldPaths:
    - spec.replicas
    - metadata.labels.[a]
    - spec.template.spec.restartPolicy
    - spec.template.spec.containers.0.image
    options: {create: true}
  - select: {kind: Deployment}
    fieldPaths: [metadata.labels.url]
    options: {delimiter: '@'}
vars:
- name: PASSWORD
  objref: {apiVersion: v1, kind: Secret, name: app}
  fieldref: {fieldPath: stringData.password}
-- app.yaml --
apiVersion: v1
kind: Secret
metadata:
  name: app
stringData:
  password: canaryq7w3kz0v9x2
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: app
  labels: {url: u@h}
spec:
  replicas: 1
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      restartPolicy: Always
      containers:
      - {name: a, image: a, args: [$(PASSWORD)]}
"),
    ("own/addresses", "build .
-- kustomization.yaml --
resources:
- https://user:canaryq7w3kz0v9x2@127.0.0.1:1/org/repo?ref=v1&token=canaryq7w3kz0v9x2
- https://canaryq7w3kz0v9x2@127.0.0.1:1/org/file.yaml
"),
    ("own/git", "build --enable-git -v .
-- kustomization.yaml --
resources:
- https://user:canaryq7w3kz0v9x2@127.0.0.1:1/org/repo?ref=v1&token=canaryq7w3kz0v9x2
"),
    ("own/helm", "build --enable-helm --helm-command git -v .
-- kustomization.yaml --
helmCharts:
- name: web
  repo: https://user:canaryq7w3kz0v9x2@127.0.0.1:1/charts
"),
    ("own/programs", "build --enable-exec .
-- kustomization.yaml --
resources: [app.yaml]
transformers: [tell.yaml]
-- tell.yaml --
apiVersion: example.com/v1
kind: Tell
metadata:
  name: tell
  annotations:
    config.kubernetes.io/function: |
      exec: {path: sh, args: [-c, 'cat >&2; exit 1']}
-- app.yaml --
apiVersion: v1
kind: Secret
metadata:
  name: app
data:
  password: Y2FuYXJ5cTd3M2t6MHY5eDI=
"),
    ("own/process", "process -f t.yaml -P v.yaml --check -v
-- v.yaml --
PASSWORD: canaryq7w3kz0v9x2
-- t.yaml --
apiVersion: template.krm.dev/v1alpha1
kind: Template
metadata: {name: t}
message: The password is $(PASSWORD), at $(URL).
parameters:
- name: PASSWORD
  secret: true
- name: URL
  value: http://u:$(PASSWORD)@h/
objects:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: t
    labels: {x-$(PASSWORD): $(URL), y: $(URL), $(URL): z}
  data: {x-$(PASSWORD): v, $(URL): v}
- apiVersion: v1
  kind: Service
  metadata: {name: t}
  spec:
    type: x-$(PASSWORD)
    ports: [{port: 80, protocol: $(URL), x-$(PASSWORD): 1}]
"),
    ("own/function", "-- input.yaml --
apiVersion: config.kubernetes.io/v1
kind: ResourceList
functionConfig:
  apiVersion: template.krm.dev/v1alpha1
  kind: TemplateInstance
  metadata:
    name: i
    annotations: {template.krm.dev/check: \"true\"}
  spec: {templateRef: {name: t}, parametersFrom: [{secretRef: {name: v}}]}
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: x-canaryq7w3kz0v9x2}
- apiVersion: v1
  kind: Secret
  metadata: {name: v}
  stringData:
    PASSWORD: canaryq7w3kz0v9x2
- apiVersion: template.krm.dev/v1alpha1
  kind: Template
  metadata: {name: t}
  message: The password is $(PASSWORD), at $(URL).
  parameters:
  - name: PASSWORD
  - name: URL
    value: http://u:$(PASSWORD)@h/
  objects:
  - apiVersion: v1
    kind: ConfigMap
    metadata:
      name: x-$(PASSWORD)
      labels: {x-$(PASSWORD): $(URL), y: $(URL), $(URL): z}
    data: {x-$(PASSWORD): v, $(URL): v}
  - apiVersion: v1
    kind: Service
    metadata: {name: t}
    spec:
      type: x-$(PASSWORD)
      ports: [{port: 80, protocol: $(URL), x-$(PASSWORD): 1}]
"),
    ("own/argument", "process -f t.yaml PASSWORD:canaryq7w3kz0v9x2 canaryq7w3kz0v9x2 x/canaryq7w3kz0v9x2=
-- t.yaml --
apiVersion: template.krm.dev/v1alpha1
kind: Template
metadata: {name: t}
parameters: [{name: PASSWORD, secret: true}]
objects: []
"),
    ("own/option", "process -f t.yaml -p PASSWORD:canaryq7w3kz0v9x2 -p canaryq7w3kz0v9x2 -P PASSWORD=canaryq7w3kz0v9x2
-- t.yaml --
apiVersion: template.krm.dev/v1alpha1
kind: Template
metadata: {name: t}
parameters: [{name: PASSWORD, secret: true}]
objects: []
"),
    ("own/lines", "process -f t.yaml --param-file v.env
-- v.env --
OTHER=1
PASSWORD=canaryq7w3kz0v9x2
-- t.yaml --
apiVersion: template.krm.dev/v1alpha1
kind: Template
metadata: {name: t}
parameters: [{name: PASSWORD, secret: true}, {name: OTHER}]
objects: []
"),
    ("own/properties", "dm expand config.yaml
-- config.yaml --
imports: [{path: t.jinja}]
resources:
- name: r
  type: t.jinja
  properties:
    password: canaryq7w3kz0v9x2
    token: x
    size: x
-- t.jinja --
resources:
- name: s
  type: storage.v1.bucket
  properties:
    password: {{ properties['password'] }}
-- t.jinja.schema --
properties:
  password: {type: string, maxLength: 3}
  size: {type: integer}
  token: {type: string}
"),
];
