//! Updates fields that refer to objects by name, after these are renamed or moved.
//!
//! Source: kustomize 5.8, `api/filters/nameref`, `api/internal/accumulator`, `api/resmap`
//! (`SubsetThatCouldBeReferencedByResource`). Only renamed or moved objects among the resources
//! count; other names stay.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::engine::step::Context;
use crate::fields::field_spec::{FieldSpec, Kind, MissingField};
use crate::fields::field_tree::{FieldTree, FieldTrees, Problem};
use crate::resources::resource::{FormerNames, Resource};
use crate::values::budget::Budget;
use krm_core::Identity;
use krm_core::identity::group;
use krm_core::scope::{effective_namespace, is_namespaced, or_default};
use krm_yaml::{Value, View, ViewMut};

/// Updates the fields that name objects; in a Kustomization, only at its end.
pub(crate) fn update(resources: &mut [Resource<'_>], context: &mut Context<'_>) {
    if !context.is_of_kustomization {
        update_now(resources, context);
    }
}

/// Updates the fields that name objects.
pub(crate) fn update_now(resources: &mut [Resource<'_>], context: &mut Context<'_>) {
    follow(resources, context.tables.name_references(), context);
}

/// Updates these fields.
pub(crate) fn follow<'f>(
    resources: &mut [Resource<'_>],
    fields: impl Iterator<Item = (Kind<'f>, Cow<'f, FieldSpec>)>,
    context: &mut Context<'_>,
) {
    let mut targets = Vec::with_capacity(resources.len());
    let mut referring = Vec::with_capacity(resources.len());
    for resource in &mut *resources {
        let now = resource.identity();
        let (past, present) = resource.split();
        if let Some(now) = now {
            let api_version = present.str_at(&["apiVersion"]).unwrap_or_default();
            let api_version = Cow::Owned(api_version.to_owned());
            targets.push(Target::with(api_version, past, now));
        }
        referring.push((past, present));
    }
    let mut renames = Renames::of(targets.into_iter(), fields);
    if renames.is_empty() {
        return;
    }
    renames.is_at_end = context.is_of_kustomization;
    renames.budget = Some(context.budget);
    let mut all = Vec::new();
    for (index, (past, present)) in referring.iter_mut().enumerate() {
        let text = |key| present.str_at(&[key]).unwrap_or_default();
        let fields = renames.fields_of(text("apiVersion"), text("kind"));
        if fields.is_empty() {
            continue;
        }
        let referrer = Referrer {
            prefixes: past.prefixes,
            suffixes: past.suffixes,
            ..Referrer::of(present.view())
        };
        let mut problems = Vec::new();
        renames.follow(present.view_mut(), &fields, &referrer, &mut problems);
        all.extend(problems.into_iter().map(|problem| (index, problem)));
    }
    drop(renames);
    for (index, problem) in all {
        if let Some(resource) = resources.get(index) {
            context.outcome(resource, Err(problem));
        }
    }
}

/// The objects that were renamed, and the fields that may refer to them.
pub struct Renames<'t> {
    targets: Targets<'t>,
    links: Vec<Link<'t>>,
    trees: FieldTrees,
    /// Whether references are updated only once, so that none has a namespace from the middle.
    is_at_end: bool,
    /// The budget of the new names.
    budget: Option<&'t Budget>,
}

impl<'t> Renames<'t> {
    /// Of these objects, and of those of these fields that may refer to a renamed one.
    pub fn of<'f: 't>(
        targets: impl Iterator<Item = Target<'t>>,
        fields: impl Iterator<Item = (Kind<'f>, Cow<'f, FieldSpec>)>,
    ) -> Self {
        let targets = Targets::of(targets);
        Self {
            links: targets.links(fields),
            targets,
            trees: FieldTrees::default(),
            is_at_end: false,
            budget: None,
        }
    }

    /// Whether no field may refer to a renamed object.
    pub(crate) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The fields of objects of an API version and kind that refer to others.
    pub fn fields_of(&mut self, api_version: &str, kind: &str) -> Rc<FieldTree> {
        let fields = self.links.iter().map(|link| &*link.from);
        self.trees.of_kind(api_version, kind, fields)
    }

    /// Updates the references of one object, which has these [fields](Self::fields_of).
    pub fn follow(
        &self,
        object: ViewMut<'_, '_>,
        fields: &FieldTree,
        referrer: &Referrer<'_>,
        problems: &mut Vec<String>,
    ) {
        let update = &mut |index: usize, part: ViewMut<'_, '_>| {
            let link = self.links.get(index);
            link.map_or(Ok(()), |link| {
                let lookup = Lookup {
                    targets: &self.targets,
                    referrer,
                    link,
                    is_at_end: self.is_at_end,
                    budget: self.budget,
                };
                lookup.update(part)
            })
        };
        let found = fields.visit(object, MissingField::Nothing, update);
        let found = found.into_iter();
        problems.extend(found.map(|Problem { path, text }| format!("`{path}`: {text}")));
    }
}

/// A field of one kind that refers to objects of another.
struct Link<'t> {
    from: Cow<'t, FieldSpec>,
    to: Kind<'t>,
}

/// An object that fields may refer to.
pub struct Target<'t> {
    api_version: Cow<'t, str>,
    now: Identity,
    /// Whether its kind has no namespace.
    is_global: bool,
    /// Former identities, if there are any.
    previous: &'t [Identity],
    /// Whether it was renamed. A field with the current name of an object means that object, not
    /// another one that had the name before.
    is_renamed: bool,
    prefixes: &'t [String],
    suffixes: &'t [String],
}

impl<'t> Target<'t> {
    /// An object of an API version as it is now, with its former identities.
    #[must_use]
    pub fn new(api_version: Cow<'t, str>, previous: &'t [Identity], now: Identity) -> Self {
        Self {
            api_version,
            is_global: !is_namespaced(&now.group, &now.kind),
            previous,
            is_renamed: !previous.is_empty(),
            prefixes: &[],
            suffixes: &[],
            now,
        }
    }

    fn with(api_version: Cow<'t, str>, past: FormerNames<'t>, now: Identity) -> Self {
        Self {
            is_renamed: past.is_renamed,
            prefixes: past.prefixes,
            suffixes: past.suffixes,
            ..Self::new(api_version, past.previous, now)
        }
    }

    /// Its former identities, or the current one if it was never renamed.
    fn identities(&self) -> &[Identity] {
        if self.previous.is_empty() { std::slice::from_ref(&self.now) } else { self.previous }
    }

    fn namespace(&self) -> &str {
        or_default(&self.now.namespace)
    }

    /// Its first namespace; `default` if it had none.
    fn first_namespace(&self) -> &str {
        effective_namespace(self.previous.first().unwrap_or(&self.now))
    }

    /// Its group, version and kind, and those that it had before.
    fn kinds(&self) -> impl Iterator<Item = [&str; 3]> {
        let version = self.api_version.rsplit('/').next().unwrap_or_default();
        let kinds = self.identities().iter();
        kinds.map(move |one| [self.now.group.as_str(), version, &one.kind])
    }

    /// Whether it was of a kind; empty parts match any.
    fn was(&self, kind: [&str; 3]) -> bool {
        self.kinds().any(|own| is_kind(own, kind))
    }

    /// Whether it had a name while it was in a namespace.
    fn was_called(&self, name: &str, namespace: &str) -> bool {
        let mut previous = self.identities().iter().filter(|one| one.name == name);
        !self.is_global && previous.any(|one| effective_namespace(one) == namespace)
    }
}

/// Whether a group, version and kind are these; empty parts match any.
fn is_kind(own: [&str; 3], wanted: [&str; 3]) -> bool {
    let mut parts = own.into_iter().zip(wanted);
    parts.all(|(own, wanted)| wanted.is_empty() || own == wanted)
}

/// A former name of an object, and its current namespace; none if its kind has none.
type Key<'k> = (&'k str, Option<&'k str>);

/// All objects that fields may refer to.
struct Targets<'t> {
    all: Vec<Target<'t>>,
    /// The indexes of the objects and of their former identities, in the order of the names and the
    /// current scopes: bases that are alike have many objects of a name.
    by_name: Vec<(usize, usize)>,
    /// The first namespaces of objects, with their current ones.
    moves: BTreeMap<String, BTreeSet<String>>,
}

impl<'t> Targets<'t> {
    fn of(targets: impl Iterator<Item = Target<'t>>) -> Self {
        let mut targets =
            Self { all: targets.collect(), by_name: Vec::new(), moves: BTreeMap::new() };
        let mut by_name = Vec::with_capacity(targets.all.len());
        for (index, target) in targets.all.iter().enumerate() {
            if !target.is_global {
                let (first, now) = (target.first_namespace(), &target.now.namespace);
                let known = targets.moves.get(first);
                if known.is_none_or(|known| !known.contains(now)) {
                    let known = targets.moves.entry(first.to_owned()).or_default();
                    known.insert(now.clone());
                }
            }
            let former = 0..target.identities().len();
            by_name.extend(former.map(|former| (index, former)));
        }
        by_name.sort_by_key(|at| targets.key(*at));
        targets.by_name = by_name;
        targets
    }

    /// The key of an object and one of its former identities.
    fn key(&self, (target, former): (usize, usize)) -> Key<'_> {
        let target = self.all.get(target);
        let identity = target.and_then(|one| one.identities().get(former));
        let scope = target.filter(|one| !one.is_global).map(Target::namespace);
        (identity.map_or("", |identity| &identity.name), scope)
    }

    /// The objects from a key on, as long as `is_in` holds.
    fn range(&self, least: Key<'_>, is_in: impl Fn(Key<'_>) -> bool) -> Vec<usize> {
        let start = self.by_name.partition_point(|at| self.key(*at) < least);
        let from = self.by_name.get(start..).unwrap_or_default();
        let found = from.iter().take_while(|at| is_in(self.key(**at)));
        found.map(|(target, _)| *target).collect()
    }

    /// The objects that had a name and that an object may refer to, by their scopes.
    fn named(&self, name: &str, referrer: &Referrer<'_>) -> Vec<&Target<'t>> {
        let mut named = if referrer.is_global {
            self.range((name, None), |(own, _)| own == name)
        } else {
            let keys = referrer.scopes().map(|scope| (name, scope));
            let found = keys.flat_map(|key| self.range(key, |own| own == key));
            found.collect()
        };
        named.sort_unstable();
        named.dedup();
        named.iter().filter_map(|at| self.all.get(*at)).collect()
    }

    /// Those of the fields that refer to kinds among the renamed objects.
    fn links<'f: 't>(
        &self,
        fields: impl Iterator<Item = (Kind<'f>, Cow<'f, FieldSpec>)>,
    ) -> Vec<Link<'t>> {
        let renamed = self.all.iter().filter(|one| one.is_renamed);
        let kinds: BTreeSet<[&str; 3]> = renamed.flat_map(Target::kinds).collect();
        let links = fields.filter(|(to, _)| kinds.iter().any(|kind| is_kind(*kind, *to)));
        links.map(|(to, from)| Link { from, to }).collect()
    }
}

/// An object that refers to others.
pub struct Referrer<'r> {
    is_global: bool,
    namespace: String,
    /// The namespaces of the service accounts in its subjects.
    bound_namespaces: Vec<String>,
    /// The API group and the kind of the role that it refers to.
    role: Option<(String, String)>,
    prefixes: &'r [String],
    suffixes: &'r [String],
}

impl Referrer<'_> {
    /// An object whose name got no prefixes and suffixes.
    pub fn of(object: View<'_>) -> Self {
        let text = |keys: &[&str]| object.str_at(keys).unwrap_or_default();
        let kind = text(&["kind"]);
        let subjects = object.get("subjects").and_then(View::items);
        let bound_namespaces = subjects
            .into_iter()
            .flatten()
            .filter(|subject| subject.str_at(&["kind"]).as_deref() == Some("ServiceAccount"))
            .filter_map(|subject| subject.str_at(&["namespace"]).map(Cow::into_owned));
        let role = |key| object.str_at(&["roleRef", key]).map(Cow::into_owned);
        Self {
            is_global: !is_namespaced(group(&text(&["apiVersion"])), &kind),
            namespace: or_default(&text(&["metadata", "namespace"])).to_owned(),
            bound_namespaces: if kind == "RoleBinding" {
                bound_namespaces.collect()
            } else {
                Vec::new()
            },
            role: role("apiGroup").zip(role("kind")),
            prefixes: &[],
            suffixes: &[],
        }
    }

    /// The scopes of objects that one in a namespace may refer to: those without a namespace, those
    /// of its own, and those of the service accounts that it binds.
    fn scopes(&self) -> impl Iterator<Item = Option<&str>> {
        let bound = self.bound_namespaces.iter().map(|bound| or_default(bound));
        let own = [None, Some(self.namespace.as_str())].into_iter();
        own.chain(bound.map(Some))
    }

    /// Whether it may refer to objects in a namespace; empty for objects that name none.
    fn sees(&self, namespace: &str) -> bool {
        self.is_global
            || self.namespace == or_default(namespace)
            || self.bound_namespaces.iter().any(|bound| bound == namespace)
    }

    /// Whether it may refer to this object. It may not refer to other namespaces, except to bind
    /// service accounts.
    fn may_name(&self, target: &Target<'_>) -> bool {
        let is_near = self.is_global || target.is_global || self.namespace == target.namespace();
        is_near || (target.now.kind == "ServiceAccount" && self.sees(&target.now.namespace))
    }

    /// Whether its name got the same prefixes and suffixes.
    fn is_named_alike(&self, target: &Target<'_>, or_not_at_all: bool) -> bool {
        let alike = |own: &[String], other: &[String]| {
            let is_empty = own.is_empty() || other.is_empty();
            (is_empty && (or_not_at_all || own.len() == other.len()))
                || (!is_empty && (own.ends_with(other) || other.ends_with(own)))
        };
        alike(self.prefixes, target.prefixes) && alike(self.suffixes, target.suffixes)
    }
}

/// Finds the object that a field refers to.
struct Lookup<'l> {
    targets: &'l Targets<'l>,
    referrer: &'l Referrer<'l>,
    link: &'l Link<'l>,
    is_at_end: bool,
    budget: Option<&'l Budget>,
}

impl Lookup<'_> {
    fn may_add(&self, text: &str) -> bool {
        self.budget.is_none_or(|budget| budget.take(text.len()))
    }

    /// The new name of an object.
    fn renamed(&self, name: &str) -> Result<Option<String>, String> {
        let target = self.find(name, None, |one, other| one.now.name == other.now.name)?;
        let renamed = target.filter(|target| target.now.name != name);
        Ok(renamed.map(|target| target.now.name.clone()))
    }

    /// Updates a name, a mapping with a `name`, or a list of these.
    fn update(&self, part: ViewMut<'_, '_>) -> Result<(), String> {
        if !part.view().is_sequence() {
            return self.update_one(part);
        }
        part.try_each_item(|item| {
            if item.view().is_sequence() {
                return Err("expected a name, found a list".to_owned());
            }
            self.update_one(item)
        })
    }

    fn update_one(&self, part: ViewMut<'_, '_>) -> Result<(), String> {
        if part.view().is_mapping() { self.update_mapping(part) } else { self.update_name(part) }
    }

    fn update_name(&self, part: ViewMut<'_, '_>) -> Result<(), String> {
        let Some(name) = part.view().as_str() else {
            return Ok(());
        };
        if let Some(renamed) = self.renamed(&name)?
            && self.may_add(&renamed)
        {
            part.value_mut().set(Value::string(renamed).data);
        }
        Ok(())
    }

    fn update_mapping(&self, mapping: ViewMut<'_, '_>) -> Result<(), String> {
        let view = mapping.view();
        // Kustomize would change a User with the name of a ServiceAccount.
        let kind = view.str_at(&["kind"]);
        if kind.is_some_and(|kind| kind != self.link.to[2]) {
            return Ok(());
        }
        let Some(name) = view.get("name") else {
            return Err("there is no `name`".to_owned());
        };
        let Some(name) = name.as_str() else {
            return Ok(());
        };
        let namespace = view.get("namespace").map(View::as_str);
        let namespace = namespace.map(Option::unwrap_or_default);
        let is_same = |one: &Target<'_>, other: &Target<'_>| {
            one.now.name == other.now.name && one.now.namespace == other.now.namespace
        };
        let Some(target) = self.find(&name, namespace.as_deref(), is_same)? else {
            return Ok(());
        };
        let mapping = mapping.value_mut();
        for (key, text) in [("name", &target.now.name), ("namespace", &target.now.namespace)] {
            // An empty namespace may be set later, so it says nothing.
            let is_new = !text.is_empty() && mapping.str_at(&[key]) != Some(text);
            if is_new && self.may_add(text) {
                mapping.insert(key.into(), Value::string(text.clone()));
            }
        }
        Ok(())
    }

    /// The object with a former name, in a former namespace if one is given. Objects that are the
    /// same by `is_same` count as one.
    fn find(
        &self,
        name: &str,
        namespace: Option<&str>,
        is_same: fn(&Target<'_>, &Target<'_>) -> bool,
    ) -> Result<Option<&Target<'_>>, String> {
        let mut found = self.targets.named(name, self.referrer);
        found.retain(|target| self.is_meant(target));
        if self.is_at_end {
            // As for kustomize, what was never renamed has no former name.
            found.retain(|target| target.is_renamed);
        }
        if let Some(namespace) = namespace {
            let is_in = |target: &&Target<'_>| self.is_in(target, namespace);
            if self.is_at_end || found.iter().any(is_in) {
                found.retain(is_in);
            } else {
                // A reference that was already updated has the new namespace.
                found.retain(|target| target.was_called(name, namespace));
            }
        }
        // The same name in another namespace is another object.
        let renamed = found.iter().filter(|target| target.is_renamed);
        let namespaces: Vec<&str> = renamed.map(|one| one.first_namespace()).collect();
        let is_rival = |target: &Target<'_>| namespaces.contains(&target.first_namespace());
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
                if rest.iter().all(|other| is_same(first, other)) {
                    return Ok(Some(first));
                }
                let names = found.iter().map(|target| target.now.to_string());
                let names = names.collect::<Vec<_>>().join(", ");
                Err(format!("`{name}` may mean any of these: {names}"))
            }
        }
    }

    fn is_meant(&self, target: &Target<'_>) -> bool {
        let to = self.link.to;
        let role = self.referrer.role.as_ref();
        let role = role.filter(|_| self.link.from.path.ends_with("roleRef/name"));
        target.was(to)
            && role.is_none_or(|(group, kind)| target.was([group, "", kind]))
            && self.referrer.may_name(target)
    }

    /// Whether the first namespace of an object is this one or, if no object was there at first,
    /// its current one.
    fn is_in(&self, target: &Target<'_>, namespace: &str) -> bool {
        let moves = self.targets.moves.get(namespace);
        let is_former = moves.is_some_and(|moves| moves.iter().any(|now| self.referrer.sees(now)));
        let found = if is_former { target.first_namespace() } else { target.namespace() };
        !target.is_global && found == namespace
    }
}
