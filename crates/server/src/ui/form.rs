//! The form of a Template and its result.

use minijinja::context;
use std::sync::Arc;

use http::header::{CONTENT_DISPOSITION, HeaderValue};
use krm_core::visible::counted;
use krm_core::visible::hex;
use krm_template_authoring::form::{Checks, Filled, linked};
use krm_template_engine::ParameterType;
use krm_yaml::Document;
use krm_yaml::source::Source;
use serde_json::json;

use super::pages::{self, Data, Usage};
use super::values;
use super::visit::{Visit, encoded, html, secured};
use crate::http::{Answer, response};
use crate::registry::process::{self, Job};
use crate::request::Format;
use crate::request::{Resource, Verb};
use crate::templates::{self, Described, Preview, PreviewOptions, Text, View};
use krm_template_server_core::{Group, Result, Status};

#[derive(Clone, Copy)]
pub(super) struct Stored<'s> {
    pub(super) group: Group,
    pub(super) namespace: &'s str,
    pub(super) name: &'s str,
}

impl Stored<'_> {
    /// Returns the resource of a request for the Template, for the audit log.
    pub(super) fn resource(&self, is_post: bool) -> Resource {
        let is_subresource = is_post && self.group == Group::Krm;
        let is_processed = is_post && self.group == Group::OpenShift;
        let resource = if is_processed { "processedtemplates" } else { "templates" };
        Resource {
            verb: Some(if is_post { Verb::Create } else { Verb::Get }),
            group: self.group.name().to_owned(),
            version: self.group.version().to_owned(),
            namespace: Some(self.namespace.to_owned()),
            resource: resource.to_owned(),
            name: (!is_processed).then(|| self.name.to_owned()),
            subresource: is_subresource.then(|| "processed".to_owned()),
            group_from_body: false,
            selected_name: None,
        }
    }

    /// Returns the address of its form.
    pub(super) fn address(&self) -> String {
        let [namespace, name] = [self.namespace, self.name].map(encoded);
        format!("/ui/{namespace}/{}/{name}", self.group.name())
    }
}

/// A Template whose form is shown.
pub(super) struct Subject {
    pub(super) group: Group,
    pub(super) namespace: String,
    /// The Template in YAML, as shown and submitted.
    pub(super) template: Arc<Document>,
    /// The address to submit the form to.
    pub(super) address: String,
    pub(super) is_stored: bool,
}

/// Shows the form of a stored Template.
pub(super) async fn page(visit: &Visit<'_>, stored: &Stored<'_>) -> Result<Answer> {
    let subject = read(visit, stored).await?;
    let described = described(visit, &subject).await?;
    let mut filled = Filled::default();
    // A link may fill in values, but not secrets.
    for field in described.form.fields().filter(|field| !field.is_hidden) {
        if let Some(value) = visit.incoming.query.first(&format!("p.{}", field.name)) {
            filled.values.insert(field.name.clone(), value.to_owned());
        }
    }
    show(visit, &subject, &described, &Shown::form(filled)?).await
}

/// Handles a submitted form of a stored Template.
pub(super) async fn submit(visit: &Visit<'_>, stored: &Stored<'_>) -> Result<Answer> {
    let subject = read(visit, stored).await?;
    let object = (stored.group, stored.namespace, stored.name);
    match stored.group {
        Group::Krm => {
            visit.may("create", ("templates", "processed"), object).await?;
        }
        Group::OpenShift => {
            let object = (stored.group, stored.namespace, "");
            visit.may("create", ("processedtemplates", ""), object).await?;
        }
    }
    answer(visit, &subject).await
}

async fn read(visit: &Visit<'_>, stored: &Stored<'_>) -> Result<Subject> {
    let object = (stored.group, stored.namespace, stored.name);
    visit.may("get", ("templates", ""), object).await?;
    let call = visit.call(stored.group, stored.namespace);
    let template = process::stored_text(&call, stored.name).await?;
    let Text { text, syntax } = template.text();
    let readable = call.work(text.len(), || {
        let document = Document::parse(&Source::new("Template", text));
        let unreadable = |_| Status::internal("a stored object cannot be read");
        templates::readable(document.map_err(unreadable)?, syntax)
    });
    Ok(Subject {
        group: stored.group,
        namespace: stored.namespace.to_owned(),
        template: readable.await?,
        address: stored.address(),
        is_stored: true,
    })
}

/// Returns the form of a Template.
pub(super) async fn described(visit: &Visit<'_>, subject: &Subject) -> Result<Described> {
    let permit = visit.state.admission.expansion().await?;
    let (group, template) = (subject.group, Arc::clone(&subject.template));
    let done = visit.state.limited(move |limits| {
        let _permit = permit;
        templates::described(group, &template, limits)
    });
    done.await
}

/// The content of a page besides the form.
pub(super) struct Shown {
    code: u16,
    filled: Filled,
    /// Error messages that belong to no field.
    others: Vec<String>,
    result: Option<Rendered>,
    given: Vec<(String, String)>,
    seed: [u8; 32],
}

struct Rendered {
    result: Data,
    source: Data,
}

impl Rendered {
    /// Renders an expansion. This is slow for large objects, so it runs as part of the expansion.
    fn of(preview: &Preview, group: Group, template: &Arc<Document>) -> Self {
        let objects = preview.objects.iter().enumerate();
        let objects = objects.map(|(index, object)| {
            context! {
                kind => object.kind.clone(),
                name => object.name.clone(),
                count => format!("{} from parameters", counted(object.from_parameters, "field")),
                code => Data::from_safe_string(pages::object(index, &object.pieces)),
            }
        });
        let mut warnings = preview.warnings.clone();
        let mut created = preview.objects.len();
        if preview.is_too_large {
            let size = preview.yaml.len() >> 10;
            warnings.push(format!(
                "The objects have {size} KiB, which is too much for a page. Download them instead."
            ));
            created = preview.created;
        }
        let message = preview.message.as_deref().map(linked);
        let source = templates::source(group, template);
        Self {
            result: context! {
                count => counted(created, "object"),
                has_masks => preview.has_masks,
                message => message.map(Data::from_safe_string),
                warnings,
                objects => objects.collect::<Data>(),
            },
            source: Data::from_safe_string(pages::text(&source)),
        }
    }
}

impl Shown {
    /// Returns a form without a result.
    pub(super) fn form(filled: Filled) -> Result<Self> {
        Ok(Self {
            code: 200,
            filled,
            others: Vec::new(),
            result: None,
            given: Vec::new(),
            seed: values::seed("")?,
        })
    }
}

/// Expands a Template with the submitted values.
pub(super) async fn answer(visit: &Visit<'_>, subject: &Subject) -> Result<Answer> {
    let described = described(visit, subject).await?;
    let (filled, given) = values::filled(&visit.entered, &described.form);
    let mut shown = Shown {
        code: 200,
        filled,
        others: Vec::new(),
        result: None,
        given,
        seed: values::seed(visit.entered.text("seed"))?,
    };
    let action = visit.entered.text("action");
    let look = PreviewOptions {
        seed: shown.seed,
        view: match action {
            "download" => View::Download,
            "reveal" => View::All,
            _ => View::WithoutSecrets,
        },
    };
    let values: serde_json::Map<String, serde_json::Value> =
        shown.given.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let values = json!({ "values": values }).to_string();
    let (group, template) = (subject.group, Arc::clone(&subject.template));
    let job = Job::of_page(visit.state, group, &subject.namespace);
    let done = job.counted(
        move |request| {
            let values = Text { text: &values, syntax: Format::Json };
            let preview = templates::preview(request, &template, values, look)?;
            let is_shown = look.view != View::Download;
            let rendered = is_shown.then(|| Rendered::of(&preview, group, &template));
            Ok((preview, rendered))
        },
        |(preview, _)| preview.created,
    );
    match done.await {
        Ok((_, Some(rendered))) => shown.result = Some(rendered),
        Ok((preview, None)) => return Ok(download(&described, preview)),
        Err(status) if status.code == 422 => {
            shown.code = 422;
            shown.others = values::sort(&status, &described.form, &mut shown.filled);
        }
        Err(status) => return Err(status),
    }
    if visit.wants_json() {
        return script(subject, &described, &shown);
    }
    show(visit, subject, &described, &shown).await
}

/// Responds with the objects as a file.
fn download(described: &Described, preview: Preview) -> Answer {
    let name: String = described
        .name
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.'))
        .collect();
    let name = if name.is_empty() { "objects" } else { &name };
    let mut answer = secured(response::new(200, "application/yaml", preview.yaml));
    let file = format!("attachment; filename=\"{name}.yaml\"");
    if let Ok(file) = HeaderValue::from_str(&file) {
        answer.headers_mut().insert(CONTENT_DISPOSITION, file);
    }
    answer
}

fn script(subject: &Subject, described: &Described, shown: &Shown) -> Result<Answer> {
    let errors = shown.filled.errors.iter().flat_map(|(name, messages)| {
        let messages = messages.iter();
        messages.map(move |message| json!({"parameter": name, "message": message}))
    });
    let errors: Vec<serde_json::Value> = errors.collect();
    let result = match shown.result {
        Some(_) => json!(output(subject, described, shown)?),
        None => json!(null),
    };
    let body = json!({"errors": errors, "form": shown.others, "result": result});
    Ok(secured(response::json(shown.code, &body)))
}

/// Renders the right side of the form.
fn output(subject: &Subject, described: &Described, shown: &Shown) -> Result<String> {
    let Some(rendered) = &shown.result else {
        return pages::rendered("result.html", Data::default());
    };
    let usage = Usage {
        group: subject.group,
        namespace: &subject.namespace,
        name: &described.name,
        form: &described.form,
        values: &shown.given,
        is_stored: subject.is_stored,
    };
    pages::rendered(
        "result.html",
        context! {
            result => Some(rendered.result.clone()),
            source => rendered.source.clone(),
            uses => usage.all(),
        },
    )
}

/// Renders the page of a form.
pub(super) async fn show(
    visit: &Visit<'_>,
    subject: &Subject,
    described: &Described,
    shown: &Shown,
) -> Result<Answer> {
    let length = subject.template.text().len();
    let render = || rendered(visit, subject, described, shown);
    visit.state.admission.work(length, render).await
}

fn rendered(
    visit: &Visit<'_>,
    subject: &Subject,
    described: &Described,
    shown: &Shown,
) -> Result<Answer> {
    let title = match described.title.as_str() {
        "" if described.name.is_empty() => "Template",
        "" => &described.name,
        title => title,
    };
    let summary = pages::summary(&described.form, &shown.filled, &shown.others);
    let fields = described.form.html(Checks::Server, &shown.filled);
    let links = [(&described.documentation, "Documentation"), (&described.support, "Support")];
    let is_web = |href: &str| href.starts_with("https://") || href.starts_with("http://");
    let links = links.into_iter().filter(|(href, _)| is_web(href));
    let has_files = |kind| kind == ParameterType::Base64;
    let page = context! {
        summary => Data::from_safe_string(summary),
        title => title.to_owned(),
        name => described.name.clone(),
        code => format!("{}/{}", subject.namespace, described.name),
        provider => described.provider.clone(),
        links => links.map(|(href, text)| context! { href => href.as_str(), text }).collect::<Data>(),
        description => Data::from_safe_string(linked(&described.description)),
        tags => described.tags.clone(),
        notice => if subject.is_stored {
            String::new()
        } else {
            "This Template is not stored.".to_owned()
        },
        notice_class => "",
        has_result => shown.result.is_some(),
        action => subject.address.clone(),
        has_files => described.form.fields().any(|field| has_files(field.kind)),
        seed => hex(&shown.seed),
        upload => if subject.is_stored { String::new() } else { subject.template.text().to_owned() },
        fields => Data::from_safe_string(fields),
        result => Data::from_safe_string(output(subject, described, shown)?),
    };
    let frame = visit.frame("form", title, &subject.namespace);
    Ok(html(shown.code, pages::render("form.html", &frame, page)?))
}
