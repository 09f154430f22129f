//! The common part of `ConfigMapGenerator` and `SecretGenerator`: reads entries, and adds the
//! object to the resources.
//!
//! Source: kustomize 5.8, `api/kv`, `api/internal/generators`, `api/resmap` (`AbsorbAll`).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;

use crate::builtin::texts::{StringMap, Text};
use crate::engine::step::Context;
use crate::engine::transformer::Transformer;
use crate::resources::positions::Positions;
use crate::resources::resource::Resource;
use krm_core::Identity;
use krm_core::annotations;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::suggest::closest;
use krm_yaml::{Data, FieldPath, Value};

/// Fields that generators of ConfigMaps and Secrets have in common.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct GeneratorConfig {
    /// The name of the object; by default that of the generator.
    name: String,
    namespace: String,
    behavior: String,
    /// Entries in the form `KEY=TEXT`.
    literals: Vec<String>,
    /// Paths of files, or `KEY=PATH`; without a key, the name of the file.
    files: Vec<String>,
    /// Paths of files with lines `KEY=TEXT`.
    envs: Vec<String>,
    env: Option<String>,
    /// The type of a Secret.
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    options: Options,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Options {
    labels: StringMap,
    annotations: StringMap,
    disable_name_suffix_hash: bool,
    immutable: bool,
}

/// The annotation with the behavior of an object that a function generates.
const BEHAVIOR: &str = "kustomize.config.k8s.io/behavior";

/// The treatment of an object that exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behavior {
    Create,
    Replace,
    Merge,
}

impl Behavior {
    /// That of a generator. As in kustomize, an unknown one is `create`; here with a warning.
    fn of(config: &GeneratorConfig, context: &mut Context<'_>) -> Self {
        match config.behavior.as_str() {
            "" | "create" => Self::Create,
            "replace" => Self::Replace,
            "merge" => Self::Merge,
            unknown => {
                let hint = match closest(unknown, ["create", "replace", "merge"]) {
                    Some(known) => format!("did you mean `{known}`?"),
                    None => "it is one of `create`, `replace`, `merge`".to_owned(),
                };
                let problem = format!("unknown behavior `{unknown}` counts as `create`");
                let field = FieldPath::root().key("behavior");
                context.warn_of(&field, Diagnostic::warning(problem).hint(hint));
                Self::Create
            }
        }
    }
}

/// Values as bytes, by their keys.
type Pairs = BTreeMap<String, Vec<u8>>;

/// Reads all entries; none if one is wrong, which is reported.
pub(crate) fn pairs(config: &GeneratorConfig, context: &mut Context<'_>) -> Option<Pairs> {
    let mut reader = Reader { context, pairs: Pairs::new(), is_wrong: false };
    let root = FieldPath::root;
    for (index, path) in config.envs.iter().enumerate() {
        reader.env(&root().key("envs").index(index), path);
    }
    if let Some(path) = &config.env {
        reader.env(&root().key("env"), path);
    }
    for (index, literal) in config.literals.iter().enumerate() {
        reader.literal(&root().key("literals").index(index), literal);
    }
    for (index, source) in config.files.iter().enumerate() {
        reader.file(&root().key("files").index(index), source);
    }
    (!reader.is_wrong).then_some(reader.pairs)
}

/// Collects entries, and reports errors at their fields.
struct Reader<'r, 'c> {
    context: &'r mut Context<'c>,
    pairs: Pairs,
    is_wrong: bool,
}

impl Reader<'_, '_> {
    fn wrong(&mut self, diagnostic: Diagnostic) {
        self.is_wrong = true;
        self.context.diagnostics.push(diagnostic);
    }

    fn error(&self, field: &FieldPath, problem: impl std::fmt::Display) -> Diagnostic {
        self.context.transformer.error(field, problem)
    }

    fn add(&mut self, field: &FieldPath, key: &str, bytes: Vec<u8>) {
        if let Err(problem) = check_key(key) {
            self.wrong(self.error(field, problem));
        } else if self.pairs.insert(key.to_owned(), bytes).is_some() {
            self.wrong(self.error(field, format!("duplicate key `{key}`")));
        }
    }

    fn read(&mut self, field: &FieldPath, path: &str) -> Option<Vec<u8>> {
        match self.context.read(field, path) {
            Ok(bytes) => Some(bytes),
            Err(problem) => {
                let mut diagnostic = self.error(field, problem.message);
                diagnostic.hints = problem.hints;
                self.wrong(diagnostic);
                None
            }
        }
    }

    fn literal(&mut self, field: &FieldPath, literal: &str) {
        match literal.split_once('=') {
            Some((key, text)) if !key.is_empty() => {
                self.add(field, key, without_quotes(text).into());
            }
            _ => self
                .wrong(self.error(field, "a literal without a key").hint("write it as `KEY=TEXT`")),
        }
    }

    fn file(&mut self, field: &FieldPath, source: &str) {
        let (key, path) = match source.split_once('=') {
            None => (source.rsplit('/').next().unwrap_or(source), source),
            Some((key, path)) => (key, path),
        };
        if key.is_empty() || path.is_empty() || path.contains('=') {
            self.wrong(
                self.error(field, format!("`{source}` does not name a file"))
                    .hint("write it as `PATH`, or as `KEY=PATH`; neither may contain `=`"),
            );
        } else if let Some(bytes) = self.read(field, path) {
            self.add(field, key, bytes);
        }
    }

    fn env(&mut self, field: &FieldPath, path: &str) {
        let Some(bytes) = self.read(field, path) else {
            return;
        };
        let text = match krm_yaml::decode(path, bytes) {
            Ok(text) => text,
            Err(problem) => {
                self.wrong(self.error(field, problem.message));
                return;
            }
        };
        let text = text.text();
        for line in text.strip_prefix('\u{feff}').unwrap_or(text).lines() {
            let line = line.trim_start();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            // A key alone has no value; the environment does not provide one.
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            self.add(field, key, value.into());
        }
    }
}

/// Removes one pair of quotes.
fn without_quotes(text: &str) -> &str {
    let inner = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

/// Checks a key as Kubernetes does for `ConfigMap`s and Secrets.
fn check_key(key: &str) -> Result<(), String> {
    const MAX_LENGTH: usize = 253;
    let is_good = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if key.is_empty() || !key.chars().all(is_good) {
        // In a line without `=`, it has the value, too.
        let shown = key.split([':', ' ']).next().unwrap_or_default();
        return Err(format!("the key `{shown}…` may only have letters, digits, `-`, `_` and `.`"));
    }
    if key == "." || key.starts_with("..") {
        return Err(format!("a key must not be `.` or begin with `..` as `{key}`"));
    }
    if key.len() > MAX_LENGTH {
        return Err(format!("the key `{key}` is longer than {MAX_LENGTH} characters"));
    }
    Ok(())
}

/// Bytes as base64, as kustomize writes them.
pub(crate) fn base64(bytes: &[u8]) -> String {
    in_lines(&BASE64.encode(bytes))
}

/// Wraps long base64 in lines of 70 characters.
fn in_lines(base64: &str) -> String {
    const LENGTH: usize = 70;
    if base64.len() < LENGTH {
        return base64.to_owned();
    }
    let mut text = String::new();
    for (index, c) in base64.chars().enumerate() {
        if index > 0 && index % LENGTH == 0 {
            text.push('\n');
        }
        text.push(c);
    }
    text.push('\n');
    text
}

/// The object that a generator adds.
pub(crate) struct GeneratedObject<'d> {
    pub(crate) kind: &'static str,
    /// The fields besides `apiVersion`, `kind` and `metadata`.
    pub(crate) fields: Vec<(&'static str, Value<'d>)>,
    /// The fields that may hold entries.
    pub(crate) parts: &'static [&'static str],
}

/// Adds the object to the resources, or changes the existing one.
pub(crate) fn absorb<'d>(
    resources: &mut Vec<Resource<'d>>,
    mut made: GeneratedObject<'d>,
    config: &GeneratorConfig,
    context: &mut Context<'_>,
) {
    if config.options.immutable {
        made.fields.insert(0, ("immutable", Value::from(true)));
    }
    if let Some(error) = nameless(made.kind, config, context) {
        context.diagnostics.push(error);
        return;
    }
    let own = |key| context.transformer.config.str_at(&["metadata", key]);
    let given = |text: &str, key| match text {
        "" => own(key).unwrap_or_default().to_owned(),
        text => text.to_owned(),
    };
    let identity = Identity {
        group: String::new(),
        kind: made.kind.to_owned(),
        namespace: given(&config.namespace, "namespace"),
        name: given(&config.name, "name"),
    };
    let behavior = Behavior::of(config, context);
    let positions = context.state.positions.of(&identity, resources);
    let (first, second) = (positions.first().copied(), positions.get(1).copied());
    let problem = match (first, second, behavior) {
        (None, _, Behavior::Create) => {
            let new = create(identity, made, config);
            resources.push(new);
            return;
        }
        (Some(at), None, Behavior::Merge | Behavior::Replace) => {
            if let Some(old) = resources.get_mut(at) {
                change(old, made, config, behavior);
            }
            return;
        }
        (None, _, Behavior::Merge | Behavior::Replace) => {
            let problem = format!("{identity} does not exist, so it cannot be changed");
            let field = FieldPath::root().key("behavior");
            context
                .transformer
                .error(&field, problem)
                .hint("move it after the step that creates the object, or use `behavior: create`")
        }
        (Some(_), None, Behavior::Create) => {
            let problem = format!("{identity} already exists");
            let field = FieldPath::root().key("behavior");
            context
                .transformer
                .error(&field, problem)
                .hint("to change it, use `behavior: merge` or `behavior: replace`")
        }
        (Some(_), Some(_), _) => {
            let problem = format!("more than one object is or was {identity}");
            context.transformer.error(&FieldPath::root(), problem)
        }
    };
    let same = [first, second].into_iter().flatten();
    let same = same.filter_map(|at| resources.get(at));
    let problem = same.fold(problem, with_place);
    context.diagnostics.push(problem);
}

/// The error for a generator that gives its object no name.
fn nameless(kind: &str, config: &GeneratorConfig, context: &Context<'_>) -> Option<Diagnostic> {
    (context.transformer.is_field() && config.name.is_empty()).then(|| {
        let problem = format!("the {kind} has no `name`");
        let error = context.transformer.error(&FieldPath::root(), problem);
        error.hint("add `name: NAME`")
    })
}

fn with_place(diagnostic: Diagnostic, resource: &Resource<'_>) -> Diagnostic {
    match resource.place() {
        Some(place) => diagnostic.related(place, "this object"),
        None => diagnostic,
    }
}

fn create<'d>(
    identity: Identity,
    made: GeneratedObject<'d>,
    config: &GeneratorConfig,
) -> Resource<'d> {
    let mut metadata = Value::mapping(vec![("name".into(), Value::from(identity.name))]);
    if !identity.namespace.is_empty() {
        metadata.insert("namespace".into(), Value::from(identity.namespace));
    }
    set_metadata(&mut metadata, &config.options);
    let mut object = vec![
        ("apiVersion".into(), Value::from("v1")),
        ("kind".into(), Value::from(made.kind)),
        ("metadata".into(), metadata),
    ];
    object.extend(made.fields.into_iter().map(|(key, value)| (key.into(), value)));
    let mut resource = Resource::new(Value::mapping(object));
    resource.needs_hash = !config.options.disable_name_suffix_hash;
    resource
}

fn set_metadata(metadata: &mut Value<'_>, options: &Options) {
    for (key, texts) in [("labels", &options.labels), ("annotations", &options.annotations)] {
        if texts.is_empty() {
            continue;
        }
        if let Some(mapping) = metadata.mapping_at(key) {
            for (key, Text(text)) in texts {
                mapping.insert(key.clone().into(), Value::from(text.clone()));
            }
        }
    }
}

/// Changes the existing object. Kustomize replaces it and so loses fields that generators do not
/// know, such as `stringData` and finalizers; here these stay.
fn change<'d>(
    old: &mut Resource<'d>,
    made: GeneratedObject<'d>,
    config: &GeneratorConfig,
    behavior: Behavior,
) {
    old.needs_hash &= !config.options.disable_name_suffix_hash;
    if let Some(trace) = old.trace.as_mut().filter(|_| behavior == Behavior::Replace) {
        trace.origin.clear();
    }
    let object = old.value_mut();
    if let Some(metadata) = object.mapping_at("metadata") {
        set_metadata(metadata, &config.options);
    }
    if !config.options.immutable {
        object.remove("immutable");
    }
    if behavior == Behavior::Replace {
        let is_new = |key| made.fields.iter().any(|(name, _)| *name == key);
        for key in made.parts.iter().copied().filter(|key| !is_new(*key)) {
            object.remove(key);
        }
    }
    for (key, mut new) in made.fields {
        match (object.get_mut(key), &mut new.data) {
            (Some(there), Data::Mapping(entries)) if behavior == Behavior::Merge => {
                if there.is_null() {
                    there.data = Data::Mapping(Vec::new());
                }
                for (key, value) in std::mem::take(entries) {
                    there.insert(key, value);
                }
                // The hash is another one without `data`.
                if there.entries().is_some_and(<[_]>::is_empty) {
                    object.remove(key);
                }
            }
            (Some(there), _) => {
                // Entries that do not change keep their layout.
                new.adopt(there, &krm_core::item_keys::ITEM_KEYS);
                *there = new;
            }
            (None, _) => object.insert(key.into(), new),
        }
    }
}

/// Changes the resources that objects of a generator merge with or replace, as an annotation of
/// these says. Returns the other objects, which are to be added. Fields that an object does not have
/// stay if it is merged.
///
/// Source: `AbsorbAll` in `api/resmap/reswrangler.go` of kustomize 5.8.
pub(crate) fn absorb_made<'d>(
    resources: &mut [Resource<'d>],
    new: Vec<Resource<'d>>,
    transformer: &Transformer,
    diagnostics: &mut Diagnostics,
) -> Vec<Resource<'d>> {
    let mut positions = Positions::default();
    let mut others = Vec::new();
    for mut one in new {
        let annotation = one.value().at(&["metadata", "annotations", BEHAVIOR]);
        let asked = annotation.and_then(Value::as_str).map(str::to_owned);
        if annotation.is_some() {
            annotations::remove(one.value_mut(), &[BEHAVIOR]);
        }
        let behavior = match asked.as_deref() {
            Some("merge") => Behavior::Merge,
            Some("replace") => Behavior::Replace,
            _ => {
                others.push(one);
                continue;
            }
        };
        let Some(meant) = one.identity() else {
            others.push(one);
            continue;
        };
        let position = positions.of(&meant, resources).first().copied();
        let Some(old) = position.and_then(|at| resources.get_mut(at)) else {
            let problem = format!("{meant} does not exist, so it cannot be changed");
            let wrong = transformer.error(&FieldPath::root(), problem);
            diagnostics.push(wrong.hint(format!(
                "name a file with the object under `resources`, or remove the annotation `{BEHAVIOR}`"
            )));
            continue;
        };
        old.needs_hash &= one.needs_hash;
        let new = one.value().clone().without_origin().into_owned();
        set_fields(old.value_mut(), new, behavior);
    }
    others
}

/// Sets the fields of an object to those of another one, except its identity.
fn set_fields(object: &mut Value<'_>, new: Value<'static>, behavior: Behavior) {
    const PARTS: [&str; 2] = ["data", "binaryData"];
    if behavior == Behavior::Replace {
        let names = object.entries().unwrap_or_default().iter();
        let gone = names.filter(|(key, _)| new.get(key).is_none());
        let gone: Vec<_> = gone.map(|(key, _)| key.clone().into_owned()).collect();
        for key in gone {
            object.remove(&key);
        }
    }
    let Data::Mapping(entries) = new.data else {
        return;
    };
    for (key, mut value) in entries {
        let part = PARTS.into_iter().find(|part| *part == key);
        match (&*key, part.filter(|_| behavior == Behavior::Merge)) {
            ("apiVersion" | "kind", _) => {}
            ("metadata", _) => {
                if let Some(metadata) = object.mapping_at("metadata") {
                    for key in ["labels", "annotations"] {
                        insert_all(metadata, key, value.remove(key));
                    }
                }
            }
            (_, Some(part)) => insert_all(object, part, Some(value)),
            (_, None) => {
                // Entries that do not change keep their layout.
                if let Some(there) = object.get(&key) {
                    value.adopt(there, &krm_core::item_keys::ITEM_KEYS);
                }
                object.insert(key, value);
            }
        }
    }
}

/// Inserts entries into the mapping under `key`, if there are any.
fn insert_all(value: &mut Value<'_>, key: &'static str, new: Option<Value<'static>>) {
    let Some(Data::Mapping(entries)) = new.map(|new| new.data) else {
        return;
    };
    if !entries.is_empty()
        && let Some(there) = value.mapping_at(key)
    {
        for (key, value) in entries {
            there.insert(key, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{check_key, in_lines, without_quotes};

    #[test]
    fn one_pair_of_quotes_is_removed() {
        for (text, expected) in [
            ("\"a\"", "a"),
            ("'a'", "a"),
            ("'a\"", "'a\""),
            ("\"\"a\"\"", "\"a\""),
            ("\"", "\""),
            ("", ""),
        ] {
            assert_eq!(without_quotes(text), expected, "{text}");
        }
    }

    #[test]
    fn long_base64_is_wrapped() {
        assert_eq!(in_lines("YQ=="), "YQ==");
        assert_eq!(in_lines(&"a".repeat(72)), format!("{}\naa\n", "a".repeat(70)));
    }

    #[test]
    fn keys_are_checked_as_in_kubernetes() {
        for key in ["a", ".env", "A-1_b.c"] {
            assert_eq!(check_key(key), Ok(()), "{key}");
        }
        for key in ["", ".", "..", "..a", "a b", "ä", &"a".repeat(254)] {
            assert!(check_key(key).is_err(), "{key}");
        }
    }
}
