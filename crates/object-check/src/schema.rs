//! The definitions of Kubernetes and OpenShift, read from the embedded text when first needed.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use miniz_oxide::inflate::decompress_to_vec;

use crate::rules::{Rules, rules_of};

/// The minor versions that are known, of Kubernetes 1.
pub(crate) const FIRST: u8 = 30;
/// The newest of them.
pub(crate) const LAST: u8 = 37;

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Text,
    Int32,
    Int64,
    Number,
    Bool,
    Quantity,
    IntOrString,
    Time,
    Bytes,
    Any,
    /// An object with these fields.
    Object(usize),
    /// The same, or a bool.
    ObjectOrBool(usize),
    /// The same, or a list of them.
    ObjectOrList(usize),
    /// The same, or a list of texts.
    ObjectOrTexts(usize),
    /// An index into the types: of the items.
    List(usize),
    /// An index into the types: of the values.
    Map(usize),
}

/// A field of a definition, in a range of versions.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) of: Type,
    since: u8,
    until: u8,
    /// The type of its value.
    pub(crate) rules: Rules,
    /// The type of each item of it, or of each value.
    pub(crate) item_rules: Rules,
}

impl Field {
    pub(crate) const fn is_in(&self, version: u8) -> bool {
        self.since <= version && version <= self.until
    }
}

/// The fields of one kind of object.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    /// In the order of their names.
    pub(crate) fields: Vec<Field>,
    /// Fields that must be there, or are checked as empty ones if they are not.
    pub(crate) needed: Vec<usize>,
}

impl Definition {
    pub(crate) fn field(&self, name: &str, version: u8) -> Option<&Field> {
        let start = self.fields.partition_point(|field| field.name < name);
        let same = self.fields.iter().skip(start);
        let mut same = same.take_while(|field| field.name == name);
        same.find(|field| field.is_in(version))
    }
}

/// A kind in a range of versions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    pub(crate) definition: usize,
    pub(crate) since: u8,
    pub(crate) until: u8,
}

/// All definitions.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    definitions: Vec<Definition>,
    types: Vec<Type>,
    kinds: BTreeMap<(&'static str, &'static str), Served>,
    /// The keys of `kinds`.
    order: Vec<(&'static str, &'static str)>,
}

impl Schema {
    /// The embedded definitions.
    pub(crate) fn get() -> &'static Self {
        static SCHEMA: OnceLock<Schema> = OnceLock::new();
        SCHEMA.get_or_init(|| {
            let schemas = text(include_bytes!(concat!(env!("OUT_DIR"), "/schemas.txt")));
            let rules = text(include_bytes!(concat!(env!("OUT_DIR"), "/rules.txt")));
            Self::read(schemas, rules)
        })
    }

    pub(crate) fn definition(&self, index: usize) -> Option<&Definition> {
        self.definitions.get(index)
    }

    /// The API versions and kinds, in the order of the text.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        self.order.iter().copied()
    }

    /// The names of all definitions, in their order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.definitions.iter().map(|one| one.name)
    }

    pub(crate) fn named(&self, name: &str) -> Option<usize> {
        self.definitions.iter().position(|one| one.name == name)
    }

    pub(crate) fn of(&self, index: usize) -> Type {
        self.types.get(index).copied().unwrap_or(Type::Any)
    }

    pub(crate) fn kind(&self, api_version: &str, kind: &str) -> Option<Served> {
        self.kinds.get(&(api_version, kind)).copied()
    }

    fn read(schemas: &'static str, rules: &'static str) -> Self {
        let mut schema = Self::default();
        let lines = || schemas.lines().filter(|line| !line.starts_with('='));
        let names = lines().filter_map(|line| line.split(' ').next());
        let names: BTreeMap<&str, usize> = names.enumerate().map(|(at, name)| (name, at)).collect();
        for line in lines() {
            let mut words = line.split(' ');
            let name = words.next().unwrap_or_default();
            let fields = words.filter_map(|word| {
                let (name, rest) = word.split_once(':')?;
                let (of, range) = rest.split_once('|').unwrap_or((rest, ""));
                let (since, until) = range_of(range);
                Some(Field {
                    name,
                    of: schema.type_of(of, &names),
                    since,
                    until,
                    rules: Rules::default(),
                    item_rules: Rules::default(),
                })
            });
            let fields = fields.collect();
            schema.definitions.push(Definition { name, fields, needed: Vec::new() });
        }
        for line in schemas.lines().filter_map(|line| line.strip_prefix("= ")) {
            let words: Vec<&str> = line.split(' ').collect();
            let [api, kind, definition, range] = words[..] else {
                continue;
            };
            let (since, until) = range_of(range);
            if let Some(&definition) = names.get(definition) {
                let served = Served { definition, since, until };
                schema.order.push((api, kind));
                schema.kinds.insert((api, kind), served);
            }
        }
        for line in rules.lines() {
            schema.add_rules(line, &names);
        }
        // Each object needs a name.
        for served in schema.order.iter().filter_map(|key| schema.kinds.get(key)) {
            let Some(definition) = schema.definitions.get_mut(served.definition) else {
                continue;
            };
            let metadata = definition.fields.iter_mut().enumerate();
            for (at, field) in metadata.filter(|(_, field)| field.name == "metadata") {
                if !field.rules.is_implied {
                    field.rules.is_implied = true;
                    definition.needed.push(at);
                }
            }
        }
        schema
    }

    fn type_of(&mut self, word: &str, names: &BTreeMap<&str, usize>) -> Type {
        let object = |name: &str| names.get(name).map_or(Type::Any, |at| Type::Object(*at));
        let schema = |of: fn(usize) -> Type| {
            let at = names.get("apiextensions.v1.JSONSchemaProps");
            at.map_or(Type::Any, |at| of(*at))
        };
        match word.split_at_checked(1) {
            Some(("@", name)) => object(name),
            Some(("[", inner)) => {
                let inner = self.type_of(inner, names);
                self.types.push(inner);
                Type::List(self.types.len() - 1)
            }
            Some(("{", inner)) => {
                let inner = self.type_of(inner, names);
                self.types.push(inner);
                Type::Map(self.types.len() - 1)
            }
            Some(("?", "b")) => schema(Type::ObjectOrBool),
            Some(("?", "a")) => schema(Type::ObjectOrList),
            Some(("?", "s")) => schema(Type::ObjectOrTexts),
            Some(("s", _)) => Type::Text,
            Some(("i", _)) => Type::Int32,
            Some(("l", _)) => Type::Int64,
            Some(("n", _)) => Type::Number,
            Some(("b", _)) => Type::Bool,
            Some(("q", _)) => Type::Quantity,
            Some(("x", _)) => Type::IntOrString,
            Some(("t", _)) => Type::Time,
            Some(("y", _)) => Type::Bytes,
            _ => Type::Any,
        }
    }

    /// Adds a line `definition.field[] rule rule`.
    fn add_rules(&mut self, line: &'static str, names: &BTreeMap<&str, usize>) {
        let mut words = line.split('\t');
        let path = words.next().unwrap_or_default();
        let (path, is_of_items) = match path.strip_suffix("[]").or_else(|| path.strip_suffix("{}"))
        {
            Some(path) => (path, true),
            None => (path, false),
        };
        let Some((name, field)) = path.rsplit_once('.') else {
            return;
        };
        let definition = names.get(name).and_then(|at| self.definitions.get_mut(*at));
        let Some(definition) = definition else {
            return;
        };
        let rules = rules_of(words);
        for (at, known) in definition.fields.iter_mut().enumerate() {
            if known.name != field {
                continue;
            }
            if is_of_items {
                known.item_rules.merge(&rules);
            } else {
                known.rules.merge(&rules);
                if rules.is_about_absence() && !definition.needed.contains(&at) {
                    definition.needed.push(at);
                }
            }
        }
    }
}

/// An embedded text.
pub(crate) fn text(packed: &[u8]) -> &'static str {
    let bytes = decompress_to_vec(packed).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default().leak()
}

/// The versions `30-34`, `30-` or `-34`.
fn range_of(text: &str) -> (u8, u8) {
    let (since, until) = text.split_once('-').unwrap_or_default();
    (since.parse().unwrap_or(0), until.parse().unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_in_their_versions() {
        let schema = Schema::get();
        let served = schema.kind("apps/v1", "Deployment").expect("served");
        let deployment = schema.definition(served.definition).expect("defined");
        assert!(deployment.field("spec", LAST).is_some());
        assert!(deployment.field("specs", LAST).is_none());
        let pod = schema.definitions.iter().find(|one| one.name == "core.v1.PodSpec");
        let pod = pod.expect("defined");
        assert!(pod.field("resources", 32).is_some());
        assert!(pod.field("resources", 31).is_none());
    }

    #[test]
    fn each_rule_is_about_a_field() {
        let schema = Schema::get();
        let rules =
            concat!(include_str!("../data/rules.txt"), include_str!("../data/more-rules.txt"));
        for line in rules.lines() {
            let path = line.split('\t').next().expect("a field");
            let (name, field) =
                path.trim_end_matches(['[', ']', '{', '}']).rsplit_once('.').expect(path);
            let definition = schema.definitions.iter().find(|one| one.name == name);
            let has = definition.is_some_and(|one| one.fields.iter().any(|one| one.name == field));
            assert!(has, "{path}");
        }
    }
}
