//! The `DeploymentConfiguration` as it is written: a configuration, its imports and variables.

use std::sync::Arc;

use crate::model::{Env, Import, Options};
use crate::yaml::kind_of;
use krm_core::identity;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::{Place, Source};
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Data, DuplicateKeys, Scalar, Value, Words};

const KIND: &str = "DeploymentConfiguration";

const FIELDS: &[&str] = &[
    "config",
    "configFrom",
    "imports",
    "env",
    "validateSchema",
    "strictSchemas",
    "outputs",
    "skipOthers",
];

/// The contents of a `DeploymentConfiguration`.
#[derive(Debug)]
pub struct Configuration {
    /// The object's `metadata.name`, which is the name of the deployment.
    pub name: String,
    /// The field `config` or `configFrom`.
    pub config: Text,
    /// The sources of the imports, in the order of `imports`.
    pub imports: Vec<ImportSource>,
    /// The variables; `deployment` is the name unless it is set.
    pub env: Env,
    /// The options `validateSchema`, `strictSchemas` and `outputs`.
    pub options: Options,
    /// Whether resources that are not objects are left out.
    pub skip_others: bool,
}

/// A text, or a reference to it.
#[derive(Debug)]
pub enum Text {
    /// The text of `config`; a mapping is written as YAML.
    Given(Arc<Source>),
    /// A key of a ConfigMap.
    Key(Keys),
}

/// A reference to one or all keys of a ConfigMap.
#[derive(Clone, Debug)]
pub struct Keys {
    /// The `metadata.name` of the ConfigMap.
    pub config_map: String,
    /// The key; all of them without one.
    pub key: Option<String>,
    /// The position of the reference, for messages.
    pub place: Place,
    /// The path of the reference, such as `spec.configFrom`.
    pub field: String,
}

/// An import, or a reference to it.
#[derive(Debug)]
pub enum ImportSource {
    /// An import with its text in `content`.
    Given(Import),
    /// Keys of a ConfigMap: each is an import, or one that has another name.
    Keys(Keys, Option<String>),
    /// A file or a directory.
    Path(Place, String),
}

/// Reads a `DeploymentConfiguration`. All errors go to `diagnostics`.
pub fn read(config: Cursor<'_>, diagnostics: &mut Diagnostics) -> Option<Configuration> {
    let mut found = Diagnostics::new();
    let read = Reader { config, diagnostics: &mut found }.read();
    found.attribute_to(&identity::reference(config));
    let has_errors = found.has_errors();
    diagnostics.append(found);
    read.filter(|_| !has_errors)
}

struct Reader<'r, 'd> {
    config: Cursor<'d>,
    diagnostics: &'r mut Diagnostics,
}

impl<'d> Reader<'_, 'd> {
    fn error(&mut self, error: Diagnostic, at: Place, field: &str) {
        self.diagnostics.push(error.at(at).field(field));
    }

    fn read(mut self) -> Option<Configuration> {
        let name = self.config.text_at(["metadata", "name"]);
        let name = name.unwrap_or_default().into_owned();
        let Some(spec) = self.config.get("spec").filter(|spec| spec.is_mapping()) else {
            let error = Diagnostic::error(format!("the {KIND} has no `spec`"));
            let error = error.hint("write the configuration under `spec.config`");
            self.error(error, self.config.place(), "spec");
            return None;
        };
        self.check_fields(spec);
        let config = self.text(spec, &name);
        let imports = self.imports(spec);
        let mut env = self.env(spec);
        env.entry("deployment".to_owned()).or_insert_with(|| Value::string(name.clone()));
        let defaults = Options::default();
        let options = Options {
            validate_schema: self.flag(spec, "validateSchema", defaults.validate_schema),
            strict_schemas: self.flag(spec, "strictSchemas", defaults.strict_schemas),
            outputs: self.flag(spec, "outputs", defaults.outputs),
        };
        let skip_others = self.flag(spec, "skipOthers", false);
        Some(Configuration { name, config: config?, imports, env, options, skip_others })
    }

    fn check_fields(&mut self, spec: Cursor<'_>) {
        for entry in spec.children() {
            let Ok(key) = entry.key() else { continue };
            if FIELDS.contains(&key.as_ref()) {
                continue;
            }
            let near = closest(&key, FIELDS.iter().copied());
            let error = Diagnostic::error(format!("unknown field `{key}` in `spec`"))
                .maybe_hint(near.map(|near| format!("did you mean `{near}`?")));
            self.error(error, entry.key_place(), &format!("spec.{key}"));
        }
    }

    fn value(&mut self, node: Cursor<'d>) -> Option<Value<'static>> {
        let value = node.value_with(DuplicateKeys::LastWins, Words::PyYaml, self.diagnostics);
        value.map(Value::into_owned)
    }

    fn flag(&mut self, spec: Cursor<'d>, field: &str, default: bool) -> bool {
        let Some(node) = spec.get(field).filter(|node| !node.is_null()) else {
            return default;
        };
        if let Ok(Some(Scalar::Bool(flag))) = node.scalar() {
            return flag;
        }
        let error = Diagnostic::error(format!("`{field}` is `true` or `false`"));
        self.error(error, node.place(), &format!("spec.{field}"));
        default
    }

    /// Reads `config` or `configFrom`, one of which must be there.
    fn text(&mut self, spec: Cursor<'d>, name: &str) -> Option<Text> {
        if let Some(from) = spec.get("configFrom") {
            let mut keys = self.keys(from, "spec.configFrom")?;
            if keys.key.is_none() {
                let error = Diagnostic::error("`configFrom` has no `key`");
                let error = error.hint("write `configFrom: {configMap: NAME, key: KEY}`");
                self.error(error, from.place(), "spec.configFrom");
            }
            keys.key.get_or_insert_default();
            return Some(Text::Key(keys));
        }
        let Some(node) = spec.get("config") else {
            let error = Diagnostic::error("`spec` has neither `config` nor `configFrom`");
            let error = error.hint("write the configuration under `spec.config`");
            self.error(error, spec.place(), "spec");
            return None;
        };
        let value = self.value(node)?;
        let text = match &value.data {
            Data::Scalar(Scalar::String(text)) => text.to_string(),
            _ => krm_yaml::to_string(&value.without_origin()),
        };
        let source = Source::new(format!("spec.config of {KIND} `{name}`"), text);
        Some(Text::Given(source))
    }

    fn keys(&mut self, node: Cursor<'_>, field: &str) -> Option<Keys> {
        let Some(config_map) = node.text_at(["configMap"]) else {
            let error = Diagnostic::error("the name of a ConfigMap is missing");
            let error = error.hint("write `configMap: NAME`");
            self.error(error, node.place(), field);
            return None;
        };
        let key = node.text_at(["key"]);
        Some(Keys {
            config_map: config_map.into_owned(),
            key: key.map(std::borrow::Cow::into_owned),
            place: node.place(),
            field: field.to_owned(),
        })
    }

    fn env(&mut self, spec: Cursor<'d>) -> Env {
        let Some(node) = spec.get("env").filter(|node| !node.is_null()) else {
            return Env::new();
        };
        let Some(value) = self.value(node) else {
            return Env::new();
        };
        let Some(entries) = value.entries() else {
            let found = kind_of(&value);
            let error = Diagnostic::error(format!("`env` is a mapping, found {found}"));
            self.error(error, node.place(), "spec.env");
            return Env::new();
        };
        let entries = entries.iter();
        entries.map(|(key, value)| (key.to_string(), value.clone().without_origin())).collect()
    }

    fn imports(&mut self, spec: Cursor<'d>) -> Vec<ImportSource> {
        let Some(list) = spec.get("imports").filter(|list| !list.is_null()) else {
            return Vec::new();
        };
        if !list.is_sequence() {
            let error = Diagnostic::error("`imports` is a list");
            let error = error.hint("write `- {name: NAME, content: TEXT}`");
            self.error(error, list.place(), "spec.imports");
            return Vec::new();
        }
        let items = list.children().enumerate();
        let items: Vec<_> = items
            .filter_map(|(index, item)| self.import(item, &format!("spec.imports[{index}]")))
            .collect();
        items
    }

    fn import(&mut self, item: Cursor<'_>, field: &str) -> Option<ImportSource> {
        let text = |key| item.text_at([key]).map(std::borrow::Cow::into_owned);
        let name = text("name");
        if item.get("configMap").is_some() {
            let keys = self.keys(item, field)?;
            return Some(ImportSource::Keys(keys, name));
        }
        match (name, text("content"), text("path")) {
            (Some(name), Some(content), path) => {
                let path = path.unwrap_or_else(|| name.clone());
                Some(ImportSource::Given(Import {
                    content: Source::new(path.clone(), content),
                    name,
                    path,
                }))
            }
            (_, None, Some(path)) => Some(ImportSource::Path(item.place(), path)),
            _ => {
                let error = Diagnostic::error("an import has neither `content` nor `configMap`");
                let error =
                    error.hint("write `- {name: NAME, content: TEXT}` or `- {configMap: NAME}`");
                self.error(error, item.place(), field);
                None
            }
        }
    }
}
