//! Checks the other files that `validate` reads besides Templates: each TemplateInstance, file of
//! values, Composition and DeploymentConfiguration.
//!
//! They are read as `process`, a function and `build` read them, together with the Templates among
//! the files, and nothing is run. Of several Templates of a name the nearest file counts, as a
//! directory may hold several packages.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::file::File;
use super::kustomizations;
#[cfg(feature = "deployment-manager")]
use super::kustomizations::NO_PYTHON;
#[cfg(feature = "deployment-manager")]
use crate::cli::environment::{SeedScope, environment};
use crate::cli::kustomization::{Kustomizations, Listed};
use crate::cli::object_check::{has_placeholder, with_items};
use crate::composition::{GROUP, consolidate_node};
use crate::files;
#[cfg(feature = "deployment-manager")]
use crate::function;
use crate::krm::fields;
use crate::krm::identity::{self, Identity};
use crate::lint;
use crate::plan::{self, Crossings, Input, InputOrigin, Selection};
use crate::template::{self, Assignment, Generation, OWN_GROUP, Options, Template, values_of_file};
use krm_template_exec::console::Console;
use krm_template_exec::disk::{Disk, LoadRestrictor};
use krm_template_object_check::{Checker, Rule};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};
use krm_yaml::source::{Place, Source};
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Document, DuplicateKeys, SharedNode, View};

/// All fields of a `ParameterValues`.
const VALUES_FIELDS: [&str; 6] = ["apiVersion", "kind", "metadata", "template", "values", "data"];

/// How many of each there are.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) instances: usize,
    pub(super) values: usize,
    pub(super) compositions: usize,
    pub(super) deployments: usize,
    pub(super) kustomizations: usize,
    pub(super) objects: usize,
}

impl Counts {
    /// Whether there are none at all.
    pub(super) const fn is_empty(&self) -> bool {
        let others = self.deployments + self.kustomizations + self.objects;
        self.instances + self.values + self.compositions + others == 0
    }

    fn add(&mut self, kind: Kind) {
        *match kind {
            Kind::Instance => &mut self.instances,
            Kind::Values => &mut self.values,
            Kind::Composition => &mut self.compositions,
            Kind::Deployment => &mut self.deployments,
            Kind::Kustomization => &mut self.kustomizations,
            Kind::Object => &mut self.objects,
        } += 1;
    }
}

/// The kinds of object besides Templates.
#[derive(Clone, Copy)]
enum Kind {
    Instance,
    Values,
    Composition,
    Deployment,
    Kustomization,
    /// Any other object of Kubernetes.
    Object,
}

impl Kind {
    fn of(one: &Found<'_>) -> Option<Self> {
        let (root, file) = (one.root, one.file);
        let kind = root.text_at(["kind"]).unwrap_or_default();
        let api_version = root.text_at(["apiVersion"]).unwrap_or_default();
        let group = identity::group(&api_version);
        match kind.as_ref() {
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

/// Adds the custom resources that a text defines.
pub(super) fn add_definitions(source: &Arc<Source>, server: &mut Checker) {
    if memchr::memmem::find(source.text().as_bytes(), b"CustomResourceDefinition").is_none() {
        return;
    }
    if let Ok(document) = Document::parse(source) {
        for root in document.roots().flat_map(with_items) {
            server.define(root);
        }
    }
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

/// Checks what is in `files` besides Templates. Tells of each file whether there is something.
pub(super) fn check(
    files: &[File],
    server: &mut Checker,
    console: Console,
    findings: &mut Diagnostics,
    is_checked: &mut dyn FnMut(&File),
) -> Counts {
    let mut counts = Counts::default();
    let mut said = BTreeSet::new();
    let mut kustomizations = Kustomizations::default();
    let read = files.iter().filter_map(|file| {
        let document = Document::parse(&file.source).ok()?;
        let listed = match kustomizations.listed(&file.path) {
            Listed::No if file.is_composed => Listed::Resource,
            listed => listed,
        };
        Some((file, Arc::new(document), listed))
    });
    let read: Vec<(&File, Arc<Document>, Listed)> = read.collect();
    let roots = read.iter().flat_map(|(file, document, listed)| {
        let roots = document.roots().flat_map(with_items);
        roots.map(|root| Found { document, root, file, listed: *listed })
    });
    let roots: Vec<Found<'_>> = roots.collect();
    let has_template = roots.iter().any(|one| is_template(one.root));
    for one in &roots {
        let is_beside = || beside(one, &roots).is_some();
        let Some(kind) = Kind::of(one).or_else(|| is_beside().then_some(Kind::Values)) else {
            continue;
        };
        let is_object = one.root.get("kind").is_some();
        if matches!(kind, Kind::Values) && !is_object && !has_template {
            continue;
        }
        counts.add(kind);
        is_checked(one.file);
        let mut found = match kind {
            Kind::Instance => instance(one, &roots, server),
            Kind::Values => values(one, &roots),
            Kind::Composition => composition(one, console),
            Kind::Deployment => deployment(one, &roots),
            Kind::Kustomization => {
                let disk = disk(console, "the Kustomization");
                kustomizations::check_node(one.document, one.root, disk, server)
            }
            Kind::Object => object(one, server),
        };
        found.attribute_to_rule("structure");
        if is_object {
            found.attribute_to(&identity::reference(one.root));
            lint::warn_about_annotations(one.root, &mut found);
        }
        // What is imported by two Compositions is wrong once.
        found.retain(|one| {
            let place = one.place.as_ref();
            let place = place.map(|at| (files::join(".", at.source.name()), at.range.start));
            said.insert((one.message.clone(), place, one.related.len()))
        });
        findings.append(found);
    }
    counts
}

/// The Template in the folder of a file of values that no argument names, if it is the only one
/// there and most of the keys are its parameters.
fn beside<'f, 'd>(one: &Found<'d>, roots: &'f [Found<'d>]) -> Option<&'f Found<'d>> {
    let is_plain = one.root.is_mapping()
        && one.root.get("kind").is_none()
        && one.root.get("apiVersion").is_none();
    if one.file.is_named || !is_plain {
        return None;
    }
    let folder = files::directory_of(&one.file.path);
    let mut there = roots
        .iter()
        .filter(|other| is_template(other.root) && files::directory_of(&other.file.path) == folder);
    let (Some(template), None) = (there.next(), there.next()) else {
        return None;
    };
    let read = Template::read(&template.node(), &mut Diagnostics::new())?;
    let names = read.parameters().iter().map(|parameter| parameter.name.as_str());
    let names: BTreeSet<&str> = names.collect();
    let keys = one.root.children().filter_map(|entry| entry.key_text().ok());
    let (known, unknown): (Vec<_>, Vec<_>) = keys.partition(|key| names.contains(key.as_ref()));
    (!known.is_empty() && known.len() >= unknown.len()).then_some(template)
}

fn is_template(root: Cursor<'_>) -> bool {
    root.text_at(["kind"]).as_deref() == Some("Template")
}

/// How far a file is from another: 0 for itself, then the directories between them.
fn distance(one: &File, other: &File) -> usize {
    if std::ptr::eq(one, other) {
        return 0;
    }
    let parts = |file: &File| -> Vec<String> {
        let folder = Path::new(files::directory_of(&file.path)).components();
        let folder = folder.map(|part| part.as_os_str().to_string_lossy().into_owned());
        folder.filter(|part| part != ".").collect()
    };
    let (one, other) = (parts(one), parts(other));
    let shared = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    1 + one.len() + other.len() - 2 * shared
}

/// The objects that one may refer to: of several with a kind and a name, the nearest.
fn near<'f, 'd>(from: &Found<'d>, roots: &'f [Found<'d>]) -> Vec<&'f Found<'d>> {
    let name = |root: Cursor<'d>| {
        let text = |key| root.text_at(["metadata", key]).unwrap_or_default().into_owned();
        let kind = root.text_at(["kind"]).unwrap_or_default().into_owned();
        (kind, text("namespace"), text("name"))
    };
    let may_be_meant = |one: &&Found<'d>| {
        let kind = one.root.text_at(["kind"]);
        matches!(kind.as_deref(), Some("Template" | "ConfigMap" | "Secret"))
    };
    let all: Vec<_> = roots
        .iter()
        .filter(may_be_meant)
        .map(|one| (name(one.root), distance(from.file, one.file), one))
        .collect();
    let is_nearest = |(name, distance, _): &&((String, String, String), usize, &Found<'d>)| {
        all.iter().all(|(other, its, _)| other != name || its >= distance)
    };
    all.iter().filter(is_nearest).map(|(.., one)| *one).collect()
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
fn deployment(one: &Found<'_>, roots: &[Found<'_>]) -> Diagnostics {
    let inputs = near(one, roots).into_iter().map(Found::node);
    let inputs = plan::Inputs::of(inputs.filter_map(Input::of_document), InputOrigin::Files);
    #[cfg(feature = "deployment-manager")]
    let inputs = inputs.with_python(Some(Arc::new(NO_PYTHON)));
    let mut found = plan::check_deployment(&one.node(), &inputs);
    found.attribute_to_rule("structure");
    let own = lint::disabled_here(one.root, &mut found);
    found.retain(|finding| !own.iter().any(|rule| finding.rule == Some(rule)));
    found
}

/// Checks a TemplateInstance with the Templates and values near it.
fn instance(one: &Found<'_>, roots: &[Found<'_>], server: &Checker) -> Diagnostics {
    let root = one.root;
    let near = near(one, roots);
    let inputs = near.iter().map(|one| one.node());
    let inputs = plan::Inputs::of(inputs.filter_map(Input::of_document), InputOrigin::Files);
    let mut found = Diagnostics::new();
    let plan = plan::read(&one.node(), &inputs, &mut found);
    let is_of_template = |place: &Place| {
        let mut templates = near.iter().filter(|one| is_template(one.root));
        templates.any(|one| is_within(place, one.root))
    };
    found.retain(|one| !one.place.as_ref().is_some_and(is_of_template));
    let has_template = near.iter().any(|one| is_template(one.root));
    let mut checked = found.map(|mut error| {
        if error.rule == Some(plan::MISSING_TEMPLATE) {
            error.rule = Some("structure");
            if !has_template {
                // It may well be in another place.
                error.severity = Severity::Warning;
                error.message.push_str(": the values cannot be checked");
                error.hints = vec!["also name the file of the Template".to_owned()];
            }
        }
        error
    });
    for instance in plan.iter().flat_map(|plan| &plan.instances) {
        let mut expanders = plan.iter().flat_map(|plan| &plan.expanders);
        let expander = expanders.nth(instance.expander);
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
        warn_of_crossings(&plan, &mut checked);
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

/// Warns of selectors of one instance that select pods of another.
fn warn_of_crossings(plan: &plan::Plan, found: &mut Diagnostics) {
    let mut crossings = Crossings::default();
    for (index, instance) in plan.instances.iter().enumerate() {
        let Some(expander) = plan.expanders.get(instance.expander) else {
            continue;
        };
        let options = Options {
            labels: instance.labels.clone(),
            namespace: instance.namespace.clone(),
            ..Options::new(Generation::Random)
        };
        // Other problems are those of the Template, or were reported.
        let unheard = &mut Diagnostics::new();
        expander.expand(&instance.given, &options, unheard, &mut |object, _| {
            let selection = Identity::of(&object.value);
            let selection = selection.and_then(|own| Selection::of(&own, &object.look()));
            if let Some(selection) = selection {
                crossings.add(index, selection);
            }
        });
    }
    crossings.warn(plan, found);
}

/// Checks a file of values with the Templates near it.
fn values(one: &Found<'_>, roots: &[Found<'_>]) -> Diagnostics {
    let root = one.root;
    let mut found = Diagnostics::new();
    let is_object = root.get("kind").is_some();
    if is_object {
        unknown_fields(root, &mut found);
    }
    let near = near(one, roots);
    let templates = near.into_iter().filter(|one| is_template(one.root));
    let templates: Vec<&Found<'_>> = templates.collect();
    let name_of = |one: &&Found<'_>| {
        let name = one.root.text_at(["metadata", "name"]).unwrap_or_default();
        name.into_owned()
    };
    let meant = root.get("template").filter(|meant| is_object && !meant.is_null());
    let template = match meant {
        None => match templates.as_slice() {
            [only] => Some(*only),
            _ => beside(one, roots),
        },
        Some(meant) => {
            let name = meant.text().ok().flatten().unwrap_or_default();
            let template = templates.iter().find(|one| name_of(one) == name);
            if template.is_none() {
                found.push(no_template(
                    &name,
                    meant,
                    &templates.iter().map(name_of).collect::<Vec<_>>(),
                ));
            }
            template.copied()
        }
    };
    let name = template.as_ref().map(name_of).unwrap_or_default();
    let name = match meant {
        Some(meant) if template.is_none() => {
            let name = meant.text().ok().flatten().unwrap_or_default();
            name.into_owned()
        }
        _ => name,
    };
    let given = values_of_file(root, &name, &mut found);
    if let Some(template) = template {
        // Its errors are reported already.
        if let Some(template) = Template::read(&template.node(), &mut Diagnostics::new()) {
            let mut wrong = check_values(&template, &given, root);
            // A value that is missing here may stand elsewhere.
            wrong.retain(|one| one.place.as_ref().is_some_and(|place| is_within(place, root)));
            found.append(wrong);
        }
    }
    found
}

fn no_template(name: &str, meant: Cursor<'_>, known: &[String]) -> Diagnostic {
    let problem = format!("no Template `{name}` is in the files");
    let close = closest(name, known.iter().map(String::as_str));
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

/// The files that `owner` may name.
pub(super) const fn disk(console: Console, owner: &'static str) -> Disk {
    Disk {
        console,
        restrictor: LoadRestrictor::RootOnly,
        owner,
        way_out: "move it there",
        clones: None,
    }
}

/// A Composition, with all that it imports and overrides.
fn composition(one: &Found<'_>, console: Console) -> Diagnostics {
    let mut found = Diagnostics::new();
    let directory = files::directory_of(&one.file.path);
    let disk = disk(console, "the Composition");
    #[cfg_attr(
        not(feature = "deployment-manager"),
        expect(unused_variables, reason = "only a DeploymentConfiguration is looked into")
    )]
    let steps = consolidate_node(&disk, one.document, one.root.id(), directory, &mut found);
    found.attribute_to_rule("composition");
    #[cfg(feature = "deployment-manager")]
    for step in &steps {
        if step.is_own() && step.transformer.id.kind == function::DEPLOYMENT {
            let environment = function::Environment {
                python: Some(Arc::new(NO_PYTHON)),
                ..environment(&disk, &SeedScope::default())
            };
            let mut wrong = function::check_deployment(&step.transformer, &environment);
            wrong.attribute_to_rule("structure");
            found.append(wrong);
        }
    }
    found
}
