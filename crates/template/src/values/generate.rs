//! Generates values for parameters with `generate: expression`, from the expression in `from`.
//!
//! The grammar is that of `oc process` (library-go's `ExpressionValueGenerator`): `[class]{length}`
//! means that many random characters of the class. Everything else is literal text, including
//! text that looks similar: `[A-Z]`, `[A-Z]+`, `[A-Z]{2,4}`, `[A-Z_]{3}`.
//!
//! - `\w` means letters, digits and `_`; `\d` digits; `\a` letters and digits; `\A`
//!   the symbols ``~!@#$%^&*()-_+={}[]\|<,>.?/"';:` ``.
//! - `x-y` means the characters from `x` to `y` in the order `a-z`, `A-Z`, `0-9`, so that `a-Z`
//!   is all letters.
//! - Any other letter or digit means itself.
//!
//! A class must begin with one of the four escapes or end with a range, and a length is from 1 to
//! 255. Every character of a class is equally likely, however often the class mentions it.
//!
//! Where we differ from `oc` on purpose:
//! - A range includes its upper end. In `oc` it does not: `[a-z]` never gives `z`, `[0-1]` gives
//!   only zeros, and `[a-a]` panics.
//! - `[abc0-9]` is `a`, `b`, `c` and the digits. `oc` reads two neighbours as a range (`a-b`,
//!   `c-0`, which has `X` in it). In the same way `[\da-z]` is not `\a`.
//! - A `-` that is not between two letters or digits (`[a-z-0-9]`) is an error. `oc` ignores it.
//! - What was generated is never read as an expression again, and the whole value has a limit
//!   ([`MAX_VALUE`]).

use std::ops::Range;

use crate::values::random::Random;

/// The most bytes a generated value may have. It is far above any real one (the longest in use is
/// 255) and keeps a hostile `from` from filling the memory.
pub const MAX_VALUE: usize = 64 * 1024;

/// The most characters one `{length}` asks for, as in `oc process`.
const MAX_LENGTH: usize = 255;

/// The order of ranges, which is that of `oc process`.
const ALPHANUMERIC: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const WORD: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
const DIGITS: &str = "0123456789";
const SYMBOLS: &str = "~!@#$%^&*()-_+={}[]\\|<,>.?/\"';:`";

/// A kind of problem in a `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A length is not from 1 to 255.
    Length,
    /// A range ends before it begins.
    Reversed,
    /// Any other.
    Other,
}

/// Why no value can be generated from a `from`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// The kind of the problem.
    pub problem: Problem,
    /// The problem, in one line.
    pub message: String,
    /// The range of bytes in `from`.
    pub range: Range<usize>,
    /// A way to correct it.
    pub hint: Option<String>,
}

impl ExpressionError {
    fn new(message: impl Into<String>, range: Range<usize>) -> Self {
        Self { problem: Problem::Other, message: message.into(), range, hint: None }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Generates a value from the expression `from`, drawing one number for each random character, in
/// order. An empty expression gives an empty value, as in `oc process`.
///
/// # Errors
/// The expression is malformed, its value would be longer than [`MAX_VALUE`], or `random` fails.
pub fn expression(from: &str, random: &mut dyn Random) -> Result<String, ExpressionError> {
    let mut value = String::new();
    for piece in parse(from)? {
        match piece {
            Piece::Literal(text) => value.push_str(text),
            Piece::Characters { class, length } => {
                for _ in 0..length {
                    value.push(draw(&class, random).map_err(|reason| {
                        let message = format!("cannot generate a value: {reason}");
                        ExpressionError::new(message, 0..from.len())
                    })?);
                }
            }
        }
    }
    Ok(value)
}

/// Says whether [`expression`] would accept `from`, without generating anything.
///
/// # Errors
/// The expression is malformed, or its value would be longer than [`MAX_VALUE`].
pub fn check(from: &str) -> Result<(), ExpressionError> {
    parse(from).map(|_| ())
}

/// Whether [`expression`] can generate this value from `from`.
pub fn fits(from: &str, value: &str) -> bool {
    let Ok(pieces) = parse(from) else {
        return false;
    };
    let mut rest = value.chars();
    let is_whole = pieces.iter().all(|piece| match piece {
        Piece::Literal(text) => text.chars().all(|c| rest.next() == Some(c)),
        Piece::Characters { class, length } => {
            (0..*length).all(|_| rest.next().is_some_and(|c| class.contains(&c)))
        }
    });
    is_whole && rest.next().is_none()
}

/// How much the values of an expression differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variety {
    /// They are random, without a literal `[`.
    Random,
    /// They are random, and contain a literal `[`.
    HasBracket,
    /// They are all the same; with a `[` a class was perhaps meant.
    Constant {
        /// Whether there is a literal `[`.
        has_bracket: bool,
    },
    /// They are empty, as `from` is.
    Nothing,
}

/// Returns how much the values differ that [`expression`] generates from `from`.
///
/// # Errors
/// The expression is malformed, or its value would be longer than [`MAX_VALUE`].
pub fn variety(from: &str) -> Result<Variety, ExpressionError> {
    let pieces = parse(from)?;
    let is_random =
        |piece: &Piece<'_>| matches!(piece, Piece::Characters { class, .. } if class.len() > 1);
    let is_bracket =
        |piece: &Piece<'_>| matches!(piece, Piece::Literal(text) if text.contains('['));
    let has_bracket = pieces.iter().any(is_bracket);
    Ok(match (pieces.iter().any(is_random), has_bracket) {
        _ if from.is_empty() => Variety::Nothing,
        (true, false) => Variety::Random,
        (true, true) => Variety::HasBracket,
        (false, has_bracket) => Variety::Constant { has_bracket },
    })
}

fn draw(class: &[char], random: &mut dyn Random) -> Result<char, String> {
    let size = u32::try_from(class.len()).map_err(|error| error.to_string())?;
    let index = random.below(size)?;
    let drawn = class.get(index as usize).copied();
    drawn.ok_or_else(|| format!("{index} is not below {size}"))
}

/// A part of an expression.
enum Piece<'a> {
    Literal(&'a str),
    /// `length` characters of `class`, which has at least one and no duplicates.
    Characters {
        class: Vec<char>,
        length: usize,
    },
}

fn parse(from: &str) -> Result<Vec<Piece<'_>>, ExpressionError> {
    let mut pieces = Vec::new();
    let mut room = MAX_VALUE;
    let mut take = |bytes: usize| {
        room = room.checked_sub(bytes).ok_or_else(|| {
            let message = format!("the value would be longer than {MAX_VALUE} bytes");
            ExpressionError::new(message, 0..from.len())
        })?;
        Ok(())
    };
    let mut rest = from;
    while let Some(split) = next_characters(rest) {
        let start = from.len() - rest.len() + split.before.len();
        let length_end = from.len() - split.after.len() - "}".len();
        let class = parse_class(split.class, start)?;
        let length = parse_length(split.length, length_end)?;
        take(split.before.len() + length)?;
        pieces.push(Piece::Literal(split.before));
        pieces.push(Piece::Characters { class, length });
        rest = split.after;
    }
    take(rest.len())?;
    pieces.push(Piece::Literal(rest));
    Ok(pieces)
}

/// A text around its first `[class]{length}`.
struct Split<'a> {
    before: &'a str,
    class: &'a str,
    length: &'a str,
    after: &'a str,
}

/// Splits `text` at its first `[class]{length}`, where a class is of letters, digits, `-` and `\`.
fn next_characters(text: &str) -> Option<Split<'_>> {
    text.match_indices('[').find_map(|(open, bracket)| {
        let (before, from_bracket) = text.split_at_checked(open)?;
        let (class, from_close) = split_run(from_bracket.strip_prefix(bracket)?, |c| {
            c.is_ascii_alphanumeric() || matches!(c, '-' | '\\')
        })?;
        let from_length = from_close.strip_prefix("]{")?;
        let (length, from_brace) = split_run(from_length, |c| c.is_ascii_digit())?;
        Some(Split { before, class, length, after: from_brace.strip_prefix('}')? })
    })
}

/// Splits `text` after its leading `accepted` characters, if there are any.
fn split_run(text: &str, accepted: impl Fn(char) -> bool) -> Option<(&str, &str)> {
    let rest = text.trim_start_matches(accepted);
    let split = text.split_at_checked(text.len() - rest.len());
    split.filter(|(run, _)| !run.is_empty())
}

fn parse_length(digits: &str, end: usize) -> Result<usize, ExpressionError> {
    let length = digits.parse();
    if let Ok(length @ 1..=MAX_LENGTH) = length {
        return Ok(length);
    }
    let message = format!("expected a length from 1 to {MAX_LENGTH}, found `{digits}`");
    let error = ExpressionError {
        problem: Problem::Length,
        ..ExpressionError::new(message, end - digits.len()..end)
    };
    Err(match length {
        Ok(0) => error,
        _ => error.hint("for a longer value repeat the class, as in `[a-z]{255}[a-z]{45}`"),
    })
}

/// The characters of `class`, the text between brackets, in the order it first
/// mentions them. Its opening bracket is at `start`.
fn parse_class(class: &str, start: usize) -> Result<Vec<char>, ExpressionError> {
    let mut characters = Vec::new();
    let mut rest = class;
    while !rest.is_empty() {
        let at = start + "[".len() + class.len() - rest.len();
        let (item, after) = next_item(rest, at)?;
        for character in item.chars() {
            if !characters.contains(&character) {
                characters.push(character);
            }
        }
        rest = after;
    }
    if begins_with_escape(class) || ends_with_range(class) {
        return Ok(characters);
    }
    let range = start..start + class.len() + "[]".len();
    Err(ExpressionError::new(format!("malformed class `[{class}]`"), range).hint(
        "end it with a range, as in `[a-z0-9]`, or begin it with `\\w`, `\\d`, `\\a` or `\\A`",
    ))
}

/// The test that `oc process` puts a class to.
fn begins_with_escape(class: &str) -> bool {
    matches!(class.as_bytes(), [b'\\', b'w' | b'd' | b'a' | b'A', ..])
}

/// The other test that `oc process` puts a class to.
fn ends_with_range(class: &str) -> bool {
    matches!(class.as_bytes(), [.., first, b'-', last]
        if first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric())
}

/// The characters of the first item of `class`, and the rest of `class`, which begins
/// at `at`.
fn next_item(class: &str, at: usize) -> Result<(&str, &str), ExpressionError> {
    let length = match class.as_bytes() {
        [b'\\', _, ..] => 2,
        [first, b'-', last, ..]
            if first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric() =>
        {
            3
        }
        _ => 1,
    };
    let (item, rest) = class.split_at_checked(length).unwrap_or((class, ""));
    let range = at..at + item.len();
    let characters = match item.as_bytes() {
        [b'\\', ..] => escape(item, range)?,
        [first, _, last] => span(char::from(*first), char::from(*last), range)?,
        [b'-'] => return Err(stray_dash(range)),
        _ => item,
    };
    Ok((characters, rest))
}

fn stray_dash(range: Range<usize>) -> ExpressionError {
    ExpressionError::new("expected a letter or digit on both sides of `-`", range)
        .hint("a class cannot hold `-` itself: write it outside, as in `[a-z]{4}-[a-z]{4}`")
}

fn escape(item: &str, range: Range<usize>) -> Result<&'static str, ExpressionError> {
    match item {
        r"\w" => Ok(WORD),
        r"\d" => Ok(DIGITS),
        r"\a" => Ok(ALPHANUMERIC),
        r"\A" => Ok(SYMBOLS),
        r"\\" => {
            Err(unknown_escape(item, range).hint("write one `\\`: only double quotes need two"))
        }
        _ => Err(unknown_escape(item, range).hint("the escapes are `\\w`, `\\d`, `\\a` and `\\A`")),
    }
}

fn unknown_escape(item: &str, range: Range<usize>) -> ExpressionError {
    ExpressionError::new(format!("unknown escape `{item}`"), range)
}

/// The characters from `first` to `last`, both included.
fn span(first: char, last: char, range: Range<usize>) -> Result<&'static str, ExpressionError> {
    let from_first = ALPHANUMERIC.trim_start_matches(|c| c != first);
    let characters = from_first.find(last).and_then(|end| from_first.get(..=end));
    characters.ok_or_else(|| {
        let kinds: [fn(&char) -> bool; 3] =
            [char::is_ascii_lowercase, char::is_ascii_uppercase, char::is_ascii_digit];
        let same_kind = kinds.iter().any(|kind| kind(&first) && kind(&last));
        let hint = if same_kind {
            format!("write it as `{last}-{first}`")
        } else {
            "lower case comes before upper case and letters before digits: \
             name the ranges one by one, as in `[a-zA-Z0-9]`"
                .to_owned()
        };
        let message = format!("range `{first}-{last}` is reversed");
        ExpressionError { problem: Problem::Reversed, ..ExpressionError::new(message, range) }
            .hint(hint)
    })
}

#[cfg(test)]
mod tests {
    use super::{MAX_VALUE, Variety, expression, variety};
    use crate::values::random::{Random, SystemRandom};

    #[test]
    fn constant_expressions_are_told_from_random_ones() {
        let constant = |has_bracket| Ok(Variety::Constant { has_bracket });
        for (from, expected) in [
            ("", Ok(Variety::Nothing)),
            ("[a-z]{8}", Ok(Variety::Random)),
            (r"user[\w]{1}!", Ok(Variety::Random)),
            ("web", constant(false)),
            ("[a-a]{8}", constant(false)),
            ("[a-zA-Z0-9]", constant(true)),
            ("[a-z]+", constant(true)),
            ("[a-z{8}", constant(true)),
            ("[a-z]{2,4}", constant(true)),
            ("[A-Z_]{3}", constant(true)),
            ("[a-z]{8}-[0-9]", Ok(Variety::HasBracket)),
        ] {
            assert_eq!(variety(from), expected, "{from}");
        }
        assert!(variety("[abc]{3}").is_err());
    }

    /// Counts up from 0 again and again, so that a long enough piece shows its whole class.
    #[derive(Default)]
    struct Counter(u32);

    impl Random for Counter {
        fn below(&mut self, bound: u32) -> Result<u32, String> {
            self.0 += 1;
            Ok((self.0 - 1) % bound)
        }
    }

    struct NoRandom;

    impl Random for NoRandom {
        fn below(&mut self, _: u32) -> Result<u32, String> {
            Err("the well is dry".to_owned())
        }
    }

    /// `expected` is the value if random numbers count up, or the message with the text it points
    /// at and the hint.
    #[track_caller]
    fn check(from: &str, expected: Result<&str, (&str, &str, &str)>) {
        let found = expression(from, &mut Counter::default());
        assert_eq!(super::check(from).is_ok(), found.is_ok());
        match (found, expected) {
            (Ok(value), Ok(expected)) => assert_eq!(value, expected),
            (Err(error), Err(expected)) => assert_eq!(
                (
                    error.message.as_str(),
                    from.get(error.range).unwrap(),
                    error.hint.as_deref().unwrap_or_default(),
                ),
                expected
            ),
            (found, expected) => panic!("expected {expected:?}, found {found:?}"),
        }
    }

    const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
    const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const MALFORMED: &str =
        "end it with a range, as in `[a-z0-9]`, or begin it with `\\w`, `\\d`, `\\a` or `\\A`";
    const NO_DASH: &str =
        "a class cannot hold `-` itself: write it outside, as in `[a-z]{4}-[a-z]{4}`";
    const ESCAPES: &str = "the escapes are `\\w`, `\\d`, `\\a` and `\\A`";
    const ORDER: &str = "lower case comes before upper case and letters before digits: \
                         name the ranges one by one, as in `[a-zA-Z0-9]`";
    const LONGER: &str = "for a longer value repeat the class, as in `[a-z]{255}[a-z]{45}`";

    #[test]
    fn ranges_include_both_ends() {
        check("[a-z]{26}", Ok(LOWER));
        check("[A-Z]{26}", Ok(UPPER));
        check("[0-9]{11}", Ok("01234567890"));
        check("[0-1]{8}", Ok("01010101"));
        check("[a-f0-9]{16}", Ok("abcdef0123456789"));
    }

    #[test]
    fn a_range_of_one_character_is_that_character() {
        check("[a-a]{4}", Ok("aaaa"));
        check("${Q}[0-0]{3}", Ok("${Q}000"));
    }

    #[test]
    fn ranges_run_from_lower_to_upper_case_to_digits_as_in_oc() {
        check("[a-Z]{52}", Ok(&format!("{LOWER}{UPPER}")));
        check("[y-B]{4}", Ok("yzAB"));
        check("[Y-1]{4}", Ok("YZ01"));
    }

    #[test]
    fn escapes_stand_for_their_sets() {
        check(r"[\w]{63}", Ok(&format!("{LOWER}{UPPER}0123456789_")));
        check(r"[\d]{10}", Ok("0123456789"));
        check(r"[\a]{62}", Ok(&format!("{LOWER}{UPPER}0123456789")));
        check(r"[\A]{33}", Ok(r#"~!@#$%^&*()-_+={}[]\|<,>.?/"';:`~"#));
        check(r"[\d\A]{42}", Ok(r#"0123456789~!@#$%^&*()-_+={}[]\|<,>.?/"';:`"#));
    }

    #[test]
    fn no_character_is_likelier_for_being_named_twice() {
        check("[a-ca-c]{4}", Ok("abca"));
        check(r"[\d0-9]{11}", Ok("01234567890"));
    }

    #[test]
    fn text_around_classes_is_kept() {
        check("lit", Ok("lit"));
        check("", Ok(""));
        check("test[0-9]{1}x", Ok("test0x"));
        check("0x[A-F0-9]{4}", Ok("0xABCD"));
        check("[a-c]{2}[a-c]{2}", Ok("abca"));
        check("ä[a-c]{3}{3}]ö[", Ok("äabc{3}]ö["));
    }

    #[test]
    fn what_only_resembles_a_class_with_a_length_is_text() {
        let texts = [
            "[A-Z]",
            "[A-Z]+",
            "[A-Z]{2,4}",
            "[A-Z_]{3}",
            "[A-Z]{}",
            "[A-Z]{3",
            "[A-Z] {3}",
            "[]{3}",
            "[ä-ö]{3}",
            "[[A-Z]]{3}",
        ];
        for text in texts {
            check(text, Ok(text));
        }
        check("[[a-c]{3}]", Ok("[abc]"));
        check("[A-Z][a-c]{3}", Ok("[A-Z]abc"));
    }

    #[test]
    fn what_was_generated_is_not_an_expression() {
        let class = r"[\A]{33}a-c]{3}";
        check(class, Ok(r#"~!@#$%^&*()-_+={}[]\|<,>.?/"';:`~a-c]{3}"#));
    }

    #[test]
    fn characters_in_an_accepted_class_are_themselves() {
        check("[abc0-9]{13}", Ok("abc0123456789"));
        check(r"[\dabc]{13}", Ok("0123456789abc"));
        check(r"[\da-c]{13}", Ok("0123456789abc"));
    }

    #[test]
    fn a_class_without_escape_first_or_range_last_is_malformed_as_in_oc() {
        check("[ABC]{3}", Err(("malformed class `[ABC]`", "[ABC]", MALFORMED)));
        check("ä[0-9abc]{3}", Err(("malformed class `[0-9abc]`", "[0-9abc]", MALFORMED)));
        check(r"[a-z]{3}[a-z\d]{3}", Err((r"malformed class `[a-z\d]`", r"[a-z\d]", MALFORMED)));
    }

    #[test]
    fn escapes_that_oc_does_not_know_are_errors() {
        check(
            r"[\\w]{10}",
            Err((r"unknown escape `\\`", r"\\", r"write one `\`: only double quotes need two")),
        );
        check(r"[\w\s]{3}", Err((r"unknown escape `\s`", r"\s", ESCAPES)));
        check(r"[a-z\]{3}", Err((r"unknown escape `\`", r"\", ESCAPES)));
    }

    #[test]
    fn a_dash_that_makes_no_range_is_an_error() {
        let message = "expected a letter or digit on both sides of `-`";
        check("[a-z-0-9]{3}", Err((message, "-", NO_DASH)));
        check("[-a-z]{3}", Err((message, "-", NO_DASH)));
        check("[a-]{3}", Err((message, "-", NO_DASH)));
        check(r"[\d-z]{3}", Err((message, "-", NO_DASH)));
        check("[---]{3}", Err((message, "-", NO_DASH)));
    }

    #[test]
    fn a_reversed_range_is_an_error() {
        check("[a-zZ-A]{3}", Err(("range `Z-A` is reversed", "Z-A", "write it as `A-Z`")));
        check("[9-0]{3}", Err(("range `9-0` is reversed", "9-0", "write it as `0-9`")));
        check("[A-z]{3}", Err(("range `A-z` is reversed", "A-z", ORDER)));
        check("[0-a]{3}", Err(("range `0-a` is reversed", "0-a", ORDER)));
    }

    #[test]
    fn a_length_is_from_1_to_255() {
        check("[A-Z]{0}", Err(("expected a length from 1 to 255, found `0`", "0", "")));
        check("ä[A-Z]{300}]", Err(("expected a length from 1 to 255, found `300`", "300", LONGER)));
        let huge = "9".repeat(40);
        check(
            &format!("[A-Z]{{{huge}}}"),
            Err((&format!("expected a length from 1 to 255, found `{huge}`"), &huge, LONGER)),
        );
        check("[a-a]{255}", Ok(&"a".repeat(255)));
        check("[a-a]{003}", Ok("aaa"));
    }

    #[test]
    fn the_whole_value_is_limited() {
        let full = "a".repeat(MAX_VALUE);
        check(&full, Ok(&full));
        check(&"[a-a]{128}".repeat(MAX_VALUE / 128), Ok(&full));
        for long in [format!("{full}b"), "[a-a]{255}".repeat(258)] {
            let message = "the value would be longer than 65536 bytes";
            check(&long, Err((message, &long, "")));
        }
    }

    #[test]
    fn says_that_randomness_failed() {
        assert_eq!(expression("text", &mut NoRandom), Ok("text".to_owned()));
        let error = expression("x[a-z]{3}", &mut NoRandom).unwrap_err();
        assert_eq!(error.message, "cannot generate a value: the well is dry");
        assert_eq!(error.range, 0..9);
    }

    /// All that real templates use, with the length of the value.
    #[test]
    fn real_expressions_are_accepted() {
        let real = [
            ("[a-zA-Z]{6}[0-9]{1}!", 8),
            ("[a-zA-Z0-9]{255}", 255),
            ("user[A-Z0-9]{3}", 7),
            ("super-[a-zA-Z0-9]{6}", 12),
            ("[0-9a-z]{7}", 7),
            (r"[\a\A]{8}[\d]{1}[\A]{1}", 10),
            (r"strongPassword[\w]{3}[\A]{3}", 20),
            ("logging-elasticsearch-pv-[a-z0-9]{8}", 33),
            ("[a-z]{1}[a-zA-Z0-9]{6}[a-z]{1}", 8),
        ];
        for (from, length) in real {
            let value = expression(from, &mut SystemRandom::default()).unwrap();
            assert_eq!(value.len(), length, "{from}: {value}");
        }
    }

    proptest::proptest! {
        #[test]
        fn errors_point_into_the_expression(from in r"([ä\[\]{}\\-]|[a-c]|[0-3]|\[a-c\]\{2\}){0,20}") {
            match expression(&from, &mut Counter::default()) {
                Ok(_) => assert_eq!(super::check(&from), Ok(())),
                Err(error) => assert!(from.get(error.range).is_some_and(|part| !part.is_empty())),
            }
        }
    }
}
