//! Filters of texts.

use std::fmt::Write;

use minijinja::value::ValueKind;
use minijinja::{Error, State, Value};

use super::common::{Filter, alone};
use crate::jinja::arguments::{bind, flag, items, required, split, whole, word};
use crate::jinja::case::title;
use crate::jinja::chars;
use crate::jinja::print::{self, Bounded, too_long};
use crate::jinja::wrong::{named, wrong};
use crate::jinja::{case, format, methods, operators, texts};

pub(super) const FILTERS: &[(&str, Filter)] = &[
    ("string", |_, args| text(&alone(args)?).map(Value::from)),
    ("upper", |_, args| {
        Ok(Value::from(text(&alone(args)?)?.to_uppercase()))
    }),
    ("lower", |_, args| {
        Ok(Value::from(text(&alone(args)?)?.to_lowercase()))
    }),
    ("capitalize", |_, args| {
        Ok(Value::from(case::capitalize(&text(&alone(args)?)?)))
    }),
    ("title", |_, args| {
        Ok(Value::from(title(&text(&alone(args)?)?, is_in_word)))
    }),
    ("wordcount", |_, args| {
        Ok(Value::from(words(&text(&alone(args)?)?)))
    }),
    ("trim", |_, args| {
        texts::method(&text(&value(args)?)?, "strip", rest(args))
    }),
    ("center", center),
    ("replace", replace),
    ("truncate", truncate),
    ("indent", indent),
    ("format", formatted),
    ("escape", |_, args| escape(&alone(args)?)),
    ("e", |_, args| escape(&alone(args)?)),
    ("forceescape", |_, args| {
        let text = text(&alone(args)?)?;
        Ok(Value::from_safe_string(operators::escaped(&text)))
    }),
    ("safe", |_, args| {
        Ok(Value::from_safe_string(text(&alone(args)?)?))
    }),
    ("striptags", |_, args| striptags(&text(&alone(args)?)?)),
    ("urlencode", |_, args| urlencode(&alone(args)?)),
    ("xmlattr", xmlattr),
];

fn text(value: &Value) -> Result<String, Error> {
    print::text(value)
}

/// The value that a filter is applied to.
fn value(args: &[Value]) -> Result<Value, Error> {
    required(args.first().cloned(), "value")
}

/// The arguments of a filter.
fn rest(args: &[Value]) -> &[Value] {
    args.get(1..).unwrap_or_default()
}

/// Whether the filter `title` takes a character for part of a word.
fn is_in_word(c: char) -> bool {
    !(chars::is_blank(c) || "-({[<".contains(c))
}

fn words(text: &str) -> usize {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .count()
}

fn center(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let [value, width] = bind(args, ["value", "width"])?;
    let width = width.unwrap_or_else(|| Value::from(80));
    texts::method(&text(&required(value, "value")?)?, "center", &[width])
}

fn replace(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let [value, old, new, count] = bind(args, ["s", "old", "new", "count"])?;
    let (old, new) = (required(old, "old")?, required(new, "new")?);
    let count = count.filter(|count| !count.is_none());
    let count = whole(count.as_ref(), -1)?;
    let value = text(&required(value, "s")?)?;
    texts::replace(&value, &text(&old)?, &text(&new)?, count).map(Value::from)
}

fn truncate(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let names = ["s", "length", "killwords", "end", "leeway"];
    let [value, length, killwords, end, leeway] = bind(args, names)?;
    let value = required(value, "s")?;
    let Some(text) = value.as_str() else {
        return Err(wrong(format!("{} cannot be truncated", named(&value))));
    };
    let given = |value: Option<Value>| value.filter(|value| !value.is_none());
    let (length, leeway) = (
        whole(length.as_ref(), 255)?,
        whole(given(leeway).as_ref(), 5)?,
    );
    let end = word(end.as_ref(), "...")?;
    let kept = length - chars::signed(end.chars().count());
    if kept < 0 || leeway < 0 {
        return Err(wrong("the length of `truncate` is smaller than its end"));
    }
    if chars::signed(text.chars().count()) <= length.saturating_add(leeway) {
        return Ok(value);
    }
    let kept: String = text
        .chars()
        .take(usize::try_from(kept).unwrap_or(0))
        .collect();
    let kept = match kept.rsplit_once(' ') {
        Some((before, _)) if !flag(killwords.as_ref()) => before,
        _ => &kept,
    };
    Ok(Value::from(format!("{kept}{end}")))
}

fn indent(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let names = ["s", "width", "first", "blank", "indentfirst"];
    let [value, width, first, blank, old] = bind(args, names)?;
    let value = required(value, "s")?;
    let text = value
        .as_str()
        .ok_or_else(|| wrong(format!("{} cannot be indented", named(&value))))?;
    let blanks = if let Some(blanks) = width.as_ref().and_then(Value::as_str) {
        blanks.to_owned()
    } else {
        let width = usize::try_from(whole(width.as_ref(), 4)?).unwrap_or(0);
        chars::padded("", width, 0, ' ')?
    };
    let all = flag(blank.as_ref());
    let mut out = Bounded::default();
    if flag(first.as_ref()) || flag(old.as_ref()) {
        out.write_str(&blanks).map_err(|_| too_long())?;
    }
    // A line break at the end is followed by an empty line.
    let text = format!("{text}\n");
    for (index, line) in chars::lines(&text, false).into_iter().enumerate() {
        if index > 0 {
            out.write_str("\n").map_err(|_| too_long())?;
            if all || !line.is_empty() {
                out.write_str(&blanks).map_err(|_| too_long())?;
            }
        }
        out.write_str(line).map_err(|_| too_long())?;
    }
    Ok(Value::from(out.into_text()))
}

fn formatted(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let template = text(&value(args)?)?;
    let (positional, named) = split(rest(args))?;
    let values = match named {
        Some(_) if !positional.is_empty() => {
            return Err(wrong(
                "`format` has values by position or by name, not both",
            ));
        }
        Some(_) => crate::jinja::containers::Dict::of(methods::pairs(rest(args))?)?,
        None => Value::from(minijinja::value::Tuple::from(positional)),
    };
    format::percent(&template, &values).map(Value::from)
}

fn escape(value: &Value) -> Result<Value, Error> {
    if value.is_safe() {
        return Ok(value.clone());
    }
    Ok(Value::from_safe_string(operators::escaped(&text(value)?)))
}

fn striptags(text: &str) -> Result<Value, Error> {
    let mut out = Bounded::default();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        let close = if tag.starts_with("<!--") { "-->" } else { ">" };
        let Some(end) = tag.find(close) else {
            break;
        };
        out.write_str(before).map_err(|_| too_long())?;
        rest = tag.get(end + close.len()..).unwrap_or_default();
    }
    out.write_str(rest).map_err(|_| too_long())?;
    let plain = out.into_text();
    let words: Vec<&str> = plain
        .split(chars::is_blank)
        .filter(|word| !word.is_empty())
        .collect();
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    let plain = entities
        .iter()
        .fold(words.join(" "), |text, (entity, plain)| {
            text.replace(entity, plain)
        });
    Ok(Value::from(plain))
}

/// A byte in two digits.
fn hex(byte: u8) -> [char; 2] {
    [byte >> 4, byte & 15].map(|digit| {
        let digit = char::from_digit(u32::from(digit), 16).unwrap_or('0');
        digit.to_ascii_uppercase()
    })
}

fn percent_encoded(text: &str, kept: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let c = char::from(byte);
        if c.is_ascii_alphanumeric() || "_.-~".contains(c) || byte.is_ascii() && kept.contains(c) {
            out.push(c);
        } else {
            out.push('%');
            out.extend(hex(byte));
        }
    }
    out
}

fn urlencode(value: &Value) -> Result<Value, Error> {
    let is_list = value.as_str().is_none()
        && matches!(
            value.kind(),
            ValueKind::Map | ValueKind::Seq | ValueKind::Iterable
        );
    if !is_list {
        return Ok(Value::from(percent_encoded(&text(value)?, "/")));
    }
    let part =
        |value: &Value| Ok::<_, Error>(percent_encoded(&text(value)?, "").replace("%20", "+"));
    let mut parts = Vec::new();
    for (key, value) in methods::pairs(std::slice::from_ref(value))? {
        parts.push(format!("{}={}", part(&key)?, part(&value)?));
    }
    Ok(Value::from(parts.join("&")))
}

fn xmlattr(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let [value, autospace] = bind(args, ["d", "autospace"])?;
    let value = required(value, "d")?;
    let mut out = String::new();
    for key in items(&value)? {
        let item = value.get_item(&key)?;
        if item.is_none() || item.is_undefined() {
            continue;
        }
        let name = text(&key)?;
        if name.contains(|c: char| chars::is_blank(c) || "/>=".contains(c)) {
            return Err(wrong(format!("invalid name of an attribute: {name}")));
        }
        let (name, item) = (operators::escaped(&name), operators::escaped(&text(&item)?));
        let space = if out.is_empty() { "" } else { " " };
        out.extend([space, &name, "=\"", &item, "\""]);
    }
    if !out.is_empty() && autospace.is_none_or(|autospace| autospace.is_true()) {
        out.insert(0, ' ');
    }
    Ok(Value::from_safe_string(out))
}
