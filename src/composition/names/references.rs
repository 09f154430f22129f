//! Fields that name other objects follow these when they are renamed or moved.
//!
//! Source: kustomize 5.8, `api/filters/nameref`, `api/internal/accumulator`, `api/resmap`
//! (`SubsetThatCouldBeReferencedByResource`). Only objects among the resources count, and only
//! those that were renamed or moved: a name that none of them had stays.

use std::collections::{BTreeMap, BTreeSet};

use crate::composition::engine::context::Context;
use crate::composition::fields::field_spec::{FieldSpec, Made};
use crate::composition::resources::resource::Resource;
use crate::composition::tables::fields::{NAME_REFERENCES, Named};
use crate::krm::Identity;
use crate::krm::identity::group;
use crate::krm::scope::{effective, effective_namespace, is_namespaced, or_default};
use krm_yaml::{Data, Value};

/// Has the fields that kustomize knows follow the objects they name.
pub(crate) fn update(resources: &mut [Resource<'_>], context: &mut Context<'_, '_>) {
    follow(resources, NAME_REFERENCES, context);
}

/// Has the fields of a table follow the objects they name.
pub(crate) fn follow(
    resources: &mut [Resource<'_>],
    table: &[Named],
    context: &mut Context<'_, '_>,
) {
    let targets = Targets::of(resources);
    let links = targets.links(table);
    if links.is_empty() {
        return;
    }
    let mut links_of_kinds: BTreeMap<(String, String), Vec<&Link<'_>>> = BTreeMap::new();
    for resource in resources {
        let text = |key| resource.value.str_at(&[key]).unwrap_or_default().to_owned();
        let links = links_of_kinds
            .entry((text("apiVersion"), text("kind")))
            .or_insert_with(|| {
                let links = links.iter();
                links
                    .filter(|link| link.from.is_for(&resource.value))
                    .collect()
            });
        if links.is_empty() {
            continue;
        }
        let referrer = Referrer::of(resource);
        for link in links {
            let lookup = Lookup {
                targets: &targets,
                referrer: &referrer,
                link,
            };
            let outcome = link
                .from
                .descend(&mut resource.value, Made::Nothing, &mut |value| {
                    lookup.update(value)
                });
            let outcome = outcome.map_err(|problem| format!("`{}`: {problem}", link.from.path));
            context.outcome(resource, outcome);
        }
    }
}

/// A field of objects of one kind, that names objects of another.
struct Link<'t> {
    from: FieldSpec,
    to: &'t Named,
}

/// An object that fields may name.
struct Target {
    version: String,
    now: Identity,
    /// Whether it belongs to the cluster and to no namespace.
    is_global: bool,
    /// The namespace it was in at first; `default` where none was named.
    first_namespace: String,
    /// What it was known by; what it is known by, if that is so from the beginning.
    previous: Vec<Identity>,
    /// Whether there is something to follow. One that is as it was is meant by its name, and not
    /// another that had it.
    is_renamed: bool,
    prefixes: Vec<String>,
    suffixes: Vec<String>,
}

impl Target {
    fn of(resource: &Resource<'_>) -> Option<Self> {
        let now = resource.identity()?;
        let api_version = resource.value.str_at(&["apiVersion"]).unwrap_or_default();
        let first = resource.previous.first().unwrap_or(&now).clone();
        Some(Self {
            version: api_version
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .to_owned(),
            is_global: !is_namespaced(&now.group, &now.kind),
            first_namespace: effective(first).namespace,
            previous: match resource.previous.as_slice() {
                [] => vec![now.clone()],
                previous => previous.to_vec(),
            },
            is_renamed: !resource.previous.is_empty(),
            prefixes: resource.prefixes.clone(),
            suffixes: resource.suffixes.clone(),
            now,
        })
    }

    fn namespace(&self) -> &str {
        or_default(&self.now.namespace)
    }

    /// Whether it was of a kind; what is empty is any.
    fn was(&self, group: &str, version: &str, kind: &str) -> bool {
        let fits = |wish: &str, is: &str| wish.is_empty() || wish == is;
        fits(group, &self.now.group)
            && fits(version, &self.version)
            && self.previous.iter().any(|one| fits(kind, &one.kind))
    }

    /// Whether it was called so while it was in a namespace.
    fn was_called(&self, name: &str, namespace: &str) -> bool {
        let mut previous = self.previous.iter().filter(|one| one.name == name);
        !self.is_global && previous.any(|one| effective_namespace(one) == namespace)
    }
}

/// All that fields may name.
struct Targets {
    all: Vec<Target>,
    /// Those that had a name.
    by_name: BTreeMap<String, Vec<usize>>,
    /// The namespaces that objects were in at first, with those that they name now.
    moves: BTreeSet<(String, String)>,
}

impl Targets {
    fn of(resources: &[Resource<'_>]) -> Self {
        let mut all = Vec::new();
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut moves = BTreeSet::new();
        for target in resources.iter().filter_map(Target::of) {
            if !target.is_global {
                moves.insert((target.first_namespace.clone(), target.now.namespace.clone()));
            }
            for one in &target.previous {
                let indexes = by_name.entry(one.name.clone()).or_default();
                if indexes.last() != Some(&all.len()) {
                    indexes.push(all.len());
                }
            }
            all.push(target);
        }
        Self {
            all,
            by_name,
            moves,
        }
    }

    /// The fields of a table that name objects of a kind that is there.
    fn links<'t>(&self, table: &'t [Named]) -> Vec<Link<'t>> {
        let is_there = |to: &&Named| {
            let mut targets = self.all.iter();
            targets.any(|target| target.is_renamed && target.was(to.group, to.version, to.kind))
        };
        let links = table.iter().filter(is_there).flat_map(|to| {
            to.fields.iter().map(move |field| Link {
                from: FieldSpec::from(field),
                to,
            })
        });
        links.collect()
    }
}

/// An object that names others.
struct Referrer {
    is_global: bool,
    namespace: String,
    /// The namespaces of service accounts that it binds a role to.
    bound_namespaces: Vec<String>,
    /// The API group and the kind of the role that it binds.
    role: Option<(String, String)>,
    prefixes: Vec<String>,
    suffixes: Vec<String>,
}

impl Referrer {
    fn of(resource: &Resource<'_>) -> Self {
        let object = &resource.value;
        let text = |keys: &[&str]| object.str_at(keys).unwrap_or_default().to_owned();
        let kind = text(&["kind"]);
        let subjects = object.get("subjects").and_then(Value::items);
        let bound_namespaces = subjects
            .unwrap_or_default()
            .iter()
            .filter(|subject| subject.str_at(&["kind"]) == Some("ServiceAccount"))
            .filter_map(|subject| subject.str_at(&["namespace"]).map(str::to_owned));
        let role = |key| object.str_at(&["roleRef", key]).map(str::to_owned);
        Self {
            is_global: !is_namespaced(group(&text(&["apiVersion"])), &kind),
            namespace: or_default(&text(&["metadata", "namespace"])).to_owned(),
            bound_namespaces: if kind == "RoleBinding" {
                bound_namespaces.collect()
            } else {
                Vec::new()
            },
            role: role("apiGroup").zip(role("kind")),
            prefixes: resource.prefixes.clone(),
            suffixes: resource.suffixes.clone(),
        }
    }

    /// Whether it may name objects that are in a namespace; empty if they name none.
    fn sees(&self, namespace: &str) -> bool {
        self.is_global
            || self.namespace == or_default(namespace)
            || self.bound_namespaces.iter().any(|bound| bound == namespace)
    }

    /// Whether it may name this object. What is in another namespace it may not, other than service
    /// accounts that a role is bound to.
    fn may_name(&self, target: &Target) -> bool {
        let is_near = self.is_global || target.is_global || self.namespace == target.namespace();
        is_near || (target.now.kind == "ServiceAccount" && self.sees(&target.now.namespace))
    }

    /// Whether the same prefixes and suffixes were put to its name.
    fn is_named_alike(&self, target: &Target, or_not_at_all: bool) -> bool {
        let alike = |own: &[String], other: &[String]| {
            let is_empty = own.is_empty() || other.is_empty();
            (is_empty && (or_not_at_all || own.len() == other.len()))
                || (!is_empty && (own.ends_with(other) || other.ends_with(own)))
        };
        alike(&self.prefixes, &target.prefixes) && alike(&self.suffixes, &target.suffixes)
    }
}

/// Finds what a field of an object names.
struct Lookup<'l> {
    targets: &'l Targets,
    referrer: &'l Referrer,
    link: &'l Link<'l>,
}

impl Lookup<'_> {
    /// Updates a name, a mapping with a `name`, or a list of these.
    fn update(&self, value: &mut Value<'_>) -> Result<(), String> {
        match &mut value.data {
            Data::Scalar(_) => self.update_name(value),
            Data::Mapping(_) => self.update_mapping(value),
            Data::Sequence(items) => items.iter_mut().try_for_each(|item| match &item.data {
                Data::Scalar(_) => self.update_name(item),
                Data::Mapping(_) => self.update_mapping(item),
                Data::Sequence(_) => Err("expected a name, found a list".to_owned()),
            }),
        }
    }

    fn update_name(&self, value: &mut Value<'_>) -> Result<(), String> {
        let Some(name) = value.as_str() else {
            return Ok(());
        };
        let identity = |target: &Target| target.now.name.clone();
        let Some(target) = self.find(name, None, identity)? else {
            return Ok(());
        };
        if target.now.name != name {
            value.set(Value::string(target.now.name.clone()).data);
        }
        Ok(())
    }

    fn update_mapping(&self, mapping: &mut Value<'_>) -> Result<(), String> {
        // Kustomize takes a User for the ServiceAccount of the same name.
        let kind = mapping.str_at(&["kind"]);
        if kind.is_some_and(|kind| kind != self.link.to.kind) {
            return Ok(());
        }
        let Some(name) = mapping.get("name") else {
            return Err("there is no `name`".to_owned());
        };
        let Some(name) = name.as_str() else {
            return Ok(());
        };
        let namespace = mapping.get("namespace").map(|value| value.as_str());
        let namespace = namespace.map(Option::unwrap_or_default);
        let identity = |target: &Target| (target.now.name.clone(), target.now.namespace.clone());
        let Some(target) = self.find(name, namespace, identity)? else {
            return Ok(());
        };
        for (key, text) in [
            ("name", &target.now.name),
            ("namespace", &target.now.namespace),
        ] {
            // What names no namespace may still be put into one, so an empty one says nothing.
            if !text.is_empty() && mapping.str_at(&[key]) != Some(text) {
                mapping.insert(key.into(), Value::string(text.clone()));
            }
        }
        Ok(())
    }

    /// The object that is meant by a name it had, in a namespace it was in where one is given.
    /// Objects that are the same by `identity` are as good as one.
    fn find<I: PartialEq>(
        &self,
        name: &str,
        namespace: Option<&str>,
        identity: impl Fn(&Target) -> I,
    ) -> Result<Option<&Target>, String> {
        let Some(indexes) = self.targets.by_name.get(name) else {
            return Ok(None);
        };
        let targets = indexes.iter().filter_map(|at| self.targets.all.get(*at));
        let mut found: Vec<&Target> = targets.filter(|target| self.is_meant(target)).collect();
        if let Some(namespace) = namespace {
            let is_in = |target: &&Target| self.is_in(target, namespace);
            if found.iter().any(is_in) {
                found.retain(is_in);
            } else {
                // What has followed it to another namespace names that one.
                found.retain(|target| target.was_called(name, namespace));
            }
        }
        // One of another namespace is another object, whatever its name.
        let renamed = found.iter().filter(|target| target.is_renamed);
        let namespaces: Vec<&str> = renamed.map(|one| one.first_namespace.as_str()).collect();
        let is_rival = |target: &Target| namespaces.contains(&target.first_namespace.as_str());
        found.retain(|target| target.is_renamed || is_rival(target));
        for or_not_at_all in [true, false] {
            if found.len() > 1 {
                found.retain(|target| self.referrer.is_named_alike(target, or_not_at_all));
            }
        }
        found.retain(|target| target.is_renamed);
        match found.as_slice() {
            [] => Ok(None),
            [first, rest @ ..] => {
                if rest.iter().all(|other| identity(other) == identity(first)) {
                    return Ok(Some(first));
                }
                let names = found.iter().map(|target| target.now.to_string());
                let names = names.collect::<Vec<_>>().join(", ");
                Err(format!("`{name}` may mean any of these: {names}"))
            }
        }
    }

    fn is_meant(&self, target: &Target) -> bool {
        let to = self.link.to;
        let role = self.referrer.role.as_ref();
        let role = role.filter(|_| self.link.from.path.ends_with("roleRef/name"));
        target.was(to.group, to.version, to.kind)
            && role.is_none_or(|(group, kind)| target.was(group, "", kind))
            && self.referrer.may_name(target)
    }

    /// Whether an object was in a namespace at first or, if nothing was in that one, is there now.
    fn is_in(&self, target: &Target, namespace: &str) -> bool {
        let from = (namespace.to_owned(), String::new());
        let moves = self.targets.moves.range(from..);
        let is_former = moves
            .take_while(|(first, _)| first == namespace)
            .any(|(_, now)| self.referrer.sees(now));
        let found = if is_former {
            &target.first_namespace
        } else {
            target.namespace()
        };
        !target.is_global && found == namespace
    }
}
