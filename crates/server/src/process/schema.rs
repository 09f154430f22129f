//! The values of a Template: their JSON Schema, and their form.

use krm_template::form::Form;
use krm_template::schema::of_values;
use krm_template::template::Template;
use krm_yaml::diagnostic::Diagnostics;

use super::causes::{Hidden, Reporter};
use super::read;
use super::request::Text;
use crate::groups::Group;
use crate::status::{Result, Status};

/// JSON Schema 2020-12 of the values of a Template, as JSON with a line feed at the end. It shows
/// no secret.
///
/// # Errors
/// 400 if the text is not an object, 422 if the Template has mistakes.
pub fn schema(group: Group, template: Text<'_>) -> Result<String> {
    Ok(format!("{}\n", of_values(&read_open(group, template)?)))
}

/// The form of a Template, and what its catalog says of it.
#[derive(Debug)]
pub struct Described {
    /// The form.
    pub form: Form,
    /// The name of the Template.
    pub name: String,
    /// The name that people read; empty if there is none.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// Who provides it.
    pub provider: String,
    /// The address of its documentation.
    pub documentation: String,
    /// The address of its support.
    pub support: String,
    /// Its tags.
    pub tags: Vec<String>,
}

/// The form of a Template. It shows no secret.
///
/// # Errors
/// 400 if the text is not an object, 422 if the Template has mistakes.
pub fn described(group: Group, template: Text<'_>) -> Result<Described> {
    let template = read_open(group, template)?;
    let text = |keys: &[&str]| {
        let mut texts = keys.iter().filter_map(|key| template.annotation(key));
        let text = texts.find(|text| !text.trim().is_empty());
        text.map(|text| text.trim().to_owned()).unwrap_or_default()
    };
    let both = |name: &str| {
        text(&[
            &format!("openshift.io/{name}"),
            &format!("template.openshift.io/{name}"),
        ])
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

/// The tags of an annotation.
#[must_use]
pub fn tags(text: &str) -> Vec<String> {
    let tags = text.split(',').map(str::trim);
    tags.filter(|tag| !tag.is_empty())
        .map(str::to_owned)
        .collect()
}

fn read_open(group: Group, template: Text<'_>) -> Result<Template> {
    let document = read::document("Template", template)?;
    let mut diagnostics = Diagnostics::new();
    if let Some(template) = read::template(&document, group, false, &mut diagnostics) {
        return Ok(template);
    }
    let mut diagnostics = Diagnostics::new();
    // Read again, with messages that show no value.
    let template = read::template(&document, group, true, &mut diagnostics);
    let name = read::name(read::root(&document)?);
    let hidden = template
        .map(|template| Hidden::of(&template, &[]))
        .unwrap_or_default();
    let reporter = Reporter {
        documents: vec![&document],
        hidden,
    };
    let causes = reporter.causes(&diagnostics);
    Err(Status::invalid(group.name(), "Template", &name, causes))
}
