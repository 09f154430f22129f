//! Expansion of Templates, from a request body or from the store.

use tokio::time::Instant;

use crate::api::{Call, State, render, resource_request};
use crate::codec::decode;
use crate::codec::encode as write;
use crate::http::{Answer, response};
use crate::request::{Format, Query, ResponseFormat, Scope, WriteOptions, content_type};
use crate::templates::{self, IsLate, Output, Processed, Request, Text};
use crate::validation::object_meta;
use krm_template_server_core::{Group, Result, Status, flow_control::admission::SHORT, panics};

/// Expands the Template in the request body.
pub(crate) async fn process(call: &Call<'_>) -> Result<Answer> {
    let shown = call.shown(Scope::One)?;
    let options = WriteOptions::create(call.query)?;
    let format = content_type::of_object(call.content_type())?;
    let validation = options.field_validation;
    call.check_namespace("processedtemplates", "").await?;
    let body = call.body.clone();
    let job = Job::new(call, shown, body.len())?;
    let processed = job
        .run(move |request| {
            let (group, namespace) = (request.group, request.namespace);
            let warnings = decode::check(group, format, &body, validation)?;
            if !object_meta::is_namespace(namespace) {
                let (draft, _) = decode::template(group, format, &body, validation)?;
                object_meta::namespace(&draft, namespace)?;
            }
            let mut processed = templates::template(request, text(&body, format)?)?;
            processed.warnings.splice(0..0, warnings);
            Ok(processed)
        })
        .await?;
    let mut answer = render::processed(call, shown, processed.body).await?;
    response::warn(&mut answer, &processed.warnings);
    Ok(answer)
}

/// Expands a stored Template with the `Parameters` in the request body.
pub(crate) async fn process_stored(call: &Call<'_>, name: &str) -> Result<Answer> {
    let shown = call.shown(Scope::One)?;
    WriteOptions::create(call.query)?;
    let format = content_type::of_object(call.content_type())?;
    let template = stored_text(call, name).await?;
    let body = call.body.clone();
    let job = Job::new(call, shown, template.text.len() + body.len())?;
    let processed = job
        .run(move |request| templates::stored(request, template.text(), text(&body, format)?))
        .await?;
    let mut answer = render::processed(call, shown, processed.body).await?;
    response::warn(&mut answer, &processed.warnings);
    Ok(answer)
}

/// Responds with the JSON Schema of the values of a stored Template.
pub(crate) async fn schema(call: &Call<'_>, name: &str) -> Result<Answer> {
    let shown = call.shown(Scope::One)?;
    let template = stored_text(call, name).await?;
    let permit = call.state.admission.expansion().await?;
    let group = call.group;
    let schema = call.state.limited(move |limits| {
        let _permit = permit;
        templates::schema(group, template.text(), limits)
    });
    let schema = schema.await?;
    Ok(render::finished(200, shown, schema.into_bytes()))
}

/// The text of a stored Template.
pub(crate) struct Template {
    text: String,
    syntax: Format,
}

impl Template {
    pub(crate) fn text(&self) -> Text<'_> {
        Text { text: &self.text, syntax: self.syntax }
    }
}

/// Reads a stored Template: the original text if it was posted as YAML, otherwise JSON.
pub(crate) async fn stored_text(call: &Call<'_>, name: &str) -> Result<Template> {
    let item = call.found(name).await?;
    let stored = resource_request::stored(&item)?;
    if let Some(yaml) = stored.yaml() {
        return Ok(Template { text: yaml.to_owned(), syntax: Format::Yaml });
    }
    let mut json = Vec::new();
    write::object((&stored, item.revision), &mut json);
    let text =
        String::from_utf8(json).map_err(|_| Status::internal("a stored object is not text"))?;
    Ok(Template { text, syntax: Format::Json })
}

pub(crate) struct Job<'c> {
    state: &'c State,
    /// Whether the expansion runs on the thread of the request.
    is_short: bool,
    group: Group,
    namespace: String,
    labels: Vec<(String, String)>,
    target_namespace: Option<String>,
    output: Output,
    source_map: bool,
    checks: bool,
    syntax: Format,
}

impl<'c> Job<'c> {
    /// Creates an expansion of texts of `bytes` bytes, with the options in the query.
    fn new(call: &Call<'c>, shown: ResponseFormat, bytes: usize) -> Result<Self> {
        let query = call.query;
        let output = match query.text("output") {
            "" | "template" => Output::Template,
            "list" => Output::List,
            _ => return Err(Status::bad_request("output must be 'list' or 'template'")),
        };
        let checks = query.flag("check") == Some(true);
        Ok(Self {
            state: call.state,
            // A `pattern`, which only the other group has, can take long to compile.
            is_short: bytes <= SHORT && call.group == Group::OpenShift && !checks,
            group: call.group,
            namespace: call.namespace.to_owned(),
            labels: labels(query)?,
            target_namespace: query
                .first("namespace")
                .filter(|name| !name.is_empty())
                .map(str::to_owned),
            output,
            source_map: query.flag("sourceMap") == Some(true),
            checks,
            syntax: shown.format,
        })
    }

    /// Creates an expansion for a page.
    pub(crate) fn of_page(state: &'c State, group: Group, namespace: &str) -> Self {
        Self {
            state,
            is_short: false,
            group,
            namespace: namespace.to_owned(),
            labels: Vec::new(),
            target_namespace: None,
            output: Output::Template,
            source_map: false,
            checks: true,
            syntax: Format::Json,
        }
    }

    async fn run(
        self,
        expand: impl FnOnce(&Request<'_>) -> Result<Processed> + Send + 'static,
    ) -> Result<Processed> {
        self.counted(expand, |processed| processed.objects).await
    }

    /// Waits for a permit, then expands: on a thread for blocking work unless the texts are short.
    /// `objects` returns the number of created objects.
    pub(crate) async fn counted<T: Send + 'static>(
        self,
        expand: impl FnOnce(&Request<'_>) -> Result<T> + Send + 'static,
        objects: fn(&T) -> usize,
    ) -> Result<T> {
        let state = self.state;
        let permit = state.admission.expansion().await?;
        let began = Instant::now();
        let timeout = state.limits.expansion_timeout;
        let limits = state.expansion_limits();
        let Self {
            is_short,
            group,
            namespace,
            labels,
            target_namespace,
            output,
            source_map,
            checks,
            syntax,
            ..
        } = self;
        let work = move |is_late: IsLate<'_>| {
            let _permit = permit;
            expand(&Request {
                group,
                namespace: &namespace,
                labels,
                target_namespace: target_namespace.as_deref(),
                output,
                source_map,
                checks,
                syntax,
                limits: limits(is_late),
            })
        };
        let done = if is_short {
            let is_late = || began.elapsed() > timeout;
            panics::caught(&state.metrics, async { work(&is_late) }).await
        } else {
            panics::limited(&state.metrics, timeout, work).await
        };
        let created = done.as_ref().map(objects).map_err(|status| outcome(status));
        state.metrics.observe_expansion(group.dialect(), created, began.elapsed());
        done
    }
}

/// Returns the outcome of a failed expansion.
fn outcome(status: &Status) -> &'static str {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let is_limit = |reason| matches!(reason, "FieldValueTooMany" | "FieldValueTooLong");
    match status.code {
        504 => "timeout",
        500 => "error",
        _ if causes.into_iter().any(|cause| is_limit(cause.reason)) => "limit",
        _ => "invalid",
    }
}

/// Parses the labels in `?labels=KEY=VALUE,…`.
fn labels(query: &Query) -> Result<Vec<(String, String)>> {
    let text = query.text("labels");
    let pairs = text.split(',').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let pair = pair.split_once('=');
            let (key, value) =
                pair.ok_or_else(|| Status::bad_request("labels must be KEY=VALUE,KEY=VALUE"))?;
            Ok((key.to_owned(), value.to_owned()))
        })
        .collect()
}

fn text(body: &[u8], format: Format) -> Result<Text<'_>> {
    let text = std::str::from_utf8(body);
    let text = text.map_err(|_| Status::bad_request("the body is not UTF-8 text"))?;
    Ok(Text { text, syntax: format })
}
