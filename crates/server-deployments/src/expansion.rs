//! Expands configurations into texts, manifests or objects, with admission, limits and metrics.

use std::collections::BTreeSet;
use std::sync::Arc;

use krm_template_deployment_manager::error::{ExpandError, Overrun};
use krm_template_deployment_manager::expand::expand_within;
use krm_template_deployment_manager::expansion::{Expansion, Resource};
use krm_template_deployment_manager::instances::manifest;
use krm_template_deployment_manager::model::{Limits as Bounds, Request};
use krm_template_deployment_manager::objects::{self, objects};
use krm_template_deployment_manager::python::Interpreters;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};
use tokio::time::Instant;

use super::fetch::Fetcher;
use krm_template_cluster::Object;
use krm_template_server_core::{
    Admission, Cause, Details, Limits, Metrics, Result, Status, panics, status::MAX_CAUSES,
};

/// The maximum number of warnings of a response, and of characters of a warning.
const MAX_WARNINGS: usize = 20;
const MAX_WARNING: usize = 256;

/// The expanded configuration and the layout, as YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// The expanded configuration: `resources` without templates.
    pub config: String,
    /// The layout: `resources` with their templates, and `outputs`.
    pub layout: String,
    /// Warnings for people: at most 20.
    pub warnings: Vec<String>,
    /// The number of resources in `config`.
    pub resources: usize,
}

/// The manifest of an expanded configuration, and its objects.
#[derive(Debug)]
pub(super) struct ExpandedManifest {
    /// The manifest as stored, in JSON.
    pub manifest: Vec<u8>,
    /// The objects, if they were requested.
    pub objects: Vec<Object>,
    /// Warnings for people: at most [`MAX_WARNINGS`].
    pub warnings: Vec<String>,
    pub resources: usize,
}

/// Expands a configuration into texts.
///
/// # Errors
///
/// 400 with the first error, and all of them as causes; 422 if a size limit
/// is exceeded, 504 if the time limit is exceeded.
pub(super) fn texts(
    request: &Request,
    python: &dyn Interpreters,
    limits: Bounds<'_>,
) -> Result<Texts> {
    let expansion = expand(request, python, limits)?;
    let resources = expansion.config.len();
    let warnings = warnings(&expansion.diagnostics);
    let is_empty = expansion.text.as_deref() == Some("");
    let layout = krm_yaml::to_string(&expansion.layout.to_original_value());
    let config = krm_yaml::to_string(&expansion.into_config_value());
    within(config.len().saturating_add(layout.len()), limits.bytes)?;
    let text = |text: String| if is_empty { String::new() } else { text };
    Ok(Texts { config: text(config), layout: text(layout), warnings, resources })
}

/// Expands a configuration into the manifest `name`, and into objects if `wants_objects` is set.
///
/// # Errors
///
/// The same as [`texts`], and 400 for a number that JSON cannot hold, or for a resource that is
/// not a Kubernetes object.
pub(super) fn made(
    name: &str,
    request: &Request,
    python: &dyn Interpreters,
    limits: Bounds<'_>,
    wants_objects: bool,
) -> Result<ExpandedManifest> {
    let mut expansion = expand(request, python, limits)?;
    if let Some(text) = expansion.text.take()
        && !text.is_empty()
    {
        let message = "a configuration is a mapping with resources, found a text";
        return Err(Status::bad_request(message));
    }
    let resources = expansion.config.len();
    let mut found = std::mem::take(&mut expansion.diagnostics);
    let objects =
        if wants_objects { objects_of(&expansion, limits, &mut found)? } else { Vec::new() };
    let value = manifest(name, request, expansion);
    if let Some(digits) = value.non_finite() {
        return Err(not_finite(digits));
    }
    let manifest = value.to_json().into_bytes();
    Ok(ExpandedManifest { manifest, objects, warnings: warnings(&found), resources })
}

/// Returns the types of resources that have no template among the imports.
///
/// # Errors
///
/// The same as [`texts`].
pub(super) fn unexpanded(
    request: &Request,
    python: &dyn Interpreters,
    limits: Bounds<'_>,
) -> Result<BTreeSet<String>> {
    let expansion = expand(request, python, limits)?;
    let types = expansion.config.iter().filter_map(Resource::kind);
    Ok(types.map(str::to_owned).collect())
}

fn expand<'r>(
    request: &'r Request,
    python: &dyn Interpreters,
    limits: Bounds<'_>,
) -> Result<Expansion<'r>> {
    expand_within(request, python.interpreter().as_mut(), limits).map_err(|error| failed(&error))
}

/// Returns the objects, each after the objects that it refers to.
fn objects_of(
    expansion: &Expansion<'_>,
    limits: Bounds<'_>,
    found: &mut Diagnostics,
) -> Result<Vec<Object>> {
    let options = objects::Options { skip_others: false, max_bytes: limits.bytes };
    let made = objects(expansion, options, found);
    let Some(made) = made.filter(|_| !found.has_errors()) else {
        return Err(refused(found));
    };
    let mut bytes: usize = 0;
    let mut all = Vec::with_capacity(made.len());
    for object in made {
        if let Some(digits) = object.value.non_finite() {
            return Err(not_finite(digits));
        }
        let json = object.value.to_json();
        bytes = bytes.saturating_add(json.len());
        within(bytes, limits.bytes)?;
        let value = serde_json::from_str(&json);
        let wrong = || Status::bad_request("an object is nested too deep");
        all.push(Object(value.map_err(|_| wrong())?));
    }
    Ok(all)
}

fn not_finite(digits: &str) -> Box<Status> {
    Status::bad_request(format!("`{digits}` is a number that JSON cannot hold"))
}

fn within(bytes: usize, limit: usize) -> Result<()> {
    if bytes <= limit {
        return Ok(());
    }
    Err(overrun(Overrun::Bytes(limit)))
}

/// Converts the error of an expansion to a `Status`.
fn failed(error: &ExpandError) -> Box<Status> {
    error.overrun.map_or_else(|| refused(&error.diagnostics), overrun)
}

/// Returns a 400 with the first error as the message, and all of them as causes.
fn refused(diagnostics: &Diagnostics) -> Box<Status> {
    let errors = diagnostics.iter().filter(|one| one.severity == Severity::Error);
    let total = errors.clone().count() + diagnostics.more(Severity::Error);
    let causes: Vec<Cause> = errors
        .take(MAX_CAUSES)
        .map(|error| Cause::new("FieldValueInvalid", &field(error), message(error)))
        .collect();
    let first = causes.first().map(|cause| cause.message.clone());
    Status::bad_request(first.unwrap_or_default())
        .with(Details { causes: Cause::list(total, causes), ..Details::default() })
}

fn overrun(why: Overrun) -> Box<Status> {
    let reason = match why {
        Overrun::Time => {
            return Status::new(504, "Timeout", why.to_string()).with(Details::default());
        }
        Overrun::Resources(_) => "FieldValueTooMany",
        Overrun::Bytes(_) => "FieldValueTooLong",
    };
    let cause = Cause::new(reason, "content", why.to_string());
    Status::new(422, "Invalid", why.to_string())
        .with(Details { causes: vec![cause], ..Details::default() })
}

/// Returns the field of the request body that a diagnostic is about.
fn field(diagnostic: &Diagnostic) -> String {
    if let Some(field) = &diagnostic.field {
        return field.clone();
    }
    match &diagnostic.place {
        None => String::new(),
        Some(place) if place.source.name() == "config" => "content".to_owned(),
        Some(_) => "imports".to_owned(),
    }
}

/// Formats a diagnostic as `FILE:LINE:COLUMN: MESSAGE; HINT`.
fn message(diagnostic: &Diagnostic) -> String {
    let mut text = String::new();
    if let Some(place) = &diagnostic.place {
        let (line, column) = place.line_column();
        text = format!("{}:{line}:{column}: ", place.source.name());
    }
    text += &diagnostic.message;
    for hint in &diagnostic.hints {
        text += "; ";
        text += hint;
    }
    text
}

/// Returns the texts of the warnings.
fn warnings(diagnostics: &Diagnostics) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let all = diagnostics.iter();
    for warning in all.filter(|one| one.severity == Severity::Warning) {
        if texts.len() == MAX_WARNINGS {
            break;
        }
        let text: String = message(warning).chars().take(MAX_WARNING).collect();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// The maximum nesting depth of fetched templates.
const MAX_FETCHED_DEPTH: usize = 10;

/// Expands configurations within the limits of the server.
pub(super) struct Expander {
    pub(super) limits: Limits,
    pub(super) admission: Admission,
    pub(super) metrics: Arc<Metrics>,
    pub(super) python: Arc<dyn Interpreters>,
    /// Fetches templates by URL, if that is allowed.
    pub(super) fetcher: Option<Fetcher>,
}

impl Expander {
    /// Expands a configuration without storing it.
    ///
    /// # Errors
    ///
    /// The same as [`texts`], and 429 if too many expansions wait.
    pub(super) async fn texts(&self, request: Request) -> Result<Texts> {
        let request = self.complete(request).await?;
        let python = Arc::clone(&self.python);
        self.expanded(
            move |bounds| texts(&request, python.as_ref(), bounds),
            |texts| texts.resources,
        )
        .await
    }

    /// Expands a configuration into a manifest.
    pub(super) async fn made(
        &self,
        name: String,
        request: Request,
        wants_objects: bool,
    ) -> Result<ExpandedManifest> {
        let request = self.complete(request).await?;
        let python = Arc::clone(&self.python);
        self.expanded(
            move |bounds| made(&name, &request, python.as_ref(), bounds, wants_objects),
            |made| made.resources,
        )
        .await
    }

    /// Fetches the templates of types that are URLs, if that is allowed. They may create more
    /// resources with such a type, so this repeats until no template is missing.
    async fn complete(&self, mut request: Request) -> Result<Request> {
        let Some(fetcher) = &self.fetcher else {
            return Ok(request);
        };
        let mut files = 0;
        for _ in 0..=MAX_FETCHED_DEPTH {
            let python = Arc::clone(&self.python);
            let expand = move |bounds: Bounds<'_>| {
                let types = unexpanded(&request, python.as_ref(), bounds)?;
                Ok((request, types))
            };
            let types;
            (request, types) = self.expanded(expand, |_| 0).await?;
            let mut wanted = types.into_iter().filter(|kind| fetcher.is_wanted(kind));
            let Some(first) = wanted.next() else {
                return Ok(request);
            };
            let wanted = std::iter::once(first).chain(wanted);
            fetcher.add(&mut request, wanted, &mut files).await?;
        }
        Err(Status::bad_request(format!(
            "fetched templates nest more than {MAX_FETCHED_DEPTH} deep"
        )))
    }

    /// Runs an expansion on a blocking thread, after admission.
    async fn expanded<T: Send + 'static>(
        &self,
        expand: impl FnOnce(Bounds<'_>) -> Result<T> + Send + 'static,
        count: impl FnOnce(&T) -> usize,
    ) -> Result<T> {
        let permit = self.admission.expansion().await?;
        let began = Instant::now();
        let limit = self.limits.expansion_timeout;
        let resources = self.limits.max_expansion_objects.get();
        let bytes = self.limits.max_expansion_bytes;
        let done = panics::limited(&self.metrics, limit, move |is_late| {
            let _permit = permit;
            expand(Bounds { resources, bytes, is_late })
        });
        let done = done.await;
        let created = done.as_ref().map(count).map_err(|status| match status.code {
            504 => "timeout",
            500 => "error",
            422 => "limit",
            _ => "invalid",
        });
        self.metrics.observe_expansion("deployment-manager", created, began.elapsed());
        done
    }
}
