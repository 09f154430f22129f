//! Output of the client for people.

use krm_core::visible::on_one_line;
use serde_json::Value;

/// Formats the strings of a list, one per line.
pub(super) fn lines(list: &Value) -> String {
    let items = list.as_array().into_iter().flatten();
    let texts = items.filter_map(Value::as_str).map(on_one_line);
    texts.map(|text| text + "\n").collect()
}

/// Formats fields of objects as a table.
pub(super) fn table(rows: &[Value], columns: &[(&str, &str)]) -> String {
    let cell = |row: &Value, field: &str| {
        let text = row.get(field).and_then(Value::as_str);
        on_one_line(text.unwrap_or_default()).into_owned()
    };
    let head = columns.iter().map(|(title, _)| (*title).to_owned());
    let mut lines: Vec<Vec<String>> = vec![head.collect()];
    for row in rows {
        lines.push(columns.iter().map(|(_, field)| cell(row, field)).collect());
    }
    let mut widths = vec![0; columns.len()];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let printed = lines.iter().map(|line| {
        let cells = line.iter().zip(&widths);
        let cells: Vec<String> = cells.map(|(cell, width)| format!("{cell:<width$}")).collect();
        let cells = cells.join("   ");
        cells.trim_end().to_owned() + "\n"
    });
    printed.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [json!({"name": "a-long-name", "type": "T"}), json!({"name": "b"})];
        assert_eq!(
            table(&rows, &[("NAME", "name"), ("TYPE", "type")]),
            "NAME          TYPE\na-long-name   T\nb\n"
        );
    }
}
