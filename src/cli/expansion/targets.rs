//! Which Templates of the files are expanded, how often and with what.
//!
//! Where there is a TemplateInstance, it says so. Else it is as with `oc process`: the first
//! document of the last file is the Template.

use crate::cli::expansion::inspection::Inspector;
use crate::cli::first_root::first_root;
use crate::function::plan;
use crate::template::{Given, Template};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Document};

/// What is expanded.
pub(super) struct Targets<'d> {
    pub(super) templates: Vec<Template<'d>>,
    pub(super) list: Vec<Target>,
}

/// One expansion.
pub(super) struct Target {
    /// Its position among the Templates.
    pub(super) template: usize,
    /// The name of the instance; empty if it is none.
    pub(super) name: String,
    /// The values of the instance.
    pub(super) given: Vec<Given>,
    pub(super) labels: Vec<(String, String)>,
    pub(super) namespace: Option<String>,
    /// Where the instance is, if it is one of several.
    pub(super) place: Option<Place>,
    /// Looks at the objects that it makes.
    pub(super) inspector: Inspector,
}

/// Finds what is expanded. `only` is the name of the instance that is meant. All errors go to
/// `diagnostics`.
pub(super) fn read<'d>(
    documents: &'d [Document],
    inputs: &'d plan::Inputs<'d, '_>,
    only: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> Option<Targets<'d>> {
    let roots = documents.iter().flat_map(Document::roots);
    let is_instance =
        |root: &Cursor<'_>| root.text_at(["kind"]).as_deref() == Some("TemplateInstance");
    let instances: Vec<Cursor<'d>> = roots.filter(is_instance).collect();
    match (instances.as_slice(), only) {
        ([], Some(only)) => {
            let problem =
                format!("instance `{only}` not found: the files have no TemplateInstance");
            let hint = "add its file with another `-f`";
            diagnostics.push(Diagnostic::error(problem).hint(hint));
            None
        }
        ([], None) => template(documents, diagnostics),
        (instances, only) => Some(stamped(instances, inputs, only, diagnostics)),
    }
}

/// The Template as `oc process` finds it.
fn template<'d>(documents: &'d [Document], diagnostics: &mut Diagnostics) -> Option<Targets<'d>> {
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
    let template = Template::read(root, diagnostics);
    Some(Targets {
        templates: template.into_iter().collect(),
        list: vec![Target {
            template: 0,
            name: String::new(),
            given: Vec::new(),
            labels: Vec::new(),
            namespace: None,
            place: None,
            inspector: Inspector::default(),
        }],
    })
}

/// What each `TemplateInstance` asks for.
fn stamped<'d>(
    instances: &[Cursor<'d>],
    inputs: &'d plan::Inputs<'d, '_>,
    only: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> Targets<'d> {
    let mut targets = Targets {
        templates: Vec::new(),
        list: Vec::new(),
    };
    let mut names = Vec::new();
    for node in instances {
        let own = node.text_at(["metadata", "name"]).unwrap_or_default();
        let Some(plan) = plan::read(*node, inputs, diagnostics) else {
            continue;
        };
        let first = targets.templates.len();
        targets.templates.extend(plan.templates);
        for instance in plan.instances {
            let is_meant = only.is_none_or(|only| only == instance.name || only == own);
            names.push(instance.name.clone());
            if is_meant {
                targets.list.push(Target {
                    template: first + instance.template,
                    name: instance.name,
                    given: instance.given,
                    labels: instance.labels,
                    namespace: instance.namespace,
                    place: instance.place,
                    inspector: Inspector::default(),
                });
            }
        }
    }
    if let (Some(only), true, false) = (only, targets.list.is_empty(), diagnostics.has_errors()) {
        diagnostics.push(unknown(only, &names));
    }
    targets
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
