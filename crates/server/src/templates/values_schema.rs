//! The JSON Schema and the form of a Template's values.

use std::sync::Arc;

use krm_template_authoring::form::Form;
use krm_template_authoring::schema::of_values;
use krm_template_engine::Template;
use krm_yaml::Document;
use krm_yaml::diagnostic::Diagnostics;

use super::causes::{Hidden, Reporter};
use super::parse;
use super::request::{Limits, Text};
use krm_template_server_core::{Group, Result, Status};

/// Returns the JSON Schema 2020-12 of a Template's values, as JSON with a trailing line feed. It
/// contains no secrets.
///
/// # Errors
/// 400 if the text is not an object, 422 if the Template is invalid or has too many parameters, 504 if the time is up.
pub fn schema(group: Group, template: Text<'_>, limits: &Limits<'_>) -> Result<String> {
    let document = parse::document("Template", template)?;
    let template = read_open(group, &document, limits)?;
    Ok(format!("{}\n", of_values(&template)))
}

/// The form of a Template, and its metadata for a catalog.
#[derive(Debug)]
pub struct Described {
    /// The form, with a field for each parameter.
    pub form: Form,
    /// The name of the Template.
    pub name: String,
    /// The display name. Empty if there is none.
    pub title: String,
    /// The description; empty if there is none.
    pub description: String,
    /// The name of the provider.
    pub provider: String,
    /// The URL of the documentation.
    pub documentation: String,
    /// The URL of the support page.
    pub support: String,
    /// The tags from the annotation, without spaces around them.
    pub tags: Vec<String>,
}

/// Returns the form of a Template. It contains no secrets.
///
/// # Errors
/// 422 if the Template is invalid or has too many parameters, 504 if the time is up.
pub fn described(group: Group, document: &Arc<Document>, limits: &Limits<'_>) -> Result<Described> {
    let template = read_open(group, document, limits)?;
    let text = |keys: &[&str]| {
        let mut texts = keys.iter().filter_map(|key| template.annotation(key));
        let text = texts.find(|text| !text.trim().is_empty());
        text.map(|text| text.trim().to_owned()).unwrap_or_default()
    };
    let both = |name: &str| {
        text(&[&format!("openshift.io/{name}"), &format!("template.openshift.io/{name}")])
    };
    let short = text(&["description"]);
    let long = both("long-description");
    let description = match long.as_str() {
        "" => short,
        long if short.is_empty() || long == short => long.to_owned(),
        long => format!("{short}\n\n{long}"),
    };
    Ok(Described {
        form: Form::of(&template),
        name: template.name().to_owned(),
        title: both("display-name"),
        description,
        provider: both("provider-display-name"),
        documentation: both("documentation-url"),
        support: both("support-url"),
        tags: tags(&text(&["tags"])),
    })
}

/// Parses the tags in an annotation.
pub fn tags(text: &str) -> Vec<String> {
    let tags = text.split(',').map(str::trim);
    tags.filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

fn read_open(group: Group, document: &Arc<Document>, limits: &Limits<'_>) -> Result<Template> {
    parse::check_time(limits.is_late)?;
    parse::check_parameters(parse::root(document)?, group, limits)?;
    let mut diagnostics = Diagnostics::new();
    let template = parse::template(document, group, false, &mut diagnostics);
    parse::check_time(limits.is_late)?;
    if let Some(template) = template {
        return Ok(template);
    }
    let mut diagnostics = Diagnostics::new();
    // Read again, for messages without values.
    let template = parse::template(document, group, true, &mut diagnostics);
    let name = parse::name(parse::root(document)?);
    let hidden = template.map(|template| Hidden::of(&template, &[])).unwrap_or_default();
    let reporter = Reporter { documents: vec![document], hidden };
    let causes = reporter.causes(&diagnostics);
    Err(Status::invalid(group.name(), "Template", &name, causes))
}
