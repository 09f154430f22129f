//! Tables for people.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, TableStyle, Width};

use krm_core::visible::on_one_line;
use krm_template_engine::{DefaultValue, Parameter, Template};
use krm_yaml::Value;

/// The columns of a list of parameters.
const PARAMETERS: [&str; 5] = ["NAME", "TYPE", "REQUIRED", "DEFAULT", "DESCRIPTION"];

/// The number of columns with single words, which are not broken if there is room.
const NARROW: usize = 3;

/// The number of spaces between columns.
const GAP: u16 = 2;

/// The minimum width of a column of `oc`, including the space after it.
const OC_WIDTH: u16 = 20;
/// The space between columns of `oc`.
const OC_GAP: u16 = 3;

/// The maximum number of characters shown of a default.
const MAX_DEFAULT: usize = 60;

/// A row for each parameter; with a `width`, long cells are broken into several lines.
pub(crate) fn parameters(template: &Template, header: bool, width: Option<u16>) -> String {
    lines(header.then_some(PARAMETERS), rows(template), NARROW, width)
}

/// The same for the Templates of several files, with the name of the file and of the Template.
pub(crate) fn library<'t>(
    templates: impl Iterator<Item = (&'t str, &'t Template)>,
    header: bool,
    width: Option<u16>,
) -> String {
    let head = joined(["FILE", "TEMPLATE"].into_iter().chain(PARAMETERS));
    let rows = templates.flat_map(|(file, template)| {
        let nothing = template.parameters().is_empty().then(Default::default);
        rows(template).chain(nothing).map(move |row| {
            let names = [one_line(file), one_line(template.name())];
            joined::<7, _>(names.into_iter().chain(row))
        })
    });
    lines(header.then_some(head), rows, 2 + NARROW, width)
}

/// The cells of a row.
fn joined<const N: usize, T: Default>(mut cells: impl Iterator<Item = T>) -> [T; N] {
    std::array::from_fn(|_| cells.next().unwrap_or_default())
}

fn rows(template: &Template) -> impl Iterator<Item = [String; 5]> {
    let parameters = template.parameters().iter();
    parameters.map(|parameter| row(parameter, &template.default_value(parameter)))
}

/// A table with a header, whose first column has single words.
pub(crate) fn plain<const N: usize>(
    head: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
    width: Option<u16>,
) -> String {
    let rows = rows.map(|row| row.map(|cell| on_one_line(&cell).into_owned()));
    lines(Some(head), rows, 1, width)
}

/// A table like those of `oc`: columns have a minimum width.
pub(crate) fn like_oc<const N: usize>(
    head: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> String {
    let mut table = borderless(Some(head), rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, OC_GAP));
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(OC_WIDTH)));
    }
    text(&table)
}

/// A table whose columns are numbers, except for the first.
pub(crate) fn of_numbers<const N: usize>(
    head: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> String {
    let mut table = borderless(Some(head), rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, GAP));
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    text(&table)
}

/// Lays rows out in columns, the first `narrow` of which have single words.
fn lines<const N: usize>(
    head: Option<[&str; N]>,
    rows: impl Iterator<Item = [String; N]>,
    narrow: usize,
    width: Option<u16>,
) -> String {
    let mut table = borderless(head, rows);
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(width);
    }
    let widths = table.column_max_content_widths();
    let least = widths.iter().take(narrow).fold(0_u16, |sum, width| sum.saturating_add(*width));
    let is_wide = width.is_some_and(|width| least < width / 5 * 3);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, GAP));
        if index < narrow && is_wide {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    text(&table)
}

/// A table without borders, as wide as its content.
fn borderless<const N: usize>(
    head: Option<[&str; N]>,
    rows: impl Iterator<Item = [String; N]>,
) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_content_arrangement(ContentArrangement::Disabled);
    if let Some(head) = head {
        table.set_header(head);
    }
    for row in rows {
        table.add_row(row);
    }
    table
}

/// The lines of a table, without spaces at their ends.
fn text(table: &Table) -> String {
    let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}

fn row(parameter: &Parameter, default: &DefaultValue<'_>) -> [String; 5] {
    let value = match default {
        DefaultValue::Nothing => String::new(),
        DefaultValue::Text(text) | DefaultValue::Computed(text) => one_line(text),
        DefaultValue::Structured(value) => one_line(&Value::to_json(value)),
        DefaultValue::Generated(from) => format!("(generated: {})", one_line(from)),
        DefaultValue::Hidden => "(hidden)".to_owned(),
    };
    let about = parameter.description();
    let about = about.or_else(|| parameter.display_name());
    [
        one_line(&parameter.name),
        parameter.kind.name().to_owned(),
        if parameter.required { "yes" } else { "" }.to_owned(),
        shortened(&value),
        one_line(&about.unwrap_or_default()),
    ]
}

/// A text on one line, with single spaces.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    on_one_line(&words.join(" ")).into_owned()
}

/// A text cut to the width of a narrow column.
pub(crate) fn shortened(text: &str) -> String {
    if text.chars().count() <= MAX_DEFAULT {
        return text.to_owned();
    }
    text.chars().take(MAX_DEFAULT - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::{Expect, expect};

    use super::parameters;
    use krm_template_engine::Template;
    use krm_yaml::diagnostic::Diagnostics;
    use krm_yaml::source::Source;
    use krm_yaml::{Document, SharedNode};

    #[track_caller]
    fn check(list: &str, width: Option<u16>, expected: &Expect) {
        let text = format!("apiVersion: v1\nkind: Template\nobjects: []\nparameters: [{list}]\n");
        let document = Document::parse(&Source::new("test", text)).unwrap();
        let root = SharedNode::roots(&Arc::new(document)).next().unwrap();
        let template = Template::read(&root, &mut Diagnostics::new()).unwrap();
        expected.assert_eq(&parameters(&template, false, width));
    }

    #[test]
    fn a_narrow_terminal_breaks_lines() {
        check(
            "{name: A, value: one, description: the first of two letters}, {name: B}",
            Some(40),
            &expect![[r#"
                A  string     one  the first of two
                                   letters
                B  string
            "#]],
        );
    }

    #[test]
    fn a_pipe_has_a_line_for_each() {
        check(
            r#"{name: A, description: "the first\nof two"}, {name: B, value: "\e[1m"}"#,
            None,
            &expect![[r#"
                A  string                the first of two
                B  string     \u{1b}[1m
            "#]],
        );
    }

    #[test]
    fn a_long_default_is_cut() {
        let list = format!("{{name: A, value: {}}}", "x".repeat(70_000));
        check(
            &list,
            None,
            &expect![[r#"
            A  string     xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
        "#]],
        );
    }
}
