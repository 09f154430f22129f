//! The KRM function: a ResourceList in, a ResourceList out.
//!
//! Contract: the KRM functions specification. The input items pass through byte for byte; the
//! objects of the Template that is the functionConfig are put in their own place if they are among
//! the items already, else behind them. On an error the items come back as they were, with
//! `results` that say what is wrong.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::krm::annotations::{IDS, INDEX, LEGACY_INDEX, LEGACY_PATH, LOCAL_CONFIG, PATH};
use crate::krm::identity::{self, Identity};
use crate::krm::resource_list::{Changes, ResourceList};
use crate::report;
use crate::source::Source;
use crate::template::{self, Generation, Object, Options, Template};
use crate::yaml::{self, Cursor, Data, Document, DuplicateKeys, Edit, Edited, Value};

/// The annotation that names the Secret among the items that generated values are derived from.
const SEED_SECRET: &str = "template.krm.dev/seed-secret";

/// What a function may know besides its input.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// The secret that generated values are derived from.
    pub seed: Option<Vec<u8>>,
}

/// What a function has to say.
#[derive(Debug)]
pub struct Output {
    /// The ResourceList; none if the input was none.
    pub list: Option<Edited>,
    /// Errors, warnings and information; with an error, the function has failed.
    pub diagnostics: Diagnostics,
}

/// Runs the function on the text of a ResourceList.
#[must_use]
pub fn run(source: &Arc<Source>, environment: &Environment) -> Output {
    Document::read_with(source, |document| match ResourceList::read(document) {
        Ok(list) => run_on(&list, environment),
        Err(diagnostic) => diagnostic.into(),
    })
    .unwrap_or_else(Output::from)
}

impl Output {
    /// The text of the ResourceList; empty if the input was none.
    #[must_use]
    pub fn text(&self) -> String {
        self.list
            .as_ref()
            .map(Edited::to_string)
            .unwrap_or_default()
    }
}

impl From<Box<Diagnostic>> for Output {
    /// Of an input that is no ResourceList.
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Self {
            list: None,
            diagnostics: diagnostic.into(),
        }
    }
}

fn run_on(list: &ResourceList<'_>, environment: &Environment) -> Output {
    let mut diagnostics = Diagnostics::new();
    let changes = changes(list, environment, &mut diagnostics);
    let mut edited = None;
    if !diagnostics.has_errors() {
        let results = results(&diagnostics);
        edited = diagnostics.take(list.with_changes(Changes { results, ..changes }));
    }
    if diagnostics.has_errors() {
        let results = results(&diagnostics);
        edited = diagnostics.take(list.with_changes(Changes {
            results,
            ..Changes::default()
        }));
    }
    Output {
        list: edited,
        diagnostics,
    }
}

fn results(diagnostics: &Diagnostics) -> Value<'static> {
    Value::from(report::results(diagnostics))
}

/// Decides what happens to the items.
fn changes(
    list: &ResourceList<'_>,
    environment: &Environment,
    diagnostics: &mut Diagnostics,
) -> Changes {
    let Some(config) = list.function_config() else {
        return Changes::default();
    };
    let kind = config.text_at(["kind"]).unwrap_or_default();
    match kind.as_ref() {
        "Template" => expand(list, config, environment, diagnostics),
        // What kpt sends where no functionConfig was given.
        "ConfigMap"
            if config
                .get("data")
                .is_none_or(|data| data.children().next().is_none()) =>
        {
            Changes::default()
        }
        _ => {
            let place = config
                .get("kind")
                .map_or_else(|| config.place(), Cursor::place);
            let what = if kind.is_empty() {
                "has no `kind`".to_owned()
            } else {
                format!("of `kind: {kind}` is not understood")
            };
            let mut diagnostic = Diagnostic::error(format!("the functionConfig {what}"))
                .at(place)
                .field("kind")
                .hint("accepted is `kind: Template` of apiVersion `template.krm.dev/v1alpha1`, `template.openshift.io/v1` or `v1`");
            diagnostic.object = Some(identity::reference(config));
            diagnostics.push(diagnostic);
            Changes::default()
        }
    }
}

fn expand<'d>(
    list: &ResourceList<'d>,
    config: Cursor<'d>,
    environment: &Environment,
    diagnostics: &mut Diagnostics,
) -> Changes {
    let Some(template) = Template::read(config, diagnostics) else {
        return Changes::default();
    };
    let items = Items::read(list, config);
    let standing = |identity: &Identity| items.by_identity.get(identity).copied();
    let seed = seed(&template, list, environment, diagnostics);
    let options = Options {
        labels: Vec::new(),
        ignore_unknown_parameters: false,
        strict: false,
        require_name: true,
        generation: Generation::Reproducible {
            seed,
            instance: template.name().to_owned(),
            standing: &standing,
        },
    };
    let mut placing = Placing::new(list, &items, template.name());
    let mut changes = Changes::default();
    let message = template::process(
        &template,
        &[],
        &options,
        diagnostics,
        &mut |object, diagnostics| {
            placing.object(object, &mut changes, diagnostics);
        },
    );
    if let Some(message) = message {
        let mut diagnostic = Diagnostic::info(message.trim_end());
        diagnostic.object = Some(identity::reference(config));
        diagnostics.push(diagnostic);
    }
    changes
}

/// The secret that generated values are derived from: of the environment, or of a Secret item.
fn seed(
    template: &Template<'_>,
    list: &ResourceList<'_>,
    environment: &Environment,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<u8>> {
    use base64::Engine as _;
    let Some(name) = template.annotation(SEED_SECRET) else {
        return environment.seed.clone();
    };
    let secret = list.items().map(Cursor::open).find(|item| {
        let item = item.cursor();
        item.text_at(["kind"]).as_deref() == Some("Secret")
            && item.text_at(["metadata", "name"]).as_deref() == Some(name.as_ref())
    });
    let field = |keys: [&str; 2]| {
        let secret = secret.as_ref()?.cursor();
        secret.text_at(keys).map(Cow::into_owned)
    };
    let plain = field(["stringData", "seed"]).map(String::into_bytes);
    let encoded = field(["data", "seed"]);
    let decoded = encoded.and_then(|seed| {
        base64::engine::general_purpose::STANDARD
            .decode(seed.trim())
            .ok()
    });
    let found = plain.or(decoded).filter(|seed| !seed.is_empty());
    if found.is_none() {
        let problem = match secret {
            None => format!("no Secret `{name}` is among the items"),
            Some(_) => format!(
                "the Secret `{name}` holds no `seed`, as text in `stringData` or base64 in `data`"
            ),
        };
        let place = template.annotation_place(SEED_SECRET);
        let mut diagnostic =
            Diagnostic::error(problem).field(format!("metadata.annotations[{SEED_SECRET}]"));
        diagnostic.place = place;
        diagnostic.object = Some(template.reference().clone());
        diagnostics.push(diagnostic);
    }
    found
}

/// The input items, as far as new objects have to do with them.
struct Items<'d> {
    /// Objects a Template may have made before.
    by_identity: BTreeMap<Identity, Cursor<'d>>,
    /// The highest index in each file.
    last_index: BTreeMap<String, usize>,
    /// Where the functionConfig is kept.
    config_path: Option<String>,
}

impl<'d> Items<'d> {
    fn read(list: &ResourceList<'d>, config: Cursor<'d>) -> Self {
        let mut items = Self {
            by_identity: BTreeMap::new(),
            last_index: BTreeMap::new(),
            config_path: None,
        };
        let config_identity = Identity::of_node(config);
        for deferred in list.items() {
            let opened = deferred.open();
            let item = opened.cursor();
            let reference = identity::reference(item);
            if let Some(path) = &reference.path {
                let highest = items.last_index.entry(path.clone()).or_insert(0);
                *highest = (*highest).max(reference.index);
            }
            let Some(identity) = Identity::of_node(item) else {
                continue;
            };
            if Some(&identity) == config_identity.as_ref() {
                // kpt names the whole path on the copy among the items only.
                items.config_path = items.config_path.or(reference.path);
                continue;
            }
            let local = item.text_at(["metadata", "annotations", LOCAL_CONFIG]);
            if local.is_none_or(|local| local == "false") {
                items.by_identity.entry(identity).or_insert(deferred);
            }
        }
        items.config_path = items
            .config_path
            .or_else(|| identity::reference(config).path);
        items
    }
}

/// Puts objects where they belong: over the item that they are, or into a file of their own.
struct Placing<'p, 'd> {
    list: &'p ResourceList<'d>,
    items: &'p Items<'d>,
    path: String,
    next_index: usize,
    made: BTreeMap<Identity, String>,
}

impl<'p, 'd> Placing<'p, 'd> {
    fn new(list: &'p ResourceList<'d>, items: &'p Items<'d>, name: &str) -> Self {
        let path = new_path(items.config_path.as_deref(), name);
        let next_index = items.last_index.get(&path).map_or(0, |last| last + 1);
        Self {
            list,
            items,
            path,
            next_index,
            made: BTreeMap::new(),
        }
    }

    fn object(&mut self, object: Object<'_>, changes: &mut Changes, diagnostics: &mut Diagnostics) {
        let Some(identity) = Identity::of(&object.value) else {
            return;
        };
        if let Some(first) = self.made.insert(identity.clone(), object.field.clone()) {
            let mut diagnostic = Diagnostic::error(format!(
                "`{first}` and `{}` are both `{identity}`",
                object.field
            ))
            .field(object.field.clone());
            if let Some(origin) = object.value.origin {
                diagnostic = diagnostic.at(object.document.cursor(origin).key_place());
            }
            diagnostics.push(diagnostic.hint("give one of them another name"));
            return;
        }
        if diagnostics.has_errors() {
            return;
        }
        match self.items.by_identity.get(&identity) {
            Some(old) => {
                let edits = diagnostics.take(update(old.open().cursor(), object.value));
                changes.edits.extend(edits.unwrap_or_default());
            }
            None => changes.added.extend(diagnostics.take(self.add(object))),
        }
    }

    /// The text of a new item, with the file it is to be kept in.
    fn add(&mut self, mut object: Object<'_>) -> Result<String> {
        let index = self.next_index;
        self.next_index += 1;
        if let Some(metadata) = object.value.mapping_at("metadata")
            && let Some(annotations) = metadata.mapping_at("annotations")
        {
            annotations.remove(LEGACY_PATH);
            annotations.remove(LEGACY_INDEX);
            annotations.insert(Cow::Borrowed(PATH), Value::string(self.path.clone()));
            annotations.insert(Cow::Borrowed(INDEX), Value::string(index.to_string()));
        }
        self.list.item_text(object.document, &object.value)
    }
}

/// Edits that make an item what its Template makes of it now. Labels and annotations which that
/// does not set stay: the orchestrator's, and those that others have put there.
fn update(old: Cursor<'_>, mut value: Value<'_>) -> Result<Vec<Edit>> {
    let mut ignored = Diagnostics::new();
    let Some(old_value) = old.value(DuplicateKeys::LastWins, &mut ignored) else {
        return yaml::update(old, value);
    };
    let old_value = old_value.into_owned();
    // Where the item is kept is not for the Template to say.
    if let Some(annotations) = value
        .get_mut("metadata")
        .and_then(|metadata| metadata.get_mut("annotations"))
    {
        for key in [PATH, INDEX, LEGACY_PATH, LEGACY_INDEX] {
            annotations.remove(key);
        }
    }
    for key in ["labels", "annotations"] {
        let kept = old_value
            .at(&["metadata", key])
            .and_then(Value::entries)
            .unwrap_or_default();
        if kept.is_empty() {
            continue;
        }
        let Some(own) = value
            .mapping_at("metadata")
            .and_then(|metadata| metadata.mapping_at(key))
        else {
            continue;
        };
        for (name, old) in kept {
            if own.get(name).is_none() {
                own.insert(name.clone(), old.clone());
            }
        }
    }
    if value == old_value {
        return Ok(Vec::new());
    }
    if let Some(annotations) = value
        .get_mut("metadata")
        .and_then(|metadata| metadata.get_mut("annotations"))
    {
        for id in IDS {
            annotations.remove(id);
        }
    }
    remove_empty(&mut value, "annotations");
    yaml::update(old, value)
}

/// Takes an empty mapping out of the metadata.
fn remove_empty(value: &mut Value<'_>, key: &str) {
    if let Some(metadata) = value.get_mut("metadata")
        && matches!(metadata.get(key).map(|value| &value.data), Some(Data::Mapping(entries)) if entries.is_empty())
    {
        metadata.remove(key);
    }
}

/// The file for new objects: beside the functionConfig's, named like the Template, and never the
/// functionConfig's own.
fn new_path(config_path: Option<&str>, name: &str) -> String {
    let directory = config_path
        .and_then(|path| path.rsplit_once('/'))
        .map(|(directory, _)| directory);
    let name: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') {
                c
            } else {
                '-'
            }
        })
        .collect();
    let name = name.trim_start_matches('.');
    let name = if name.is_empty() { "template" } else { name };
    let in_directory = |file: String| match directory {
        Some(directory) => format!("{directory}/{file}"),
        None => file,
    };
    let path = in_directory(format!("{name}.yaml"));
    if config_path == Some(path.as_str()) {
        in_directory(format!("{name}-generated.yaml"))
    } else {
        path
    }
}

#[cfg(test)]
mod tests {
    use super::new_path;

    #[test]
    fn new_objects_go_beside_the_function_config() {
        assert_eq!(new_path(None, "web"), "web.yaml");
        assert_eq!(new_path(Some("template.yaml"), "web"), "web.yaml");
        assert_eq!(
            new_path(Some("db/prod/template.yaml"), "web"),
            "db/prod/web.yaml"
        );
        assert_eq!(
            new_path(Some("db/web.yaml"), "web"),
            "db/web-generated.yaml"
        );
        assert_eq!(new_path(None, "system:a/../b"), "system-a-..-b.yaml");
        assert_eq!(new_path(None, "../x"), "-x.yaml");
    }
}
