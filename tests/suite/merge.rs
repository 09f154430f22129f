//! `merge`: what `process` makes of a merged Template is what it makes of its parts.
//!
//! The Templates are those of this repository, made-up ones, and the real ones in the folder that
//! `KRM_TEMPLATE_SHARED` names.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use krm_template::lint;
use krm_template::merge::{Options, Prefix, merge};
use krm_template::template::{self, Assignment, Format, Generation, Template};
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys, SharedNode};
use libtest_mimic::{Failed, Trial};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::Value;

use crate::{cases, needs};

mod drafts;

use drafts::draft;

/// The pairs of the repository are so many that several tests share them.
const SHARES: usize = 4;
/// So many Templates are merged with all others, and each of the rest with those that follow it.
const FIRST: usize = 20;

pub(crate) fn trials() -> Vec<Trial> {
    let shares = (0..SHARES).map(|share| {
        let name = format!("merge/process_makes_the_objects_of_both_{share}");
        Trial::test(name, move || {
            let files = own();
            pairs(&files, share..files.len(), SHARES, 40, 500)
        })
    });
    let others = vec![
        Trial::test("merge/one_template_changes_only_its_name", only_the_name),
        Trial::test("merge/is_associative", associative),
        Trial::test("merge/made_up_templates", made_up),
        needs::shared_data("merge/pairs_of_real_templates", |shared| {
            let files = read(&shared.join("corpus/openshift/templates"));
            pairs(&files, 0..files.len(), 1, 3, 500)
        }),
    ];
    shares.chain(others).collect()
}

/// A Template that `process` accepts with made-up values, and what it makes of it.
struct Sample {
    text: String,
    given: Vec<(String, String)>,
    objects: Vec<Value>,
}

impl Sample {
    /// Nothing for a text that is not one Template, or cannot be expanded.
    fn of(text: String) -> Option<Self> {
        let given = values(&text)?;
        let objects = process(&text, &given).ok()?;
        Some(Self { text, given, objects })
    }
}

/// The Templates of the repository.
fn own() -> Vec<Sample> {
    let mut samples = read(&crate::root().join("examples"));
    samples.extend(read(&crate::root().join("tests/common")));
    samples.extend(read(&crate::root().join("tests/cases")));
    samples
}

/// The Templates below a folder, each text once.
fn read(folder: &Path) -> Vec<Sample> {
    let files = cases::files(folder).into_iter();
    let texts: BTreeSet<String> = files
        .filter_map(|(_, text)| String::from_utf8(text).ok())
        .filter(|text| text.len() < 20_000 && lint::may_hold_template(text))
        .collect();
    texts.into_iter().filter_map(Sample::of).collect()
}

/// The only document of a text.
fn root(name: &str, text: &str) -> Option<SharedNode> {
    let document = Document::parse(&Source::new(name, text)).ok()?;
    let document = Arc::new(document);
    let mut roots = SharedNode::roots(&document);
    let root = roots.next()?;
    roots.next().is_none().then_some(root)
}

/// A value for each parameter that has none, or a generated one.
fn values(text: &str) -> Option<Vec<(String, String)>> {
    let root = root("t", text)?;
    let template = Template::read(&root, &mut Diagnostics::new())?;
    let value = root.cursor().value(DuplicateKeys::LastWins, &mut Diagnostics::new())?;
    let value: Value = serde_json::from_str(&value.to_json()).ok()?;
    let declared = value.get("parameters").and_then(Value::as_array);
    let mut given = Vec::new();
    for parameter in template.named_parameters() {
        let mut declared = declared.into_iter().flatten();
        let declared =
            declared.find(|one| one.get("name").and_then(Value::as_str) == Some(&parameter.name));
        let declared = declared?;
        let is_empty = parameter.default_text().is_none_or(|text| text.is_empty());
        if !is_empty || !(parameter.required || parameter.expression().is_some()) {
            continue;
        }
        let sample = match parameter.kind.name() {
            "int" | "number" => "7",
            "bool" => "true",
            "base64" => "YWJj",
            "array" => "[a]",
            "map" => "{a: b}",
            _ => "abc",
        };
        let first = declared.get("enum").and_then(|list| list.get(0)?.as_str());
        given.push((parameter.name.clone(), first.unwrap_or(sample).to_owned()));
    }
    Some(given)
}

/// The objects that `process` makes.
fn process(text: &str, given: &[(String, String)]) -> Result<Vec<Value>, String> {
    let root = root("t.yaml", text).ok_or("not one document")?;
    let mut diagnostics = Diagnostics::new();
    let template = Template::read(&root, &mut diagnostics).ok_or_else(|| said(&diagnostics))?;
    let given = given.iter().map(|(name, value)| Assignment::text(name, value, "-p"));
    let given: Vec<Assignment> = given.collect();
    let options = template::Options::new(Generation::Random);
    let printed = template::print(&template, &given, &options, Format::Json, &mut diagnostics);
    let printed = printed.ok_or_else(|| said(&diagnostics))?;
    let list: Value = serde_json::from_str(&printed.pieces.concat()).map_err(|e| e.to_string())?;
    let items = list.get("items").and_then(Value::as_array);
    let mut items = items.cloned().unwrap_or_default();
    items.iter_mut().for_each(without_empty_labels);
    Ok(items)
}

/// To a cluster an empty mapping is none, whether a Template has `labels: {}` or not.
fn without_empty_labels(object: &mut Value) {
    let is_empty = |value: &Value| value.as_object().is_some_and(serde_json::Map::is_empty);
    let Some(object) = object.as_object_mut() else {
        return;
    };
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        && metadata.get("labels").is_some_and(is_empty)
    {
        metadata.remove("labels");
    }
    if object.get("metadata").is_some_and(is_empty) {
        object.remove("metadata");
    }
}

fn said(diagnostics: &Diagnostics) -> String {
    let all: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    all.join("\n")
}

/// Merges texts, which are the files `0.yaml`, `1.yaml` and so on.
fn merged(texts: &[&str], options: &Options) -> Result<String, String> {
    let mut roots = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        roots.push(root(&format!("{index}.yaml"), text).ok_or("not one document")?);
    }
    let mut diagnostics = Diagnostics::new();
    merge(&roots, options, &mut diagnostics).ok_or_else(|| said(&diagnostics))
}

fn named(name: &str) -> Options {
    Options { name: name.to_owned(), ..Options::default() }
}

fn only_the_name() -> Result<(), Failed> {
    let mut checked = 0;
    for Sample { text, .. } in own() {
        let root = root("t", &text).ok_or("not one document")?;
        let old = root.cursor().text_at(["metadata", "name"]);
        let Some(old) = old.filter(|old| !old.is_empty()) else {
            continue;
        };
        let new = merged(&[&text], &named(&format!("{old}-renamed")))?;
        // What is left of both texts without what they begin and end with.
        let start = text.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
        let rest = text.as_bytes().get(start..).unwrap_or_default();
        if !new.contains("-renamed")
            || !new.as_bytes().ends_with(rest)
            || new.len() != text.len() + "-renamed".len()
        {
            return Err(format!("{text}\nbecame\n{new}").into());
        }
        checked += 1;
    }
    at_least(checked, 150)
}

#[expect(clippy::print_stdout, reason = "`--nocapture` shows how much is tested")]
fn say(line: &str) {
    println!("{line}");
}

fn at_least(checked: usize, least: usize) -> Result<(), Failed> {
    if checked < least {
        return Err(format!("only {checked} were checked, not {least}").into());
    }
    Ok(())
}

/// Merges every Template of a range, in steps, with the `next` ones after it, first without options,
/// then with a prefix for the parameters of the second one.
fn pairs(
    samples: &[Sample],
    range: Range<usize>,
    step: usize,
    next: usize,
    least: usize,
) -> Result<(), Failed> {
    let (mut plain, mut prefixed, mut tried) = (0, 0, 0);
    for index in range.step_by(step) {
        let Some(first) = samples.get(index) else {
            continue;
        };
        // Those of the examples come first.
        let next = if index < FIRST { samples.len() } else { next };
        for second in samples.iter().skip(index + 1).take(next) {
            tried += 1;
            if pair(first, second, "")? {
                plain += 1;
            } else if pair(first, second, "SECOND_")? {
                prefixed += 1;
            }
        }
    }
    say(&format!("of {tried} pairs, {plain} merge, and {prefixed} more with --prefix"));
    at_least(plain + prefixed, least)
}

/// Whether a pair merges. If it does, `process` makes the objects of both.
fn pair(first: &Sample, second: &Sample, prefix: &str) -> Result<bool, String> {
    let mut options = named("both");
    if !prefix.is_empty() {
        options.prefixes.push(Prefix { template: "1.yaml".to_owned(), prefix: prefix.to_owned() });
    }
    let Ok(text) = merged(&[&first.text, &second.text], &options) else {
        return Ok(false);
    };
    let mut given = first.given.clone();
    for (name, value) in &second.given {
        let name = format!("{prefix}{name}");
        if !given.iter().any(|(known, _)| *known == name) {
            given.push((name, value.clone()));
        }
    }
    let failed = |problem: String| {
        format!("{}\nwith\n{}\nbecame\n{text}\n{problem}", first.text, second.text)
    };
    let objects = process(&text, &given).map_err(failed)?;
    let problem = difference(&objects, &first.objects, &second.objects);
    problem.map_or(Ok(true), |problem| Err(failed(problem)))
}

/// How `objects` differ from those of both, where the second may repeat objects of the first.
fn difference(objects: &[Value], first: &[Value], second: &[Value]) -> Option<String> {
    let mut made = objects.iter().peekable();
    for object in first.iter().chain(second) {
        if made.next_if(|made| *made == object).is_none() && !first.contains(object) {
            let found = made.peek().map(ToString::to_string);
            return Some(format!("expected {object}\nfound {found:?}"));
        }
    }
    made.next().map(|more| format!("one more object: {more}"))
}

fn associative() -> Result<(), Failed> {
    let samples = own();
    let mut checked = 0;
    for (index, first) in samples.iter().enumerate() {
        let step = 1 + index % 7;
        let mut others = samples.iter().skip(index + 1).step_by(step);
        let (Some(second), Some(third)) = (others.next(), others.next()) else {
            continue;
        };
        checked += usize::from(is_associative([&first.text, &second.text, &third.text])?);
    }
    at_least(checked, 40)
}

/// Whether three Templates merge; if so, in both orders to the same text.
fn is_associative([a, b, c]: [&str; 3]) -> Result<bool, String> {
    let both = |one: &str, other: &str, name| merged(&[one, other], &named(name)).ok();
    let left = both(a, b, "left").and_then(|left| both(&left, c, "all"));
    let right = both(b, c, "right").and_then(|right| both(a, &right, "all"));
    match (left, right) {
        (None, _) | (_, None) => Ok(false),
        (Some(left), Some(right)) if left == right => {
            let all = merged(&[a, b, c], &named("all"))?;
            if all == left { Ok(true) } else { Err(format!("{left}\nis not\n{all}")) }
        }
        (Some(left), Some(right)) => Err(format!("{a}\n{b}\n{c}\n{left}\nis not\n{right}")),
    }
}

fn made_up() -> Result<(), Failed> {
    let config = Config {
        cases: 1_500,
        failure_persistence: None,
        max_shrink_iters: 300,
        ..Config::default()
    };
    let counts = std::cell::Cell::new((0, 0));
    let drafts = (draft(), draft(), draft());
    let result = TestRunner::new(config).run(&drafts, |(a, mut b, mut c)| {
        (b.is_openshift, c.is_openshift) = (a.is_openshift, a.is_openshift);
        let texts = [a.text("a"), b.text("b"), c.text("c")];
        let [a, b, c] = [&*texts[0], &*texts[1], &*texts[2]];
        let (mut pairs, mut triples) = counts.get();
        let samples = [a, b].map(|text| Sample::of(text.to_owned()));
        if let [Some(first), Some(second)] = samples {
            for prefix in ["", "SECOND_"] {
                pairs += usize::from(pair(&first, &second, prefix).map_err(TestCaseError::fail)?);
            }
        }
        triples += usize::from(is_associative([a, b, c]).map_err(TestCaseError::fail)?);
        counts.set((pairs, triples));
        Ok(())
    });
    result.map_err(|error| error.to_string())?;
    let (pairs, triples) = counts.get();
    say(&format!("{pairs} pairs and {triples} triples of made-up Templates merge"));
    at_least(pairs, 100)?;
    at_least(triples, 10)
}
