//! Uploaded Templates: filling in their forms, and storing them.

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_TYPE, HeaderValue, USER_AGENT};
use krm_template_authoring::form::{Filled, Form};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document};
use minijinja::context;

use super::form::{self, Shown, Stored, Subject};
use super::pages::{self, Data};
use super::visit::{Visit, html, redirect};
use crate::api::Call;
use crate::codec::decode;
use crate::http::{Answer, JSON, YAML};
use crate::registry::objects;
use crate::request::Format;
use crate::request::{DEFAULT_NAMESPACE, Query};
use crate::templates::{self};
use krm_template_server_core::{Group, Result, Status};

pub(super) fn page(visit: &Visit<'_>) -> Result<Answer> {
    let namespace = match visit.incoming.query.text("namespace") {
        "" => DEFAULT_NAMESPACE,
        namespace => namespace,
    };
    shown(visit, 200, namespace, "", &[])
}

/// Opens the form of an uploaded Template, expands it, or stores it.
pub(super) async fn open(visit: &Visit<'_>) -> Result<Answer> {
    let entered = &visit.entered;
    let namespace = match entered.text("namespace") {
        "" => DEFAULT_NAMESPACE,
        namespace => namespace,
    };
    let text = match (entered.get("template"), entered.file()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(bytes)) => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => return failed(visit, namespace, "", "The file is not UTF-8 text."),
        },
        (None, None) => entered.text("text").to_owned(),
    };
    if text.trim().is_empty() {
        return failed(visit, namespace, "", "Choose a file, or enter its text.");
    }
    let admission = &visit.state.admission;
    let (group, document) = match admission.work(text.len(), || parsed(&text)).await {
        Ok(parsed) => parsed,
        Err(message) => return failed(visit, namespace, &text, message),
    };
    let object = (group, namespace, "");
    let action = entered.text("action");
    if action == "store" || !entered.text("store").is_empty() {
        visit.may("create", ("templates", ""), object).await?;
        return match store(visit, group, namespace, &text).await {
            Ok(address) => Ok(redirect(303, &address)),
            Err(status) => refused(visit, namespace, &text, status),
        };
    }
    visit.may("create", ("processedtemplates", ""), object).await?;
    let readable = admission.work(text.len(), || templates::readable(document, syntax(&text)));
    let template = match readable.await {
        Ok(template) => template,
        Err(status) => return refused(visit, namespace, &text, status),
    };
    let subject = Subject {
        group,
        namespace: namespace.to_owned(),
        template,
        address: "/ui/upload".to_owned(),
        is_stored: false,
    };
    if !matches!(action, "" | "open") {
        return form::answer(visit, &subject).await;
    }
    match form::described(visit, &subject).await {
        Ok(described) => {
            let form = Shown::form(Filled::default())?;
            form::show(visit, &subject, &described, &form).await
        }
        Err(status) => refused(visit, namespace, &text, status),
    }
}

fn syntax(text: &str) -> Format {
    if text.trim_start().starts_with('{') { Format::Json } else { Format::Yaml }
}

/// Parses a Template. Returns its group, too.
fn parsed(text: &str) -> std::result::Result<(Group, Document), &'static str> {
    const UNREADABLE: &str = "The text is not a Template: it cannot be read as YAML or JSON.";
    let document = Document::parse(&Source::new("Template", text)).map_err(|_| UNREADABLE)?;
    match decode::group_of(&document) {
        Some(group) => Ok((group, document)),
        None if document.roots().next().is_some_and(Cursor::is_mapping) => Err(
            "The `apiVersion` must be `template.krm.dev/v1alpha1`, `template.openshift.io/v1` or `v1`.",
        ),
        None => Err(UNREADABLE),
    }
}

/// Stores a Template as the API does. Returns the address of its form.
async fn store(visit: &Visit<'_>, group: Group, namespace: &str, text: &str) -> Result<String> {
    let mut headers = HeaderMap::new();
    let content_type = if syntax(text) == Format::Json { JSON } else { YAML };
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    if let Some(agent) = visit.incoming.headers.get(USER_AGENT) {
        headers.insert(USER_AGENT, agent.clone());
    }
    let call = Call {
        query: &Query::default(),
        headers: &headers,
        body: Bytes::from(text.to_owned()),
        ..visit.call(group, namespace)
    };
    let name = objects::store(&call).await?;
    let stored = Stored { group, namespace, name: &name };
    Ok(stored.address())
}

/// Shows the upload page again, with the errors of the Template.
fn refused(visit: &Visit<'_>, namespace: &str, text: &str, status: Box<Status>) -> Result<Answer> {
    if !matches!(status.code, 400 | 409 | 422) {
        return Err(status);
    }
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let mut messages: Vec<String> = causes
        .map(|cause| match cause.field.as_str() {
            "" => cause.message.clone(),
            field => format!("`{field}`: {}", cause.message),
        })
        .collect();
    if messages.is_empty() {
        messages.push(status.message.clone());
    }
    shown(visit, status.code, namespace, text, &messages)
}

fn failed(visit: &Visit<'_>, namespace: &str, text: &str, message: &str) -> Result<Answer> {
    shown(visit, 422, namespace, text, &[message.to_owned()])
}

fn shown(
    visit: &Visit<'_>,
    code: u16,
    namespace: &str,
    text: &str,
    messages: &[String],
) -> Result<Answer> {
    let nothing = Form { groups: Vec::new() };
    let summary = pages::summary(&nothing, &Filled::default(), messages);
    let frame = visit.frame("upload", "Upload a Template", "");
    let upload = context! {
        summary => Data::from_safe_string(summary),
        text => text.to_owned(),
        namespace => namespace.to_owned(),
    };
    Ok(html(code, pages::render("upload.html", &frame, upload)?))
}
