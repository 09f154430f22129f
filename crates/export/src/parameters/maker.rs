//! Data for making parameters: the parameters so far, and the survey of all objects.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::fast::RandomState;
use indexmap::{IndexMap, IndexSet};

use crate::fields::names::Fields;
use crate::options::{Group, Options};
use crate::parameters::declarations::{NewParameter, Parameters};
use crate::parameters::renames::renames;
use crate::references::marks;
use krm_core::Identity;
use krm_template_composition::Renames;

/// The survey of all objects.
#[derive(Default)]
pub(crate) struct Scope<'s> {
    /// The beginning of all names.
    pub(crate) prefix: Option<String>,
    /// The one namespace of all objects, if there is one.
    pub(crate) namespace: Option<String>,
    /// All namespaces of objects, and those that are objects.
    pub(crate) namespaces: BTreeSet<String>,
    pub(crate) registry: Option<String>,
    pub(crate) domains: BTreeSet<String>,
    /// The labels of the Template.
    pub(crate) labels: Vec<(String, String)>,
    /// The Services, with their namespaces.
    pub(crate) services: BTreeMap<String, BTreeSet<String>>,
    /// The names of the Secrets.
    pub(crate) secrets: BTreeSet<String>,
    /// The names that change with the prefix.
    pub(crate) names: IndexSet<&'s str, RandomState>,
}

/// Makes the parameters of one object after the other.
pub(crate) struct Maker<'m> {
    pub(crate) options: &'m Options,
    pub(crate) scope: &'m Scope<'m>,
    pub(crate) parameters: Parameters,
    pub(crate) renames: Renames<'m>,
    pub(crate) fields: Fields,
    /// The references of images, and of hosts.
    pub(crate) images: IndexMap<String, String, RandomState>,
    pub(crate) hosts: IndexMap<String, String, RandomState>,
    /// Parameters that several objects share, by a word and the value.
    shared: BTreeMap<&'static str, BTreeMap<String, String>>,
    /// The marked parameter that replaces the prefix.
    prefix: Option<String>,
}

/// The object that is changed.
pub(crate) struct Object<'o> {
    pub(crate) identity: &'o Identity,
    pub(crate) api_version: &'o str,
    /// Its kind and name, as messages print them.
    pub(crate) called: &'o str,
    /// Its part of the names of parameters.
    pub(crate) word: &'o str,
}

impl Object<'_> {
    /// The object's name in the titles of its parameters.
    pub(crate) fn short(&self) -> &str {
        match self.word {
            "" => &self.identity.name,
            word => word,
        }
    }
}

impl<'m> Maker<'m> {
    /// For objects, with their API versions.
    pub(crate) fn new(
        options: &'m Options,
        scope: &'m Scope<'m>,
        objects: impl Iterator<Item = &'m (Identity, String)>,
    ) -> Self {
        let none = || std::iter::empty::<(&Identity, &str)>();
        let mut maker = Self {
            options,
            scope,
            parameters: Parameters::new(options.format),
            renames: renames(none(), false, &|_| None),
            fields: Fields::default(),
            images: IndexMap::default(),
            hosts: IndexMap::default(),
            shared: BTreeMap::new(),
            prefix: None,
        };
        let names = scope.prefix.as_ref().filter(|_| maker.makes(Group::Names));
        if let Some(prefix) = names {
            let new = NewParameter {
                name: &["NAME"],
                title: &["Name"],
                origin: &["the beginning of the names of all objects"],
                value: prefix,
                is_required: true,
                ..NewParameter::default()
            };
            let name = maker.parameters.add(&new, &|_| false);
            maker.prefix = Some(marks::text(name));
            let objects = objects.map(|(identity, version)| (identity, version.as_str()));
            let has_one_namespace = scope.namespace.is_some();
            maker.renames = renames(objects, has_one_namespace, &|name| maker.renamed(name));
        }
        maker
    }

    /// Whether parameters of a group are made.
    pub(crate) fn makes(&self, group: Group) -> bool {
        self.options.makes(group)
    }

    /// The marked text for a name that changes with the prefix; `None` if it stays.
    pub(crate) fn renamed(&self, name: &str) -> Option<String> {
        let prefix = self.scope.prefix.as_deref()?;
        let rest = name.strip_prefix(prefix)?;
        let is_meant = rest.is_empty() || self.scope.names.contains(name);
        let marked = self.prefix.as_deref().filter(|_| is_meant)?;
        Some([marked, rest].concat())
    }

    /// The marked reference to a required parameter that all fields with its value share.
    pub(crate) fn shared(&mut self, word: &'static str, new: NewParameter<'_>) -> &str {
        let known = self.shared.entry(word).or_default();
        if !known.contains_key(new.value) {
            let value = new.value.to_owned();
            let new = NewParameter { is_required: true, ..new };
            let name = self.parameters.add(&new, &|_| false);
            known.insert(value, marks::text(name));
        }
        known.get(new.value).map_or("", String::as_str)
    }

    /// The marked reference to a namespace of the export; `None` if it is another one.
    pub(crate) fn namespace(&mut self, name: &str) -> Option<String> {
        const WORD: &str = "namespace";
        let known = self.shared.get(WORD).and_then(|known| known.get(name));
        if known.is_some() {
            return known.cloned();
        }
        if !self.makes(Group::Namespace) || !self.scope.namespaces.contains(name) {
            return None;
        }
        let new = NewParameter {
            name: &["NAMESPACE"],
            title: &["Namespace"],
            origin: &["the namespace `", name, "`"],
            description: &["namespace `", name, "` of the exported objects"].concat(),
            value: name,
            ..NewParameter::default()
        };
        Some(self.shared(WORD, new).to_owned())
    }

    /// The part of an object's name after the prefix.
    pub(crate) fn word<'n>(&self, name: &'n str) -> &'n str {
        let prefix = self.scope.prefix.as_deref();
        let rest = prefix.and_then(|prefix| name.strip_prefix(prefix));
        rest.map_or(name, |rest| rest.trim_start_matches('-'))
    }
}
