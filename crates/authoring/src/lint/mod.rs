//! Finds mistakes in Templates before anyone expands them.
//!
//! Most findings come from reading and expanding with the known values; their diagnostics name the
//! rule. Further rules are functions in [`RULES`].
//!
//! A parameter without a known value keeps its reference: rules compare the spelling, and cannot
//! show a secret.

mod annotations;
mod context;
mod facts;
mod fields;
mod identifiers;
mod objects;
mod parameters;
mod pitfalls;
mod references;
mod refusals;
mod rules;

use std::borrow::Cow;
use std::sync::Arc;

use krm_core::identity::group;
use krm_template_engine::declare::nearly;
use krm_template_engine::survey::Survey;
use krm_template_engine::{
    Dialect, OPENSHIFT_GROUP, OWN_GROUP, Template, is_template_group, type_text,
};
use krm_template_object_check::Checker;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Document, SharedNode, View};

use context::Context;
use facts::Facts;

pub use annotations::{warn_about_annotations, warn_about_annotations_of};
pub use identifiers::warn_about_names;
pub use refusals::{Refusals, finds_refusals, report_refusals};
pub use rules::{RULES, Rule};

use rules::Check;

/// The annotation that disables rules for a Template.
const DISABLE: &str = "template.krm.dev/disable-rules";

/// The result of checking one text.
#[derive(Debug, Default)]
pub struct Checked {
    /// How many Templates it holds.
    pub templates: usize,
    /// The errors and warnings, each with its rule.
    pub findings: Diagnostics,
}

/// Checks all Templates of a document, including those in lists and Compositions, and their objects
/// with `server`. Ignores other objects, and the rules in `disabled`.
pub fn check(document: &Arc<Document>, disabled: &[String], server: Option<&Checker>) -> Checked {
    let mut checked = Checked::default();
    for root in templates(document) {
        checked.templates += 1;
        checked.findings.append(check_template(&root, disabled, server));
    }
    checked
}

/// The Templates of a text, including those in lists and Compositions.
pub fn templates(document: &Arc<Document>) -> impl Iterator<Item = SharedNode> {
    let roots = document.roots().flat_map(|root| {
        let lists = root.get_all(["items", "transformers"]);
        let lists = lists.into_iter().flatten().filter(|list| list.is_sequence());
        std::iter::once(root).chain(lists.flat_map(Cursor::children))
    });
    let templates = roots.filter(|root| is_template(*root));
    templates.map(|root| SharedNode::new(document, root.id()))
}

/// The kinds that are looked at.
const KINDS: [&str; 5] =
    ["Template", "TemplateInstance", "ParameterValues", "Composition", "DeploymentConfiguration"];

/// Whether an unreadable text seems to contain one of the kinds that `validate` checks.
pub fn may_hold_template(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim().trim_end_matches(',');
        line.split_once(':').is_some_and(|(key, value)| {
            let plain = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
            plain(key) == "kind" && KINDS.contains(&plain(value).as_str())
        })
    })
}

/// The diagnostic for an unknown rule; `None` if the rule exists.
pub fn unknown_rule(name: &str) -> Option<Diagnostic> {
    let names = || RULES.iter().map(|rule| rule.name);
    if names().any(|known| known == name) {
        return None;
    }
    let hint = closest(name, names()).map_or_else(
        || "docs/rules.md lists all rules".to_owned(),
        |known| format!("did you mean `{known}`?"),
    );
    Some(Diagnostic::warning(format!("unknown rule `{name}`")).hint(hint))
}

/// Whether it is our Template: other projects also have a kind of this name.
fn is_template(root: Cursor<'_>) -> bool {
    let api_version = type_text(root, "apiVersion").unwrap_or_default();
    let group = group(&api_version);
    type_text(root, "kind").as_deref() == Some("Template")
        && (is_template_group(group) || closest(group, [OWN_GROUP, OPENSHIFT_GROUP]).is_some())
}

/// Checks one Template, without the rules in `disabled`, and its objects with `server`.
pub fn check_template(
    root: &SharedNode,
    disabled: &[String],
    server: Option<&Checker>,
) -> Diagnostics {
    let mut found = Diagnostics::new();
    let template = Template::read(root, &mut found);
    found.attribute_to_rule("structure");
    if let Some(template) = &template {
        check_content(template, server, &mut found);
        found.attribute_to(template.reference());
        found.conceal(&template.secrets(&[]));
    }
    let own = disabled_here(root.cursor(), &mut found);
    found.retain(|finding| {
        let is_disabled = |name: &String| finding.rule == Some(name.as_str());
        !own.iter().chain(disabled).any(is_disabled)
    });
    found.dedup();
    found.sort_by_place();
    found
}

/// The rules that the annotation of an object disables.
pub fn disabled_here(root: Cursor<'_>, found: &mut Diagnostics) -> Vec<String> {
    let Some(annotation) = root.at(["metadata", "annotations", DISABLE]) else {
        return Vec::new();
    };
    let text = annotation.text().ok().flatten().unwrap_or_default();
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(str::to_owned).collect();
    let object = krm_core::identity::reference(root);
    for unknown in names.iter().filter_map(|name| unknown_rule(name)) {
        let mut unknown = unknown
            .rule("unknown-rule")
            .at(annotation.place())
            .field(format!("metadata.annotations[{DISABLE}]"));
        unknown.object = Some(object.clone());
        found.push(unknown);
    }
    names
}

fn check_content(template: &Template, server: Option<&Checker>, found: &mut Diagnostics) {
    let mut defaults = Diagnostics::new();
    let survey = Survey::of(template, &mut defaults);
    defaults.attribute_to_rule("default-value");
    found.append(defaults);

    let (references, nearly) = references::all(template);
    let context = Context { template, survey: &survey, references, nearly };
    let mut facts = Vec::new();
    let mut refusals = Diagnostics::new();
    let mut expanding = Diagnostics::new();
    survey.objects(&mut expanding, &mut |object, found| {
        facts.push(Facts::of(&object));
        let look = object.look();
        warn_about_annotations_of(&look, look.view.get("metadata"), found);
        if let Some(server) = server {
            let findings = server.check(look.view, &|text| !context.is_known(text));
            report_refusals(&findings, &look, template, &mut refusals);
        }
        for rule in RULES {
            if let Check::Object(check) = rule.check {
                run(rule.name, found, |found| check(&context, &object, found));
            }
        }
    });
    if let Some((server, survey)) = server.zip(survey.with_secrets()) {
        // Other findings would be the same, or could show a secret.
        survey.objects(&mut Diagnostics::new(), &mut |object, _| {
            let look = object.look();
            let mut findings = server.recheck(look.view, &|text| !context.is_known(text));
            findings.retain(|one| one.shows_only(&|text| survey.may_show(text)));
            report_refusals(&findings, &look, template, &mut refusals);
        });
    }
    expanding.attribute_to_rule("structure");
    if expanding.has_errors() {
        replaced_syntax(&survey, &mut expanding);
    }
    if template.dialect() == Dialect::Proposal {
        // A reference for a shell is written `$$(NAME)`.
        expanding.take_for_errors("undeclared-parameter");
    }
    found.append(expanding);

    for rule in RULES {
        match rule.check {
            Check::Template(check) => run(rule.name, found, |found| check(&context, found)),
            Check::Objects(check) => {
                run(rule.name, found, |found| check(&context, &facts, found));
            }
            Check::Reading | Check::Object(_) => {}
        }
    }
    refusals::add_unfound(&refusals, found);
}

/// Makes warnings of errors about the syntax of references in texts that no object has: a label of the
/// Template takes their place, or the Template creates nothing.
fn replaced_syntax(survey: &Survey<'_>, found: &mut Diagnostics) {
    let mut texts = Vec::new();
    survey.objects(&mut Diagnostics::new(), &mut |object, _| {
        add_references(View::of(&object.value), &mut texts);
    });
    found.take_for_warnings(|one| {
        let written = one.place.as_ref().and_then(|at| at.source.text().get(at.range.clone()));
        one.rule == Some(nearly::RULE)
            && written.is_some_and(|written| !texts.iter().any(|text| text.contains(written)))
    });
}

/// Adds the keys and texts that may have a reference.
fn add_references(view: View<'_>, texts: &mut Vec<String>) {
    let text = view.as_str().filter(|text| text.contains(['$', '{']));
    texts.extend(text.map(Cow::into_owned));
    for (key, value) in view.entries().into_iter().flatten() {
        texts.extend(key.contains(['$', '{']).then(|| key.into_owned()));
        add_references(value, texts);
    }
    for item in view.items().into_iter().flatten() {
        add_references(item, texts);
    }
}

fn run(rule: &'static str, found: &mut Diagnostics, check: impl FnOnce(&mut Diagnostics)) {
    let mut own = Diagnostics::new();
    check(&mut own);
    own.attribute_to_rule(rule);
    found.append(own);
}
