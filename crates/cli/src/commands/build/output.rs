//! The output of `build`: one text, or a file for each object.

use std::collections::BTreeSet;

use crate::commands::build::arguments::{Arguments, Style};
use crate::output::destination::Output;
use crate::output::directory::{self, File};
use krm_core::created;
use krm_core::scope::effective_namespace;
use krm_template_composition::{self as composition, Resource};
use krm_template_engine::{Format, Object, Printer};
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, Position, Value};

/// The resources as output; none after an error, which is reported.
pub(super) fn of(
    resources: &[Resource<'_>],
    arguments: &Arguments,
    diagnostics: &mut Diagnostics,
) -> Option<Output> {
    let format = arguments.format();
    if arguments.goes_to_folder() {
        return files(resources, arguments, diagnostics).map(Output::Files);
    }
    Some(Output::Text(match (format, arguments.style) {
        (Format::Json | Format::Name, _) => as_data(resources, format, diagnostics)?,
        (Format::ResourceList, _) => {
            composition::print(resources, composition::Format::ResourceList, diagnostics)?
        }
        (_, Some(Style::Kustomize)) => {
            composition::print(resources, composition::Format::KustomizeStyle, diagnostics)?
        }
        (_, None) => composition::print(resources, composition::Format::Yaml, diagnostics)?,
    }))
}

/// The resources in a format without their layout.
fn as_data(
    resources: &[Resource<'_>],
    format: Format,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<String>> {
    let nothing = diagnostics.take(Document::parse(&Source::new("output", "")))?;
    let mut printer = Printer::new(format);
    let objects = resources.iter().map(|resource| Object {
        value: resource.value().clone(),
        document: resource.document().map_or(&nothing, |document| document),
        field: String::new(),
    });
    printer.objects(objects, diagnostics);
    (!diagnostics.has_errors()).then(|| printer.finish())
}

/// A file for each resource.
fn files(
    resources: &[Resource<'_>],
    arguments: &Arguments,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<File>> {
    let format = arguments.format();
    let namespaces: BTreeSet<String> = resources.iter().filter_map(namespace).collect();
    let mut files = Vec::with_capacity(resources.len());
    for resource in resources {
        let value: &Value<'_> = resource.value();
        let text = match format {
            Format::Json => krm_yaml::render_json(value, Some(4)).map(|text| text + "\n"),
            _ if arguments.style.is_some() => Ok(composition::print_as_kustomize(resource)),
            _ => resource.text(Position::Document),
        };
        let text = diagnostics.take(text)?;
        let file = File::of(value, text, format);
        let file = match arguments.output_path() {
            Some(_) => file.at(name_of_kustomize(resource, namespaces.len() > 1)),
            None => file,
        };
        diagnostics.take(created::check(value, file.path(), resource.place()));
        files.push(file);
    }
    directory::check(&files, diagnostics);
    (!diagnostics.has_errors()).then_some(files)
}

/// The group, version and kind of an object.
fn type_of<'r>(resource: &'r Resource<'_>) -> [&'r str; 3] {
    let text = |key: &str| resource.str_at(&[key]).unwrap_or_default();
    let version = text("apiVersion");
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    [group, version, text("kind")]
}

/// The namespace of an object; none for one of the cluster.
fn namespace(resource: &Resource<'_>) -> Option<String> {
    let identity = resource.identity()?;
    let namespace = effective_namespace(&identity);
    (!namespace.is_empty()).then(|| namespace.to_owned())
}

/// The name of an object's file as `kustomize build -o` gives it: it begins with the namespace only
/// if there are several.
///
/// Source: kustomize 5.8, `kustomize/commands/build/writer.go`.
fn name_of_kustomize(resource: &Resource<'_>, has_namespace: bool) -> String {
    let name = resource.str_at(&["metadata", "name"]).unwrap_or_default();
    let namespace = namespace(resource).filter(|_| has_namespace);
    let [group, version, kind] = type_of(resource);
    let mut parts = vec![namespace.as_deref().unwrap_or_default()];
    parts.extend([group, version, kind, name]);
    parts.retain(|part| !part.is_empty());
    let is_unsafe = |char: char| char.is_control() || matches!(char, '/' | '\\');
    let name = parts.join("_").to_lowercase().replace(is_unsafe, "-");
    format!("{name}.yaml")
}
