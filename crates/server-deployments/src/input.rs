//! Reads the body of a request: a configuration with its imports.

use krm_core::validation;
use krm_template_deployment_manager::model::{Options, Request};
use krm_template_deployment_manager::request;
use krm_yaml::Value;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Document, DuplicateKeys};

use krm_template_server_core::{Cause, Details, Result, Status};

/// The body of a request to create, update or expand a deployment.
#[derive(Clone, Debug)]
pub struct Input {
    /// The name of the deployment, if the body has one.
    pub name: Option<String>,
    /// The configuration with its imports.
    pub request: Request,
}

/// Reads `{name, configuration: {content, imports, …}}`, or `{name, content, imports, …}`.
///
/// # Errors
///
/// 400 if the body has neither form.
pub fn read(body: &[u8]) -> Result<Input> {
    let mut value = value(body)?;
    if let Some(mut configuration) = value.remove("configuration") {
        if configuration.entries().is_none() {
            return Err(Status::bad_request("`configuration` is a mapping with `content`"));
        }
        if configuration.get("name").is_none()
            && let Some(name) = value.remove("name")
        {
            configuration.insert("name".into(), name);
        }
        value = configuration;
    }
    let name = value.str_at(&["name"]).map(str::to_owned);
    let request = request::of_value(&value, Options::default()).map_err(|error| {
        let hints = error.hints.iter().map(|hint| format!("; {hint}"));
        Status::bad_request(error.message.clone() + &hints.collect::<String>())
    })?;
    Ok(Input { name, request })
}

/// Parses the body as YAML, of which JSON is a subset.
fn value(body: &[u8]) -> Result<Value<'static>> {
    let wrong = || Status::bad_request("the body is neither JSON nor YAML");
    let source = krm_yaml::decode("body", body.to_vec()).map_err(|_| wrong())?;
    let document = Document::parse(&source).map_err(|_| wrong())?;
    let root = document.roots().next().ok_or_else(wrong)?;
    let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::default());
    Ok(value.ok_or_else(wrong)?.into_owned())
}

/// Checks the name of a deployment.
///
/// # Errors
///
/// 400 if it is not a DNS subdomain.
pub fn check_name(name: &str) -> Result<()> {
    check("name", name, validation::subdomain(name))
}

/// Checks the name of a namespace.
///
/// # Errors
///
/// 400 if it is not a DNS label.
pub fn check_namespace(name: &str) -> Result<()> {
    check("namespace", name, validation::dns_label(name))
}

fn check(field: &str, name: &str, wrong: Vec<String>) -> Result<()> {
    if wrong.is_empty() {
        return Ok(());
    }
    let message = format!("{field}: Invalid value: {name:?}: {}", wrong.join("; "));
    let causes = wrong.into_iter().map(|what| Cause::new("FieldValueInvalid", field, what));
    Err(Status::bad_request(message)
        .with(Details { causes: causes.collect(), ..Details::default() }))
}
