//! The methods of texts in Python.

use std::collections::BTreeSet;
use std::fmt::Write;

use minijinja::value::Tuple;
use minijinja::{Error, ErrorKind, Value};

use super::arguments::{bind, flag, items, required, whole, word};
use super::chars::{is_blank, lines, padded, position};
use super::containers::List;
use super::print::{Bounded, too_long};
use super::wrong::wrong;
use super::{case, format};

/// Calls a method of a text.
pub(super) fn method(text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    if let Some(changed) = case::method(text, method) {
        let [] = bind(args, [])?;
        return Ok(changed);
    }
    match method {
        "strip" | "lstrip" | "rstrip" => {
            let [chars] = bind(args, ["chars"])?;
            let chars = chars.filter(|chars| !chars.is_none());
            let chars = chars
                .as_ref()
                .map(|chars| word(Some(chars), ""))
                .transpose()?;
            Ok(Value::from(strip(text, method, chars)))
        }
        "split" | "rsplit" => parts(text, method, args),
        "splitlines" => {
            let [keep] = bind(args, ["keepends"])?;
            Ok(texts(lines(text, flag(keep.as_ref()))))
        }
        "partition" | "rpartition" => partition(text, method, args),
        "replace" => {
            let [old, new, count] = bind(args, ["old", "new", "count"])?;
            let (old, new) = (required(old, "old")?, required(new, "new")?);
            let count = whole(count.as_ref(), -1)?;
            replace(text, word(Some(&old), "")?, word(Some(&new), "")?, count).map(Value::from)
        }
        "join" => {
            let [list] = bind(args, ["iterable"])?;
            join(text, &items(&required(list, "iterable")?)?)
        }
        "startswith" | "endswith" => starts(text, method, args),
        "count" | "find" | "rfind" | "index" | "rindex" => find(text, method, args),
        "ljust" | "rjust" | "center" | "zfill" => justify(text, method, args),
        "expandtabs" => {
            let [size] = bind(args, ["tabsize"])?;
            expand_tabs(text, whole(size.as_ref(), 8)?)
        }
        "removeprefix" | "removesuffix" => {
            let [part] = bind(args, ["part"])?;
            let part = required(part, "part")?;
            let part = word(Some(&part), "")?;
            let rest = if method == "removeprefix" {
                text.strip_prefix(part)
            } else {
                text.strip_suffix(part)
            };
            Ok(Value::from(rest.unwrap_or(text)))
        }
        "format" => format::braces(text, args).map(Value::from),
        "encode" | "decode" => Ok(Value::from(text)),
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}

/// A list of texts.
pub(super) fn texts<'t>(parts: impl IntoIterator<Item = &'t str>) -> Value {
    List::of_scalars(parts.into_iter().map(Value::from).collect())
}

fn strip<'t>(text: &'t str, method: &str, chars: Option<&str>) -> &'t str {
    let chars: Option<BTreeSet<char>> = chars.map(|chars| chars.chars().collect());
    let is_cut = |c: char| match &chars {
        Some(chars) => chars.contains(&c),
        None => is_blank(c),
    };
    match method {
        "strip" => text.trim_matches(is_cut),
        "lstrip" => text.trim_start_matches(is_cut),
        _ => text.trim_end_matches(is_cut),
    }
}

fn parts(text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    let [sep, maximum] = bind(args, ["sep", "maxsplit"])?;
    let sep = sep.filter(|sep| !sep.is_none());
    let maximum = usize::try_from(whole(maximum.as_ref(), -1)?).unwrap_or(usize::MAX);
    let from_end = method == "rsplit";
    let sep = sep.as_ref().map(|sep| word(Some(sep), "")).transpose()?;
    Ok(texts(match sep {
        Some("") => return Err(wrong("empty separator")),
        Some(sep) => split(text, sep, maximum, from_end),
        None => split_blanks(text, maximum, from_end),
    }))
}

fn split<'t>(text: &'t str, sep: &str, maximum: usize, from_end: bool) -> Vec<&'t str> {
    let limit = maximum.saturating_add(1);
    if from_end {
        let mut parts: Vec<_> = text.rsplitn(limit, sep).collect();
        parts.reverse();
        return parts;
    }
    text.splitn(limit, sep).collect()
}

fn split_blanks(text: &str, maximum: usize, from_end: bool) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    if from_end {
        rest = rest.trim_end_matches(is_blank);
        while let Some(at) = rest.rfind(is_blank).filter(|_| parts.len() < maximum) {
            let (before, word) = rest.split_at(at);
            parts.push(word.trim_start_matches(is_blank));
            rest = before.trim_end_matches(is_blank);
        }
        if !rest.is_empty() {
            parts.push(rest);
        }
        parts.reverse();
        return parts;
    }
    rest = rest.trim_start_matches(is_blank);
    while let Some(at) = rest.find(is_blank).filter(|_| parts.len() < maximum) {
        let (word, after) = rest.split_at(at);
        parts.push(word);
        rest = after.trim_start_matches(is_blank);
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

fn partition(text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    let [sep] = bind(args, ["sep"])?;
    let sep = required(sep, "sep")?;
    let sep = word(Some(&sep), "")?;
    if sep.is_empty() {
        return Err(wrong("empty separator"));
    }
    let parts = if method == "partition" {
        text.split_once(sep)
            .map_or([text, "", ""], |(a, b)| [a, sep, b])
    } else {
        text.rsplit_once(sep)
            .map_or(["", "", text], |(a, b)| [a, sep, b])
    };
    Ok(Value::from(Tuple::from(parts.map(Value::from))))
}

/// Replaces a part of a text, at most so many times.
pub(super) fn replace(text: &str, old: &str, new: &str, count: i64) -> Result<String, Error> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let mut out = Bounded::default();
    let mut copied = 0;
    for (at, found) in text.match_indices(old).take(count) {
        out.write_str(text.get(copied..at).unwrap_or_default())
            .and_then(|()| out.write_str(new))
            .map_err(|_| too_long())?;
        copied = at + found.len();
    }
    out.write_str(text.get(copied..).unwrap_or_default())
        .map_err(|_| too_long())?;
    Ok(out.into_text())
}

fn join(text: &str, list: &[Value]) -> Result<Value, Error> {
    let mut out = Bounded::default();
    for (index, item) in list.iter().enumerate() {
        if index > 0 {
            out.write_str(text).map_err(|_| too_long())?;
        }
        let Some(item) = item.as_str() else {
            let detail = format!("`join` expects texts, found {}", item.kind());
            return Err(wrong(detail));
        };
        out.write_str(item).map_err(|_| too_long())?;
    }
    Ok(Value::from(out.into_text()))
}

/// The part of a text between two indexes, which count characters, and where it starts.
fn part<'t>(
    text: &'t str,
    start: Option<&Value>,
    stop: Option<&Value>,
) -> Result<(&'t str, usize), Error> {
    let given = |value: Option<&Value>| value.cloned().filter(|value| !value.is_none());
    let (start, stop) = (given(start), given(stop));
    if start.is_none() && stop.is_none() {
        return Ok((text, 0));
    }
    let length = text.chars().count();
    let start = position(whole(start.as_ref(), 0)?, length);
    let stop = position(whole(stop.as_ref(), i64::MAX)?, length);
    let offset = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
    let part = text.get(offset(start)..offset(stop.max(start)));
    Ok((part.unwrap_or_default(), start))
}

fn starts(text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    let [affix, start, stop] = bind(args, ["affix", "start", "end"])?;
    let affix = required(affix, "affix")?;
    let (text, _) = part(text, start.as_ref(), stop.as_ref())?;
    let has = |affix: &Value| {
        let affix = word(Some(affix), "")?;
        Ok(if method == "startswith" {
            text.starts_with(affix)
        } else {
            text.ends_with(affix)
        })
    };
    if affix.is_tuple() {
        for affix in items(&affix)? {
            if has(&affix)? {
                return Ok(Value::from(true));
            }
        }
        return Ok(Value::from(false));
    }
    has(&affix).map(Value::from)
}

fn find(text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    let [sub, start, stop] = bind(args, ["sub", "start", "end"])?;
    let sub = required(sub, "sub")?;
    let sub = word(Some(&sub), "")?;
    let (text, before) = part(text, start.as_ref(), stop.as_ref())?;
    if method == "count" {
        return Ok(Value::from(text.matches(sub).count()));
    }
    let at = if method.starts_with('r') {
        text.rfind(sub)
    } else {
        text.find(sub)
    };
    let at = at.and_then(|at| Some(text.get(..at)?.chars().count() + before));
    match at {
        Some(at) => Ok(Value::from(at)),
        None if method.ends_with("find") => Ok(Value::from(-1)),
        None => Err(wrong("substring not found")),
    }
}

fn justify(text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    let [width, fill] = bind(args, ["width", "fillchar"])?;
    let width = whole(Some(&required(width, "width")?), 0)?;
    let fill = word(fill.as_ref(), " ")?;
    let missing = usize::try_from(width).unwrap_or_default();
    let missing = missing.saturating_sub(text.chars().count());
    let left = match method {
        "ljust" => 0,
        "rjust" => missing,
        // Of an odd number of blanks, Python puts one more on the left if the width is odd.
        "center" => missing / 2 + (missing & usize::try_from(width).unwrap_or_default() & 1),
        _ => return zero_fill(text, missing),
    };
    let mut fill = fill.chars();
    let (Some(fill), None) = (fill.next(), fill.next()) else {
        return Err(wrong(
            "the fill character must be exactly one character long",
        ));
    };
    padded(text, left, missing - left, fill).map(Value::from)
}

fn zero_fill(text: &str, missing: usize) -> Result<Value, Error> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = text.strip_suffix(digits).unwrap_or_default();
    let zeros = padded("", missing, 0, '0')?;
    Ok(Value::from(format!("{sign}{zeros}{digits}")))
}

fn expand_tabs(text: &str, size: i64) -> Result<Value, Error> {
    let size = usize::try_from(size).unwrap_or_default();
    let mut out = Bounded::default();
    let mut column = 0;
    for c in text.chars() {
        if c == '\t' {
            let blanks = if size == 0 { 0 } else { size - column % size };
            let blanks = padded("", blanks, 0, ' ')?;
            out.write_str(&blanks).map_err(|_| too_long())?;
            column += blanks.len();
            continue;
        }
        out.write_char(c).map_err(|_| too_long())?;
        column = if c == '\n' || c == '\r' {
            0
        } else {
            column + 1
        };
    }
    Ok(Value::from(out.into_text()))
}
