//! The templates of the pages, and their data.

use std::sync::LazyLock;

use krm_template_authoring::form::{Filled, Form, escaped, id, marked};
use minijinja::{Environment, context};
use serde::Serialize;

use super::assets::HASHES;
use krm_template_server_core::{Result, Status};

/// Data of a page: texts, which its template escapes, and safe HTML.
pub(crate) type Data = minijinja::Value;

static ENVIRONMENT: LazyLock<std::result::Result<Environment<'static>, minijinja::Error>> =
    LazyLock::new(|| {
        let mut environment = Environment::new();
        for (name, text) in [
            ("base.html", include_str!("templates/base.html")),
            ("list.html", include_str!("templates/list.html")),
            ("form.html", include_str!("templates/form.html")),
            ("result.html", include_str!("templates/result.html")),
            ("use.html", include_str!("templates/use.html")),
            ("login.html", include_str!("templates/login.html")),
            ("upload.html", include_str!("templates/upload.html")),
            ("message.html", include_str!("templates/message.html")),
            ("deployments.html", include_str!("templates/deployments.html")),
            ("deployment.html", include_str!("templates/deployment.html")),
            ("instances.html", include_str!("templates/instances.html")),
            ("instance.html", include_str!("templates/instance.html")),
            ("deployment-manifest.html", include_str!("templates/deployment-manifest.html")),
            ("deployment-changes.html", include_str!("templates/deployment-changes.html")),
        ] {
            environment.add_template(name, text)?;
        }
        Ok(environment)
    });

/// The data that all pages share.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Frame {
    /// The name of the page in style sheets and the script.
    pub page: &'static str,
    /// The title of the browser's window.
    pub title: String,
    /// The address of the list that it belongs to.
    pub home: &'static str,
    /// The colour theme, if the user has chosen one.
    pub theme: Option<&'static str>,
    /// The namespace; empty for all.
    pub namespace: String,
    /// Namespaces that the user can select.
    pub namespaces: Vec<String>,
    /// The user, if they can log out.
    pub user: Option<String>,
    /// The hashes of the style sheets and the script.
    pub hashes: Vec<String>,
}

/// A node of the tree of a manifest.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Branch {
    /// The address of the page with the node.
    pub href: String,
    /// The name in the layout.
    pub name: String,
    /// The type; empty for the configuration.
    pub kind: String,
    /// Whether the address selects it.
    pub is_chosen: bool,
    /// The nodes that its template created.
    pub children: Vec<Self>,
}

/// A text that differs between two versions.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ChangedText {
    /// The title, such as the name of an import.
    pub title: String,
    /// The number of added lines.
    pub added: usize,
    /// The number of removed lines.
    pub removed: usize,
    /// The lines of the unified diff, with their HTML elements.
    pub lines: Vec<Data>,
}

/// The number of colours for the letters of a list.
pub(crate) const TONES: usize = 6;

/// Returns data that has a type as data of a page.
pub(crate) fn data(data: &impl Serialize) -> Data {
    Data::from(minijinja::value::Serde(data))
}

/// Renders a page from its template.
///
/// # Errors
/// 500 if the page cannot be rendered.
pub(crate) fn render(template: &str, frame: &Frame, page: Data) -> Result<String> {
    rendered(template, context! { frame => data(frame), page })
}

/// Returns the hashes of the style sheets and the script.
pub(crate) fn hashes() -> Vec<String> {
    HASHES.to_vec()
}

/// Renders all error messages of a form, each with a link to its field.
pub(crate) fn summary(form: &Form, filled: &Filled, others: &[String]) -> String {
    let mut items: Vec<String> =
        others.iter().map(|message| format!("<li>{}</li>", marked(message))).collect();
    for field in form.fields() {
        for message in filled.errors.get(&field.name).into_iter().flatten() {
            let id = escaped(&id(&field.name));
            let message = marked(message);
            items.push(format!("<li><a href=\"#p-{id}\">{message}</a></li>"));
        }
    }
    let title = match items.len() {
        0 => return String::new(),
        1 => "One value needs attention".to_owned(),
        count => format!("{count} values need attention"),
    };
    format!(
        "<div class=\"summary\" id=\"summary\" role=\"alert\" tabindex=\"-1\"><h2>{title}</h2><ul>{}</ul></div>",
        items.concat()
    )
}

/// Renders a template that is a part of a page.
///
/// # Errors
/// 500 if it cannot be rendered.
pub(crate) fn rendered(name: &str, context: Data) -> Result<String> {
    let environment = ENVIRONMENT.as_ref();
    let rendered = environment.map_err(ToString::to_string).and_then(|environment| {
        let template = environment.get_template(name);
        let rendered = template.and_then(|template| template.render(context));
        rendered.map_err(|error| error.to_string())
    });
    rendered.map_err(|error| Status::internal(format!("cannot render the page: {error}")))
}
