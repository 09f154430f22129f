//! Hints for texts that are not valid YAML, or mean something else than they seem to.

use std::borrow::Cow;

use crate::lines::next_line;
use crate::read::document::Cursor;
use crate::scalar::data::Style;
use crate::table::Kind;

const TABS: &str = "indent with spaces, not with tabs";

/// Hints about characters, by a part of the parser's message.
const SPELLINGS: &[(&str, &str)] = &[
    ("tab", TABS),
    ("escape", "in double quotes `\\` begins an escape: write `\\\\`, or use single quotes"),
    ("anchor", "text that begins with `*` or `&` needs quotes"),
    ("unexpected character", "text that begins with this character needs quotes"),
    ("after single-quoted", "in single quotes, write a quote twice: `'it''s'`"),
];

/// The same about the order of lines and brackets.
const SHAPES: &[(&str, &str)] = &[
    (
        "after double-quoted",
        "put the whole text in the quotes (`\\\"` is a quote inside), or a comma between two entries",
    ),
    ("bracket", "each `[` needs its `]`, each `{` its `}`; text that begins with one needs quotes"),
    (
        "flow",
        "in braces and brackets, put commas between the entries, and close each brace and bracket",
    ),
    ("':' indicator", "close the bracket above it; text that begins with one needs quotes"),
    ("<document start>", "put a line `---` between two documents"),
    (
        "sequence entries",
        "begin a list on a line of its own; text that begins with `- ` needs quotes",
    ),
    ("mapping values", "begin all keys of a mapping in one column, with a space after each colon"),
    ("block", "begin all keys of a mapping, and all dashes of a list, in one column"),
];

/// About comments in JSON.
pub(crate) const NO_COMMENTS: &str =
    "JSON has no comments: remove it, or write YAML, in which a comment begins with `#`";

/// The longest key in a hint.
const MAX_KEY: usize = 63;

impl Cursor<'_> {
    /// The hint for a value such as `type:int` where a mapping is needed, and for `{type:int}`.
    #[doc(hidden)]
    pub fn space_hint(self) -> Option<String> {
        match self.kind() {
            Kind::Scalar(Style::Plain) => space_hint(self.raw().lines().next()?),
            Kind::Mapping => {
                let mut entries = self.children().filter(|entry| entry.raw().is_empty());
                entries.find_map(|entry| space_hint(&entry.key_text().ok()?))
            }
            _ => None,
        }
    }
}

/// The hint for a line such as `type:int`, in which a space after the colon is missing.
pub fn space_hint(line: &str) -> Option<String> {
    let (key, value) = line.trim_start_matches([' ', '-']).split_once(':')?;
    let is_of_key = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    let is_key = key.len() <= MAX_KEY
        && key.starts_with(|first: char| first.is_ascii_alphabetic())
        && key.bytes().all(is_of_key);
    let is_address = value.starts_with("//");
    let is_tight = value.starts_with(|first: char| !first.is_whitespace());
    let is_spaced = line.contains(": ") || line.ends_with(':');
    (is_key && is_tight && !is_address && !is_spaced)
        .then(|| format!("write a space after the colon: `{key}: …`"))
}

/// Whether a text that is meant to be JSON has a comment in a line.
pub(crate) fn has_json_comment(text: &str, line: &str) -> bool {
    let is_json = text.trim_start().starts_with(['{', '[', '/']);
    let begins = |sign: &str| {
        let before = line.find(sign).and_then(|at| line.get(..at));
        before.is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t', ',']))
    };
    is_json && (begins("//") || begins("/*"))
}

/// The hint for a message of the parser.
pub(crate) fn syntax_hint(message: &str, text: &str, at: usize) -> Option<Cow<'static, str>> {
    let by = |hints: &[(&str, &'static str)]| {
        let mut hints = hints.iter();
        hints.find_map(|(part, hint)| message.contains(part).then_some(Cow::Borrowed(*hint)))
    };
    by(SPELLINGS).or_else(|| line_hint(text, at)).or_else(|| by(SHAPES))
}

/// The hint from the line of the error and the line before it.
fn line_hint(text: &str, at: usize) -> Option<Cow<'static, str>> {
    let before = text.get(..at).unwrap_or(text);
    let above = before.trim_end_matches('\n').rfind('\n');
    let start = above.map_or(0, |newline| newline + 1);
    let lines = || {
        let lines = text.get(start..next_line(text, at)).unwrap_or_default();
        lines.lines()
    };
    let blank = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let is_tabbed = |line: &str| line.get(..blank(line)).is_some_and(|blank| blank.contains('\t'));
    if lines().any(is_tabbed) {
        return Some(TABS.into());
    }
    let with_above = || {
        let first = text.get(..start).unwrap_or_default();
        let first = first.lines().next_back();
        first.into_iter().chain(lines())
    };
    if with_above().any(|line| has_json_comment(text, line)) {
        return Some(NO_COMMENTS.into());
    }
    if lines().any(|line| line.contains("{{")) {
        let hint = "`{{ … }}` is the syntax of Helm and of other tools: refer to a parameter as `$(NAME)` or `${NAME}`, or put the text in quotes";
        return Some(hint.into());
    }
    if let Some(hint) = with_above().find_map(space_hint) {
        return Some(hint.into());
    }
    let in_braces = |line: &str| line.replace("${", "").contains(['{', '[']);
    if lines().any(|line| line.contains("${") && in_braces(line)) {
        let hint = "in braces and brackets, put references in quotes, as `{name: \"${NAME}\"}`";
        return Some(hint.into());
    }
    if lines().any(|line| line.matches('"').count() % 2 == 1) {
        let hint = "a quote is not closed, or is inside a quoted string: there, write `\\\"`";
        return Some(hint.into());
    }
    let value = |line: &str| line.split_once(": ").map(|(_, value)| value.to_owned());
    let is_plain = |value: &str| !value.starts_with(['"', '\'', '{', '[']) && value.contains(": ");
    let in_block = |line: &&str| !line.trim_start().starts_with(['{', '[']);
    lines()
        .filter(in_block)
        .filter_map(value)
        .any(|value| is_plain(&value))
        .then_some("put a value that contains `: ` in quotes".into())
}
