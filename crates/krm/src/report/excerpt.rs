//! The lines of a text that a report shows.
//!
//! The text may be huge and have huge lines (JSON on one line), so only what is shown is copied,
//! and a long line is cut to a window around the first place in it.

use std::borrow::Cow;
use std::ops::Range;

use krm_yaml::shorten::without_credentials;

use crate::secret_places::SecretPlaces;
use crate::secrets::MASK;
use crate::visible::is_hidden;

/// Lines of more bytes are cut.
const LONG: usize = 160;
/// The number of bytes shown of a long line.
const WINDOW: usize = 120;
/// How many of them are before the place.
const BEFORE: usize = 40;
/// How far from a place the ends of its line are looked for, if nothing depends on them but where
/// to cut.
const FAR: usize = 2 * LONG;
/// The longest key that is shown of a line with a secret.
const MAX_KEY: usize = 63;
/// Marks the parts that are cut.
pub(super) const CUT: char = '…';

/// A range of bytes to show, and where it begins.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    /// May lie outside the text, or within a character.
    pub(super) range: Range<usize>,
    pub(super) line: usize,
    pub(super) column: usize,
}

/// Consecutive lines, each perhaps cut.
pub(super) struct Excerpt {
    text: String,
    first_line: usize,
    lines: Vec<Line>,
}

struct Line {
    /// The part of it that is shown, as a range of the whole text.
    shown: Range<usize>,
    /// Whether the line goes on after that.
    goes_on: bool,
    /// Where that is in the excerpt.
    at: usize,
}

impl Excerpt {
    /// The lines from the first of `spots` to the last. The one listed first is sure to be shown. A
    /// line with a secret is shown up to its key.
    pub(super) fn of(text: &str, spots: &[Spot], secrets: Option<&SecretPlaces>) -> Self {
        let lines = spots.iter().map(|spot| spot.line);
        let last_line = lines.max().unwrap_or(1);
        let first = spots.iter().min_by_key(|spot| spot.line);
        let (first_line, offset) = first.map_or((1, 0), |spot| (spot.line, spot.range.start));
        let offset = offset.min(text.len());
        let far = offset.saturating_sub(FAR);
        let before = text.as_bytes().get(far..offset).unwrap_or_default();
        let mut start = far + memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);

        let mut excerpt = Self {
            text: String::with_capacity(spots.len() * (LONG + 8)),
            first_line,
            lines: Vec::new(),
        };
        for number in first_line..=last_line {
            let spot = spots.iter().find(|spot| spot.line == number);
            let far = if number == last_line {
                let around = spot.map_or(start, |spot| spot.range.start);
                around.saturating_add(FAR).min(text.len())
            } else {
                text.len()
            };
            let after = text.as_bytes().get(start..far).unwrap_or_default();
            let end = start + memchr::memchr(b'\n', after).unwrap_or(after.len());
            match spot {
                Some(spot) => excerpt.push(text, start..end, spot.range.start, secrets),
                None => excerpt.skip(start),
            }
            start = end + 1;
        }
        excerpt
    }

    /// Adds a line that no place is in. It may hold a secret, so it is not shown.
    fn skip(&mut self, start: usize) {
        self.lines.push(Line { shown: start..start, goes_on: true, at: self.text.len() });
        self.text.push(CUT);
        self.text.push('\n');
    }

    fn push(
        &mut self,
        text: &str,
        line: Range<usize>,
        around: usize,
        secrets: Option<&SecretPlaces>,
    ) {
        let has_return = text.get(line.clone()).is_some_and(|line| line.ends_with('\r'));
        let line = line.start..line.end - usize::from(has_return);
        let mut shown = window(text, &line, around);
        let part = text.get(shown.clone()).unwrap_or_default();
        let is_masked = secrets.is_some_and(|secrets| secrets.overlap(&shown))
            || without_credentials(part).is_some()
            || is_odd_address(part);
        if is_masked {
            let [name, value] = key(part);
            let is_text = secrets.is_some_and(|secrets| secrets.is_text(shown.start + name));
            shown.end = shown.start + if is_text { name } else { value };
        }
        if shown.start > line.start {
            self.text.push(CUT);
        }
        let at = self.text.len();
        let part = text.get(shown.clone()).unwrap_or_default();
        self.text.push_str(&of_same_length(part));
        let goes_on = shown.end < line.end && !is_masked;
        if is_masked {
            self.text.push_str(MASK);
        } else if goes_on {
            self.text.push(CUT);
        }
        self.text.push('\n');
        self.lines.push(Line { shown, goes_on, at });
    }

    /// Where the first line of `spot` is in [`text`](Self::text), if it is there.
    pub(super) fn find(&self, spot: &Spot) -> Option<Range<usize>> {
        let line = self.lines.get(spot.line.checked_sub(self.first_line)?)?;
        let Range { start, end } = line.shown;
        if spot.range.start < start || (spot.range.start >= end && line.goes_on) {
            return None;
        }
        let in_text = |offset: usize| line.at + offset.clamp(start, end) - start;
        let from = self.text.floor_char_boundary(in_text(spot.range.start));
        let to = self.text.ceil_char_boundary(in_text(spot.range.end));
        Some(from..to.max(from))
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) const fn first_line(&self) -> usize {
        self.first_line
    }

    pub(super) const fn last_line(&self) -> usize {
        self.first_line + self.lines.len().saturating_sub(1)
    }
}

/// Returns `true` for an address with a user that has blanks or quotes.
fn is_odd_address(line: &str) -> bool {
    let user = line.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@'));
    user.is_some_and(|(user, _)| user.contains([' ', '"', '\'', '{']) && !user.contains("$("))
}

/// Where the key of a line begins, and its value.
fn key(line: &str) -> [usize; 2] {
    let name = line.trim_start_matches([' ', '\t', '-']);
    let start = line.len() - name.len();
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || "_-./\"'".contains(c);
    let length = name.find(|c| !is_of_key(c)).unwrap_or(name.len());
    let after = name.get(length..).and_then(|rest| rest.strip_prefix(':'));
    let is_key = (1..=MAX_KEY).contains(&length)
        && after.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let value = start + length + 1 + usize::from(after != Some(""));
    [start, if is_key { value } else { start }]
}

/// A part of a line without hidden characters. Byte offsets stay; the renderer replaces those of
/// one byte.
fn of_same_length(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c.len_utf8() {
            2 if is_hidden(c) => shown.push('·'),
            3 if is_hidden(c) => shown.push('\u{fffd}'),
            4 if is_hidden(c) => shown.push_str("··"),
            _ => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// The part of `line` to show, so that `around` is in it.
fn window(text: &str, line: &Range<usize>, around: usize) -> Range<usize> {
    if line.len() <= LONG {
        return line.clone();
    }
    let start = around.saturating_sub(BEFORE).min(line.end - WINDOW).max(line.start);
    let end = (start + WINDOW).min(line.end);
    text.floor_char_boundary(start)..text.ceil_char_boundary(end)
}
