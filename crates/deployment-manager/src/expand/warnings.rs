//! Warnings about the resources of an expansion: duplicate names, unknown resources in references.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::suggest::closest;
use krm_yaml::{Data, Scalar, Value};

use crate::expansion::{Layout, LayoutResource, Resource};
use crate::model::Config;
use crate::references;
use crate::repr;
use crate::yaml::Located;

/// The warnings about resources and their layout.
pub(super) fn warnings(
    resources: &[Resource<'_>],
    layout: &Layout<'_>,
    config: &Config,
) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    // Each list has distinct names, so only those of templates can meet others.
    if layout.resources.iter().any(|one| !one.resources.is_empty()) {
        shared_names(resources, &mut diagnostics);
    }
    let mut search = Search {
        reads_copied: memchr::memchr(b'$', config.source().text().as_bytes()).is_some(),
        found: Vec::new(),
    };
    for resource in resources {
        if let Some(properties) = resource.value.get("properties") {
            search.below(properties, resource);
        }
    }
    if search.found.is_empty() {
        return diagnostics;
    }
    let mut names = BTreeSet::new();
    names_of(&layout.resources, &mut names);
    for (name, value, resource) in search.found {
        if !names.contains(name) {
            diagnostics.push(unknown(name, value, resource, &names));
        }
    }
    diagnostics
}

fn shared_names(resources: &[Resource<'_>], diagnostics: &mut Diagnostics) {
    let mut seen: BTreeMap<&str, &Resource<'_>> = BTreeMap::new();
    for resource in resources {
        let Some(name) = resource.value.get("name") else {
            continue;
        };
        let Some(first) = name.as_str().and_then(|name| seen.insert(name, resource)) else {
            continue;
        };
        let message = format!("two resources of the expansion are named `{}`", repr::text(name));
        let warning = Diagnostic::warning(message)
            .rule("dm-duplicate-name")
            .hint("build the name from the name of the template's resource: `env[\"name\"]`");
        let document = resource.document.as_ref();
        let mut warning = Located { value: name, document }.mark(warning);
        if let Some(place) = first.located().place() {
            warning = warning.related(place, "first here");
        }
        diagnostics.push(warning);
    }
}

fn names_of<'l>(resources: &'l [LayoutResource<'_>], names: &mut BTreeSet<&'l str>) {
    for resource in resources {
        names.extend(resource.name.as_str());
        names_of(&resource.resources, names);
    }
}

/// The name that a reference has, its text, and the resource with it.
type Reference<'v> = (&'v str, &'v Value<'v>, &'v Resource<'v>);

/// A search for references in the values of resources.
struct Search<'v> {
    /// Whether a text that a resource has from the configuration may have one.
    reads_copied: bool,
    found: Vec<Reference<'v>>,
}

impl<'v> Search<'v> {
    fn below(&mut self, value: &'v Value<'v>, resource: &'v Resource<'v>) {
        if let Data::Scalar(Scalar::String(text)) = &value.data
            && (self.reads_copied || matches!(text, Cow::Owned(_)))
        {
            let all = references::all(text);
            self.found.extend(all.map(|reference| (reference.name, value, resource)));
        }
        value.children().for_each(|value| self.below(value, resource));
    }
}

fn unknown(
    name: &str,
    value: &Value<'_>,
    resource: &Resource<'_>,
    names: &BTreeSet<&str>,
) -> Diagnostic {
    let dotted = format!("{name}.");
    let from = names.range(dotted.as_str()..).next();
    let dotted = from.filter(|known| known.starts_with(&dotted));
    let hint = match (dotted, closest(name, names.iter().copied())) {
        (Some(dotted), _) => {
            format!("rename `{dotted}`: in a reference, a name ends at the first dot")
        }
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => "a reference names a resource of the configuration".to_owned(),
    };
    let warning = Diagnostic::warning(format!("reference to the unknown resource `{name}`"));
    let document = resource.document.as_ref();
    Located { value, document }.mark(warning.rule("dm-reference").hint(hint))
}
