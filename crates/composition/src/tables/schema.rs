//! The `OpenAPI` schema that a Composition names under `openapi`: the merge keys of lists.
//!
//! Source: kustomize 5.8, `kyaml/openapi`. Only a schema with `definitions` counts, whose kinds are
//! named by `x-kubernetes-group-version-kind`.

use std::collections::BTreeMap;

use krm_core::identity::group;
use krm_yaml::Value;

/// The prefix of references to definitions.
const DEFINITIONS: &str = "#/definitions/";
/// How many references are followed from one to the next.
const MAX_REFERENCES: usize = 64;

/// A schema.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    /// Whether the tables count for kinds that it does not have.
    pub(crate) is_added: bool,
    definitions: BTreeMap<String, Value<'static>>,
    /// The names of the definitions by group, version and kind.
    kinds: BTreeMap<[String; 3], String>,
}

/// The schema of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'s> {
    schema: &'s Schema,
    value: &'s Value<'static>,
}

impl Schema {
    /// The schema in a document; none without `definitions`.
    pub(crate) fn of_document(document: &Value<'static>) -> Option<Self> {
        let definitions = document.get("definitions")?.entries()?.iter();
        let definitions: BTreeMap<_, _> =
            definitions.map(|(name, value)| (name.clone().into_owned(), value.clone())).collect();
        let kinds = definitions.iter().flat_map(|(name, value)| {
            let kinds = value.get("x-kubernetes-group-version-kind");
            let kinds = kinds.and_then(Value::items).unwrap_or_default();
            kinds.iter().map(move |kind| {
                let part = |key| kind.str_at(&[key]).unwrap_or_default().to_owned();
                (["group", "version", "kind"].map(part), name.clone())
            })
        });
        Some(Self { is_added: false, kinds: kinds.collect(), definitions })
    }

    /// The schema of the objects of an API version and kind.
    pub(crate) fn of(&self, api_version: &str, kind: &str) -> Option<Part<'_>> {
        let version = api_version.rsplit('/').next().unwrap_or_default();
        let id = [group(api_version), version, kind].map(str::to_owned);
        self.part(self.definitions.get(self.kinds.get(&id)?)?)
    }

    /// A part, after its references.
    fn part<'s>(&'s self, mut value: &'s Value<'static>) -> Option<Part<'s>> {
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = value.str_at(&["$ref"]) else {
                return Some(Part { schema: self, value });
            };
            value = self.definitions.get(reference.strip_prefix(DEFINITIONS)?)?;
        }
        None
    }
}

impl<'s> Part<'s> {
    /// The fields that identify items, if this is a list whose items are merged; none for scalars.
    pub(crate) fn keys(self) -> Option<Vec<&'s str>> {
        let strategy = self.value.str_at(&["x-kubernetes-patch-strategy"])?;
        if !strategy.split(',').any(|one| one == "merge") {
            return None;
        }
        let keys = self.value.get("x-kubernetes-list-map-keys");
        if let Some(keys) = keys.and_then(Value::items) {
            return Some(keys.iter().filter_map(Value::as_str).collect());
        }
        let key = self.value.str_at(&["x-kubernetes-patch-merge-key"]);
        Some(key.into_iter().collect())
    }

    /// The schema of a field, in the mapping or in each item of the list.
    pub(crate) fn field(self, name: &str) -> Option<Self> {
        let own = match self.value.get("items") {
            Some(items) => self.schema.part(items)?,
            None => self,
        };
        let field = own.value.get("properties").and_then(|all| all.get(name));
        let field = field.or_else(|| own.value.get("additionalProperties"))?;
        self.schema.part(field)
    }
}
