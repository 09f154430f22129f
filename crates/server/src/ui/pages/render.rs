//! The templates of the pages, and their data.

use std::sync::LazyLock;

use krm_template_authoring::form::{Filled, Form, escaped, id, marked};
use minijinja::{Environment, context};
use serde::Serialize;

use super::assets::HASHES;
use super::usage::Use;
use krm_template_server_core::status::{Result, Status};

/// HTML that is not escaped again.
pub(crate) type Html = minijinja::Value;

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

/// The page with the list of Templates.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct List {
    /// The search text, as entered.
    pub q: String,
    /// The selected tag; empty for all.
    pub tag: String,
    /// The number of Templates in words.
    pub count: String,
    /// Whether the list has only the results of a search.
    pub is_search: bool,
    /// The Templates of this page.
    pub rows: Vec<Row>,
    /// The most frequent tags, with the selected one.
    pub tags: Vec<Tag>,
    /// The address of the next page.
    pub next: Option<String>,
    /// The command that adds a Template.
    pub command: String,
    /// Notices above the list, such as groups that it leaves out.
    pub notices: Vec<String>,
}

/// The number of colours for the letters of a list.
pub(crate) const TONES: usize = 6;

/// A Template in the list.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Row {
    /// The address of its form.
    pub href: String,
    /// The first letter of the title, in upper case.
    pub letter: String,
    /// The number of the colour of the letter, below [`TONES`].
    pub tone: usize,
    /// The name of its icon.
    pub icon: String,
    /// The title, or the name without one.
    pub title: String,
    /// The namespace and the name.
    pub code: String,
    /// The first line of its description.
    pub text: String,
    /// The tags of the Template.
    pub tags: Vec<String>,
    /// The number of parameters in words.
    pub parameters: String,
    /// When it was created, in RFC 3339 format.
    pub created: String,
    /// The age in words, such as `3 days ago`.
    pub age: String,
}

/// A tag that narrows the list.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Tag {
    /// The tag, as Templates have it.
    pub name: String,
    /// The address of the list with the tag.
    pub href: String,
    /// The number of Templates with the tag.
    pub count: usize,
    /// Whether the list shows only this tag.
    pub is_chosen: bool,
}

/// A link to another site.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Link {
    /// The URL, with the scheme `http` or `https`.
    pub href: String,
    /// The text, such as `Documentation`.
    pub text: &'static str,
}

/// The page with a form.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct FormPage {
    /// The summary of the errors.
    pub summary: Html,
    /// The title, or the name without one.
    pub title: String,
    /// The name of the Template.
    pub name: String,
    /// The namespace and the name.
    pub code: String,
    /// The name of the provider; may be empty.
    pub provider: String,
    /// Links to the documentation and support.
    pub links: Vec<Link>,
    /// The description, in which addresses are links; may be empty.
    pub description: Html,
    /// The tags of the Template.
    pub tags: Vec<String>,
    /// A notice; may be empty.
    pub notice: String,
    /// The CSS class of the notice.
    pub notice_class: &'static str,
    /// Whether there is a result.
    pub has_result: bool,
    /// The address of the form.
    pub action: String,
    /// Whether the form has file inputs.
    pub has_files: bool,
    /// The seed of generated values.
    pub seed: String,
    /// The text of a Template that is not stored.
    pub upload: String,
    /// The fields, one for each parameter.
    pub fields: Html,
    /// The right side, which the script replaces.
    pub result: Html,
}

/// The right side of a form.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Output {
    /// The objects, if the expansion succeeded.
    pub result: Option<ResultView>,
    /// The Template with highlighted syntax.
    pub source: Html,
    /// Commands and files for the same expansion elsewhere.
    pub uses: Vec<Use>,
}

/// The result of an expansion.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ResultView {
    /// The number of objects in words.
    pub count: String,
    /// Whether secret values are hidden.
    pub has_masks: bool,
    /// The message of the Template, in which addresses are links.
    pub message: Option<Html>,
    /// The warnings of the expansion.
    pub warnings: Vec<String>,
    /// The objects, unless they are too large.
    pub objects: Vec<ObjectView>,
}

/// An object that the Template created.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ObjectView {
    /// The field `kind` of the object.
    pub kind: String,
    /// The field `metadata.name` of the object.
    pub name: String,
    /// The number of fields from parameters, in words.
    pub count: String,
    /// The YAML with highlighted syntax.
    pub code: Html,
}

/// The page that asks for a token.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct LoginPage {
    /// The reason why the page is shown; may be empty.
    pub message: String,
    /// Whether the token was wrong.
    pub is_wrong: bool,
    /// The page to show after the login.
    pub next: String,
    /// Form data to submit again after the login.
    pub kept: Vec<(String, String)>,
}

/// The page for a Template that is not stored.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct UploadPage {
    /// The summary of the errors.
    pub summary: Html,
    /// The text of the Template, as submitted.
    pub text: String,
    /// The namespace whose permissions apply.
    pub namespace: String,
}

/// The page for a request that failed.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct MessagePage {
    /// The title, by the status code.
    pub title: String,
    /// The message, in one sentence.
    pub text: String,
    /// The submitted parameters, with the length of each value.
    pub kept: Vec<(String, String)>,
    /// The form data to submit again, including secrets.
    pub resent: Vec<(String, String)>,
    /// The address to submit the data to.
    pub again: String,
}

/// Renders the list of Templates.
///
/// # Errors
/// 500 if the page cannot be rendered.
pub(crate) fn list(frame: &Frame, list: &List) -> Result<String> {
    render("list.html", context! { frame => data(frame), list => data(list) })
}

/// Renders a form.
///
/// # Errors
/// 500 if the page cannot be rendered.
pub(crate) fn form(frame: &Frame, form: &FormPage) -> Result<String> {
    render("form.html", context! { frame => data(frame), form => data(form) })
}

/// Renders the right side of a form.
///
/// # Errors
/// 500 if it cannot be rendered.
pub(crate) fn output(output: &Output) -> Result<String> {
    render("result.html", data(output))
}

/// Renders the login page.
///
/// # Errors
/// 500 if the page cannot be rendered.
pub(crate) fn login(frame: &Frame, login: &LoginPage) -> Result<String> {
    render("login.html", context! { frame => data(frame), login => data(login) })
}

/// Renders the upload page.
///
/// # Errors
/// 500 if the page cannot be rendered.
pub(crate) fn upload(frame: &Frame, upload: &UploadPage) -> Result<String> {
    render("upload.html", context! { frame => data(frame), upload => data(upload) })
}

/// Renders the error page.
///
/// # Errors
/// 500 if the page cannot be rendered.
pub(crate) fn message(frame: &Frame, message: &MessagePage) -> Result<String> {
    render("message.html", context! { frame => data(frame), message => data(message) })
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

pub(super) fn data(data: &impl Serialize) -> minijinja::Value {
    minijinja::Value::from(minijinja::value::Serde(data))
}

pub(super) fn render(name: &str, context: minijinja::Value) -> Result<String> {
    let environment = ENVIRONMENT.as_ref();
    let rendered = environment.map_err(ToString::to_string).and_then(|environment| {
        let template = environment.get_template(name);
        let rendered = template.and_then(|template| template.render(context));
        rendered.map_err(|error| error.to_string())
    });
    rendered.map_err(|error| Status::internal(format!("cannot render the page: {error}")))
}
