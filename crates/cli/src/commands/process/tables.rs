//! Tables of declared parameters and of their values.

use crate::output::table;
use krm_core::visible::on_one_line;
use krm_template_engine::{self as template, Assignment, Options, Parameter, Template};
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::shorten::MASK;

/// The table of `oc process --parameters`.
pub(super) fn declared(template: &Template) -> String {
    let head = ["NAME", "DESCRIPTION", "GENERATOR", "VALUE"];
    let rows = template.parameters().iter().map(|parameter| {
        let expression = parameter.expression();
        let value = match expression {
            Some(expression) => expression.to_owned(),
            None => default(parameter),
        };
        let generator = expression.map_or("", |_| "expression");
        [
            parameter.name.as_str(),
            parameter.description().as_deref().unwrap_or_default(),
            generator,
            &value,
        ]
        .map(|cell| on_one_line(cell).into_owned())
    });
    table::like_oc(head, rows)
}

fn default(parameter: &Parameter) -> String {
    match parameter.default_text() {
        Some(text) if !parameter.may_show() && !text.is_empty() => MASK.to_owned(),
        text => text.unwrap_or_default().into_owned(),
    }
}

/// The value of each parameter and where it comes from; nothing if there are errors.
pub(super) fn in_force(
    template: &Template,
    given: &[Assignment],
    options: &Options<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let mut rows = Vec::new();
    template::effective(template, given, options, diagnostics, |values| {
        for parameter in template.parameters() {
            let Some(effective) = values.get(&parameter.name) else {
                continue;
            };
            let value = if effective.may_show || effective.text.is_empty() {
                effective.text.as_ref()
            } else {
                MASK
            };
            let origin = effective.origin.to_string();
            let cells = [parameter.name.as_str(), value, &origin];
            rows.push(cells.map(|cell| on_one_line(cell).into_owned()));
        }
    })?;
    let head = ["NAME", "VALUE", "FROM"];
    Some(table::like_oc(head, rows.into_iter()))
}

/// Several tables, each below its name; a single table without a name.
pub(super) fn under_headings(tables: Vec<(String, String)>) -> Vec<String> {
    let are_several = tables.len() > 1;
    let mut pieces: Vec<String> = Vec::new();
    for (name, table) in tables {
        if are_several {
            let gap = if pieces.is_empty() { "" } else { "\n" };
            pieces.push(format!("{gap}{}:\n", on_one_line(&name)));
        }
        pieces.push(table);
    }
    pieces
}
