//! The templates of the pages, and their data.

use std::sync::LazyLock;

use krm_template::form::{Filled, Form, escaped, id, marked};
use minijinja::{Environment, context};
use serde::Serialize;

use super::assets::HASHES;
use super::usage::Use;
use crate::status::{Result, Status};

/// HTML that is not escaped again.
pub type Html = minijinja::Value;

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
            (
                "deployments.html",
                include_str!("templates/deployments.html"),
            ),
            ("deployment.html", include_str!("templates/deployment.html")),
            (
                "deployment-manifest.html",
                include_str!("templates/deployment-manifest.html"),
            ),
            (
                "deployment-changes.html",
                include_str!("templates/deployment-changes.html"),
            ),
        ] {
            environment.add_template(name, text)?;
        }
        Ok(environment)
    });

/// What all pages have.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Frame {
    /// What the page is for.
    pub page: &'static str,
    /// Its title.
    pub title: String,
    /// The address of the list that it belongs to.
    pub home: &'static str,
    /// The colours, if they were chosen.
    pub theme: Option<&'static str>,
    /// The namespace; empty for all.
    pub namespace: String,
    /// Namespaces to choose from.
    pub namespaces: Vec<String>,
    /// The user, if they can log out.
    pub user: Option<String>,
    /// The hashes of the styles and the script.
    pub hashes: Vec<String>,
}

/// The list of Templates.
#[derive(Clone, Debug, Default, Serialize)]
pub struct List {
    /// What was searched.
    pub q: String,
    /// The tag that was chosen.
    pub tag: String,
    /// How many were found.
    pub count: String,
    /// Whether not all are shown.
    pub is_search: bool,
    /// The Templates.
    pub rows: Vec<Row>,
    /// Tags to choose from.
    pub tags: Vec<Tag>,
    /// The address of the next page.
    pub next: Option<String>,
    /// The command that adds a Template.
    pub command: String,
    /// What else to say.
    pub notices: Vec<String>,
}

/// How many colours the letters of a list have.
pub const TONES: usize = 6;

/// A Template in the list.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// The address of its form.
    pub href: String,
    /// Its first letter.
    pub letter: String,
    /// The number of the colour of the letter, below [`TONES`].
    pub tone: usize,
    /// The name of its icon.
    pub icon: String,
    /// What people read.
    pub title: String,
    /// Namespace and name.
    pub code: String,
    /// The first line of its description.
    pub text: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// How many parameters it has.
    pub parameters: String,
    /// When it was created.
    pub created: String,
    /// The same in words.
    pub age: String,
}

/// A tag to choose.
#[derive(Clone, Debug, Serialize)]
pub struct Tag {
    /// Its name.
    pub name: String,
    /// The address of the list with it.
    pub href: String,
    /// How many Templates have it.
    pub count: usize,
    /// Whether it is chosen.
    pub is_chosen: bool,
}

/// A link to elsewhere.
#[derive(Clone, Debug, Serialize)]
pub struct Link {
    /// Its address.
    pub href: String,
    /// What people read.
    pub text: &'static str,
}

/// A form.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FormPage {
    /// What is wrong.
    pub summary: Html,
    /// What people read.
    pub title: String,
    /// The name of the Template.
    pub name: String,
    /// Namespace and name.
    pub code: String,
    /// Who provides it.
    pub provider: String,
    /// Links to documents.
    pub links: Vec<Link>,
    /// What it is for.
    pub description: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// What else to say.
    pub notice: String,
    /// How it looks.
    pub notice_class: &'static str,
    /// Whether there is a result.
    pub has_result: bool,
    /// The address of the form.
    pub action: String,
    /// Whether files can be sent.
    pub has_files: bool,
    /// What generated values are derived from.
    pub seed: String,
    /// The text of a Template that is not stored.
    pub upload: String,
    /// The fields.
    pub fields: Html,
    /// The result.
    pub result: Html,
}

/// The right side of a form.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Output {
    /// The objects.
    pub result: Option<ResultView>,
    /// The Template.
    pub source: Html,
    /// The same elsewhere.
    pub uses: Vec<Use>,
}

/// The objects.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ResultView {
    /// How many there are.
    pub count: String,
    /// Whether secrets are hidden.
    pub has_masks: bool,
    /// The message of the Template.
    pub message: Option<String>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// The objects.
    pub objects: Vec<ObjectView>,
}

/// An object.
#[derive(Clone, Debug, Serialize)]
pub struct ObjectView {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// How many fields came from parameters.
    pub count: String,
    /// Its text.
    pub code: Html,
}

/// The page to log in.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LoginPage {
    /// Why it is shown.
    pub message: String,
    /// Whether the token was wrong.
    pub is_wrong: bool,
    /// Where to go then.
    pub next: String,
    /// What was entered before.
    pub kept: Vec<(String, String)>,
}

/// The page to upload a Template.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UploadPage {
    /// What is wrong.
    pub summary: Html,
    /// What was entered.
    pub text: String,
    /// The namespace.
    pub namespace: String,
}

/// A page that says what went wrong.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MessagePage {
    /// What went wrong in short.
    pub title: String,
    /// What went wrong.
    pub text: String,
    /// What was entered, without secrets.
    pub kept: Vec<(String, String)>,
    /// The same with secrets, to be sent again.
    pub resent: Vec<(String, String)>,
    /// Where to.
    pub again: String,
}

/// The list.
///
/// # Errors
/// 500 if the page cannot be made.
pub fn list(frame: &Frame, list: &List) -> Result<String> {
    render(
        "list.html",
        context! { frame => data(frame), list => data(list) },
    )
}

/// A form.
///
/// # Errors
/// 500 if the page cannot be made.
pub fn form(frame: &Frame, form: &FormPage) -> Result<String> {
    render(
        "form.html",
        context! { frame => data(frame), form => data(form) },
    )
}

/// The right side of a form.
///
/// # Errors
/// 500 if it cannot be made.
pub fn output(output: &Output) -> Result<String> {
    render("result.html", data(output))
}

/// The page to log in.
///
/// # Errors
/// 500 if the page cannot be made.
pub fn login(frame: &Frame, login: &LoginPage) -> Result<String> {
    render(
        "login.html",
        context! { frame => data(frame), login => data(login) },
    )
}

/// The page to upload a Template.
///
/// # Errors
/// 500 if the page cannot be made.
pub fn upload(frame: &Frame, upload: &UploadPage) -> Result<String> {
    render(
        "upload.html",
        context! { frame => data(frame), upload => data(upload) },
    )
}

/// A page that says what went wrong.
///
/// # Errors
/// 500 if the page cannot be made.
pub fn message(frame: &Frame, message: &MessagePage) -> Result<String> {
    render(
        "message.html",
        context! { frame => data(frame), message => data(message) },
    )
}

/// The hashes of the styles and the script.
#[must_use]
pub fn hashes() -> Vec<String> {
    HASHES.to_vec()
}

/// All messages about a form, each with a link to its field.
#[must_use]
pub fn summary(form: &Form, filled: &Filled, others: &[String]) -> String {
    let mut items: Vec<String> = others
        .iter()
        .map(|message| format!("<li>{}</li>", marked(message)))
        .collect();
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

pub(super) fn data(data: &impl Serialize) -> minijinja::Value {
    minijinja::Value::from(minijinja::value::Serde(data))
}

pub(super) fn render(name: &str, context: minijinja::Value) -> Result<String> {
    let environment = ENVIRONMENT.as_ref();
    let rendered = environment
        .map_err(ToString::to_string)
        .and_then(|environment| {
            let template = environment.get_template(name);
            let rendered = template.and_then(|template| template.render(context));
            rendered.map_err(|error| error.to_string())
        });
    rendered.map_err(|error| Status::internal(format!("the page cannot be made: {error}")))
}
