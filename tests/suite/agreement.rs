//! `validate` and `process` agree on what is wrong with a Template. The Templates are those of this
//! repository, each changed at random in many ways.
//!
//! - An error of `validate` is true: `process` refuses the Template, or makes an object of it that
//!   has the fault. Faults are looked for here without the code of `validate`.
//! - Where all values are known, what `process` refuses is an error of `validate` too.
//!
//! The commands also agree about the inputs of the cases (`commands`).
#![expect(clippy::indexing_slicing, reason = "what is not there in JSON is null")]

mod commands;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use krm_template::lint;
use krm_template::template::{self, Assignment, Generation, Options, Template};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys, SharedNode};
use libtest_mimic::{Failed, Trial};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::Value;

use crate::cases;

/// How many changed Templates are looked at.
const CASES: u32 = 6_000;
/// Of these at least so many must be judged, by each of the two properties.
const LEAST: usize = 150;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("agreement/errors_of_validate_are_true", || property(errors_are_true)),
        Trial::test("agreement/what_process_refuses_is_an_error_of_validate", || {
            property(refusals_are_found)
        }),
        Trial::test("agreement/commands_refuse_the_same_at_the_same_place", commands::agree),
    ]
}

/// The violation, if any; none if the property does not apply to the case.
type Property = fn(&Judged) -> Option<Result<(), String>>;

fn property(holds: Property) -> Result<(), Failed> {
    let texts = texts();
    if texts.len() < 100 {
        return Err(format!("there are only {} Templates", texts.len()).into());
    }
    let unchanged = texts.iter().map(|text| judge(text)).collect::<Vec<_>>();
    for judged in unchanged.iter().flatten() {
        holds(judged).unwrap_or(Ok(()))?;
    }
    let config = Config {
        cases: CASES,
        failure_persistence: None,
        max_shrink_iters: 500,
        ..Config::default()
    };
    let judged = std::cell::Cell::new(0);
    let result = TestRunner::new(config).run(&changes(), |(text, changes)| {
        let mut text = text.get(&texts).clone();
        for change in &changes {
            text = change.apply(&text);
        }
        match judge(&text).as_ref().and_then(holds) {
            None => Ok(()),
            Some(result) => {
                judged.set(judged.get() + 1);
                result.map_err(TestCaseError::fail)
            }
        }
    });
    result.map_err(|error| error.to_string())?;
    if judged.get() < LEAST {
        return Err(format!("only {} cases were judged, not {LEAST}", judged.get()).into());
    }
    Ok(())
}

/// The files of the repository that hold a Template and nothing else.
fn texts() -> Vec<String> {
    let files = ["examples", "tests"].map(|folder| cases::files(&crate::root().join(folder)));
    let texts = files.into_iter().flatten().filter(|(name, _)| {
        let ends = [".yaml", ".yml", ".json"];
        ends.iter().any(|end| name.ends_with(end))
    });
    let texts: BTreeSet<String> = texts
        .filter_map(|(_, text)| String::from_utf8(text).ok())
        // Long ones take long.
        .filter(|text| text.len() < 20_000 && lint::may_hold_template(text))
        .filter(|text| {
            let document = Document::parse(&Source::new("t", text.as_str()));
            let kind = |document: Document| {
                let mut roots = document.roots();
                roots
                    .next()?
                    .text_at(["kind"])
                    .filter(|_| roots.next().is_none())
                    .map(Cow::into_owned)
            };
            document.is_ok_and(|document| kind(document).as_deref() == Some("Template"))
        })
        .collect();
    texts.into_iter().collect()
}

/// A change of one line.
#[derive(Clone, Debug)]
struct Change {
    line: Index,
    how: How,
}

#[derive(Clone, Debug)]
enum How {
    Remove,
    Repeat,
    SwapWithNext,
    /// What is after the colon becomes this.
    Value(&'static str),
    /// Removes the text after the colon.
    NoValue,
    /// The key becomes this.
    Key(&'static str),
    /// What is between `(` and `)`, or `{` and `}`, becomes this.
    Name(&'static str),
    /// The line becomes another one of the text, with its own indentation.
    Other(Index),
    /// Removes a character.
    RemoveCharacter(Index),
    Indent,
}

const VALUES: &[&str] = &[
    "",
    "5",
    "\"5\"",
    "-1",
    "1.10",
    "0644",
    "1e3",
    "true",
    "\"true\"",
    "yes",
    "null",
    "~",
    "[]",
    "{}",
    "[a, b]",
    "{a: b}",
    "a",
    "A",
    "a b",
    "a_b",
    "a.b",
    "-a",
    "\"\"",
    "web",
    "$(NAME)",
    "$((NAME))",
    "${NAME}",
    "\"${{NAME}}\"",
    "$$(NAME)",
    "x-$(NAME)",
    "int",
    "bool",
    "base64",
    "array",
    "expression",
    "\"[a-z]{8}\"",
    "\"(\"",
    "99999999999999999999",
    "|",
    "&a b",
    "*a",
    "ConfigMap",
    "Secret",
    "Deployment",
    "Service",
    "v1",
    "apps/v1",
    "List",
    "Template",
    "template.krm.dev/v1alpha1",
    "template.openshift.io/v1",
    "http://a/b",
    "2001-01-01",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];
const KEYS: &[&str] = &[
    "name",
    "value",
    "type",
    "kind",
    "apiVersion",
    "metadata",
    "namespace",
    "labels",
    "annotations",
    "required",
    "enum",
    "pattern",
    "minimum",
    "maxLength",
    "generate",
    "from",
    "secret",
    "objects",
    "objectLabels",
    "values",
    "parameters",
    "data",
    "spec",
    "selector",
    "replicas",
    "env",
    "command",
    "message",
    "items",
    "yes",
    "\"\"",
    "$(NAME)",
    "${NAME}",
    "a b",
    "matchLabels",
    "generateName",
];
const NAMES: &[&str] = &["NAME", "NAM", "name", "REPLICAS", "A", "A-B", "A.B", "0", "", "X Y"];

fn changes() -> impl Strategy<Value = (Index, Vec<Change>)> {
    use proptest::sample::select;
    let how = prop_oneof![
        2 => Just(How::Remove),
        1 => Just(How::Repeat),
        1 => Just(How::SwapWithNext),
        6 => select(VALUES).prop_map(How::Value),
        1 => Just(How::NoValue),
        3 => select(KEYS).prop_map(How::Key),
        3 => select(NAMES).prop_map(How::Name),
        2 => any::<Index>().prop_map(How::Other),
        1 => any::<Index>().prop_map(How::RemoveCharacter),
        1 => Just(How::Indent),
    ];
    let change = (any::<Index>(), how).prop_map(|(line, how)| Change { line, how });
    (any::<Index>(), prop::collection::vec(change, 1..4))
}

impl Change {
    fn apply(&self, text: &str) -> String {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if lines.is_empty() {
            return text.to_owned();
        }
        let at = self.line.index(lines.len());
        let line = lines[at].clone();
        let (key, value) = match line.split_once(": ") {
            Some((key, value)) => (key.to_owned(), value.to_owned()),
            None => (line.trim_end_matches(':').to_owned(), String::new()),
        };
        let start = line.len() - line.trim_start_matches([' ', '-']).len();
        let (indentation, bare) = line.split_at(start);
        let changed = match &self.how {
            How::Remove => {
                lines.remove(at);
                return lines.join("\n") + "\n";
            }
            How::Repeat => format!("{line}\n{line}"),
            How::SwapWithNext => {
                let next = (at + 1).min(lines.len() - 1);
                lines.swap(at, next);
                return lines.join("\n") + "\n";
            }
            How::Value(value) => format!("{key}: {value}"),
            How::NoValue => format!("{key}:"),
            How::Key(key) => format!("{indentation}{key}: {value}"),
            How::Name(name) => renamed(&line, name),
            How::Other(other) => {
                let other = other.get(&lines);
                format!("{indentation}{}", other.trim_start_matches([' ', '-']))
            }
            How::RemoveCharacter(character) => {
                let mut characters: Vec<char> = bare.chars().collect();
                if !characters.is_empty() {
                    characters.remove(character.index(characters.len()));
                }
                format!("{indentation}{}", String::from_iter(characters))
            }
            How::Indent => format!("  {line}"),
        };
        lines[at] = changed;
        lines.join("\n") + "\n"
    }
}

fn renamed(line: &str, name: &str) -> String {
    for (open, close) in [('(', ')'), ('{', '}')] {
        let start = line.rfind(open).map(|start| start + 1);
        let end = line.find(close);
        if let (Some(start), Some(end)) = (start, end)
            && start <= end
        {
            let (before, after) = (line.split_at(start).0, line.split_at(end).1);
            return format!("{before}{name}{after}");
        }
    }
    line.to_owned()
}

/// What both say of a Template.
struct Judged {
    text: String,
    /// The Template as JSON.
    template: String,
    /// The errors of `validate`.
    findings: Vec<Diagnostic>,
    /// The errors of `process`.
    refusals: Vec<Diagnostic>,
    /// The output of `process`: the place in the Template, and the object.
    objects: Vec<(String, Value)>,
    /// Whether the values that `process` has are those that `validate` knows.
    is_known: bool,
}

/// Nothing for a text that is not one Template, or switches rules off.
fn judge(text: &str) -> Option<Judged> {
    if text.contains("disable-rules") {
        return None;
    }
    let source = Source::new("t.yaml", text);
    let errors = |found: &Diagnostics| {
        let found = found.iter().filter(|one| one.severity == Severity::Error);
        found.cloned().collect::<Vec<_>>()
    };
    let mut judged = Judged {
        text: text.to_owned(),
        template: String::new(),
        findings: Vec::new(),
        refusals: Vec::new(),
        objects: Vec::new(),
        is_known: true,
    };
    let mut diagnostics = Diagnostics::new();
    match Document::parse(&source).map(Arc::new) {
        Ok(document) => {
            let checked = lint::check(&document, &[], None);
            if checked.templates != 1 {
                return None;
            }
            judged.findings = errors(&checked.findings);
            expand(&document, &mut judged, &mut diagnostics)?;
        }
        Err(error) => {
            judged.findings.push((*error).clone());
            diagnostics.push(*error);
        }
    }
    judged.refusals = errors(&diagnostics);
    Some(judged)
}

/// Expands the Template as `process` does.
fn expand(
    document: &Arc<Document>,
    judged: &mut Judged,
    diagnostics: &mut Diagnostics,
) -> Option<()> {
    let mut roots = SharedNode::roots(document);
    let (Some(root), None) = (roots.next(), roots.next()) else {
        return None;
    };
    // `validate` also looks into lists.
    if root.cursor().text_at(["kind"]).as_deref() != Some("Template") {
        return None;
    }
    let Some(template) = Template::read(&root, diagnostics) else {
        return Some(());
    };
    if diagnostics.has_errors() {
        return Some(());
    }
    let given = values(document, &template, judged);
    let options = Options::new(Generation::Reproducible {
        seed: Some(b"a seed for tests".to_vec()),
        scope: String::new(),
        instance: String::new(),
        earlier: &(),
    });
    let objects = &mut judged.objects;
    template::process(&template, &given, &options, diagnostics, &mut |object, _| {
        let value = serde_json::from_str(&object.value.to_json());
        objects.push((object.field.clone(), value.unwrap_or_default()));
    });
    Some(())
}

/// A value for each parameter that has none and may not be empty.
fn values(document: &Document, template: &Template, judged: &mut Judged) -> Vec<Assignment> {
    let root = document.roots().next();
    let value = root.and_then(|root| root.value(DuplicateKeys::LastWins, &mut Diagnostics::new()));
    let value = value.map(|value| value.to_json()).unwrap_or_default();
    judged.template.clone_from(&value);
    let value: Value = serde_json::from_str(&value).unwrap_or_default();
    let mut given = Vec::new();
    for declared in value["parameters"].as_array().into_iter().flatten() {
        let text = |key: &str| declared[key].as_str().unwrap_or_default();
        let has = |key: &str| !declared[key].is_null();
        let name = text("name");
        let default = value["values"].get(name).unwrap_or(&declared["value"]);
        // `validate` does not know secret and generated values.
        let is_hidden = has("secret") || has("generate") || text("type") == "base64";
        let is_empty = default.is_null() || default == "";
        judged.is_known &= !is_hidden && !is_empty;
        if is_empty && declared["required"] == true && !has("generate") {
            let sample = match text("type") {
                "int" | "integer" | "number" => "7",
                "bool" | "boolean" => "true",
                "base64" => "YWJj",
                "array" => "[a]",
                "map" | "object" => "{a: b}",
                _ => "abc",
            };
            let first = declared["enum"][0].as_str();
            given.push(Assignment::text(name, first.unwrap_or(sample), "-p"));
        }
    }
    // Names that YAML reads differently than they look: `validate` and `process` see different names.
    judged.is_known &= template.named_parameters().all(|parameter| {
        let declared = value["parameters"].as_array().into_iter().flatten();
        declared.into_iter().any(|one| one["name"] == *parameter.name)
    });
    given
}

fn errors_are_true(judged: &Judged) -> Option<Result<(), String>> {
    if judged.findings.is_empty() {
        return None;
    }
    // Which of the errors it is of does not matter.
    if !judged.refusals.is_empty() {
        return None;
    }
    let lies: Vec<String> = judged
        .findings
        .iter()
        .filter(|finding| !is_true(finding, judged))
        .map(|finding| {
            let rule = finding.rule.unwrap_or("no rule");
            let field = finding.field.as_deref().unwrap_or_default();
            format!("error[{rule}]: {} in field {field}", finding.message)
        })
        .collect();
    if lies.is_empty() {
        return Some(Ok(()));
    }
    let (text, objects) = (&judged.text, serde_json::json!(judged.objects));
    let lies = lies.join("\n");
    Some(Err(format!("validate says\n{lies}\nof\n{text}\nwhich becomes\n{objects}")))
}

/// Whether the objects have the fault. Rules of which `process` takes care have none to look for.
fn is_true(finding: &Diagnostic, judged: &Judged) -> bool {
    let field = finding.field.as_deref().unwrap_or_default();
    let found = judged
        .objects
        .iter()
        .find_map(|(at, object)| field.starts_with(at.as_str()).then_some((at.as_str(), object)));
    let template = serde_json::from_str(&judged.template).unwrap_or_default();
    let values: Vec<&Value> = found.map_or_else(Vec::new, |(at, object)| {
        let declared = at_path(&template, at).unwrap_or(&Value::Null);
        let path = field.strip_prefix(at).unwrap_or_default();
        at_places(object, declared, path.strip_prefix('.').unwrap_or(path))
    });
    values.is_empty() && has_fault(finding, None, judged)
        || values.into_iter().any(|value| has_fault(finding, Some(value), judged))
}

/// The values that may be what the Template declares at a path: if items of a list are left out, those
/// behind them have moved up by at most as many.
fn at_places<'v>(made: &'v Value, declared: &'v Value, path: &str) -> Vec<&'v Value> {
    let Some((list, rest)) = path.split_once('[') else {
        return at_path(made, path).into_iter().collect();
    };
    let Some((key, rest)) = rest.split_once(']') else {
        return Vec::new();
    };
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    let lists = [made, declared].map(|value| at_path(value, list).and_then(Value::as_array));
    let ([Some(items), Some(all)], Ok(index)) = (lists, key.parse::<usize>()) else {
        // A key in brackets.
        let path = path.strip_suffix(rest).unwrap_or(path).trim_end_matches('.');
        let declared = at_path(declared, path).unwrap_or(&Value::Null);
        return at_path(made, path).map_or_else(Vec::new, |made| at_places(made, declared, rest));
    };
    let left_out = all.len().saturating_sub(items.len());
    let places = items.iter().take(index + 1).skip(index.saturating_sub(left_out));
    places.flat_map(|item| at_places(item, &all[index], rest)).collect()
}

fn has_fault(finding: &Diagnostic, value: Option<&Value>, judged: &Judged) -> bool {
    let field = finding.field.as_deref().unwrap_or_default();
    match finding.rule {
        Some("string-expected") => value.is_none_or(|value| !value.is_string()),
        Some("number-expected") => value.is_none_or(|value| !value.is_number()),
        Some("bool-expected") => value.is_none_or(|value| !value.is_boolean()),
        Some("invalid-name") => {
            let text = value.and_then(Value::as_str);
            text.is_none_or(|text| !is_a_name_everywhere(text))
        }
        Some("reference-syntax") => {
            // The text that the message names stays in a field that Kubernetes checks.
            let spelling = finding.message.split('`').nth(1).unwrap_or_default();
            // It may be in a key, which then is part of the path that was found. A label of the
            // Template is in each object, and a quoted key is spelled otherwise.
            let is_in = |value: &Value| value.to_string().contains(spelling);
            value.map_or_else(
                || {
                    let mut objects = judged.objects.iter();
                    objects.any(|(_, object)| {
                        is_in(&object["metadata"]["labels"]) || has_key_with(object, spelling)
                    })
                },
                |value| is_in(value) || field.contains(spelling),
            )
        }
        Some("duplicate-object") => {
            let ids = judged.objects.iter().map(|(_, object)| identity(object));
            let ids: Vec<_> = ids.collect();
            (1..ids.len()).any(|at| ids[..at].contains(&ids[at]))
        }
        Some("parameter-limits") => {
            // Without a value nothing is held against the limits.
            let parameter = field.split_once(']').map_or("", |(item, _)| item);
            let template = serde_json::from_str(&judged.template).unwrap_or_default();
            at_path(&template, &format!("{parameter}]")).is_some_and(has_impossible_limits)
        }
        // Their truth is not in a single field, or nothing but the Template has it.
        Some("invalid-label" | "selector-mismatch" | "undeclared-parameter") => true,
        _ => false,
    }
}

fn has_key_with(value: &Value, text: &str) -> bool {
    match value {
        Value::Object(entries) => {
            entries.iter().any(|(key, value)| key.contains(text) || has_key_with(value, text))
        }
        Value::Array(items) => items.iter().any(|item| has_key_with(item, text)),
        _ => false,
    }
}

fn has_impossible_limits(parameter: &Value) -> bool {
    let number = |key: &str| match &parameter[key] {
        Value::String(text) => text.parse().ok(),
        value => value.as_f64(),
    };
    let crosses = |least: &str, most: &str| number(least) > Some(number(most).unwrap_or(f64::MAX));
    let pattern = parameter["pattern"].as_str();
    crosses("minimum", "maximum")
        || crosses("minLength", "maxLength")
        || pattern.is_some_and(|pattern| regex_lite::Regex::new(pattern).is_err())
}

/// Whether any kind of object, and any part of one, may have this name.
fn is_a_name_everywhere(text: &str) -> bool {
    text.len() <= 15
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
}

/// Group, kind, namespace and name.
fn identity(object: &Value) -> [&str; 4] {
    let text = |value| Value::as_str(value).unwrap_or_default();
    let metadata = &object["metadata"];
    let group = text(&object["apiVersion"]).split_once('/');
    let namespace = Some(text(&metadata["namespace"])).filter(|name| !name.is_empty());
    [
        group.map_or("", |(group, _)| group),
        text(&object["kind"]),
        namespace.unwrap_or("default"),
        text(&metadata["name"]),
    ]
}

/// What is at a field path, as `spec.ports[0].port`.
fn at_path<'v>(root: &'v Value, path: &str) -> Option<&'v Value> {
    let mut at = root;
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (key, after) = inside.split_once(']')?;
            at = match (at, key.parse::<usize>()) {
                (Value::Array(items), Ok(index)) => items.get(index)?,
                _ => at.get(key)?,
            };
            rest = after.strip_prefix('.').unwrap_or(after);
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (key, after) = rest.split_at(end);
            at = at.get(key)?;
            rest = after.strip_prefix('.').unwrap_or(after);
        }
    }
    Some(at)
}

fn refusals_are_found(judged: &Judged) -> Option<Result<(), String>> {
    let is_syntax = |one: &Diagnostic| one.rule == Some("syntax");
    if judged.refusals.is_empty() || !judged.is_known || judged.findings.iter().any(is_syntax) {
        return None;
    }
    if !judged.findings.is_empty() {
        return Some(Ok(()));
    }
    let refusals = judged.refusals.iter();
    let refusals: Vec<&str> = refusals.map(|one| one.message.as_str()).collect();
    let (refusals, text) = (refusals.join("\n"), &judged.text);
    Some(Err(format!("validate has no error, but process says\n{refusals}\nof\n{text}")))
}
