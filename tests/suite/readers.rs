//! What the program prints means the same to readers that share no code with ours.
//!
//! `yaml-rust2` and `serde_yaml` read everything that the cases and the examples expect and that
//! real templates become. Only [`DIFFERENCES`] may differ.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use krm_template::template::{self, Format, Generation, Options, Template};
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Data, Document, DuplicateKeys, Scalar, SharedNode, Value};
use libtest_mimic::{Failed, Trial};
use serde_core::Deserialize;
use yaml_rust2::{Yaml, YamlLoader};

use crate::cases;
use crate::needs;

/// Real templates in the shared data, of which at least so many can be expanded without values.
const CORPUS: (&str, usize) = ("corpus/openshift", 300);

/// Texts that a reader refuses, as the words of its error tell.
const REFUSED: &[(&str, &str)] = &[
    // Numbers that fit into no type of Rust.
    ("parameters/values-that-fit-their-types", "as i128"),
    ("proposal/raw-reference-to-a-number-is-a-number", "as u128"),
    // What go-yaml accepts, and the standard does not; we print it as it was.
    ("process/quoted-lines-not-indented", "invalid indentation"),
    ("process/yaml-that-only-go-yaml-accepts-is-read", "separated"),
];

pub(crate) fn trials() -> Vec<Trial> {
    let (corpus, count) = CORPUS;
    let corpus = needs::shared_data("readers/corpus", move |shared| {
        expanded_templates_read_the_same(&shared.join(corpus), count)
    });
    let own = [
        Trial::test("readers/cases", outputs_of_cases_read_the_same),
        Trial::test("readers/examples", outputs_of_examples_read_the_same),
        Trial::test("readers/differences", differences_are_real),
    ];
    own.into_iter().chain([corpus]).collect()
}

/// A type of plain scalars that go-yaml reads, and other readers read as text.
struct Difference {
    type_of_ours: &'static str,
    samples: &'static [&'static str],
    is_one: fn(&str) -> bool,
}

/// All that the readers may read otherwise: they keep the text.
const DIFFERENCES: &[Difference] = &[
    Difference {
        type_of_ours: "bool",
        samples: &["yes", "no", "on", "off", "Yes", "OFF"],
        is_one: |text| {
            let words = ["yes", "no", "on", "off", "y", "n", "true", "false"];
            words.contains(&text.to_ascii_lowercase().as_str())
        },
    },
    Difference {
        type_of_ours: "null",
        samples: &["Null", "NULL"],
        is_one: |text| text.eq_ignore_ascii_case("null"),
    },
    Difference {
        type_of_ours: "number",
        samples: &["0777", "1_000", "0b11", "-0x1F"],
        // Octal, hexadecimal and binary numbers, those with underscores, and infinity.
        is_one: |text| {
            let digits = text.trim_start_matches(['+', '-']);
            let has_base = digits.len() > 1 && digits.starts_with('0') && !digits.contains('.');
            has_base || digits.contains('_') || digits.starts_with('.') || digits.ends_with('.')
        },
    },
];

/// A value as all readers can have it. The keys of mappings are in order.
#[derive(Clone, Debug, PartialEq)]
enum Plain {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Self>),
    Map(Vec<(Self, Self)>),
}

/// The values of the documents in a text as each reader reads them, without empty documents.
fn ours(name: &str, text: &str) -> Option<(Document, Vec<Value<'static>>)> {
    let document = Document::parse(&Source::new(name, text)).ok()?;
    let values = document.roots().map(|root| {
        let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new())?;
        Some(value.into_owned())
    });
    let mut values = values.collect::<Option<Vec<_>>>()?;
    values.retain(|value| !value.is_null());
    Some((document, values))
}

fn by_yaml_rust2(text: &str) -> Result<Vec<Plain>, String> {
    fn plain(value: Yaml) -> Plain {
        match value {
            Yaml::Real(digits) => Plain::Number(digits),
            Yaml::Integer(number) => Plain::Number(number.to_string()),
            Yaml::String(text) => Plain::Text(text),
            Yaml::Boolean(flag) => Plain::Bool(flag),
            Yaml::Array(items) => Plain::List(items.into_iter().map(plain).collect()),
            Yaml::Hash(entries) => {
                let entries = entries.into_iter();
                Plain::Map(entries.map(|(key, value)| (plain(key), plain(value))).collect())
            }
            Yaml::Alias(_) | Yaml::Null | Yaml::BadValue => Plain::Null,
        }
    }
    let read = YamlLoader::load_from_str(text).map_err(|error| error.to_string())?;
    Ok(read.into_iter().map(plain).filter(|one| *one != Plain::Null).collect())
}

fn by_serde_yaml(text: &str) -> Result<Vec<Plain>, String> {
    fn plain(value: serde_yaml::Value) -> Plain {
        match value {
            serde_yaml::Value::Null => Plain::Null,
            serde_yaml::Value::Bool(flag) => Plain::Bool(flag),
            serde_yaml::Value::Number(number) => Plain::Number(number.to_string()),
            serde_yaml::Value::String(text) => Plain::Text(text),
            serde_yaml::Value::Sequence(items) => {
                Plain::List(items.into_iter().map(plain).collect())
            }
            serde_yaml::Value::Mapping(entries) => {
                let entries = entries.into_iter();
                Plain::Map(entries.map(|(key, value)| (plain(key), plain(value))).collect())
            }
            serde_yaml::Value::Tagged(tagged) => plain(tagged.value),
        }
    }
    let mut all = Vec::new();
    for document in serde_yaml::Deserializer::from_str(text) {
        let value = serde_yaml::Value::deserialize(document).map_err(|error| error.to_string())?;
        all.extend(Some(plain(value)).filter(|one| *one != Plain::Null));
    }
    Ok(all)
}

/// The readers by their names.
type Reader = fn(&str) -> Result<Vec<Plain>, String>;
const READERS: [(&str, Reader); 2] = [("yaml-rust2", by_yaml_rust2), ("serde_yaml", by_serde_yaml)];

/// Compares what all readers read in a text. Returns whether ours reads it.
fn compare(name: &str, text: &str) -> Result<bool, String> {
    let Some((document, values)) = ours(name, text) else {
        return Ok(false);
    };
    // yaml-rust2 takes a byte order mark as a part of the first key.
    let text = text.trim_start_matches('\u{feff}');
    for (reader, read) in READERS {
        let others = read(text).map_err(|error| format!("{name}: {reader}: {error}"))?;
        if others.len() != values.len() {
            return Err(format!("{name}: {reader} reads {} documents", others.len()));
        }
        let mut pairs = values.iter().zip(&others);
        let found = pairs.find_map(|(own, other)| mismatch(&document, own, other, ""));
        if let Some(found) = found {
            return Err(format!("{name}: {reader}: {found}"));
        }
    }
    Ok(true)
}

/// The first part that another reader reads as something else, with its path.
fn mismatch(document: &Document, own: &Value<'_>, other: &Plain, path: &str) -> Option<String> {
    let same = match (&own.data, other) {
        (Data::Scalar(Scalar::Null), Plain::Null) => true,
        (Data::Scalar(Scalar::Bool(flag)), Plain::Bool(other)) => flag == other,
        (Data::Scalar(Scalar::String(text)), Plain::Text(other)) => text == other,
        (Data::Scalar(Scalar::Number(digits)), Plain::Number(other)) => {
            // Numbers that are longer than a float are rounded by the others.
            let float = |text: &str| text.parse::<f64>().ok();
            digits == other || float(digits).is_some_and(|one| Some(one) == float(other))
        }
        (Data::Sequence(items), Plain::List(others)) if items.len() == others.len() => {
            let mut pairs = items.iter().zip(others).enumerate();
            return pairs.find_map(|(index, (own, other))| {
                mismatch(document, own, other, &format!("{path}[{index}]"))
            });
        }
        (Data::Mapping(entries), Plain::Map(others)) if entries.len() == others.len() => {
            let mut pairs = entries.iter().zip(others);
            return pairs.find_map(|((key, own), (other_key, other))| {
                if !is_key(key, other_key) {
                    return Some(format!("{path}: the key `{key}` is {other_key:?}"));
                }
                mismatch(document, own, other, &format!("{path}.{key}"))
            });
        }
        _ => false,
    };
    let is_fine = same || is_difference(document, own, other);
    (!is_fine).then(|| format!("{path}: {} is {other:?}", own.to_json()))
}

/// Whether a key is the same: ours are texts, those of others have types.
fn is_key(own: &str, other: &Plain) -> bool {
    match other {
        Plain::Text(text) => own == text || DIFFERENCES.iter().any(|one| (one.is_one)(text)),
        Plain::Number(_) | Plain::Bool(_) | Plain::Null => true,
        Plain::List(_) | Plain::Map(_) => false,
    }
}

/// Whether the table allows another reader to read a scalar as its text.
fn is_difference(document: &Document, own: &Value<'_>, other: &Plain) -> bool {
    let type_of_ours = match &own.data {
        Data::Scalar(Scalar::Null) => "null",
        Data::Scalar(Scalar::Bool(_)) => "bool",
        Data::Scalar(Scalar::Number(_)) => "number",
        _ => return false,
    };
    let Some(raw) = own.origin.map(|origin| document.cursor(origin).raw()) else {
        return false;
    };
    let mut all = DIFFERENCES.iter();
    // Or as decimal: yaml-rust2 does so with `0777`.
    let decimal = raw.trim_start_matches(['+', '0']).to_owned();
    let is_as_written = *other == Plain::Text(raw.to_owned()) || *other == Plain::Number(decimal);
    is_as_written && all.any(|one| one.type_of_ours == type_of_ours && (one.is_one)(raw))
}

/// Each row has samples that at least one of the readers reads as their text, and ours does not.
fn differences_are_real() -> Result<(), Failed> {
    for difference in DIFFERENCES {
        for sample in difference.samples {
            let text = format!("a: {sample}\n");
            compare(sample, &text)?;
            let as_text =
                Plain::Map(vec![(Plain::Text("a".to_owned()), Plain::Text((*sample).to_owned()))]);
            let mut readers = READERS.iter();
            if !readers.any(|(_, read)| read(&text).is_ok_and(|read| read == [as_text.clone()])) {
                return Err(format!("no reader takes `{sample}` for a text").into());
            }
        }
    }
    Ok(())
}

fn check(texts: &BTreeMap<String, String>, at_least: usize) -> Result<(), Failed> {
    let mut problems = Vec::new();
    let mut count = 0;
    for (name, text) in texts {
        match compare(name, text) {
            Ok(is_read) => count += usize::from(is_read),
            Err(problem) => {
                let mut refused = REFUSED.iter();
                if !refused.any(|(one, why)| name.starts_with(one) && problem.contains(why)) {
                    problems.push(problem);
                }
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems.join("\n").into());
    }
    if count < at_least {
        return Err(format!("only {count} texts were read").into());
    }
    Ok(())
}

fn outputs_of_cases_read_the_same() -> Result<(), Failed> {
    let is_output = |name: &str| {
        let is_expected = name == "expected.yaml" || name.starts_with("expected/");
        is_expected && Path::new(name).extension() == Some("yaml".as_ref())
    };
    let outputs = cases::all().into_iter().flat_map(|case| {
        let files = case.files.into_iter().filter(|(name, _)| is_output(name));
        let area = case.name;
        let texts = files.map(move |(name, bytes)| {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            (format!("{area}/{name}"), text)
        });
        texts.collect::<Vec<_>>()
    });
    check(&outputs.collect(), 450)
}

fn outputs_of_examples_read_the_same() -> Result<(), Failed> {
    let is_output = |path: &Path| path.file_name().is_some_and(|name| name == "expected.yaml");
    check(&files(&crate::root().join("examples"), &is_output)?, 5)
}

/// The texts of files below a folder.
fn files(
    folder: &Path,
    is_wanted: &dyn Fn(&Path) -> bool,
) -> Result<BTreeMap<String, String>, Failed> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.append(&mut files(&path, is_wanted)?);
        } else if is_wanted(&path)
            && let Ok(text) = fs::read_to_string(&path)
        {
            found.insert(path.display().to_string(), text);
        }
    }
    Ok(found)
}

fn expanded_templates_read_the_same(folder: &Path, count: usize) -> Result<(), Failed> {
    let is_template = |path: &Path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        matches!(extension, Some("json" | "yaml" | "yml"))
    };
    let templates = files(folder, &is_template)?;
    let printed = templates.iter().filter_map(|(name, text)| {
        let texts = expanded(name, text)?;
        Some((name.clone(), texts))
    });
    check(&printed.collect(), count)
}

/// The objects of a Template; none if it cannot be expanded without values.
fn expanded(name: &str, text: &str) -> Option<String> {
    let document = Arc::new(Document::parse(&Source::new(name, text)).ok()?);
    let mut found = Diagnostics::new();
    let template = Template::read(&SharedNode::roots(&document).next()?, &mut found)?;
    let options = Options::new(Generation::Reproducible {
        seed: Some(b"a seed for tests".to_vec()),
        scope: String::new(),
        instance: String::new(),
        earlier: &(),
    });
    let printed = template::print(&template, &[], &options, Format::Yaml, &mut found)?;
    Some(printed.pieces.concat())
}
