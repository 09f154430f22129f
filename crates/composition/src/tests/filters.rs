//! Cases of kustomize's filters: what its transformers are made of.
//!
//! The cases hold Go: what of it the configuration here needs is read by its `Field: "text"` and
//! `"key": "text"`; the fields that a filter works on are not in the cases where Go passes them
//! separately, and stand in a table here.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::{NoFunctions, difference, judge, shared, transformed, transformer};
use crate::engine::field_tables::{Additions, Tables};
use crate::engine::state::State;
use crate::engine::step::Context;
use crate::fields::field_spec::{FieldSpec, MissingField};
use crate::fields::field_tree::FieldTrees;
use crate::names::references;
use crate::resources::resource::Resource;
use crate::values::budget::Budget;
use krm_core::Identity;
use krm_core::files::InMemory;
use krm_core::kinds::Field;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, Position, Value, ViewMut};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    name: String,
    #[serde(default, alias = "referrerOriginal")]
    input: String,
    #[serde(default, alias = "expectedOutput", alias = "referrerFinal")]
    expected: String,
    #[serde(default, rename = "filter_go")]
    go: String,
    #[serde(default)]
    field_spec: String,
    error: Option<String>,
    #[serde(default)]
    candidates: String,
}

/// The cases of a filter.
fn cases(filter: &str) -> Vec<Case> {
    let text = shared("corpus/kustomize/filter_cases.json");
    let mut all: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    let cases = all.remove(&format!("api/filters/{filter}/{filter}_test.go"));
    serde_json::from_value(cases.unwrap()).unwrap()
}

/// Runs the cases of a filter with the configuration that `config` makes of each.
fn check(filter: &str, config: impl Fn(&Case) -> String, exceptions: &[(&str, &str)]) {
    let outcomes = cases(filter).into_iter().map(|case| {
        let outcome = transformed(&[config(&case).as_str()], &case.input, &[]);
        let difference = difference(outcome, Ok(&case.expected));
        (case.name, difference)
    });
    judge(outcomes, exceptions);
}

/// The pairs `name: "text"` of a Go literal, where names are in quotes or not.
fn pairs(go: &str, in_quotes: bool) -> impl Iterator<Item = (&str, &str)> {
    go.split([',', '{', '\n']).filter_map(move |part| {
        let (name, text) = part.trim().split_once(':')?;
        let text = text.trim().trim_end_matches('}');
        let text = text.strip_prefix('"')?.strip_suffix('"')?;
        let quoted = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
        (in_quotes == quoted.is_some()).then_some((quoted.unwrap_or(name), text))
    })
}

/// The entries of a Go map, as a mapping of YAML.
fn entries(go: &str) -> String {
    let entries = pairs(go, true).map(|(key, text)| format!("\"{key}\": \"{text}\""));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}

const METADATA_NAMESPACE: &str = "{path: metadata/namespace, create: true}";
const A_B_C: &str = "{path: a/b/c, create: true}";

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn namespace() {
    let config = |case: &Case| {
        let given = pairs(&case.go, false).find(|(name, _)| *name == "Namespace");
        let namespace = match (given, case.name.as_str()) {
            (Some((_, namespace)), _) => namespace,
            (None, "update-rolebinding" | "update-clusterrolebinding") => "bar",
            (None, "numeric") => "01234",
            (None, _) => "foo",
        };
        let fields = if case.go.is_empty() { METADATA_NAMESPACE } else { A_B_C };
        format!(
            "kind: NamespaceTransformer\nmetadata:\n  name: a\n  namespace: '{namespace}'\n\
             fieldSpecs: [{fields}]\n"
        )
    };
    check("namespace", config, &[]);
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn imagetag() {
    let config = |case: &Case| {
        let parts = pairs(&case.go, false).map(|(name, text)| {
            let (first, rest) = name.split_at(1);
            format!("{}{rest}: '{text}'", first.to_lowercase())
        });
        let parts = parts.collect::<Vec<_>>().join(", ");
        format!(
            "kind: ImageTagTransformer\nmetadata: {{name: a}}\nimageTag: {{{parts}}}\n\
             fieldSpecs:\n\
             - path: spec/image\n\
             - path: spec/containers[]/image\n\
             - path: spec/volumes[]/image/reference\n\
             - path: spec/template/spec/containers[]/image\n\
             - path: spec/template/spec/initContainers[]/image\n\
             - path: spec/template/spec/volumes[]/image/reference\n"
        )
    };
    let exceptions = [("emptyContainers", NULL_LIST)];
    check("imagetag", config, &exceptions);
}

/// The fields of a Go slice of `types.FieldSpec`, of which none has more than one of these.
fn field_specs(go: &str) -> String {
    let mut specs = Vec::new();
    let mut selector = String::new();
    for (name, text) in pairs(go, false) {
        match name {
            "Kind" | "Version" => selector = format!(", {}: {text}", name.to_lowercase()),
            "Path" => {
                let selector = std::mem::take(&mut selector);
                specs.push(format!("{{path: {text}, create: true{selector}}}"));
            }
            name => panic!("unknown field {name}"),
        }
    }
    specs.join(", ")
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn labels() {
    let config = |case: &Case| {
        format!(
            "kind: LabelTransformer\nmetadata: {{name: a}}\nlabels: {}\nfieldSpecs: [{}]\n",
            entries(&case.go),
            field_specs(&case.go)
        )
    };
    check("labels", config, &[]);
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn annotations() {
    let config = |case: &Case| {
        let more = match case.name.as_str() {
            "set_entry_callback" => "{path: spec/template/metadata/annotations, create: true}",
            _ => &field_specs(&case.go),
        };
        format!(
            "kind: AnnotationsTransformer\nmetadata: {{name: a}}\nannotations: {}\n\
             fieldSpecs: [{{path: metadata/annotations, create: true}}, {more}]\n",
            entries(&case.go),
        )
    };
    check("annotations", config, &[]);
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn replicacount() {
    let config = |case: &Case| {
        let text = |field| pairs(&case.go, false).find(|(name, _)| *name == field).unwrap().1;
        format!(
            "kind: ReplicaCountTransformer\nmetadata: {{name: a}}\n\
             replica: {{name: {}, count: 42}}\nfieldSpecs: [{{path: {}, create: {}}}]\n",
            text("Name"),
            text("Path"),
            case.go.contains("CreateIfNotPresent: true,"),
        )
    };
    assert!(cases("replicacount").iter().all(|case| case.go.contains("Count: 42,")));
    check("replicacount", config, &[]);
}

const NULL_LIST: &str =
    "a null where a list should be becomes an empty list; here what needs no change stays";

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn fieldspec() {
    let outcomes = cases("fieldspec").into_iter().map(|case| {
        // Those of another test have no filter: they look for the node only.
        let text = case.go.split_once("SetScalar(\"");
        let text = text.map(|(_, rest)| rest.split_once('"').unwrap().0.to_owned());
        let outcome = set(&case.input, &case.field_spec, text.as_deref());
        let expected = match (&case.error, text) {
            (Some(error), _) => Err(std::slice::from_ref(error)),
            (None, Some(_)) => Ok(case.expected.as_str()),
            (None, None) => Ok(case.input.as_str()),
        };
        let difference = difference(outcome, expected);
        (case.name, difference)
    });
    judge(
        outcomes,
        &[("failure to set field on array entry with sequence hint in path", NULL_LIST)],
    );
}

/// Sets a field to a text, or looks at it.
fn set(input: &str, field: &str, text: Option<&str>) -> Result<String, Vec<String>> {
    let field = super::values(field).remove(0).to_json();
    let field = serde_json::from_str(&field).map_err(|error| vec![error.to_string()]);
    let field: FieldSpec = field?;
    let document = Arc::new(Document::parse(&Source::new("input.yaml", input)).unwrap());
    let root = document.roots().next().unwrap();
    let parts = Resource::read(&document, root.id(), &mut Diagnostics::new()).unwrap();
    let mut whole = parts.clone();
    let _ = whole.value_mut();
    let [parts, whole] = [parts, whole].map(|resource| set_in(resource, &field, text));
    assert_eq!(parts, whole);
    parts
}

fn set_in(
    mut resource: Resource<'_>,
    field: &FieldSpec,
    text: Option<&str>,
) -> Result<String, Vec<String>> {
    let mut visited = 0;
    if field.is_for(resource.view()) {
        let set = &mut |_, value: ViewMut<'_, '_>| {
            visited += 1;
            if let Some(text) = text {
                value.value_mut().set(Value::string(text.to_owned()).data);
            }
            Ok(())
        };
        let fields = std::iter::once(field);
        let tree = FieldTrees::default().of_resource(&resource, fields);
        let problems = tree.visit(resource.view_mut(), MissingField::Scalar, set);
        if !problems.is_empty() {
            return Err(problems.into_iter().map(|problem| problem.text).collect());
        }
    }
    assert!(text.is_some() || visited > 0);
    Ok(resource.text(Position::Document).unwrap())
}

fn read(input: &str) -> Vec<Resource<'static>> {
    let document = Document::parse(&Source::new("input.yaml", input)).unwrap();
    let document = Arc::new(document);
    let mut diagnostics = Diagnostics::new();
    let roots = document.roots();
    let read = roots.map(|root| Resource::read(&document, root.id(), &mut diagnostics));
    read.map(|one| one.unwrap().into_owned()).collect()
}

/// Data that the Go of a nameref case has beside the case: the former names of the candidates,
/// their prefixes and suffixes, and those of the referrer.
struct FormerNames {
    names: &'static [&'static str],
    prefixes: [&'static str; 2],
    suffixes: [&'static str; 2],
    own: [&'static str; 2],
}

fn past(case: &str) -> FormerNames {
    let past = |names, prefixes, suffixes, own| FormerNames { names, prefixes, suffixes, own };
    let both: &[&str] = &["oldName", "oldName"];
    match case {
        "simple scalar" | "mapping" | "null value" => {
            past(&["oldName", ""], ["", ""], ["", ""], ["", ""])
        }
        "sequence" => past(&["oldName1", ""], ["", ""], ["", ""], ["", ""]),
        "mapping with namespace" => {
            past(&["oldName", "oldName", "oldName"], ["", ""], ["", ""], ["", ""])
        }
        "multiple match" | "no name" => past(both, ["", ""], ["", ""], ["", ""]),
        "prefix match" => past(both, ["prefix1", "prefix2"], ["", "suffix2"], ["prefix1", ""]),
        "suffix match" => past(both, ["", "prefix2"], ["suffix1", "suffix2"], ["", "suffix1"]),
        "prefix suffix both match" => {
            past(both, ["prefix1", "prefix2"], ["suffix1", "suffix2"], ["prefix1", "suffix1"])
        }
        "multiple match: both" => {
            past(both, ["prefix", "prefix"], ["suffix", "suffix"], ["prefix", "suffix"])
        }
        "multiple match: only prefix" => past(both, ["prefix", "prefix"], ["", ""], ["prefix", ""]),
        "multiple match: only suffix" => past(both, ["", ""], ["suffix", "suffix"], ["", "suffix"]),
        "no match: neither match" => {
            past(both, ["prefix1", "prefix2"], ["suffix1", "suffix2"], ["prefix", "suffix"])
        }
        "no match: prefix doesn't match" => {
            past(both, ["prefix1", "prefix2"], ["suffix", "suffix"], ["prefix", "suffix"])
        }
        "no match: suffix doesn't match" => {
            past(both, ["prefix", "prefix"], ["suffix1", "suffix2"], ["prefix", "suffix"])
        }
        case => panic!("what is the past in `{case}`?"),
    }
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn nameref() {
    let outcomes = cases("nameref").into_iter().map(|case| {
        let outcome = follow(&case);
        let expected = match case.expected.trim() {
            "" => Err([].as_slice()),
            expected => Ok(expected),
        };
        let difference = difference(outcome, expected);
        (case.name, difference)
    });
    judge(outcomes, &[]);
}

fn follow(case: &Case) -> Result<String, Vec<String>> {
    let path = pairs(&case.go, false).find(|(name, _)| *name == "Path").unwrap().1;
    let path = path.to_owned().leak();
    let field = Field { group: "", version: "", kind: "Deployment", path, create: false };
    // All cases look for this kind.
    let named = (["apps", "v1", "Secret"], Cow::Owned(FieldSpec::from(&field)));
    let mut resources = read(&case.input);
    let past = past(&case.name);
    let affixes = |text: &str| match text {
        "" => Vec::new(),
        text => vec![text.to_owned()],
    };
    // In Go the referrer is not a candidate; here it must not count as one that was in its namespace.
    resources[0].previous =
        vec![Identity { namespace: "default".to_owned(), ..resources[0].identity().unwrap() }];
    resources[0].prefixes = affixes(past.own[0]);
    resources[0].suffixes = affixes(past.own[1]);
    for (index, mut candidate) in read(&case.candidates).into_iter().enumerate() {
        candidate.previous = vec![Identity {
            namespace: "default".to_owned(),
            name: past.names[index].to_owned(),
            ..candidate.identity().unwrap()
        }];
        if index < 2 {
            candidate.prefixes = affixes(past.prefixes[index]);
            candidate.suffixes = affixes(past.suffixes[index]);
        }
        resources.push(candidate);
    }
    let mut diagnostics = Diagnostics::new();
    let mut context = Context {
        transformer: &transformer("kind: PrefixTransformer\n"),
        tables: &Tables::of(&Additions::default()).unwrap(),
        files: &InMemory::default(),
        functions: &NoFunctions,
        diagnostics: &mut diagnostics,
        budget: &Budget::new(),
        build: |_, base, _, _| panic!("{base:?} is not expected"),
        state: &mut State::default(),
        is_of_kustomization: false,
    };
    references::follow(&mut resources, [named].into_iter(), &mut context);
    if diagnostics.has_errors() {
        return Err(diagnostics.iter().map(|one| one.message.clone()).collect());
    }
    Ok(resources[0].text(Position::Document).unwrap())
}
