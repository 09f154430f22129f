//! The options of `--check`: objects that an API server would refuse.

use std::collections::BTreeMap;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use krm_core::identity::Identity;
use krm_core::secrets::KnownSecrets;
use krm_template_composition::Resource;
use krm_template_engine::Traced;
use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_template_object_check::{Checker, version};
use krm_yaml::diagnostic::{Diagnostics, ObjectReference, Result};
use krm_yaml::{Cursor, Document, View};

/// Whether and how printed objects are checked.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Check {
    /// Check each object as the API server of a cluster does, and print nothing that it refuses
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    options: Options,
}

impl Check {
    /// The check, if one is asked for.
    pub(crate) fn checker(&self, console: Console, trouble: &mut Diagnostics) -> Option<Checker> {
        self.check.then(|| self.options.checker(console, trouble))
    }
}

/// How objects are checked.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Options {
    /// Check objects as this version of Kubernetes does: 1.30 to 1.37, by default the newest
    #[arg(long, value_name = "VERSION", value_parser = version)]
    kubernetes_version: Option<u8>,

    /// Check custom resources with the CustomResourceDefinitions in this file or directory
    #[arg(long, value_name = "FILE|DIR")]
    crds: Vec<String>,

    /// Check no objects of this kind, or not by this rule; separate them with commas
    #[arg(long, value_name = "RULE|KIND", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    ignore: Vec<String>,
}

impl Options {
    /// The check, with the definitions in the files that are named.
    pub(crate) fn checker(&self, console: Console, trouble: &mut Diagnostics) -> Checker {
        let mut checker = Checker::default();
        if let Some(version) = self.kubernetes_version {
            checker.version = version;
        }
        checker.ignored.clone_from(&self.ignore);
        for path in &self.crds {
            let files = trouble.take(io::yaml_files(path, &[]));
            let files = files.map(|files| files.unwrap_or_else(|| vec![path.clone()]));
            for file in files.into_iter().flatten() {
                let added = add_definitions(&file, console, &mut checker);
                trouble.take(added);
            }
        }
        checker
    }
}

fn add_definitions(file: &str, console: Console, checker: &mut Checker) -> Result<()> {
    let document = Document::parse(&console.read(file)?)?;
    for root in document.roots().flat_map(with_items) {
        checker.define(root);
    }
    Ok(())
}

/// Checks the resources as an API server does. A finding in an object of a Template among `traced`
/// is at its line there.
pub(crate) fn check_built(
    resources: &[Resource<'_>],
    traced: &[Traced],
    checker: &mut Checker,
    diagnostics: &mut Diagnostics,
) {
    for resource in resources {
        if resource.str_at(&["kind"]) == Some("CustomResourceDefinition") {
            checker.definitions.add(View::of(resource.value()));
        }
    }
    let mut found = Diagnostics::new();
    let mut by_identity = BTreeMap::new();
    for (index, one) in traced.iter().enumerate() {
        if let Some(identity) = Identity::of(&one.value) {
            by_identity.insert(identity.to_string(), index);
        }
    }
    for resource in resources {
        let value = resource.value();
        let is_secret = resource.str_at(&["kind"]) == Some("Secret");
        for finding in checker.check(View::of(value), &has_placeholder) {
            let node = resource.document().zip(finding.origin);
            let node = node.map(|(document, origin)| document.cursor(origin));
            let mut diagnostic = finding.diagnostic(node, is_secret);
            diagnostic.place = diagnostic.place.or_else(|| resource.place_of(&finding.path));
            if diagnostic.place.as_ref().is_some_and(|place| place.source.maker().is_some()) {
                // The text has the values of secrets.
                diagnostic.conceals = true;
                diagnostic.fix = None;
                let identity = resource.first_identity();
                let index = identity.and_then(|one| by_identity.get(&one.to_string()));
                if let Some(object) = index.and_then(|index| traced.get(*index)) {
                    if object.hides(&finding.path) {
                        continue;
                    }
                    diagnostic.place = object.place(&finding.path).cloned();
                }
            }
            let text = |keys: &[&str]| resource.str_at(keys).unwrap_or_default().to_owned();
            diagnostic.object = Some(ObjectReference {
                api_version: text(&["apiVersion"]),
                kind: text(&["kind"]),
                namespace: text(&["metadata", "namespace"]),
                name: text(&["metadata", "name"]),
                ..ObjectReference::default()
            });
            found.push(diagnostic);
        }
    }
    if found.iter().next().is_some() {
        let mut known = KnownSecrets::default();
        let values = resources.iter().map(Resource::value);
        values.for_each(|value| known.add_secret(value));
        known.conceal(&mut found);
    }
    diagnostics.append(found);
}

/// A document and, if it is a list, its items.
pub(crate) fn with_items(root: Cursor<'_>) -> impl Iterator<Item = Cursor<'_>> {
    let items = root.get("items").filter(|items| items.is_sequence());
    let items = items.into_iter().flat_map(Cursor::children);
    std::iter::once(root).chain(items)
}

/// Whether a text has a placeholder of another tool, such as `envsubst`, Flux or a template language,
/// which replaces it later.
pub(crate) fn has_placeholder(text: &str) -> bool {
    ["${", "$(", "{{"].iter().any(|begin| text.contains(begin))
}
