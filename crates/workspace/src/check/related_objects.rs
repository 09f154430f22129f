//! Checks the other files that `validate` reads besides Templates: each TemplateInstance, file of
//! values, Composition and DeploymentConfiguration.
//!
//! They are read as `process`, a function and `build` read them, together with the Templates among
//! the files, and nothing is run. Of several Templates of a name the nearest file counts, as a
//! directory may hold several packages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::file::File;
#[cfg(feature = "deployment-manager")]
use super::kustomizations::NO_PYTHON;
use super::kustomizations::{Builds, Machine};
use crate::expansion;
use crate::listing::{Listed, Listing, Listings};
use crate::objects::{has_placeholder, with_items};
use krm_core::fields;
use krm_core::files;
use krm_core::identity;
use krm_template_authoring::lint;
use krm_template_composition::{GROUP, consolidate_node};
use krm_template_engine::{
    self as template, Assignment, Generation, OWN_GROUP, Options, Template, values_of_file,
};
#[cfg(feature = "deployment-manager")]
use krm_template_function as function;
use krm_template_function::plan::{self, Input, InputOrigin};
use krm_template_object_check::{Checker, Rule};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};
use krm_yaml::source::{Place, Source};
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Document, DuplicateKeys, SharedNode, View};

/// All fields of a `ParameterValues`.
const VALUES_FIELDS: [&str; 6] = ["apiVersion", "kind", "metadata", "template", "values", "data"];

/// The kinds of what is checked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A Template.
    Template,
    /// A TemplateInstance.
    Instance,
    /// A file of values, or `ParameterValues`.
    Values,
    /// A Composition.
    Composition,
    /// A Kustomization or Component.
    Kustomization,
    /// A DeploymentConfiguration.
    Deployment,
    /// Any other object of Kubernetes.
    Object,
}

impl Kind {
    /// One of this kind, in messages.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Template => "Template",
            Self::Instance => "TemplateInstance",
            Self::Values => "values file",
            Self::Composition => "Composition",
            Self::Kustomization => "Kustomization",
            Self::Deployment => "DeploymentConfiguration",
            Self::Object => "object",
        }
    }

    fn of(one: &Found<'_>) -> Option<Self> {
        let (root, file) = (one.root, one.file);
        let kind = root.text_at(["kind"]).unwrap_or_default();
        let api_version = root.text_at(["apiVersion"]).unwrap_or_default();
        let group = identity::group(&api_version);
        match kind.as_ref() {
            _ if file.has_values => Some(Self::Values),
            "TemplateInstance" => Some(Self::Instance),
            "ParameterValues" if group == OWN_GROUP => Some(Self::Values),
            "Composition" if group == GROUP || api_version.is_empty() => Some(Self::Composition),
            "DeploymentConfiguration" if group == OWN_GROUP => Some(Self::Deployment),
            // Only one in a directory of its own is built.
            "Kustomization" | "Component" if group == GROUP && file.is_named => {
                Some(Self::Kustomization)
            }
            // A file of values need not be an object.
            "" if file.is_named && api_version.is_empty() && root.is_mapping() => {
                Some(Self::Values)
            }
            "Template" | "List" => None,
            _ => is_object(one).then_some(Self::Object),
        }
    }
}

/// Whether it is an object of Kubernetes, and not a patch that a Kustomization lists.
fn is_object(one: &Found<'_>) -> bool {
    let has = |key: &str| one.root.text_at([key]).is_some_and(|text| !text.is_empty());
    let is_whole = has("apiVersion") && has("kind");
    is_whole && (one.file.is_named || one.listed != Listed::Patch)
}

/// An object, and the file that it is in.
struct Found<'d> {
    document: &'d Arc<Document>,
    root: Cursor<'d>,
    file: &'d File,
    listed: Listed,
}

impl Found<'_> {
    fn node(&self) -> SharedNode {
        SharedNode::new(self.document, self.root.id())
    }
}

/// Checks what is in `files` besides Templates. Adds the path of each file that has something else
/// to `checked`.
pub(super) fn check(
    files: &[File],
    listings: &mut Listings<'_>,
    builds: &mut Builds<'_>,
    machine: &Machine<'_>,
    server: &mut Checker,
    findings: &mut Diagnostics,
    checked: &mut BTreeSet<String>,
) -> BTreeMap<Kind, usize> {
    let mut counts = BTreeMap::new();
    let mut roots = Vec::new();
    for file in files {
        let Ok(document) = &file.document else {
            continue;
        };
        let listed = match listings.listed(&file.path) {
            Listed::No if file.is_composed => Listed::Resource,
            listed => listed,
        };
        let found = document.roots().flat_map(with_items);
        roots.extend(found.map(|root| Found { document, root, file, listed }));
    }
    let near = Near::of(&roots);
    for one in &roots {
        let is_beside = || near.beside(one).is_some();
        let Some(kind) = Kind::of(one).or_else(|| is_beside().then_some(Kind::Values)) else {
            continue;
        };
        let is_object = one.root.get("kind").is_some();
        if matches!(kind, Kind::Values) && !is_object && near.templates.is_empty() {
            continue;
        }
        *counts.entry(kind).or_default() += 1;
        checked.insert(one.file.path.clone());
        let mut found = match kind {
            Kind::Instance => instance(one, &near, server),
            Kind::Values => values(one, &near),
            Kind::Composition => composition(one, machine),
            Kind::Deployment => deployment(one, &near),
            Kind::Kustomization => {
                let listing = Listing::of(&one.file.path, Some(Arc::clone(one.document)));
                builds.kustomize(&listing, false, Some(&mut *server))
            }
            Kind::Object | Kind::Template => object(one, server),
        };
        found.attribute_to_rule("structure");
        if is_object {
            found.attribute_to(&identity::reference(one.root));
            lint::warn_about_annotations(one.root, &mut found);
        }
        findings.append(found);
    }
    counts
}

/// The objects that others may refer to. Of several with a name, the nearest file counts.
struct Near<'f, 'd> {
    inputs: plan::Inputs,
    /// All Templates, by the text that they are in and where they begin.
    templates: BTreeMap<(*const Source, usize), &'f Found<'d>>,
    /// The Templates in each folder.
    folders: BTreeMap<&'d str, Vec<&'f Found<'d>>>,
    /// The names of all Templates, with their namespaces.
    names: BTreeSet<(String, String)>,
}

impl<'f, 'd> Near<'f, 'd> {
    fn of(roots: &'f [Found<'d>]) -> Self {
        let all = roots.iter().filter_map(|one| Input::of_document(one.node()));
        let mut near = Self {
            inputs: plan::Inputs::of(all, InputOrigin::Files),
            templates: BTreeMap::new(),
            folders: BTreeMap::new(),
            names: BTreeSet::new(),
        };
        for one in roots.iter().filter(|one| is_template(one.root)) {
            let place = one.root.place();
            near.templates.insert((Arc::as_ptr(&place.source), place.range.start), one);
            let folder = files::directory_of(&one.file.path);
            near.folders.entry(folder).or_default().push(one);
            let text = |key| one.root.text_at(["metadata", key]).unwrap_or_default().into_owned();
            near.names.insert((text("name"), text("namespace")));
        }
        near
    }

    /// Whether a Template is written at a place.
    fn is_of_template(&self, place: &Place) -> bool {
        let source = Arc::as_ptr(&place.source);
        let mut before = self.templates.range((source, 0)..=(source, place.range.start));
        before.next_back().is_some_and(|(_, one)| is_within(place, one.root))
    }

    /// The nearest Template with the name that values are for.
    fn template(&self, values: &Found<'d>, name: &str) -> Option<SharedNode> {
        let inputs = self.inputs.nearest_to(&values.node());
        inputs.named("Template", name).next().map(|found| found.node().clone())
    }

    /// The Template in the folder of a file of values that no argument names, if it is the only one
    /// there and most of the keys are its parameters.
    fn beside(&self, one: &Found<'d>) -> Option<SharedNode> {
        let is_plain = one.root.is_mapping()
            && one.root.get("kind").is_none()
            && one.root.get("apiVersion").is_none();
        let [template] = self.folders.get(files::directory_of(&one.file.path))?.as_slice() else {
            return None;
        };
        if one.file.is_named || !is_plain {
            return None;
        }
        let read = Template::read(&template.node(), &mut Diagnostics::new())?;
        let names = read.parameters().iter().map(|parameter| parameter.name.as_str());
        let names: BTreeSet<&str> = names.collect();
        let keys = one.root.children().filter_map(|entry| entry.key_text().ok());
        let (known, unknown): (Vec<_>, Vec<_>) = keys.partition(|key| names.contains(key.as_ref()));
        (!known.is_empty() && known.len() >= unknown.len()).then(|| template.node())
    }
}

fn is_template(root: Cursor<'_>) -> bool {
    root.text_at(["kind"]).as_deref() == Some("Template")
}

fn is_within(place: &Place, root: Cursor<'_>) -> bool {
    let all = root.place();
    Arc::ptr_eq(&place.source, &all.source)
        && all.range.start <= place.range.start
        && place.range.end <= all.range.end
}

/// Checks the values of a Template, without the Template itself.
fn check_values(template: &Template, given: &[Assignment], own: Cursor<'_>) -> Diagnostics {
    let mut found = Diagnostics::new();
    template::effective(template, given, &Options::new(Generation::Random), &mut found, |_| ());
    found.retain(|one| {
        let is_own = one.place.as_ref().is_some_and(|place| is_within(place, own));
        is_own || one.rule == Some("given-value")
    });
    found.attribute_to_rule("given-value");
    found
}

/// A DeploymentConfiguration, with the ConfigMaps among the files.
fn deployment(one: &Found<'_>, near: &Near<'_, '_>) -> Diagnostics {
    let inputs = near.inputs.nearest_to(&one.node());
    #[cfg(feature = "deployment-manager")]
    let inputs = inputs.with_python(Some(Arc::new(NO_PYTHON)));
    let mut found = plan::check_deployment(&one.node(), &inputs);
    found.attribute_to_rule("structure");
    let own = lint::disabled_here(one.root, &mut found);
    found.retain(|finding| !own.iter().any(|rule| finding.rule == Some(rule)));
    found
}

/// Checks a TemplateInstance with the Templates and values near it.
fn instance(one: &Found<'_>, near: &Near<'_, '_>, server: &Checker) -> Diagnostics {
    let root = one.root;
    let mut found = Diagnostics::new();
    let plan = plan::read(&one.node(), &near.inputs.nearest_to(&one.node()), &mut found);
    found.retain(|one| !one.place.as_ref().is_some_and(|place| near.is_of_template(place)));
    let mut checked = found.map(|mut error| {
        if error.rule == Some(plan::MISSING_TEMPLATE) {
            error.rule = Some("structure");
            if near.templates.is_empty() {
                // It may well be in another place.
                error.severity = Severity::Warning;
                error.message.push_str(": the values cannot be checked");
                error.hints = vec!["also name the file of the Template".to_owned()];
            }
        }
        error
    });
    for instance in plan.iter().flat_map(|plan| &plan.instances) {
        let expander = plan.iter().find_map(|plan| plan.expanders.get(instance.expander));
        let Some(template) = expander.and_then(|expander| expander.template()) else {
            continue;
        };
        let mut wrong = check_values(template, &instance.given, root);
        if let Some(place) = &instance.place {
            wrong.relate(place, &format!("for the instance `{}`", instance.name));
        }
        checked.append(wrong);
    }
    if let Some(plan) = plan.filter(|_| !checked.has_errors()) {
        expansion::check_plan(plan, &mut checked);
    }
    if let Some(inline) = root.at(["spec", "template"]).filter(|node| node.is_mapping()) {
        let inline = SharedNode::new(one.document, inline.id());
        checked.append(lint::check_template(&inline, &[], Some(server)));
    }
    checked.dedup();
    checked
}

/// Checks an object as an API server does.
fn object(one: &Found<'_>, server: &Checker) -> Diagnostics {
    let mut found = Diagnostics::new();
    let Some(value) = one.root.value(DuplicateKeys::Refuse, &mut found) else {
        found.attribute_to_rule("duplicate-key");
        return found;
    };
    let is_secret = value.str_at(&["kind"]) == Some("Secret");
    for finding in server.check(View::of(&value), &has_placeholder) {
        // The Kustomization may add what is missing and replace a placeholder; what it builds is
        // checked.
        let is_completed = match finding.rule {
            Rule::Refused => one.listed == Listed::Resource,
            Rule::WrongType => one.listed == Listed::Resource && !one.file.is_named,
            Rule::RemovedApi | Rule::UnknownField => false,
        };
        if is_completed {
            continue;
        }
        let node = finding.origin.map(|node| one.document.cursor(node));
        found.push(finding.diagnostic(Some(node.unwrap_or(one.root)), is_secret));
    }
    found
}

/// Checks a file of values with the Templates near it.
fn values(one: &Found<'_>, near: &Near<'_, '_>) -> Diagnostics {
    let root = one.root;
    let mut found = Diagnostics::new();
    let is_object = root.text_at(["kind"]).as_deref() == Some("ParameterValues");
    if is_object {
        unknown_fields(root, &mut found);
    }
    let meant = root.get("template").filter(|meant| is_object && !meant.is_null());
    let meant = meant.map(|meant| (meant, meant.text().ok().flatten().unwrap_or_default()));
    let mut names = near.names.iter();
    let template = match (&meant, names.next(), names.next()) {
        (Some((_, name)), ..) => near.template(one, name),
        (None, Some((name, _)), None) => near.template(one, name),
        (None, ..) => near.beside(one),
    };
    let template_name = match (&meant, &template) {
        (Some((meant, name)), _) => {
            if template.is_none() {
                let known = near.names.iter().map(|(known, _)| known.as_str());
                found.push(no_template(name, *meant, known));
            }
            name.clone().into_owned()
        }
        (None, Some(template)) => {
            let name = template.cursor().text_at(["metadata", "name"]);
            name.unwrap_or_default().into_owned()
        }
        (None, None) => String::new(),
    };
    let given = values_of_file(root, &template_name, &mut found);
    // The errors of the Template are reported already.
    let template = template.and_then(|one| Template::read(&one, &mut Diagnostics::new()));
    if let Some(template) = template {
        let mut wrong = check_values(&template, &given, root);
        // A value that is missing here may stand elsewhere.
        wrong.retain(|one| one.place.as_ref().is_some_and(|place| is_within(place, root)));
        found.append(wrong);
    }
    found
}

fn no_template<'k>(
    name: &str,
    meant: Cursor<'_>,
    known: impl Iterator<Item = &'k str>,
) -> Diagnostic {
    let problem = format!("no Template `{name}` is in the files");
    let close = closest(name, known.take(plan::MAX_MEANT));
    let diagnostic = match close {
        Some(known) => Diagnostic::error(problem).hint(format!("did you mean `{known}`?")),
        None => Diagnostic::warning(format!("{problem}: the values cannot be checked"))
            .hint("also name the file of the Template"),
    };
    diagnostic.at(meant.place()).field("template")
}

fn unknown_fields(root: Cursor<'_>, found: &mut Diagnostics) {
    for field in fields::unknown(root, &VALUES_FIELDS) {
        let other = field.meant.is_none().then(|| "put the values under `values`".to_owned());
        let diagnostic = Diagnostic::warning(field.message("ParameterValues"));
        let diagnostic = diagnostic.rule("unknown-field").maybe_hint(other);
        found.push(field.locate(diagnostic, ""));
    }
}

/// A Composition, with all that it imports and overrides.
fn composition(one: &Found<'_>, machine: &Machine<'_>) -> Diagnostics {
    let mut found = Diagnostics::new();
    let directory = files::directory_of(&one.file.path);
    #[cfg_attr(
        not(feature = "deployment-manager"),
        expect(unused_variables, reason = "only a DeploymentConfiguration is looked into")
    )]
    let steps =
        consolidate_node(machine.compositions, one.document, one.root.id(), directory, &mut found);
    found.attribute_to_rule("composition");
    #[cfg(feature = "deployment-manager")]
    for step in &steps {
        if step.is_own() && step.transformer.id.kind == function::DEPLOYMENT {
            let environment = function::Environment {
                files: Some(machine.compositions),
                python: Some(Arc::new(NO_PYTHON)),
                ..machine.environment.clone()
            };
            let mut wrong = function::check_deployment(&step.transformer, &environment);
            wrong.attribute_to_rule("structure");
            found.append(wrong);
        }
    }
    found
}
