//! The JSON Schema of the values of a Template.

use krm_template::schema::of_values;
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
/// 400 if the text is no object, 422 if the Template has mistakes.
pub fn schema(group: Group, template: Text<'_>) -> Result<String> {
    let document = read::document("Template", template)?;
    let mut diagnostics = Diagnostics::new();
    let Some(template) = read::template(&document, group, false, &mut diagnostics) else {
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
        return Err(Status::invalid(group.name(), "Template", &name, causes));
    };
    Ok(format!("{}\n", of_values(&template)))
}
