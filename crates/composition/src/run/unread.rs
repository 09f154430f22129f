//! Finds the files that a list of steps names and that it cannot read.

use crate::engine::step::Step;
use crate::engine::transformer::Transformer;
use crate::read::locate::find;
use krm_core::files::{Entry, Files};
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Data, FieldPath, Scalar, Step as PathStep, Value};

/// Fields that hold paths; `*` is each item of a list.
type Paths = &'static [&'static [&'static str]];

/// The fields of transformers with paths of files.
const FIELDS: &[(&str, Paths)] = &[
    ("Component", &[&["path"]]),
    ("ConfigMapGenerator", SOURCES),
    ("Generators", LIST),
    ("PatchJson6902Transformer", &[&["path"]]),
    ("PatchStrategicMergeTransformer", LIST),
    ("PatchTransformer", &[&["path"]]),
    ("ReplacementTransformer", &[&["replacements", "*", "path"]]),
    ("ResourceAccumulator", LIST),
    ("SecretGenerator", SOURCES),
    ("Transformers", LIST),
    ("Validators", LIST),
];
const LIST: Paths = &[&["paths", "*"]];
const SOURCES: Paths = &[&["files", "*"], &["envs", "*"], &["env"]];

/// Reports the files that these steps name and that do not exist, or must not be read. After an
/// error the steps do not run, and do not report it themselves.
pub fn report_unread(steps: &[Step], files: &dyn Files, diagnostics: &mut Diagnostics) {
    for transformer in steps.iter().map(|step| &step.transformer) {
        let fields = FIELDS.iter().find(|(kind, _)| *kind == transformer.id.kind);
        let Some((_, fields)) = fields.filter(|_| transformer.id.is_builtin()) else {
            continue;
        };
        for way in *fields {
            let root = FieldPath::root();
            each_text(&transformer.config, way, &root, &mut |field, text| {
                check(field, text, transformer, files, diagnostics);
            });
        }
    }
}

/// Calls `found` for each text at a path.
fn each_text(
    value: &Value<'_>,
    way: &[&str],
    field: &FieldPath,
    found: &mut impl FnMut(&FieldPath, &str),
) {
    match (way, &value.data) {
        ([], Data::Scalar(Scalar::String(text))) => found(field, text),
        (["*", rest @ ..], Data::Sequence(items)) => {
            for (index, item) in items.iter().enumerate() {
                each_text(item, rest, &field.clone().index(index), found);
            }
        }
        ([key, rest @ ..], _) => {
            if let Some(below) = value.get(key) {
                each_text(below, rest, &field.clone().key(*key), found);
            }
        }
        _ => {}
    }
}

/// Reports a path that does not exist, or that leads out of its directory.
fn check(
    field: &FieldPath,
    text: &str,
    transformer: &Transformer,
    files: &dyn Files,
    diagnostics: &mut Diagnostics,
) {
    let is_inline = text.contains(['\n', '{']) || text.contains(": ");
    // A generator may name a key before the path.
    let is_keyed = matches!(field.steps().first(), Some(PathStep::Key(key)) if key == "files");
    let path = text.split_once('=').filter(|_| is_keyed);
    let path = path.map_or(text, |(_, path)| path);
    let path = transformer.resolve(field, path);
    if is_inline || text.is_empty() {
        return;
    }
    let found = match files.entry(&path) {
        None => find(files, &path).map(drop),
        Some(Entry::File) => files.check(&path, transformer.directory_of(field)),
        Some(Entry::Directory) => Ok(()),
    };
    if let Err(mut problem) = found {
        problem.place = transformer.place_of(field);
        problem.field = Some(transformer.written_as(field).to_string());
        diagnostics.push(*problem);
    }
}
