//! The measured figures in documents and in the README's chart are those of `benches/figures.json`.

use std::collections::BTreeMap;
use std::fs;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

/// Before a table: the name of one in the file, then the first cell of its rows if not all are meant.
const MARK: &str = "<!-- figures ";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("figures/documents", documents_have_them),
        Trial::test("figures/chart", the_chart_has_them),
    ]
}

fn documents_have_them() -> Result<(), Failed> {
    let (tables, mut count) = (tables()?, 0);
    for page in fs::read_dir(crate::root().join("docs"))? {
        let page = page?.path();
        if page.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = fs::read_to_string(&page)?;
        for marked in text.split(MARK).skip(1) {
            let (mark, after) = marked.split_once(" -->\n").ok_or("a mark without an end")?;
            let (name, work) = mark.split_once(' ').unwrap_or((mark, ""));
            let (head, rows) = tables.get(name).ok_or_else(|| format!("no table `{name}`"))?;
            let rule = vec!["---".to_owned(); head.len()];
            let rows =
                rows.iter().filter(|row| work.is_empty() || row.first().is_some_and(|w| w == work));
            let expected: String =
                [head, &rule].into_iter().chain(rows).map(|row| line(row)).collect();
            let found = after.split_once("\n\n").map_or(after.trim_end(), |(table, _)| table);
            if found != expected.trim_end() {
                let page = page.display();
                return Err(format!("{page}: run benches/figures.py\n{expected}").into());
            }
            count += 1;
        }
    }
    if count == 0 { Err("no document has figures".into()) } else { Ok(()) }
}

fn the_chart_has_them() -> Result<(), Failed> {
    let tables = tables()?;
    let (_, rows) = tables.get("build-time").ok_or("no table `build-time`")?;
    for theme in ["light", "dark"] {
        let image = format!("docs/images/build-time-{theme}.svg");
        let image = fs::read_to_string(crate::root().join(image))?;
        for row in rows {
            let [work, peer, theirs, ours] = row.as_slice() else {
                return Err(format!("a row of the chart: {row:?}").into());
            };
            let title = format!("{work}: {peer} {theirs} s, krm-template {ours} s");
            if !image.contains(&title) {
                return Err(format!("run benches/figures.py: there is no `{title}`").into());
            }
        }
    }
    Ok(())
}

type Row = Vec<String>;

/// The head of each table, and its rows.
fn tables() -> Result<BTreeMap<String, (Row, Vec<Row>)>, Failed> {
    let text = fs::read_to_string(crate::root().join("benches/figures.json"))?;
    let tables: BTreeMap<String, BTreeMap<String, Value>> = serde_json::from_str(&text)?;
    let mut read = BTreeMap::new();
    for (name, mut table) in tables {
        let mut part = |key| table.remove(key).unwrap_or_default();
        let cells = (serde_json::from_value(part("head"))?, serde_json::from_value(part("rows"))?);
        read.insert(name, cells);
    }
    Ok(read)
}

fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}
