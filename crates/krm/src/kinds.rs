//! The table of facts about kinds: `data/kinds.txt`, cut into sections and rows when it is compiled.

const TEXT: &str = include_str!("../data/kinds.txt");

/// The titles and the rows of the sections.
const SECTIONS: [(&str, &str); count_sections()] = {
    let mut sections = [("", ""); count_sections()];
    let mut left = sections.as_mut_slice();
    let (_, mut rest) = cut(TEXT, "\n[");
    while let [section, others @ ..] = left {
        let (text, after) = cut(rest, "\n[");
        *section = cut(text, "]\n");
        (left, rest) = (others, after);
    }
    sections
};

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

/// The sections of a name: the other words of their titles, and the lines of their rows.
pub(crate) fn lines(name: &str) -> impl Iterator<Item = (Row, impl Iterator<Item = &'static str>)> {
    SECTIONS.iter().filter_map(move |(title, rows)| {
        let (own, title) = title.split_once(' ').unwrap_or((title, ""));
        (own == name).then(|| (words(title), rows.lines().filter(|line| is_row(line))))
    })
}

/// The sections of a name: the other words of their titles, and their rows.
pub fn sections(name: &str) -> impl Iterator<Item = (Row, impl Iterator<Item = Row>)> {
    lines(name).map(|(title, lines)| (title, lines.map(words)))
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

/// The number of rows of the section with a title.
pub(crate) const fn count(title: &str) -> usize {
    let (mut rest, mut count) = (section(title), 0);
    while !rest.is_empty() {
        let (line, after) = cut(rest, "\n");
        count += is_row(line) as usize;
        rest = after;
    }
    count
}

/// The rows of the section with a title; the words that a row lacks are empty.
pub(crate) const fn table<const WORDS: usize, const ROWS: usize>(
    title: &str,
) -> [[&'static str; WORDS]; ROWS] {
    let mut table = [[""; WORDS]; ROWS];
    let (mut rest, mut left) = (section(title), table.as_mut_slice());
    while !rest.is_empty() {
        let (mut line, after) = cut(rest, "\n");
        rest = after;
        if !is_row(line) {
            continue;
        }
        let Some((row, others)) = left.split_first_mut() else { break };
        let mut slots = row.as_mut_slice();
        while let [slot, more @ ..] = slots {
            let (word, behind) = cut(line, " ");
            *slot = if is_same(word, "-") { "" } else { word };
            (slots, line) = (more, behind);
        }
        left = others;
    }
    table
}

/// The rows of the section with a title, as fields.
pub(crate) const fn field_table<const ROWS: usize>(title: &str) -> [Field; ROWS] {
    const NONE: Field = Field { group: "", version: "", kind: "", path: "", create: false };
    let mut fields = [NONE; ROWS];
    let rows: [[&'static str; 5]; ROWS] = table(title);
    let (mut rest, mut left) = (rows.as_slice(), fields.as_mut_slice());
    while let ([row, others @ ..], [field, more @ ..]) = (rest, left) {
        let [group, version, kind, path, create] = *row;
        *field = Field { group, version, kind, path, create: !create.is_empty() };
        (rest, left) = (others, more);
    }
    fields
}

const fn count_sections() -> usize {
    let (_, mut rest) = cut(TEXT, "\n[");
    let mut count = 0;
    while !rest.is_empty() {
        (_, rest) = cut(rest, "\n[");
        count += 1;
    }
    count
}

/// The rows of the section with a title.
const fn section(title: &str) -> &'static str {
    let mut rest = SECTIONS.as_slice();
    while let [(own, rows), others @ ..] = rest {
        if is_same(own, title) {
            return rows;
        }
        rest = others;
    }
    ""
}

const fn is_row(line: &str) -> bool {
    !matches!(line.as_bytes(), [] | [b'#', ..])
}

const fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && begins(one.as_bytes(), other.as_bytes())
}

const fn begins(mut text: &[u8], mut start: &[u8]) -> bool {
    while let [byte, others @ ..] = start {
        let [first, rest @ ..] = text else { return false };
        if *first != *byte {
            return false;
        }
        (text, start) = (rest, others);
    }
    true
}

/// The text before a mark, and the one after it.
const fn cut(text: &'static str, mark: &str) -> (&'static str, &'static str) {
    let mut rest = text.as_bytes();
    while let [_, others @ ..] = rest {
        if begins(rest, mark.as_bytes()) {
            let (before, after) = text.split_at(text.len() - rest.len());
            return (before, after.split_at(mark.len()).1);
        }
        rest = others;
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::{Field, SECTIONS, count, field_table, fields, rows, sections, table};

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

    #[test]
    fn tables_have_the_rows_of_the_text() {
        const CLUSTER: [[&str; 2]; count("cluster")] = table("cluster");
        const LABELS: [Field; count("labels")] = field_table("labels");
        assert!(rows("cluster").eq(CLUSTER));
        assert!(CLUSTER.is_sorted(), "it is searched");
        let words =
            |field: Field| (field.group, field.version, field.kind, field.path, field.create);
        assert!(fields("labels").map(words).eq(LABELS.map(words)));
    }
}
