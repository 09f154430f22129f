//! Kustomize's whole builds, as chains of what renames, moves, labels and generates, one for each
//! directory, in kustomize's order.

use serde::Deserialize;

use super::{NoFunctions, judge, shared, transformer, values, without_notes};
use crate::composition::chain;
use crate::composition::resource::{Documents, Resource};
use crate::diagnostic::Diagnostics;
use crate::files::{Entry, Files, InMemory, join};
use crate::source::Source;
use crate::yaml::{Document, DuplicateKeys, Position, Value};

#[derive(Deserialize)]
struct Case {
    file: String,
    test: String,
    /// How a file is written, its path and its text.
    files: Vec<(String, String, String)>,
    run: String,
    #[serde(default)]
    expected: String,
}

/// The fields of a Kustomization that are a transformer here, in the order in which they are
/// applied, and where the transformer has what the field says: nothing for each item itself.
const FIELDS: &[(&str, &str, Option<&str>)] = &[
    ("configMapGenerator", "ConfigMapGenerator", None),
    ("secretGenerator", "SecretGenerator", None),
    ("namespace", "NamespaceTransformer", Some("metadata")),
    ("namePrefix", "PrefixTransformer", Some("prefix")),
    ("nameSuffix", "SuffixTransformer", Some("suffix")),
    ("commonLabels", "LabelTransformer", Some("labels")),
    (
        "commonAnnotations",
        "AnnotationsTransformer",
        Some("annotations"),
    ),
    ("replicas", "ReplicaCountTransformer", Some("replica")),
    ("images", "ImageTagTransformer", Some("imageTag")),
];

/// Fields that change nothing, and the one that names the resources.
const OTHER_FIELDS: &[&str] = &["apiVersion", "kind", "metadata", "resources"];

const EXCEPTIONS: &[(&str, &str)] = &[(
    "api/krusty/transformersimage_test.go: TestTransfomersImageInvalidNameRegexp",
    "a name of images that is no regular expression matches none; here it is an error",
)];

#[test]
fn builds() {
    let Some(text) = shared("corpus/kustomize/krusty_cases.json") else {
        return;
    };
    let cases: Vec<Case> = serde_json::from_str(&text).unwrap();
    let outcomes = cases.iter().filter_map(|case| {
        let difference = match build(case)? {
            Ok(text) if sorted(&text) == sorted(&case.expected) => None,
            Ok(text) => Some(format!("expected\n{}\nfound\n{text}", case.expected)),
            Err(messages) => Some(format!("fails: {}", messages.join("\n"))),
        };
        Some((format!("{}: {}", case.file, case.test), difference))
    });
    let outcomes: Vec<_> = outcomes.collect();
    assert!(outcomes.len() > 30, "{} cases", outcomes.len());
    judge(outcomes, EXCEPTIONS);
}

/// What a build comes to; nothing if it needs more than is looked at here.
fn build(case: &Case) -> Option<Result<String, Vec<String>>> {
    let files = case.files.iter().map(|(how, path, text)| {
        let path = match how.as_str() {
            "WriteF" => join(".", path),
            _ => join(path, "kustomization.yaml"),
        };
        (path, text.clone().into_bytes())
    });
    let files = InMemory::new(files);
    let documents = Documents::default();
    let mut build = Build {
        files: &files,
        documents: &documents,
        diagnostics: Diagnostics::new(),
        changes: 0,
    };
    let resources = build.accumulate(&join(".", &case.run))?;
    let resources = build.run(&["kind: HashTransformer\n".to_owned()], ".", resources);
    if build.changes == 0 {
        return None;
    }
    if build.diagnostics.has_errors() {
        let messages = build.diagnostics.iter().map(|one| one.message.clone());
        return Some(Err(messages.collect()));
    }
    let texts = resources
        .iter()
        .map(|resource| resource.text(Position::Document).unwrap());
    Some(Ok(texts.collect::<Vec<_>>().join("---\n")))
}

struct Build<'d> {
    files: &'d InMemory,
    documents: &'d Documents,
    diagnostics: Diagnostics,
    /// How many transformers there are.
    changes: usize,
}

impl<'d> Build<'d> {
    /// The resources of a directory, as its Kustomization makes them.
    fn accumulate(&mut self, directory: &str) -> Option<Vec<Resource<'d>>> {
        let document = self.document(&join(directory, "kustomization.yaml"))?;
        let root = document.roots().next()?;
        let kustomization = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new())?;
        let is_known = |key: &str| {
            OTHER_FIELDS.contains(&key) || FIELDS.iter().any(|(field, ..)| *field == key)
        };
        if !kustomization
            .entries()?
            .iter()
            .all(|(key, _)| is_known(key))
        {
            return None;
        }
        let mut resources = Vec::new();
        let paths = kustomization.get("resources").and_then(Value::items);
        for path in paths.unwrap_or_default() {
            let path = join(directory, path.as_str()?);
            match self.files.entry(&path)? {
                Entry::Directory => resources.extend(self.accumulate(&path)?),
                Entry::File => {
                    for root in self.document(&path)?.roots() {
                        let object = Resource::read(root, self.documents, &mut Diagnostics::new())?;
                        if object.value.str_at(&["kind"])?.ends_with("List") {
                            return None;
                        }
                        resources.push(object);
                    }
                }
            }
        }
        let configs = FIELDS
            .iter()
            .flat_map(|field| configs(&kustomization, *field));
        let configs: Vec<String> = configs.collect();
        self.changes += configs.len();
        Some(self.run(&configs, directory, resources))
    }

    fn document(&self, path: &str) -> Option<&'d Document> {
        let text = String::from_utf8(self.files.read(path).ok()?).ok()?;
        let document = Document::parse(&Source::new(path, text)).ok()?;
        Some(self.documents.keep(document))
    }

    fn run(
        &mut self,
        configs: &[String],
        directory: &str,
        resources: Vec<Resource<'d>>,
    ) -> Vec<Resource<'d>> {
        let transformers = configs.iter().map(|config| {
            let mut transformer = transformer(config);
            directory.clone_into(&mut transformer.directory);
            transformer
        });
        chain::run(
            &transformers.collect::<Vec<_>>(),
            resources,
            self.files,
            &NoFunctions,
            self.documents,
            &mut self.diagnostics,
        )
        .0
    }
}

fn configs(
    kustomization: &Value<'_>,
    (field, kind, inside): (&str, &str, Option<&str>),
) -> Vec<String> {
    let Some(value) = kustomization.get(field) else {
        return Vec::new();
    };
    // What is no list is one transformer.
    let items = value.items().unwrap_or(std::slice::from_ref(value));
    let config = |item: &Value<'_>| {
        let json = item.to_json();
        match inside {
            None => {
                let rest = json.trim().trim_start_matches('{');
                format!("{{\"kind\": \"{kind}\", {rest}")
            }
            Some("metadata") => {
                format!("{{\"kind\": \"{kind}\", \"metadata\": {{\"namespace\": {json}}}}}")
            }
            Some(key) => format!("{{\"kind\": \"{kind}\", \"{key}\": {json}}}"),
        }
    };
    items.iter().map(config).collect()
}

/// The documents in an order that depends on them only: kustomize sorts them by kind.
fn sorted(text: &str) -> Vec<String> {
    let mut objects = values(text);
    objects.iter_mut().for_each(without_notes);
    let mut objects: Vec<String> = objects
        .iter()
        .map(|object| {
            let mut json: serde_json::Value = serde_json::from_str(&object.to_json()).unwrap();
            json.sort_all_objects();
            json.to_string()
        })
        .collect();
    objects.sort();
    objects
}
