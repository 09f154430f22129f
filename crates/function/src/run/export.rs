//! `kind: TemplateExport`: adds a Template that is made of the objects, which stay as they are.

use std::borrow::Cow;

use crate::input::items::Items;
use crate::input::objects::{Decision, Objects};
use crate::placing::creation::Run;
use crate::plan::{Instance, Owns, Plan};
use krm_core::annotations::{LOCAL_CONFIG, annotate};
use krm_core::fields::unknown;
use krm_core::identity::{self, group};
use krm_core::names::check_object_name;
use krm_template_engine::{Dialect, OWN_GROUP, Object, is_template_group};
use krm_template_export::{self as export, FieldPattern, Options, groups};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Document, DuplicateKeys, SharedNode};

/// The kind of the functionConfig.
const KIND: &str = "TemplateExport";

/// The fields of its `spec`.
pub(crate) const FIELDS: &[&str] =
    &["name", "dialect", "parameterize", "exact", "keep", "drop", "defaults"];

/// Whether a functionConfig asks for an export.
pub(crate) fn is_export(config: Cursor<'_>) -> bool {
    let text = |key| config.text_at([key]).unwrap_or_default();
    text("kind") == KIND && group(&text("apiVersion")) == OWN_GROUP
}

/// Decides what becomes of the Template among the objects.
pub(crate) fn decide<O: Objects>(
    run: &Run<'_, O>,
    diagnostics: &mut Diagnostics,
) -> Decision<O::ItemChange, O::New> {
    let config = run.config;
    let mut found = Diagnostics::new();
    let name = config.text_at(["metadata", "name"]).unwrap_or_default();
    let namespace = config.text_at(["metadata", "namespace"]).unwrap_or_default();
    let owner = format!("{KIND}/{namespace}/{name}");
    let rules = run.rules(&mut found);
    let options = Spec::read(config, &name, &mut found);
    found.attribute_to(&identity::reference(config));
    let plan = Plan { owns: Owns { base: owner.clone(), ..Owns::default() }, ..Plan::default() };
    let instance = Instance {
        name: name.clone().into_owned(),
        seed: name.into_owned(),
        owner,
        ..Instance::default()
    };
    let exported = options.and_then(|options| {
        let nodes = exported_nodes(run.objects, run.items, &instance.owner, &mut found);
        export::of_nodes(nodes.into_iter().cloned(), &options, &mut found)
    });
    let document = exported.and_then(|exported| {
        for line in &exported.report {
            found.push(line.clone().of_success());
        }
        for message in exported.parameters.iter() {
            found.push(Diagnostic::info(message).of_success());
        }
        found.take(Document::parse(&Source::new("the exported Template", exported.text)))
    });
    let decision = run.placed(&plan, &rules, &mut found, |placing, _, found| {
        let Some(document) = &document else {
            return;
        };
        let root = document.roots().next();
        let value = root.and_then(|root| root.value(DuplicateKeys::Refuse, found));
        let Some(mut value) = value else {
            return;
        };
        if run.items.storage.are_kept {
            // A Template is a configuration: kpt must not apply it.
            annotate(&mut value, LOCAL_CONFIG, "true");
        }
        let object = Object { value, document, field: String::new() };
        placing.object(0, &instance, object, found);
    });
    diagnostics.append(found);
    decision
}

/// The objects that are exported: no configuration, and not what an earlier run added.
fn exported_nodes<'o, O: Objects>(
    objects: &'o O,
    items: &Items,
    owner: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<&'o SharedNode> {
    let mut nodes = Vec::new();
    for (position, item) in items.list.iter().enumerate() {
        let identity = item.identity.as_ref();
        // Templates of OpenShift too: one may be the output of an earlier run.
        let is_ours = identity.is_some_and(|one| {
            one.group == OWN_GROUP || one.kind == "Template" && is_template_group(&one.group)
        });
        let is_own = item.owner.as_deref() == Some(owner);
        let is_package = identity.is_some_and(|one| one.group == "kpt.dev");
        if item.is_config || item.is_local || is_ours || is_own || is_package {
            continue;
        }
        nodes.extend(diagnostics.take(objects.at(position)));
    }
    nodes
}

/// The `spec` of a functionConfig.
struct Spec<'c, 'd> {
    node: Option<Cursor<'c>>,
    diagnostics: &'d mut Diagnostics,
}

impl<'c> Spec<'c, '_> {
    /// Reads it; `name` is that of the functionConfig, which the Template gets by default.
    fn read(config: Cursor<'c>, name: &str, diagnostics: &mut Diagnostics) -> Option<Options> {
        let mut spec =
            Spec { node: config.get("spec").filter(|spec| !spec.is_null()), diagnostics };
        let options = spec.options(name);
        options.filter(|_| !diagnostics.has_errors())
    }

    fn options(&mut self, default_name: &str) -> Option<Options> {
        if let Some(node) = self.node {
            for field in unknown(node, FIELDS) {
                let message = field.message("the `spec` of a TemplateExport");
                let problem = field.locate(Diagnostic::error(message), "spec.");
                self.diagnostics.push(problem);
            }
        }
        let name = self.text("name").map(|(name, _)| name);
        let name = name.unwrap_or(Cow::Borrowed(default_name)).into_owned();
        if let Some(problem) = check_object_name(OWN_GROUP, "Template", &name) {
            self.refuse("name", Err(problem.into()), |()| ());
        }
        let dialect = self.choice("dialect", &["proposal", "openshift"]);
        let defaults = self.choice("defaults", &["drop", "keep"]);
        let standard = Options::default();
        let parameterize = self.list("parameterize");
        let groups = parameterize.map(|words| groups(words.iter().map(AsRef::as_ref)));
        let groups = match groups {
            Some(groups) => self.refuse("parameterize", groups, |groups| groups),
            None => Some(standard.groups),
        };
        Some(Options {
            name: Some(name),
            dialect: match dialect {
                Some(1) => Dialect::OpenShift,
                _ => Dialect::Proposal,
            },
            groups: groups?,
            exact: self.flag("exact"),
            keep: self.patterns("keep"),
            drop: self.patterns("drop"),
            keeps_defaults: defaults == Some(1),
            selector: standard.selector,
            format: standard.format,
        })
    }

    fn get(&self, key: &str) -> Option<Cursor<'c>> {
        self.node?.get(key).filter(|field| !field.is_null())
    }

    fn error(&mut self, key: &str, problem: Diagnostic) {
        let mut problem = problem.field(format!("spec.{key}"));
        problem.place = self.get(key).map(Cursor::place);
        self.diagnostics.push(problem);
    }

    /// The value of a result, or its error at a field.
    fn refuse<T, R>(&mut self, key: &str, result: Result<T>, of: impl Fn(T) -> R) -> Option<R> {
        match result {
            Ok(value) => Some(of(value)),
            Err(problem) => {
                self.error(key, *problem);
                None
            }
        }
    }

    fn text(&mut self, key: &str) -> Option<(Cow<'c, str>, Cursor<'c>)> {
        let field = self.get(key)?;
        let text = field.text().ok().flatten();
        if text.is_none() || field.is_mapping() || field.is_sequence() {
            self.error(key, Diagnostic::error(format!("`{key}` must be a string")));
            return None;
        }
        Some((text?, field))
    }

    /// The position of a word among those that are allowed.
    fn choice(&mut self, key: &str, words: &[&str]) -> Option<usize> {
        let (text, _) = self.text(key)?;
        let position = words.iter().position(|word| *word == text);
        if position.is_none() {
            let known: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            let meant = closest(&text, words.iter().copied());
            let problem = Diagnostic::error(format!("`{key}` must be {}", known.join(" or ")))
                .maybe_hint(meant.map(|word| format!("did you mean `{word}`?")));
            self.error(key, problem);
        }
        position
    }

    fn flag(&mut self, key: &str) -> bool {
        let Some(field) = self.get(key) else {
            return false;
        };
        if let Some(krm_yaml::Scalar::Bool(flag)) = field.scalar().ok().flatten() {
            return flag;
        }
        let problem = Diagnostic::error(format!("`{key}` must be `true` or `false`"));
        self.error(key, problem);
        false
    }

    /// A list of strings, or one string with commas.
    fn list(&mut self, key: &str) -> Option<Vec<Cow<'c, str>>> {
        let field = self.get(key)?;
        if !field.is_sequence() {
            let (text, _) = self.text(key)?;
            let words = text.split(',').map(|word| Cow::Owned(word.to_owned()));
            return Some(words.collect());
        }
        let items = field.children().map(|item| item.text().ok().flatten());
        let items: Option<Vec<_>> = items.collect();
        if items.is_none() {
            let problem = Diagnostic::error(format!("`{key}` must be a list of strings"));
            self.error(key, problem);
        }
        items
    }

    fn patterns(&mut self, key: &str) -> Vec<FieldPattern> {
        let texts = self.list(key).unwrap_or_default();
        let patterns = texts.iter().map(|text| FieldPattern::parse(text));
        let patterns: Vec<_> = patterns.collect();
        patterns.into_iter().filter_map(|one| self.refuse(key, one, |pattern| pattern)).collect()
    }
}
