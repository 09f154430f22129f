//! `HelmChartInflationGenerator`: adds the objects of a Helm chart, which helm makes.
//!
//! Source: kustomize 5.8, `api/internal/builtins/HelmChartInflationGenerator.go`, and what it does
//! in kubectl 1.37.

use std::sync::Arc;

use crate::builtin::known::ResourceIds;
use crate::engine::functions::{Chart, HelmChart};
use crate::engine::step::{Context, Transform};
use crate::patch::merge::{Merged, Merging, merge};
use crate::resources::objects::objects;
use crate::resources::resource::Resource;
use crate::tables::merge_keys;
use krm_core::files::{Entry, join};
use krm_yaml::diagnostic::{Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, DuplicateKeys, FieldPath, Position, Value};

/// The directory of the charts without `chartHome`.
const HOME: &str = "charts";
/// How `valuesInline` and the values of a file are merged.
const MERGES: [&str; 3] = ["override", "merge", "replace"];

impl Transform for HelmChart {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        if self.namespace.is_empty() && context.transformer.is_field() {
            let namespace = context.state.shared.namespace.as_deref();
            namespace.unwrap_or_default().clone_into(&mut self.namespace);
        }
        let inflated = check(self, context).and_then(|()| inflated(self, context));
        let Some(document) = context.diagnostics.take(inflated) else {
            return;
        };
        let read = objects(&document, None, context.diagnostics);
        let mut new: Vec<_> = read.into_iter().map(Resource::into_owned).collect();
        for one in &mut new {
            one.is_of_helm = true;
        }
        let field = FieldPath::root();
        let (transformer, diagnostics) = (context.transformer, &mut *context.diagnostics);
        let mut known = ResourceIds::of(resources, context.is_of_kustomization);
        known.add(resources, new, &field, transformer, diagnostics);
    }
}

/// Checks what kustomize checks, and that helm takes no text of the chart for an option.
fn check(chart: &HelmChart, context: &Context<'_>) -> Result<()> {
    let error = |field: &str, problem: String| {
        let field = FieldPath::root().key(field);
        Err(Box::new(context.transformer.error(&field, problem)))
    };
    if chart.name.is_empty() {
        return error("name", "the chart has no `name`".to_owned());
    }
    for (field, text) in [("name", &chart.name), ("releaseName", &chart.release_name)] {
        if text.starts_with('-') {
            return error(field, format!("`{text}` begins with `-`"));
        }
    }
    if !chart.values_merge.is_empty() && !MERGES.contains(&chart.values_merge.as_str()) {
        let known = MERGES.join("`, `");
        return error(
            "valuesMerge",
            format!("expected one of `{known}`, found `{}`", chart.values_merge),
        );
    }
    Ok(())
}

/// The stream of objects that helm makes of a chart.
fn inflated(config: &HelmChart, context: &Context<'_>) -> Result<Arc<Document>> {
    let field = |name: &str| FieldPath::root().key(name);
    let home = match config.chart_home.as_str() {
        "" => HOME,
        home => home,
    };
    let home = context.transformer.resolve(&field("chartHome"), home);
    // Only charts of a repository have versions beside one another.
    let home = if config.repo.is_empty() || config.version.is_empty() {
        home
    } else {
        join(&home, &format!("{}-{}", config.name, config.version))
    };
    let directory = join(&home, &config.name);
    let is_there = context.files.entry(&directory) == Some(Entry::Directory);
    let source = context.functions.helm(&Chart {
        config,
        home: &home,
        directory: &directory,
        is_there,
        values: &|| values(config, &directory, context),
    });
    let source = source.map_err(|mut problem| {
        if problem.place.is_none() {
            problem.message = format!("{}: {}", context.transformer.id, problem.message);
            problem.place = context.transformer.place();
        }
        problem
    })?;
    Ok(Arc::new(Document::parse(&source)?))
}

/// The values for a chart, which is in `directory` by now: a text, and paths of further files.
fn values(
    chart: &HelmChart,
    directory: &str,
    context: &Context<'_>,
) -> Result<(String, Vec<String>)> {
    let mut more = Vec::new();
    for (index, path) in chart.additional_values_files.iter().enumerate() {
        let field = FieldPath::root().key("additionalValuesFiles").index(index);
        placed(context.read(&field, path), &field, context)?;
        more.push(context.transformer.resolve(&field, path));
    }
    Ok((merged_values(chart, directory, context)?, more))
}

/// The result of reading the file that a field names.
fn placed<T>(read: Result<T>, field: &FieldPath, context: &Context<'_>) -> Result<T> {
    read.map_err(|problem| {
        let mut wrong = context.transformer.error(field, problem.message);
        wrong.hints = problem.hints;
        wrong.into()
    })
}

/// The values of a file, merged with those of the configuration.
fn merged_values(chart: &HelmChart, directory: &str, context: &Context<'_>) -> Result<String> {
    let config = &context.transformer.config;
    let inline = config.get("valuesInline").cloned();
    let inline = inline.unwrap_or_else(|| Value::mapping(Vec::new()));
    let inline = inline.without_origin();
    let has_inline = inline.entries().is_some_and(|entries| !entries.is_empty());
    if has_inline && chart.values_merge == "replace" {
        return text_of(&inline);
    }
    let field = FieldPath::root().key("valuesFile");
    let source = if chart.values_file.is_empty() {
        let root = &context.transformer.directory;
        context.files.source(&join(directory, "values.yaml"), root)
    } else {
        context.source(&field, &chart.values_file)
    };
    let source = placed(source, &field, context)?;
    if !has_inline {
        return Ok(source.text().to_owned());
    }
    let document = Document::parse(&source)?;
    let mut found = Diagnostics::new();
    let root = document.roots().next().filter(|root| Cursor::is_mapping(*root));
    let file = root.and_then(|root| root.value(DuplicateKeys::Refuse, &mut found));
    if let Some(wrong) = found.errors().iter().next() {
        return Err(Box::new(wrong.clone()));
    }
    let file = file.map_or_else(|| Value::mapping(Vec::new()), Value::into_owned);
    let file = file.without_origin();
    let (mut target, patch) = match chart.values_merge.as_str() {
        "merge" => (inline, file),
        _ => (file, inline),
    };
    let mut merging = Merging { is_quoted: &|_| false, losses: Vec::new() };
    let merged = merge(&mut target, &patch, merge_keys::Known::Unknown, &mut merging);
    match merged {
        Ok(Merged::Kept) => text_of(&target),
        Ok(Merged::Deleted) => Ok(String::new()),
        Err(problem) => {
            let field = FieldPath::root().key("valuesInline");
            let at = problem.path();
            let problem = format!("`{at}` and the values of the chart: {}", problem.message);
            Err(context.transformer.error(&field, problem).into())
        }
    }
}

/// Values as YAML.
fn text_of(values: &Value<'_>) -> Result<String> {
    let nothing = Document::parse(&Source::new("values", ""))?;
    krm_yaml::render(&nothing, values, Position::Document)
}
