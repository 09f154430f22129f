//! Reads patches from a file or from the configuration, and applies them to resources.
//!
//! Source: kustomize 5.8, `api/resource/resource.go` (`ApplySmPatch`) and
//! `api/resmap/reswrangler.go` (`GetById`, `ApplySmPatch`).

use std::collections::BTreeMap;

use crate::engine::step::Context;
use crate::fields::selector::{Matcher, Selector, version};
use crate::patch::json_patch::{self, Operation};
use crate::patch::merge::{Merged, Merging, Problem, merge};
use crate::resources::end_block::{end_block, ends_in_block};
use crate::resources::resource::Resource;
use crate::tables::merge_keys::{self, Known};
use crate::values::budget::Extent;
use crate::values::quote::quote;
use krm_core::Identity;
use krm_core::scope::effective_namespace;
use krm_yaml::diagnostic::{Diagnostic, Result, Severity};
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Document, DuplicateKeys, FieldPath, Value, View, Words, name_of};

/// The number of operations of a JSON patch up to which an object is changed part by part: each looks
/// for its place in the text.
const MAX_IN_PARTS: usize = 64;

/// The text of patches, and its field in the configuration.
#[derive(Debug)]
pub(crate) struct PatchText {
    document: Document,
    field: FieldPath,
}

/// A strategic merge patch that was read.
#[derive(Debug)]
pub(crate) struct MergePatch<'t> {
    node: Cursor<'t>,
    value: Value<'static>,
}

/// Which parts of the identity of its target a patch may change.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Allowed {
    pub(crate) name_change: bool,
    pub(crate) kind_change: bool,
}

impl PatchText {
    /// Reads the file that `field` names. Reports errors, and then returns none.
    pub(crate) fn from_file(
        path: &str,
        field: FieldPath,
        context: &mut Context<'_>,
    ) -> Option<Self> {
        let source = context.source(&field, path);
        let document = source.and_then(|source| Document::parse(&source));
        Self::read(document, field, context)
    }

    /// The patch in the file that `path` names, or the text in the field `key`: one of both is
    /// given.
    pub(crate) fn of(path: &str, key: &str, text: &str, context: &mut Context<'_>) -> Option<Self> {
        let field = |key: &str| FieldPath::root().key(key);
        let (problem, hint) = match (path, text.trim()) {
            ("", "") => (
                "the patch is missing".to_owned(),
                Some(format!("write it under `{key}`, or name its file as `path`")),
            ),
            // Kustomize trims it: a block scalar at its end has no line break.
            ("", _) => return Self::inline(text.trim_end(), field(key), context),
            (path, "") => return Self::from_file(path, field("path"), context),
            _ => (format!("`path` and `{key}` are both given, and only one is allowed"), None),
        };
        let error = context.transformer.error(&field(key), problem);
        context.diagnostics.push(error.maybe_hint(hint));
        None
    }

    /// Reads a text in the configuration.
    pub(crate) fn inline(text: &str, field: FieldPath, context: &mut Context<'_>) -> Option<Self> {
        let source = context.transformer.source_of(&field, text);
        Self::read(Document::parse(&source), field, context)
    }

    fn read(
        document: Result<Document>,
        field: FieldPath,
        context: &mut Context<'_>,
    ) -> Option<Self> {
        match document {
            Ok(document) => Some(Self { document, field }),
            Err(error) => {
                context.diagnostics.push(placed(*error, &field, context));
                None
            }
        }
    }

    /// Its documents that are not empty.
    pub(crate) fn documents(&self) -> impl Iterator<Item = Cursor<'_>> {
        self.document.roots().filter(|root| !root.is_null())
    }

    /// The strategic merge patches in it: its documents, and the items of those that are a `List`.
    pub(crate) fn merge_patches(&self, context: &mut Context<'_>) -> Option<Vec<MergePatch<'_>>> {
        let mut patches = Vec::new();
        for root in self.documents() {
            let items = root.get("items").filter(|items| {
                let kind = root.get("kind").and_then(|kind| kind.text().ok().flatten());
                kind.as_deref() == Some("List") && items.is_sequence()
            });
            match items {
                Some(items) => patches.extend(items.children()),
                None => patches.push(root),
            }
        }
        if patches.is_empty() {
            context.diagnostics.push(self.error(context, None, "the patch is empty"));
            return None;
        }
        let mut read = Vec::with_capacity(patches.len());
        for node in patches {
            let diagnostics = &mut *context.diagnostics;
            let value = node.value_with(DuplicateKeys::Refuse, Words::Texts, diagnostics)?;
            if value.entries().is_none() {
                let problem = format!(
                    "expected a patch that looks like the object, found {}",
                    name_of(&value.data)
                );
                context.diagnostics.push(self.error(context, Some(node.place()), problem));
                return None;
            }
            let mut value = value.into_owned();
            if ends_in_block(node) {
                end_block(&mut value, node);
            }
            quote((&mut value).into(), Some(node.document()));
            let value = value.without_origin();
            read.push(MergePatch { node, value });
        }
        Some(read)
    }

    /// Its operations, as a JSON patch.
    pub(crate) fn operations(&self, context: &mut Context<'_>) -> Option<Operations<'_>> {
        let mut documents = self.documents();
        let Some(node) = documents.next() else {
            context.diagnostics.push(self.error(context, None, "the patch is empty"));
            return None;
        };
        if let Some(second) = documents.next() {
            let error = self
                .error(context, Some(second.place()), "a JSON patch is one document")
                .hint("put all operations into one list");
            context.diagnostics.push(error);
            return None;
        }
        let mut value = node.value(DuplicateKeys::Refuse, context.diagnostics)?;
        if ends_in_block(node) {
            end_block(&mut value, node);
        }
        let value = value.into_owned().without_origin();
        match json_patch::read(&value) {
            Ok(operations) if operations.is_empty() => {
                context.diagnostics.push(self.error(
                    context,
                    Some(node.place()),
                    "the patch is empty",
                ));
                None
            }
            Ok(operations) => Some(Operations { text: self, node, list: operations }),
            Err(malformed) => {
                let place = node.nearest(&malformed.field).place();
                let error = self.error(context, Some(place), malformed.message);
                context.diagnostics.push(error.maybe_hint(malformed.hint));
                None
            }
        }
    }

    /// An error in the patch, at a place in it.
    pub(crate) fn error(
        &self,
        context: &Context<'_>,
        place: Option<Place>,
        problem: impl std::fmt::Display,
    ) -> Diagnostic {
        let mut error = context.transformer.error(&self.field, problem);
        error.place = place;
        placed(error, &self.field, context)
    }
}

/// An error in the patch of a field, at its place in the file that holds the patch.
fn placed(mut error: Diagnostic, field: &FieldPath, context: &Context<'_>) -> Diagnostic {
    let transformer = context.transformer;
    let written = error.place.as_ref();
    let written = written.and_then(|place| transformer.place_in_text(field, place));
    match (written, transformer.place_of(field)) {
        (Some(written), _) => error.place = Some(written),
        (None, Some(configured)) if error.place.is_some() => {
            error = error.related(configured, "this patch");
        }
        (None, configured) => error.place = error.place.or(configured),
    }
    error
}

impl MergePatch<'_> {
    /// Merges it into the resource that it names.
    pub(crate) fn apply_by_name(
        &self,
        text: &PatchText,
        allowed: Allowed,
        resources: &mut Vec<Resource<'_>>,
        context: &mut Context<'_>,
    ) {
        match self.target(resources) {
            Ok(target) => self.apply(text, allowed, &[target], resources, context),
            Err((problem, hint)) => {
                let place =
                    self.node.nearest(&FieldPath::root().key("metadata").key("name")).place();
                let error = text.error(context, Some(place), problem);
                context.diagnostics.push(error.maybe_hint(hint));
            }
        }
    }

    /// Merges it into resources, which are given by ascending positions.
    pub(crate) fn apply(
        &self,
        text: &PatchText,
        allowed: Allowed,
        targets: &[usize],
        resources: &mut Vec<Resource<'_>>,
        context: &mut Context<'_>,
    ) {
        if context.is_of_kustomization && !targets.is_empty() {
            context.state.shared.need_built_in_schema();
        }
        let mut gone = Vec::new();
        let size = Extent::of(&self.value).bytes;
        for &target in targets {
            let Some(resource) = resources.get_mut(target) else {
                continue;
            };
            if !context.budget.take(size) {
                break;
            }
            let known = self.known(resource, context);
            let mut losses = Vec::new();
            match merge_into(resource, &self.value, allowed, known, &mut losses) {
                Ok(Merged::Kept) => resource.drop_changed_shared(),
                Ok(Merged::Deleted) => gone.push(target),
                Err(problem) => {
                    let error = self.problem(text, resource, problem, context);
                    context.diagnostics.push(error);
                }
            }
            for loss in losses {
                let mut warning = self.problem(text, resource, loss, context);
                warning.severity = Severity::Warning;
                context.diagnostics.push(warning);
            }
        }
        if allowed.name_change || allowed.kind_change {
            self.check_names(text, targets, resources, context);
        }
        for target in gone.into_iter().rev() {
            resources.remove(target);
        }
    }

    /// The lists of a resource that it merges.
    fn known<'k>(&self, resource: &Resource<'_>, context: &Context<'k>) -> Known<'k> {
        let text = |key| resource.str_at(&[key]).unwrap_or_default();
        let of = if context.is_of_kustomization {
            merge_keys::known_to_kustomize
        } else {
            merge_keys::known
        };
        let patch_kind = self.value.str_at(&["kind"]).unwrap_or_default();
        let schema = context.tables.schema();
        of(schema, text("apiVersion"), text("kind"), patch_kind)
    }

    /// A problem of merging it into a resource.
    fn problem(
        &self,
        text: &PatchText,
        resource: &Resource<'_>,
        problem: Problem,
        context: &Context<'_>,
    ) -> Diagnostic {
        let path = problem.path();
        let place = self.node.nearest(&path).place();
        let mut error = text.error(context, Some(place), &problem.message);
        error.object = Some(resource.reference());
        error.field = Some(path.to_string()).filter(|path| !path.is_empty());
        if let Some(place) = resource.place() {
            error = error.related(place, "patched here");
        }
        error.maybe_hint(problem.hint)
    }

    /// Reports an identity that two resources now have.
    fn check_names(
        &self,
        text: &PatchText,
        targets: &[usize],
        resources: &[Resource<'_>],
        context: &mut Context<'_>,
    ) {
        let mut names = BTreeMap::new();
        for identity in resources.iter().filter_map(Resource::identity) {
            *names.entry(identity).or_insert(0) += 1;
        }
        let mut changed = targets.iter().filter_map(|target| resources.get(*target)?.identity());
        if let Some(twice) = changed.find(|identity| names.get(identity) > Some(&1)) {
            let problem = format!("two objects are called `{twice}` with this patch");
            context.diagnostics.push(text.error(context, Some(self.node.place()), problem));
        }
    }

    /// The resource that it names, or the error with a hint.
    fn target(
        &self,
        resources: &[Resource<'_>],
    ) -> std::result::Result<usize, (String, Option<String>)> {
        let Some(wanted) = Identity::of(&self.value) else {
            let field =
                if self.value.str_at(&["kind"]).is_some() { "metadata.name" } else { "kind" };
            let hint = "or select its objects with `target`".to_owned();
            return Err((
                format!("the patch does not name its object: it has no `{field}`"),
                Some(hint),
            ));
        };
        let api_version = self.value.str_at(&["apiVersion"]).unwrap_or_default();
        let named: Vec<(usize, &Resource<'_>)> = resources
            .iter()
            .enumerate()
            .filter(|(_, resource)| is_named(resource, &wanted))
            .collect();
        let has_version = |resource: &Resource<'_>| {
            let own = resource.str_at(&["apiVersion"]).unwrap_or_default();
            version(own) == version(api_version)
        };
        let mut found = named.iter().filter(|(_, resource)| has_version(resource));
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Ok(*index),
            (Some(_), Some(_)) => {
                let hint = "select one of them with `target`".to_owned();
                Err((format!("several objects are or were `{wanted}`"), Some(hint)))
            }
            (None, _) => {
                let other =
                    named.first().and_then(|(_, resource)| resource.str_at(&["apiVersion"]));
                let hint = match other {
                    Some(other) => {
                        Some(format!("its apiVersion is `{other}`, not `{api_version}`"))
                    }
                    None => suggestion(&wanted, resources),
                };
                Err((format!("the object of the patch, `{wanted}`, does not exist"), hint))
            }
        }
    }
}

/// Whether a resource has or had an identity.
fn is_named(resource: &Resource<'_>, wanted: &Identity) -> bool {
    let is_same = |identity: &Identity| {
        identity.name == wanted.name
            && identity.kind == wanted.kind
            && identity.group == wanted.group
            && effective_namespace(identity) == effective_namespace(wanted)
    };
    // Most resources differ in their names, which need not be copied.
    let is_called = resource.str_at(&["metadata", "name"]) == Some(wanted.name.as_str());
    (is_called || !resource.previous.is_empty()) && resource.is_or_was(is_same)
}

fn suggestion(wanted: &Identity, resources: &[Resource<'_>]) -> Option<String> {
    let known: Vec<String> = resources
        .iter()
        .filter_map(Resource::identity)
        .map(|identity| identity.to_string())
        .collect();
    let close = closest(&wanted.to_string(), known.iter().map(String::as_str))?;
    Some(format!("did you mean `{close}`?"))
}

/// Merges a patch into a resource. Its API version and namespace stay, as do its kind and name
/// unless they may change.
fn merge_into(
    resource: &mut Resource<'_>,
    patch: &Value<'static>,
    allowed: Allowed,
    known: Known<'_>,
    losses: &mut Vec<Problem>,
) -> std::result::Result<Merged, Problem> {
    let before = resource.identity();
    let top = [("apiVersion", false), ("kind", allowed.kind_change)];
    let inner = [("name", allowed.name_change), ("namespace", false)];
    let top = top.map(|(key, may_change)| (key, may_change, resource.value().get(key).cloned()));
    let inner = inner.map(|(key, may_change)| {
        (key, may_change, resource.value().at(&["metadata", key]).cloned())
    });
    let mut merging = Merging { is_quoted: &resource.is_quoted(), losses: Vec::new() };
    if merge(resource.value_mut(), patch, known, &mut merging)? == Merged::Deleted {
        return Ok(Merged::Deleted);
    }
    losses.append(&mut merging.losses);
    for (key, may_change, old) in top {
        restore(resource.value_mut(), key, may_change, old);
    }
    let had_metadata = inner.iter().any(|(_, _, old)| old.is_some());
    if let Some(metadata) = (had_metadata || resource.value().get("metadata").is_some())
        .then(|| resource.value_mut().mapping_at("metadata"))
        .flatten()
    {
        for (key, may_change, old) in inner {
            restore(metadata, key, may_change, old);
        }
    }
    drop_empty_annotations(resource);
    remember(resource, before);
    Ok(Merged::Kept)
}

/// As kustomize does after a patch removes the last one.
fn drop_empty_annotations(resource: &mut Resource<'_>) {
    let annotations = resource.view().at(&["metadata", "annotations"]);
    let entries = annotations.and_then(View::entries);
    if entries.is_some_and(|mut entries| entries.next().is_none())
        && let Some(metadata) = resource.view_mut().get_mut("metadata")
    {
        metadata.value_mut().remove("annotations");
    }
}

fn restore<'s>(
    mapping: &mut Value<'s>,
    key: &'static str,
    may_change: bool,
    old: Option<Value<'s>>,
) {
    match old {
        _ if may_change => {}
        Some(old) => mapping.insert(key.into(), old),
        None => drop(mapping.remove(key)),
    }
}

/// Remembers the identity that a resource had before, if that has changed.
pub(crate) fn remember(resource: &mut Resource<'_>, before: Option<Identity>) {
    if let Some(before) = before
        && resource.identity().as_ref() != Some(&before)
    {
        resource.previous.push(before);
    }
}

/// The operations of a JSON patch.
#[derive(Debug)]
pub(crate) struct Operations<'t> {
    text: &'t PatchText,
    node: Cursor<'t>,
    list: Vec<Operation>,
}

impl Operations<'_> {
    /// Applies the operations to the resources at the positions `targets`, which remember their
    /// former identities.
    pub(crate) fn apply(
        &self,
        targets: &[usize],
        resources: &mut [Resource<'_>],
        context: &mut Context<'_>,
    ) {
        let before: Vec<_> = targets.iter().map(|at| identity(resources, *at)).collect();
        self.apply_without_trace(targets, resources, context);
        for (at, before) in targets.iter().zip(before) {
            if let Some(resource) = resources.get_mut(*at) {
                remember(resource, before);
                resource.is_patched = true;
            }
        }
    }

    /// Applies them to resources that forget their former identities.
    pub(crate) fn apply_without_trace(
        &self,
        targets: &[usize],
        resources: &mut [Resource<'_>],
        context: &mut Context<'_>,
    ) {
        for &target in targets {
            let Some(resource) = resources.get_mut(target) else {
                continue;
            };
            for (index, operation) in self.list.iter().enumerate() {
                let report =
                    |problem: &str, hint, resource: &Resource<'_>, context: &Context<'_>| {
                        let place =
                            self.node.nearest(&FieldPath::root().index(index).key("path")).place();
                        let problem = format!("`{}`: {problem}", operation.path());
                        let mut error = self.text.error(context, Some(place), problem);
                        error.object = Some(resource.reference());
                        if let Some(place) = resource.place() {
                            error = error.related(place, "patched here");
                        }
                        error.maybe_hint(hint)
                    };
                let object = if self.list.len() > MAX_IN_PARTS {
                    resource.value_mut().into()
                } else {
                    resource.view_mut()
                };
                if let Err(problem) = operation.apply(object, context.budget) {
                    let error = report(&problem, operation.hint(), resource, context);
                    context.diagnostics.push(error);
                    break;
                }
                if operation.sets(&["metadata", "annotations"]) {
                    // Kustomize notes in annotations where an object comes from.
                    resource.trace = None;
                }
                if let Some((problem, hint)) = operation.stray_dash(resource.view_mut()) {
                    let mut warning = report(problem, Some(hint), resource, context);
                    warning.severity = Severity::Warning;
                    context.diagnostics.push(warning);
                }
            }
            let document = resource.document().cloned();
            quote(resource.view_mut(), document.as_deref());
            // A JSON patch gives each field a value of its own, also in kustomize.
            resource.shared.clear();
            drop_empty_annotations(resource);
        }
    }
}

/// The identity of the resource at a position.
pub(crate) fn identity(resources: &[Resource<'_>], at: usize) -> Option<Identity> {
    resources.get(at).and_then(Resource::identity)
}

/// The positions of the resources that a field of the configuration selects; none if the field is
/// malformed. Selecting no resources is a warning.
pub(crate) fn select(
    selector: &Selector,
    field: &FieldPath,
    resources: &[Resource<'_>],
    context: &mut Context<'_>,
) -> Option<Vec<usize>> {
    let matcher = compile(selector, field, context)?;
    let selects = |(_, resource): &(usize, &Resource<'_>)| matcher.selects(resource);
    let selected = resources.iter().enumerate().filter(selects);
    let selected: Vec<usize> = selected.map(|(index, _)| index).collect();
    if selected.is_empty() {
        let warning = selects_nothing(selector, field, resources, context);
        context.diagnostics.push(warning);
    }
    Some(selected)
}

/// Compiles a selector; none if it is malformed, which is reported.
fn compile(selector: &Selector, field: &FieldPath, context: &mut Context<'_>) -> Option<Matcher> {
    match selector.compile() {
        Ok(matcher) => Some(matcher),
        Err((key, problem)) => {
            let error = context.transformer.error(&field.clone().key(key), problem);
            context.diagnostics.push(error);
            None
        }
    }
}

/// The warning that a field of the configuration selects no resources.
pub(crate) fn selects_nothing(
    selector: &Selector,
    field: &FieldPath,
    resources: &[Resource<'_>],
    context: &Context<'_>,
) -> Diagnostic {
    let mut warning =
        Diagnostic::warning(format!("{}: `{field}` selects nothing", context.transformer.id));
    warning.place = context.transformer.place_of(field);
    warning.field = Some(field.to_string());
    warning.maybe_hint(selector.suggestion(resources))
}
