//! Hints for texts that are not valid YAML.

use crate::lines::next_line;

const TABS: &str = "indent with spaces, not with tabs";

/// Hints about characters, by a part of the parser's message.
const SPELLINGS: &[(&str, &str)] = &[
    ("tab", TABS),
    (
        "escape",
        "in double quotes `\\` begins an escape: write `\\\\`, or use single quotes",
    ),
    ("anchor", "text that begins with `*` or `&` needs quotes"),
    (
        "unexpected character",
        "text that begins with this character needs quotes",
    ),
    (
        "after single-quoted",
        "in single quotes, write a quote twice: `'it''s'`",
    ),
];

/// The same about the order of lines and brackets.
const SHAPES: &[(&str, &str)] = &[
    (
        "after double-quoted",
        "put the whole text in the quotes (`\\\"` is a quote inside), or a comma between two entries",
    ),
    (
        "bracket",
        "each `[` needs its `]`, each `{` its `}`; text that begins with one needs quotes",
    ),
    (
        "flow",
        "in braces and brackets, put commas between the entries, and close each brace and bracket",
    ),
    (
        "':' indicator",
        "close the bracket above it; text that begins with one needs quotes",
    ),
    ("<document start>", "put a line `---` between two documents"),
    (
        "sequence entries",
        "begin a list on a line of its own; text that begins with `- ` needs quotes",
    ),
    (
        "mapping values",
        "begin all keys of a mapping in one column, with a space after each colon",
    ),
    (
        "block",
        "begin all keys of a mapping, and all dashes of a list, in one column",
    ),
];

/// The hint for a message of the parser.
pub(crate) fn syntax_hint(message: &str, text: &str, at: usize) -> Option<&'static str> {
    let by = |hints: &[(&str, &'static str)]| {
        let mut hints = hints.iter();
        hints.find_map(|(part, hint)| message.contains(part).then_some(*hint))
    };
    by(SPELLINGS)
        .or_else(|| line_hint(text, at))
        .or_else(|| by(SHAPES))
}

/// The hint from the line of the error and the line before it.
fn line_hint(text: &str, at: usize) -> Option<&'static str> {
    let before = text.get(..at).unwrap_or(text);
    let above = before.trim_end_matches('\n').rfind('\n');
    let start = above.map_or(0, |newline| newline + 1);
    let lines = || {
        let lines = text.get(start..next_line(text, at)).unwrap_or_default();
        lines.lines()
    };
    let blank = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let is_tabbed = |line: &str| {
        line.get(..blank(line))
            .is_some_and(|blank| blank.contains('\t'))
    };
    if lines().any(is_tabbed) {
        return Some(TABS);
    }
    let in_braces = |line: &str| line.replace("${", "").contains(['{', '[']);
    if lines().any(|line| line.contains("${") && in_braces(line)) {
        return Some("in braces and brackets, put references in quotes, as `{name: \"${NAME}\"}`");
    }
    if lines().any(|line| line.matches('"').count() % 2 == 1) {
        return Some("a quote is not closed, or is inside a quoted string: there, write `\\\"`");
    }
    let value = |line: &str| line.split_once(": ").map(|(_, value)| value.to_owned());
    let is_plain = |value: &str| !value.starts_with(['"', '\'', '{', '[']) && value.contains(": ");
    let in_block = |line: &&str| !line.trim_start().starts_with(['{', '[']);
    lines()
        .filter(in_block)
        .filter_map(value)
        .any(|value| is_plain(&value))
        .then_some("put a value that contains `: ` in quotes")
}
