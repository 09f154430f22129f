//! Compositions among the resources of Kustomizations: they are built first, and kustomize gets
//! their resources.
//!
//! Source: KEP-2299, "Integration with Kustomization". Kustomize does not know Compositions, so it
//! builds a copy with a file in place of each.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::builtin::kustomize::kustomized::KUSTOMIZATION;
use crate::engine::functions::Base;
use crate::engine::step::Context;
use crate::read::locate::{Found, KUSTOMIZATIONS, find};
use crate::read::model::built_kind;
use crate::read::nesting::MAX_NESTING;
use crate::resources::resource::Resource;
use krm_core::files::join;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Data, Document, DuplicateKeys, FieldPath, Scalar, Value};

/// The fields of a Kustomization that lead to resources, or to other Kustomizations.
const LISTS: [&str; 3] = ["resources", "bases", "components"];

/// Kustomizations of which kustomize builds a copy with replaced files.
#[derive(Default)]
pub(crate) struct Bases {
    /// The Kustomizations that lead to Compositions, with their replaced files.
    pub(crate) list: Vec<Base>,
    /// Whether the Kustomization in a directory leads to one.
    known: BTreeMap<String, bool>,
    count: usize,
}

impl Bases {
    /// Builds the Composition at a path, if one is there: the name and the text of a file with its
    /// resources. A file is read only if it is in or below `root`. `field` names the path, or what
    /// leads to it.
    pub(crate) fn made(
        &mut self,
        path: &str,
        root: &str,
        field: &FieldPath,
        context: &mut Context<'_>,
    ) -> Option<(String, String)> {
        let file = composition_at(path, root, context)?;
        let mut steps = Vec::new();
        let resources = context.build(&file, field, &mut steps);
        let resources = resources.unwrap_or_default();
        let name = format!("krm-template-composition-{}.yaml", self.count);
        self.count += 1;
        Some((name, text(&resources)))
    }

    /// Whether the Kustomization in a directory leads to Compositions; if so, it is in the list.
    pub(crate) fn add(
        &mut self,
        directory: &str,
        field: &FieldPath,
        context: &mut Context<'_>,
    ) -> bool {
        if let Some(known) = self.known.get(directory) {
            return *known;
        }
        // Kustomize refuses those that lead back here.
        self.known.insert(directory.to_owned(), false);
        let leads = self.known.len() <= MAX_NESTING && self.leads(directory, field, context);
        self.known.insert(directory.to_owned(), leads);
        leads
    }

    fn leads(&mut self, directory: &str, field: &FieldPath, context: &mut Context<'_>) -> bool {
        let Some(mut config) = kustomization(directory, context) else {
            return false;
        };
        let mut files = Vec::new();
        let mut leads = false;
        for list in LISTS {
            let items = config.get_mut(list).and_then(Value::items_mut);
            for item in items.into_iter().flatten() {
                let Data::Scalar(Scalar::String(path)) = &mut item.data else {
                    continue;
                };
                if path.contains(['\n', ':']) {
                    continue;
                }
                let there = join(directory, path);
                if let Some((name, text)) = self.made(&there, directory, field, context) {
                    *path = name.clone().into();
                    files.push((name, text));
                    leads = true;
                } else if matches!(find(context.files, &there), Ok(Found::Kustomization)) {
                    leads |= self.add(&there, field, context);
                }
            }
        }
        if leads {
            if !files.is_empty() {
                files.push((KUSTOMIZATION.to_owned(), config.to_json()));
            }
            self.list.push(Base {
                directory: directory.to_owned(),
                files,
            });
        }
        leads
    }
}

/// The file of the Composition at a path, if one is there.
fn composition_at(path: &str, root: &str, context: &Context<'_>) -> Option<String> {
    match find(context.files, path).ok()? {
        Found::Composition(file) => Some(file),
        Found::File => {
            let source = context.files.source(path, root).ok()?;
            // Most are plain resources.
            if !source.text().contains("Composition") {
                return None;
            }
            let document = Document::parse(&source).ok()?;
            let kind = document.roots().next().and_then(built_kind)?;
            (kind == "Composition").then(|| path.to_owned())
        }
        Found::Kustomization | Found::Nothing => None,
    }
}

/// The Kustomization in a directory, if it can be read.
fn kustomization(directory: &str, context: &Context<'_>) -> Option<Value<'static>> {
    let mut paths = KUSTOMIZATIONS.iter().map(|name| join(directory, name));
    let source = paths.find_map(|path| context.files.source(&path, directory).ok())?;
    let document = Arc::new(Document::parse(&source).ok()?);
    let root = document.roots().next()?;
    let value = root.value(DuplicateKeys::LastWins, &mut Diagnostics::default())?;
    Some(value.into_owned().without_origin())
}

/// Objects as kustomize reads them.
fn text(resources: &[Resource<'_>]) -> String {
    let texts = resources.iter().map(|resource| resource.value().to_json());
    texts.collect::<Vec<_>>().join("\n---\n")
}
