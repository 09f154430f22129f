//! The parameters of a Template as a table for people.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, TableStyle};

use crate::template::{DefaultValue, Parameter, Template};
use krm_yaml::Value;

/// How many columns hold single words, which are not broken where there is room.
const NARROW: usize = 3;

/// The most characters of a default that are shown.
const MAX_DEFAULT: usize = 60;

/// A line for each parameter; with a `width` each is broken into as many lines as that takes.
pub(super) fn parameters(template: &Template<'_>, header: bool, width: Option<u16>) -> String {
    let parameters = template.parameters().iter();
    let rows = parameters.map(|parameter| row(parameter, &template.default_value(parameter)));
    let head = ["NAME", "TYPE", "REQUIRED", "DEFAULT", "DESCRIPTION"];
    lines(header.then_some(head), rows, NARROW, width)
}

/// A line for each row below a head.
pub(super) fn plain<const N: usize>(
    head: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
    width: Option<u16>,
) -> String {
    let rows = rows.map(|row| row.map(|cell| cell.replace(char::is_control, "·")));
    lines(Some(head), rows, 1, width)
}

/// Lays rows out in columns, of which the first `narrow` hold single words.
fn lines<const N: usize>(
    head: Option<[&str; N]>,
    rows: impl Iterator<Item = [String; N]>,
    narrow: usize,
    width: Option<u16>,
) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_content_arrangement(match width {
        Some(_) => ContentArrangement::Dynamic,
        None => ContentArrangement::Disabled,
    });
    if let Some(width) = width {
        table.set_width(width);
    }
    if let Some(head) = head {
        table.set_header(head);
    }
    for row in rows {
        table.add_row(row);
    }
    let widths = table.column_max_content_widths();
    let least = widths
        .iter()
        .take(narrow)
        .fold(0_u16, |sum, width| sum.saturating_add(*width));
    let is_wide = width.is_some_and(|width| least < width / 5 * 3);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if index < narrow && is_wide {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}

fn row(parameter: &Parameter<'_>, fallback: &DefaultValue<'_>) -> [String; 5] {
    let default = match fallback {
        DefaultValue::Nothing => String::new(),
        DefaultValue::Text(text) | DefaultValue::Computed(text) => one_line(text),
        DefaultValue::Structured(value) => one_line(&Value::to_json(value)),
        DefaultValue::Generated(from) => format!("(generated: {})", one_line(from)),
        DefaultValue::Hidden => "(hidden)".to_owned(),
    };
    let about = parameter.description.as_ref();
    let about = about.or(parameter.display_name.as_ref());
    [
        one_line(&parameter.name),
        parameter.kind.name().to_owned(),
        if parameter.required { "yes" } else { "" }.to_owned(),
        shortened(&default),
        one_line(about.map_or("", AsRef::as_ref)),
    ]
}

/// A text without line breaks and what else terminals obey.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace(char::is_control, "·")
}

/// A text for a column that is not to be wide.
pub(super) fn shortened(text: &str) -> String {
    if text.chars().count() <= MAX_DEFAULT {
        return text.to_owned();
    }
    text.chars().take(MAX_DEFAULT - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::parameters;
    use crate::template::Template;
    use krm_yaml::Document;
    use krm_yaml::diagnostic::Diagnostics;
    use krm_yaml::source::Source;

    #[track_caller]
    fn check(list: &str, width: Option<u16>, expected: &Expect) {
        let text = format!("apiVersion: v1\nkind: Template\nobjects: []\nparameters: [{list}]\n");
        let document = Document::parse(&Source::new("test", text)).unwrap();
        let root = document.roots().next().unwrap();
        let template = Template::read(root, &mut Diagnostics::new()).unwrap();
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
                A  string           the first of two
                B  string     ·[1m
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
