//! Which Templates of the files are expanded, how often and with what.
//!
//! Where there is a TemplateInstance, it says so. Else it is as with `oc process`: the first
//! document of the last file is the Template.

mod inspection;

use std::sync::Arc;

pub use self::inspection::Inspector;

use krm_template_authoring::lint;
use krm_template_engine::{Expander, Generation, Options, Template};
use krm_template_function::plan::{self, Instance, Plan};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};
use krm_yaml::suggest::closest;
use krm_yaml::{Document, SharedNode};

/// The instances to expand, and the objects that each expansion created.
pub struct Targets {
    plan: Plan,
    /// One for each instance of the plan.
    inspectors: Vec<Inspector>,
}

impl Targets {
    fn new(plan: Plan) -> Self {
        let several = plan.instances.len() > 1;
        let inspectors = plan.instances.iter().map(|_| Inspector::new(several));
        Self { inspectors: inspectors.collect(), plan }
    }

    /// The Template of an instance.
    pub fn template(&self, instance: &Instance) -> Option<&Template> {
        self.plan.expanders.get(instance.expander)?.template()
    }

    /// The Templates, each once, in the order of the files.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        let expanders = self.plan.expanders.iter();
        expanders.filter_map(|expander| expander.template())
    }

    /// Reports the objects that were made more than once, and warns of selectors that select the
    /// pods of another instance.
    pub fn check_objects(&self, diagnostics: &mut Diagnostics) {
        inspection::check(&self.plan, &self.inspectors, diagnostics);
    }

    /// The instances with what was seen of their objects.
    pub fn each(&self) -> impl Iterator<Item = (&Instance, &Inspector)> {
        self.plan.instances.iter().zip(&self.inspectors)
    }
}

/// Finds what is expanded. `only` is the name of the instance that is meant. All errors go to
/// `diagnostics`.
pub fn read(
    documents: &[Arc<Document>],
    inputs: &plan::Inputs,
    only: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> Option<Targets> {
    let roots = documents.iter().flat_map(SharedNode::roots);
    let is_instance =
        |root: &SharedNode| root.cursor().text_at(["kind"]).as_deref() == Some("TemplateInstance");
    let instances: Vec<SharedNode> = roots.filter(is_instance).collect();
    for instance in &instances {
        lint::warn_about_annotations(instance.cursor(), diagnostics);
    }
    let targets = match (instances.as_slice(), only) {
        ([], Some(only)) => {
            let problem =
                format!("instance `{only}` not found: the files have no TemplateInstance");
            let hint = "add its file with another `-f`";
            diagnostics.push(Diagnostic::error(problem).hint(hint));
            None
        }
        ([], None) => template(documents, diagnostics),
        (instances, only) => Some(stamped(instances, inputs, only, diagnostics)),
    }?;
    for template in targets.templates() {
        lint::warn_about_annotations(template.node(), diagnostics);
    }
    Some(targets)
}

/// The Template as `oc process` finds it.
fn template(documents: &[Arc<Document>], diagnostics: &mut Diagnostics) -> Option<Targets> {
    let (document, others) = documents.split_last()?;
    for other in others {
        let problem = format!(
            "`{}` is ignored: only the Template in the last file is expanded",
            other.source().name()
        );
        let hint =
            "to expand several Templates, or one Template several times, add a TemplateInstance";
        diagnostics.push(Diagnostic::warning(problem).hint(hint));
    }
    let root = first_root(document, diagnostics)?;
    let template = Template::read(&root, diagnostics);
    let expander = template.map(|template| Arc::new(template) as Arc<dyn Expander>);
    Some(Targets::new(Plan::of(expander)))
}

/// The expansions that each `TemplateInstance` asks for.
fn stamped(
    instances: &[SharedNode],
    inputs: &plan::Inputs,
    only: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> Targets {
    let mut whole = Plan::default();
    let mut names = Vec::new();
    for node in instances {
        let own = node.cursor();
        let own = own.text_at(["metadata", "name"]).unwrap_or_default();
        let Some(mut plan) = plan::read(node, inputs, diagnostics) else {
            continue;
        };
        names.extend(plan.instances.iter().map(|one| one.name.clone()));
        let is_meant = |one: &Instance| only.is_none_or(|only| only == one.name || only == own);
        plan.instances.retain(is_meant);
        whole.append(plan);
    }
    if let (Some(only), true, false) = (only, whole.instances.is_empty(), diagnostics.has_errors())
    {
        diagnostics.push(unknown(only, &names));
    }
    Targets::new(whole)
}

fn unknown(name: &str, known: &[String]) -> Diagnostic {
    let list = || {
        let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
        format!("the instances are {}", known.join(", "))
    };
    let meant = closest(name, known.iter().map(String::as_str));
    let hint = meant.map_or_else(list, |known| format!("did you mean `{known}`?"));
    Diagnostic::error(format!("instance `{name}` not found")).hint(hint)
}

/// Expands all instances of a plan as `process` does. Reports what it would refuse.
pub(crate) fn check_plan(plan: Plan, diagnostics: &mut Diagnostics) {
    let targets = Targets::new(plan);
    for (instance, inspector) in targets.each() {
        let options = Options {
            labels: instance.labels.clone(),
            namespace: instance.namespace.clone(),
            inspect: Some(inspector),
            ..Options::new(Generation::Random)
        };
        let mut found = Diagnostics::new();
        if let Some(expander) = targets.plan.expanders.get(instance.expander) {
            expander.expand(&instance.given, &options, &mut found, &mut |_, _| {});
        }
        // Warnings are those of the Template, or were reported.
        found.retain(|one| one.severity == Severity::Error);
        if let Some(place) = &instance.place {
            found.relate(place, &format!("for the instance `{}`", instance.name));
        }
        diagnostics.append(found);
    }
    targets.check_objects(diagnostics);
}

/// The document of the stream that is processed: the first that is not empty.
pub fn first_root(document: &Arc<Document>, diagnostics: &mut Diagnostics) -> Option<SharedNode> {
    let mut roots = SharedNode::roots(document);
    let Some(root) = roots.next() else {
        let name = document.source().name();
        diagnostics.push(
            Diagnostic::error(format!("`{name}` is empty, expected a Template"))
                .hint("`krm-template --help` shows a small example"),
        );
        return None;
    };
    if let Some(second) = roots.next() {
        diagnostics.push(
            Diagnostic::warning("found several documents, only the first is processed")
                .at(second.cursor().key_place()),
        );
    }
    Some(root)
}
