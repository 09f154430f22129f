//! Runs an export: strips all objects, makes parameters of them, writes the Template.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use indexmap::IndexSet;

use crate::options::{Format, Options};
use crate::parameters::{self, InfoMessages, Maker, Object, Parameters, Scope};
use crate::references::spell::{DOLLAR, Speller};
use crate::strip::content;
use crate::strip::stripped::{self, All, Stripped, called};
use crate::survey::Survey;
use crate::write::{self, Head};
use krm_core::Identity;
use krm_core::long_lists::MANY_OBJECTS;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::{Place, Source};
use krm_yaml::{Document, SharedNode, Value};

/// A Template that was made of objects.
#[derive(Debug)]
pub struct Exported {
    /// The Template in the format of the options.
    pub text: String,
    /// The values of its secrets.
    pub secrets: Value<'static>,
    /// Messages (`info`) about objects left out and fields dropped.
    pub report: Diagnostics,
    /// Messages (`info`) about the origin of each parameter.
    pub parameters: InfoMessages,
}

/// Makes a Template of the objects of some texts. All errors go to `diagnostics`.
pub fn of_texts(
    sources: Vec<Arc<Source>>,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Option<Exported> {
    match of_sources(&sources, options, diagnostics) {
        Ok(all) => {
            // The stripped objects are texts of their own.
            drop(sources);
            template(all, options, diagnostics)
        }
        Err(errors) => {
            // The lines around an error may hold a secret.
            diagnostics.append(errors.map(|error| Diagnostic { conceals: true, ..error }));
            None
        }
    }
}

/// The objects of some texts, stripped. Returns the errors of texts that are not YAML.
fn of_sources(
    sources: &[Arc<Source>],
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Result<All, Diagnostics> {
    let mut documents = Document::open_all(sources, MANY_OBJECTS)?;
    loop {
        let mut found = Diagnostics::new();
        let roots = documents.iter().flat_map(SharedNode::roots);
        let mut all = stripped::all(roots, true, options, &mut found);
        all.headers = headers(&documents);
        if !Document::upgrade_all(&mut documents)? {
            diagnostics.append(found);
            return Ok(all);
        }
    }
}

/// The paragraphs of comments at the tops of files, apart from their first objects. Each is there
/// once, such as the licence of all files.
fn headers(documents: &[Arc<Document>]) -> Vec<String> {
    let roots = documents.iter().filter_map(|one| one.roots().next());
    let mut seen = BTreeSet::new();
    roots
        .flat_map(|root| krm_yaml::paragraphs_above(root, true))
        .filter(|paragraph| seen.insert(paragraph.clone()))
        .collect()
}

/// As [`of_texts`], of the objects under some nodes.
pub fn of_nodes(
    nodes: impl Iterator<Item = SharedNode>,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Option<Exported> {
    let all = stripped::all(nodes, false, options, diagnostics);
    template(all, options, diagnostics)
}

fn template(all: All, options: &Options, diagnostics: &mut Diagnostics) -> Option<Exported> {
    if diagnostics.has_errors() {
        let mut report = all.report;
        report.append(std::mem::take(diagnostics));
        *diagnostics = report;
        return None;
    }
    let All { objects, survey, headers, mut report } = all;
    debug_assert_eq!(objects.len(), survey.objects.len());
    let scope = scope(&survey, options);
    let writer = Writer { options, scope: &scope, survey: &survey };
    let declared = if survey.has_dollar { writer.names(&objects) } else { BTreeSet::new() };
    let (parameters, texts, labels) = writer.write(objects, &declared, &mut report, diagnostics);
    diagnostics.dedup();
    if diagnostics.has_errors() {
        return None;
    }
    let head = Head {
        comments: &headers,
        name: options.name.as_deref().or(scope.prefix.as_deref()).unwrap_or("template"),
        dialect: options.dialect,
        labels,
        keeps_namespaces: scope.namespace.is_none() && survey.namespaces().next().is_some(),
    };
    let Parameters { declarations, secrets, messages, errors, .. } = parameters;
    let are_written = !errors.has_errors();
    diagnostics.append(errors);
    let text = diagnostics.take(write::template(&head, &declarations, texts));
    Some(Exported {
        text: text.filter(|_| are_written)?,
        secrets: Value::mapping(secrets),
        report,
        parameters: messages,
    })
}

/// The survey of all objects.
fn scope<'s>(survey: &'s Survey, options: &Options) -> Scope<'s> {
    let prefix = survey.prefix().map(str::to_owned);
    let mut namespaces: BTreeSet<String> = survey.namespaces().map(str::to_owned).collect();
    let mut services: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut secrets = BTreeSet::new();
    let mut names = IndexSet::default();
    for (identity, _) in &survey.objects {
        let name = &identity.name;
        match (identity.group.as_str(), identity.kind.as_str()) {
            ("", "Service") => {
                let own = services.entry(name.clone()).or_default();
                own.insert(identity.namespace.clone());
            }
            ("", "Secret") => {
                secrets.insert(name.clone());
            }
            ("", "Namespace") | ("project.openshift.io", "Project") => {
                namespaces.insert(name.clone());
            }
            _ => {}
        }
        if prefix.is_some() && parameters::can_be_renamed(identity) {
            names.insert(name.as_str());
        }
    }
    Scope {
        namespace: survey
            .namespace()
            .filter(|_| !options.keeps(&[], "metadata/namespace"))
            .map(str::to_owned),
        namespaces,
        registry: survey.images.shared_registry().map(str::to_owned),
        domains: parameters::shared_domains(survey.hosts.iter()),
        labels: survey.labels().to_vec(),
        services,
        secrets,
        names,
        prefix,
    }
}

/// Makes parameters of objects, and writes these.
struct Writer<'w> {
    options: &'w Options,
    scope: &'w Scope<'w>,
    survey: &'w Survey,
}

/// The parameters, the texts of the objects, and the labels of the Template.
type Written = (Parameters, Vec<String>, Vec<(String, String)>);

impl Writer<'_> {
    fn maker(&self) -> Maker<'_> {
        Maker::new(self.options, self.scope, self.survey.objects.iter())
    }

    /// The names of all parameters.
    fn names(&self, objects: &[Stripped]) -> BTreeSet<String> {
        let mut maker = self.maker();
        for (object, named) in objects.iter().zip(&self.survey.objects) {
            let _ = content::changed(&object.text, |_, mut value| {
                change(&mut value, named, &mut maker, &mut |_| {});
                Ok(())
            });
        }
        maker.parameters.names.into_iter().collect()
    }

    fn write(
        &self,
        objects: Vec<Stripped>,
        declared: &BTreeSet<String>,
        report: &mut Diagnostics,
        diagnostics: &mut Diagnostics,
    ) -> Written {
        let mut maker = self.maker();
        let dollar =
            if declared.contains(DOLLAR) { format!("{DOLLAR}_SIGN") } else { DOLLAR.to_owned() };
        let mut speller = Speller::new(self.options.dialect, declared, &dollar);
        let mut texts = Vec::with_capacity(objects.len());
        for (Stripped { text, below, place }, named) in
            objects.into_iter().zip(&self.survey.objects)
        {
            let (identity, _) = named;
            let written = content::changed(&text, |document, mut value| {
                change(&mut value, named, &mut maker, &mut |line| {
                    let called = called(identity);
                    report.push(Diagnostic::info(format!("{called}: {line}")));
                });
                speller.object(&mut value);
                content::item(document, &value, self.options.format)
            });
            let mut found = Diagnostics::new();
            let written = found.take(written.map_err(hide));
            texts.extend(written.map(|text| with_comments(text, &below, self.options.format)));
            for (path, spelling) in std::mem::take(&mut speller.clashes) {
                found.push(clash(identity, place.as_ref(), path, &spelling));
            }
            diagnostics.append(found);
        }
        let labels = self.scope.labels.iter();
        let labels = labels.map(|(key, label)| {
            let renamed = maker.renamed(label).unwrap_or_else(|| label.clone());
            (key.clone(), speller.spelled(renamed))
        });
        let labels = labels.collect();
        let uses_dollar = speller.uses_dollar;
        let mut made = maker.parameters;
        if uses_dollar {
            made.add_dollar(&dollar);
        }
        (made, texts, labels)
    }
}

/// An item of a list with comment lines below it.
fn with_comments(mut text: String, comments: &[String], format: Format) -> String {
    for comment in comments.iter().filter(|_| format == Format::Yaml) {
        text.extend(["  ", comment, "\n"]);
    }
    text
}

/// A defect of this program, whose place may hold a secret.
fn hide(mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    error.conceals = true;
    error
}

fn change(
    part: &mut Value<'_>,
    (identity, api_version): &(Identity, String),
    maker: &mut Maker<'_>,
    say: &mut dyn FnMut(String),
) {
    let object = Object {
        identity,
        api_version,
        called: &[&identity.kind, " ", &identity.name].concat(),
        word: maker.word(&identity.name),
    };
    parameters::of_object(part, &object, maker, say);
}

/// A text that would become a reference in OpenShift's dialect.
fn clash(identity: &Identity, place: Option<&Place>, path: String, spelling: &str) -> Diagnostic {
    let problem = format!(
        "`{spelling}` in {} would become a reference to a parameter of the Template",
        called(identity)
    );
    let mut clash = Diagnostic::error(problem)
        .conceal(true)
        .field(path)
        .hint("OpenShift's dialect cannot escape it: use `--dialect proposal`");
    clash.place = place.cloned();
    clash
}
