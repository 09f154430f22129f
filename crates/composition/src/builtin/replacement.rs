//! `ReplacementTransformer`: copies a value from one object to fields of others.
//!
//! Source: kustomize 5.8, `api/internal/builtins/ReplacementTransformer.go` and
//! `api/filters/replacement`. `reject` excludes the objects that match all of its fields, as
//! `select` selects; kustomize also excludes objects that match only its labels.

use serde::Deserialize;

use crate::builtin::patches::{PatchText, selects_nothing};
use crate::engine::step::{Context, Transform};
use crate::fields::replacement_path::ReplacementPath;
use crate::fields::selector::{Matcher, Selector, version};
use crate::names::conflicts;
use crate::resources::resource::Resource;
use crate::values::budget::{Budget, Extent};
use crate::values::quote::{quote, written};
use krm_core::Identity;
use krm_core::scalar::text_of;
use krm_core::scope::effective_namespace;
use krm_core::typed;
use krm_yaml::diagnostic::{Diagnostic, Severity};
use krm_yaml::scalar::{is_non_finite, resolve};
use krm_yaml::{Cursor, Data, DuplicateKeys, FieldPath, Scalar, Value, Words, is_word, name_of};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplacementConfig {
    #[serde(default)]
    replacements: Vec<Replacement>,
}

/// A replacement, or the path of a file with one or a list of them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Replacement {
    path: String,
    source: Option<SourceSelector>,
    source_value: Option<String>,
    targets: Vec<Target>,
}

/// The object and the field to copy from.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct SourceSelector {
    group: String,
    version: String,
    kind: String,
    name: String,
    namespace: String,
    field_path: String,
    options: Options,
}

/// The objects and the fields to copy to.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Target {
    select: Option<Selector>,
    reject: Vec<Selector>,
    field_paths: Vec<String>,
    options: Options,
}

/// Which part of a string to copy or replace, and whether to add fields.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    delimiter: String,
    index: i64,
    create: bool,
    /// Has no effect, as upstream; a warning says so.
    encoding: String,
}

/// The default field of sources and targets.
const DEFAULT_FIELD: &str = "metadata.name";

impl Transform for ReplacementConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let root = FieldPath::root();
        for (index, replacement) in self.replacements.iter().enumerate() {
            let field = root.clone().key("replacements").index(index);
            if replacement.path.is_empty() {
                let origin = ReplacementOrigin { field: root.clone(), node: None, inner: field };
                origin.replace(replacement, resources, context);
                continue;
            }
            let field = field.key("path");
            if replacement.source.is_some() || !replacement.targets.is_empty() {
                let problem = "`path` names the whole replacement, so other fields are not allowed";
                context.diagnostics.push(context.transformer.error(&field, problem));
                continue;
            }
            let Some(text) = PatchText::from_file(&replacement.path, field.clone(), context) else {
                continue;
            };
            for node in text.documents() {
                let nodes: Vec<Cursor<'_>> =
                    if node.is_sequence() { node.children().collect() } else { vec![node] };
                for node in nodes {
                    let origin = ReplacementOrigin {
                        field: field.clone(),
                        node: Some(node),
                        inner: root.clone(),
                    };
                    if let Some(replacement) = origin.read(node, context) {
                        origin.replace(&replacement, resources, context);
                    }
                }
            }
        }
    }
}

/// The origin of a replacement: in a field of the configuration, or in the file that the field
/// names.
struct ReplacementOrigin<'t> {
    /// The field that names the file.
    field: FieldPath,
    node: Option<Cursor<'t>>,
    /// The path of the replacement from there.
    inner: FieldPath,
}

impl ReplacementOrigin<'_> {
    fn error(
        &self,
        path: &FieldPath,
        problem: impl std::fmt::Display,
        context: &Context<'_>,
    ) -> Diagnostic {
        let Some(node) = self.node else {
            return context.transformer.error(&self.inner.clone().join(path.steps()), problem);
        };
        let mut error = context.transformer.error(&self.field, problem);
        error.field = Some(path.to_string()).filter(|path| !path.is_empty());
        let named = error.place.replace(node.nearest(path).place());
        match named {
            Some(named) => error.related(named, "named here"),
            None => error,
        }
    }

    fn read(&self, node: Cursor<'_>, context: &mut Context<'_>) -> Option<Replacement> {
        let value = node.value_with(DuplicateKeys::Refuse, Words::Texts, context.diagnostics)?;
        // Kustomize ignores unknown keys of a file.
        let ignores_unknown = context.is_of_kustomization;
        let (read, keys) = typed::read_in_any_case(&value, ignores_unknown);
        for key in keys {
            let (problem, hint) = key.in_words();
            let mut warning = self.error(&key.written, problem, context).maybe_hint(hint);
            warning.severity = Severity::Warning;
            let node = node.lookup(&key.written);
            warning.place = node.map(Cursor::key_place).or(warning.place);
            context.diagnostics.push(warning);
        }
        match read {
            Ok(replacement) => Some(replacement),
            Err(mismatch) => {
                let path = mismatch.field(&FieldPath::root());
                let (problem, hint) = mismatch.in_words();
                let error = self.error(&path, problem, context);
                context.diagnostics.push(error.maybe_hint(hint));
                None
            }
        }
    }

    fn replace(
        &self,
        replacement: &Replacement,
        resources: &mut [Resource<'_>],
        context: &mut Context<'_>,
    ) {
        if context.budget.is_exceeded() {
            return;
        }
        let root = FieldPath::root;
        if replacement.targets.is_empty() {
            let error = self.error(&root(), "the replacement has no `targets`", context);
            context.diagnostics.push(error);
            return;
        }
        self.warn_of_encoding(replacement, context);
        let value = match (&replacement.source, &replacement.source_value) {
            (Some(source), None) => self.value(source, resources, context),
            (None, Some(text)) => Some(Copied::new(Value::string(text.clone()), None)),
            (None, None) => {
                let error = self.error(&root(), "the replacement has no `source`", context);
                context.diagnostics.push(error);
                None
            }
            (Some(_), Some(_)) => {
                let problem = "`source` and `sourceValue` are both given, and only one is allowed";
                let error = self.error(&root().key("sourceValue"), problem, context);
                context.diagnostics.push(error);
                None
            }
        };
        let Some(value) = value else { return };
        for (index, target) in replacement.targets.iter().enumerate() {
            let field = root().key("targets").index(index);
            self.set(target, &field, &value, resources, context);
        }
    }

    fn warn_of_encoding(&self, replacement: &Replacement, context: &mut Context<'_>) {
        let source = replacement.source.iter().map(|source| &source.options);
        let targets = replacement.targets.iter().map(|target| &target.options);
        if source.chain(targets).any(|options| !options.encoding.is_empty()) {
            let problem = "`encoding` has no effect: values are copied as they are written";
            let mut warning = self.error(&FieldPath::root(), problem, context);
            warning.severity = Severity::Warning;
            context.diagnostics.push(warning);
        }
    }

    /// Finds the value to copy. Reports a source that selects no resource or several.
    fn value(
        &self,
        source: &SourceSelector,
        resources: &[Resource<'_>],
        context: &mut Context<'_>,
    ) -> Option<Copied> {
        let field = FieldPath::root().key("source");
        let mut found = resources.iter().filter(|resource| source.selects(resource));
        let resource = match (found.next(), found.next()) {
            (Some(resource), None) => resource,
            (Some(first), Some(second)) => {
                let name = |one: &Resource<'_>| match one.identity() {
                    Some(identity) => identity.to_string(),
                    None => one.reference().name,
                };
                let (first, second) = (name(first), name(second));
                let problem = format!(
                    "the source selects two objects, `{first}` and `{second}`; it must select one"
                );
                context.diagnostics.push(self.error(&field, problem, context));
                return None;
            }
            (None, _) => {
                let error = self.error(&field, "the source does not exist", context);
                let hint = source.as_selector().suggestion(resources);
                context.diagnostics.push(error.maybe_hint(hint));
                return None;
            }
        };
        let text = or_default(&source.field_path);
        let path = ReplacementPath::parse(text, '.');
        let found = path.find(resource.value());
        let problem = match found {
            Ok(Some(value)) if !is_empty(value) => match refined(value, &source.options) {
                Ok(refined) => {
                    let document = resource.document();
                    let text = document.and_then(|document| written(value, document));
                    let is_whole = source.options.delimiter.is_empty();
                    return Some(Copied::new(refined, text.filter(|_| is_whole)));
                }
                Err(problem) => problem,
            },
            Ok(Some(_)) => format!("`{path}` of the source is empty"),
            Ok(None) => format!("the source has no `{path}`"),
            Err(problem) => format!("`{path}` of the source: {problem}"),
        };
        let mut error = self.error(&field.key("fieldPath"), problem, context);
        error.object = Some(resource.reference());
        if let Some(place) = resource.place() {
            error = error.related(place, "the source");
        }
        context.diagnostics.push(error.maybe_hint(path.suggestion(resource.value())));
        None
    }

    /// Sets the fields of a target.
    fn set(
        &self,
        target: &Target,
        field: &FieldPath,
        value: &Copied,
        resources: &mut [Resource<'_>],
        context: &mut Context<'_>,
    ) {
        let Some(select) = &target.select else {
            let error = self.error(field, "the target has no `select`", context);
            context.diagnostics.push(error);
            return;
        };
        let select_field = field.clone().key("select");
        let Some(selected) = self.compile(select, &select_field, context) else {
            return;
        };
        let rejected = self.rejected(target, field, context);
        let paths = target.paths();
        let mut count = 0;
        let mut renamed = Vec::new();
        for (at, resource) in resources.iter_mut().enumerate() {
            if !selected.selects(resource) {
                continue;
            }
            count += 1;
            if rejected.iter().any(|reject| reject.fits(resource)) {
                continue;
            }
            let before = resource.identity();
            for (index, path) in paths.iter().enumerate() {
                if let Err(problem) =
                    set_field(resource, path, value, &target.options, context.budget)
                {
                    let field = field.clone().key("fieldPaths").index(index);
                    self.report(resource, &field, problem, context);
                }
            }
            if resource.identity() != before {
                renamed.push(at);
            }
            resource.drop_changed_shared();
        }
        conflicts::refuse_renamed(&renamed, resources, context);
        if count == 0 {
            let field = self.inner.clone().join(select_field.steps());
            let mut warning = selects_nothing(select, &field, resources, context);
            if self.node.is_some() {
                let placed = self.error(&select_field, "", context);
                warning.place = placed.place;
                warning.related = placed.related;
            }
            context.diagnostics.push(warning);
        }
    }

    /// Compiles the selectors of `reject`, but for empty ones.
    fn rejected(
        &self,
        target: &Target,
        field: &FieldPath,
        context: &mut Context<'_>,
    ) -> Vec<Matcher> {
        let mut rejected = Vec::new();
        for (index, reject) in target.reject.iter().enumerate() {
            let field = field.clone().key("reject").index(index);
            if !reject.is_empty() {
                rejected.extend(self.compile(reject, &field, context));
            }
        }
        rejected
    }

    /// Compiles a selector; none if it is malformed, which is reported.
    fn compile(
        &self,
        selector: &Selector,
        field: &FieldPath,
        context: &mut Context<'_>,
    ) -> Option<Matcher> {
        match selector.compile() {
            Ok(matcher) => Some(matcher.literally()),
            Err((key, problem)) => {
                let error = self.error(&field.clone().key(key), problem, context);
                context.diagnostics.push(error);
                None
            }
        }
    }

    /// Reports why a field of a target cannot be set.
    fn report(
        &self,
        target: &Resource<'_>,
        field: &FieldPath,
        (problem, hint): (String, Option<String>),
        context: &mut Context<'_>,
    ) {
        let mut error = self.error(field, problem, context);
        error.object = Some(target.reference());
        if let Some(place) = target.place() {
            error = error.related(place, "the target");
        }
        context.diagnostics.push(error.maybe_hint(hint));
    }
}

impl Target {
    /// Its fields, or the default.
    fn paths(&self) -> Vec<ReplacementPath> {
        let paths = self.field_paths.iter().map(String::as_str);
        let default = self.field_paths.is_empty().then_some(DEFAULT_FIELD);
        let paths = paths.chain(default);
        paths.map(|path| ReplacementPath::parse(path, '.')).collect()
    }
}

fn or_default(path: &str) -> &str {
    match path {
        "" => DEFAULT_FIELD,
        path => path,
    }
}

impl SourceSelector {
    /// Whether it selects an object, by the current identity or a former one. Here a name is not a
    /// regular expression.
    fn selects(&self, resource: &Resource<'_>) -> bool {
        let fits = |own: &str, found: &str| own.is_empty() || own == found;
        let api_version = resource.str_at(&["apiVersion"]).unwrap_or_default();
        let is_named = |identity: &Identity| {
            let namespace = Identity { namespace: self.namespace.clone(), ..identity.clone() };
            fits(&self.name, &identity.name)
                && fits(&self.kind, &identity.kind)
                && fits(&self.group, &identity.group)
                && (self.namespace.is_empty()
                    || effective_namespace(identity) == effective_namespace(&namespace))
        };
        let is_called = resource.str_at(&["metadata", "name"]).unwrap_or_default();
        fits(&self.version, version(api_version))
            && (fits(&self.name, is_called) || !resource.previous.is_empty())
            && resource.is_or_was(is_named)
    }

    fn as_selector(&self) -> Selector {
        Selector { kind: self.kind.clone(), name: self.name.clone(), ..Selector::default() }
    }
}

fn is_empty(value: &Value<'_>) -> bool {
    match &value.data {
        Data::Scalar(scalar) => *scalar == Scalar::Null,
        Data::Sequence(items) => items.is_empty(),
        Data::Mapping(entries) => entries.is_empty(),
    }
}

const SCALARS_ONLY: &str = "`delimiter` needs a string";

/// A value to copy, with its spelling.
struct Copied {
    value: Value<'static>,
    extent: Extent,
    /// The text of a scalar, as it is written.
    text: Option<String>,
}

impl Copied {
    fn new(value: Value<'static>, text: Option<String>) -> Self {
        let text = text.or_else(|| text_of(&value).map(str::to_owned));
        Self { extent: Extent::of(&value), value, text }
    }
}

/// The part of a source that the options select.
fn refined(value: &Value<'_>, options: &Options) -> Result<Value<'static>, String> {
    if options.delimiter.is_empty() {
        return Ok(value.clone().into_owned().without_origin());
    }
    let text = text_of(value).ok_or(SCALARS_ONLY)?;
    let mut parts = text.split(options.delimiter.as_str());
    let part = usize::try_from(options.index).ok().and_then(|index| parts.nth(index));
    let part = part.ok_or_else(|| {
        let count = text.split(options.delimiter.as_str()).count();
        format!("`index` {} is out of range: the source has {count} parts", options.index)
    })?;
    Ok(match value.as_str() {
        Some(_) => Value::string(part.to_owned()),
        None => typed(part),
    })
}

/// Sets a field of a resource.
fn set_field(
    resource: &mut Resource<'_>,
    path: &ReplacementPath,
    value: &Copied,
    options: &Options,
    budget: &Budget,
) -> Result<(), (String, Option<String>)> {
    let is_text = path.is_text();
    let mut set = |target: &mut Value<'_>| {
        let own = text_of(target).map_or(0, str::len);
        if !budget.take(value.extent.bytes + own) {
            return Ok(());
        }
        let text = assign(target, value, options)?;
        if !is_text {
            return Ok(());
        }
        match &target.data {
            // The new value is a number if the string reads as one.
            Data::Scalar(Scalar::Bool(_) | Scalar::Number(_)) => {
                if let Some(text) = text {
                    target.set(Value::string(text).data);
                }
                Ok(())
            }
            Data::Scalar(_) => Ok(()),
            data => Err(format!("the value is {}, expected a string", name_of(data))),
        }
    };
    let outcome = value.extent.check_below(path.len());
    let outcome = outcome.and_then(|()| path.visit(resource.value_mut(), options.create, &mut set));
    if path.is_for_texts() {
        let document = resource.document().cloned();
        quote(resource.view_mut(), document.as_deref());
    }
    match outcome {
        Ok(0) => {
            let hint = path.suggestion(resource.value());
            let hint = hint.unwrap_or_else(|| {
                let text = path.to_string();
                if text.contains('/') && !text.contains('.') {
                    format!("write dots between keys: `{}`", text.replace('/', "."))
                } else {
                    "to add it, use `options: {create: true}`".to_owned()
                }
            });
            Err((format!("the target has no `{path}`"), Some(hint)))
        }
        Ok(_) => Ok(()),
        Err(problem) => Err((format!("`{path}`: {problem}"), None)),
    }
}

/// Sets a value that was found, or added as null. A scalar keeps its type, and has the text that is
/// returned.
fn assign(
    target: &mut Value<'_>,
    copied: &Copied,
    options: &Options,
) -> Result<Option<String>, String> {
    let value = &copied.value;
    let mut text = copied.text.clone();
    if !options.delimiter.is_empty() {
        let own = match &target.data {
            Data::Scalar(Scalar::Null) => Some(""),
            _ => text_of(target),
        };
        let (Some(new), Some(own)) = (&text, own) else {
            return Err(SCALARS_ONLY.to_owned());
        };
        text = Some(spliced(own, new, options));
    }
    let Some(text) = text else {
        let old = std::mem::replace(target, value.clone());
        target.adopt(&old, &krm_core::item_keys::ITEM_KEYS);
        return Ok(None);
    };
    target.data = match &target.data {
        Data::Scalar(Scalar::String(_)) => Value::string(text.clone()).data,
        Data::Scalar(Scalar::Null) => typed(&text).data,
        Data::Scalar(old) => {
            let new = typed(&text).data;
            let is_same = matches!(
                (old, &new),
                (Scalar::Number(_), Data::Scalar(Scalar::Number(_)))
                    | (Scalar::Bool(_), Data::Scalar(Scalar::Bool(_)))
            );
            if !is_same {
                let expected = name_of(&target.data);
                return Err(format!("the target is {expected}, and the value is not"));
            }
            new
        }
        _ => value.data.clone(),
    };
    Ok(Some(text))
}

/// A string with one of its parts replaced, or with one added at either end.
fn spliced(text: &str, new: &str, options: &Options) -> String {
    let mut parts: Vec<&str> = text.split(options.delimiter.as_str()).collect();
    let at = usize::try_from(options.index).ok();
    match at.map(|at| parts.get_mut(at)) {
        None => parts.insert(0, new),
        Some(Some(part)) => *part = new,
        Some(None) => parts.push(new),
    }
    parts.join(&options.delimiter)
}

/// A number or bool if a string reads as one without quotes, otherwise the string.
fn typed(text: &str) -> Value<'static> {
    match resolve(text) {
        Scalar::Number(digits) if !is_non_finite(text) => Value::number(digits.into_owned()),
        Scalar::Bool(flag) if !is_word(text) => flag.into(),
        _ => Value::string(text.to_owned()),
    }
}
