//! Filters, tests, functions, methods and the formatter, where minijinja differs from Jinja2.

use std::borrow::Cow;

use minijinja::value::{Kwargs, Rest, ValueKind, ValueOrKwargs, from_args};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, Value};
use minijinja_contrib::{globals, pycompat};

use super::values::{self, List, MAX_TEXT, NotGiven, check, is_undefined, too_long, wrong};
use crate::repr;

/// Adds what differs from minijinja, and removes functions that let values contain themselves.
pub(super) fn add_to(environment: &mut Environment<'_>) {
    environment.set_formatter(print);
    environment.set_unknown_method_callback(method);
    // Both would let values contain themselves.
    environment.remove_global("namespace");
    environment.remove_global("debug");
    environment.add_function("joiner", |separator: Option<&str>| {
        globals::joiner(separator.map(Value::from))
    });
    environment.add_test("defined", |value: &Value| !is_undefined(value));
    environment.add_test("undefined", is_undefined);
    environment
        .add_filter("_c", |state: &State<'_, '_>, value: Value| values::checked(state, value));
    environment.add_filter("_i", |state: &State<'_, '_>, value: Value| {
        let bytes = value.as_str().map_or(0, str::len);
        state.consume_fuel(u64::try_from(bytes / 64).unwrap_or(u64::MAX))?;
        Ok::<_, Error>(value)
    });
    environment.add_filter("_format", format);
    let native = Value::from_function(minijinja::filters::format);
    environment.add_filter(
        "format",
        move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
            let args = values_of(args);
            narrow(args.first().and_then(Value::as_str).unwrap_or_default())?;
            native.call(state, &args)
        },
    );
    environment.add_filter("default", default);
    environment.add_filter("d", default);
    environment.add_filter("indent", indent);
    let native = Value::from_function(minijinja::filters::tojson);
    environment.add_filter(
        "tojson",
        move |state: &mut State<'_, '_>, value: Value, indent: Option<Value>, kwargs: Kwargs| {
            let indent = indent.or(kwargs.get("indent")?);
            kwargs.assert_all_used()?;
            to_json(state, &native, value, indent)
        },
    );
    environment.add_function("range", range);
    // The engine changes the sign of a step.
    environment.add_filter("_s", |step: Value| match step.as_i64() {
        Some(i64::MIN) => Value::from(-i64::MAX),
        _ => step,
    });
    let int = number(Value::from_function(minijinja::filters::int), Value::from(0));
    environment.add_filter("int", int);
    let float = Value::from_function(minijinja::filters::float);
    environment.add_filter("float", number(float, Value::from(0.0)));
}

/// Prints a value as Python does. A variable that was not given is an error.
fn print(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    if value.is_undefined() {
        return Ok(());
    }
    if *state.auto_escape() != AutoEscape::None && !value.is_safe() {
        check(state, value)?;
        return minijinja::escape_formatter(out, state, value);
    }
    let text = match value.as_str() {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(text(state, value)?),
    };
    if let Some(error) = NotGiven::found_in(&text) {
        return Err(error);
    }
    out.write_str(&text).map_err(|_| too_long())
}

/// The text of a value that is not a string.
fn text(state: &State<'_, '_>, value: &Value) -> Result<String, Error> {
    check(state, value)?;
    match f64::try_from(value.clone()) {
        Ok(number) if value.kind() == ValueKind::Number && !value.is_integer() => {
            Ok(if number.is_finite() {
                repr::float(number)
            } else {
                value.to_string().to_lowercase()
            })
        }
        _ => Ok(value.to_string()),
    }
}

/// Calls a method that values have in Python 2 or 3.
fn method(
    state: &mut State<'_, '_>,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    match (value.kind(), method) {
        (ValueKind::Seq | ValueKind::Iterable, _) => check(state, value)?,
        (ValueKind::String, "format") => {
            short(value.as_str().unwrap_or_default(), args)?;
        }
        (ValueKind::String, "rsplit") => return rsplit(value, args),
        (ValueKind::Map, "has_key") => {
            let (key,): (&Value,) = from_args(args)?;
            return Ok(Value::from(!is_undefined(&value.get_item(key)?)));
        }
        _ => {}
    }
    let method = match method {
        "iteritems" | "iterkeys" | "itervalues" => method.trim_start_matches("iter"),
        _ => method,
    };
    pycompat::unknown_method_callback(state, value, method, args)
}

fn rsplit(value: &Value, args: &[Value]) -> Result<Value, Error> {
    let (separator, count): (Option<&str>, Option<usize>) = from_args(args)?;
    let (Some(text), Some(separator)) = (value.as_str(), separator) else {
        return Err(Error::from(ErrorKind::UnknownMethod));
    };
    let count = count.map_or(usize::MAX, |count| count.saturating_add(1));
    let mut parts: Vec<Value> = text.rsplitn(count, separator).map(Value::from).collect();
    parts.reverse();
    Ok(List::of(parts))
}

/// Refuses a text of `format` with very wide fields.
fn narrow(text: &str) -> Result<(), Error> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    let is_wide = numbers.any(|digits| digits.len() > 5);
    (!is_wide).then_some(()).ok_or_else(too_long)
}

/// Refuses a text of `format` whose fields would be very long together.
fn short(text: &str, args: &[Value]) -> Result<(), Error> {
    narrow(text)?;
    let longest = args.iter().map(|arg| arg.to_string().len()).max();
    let all = text.matches('{').count() * longest.unwrap_or_default();
    (all <= MAX_TEXT).then_some(()).ok_or_else(too_long)
}

/// The arguments of a call, those by name in the last one.
fn values_of(args: Rest<ValueOrKwargs>) -> Vec<Value> {
    args.0.into_iter().map(ValueOrKwargs::into_value).collect()
}

/// `text % value`: a tuple has an argument for each field, a mapping one for each name.
fn format(state: &mut State<'_, '_>, text: Value, value: Value) -> Result<Value, Error> {
    let mut args = vec![text];
    if value.is_tuple() {
        args.extend(value.try_iter()?);
    } else if value.kind() == ValueKind::Map {
        let mut named = Vec::new();
        for key in value.try_iter()? {
            named.push((key.to_string(), value.get_item(&key)?));
        }
        args.push(Value::from(Kwargs::from_iter(named)));
    } else {
        args.push(value);
    }
    state.apply_filter("format", &args)
}

#[expect(clippy::needless_pass_by_value, reason = "the engine passes arguments by value")]
fn default(
    value: Value,
    other: Option<Value>,
    boolean: Option<Value>,
    kwargs: Kwargs,
) -> Result<Value, Error> {
    let other = other.or(kwargs.get("default_value")?);
    let boolean = boolean.or(kwargs.get("boolean")?);
    kwargs.assert_all_used()?;
    let is_missing =
        is_undefined(&value) || boolean.is_some_and(|flag| flag.is_true()) && !value.is_true();
    if is_missing {
        return Ok(other.unwrap_or_else(|| Value::from("")));
    }
    Ok(value)
}

/// Indents all lines but the first. A line break at the end stays.
#[expect(clippy::needless_pass_by_value, reason = "the engine passes arguments by value")]
fn indent(
    text: Cow<'_, str>,
    width: Option<Value>,
    first: Option<bool>,
    blank: Option<bool>,
    kwargs: Kwargs,
) -> Result<String, Error> {
    let width = width.or(kwargs.get("width")?).unwrap_or_else(|| Value::from(4));
    let first = first.or(kwargs.get("first")?).or(kwargs.get("indentfirst")?);
    let blank = blank.or(kwargs.get("blank")?).unwrap_or_default();
    kwargs.assert_all_used()?;
    let length = width.as_usize().or_else(|| width.as_str().map(str::len));
    let length = length.ok_or_else(|| wrong("the width of `indent` is a number or a text"))?;
    let lines = text.split('\n').count();
    if length.saturating_mul(lines).saturating_add(text.len()) > MAX_TEXT {
        return Err(too_long());
    }
    let indent = width.as_str().map_or_else(|| " ".repeat(length), str::to_owned);
    let mut out = String::with_capacity(text.len() + length * lines);
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        let is_indented =
            if index == 0 { first.unwrap_or_default() } else { blank || !line.is_empty() };
        if is_indented {
            out.push_str(&indent);
        }
        out.push_str(line);
    }
    Ok(out)
}

/// JSON as the filter of the engine writes it, which does not bound its indentation.
fn to_json(
    state: &mut State<'_, '_>,
    native: &Value,
    value: Value,
    indent: Option<Value>,
) -> Result<Value, Error> {
    let compact = native.call(state, std::slice::from_ref(&value))?;
    let text = compact.as_str().unwrap_or_default();
    state.consume_fuel(u64::try_from(text.len() / 64).unwrap_or(u64::MAX))?;
    let Some(indent) = indent else {
        return Ok(compact);
    };
    let width = indent.as_usize().unwrap_or_default();
    if levels(text).saturating_mul(width) > MAX_TEXT {
        return Err(too_long());
    }
    native.call(state, &[value, indent])
}

/// The sum of the levels of all lines of JSON, if it is indented.
fn levels(json: &str) -> usize {
    let (mut level, mut levels) = (0_usize, 0_usize);
    let mut is_text = false;
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => _ = bytes.next(),
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'[' | b'{' => {
                level += 1;
                levels += level;
            }
            b']' | b'}' => {
                level = level.saturating_sub(1);
                levels += level;
            }
            b',' => levels += level,
            _ => {}
        }
    }
    levels
}

/// The function of the engine, which adds and subtracts its numbers.
fn range(first: isize, end: Option<isize>, step: Option<isize>) -> Result<Value, Error> {
    const LARGEST: usize = usize::MAX / 8;
    let mut numbers = [Some(first), end, step].into_iter().flatten();
    if numbers.any(|number| number.unsigned_abs() > LARGEST) {
        return Err(wrong("a number of `range` is too large"));
    }
    minijinja::functions::range(first, end, step)
}

/// A conversion to a number. Spaces around the digits are ignored, and the result is zero if there
/// is none.
fn number(
    native: Value,
    zero: Value,
) -> impl Fn(&mut State<'_, '_>, Rest<ValueOrKwargs>) -> Result<Value, Error> + Send + Sync + 'static
{
    move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
        let mut args = values_of(args);
        if let Some(value) = args.first_mut() {
            if is_undefined(value) {
                // As an attribute of it, it is an error that names it.
                return value.get_attr("number");
            }
            if let Some(text) = value.as_str() {
                *value = Value::from(text.trim());
            }
        }
        Ok(native.call(state, &args).unwrap_or_else(|_| zero.clone()))
    }
}
