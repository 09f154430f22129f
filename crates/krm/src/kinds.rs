//! The table of facts about kinds: `data/kinds.txt`.

use std::sync::LazyLock;

use memchr::memmem;

/// The titles and the rows of the sections.
static SECTIONS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let text = include_str!("../data/kinds.txt");
    let starts = memmem::find_iter(text.as_bytes(), "\n[").map(|start| start + 2);
    let sections = starts.filter_map(|start| {
        let (title, rows) = text.get(start..)?.split_once("]\n")?;
        Some((title, rows.get(..memmem::find(rows.as_bytes(), b"\n[").unwrap_or(rows.len()))?))
    });
    sections.collect()
});

/// The words of a row; `-` is an empty one.
pub type Row = Vec<&'static str>;

/// A field in the objects of some kinds; an empty group, version or kind is any.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The API group; empty for any, or with a version for the core group.
    pub group: &'static str,
    /// The API version without the group; empty for any.
    pub version: &'static str,
    /// The kind, in upper camel case: `Deployment`.
    pub kind: &'static str,
    /// Keys with slashes between them, from the object down. Each item of a list on the way counts;
    /// `[]` after a key marks a list that is never added.
    pub path: &'static str,
    /// Whether kustomize adds the field where it is missing.
    pub create: bool,
}

/// The sections of a name: the other words of their titles, and their rows.
pub fn sections(name: &str) -> impl Iterator<Item = (Row, impl Iterator<Item = Row>)> {
    SECTIONS.iter().filter_map(move |(title, rows)| {
        let (own, title) = title.split_once(' ').unwrap_or((title, ""));
        let rows = rows.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        (own == name).then(|| (words(title), rows.map(words)))
    })
}

/// The rows of all sections of a name.
pub fn rows(name: &str) -> impl Iterator<Item = Row> {
    sections(name).flat_map(|(_, rows)| rows)
}

/// The rows of all sections of a name, as fields.
pub fn fields(name: &str) -> impl Iterator<Item = Field> {
    rows(name).filter_map(|row| Field::of(&row))
}

impl Field {
    /// The field in a row.
    pub fn of(row: &[&'static str]) -> Option<Self> {
        let [group, version, kind, path, rest @ ..] = row else {
            return None;
        };
        Some(Self { group, version, kind, path, create: !rest.is_empty() })
    }
}

fn words(line: &'static str) -> Row {
    line.split_ascii_whitespace().map(|word| if word == "-" { "" } else { word }).collect()
}

#[cfg(test)]
mod tests {
    use super::{SECTIONS, rows, sections};

    #[test]
    fn each_row_has_the_words_of_its_section() {
        for (name, widths) in [
            ("cluster", 2..=2),
            ("short", 2..=2),
            ("pods", 2..=2),
            ("type", 2..=2),
            ("labels", 4..=5),
            ("labels-of-openshift", 4..=5),
            ("annotations", 4..=5),
            ("namespace", 4..=5),
            ("replicas", 4..=5),
            ("images", 4..=5),
            ("vars", 4..=4),
            ("names", 4..=4),
            ("other-names", 4..=4),
            ("first", 1..=1),
            ("last", 1..=1),
            ("merge", 3..=4),
            ("merge-kinds", 3..=3),
            ("merge-groups", 1..=1),
            ("today", 2..=2),
            ("connector", 3..=3),
        ] {
            assert!(rows(name).next().is_some(), "{name}");
            for row in rows(name) {
                assert!(widths.contains(&row.len()), "{name}: {row:?}");
            }
        }
        assert_eq!(SECTIONS.len(), 71);
        let titles: Vec<_> = sections("type").map(|(title, _)| title).collect();
        assert!(titles.contains(&vec!["pod.spec"]), "{titles:?}");
    }
}
