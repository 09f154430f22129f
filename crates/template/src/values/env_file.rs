//! Reads `NAME=VALUE` as `oc process` does: lines of a `--param-file`, and arguments.
//!
//! The rules are those of `oc process`, found by running it; the tests replay those runs. There are
//! two differences: an apostrophe inside a trailing comment does not make the comment part of the
//! value, and a quote at the beginning of a value must be closed.

use std::ops::Range;

/// The rule for names, as it is told to users.
const NAME_RULE: &str =
    "a name is made of letters, digits, `_`, `-` and `.`, and does not start with a digit";

/// A parameter that a line of a file gives a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The name, with valid characters only.
    pub name: String,
    /// Its value: quotes removed, escapes decoded.
    pub value: String,
    /// The line in the file, without its line break.
    pub range: Range<usize>,
    /// The name in the file.
    pub name_range: Range<usize>,
}

/// Why a line of a file, or an argument, is not an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvError {
    /// The problem, in one line.
    pub message: String,
    /// Where in the text that was read.
    pub range: Range<usize>,
    /// A way to correct it.
    pub hint: Option<String>,
    /// Whether the line has a value, which may be secret.
    pub holds_value: bool,
}

/// Reads a `--param-file`. All assignments are returned in order; of several to one name the last
/// wins, as in `oc process`.
///
/// A line is `NAME=VALUE` or `NAME: VALUE`, whichever of `=` and `:` comes first:
/// - Blank lines and lines that start with `#` are skipped; `#` ends a line, except where a quote
///   (`"` or `'`, anywhere in the line) is open.
/// - `export` at the very start of a line is cut off, even from `exporter`.
/// - Spaces (not tabs) around name and value are cut off.
/// - A value between two of the same quotes loses them; in it `\n` is a line break, `\r` a
///   carriage return, and `\` before any other character just vanishes. Without quotes nothing is
///   decoded. `$` means nothing.
/// - A carriage return before the line break and a byte order mark are not part of any line.
///
/// # Errors
/// All lines that have no `=` or `:`, or whose name is not `[-._a-zA-Z][-._a-zA-Z0-9]*`.
pub fn parse(text: &str) -> Result<Vec<Assignment>, Vec<EnvError>> {
    let mut assignments = Vec::new();
    let mut errors = Vec::new();
    let mut rest = lines(text);
    while let Some((start, line)) = rest.next() {
        match parse_line(start, line) {
            Some(Ok(assignment)) => assignments.push(assignment),
            Some(Err(error)) => {
                let quote = text.get(error.range.clone()).filter(|_| error.holds_value);
                let is_end =
                    |line: &str| quote.is_some_and(|quote| line.trim_end().ends_with(quote));
                errors.push(error);
                // A value that was meant to have several lines is reported once.
                if let Some(length) = rest.clone().position(|(_, line)| is_end(line))
                    && rest.clone().take(length).all(|(_, line)| !line.contains('='))
                {
                    rest.by_ref().take(length + 1).for_each(drop);
                }
            }
            None => {}
        }
    }
    if errors.is_empty() { Ok(assignments) } else { Err(errors) }
}

/// Whether a file has lines `NAME=VALUE`, and is not YAML or JSON: by its first line that is neither
/// blank nor a comment.
pub fn has_lines(text: &str) -> bool {
    let first =
        lines(text).find_map(|(start, line)| parse_line(start, line).map(|read| (line, read)));
    first.is_some_and(|(line, read)| {
        let sign = line.find(['=', ':']).and_then(|at| line.get(at..));
        read.is_ok() && sign.is_some_and(|rest| rest.starts_with('='))
    })
}

/// Reads the `NAME=VALUE` of `-p` and of positional arguments: split at the first `=`, nothing is
/// trimmed or decoded, as in `oc process`.
///
/// # Errors
/// There is no `=`, or the name is not `[-._a-zA-Z][-._a-zA-Z0-9]*`. Ranges are of `argument`.
pub fn parse_assignment(argument: &str) -> Result<(String, String), EnvError> {
    let Some((name, value)) = argument.split_once('=') else {
        // All of it may be a value.
        let name = argument.split_once(':').map(|(name, _)| name);
        let name = name.filter(|name| is_name(name)).unwrap_or("NAME");
        return Err(EnvError {
            message: "expected `NAME=VALUE`, found an argument without `=`".to_owned(),
            range: 0..argument.len(),
            hint: Some(format!("write it as `{name}=VALUE`")),
            holds_value: false,
        });
    };
    check_name(name, 0..name.len())?;
    Ok((name.to_owned(), value.to_owned()))
}

/// The lines of `text` without their line breaks, each with the offset it starts at.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> + Clone {
    let content = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut next = text.len() - content.len();
    content.split_inclusive('\n').map(move |line| {
        let start = next;
        next += line.len();
        let line = line.strip_suffix('\n').unwrap_or(line);
        (start, line.strip_suffix('\r').unwrap_or(line))
    })
}

/// The assignment of the line that starts at `start`; nothing if it is blank or a comment.
fn parse_line(start: usize, line: &str) -> Option<Result<Assignment, EnvError>> {
    let is_blank = |text: &str| text.trim_matches([' ', '\t']).is_empty();
    let content = without_comment(line);
    if is_blank(content) {
        return None;
    }
    Some(parse_content(start, line, content))
}

fn parse_content(start: usize, line: &str, content: &str) -> Result<Assignment, EnvError> {
    let range = start..start + line.len();
    let Some((name, value)) = content.split_once(['=', ':']) else {
        return Err(EnvError {
            message: "expected `NAME=VALUE`, found a line without `=`".to_owned(),
            range,
            hint: Some(
                "a value is one line; for a line break, write `\\n` inside quotes".to_owned(),
            ),
            holds_value: false,
        });
    };
    let unexported = name.strip_prefix("export").unwrap_or(name);
    let from_name = unexported.trim_start_matches(' ');
    let name_start = start + name.len() - from_name.len();
    let name = from_name.trim_end_matches(' ');
    let name_range = name_start..name_start + name.len();
    check_name(name, name_range.clone())?;
    check_quotes(name, value, start + content.len() - value.len())?;
    Ok(Assignment {
        name: name.to_owned(),
        value: unquote(value.trim_matches(' ')),
        range,
        name_range,
    })
}

/// `line` up to the first `#` that no open quote protects. A quote that is never closed protects
/// the rest of the line.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (position, character) in line.char_indices() {
        match (quote, character) {
            (None, '#') => return line.get(..position).unwrap_or(line),
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            _ => {}
        }
    }
    line
}

/// `value` without a pair of quotes around it and with the escapes between them decoded; any other
/// value as it is.
fn unquote(value: &str) -> String {
    let inside = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    match inside('"').or_else(|| inside('\'')) {
        Some(quoted) => decode(quoted),
        None => value.to_owned(),
    }
}

/// Refuses a value that begins with a quote and has no second one: `oc` reads the quote as a part
/// of the value, which is never intended. `value` ends its line and begins at `start`.
fn check_quotes(name: &str, value: &str, start: usize) -> Result<(), EnvError> {
    let begin = start + (value.len() - value.trim_start_matches(' ').len());
    let mut characters = value.trim_matches(' ').chars();
    let quote = characters.next();
    let Some(quote @ ('"' | '\'')) = quote.filter(|quote| !characters.any(|c| c == *quote)) else {
        return Ok(());
    };
    let other = if quote == '"' { '\'' } else { '"' };
    Err(EnvError {
        message: format!("the value of `{name}` begins with a quote that is not closed"),
        range: begin..begin + 1,
        hint: Some(format!(
            "close it on the same line, where `\\n` is a line break; a value that itself begins with `{quote}` goes between `{other}`"
        )),
        holds_value: true,
    })
}

fn decode(quoted: &str) -> String {
    let mut decoded = String::with_capacity(quoted.len());
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            decoded.push(character);
            continue;
        }
        decoded.push(match characters.next() {
            Some('n') => '\n',
            Some('r') => '\r',
            Some(other) => other,
            None => '\\',
        });
    }
    decoded
}

fn is_name(name: &str) -> bool {
    let is_part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty() && name.bytes().all(is_part)
}

fn check_name(name: &str, range: Range<usize>) -> Result<(), EnvError> {
    if is_name(name) {
        return Ok(());
    }
    let message = if name.is_empty() {
        "expected a parameter name before the value".to_owned()
    } else {
        // It may be a line of a value.
        "the text before `=` is not a parameter name".to_owned()
    };
    Err(EnvError { message, range, hint: Some(NAME_RULE.to_owned()), holds_value: false })
}

#[cfg(test)]
mod tests {
    use super::{EnvError, NAME_RULE, parse, parse_assignment};

    type Pairs<'a> = &'a [(&'a str, &'a str)];

    /// `expected` are the names with their values, or the messages with the text they point at.
    #[track_caller]
    fn check(text: &str, expected: Result<Pairs, Pairs>) {
        match (parse(text), expected) {
            (Ok(assignments), Ok(expected)) => {
                let pairs: Vec<_> =
                    assignments.iter().map(|a| (a.name.as_str(), a.value.as_str())).collect();
                assert_eq!(pairs, expected);
                for assignment in &assignments {
                    let name = text.get(assignment.name_range.clone());
                    assert_eq!(name, Some(assignment.name.as_str()));
                    let line = text.get(assignment.range.clone()).unwrap();
                    assert!(line.contains(&assignment.name));
                    assert!(!line.contains(['\r', '\n']));
                }
            }
            (Err(errors), Err(expected)) => {
                let found: Vec<_> = errors
                    .iter()
                    .map(|e| (e.message.as_str(), text.get(e.range.clone()).unwrap()))
                    .collect();
                assert_eq!(found, expected);
            }
            (found, expected) => panic!("expected {expected:?}, found {found:?}"),
        }
    }

    #[track_caller]
    fn check_argument(argument: &str, expected: Result<(&str, &str), (&str, &str, &str)>) {
        let found = parse_assignment(argument);
        let found = match &found {
            Ok((name, value)) => Ok((name.as_str(), value.as_str())),
            Err(EnvError { message, range, hint, .. }) => Err((
                message.as_str(),
                argument.get(range.clone()).unwrap(),
                hint.as_deref().unwrap_or_default(),
            )),
        };
        assert_eq!(found, expected);
    }

    const NO_SEPARATOR: &str = "expected `NAME=VALUE`, found a line without `=`";

    #[test]
    fn oc_reads_every_kind_of_line() {
        check(
            "# comment\n   # indented comment\n\nA=plain\nB=\"double quoted\"\nC='single quoted'\n\
             D = spaced\nE=a#b\nF=\"a # b\"\nG=a=b=c\nH: yamlstyle\nexport I=exported\n\
             J=\"esc\\n\\t\\\"x\\\\\"\nK=back\\nslash\nL=  trail  \n",
            Ok(&[
                ("A", "plain"),
                ("B", "double quoted"),
                ("C", "single quoted"),
                ("D", "spaced"),
                ("E", "a"),
                ("F", "a # b"),
                ("G", "a=b=c"),
                ("H", "yamlstyle"),
                ("I", "exported"),
                ("J", "esc\nt\"x\\"),
                ("K", "back\\nslash"),
                ("L", "trail"),
            ]),
        );
    }

    #[test]
    fn oc_lets_the_last_of_a_name_win_so_all_are_returned_in_order() {
        check("A=one\nA=two\n", Ok(&[("A", "one"), ("A", "two")]));
    }

    #[test]
    fn oc_takes_empty_values() {
        check("A=\nB=\"\"\n", Ok(&[("A", ""), ("B", "")]));
    }

    #[test]
    fn a_quote_that_is_not_closed_is_refused_though_oc_takes_it() {
        let message =
            |name: &str| format!("the value of `{name}` begins with a quote that is not closed");
        let (a, b, c) = (message("A"), message("B"), message("C"));
        check(
            "A=\"un\nB: 'first # one\nX=it's\nC = '\nY=\"a\" b\n",
            Err(&[(&a, "\""), (&b, "'"), (&c, "'")]),
        );
        check("A=\"one\ntwo\nthree\"\nB\n", Err(&[(&a, "\""), (NO_SEPARATOR, "B")]));
        check("A='\"un'\nB=\"it's\"\n", Ok(&[("A", "\"un"), ("B", "it's")]));
    }

    #[test]
    fn oc_cuts_export_even_from_a_longer_word() {
        check("exporter=x\n", Ok(&[("er", "x")]));
    }

    #[test]
    fn oc_refuses_a_line_without_separator() {
        check("NOPE\n", Err(&[(NO_SEPARATOR, "NOPE")]));
    }

    #[test]
    fn oc_refuses_names_with_a_digit_first_with_a_blank_or_empty() {
        check("1A=x\n", Err(&[("the text before `=` is not a parameter name", "1A")]));
        check("A B=x\n", Err(&[("the text before `=` is not a parameter name", "A B")]));
        check("=x\n", Err(&[("expected a parameter name before the value", "")]));
        check(
            "fo%(o=bar\nS P A C E S=test\n",
            Err(&[
                ("the text before `=` is not a parameter name", "fo%(o"),
                ("the text before `=` is not a parameter name", "S P A C E S"),
            ]),
        );
    }

    #[test]
    fn oc_expands_no_variables() {
        check("A=${B}\nB=$C\n", Ok(&[("A", "${B}"), ("B", "$C")]));
    }

    #[test]
    fn oc_splits_at_the_first_of_colon_and_equals_sign() {
        check(
            "A=a:b\nB:a=b\nC=http://x/y\n",
            Ok(&[("A", "a:b"), ("B", "a=b"), ("C", "http://x/y")]),
        );
    }

    #[test]
    fn oc_leaves_names_to_be_unknown_later() {
        check("ZZ=1\n", Ok(&[("ZZ", "1")]));
    }

    #[test]
    fn oc_removes_only_matching_outer_quotes() {
        check(
            "B=x\"y\"\nC='a' #c\nD=\"a\"#c\nE=\"\\u0041\"\n",
            Ok(&[("B", "x\"y\""), ("C", "a"), ("D", "a"), ("E", "u0041")]),
        );
    }

    #[test]
    fn oc_drops_carriage_returns_and_keeps_tabs() {
        check("A=1\r\nB=2\r\n", Ok(&[("A", "1"), ("B", "2")]));
        check("A=\tt\t\n", Ok(&[("A", "\tt\t")]));
    }

    #[test]
    fn oc_takes_an_empty_file() {
        check("", Ok(&[]));
    }

    #[test]
    fn single_quotes_decode_escapes_too() {
        check(r"A='a\nb\'c\'\r'", Ok(&[("A", "a\nb'c'\r")]));
    }

    #[test]
    fn a_backslash_before_the_last_quote_does_not_keep_it() {
        check(r#"A="C:\\temp\" # dir"#, Ok(&[("A", r"C:\temp\")]));
    }

    #[test]
    fn an_apostrophe_in_a_comment_opens_nothing() {
        check("A=x # it's\nB=y\n", Ok(&[("A", "x"), ("B", "y")]));
        check("A='a\"b' # c\n", Ok(&[("A", "a\"b")]));
    }

    #[test]
    fn a_quote_within_a_value_protects_a_number_sign() {
        check("A=it's#1\n", Ok(&[("A", "it's#1")]));
    }

    #[test]
    fn blank_lines_may_hold_tabs_and_comments() {
        check(" \t\n\t# c\n \r\n#", Ok(&[]));
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_a_name() {
        check("\u{FEFF}Ä=1\n", Err(&[("the text before `=` is not a parameter name", "Ä")]));
        check("\u{FEFF}A=ä\n", Ok(&[("A", "ä")]));
    }

    #[test]
    fn names_hold_dots_and_dashes() {
        check("-a.B_9=1\n", Ok(&[("-a.B_9", "1")]));
    }

    #[test]
    fn reports_all_bad_lines() {
        check(
            "A=1\nnope\r\n  2b = x # y\n",
            Err(&[(NO_SEPARATOR, "nope"), ("the text before `=` is not a parameter name", "2b")]),
        );
    }

    #[test]
    fn an_argument_is_split_at_its_first_equals_sign_and_kept_as_it_is() {
        check_argument("P=v", Ok(("P", "v")));
        check_argument("P=", Ok(("P", "")));
        check_argument("P=a=b", Ok(("P", "a=b")));
        check_argument("P=a,Q=b", Ok(("P", "a,Q=b")));
        check_argument("MYSQL_PASSWORD=my,1%pa=s", Ok(("MYSQL_PASSWORD", "my,1%pa=s")));
        check_argument("p= \"x\" # y\n", Ok(("p", " \"x\" # y\n")));
    }

    #[test]
    fn says_how_to_write_an_argument() {
        check_argument(
            "P",
            Err((
                "expected `NAME=VALUE`, found an argument without `=`",
                "P",
                "write it as `NAME=VALUE`",
            )),
        );
        check_argument(
            "P: v",
            Err((
                "expected `NAME=VALUE`, found an argument without `=`",
                "P: v",
                "write it as `P=VALUE`",
            )),
        );
        check_argument(
            "1P=a",
            Err(("the text before `=` is not a parameter name", "1P", NAME_RULE)),
        );
        check_argument("=a", Err(("expected a parameter name before the value", "", NAME_RULE)));
        check_argument(
            " P=a",
            Err(("the text before `=` is not a parameter name", " P", NAME_RULE)),
        );
    }

    proptest::proptest! {
        #[test]
        fn ranges_lie_in_one_line(text in "([ \t\r\n#=:\"'\\\\äA1]|export){0,30}") {
            let ranges: Vec<_> = match parse(&text) {
                Ok(assignments) => assignments.into_iter().map(|a| a.range).collect(),
                Err(errors) => errors.into_iter().map(|e| e.range).collect(),
            };
            for range in ranges {
                assert!(text.get(range).is_some_and(|line| !line.contains('\n')));
            }
        }
    }
}
