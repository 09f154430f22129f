//! `docs/limits.md` gives the values that the constants in the sources have.

use std::fs;
use std::path::PathBuf;

use libtest_mimic::{Failed, Trial};

use crate::architecture::{crates, list};

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::test("limits/values_are_those_of_the_sources", check)]
}

fn check() -> Result<(), Failed> {
    let mut sources = Vec::new();
    for folder in crates()? {
        list(&crate::root().join(folder), &mut sources)?;
    }
    let document = fs::read_to_string(crate::root().join("docs/limits.md"))?;
    let mut rows = document.lines().filter(|line| line.starts_with("| `"));
    if rows.clone().next().is_none() {
        return Err("the document has no rows".into());
    }
    rows.try_for_each(|row| {
        compare(row, &sources).map_err(|problem| format!("{problem}: {row}").into())
    })
}

/// Compares a row with the constant that it names.
fn compare(row: &str, sources: &[PathBuf]) -> Result<(), String> {
    let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
    let &[_, file, constant, value, _, _] = cells.as_slice() else {
        return Err("expected four columns".to_owned());
    };
    let mut files = sources.iter().filter(|source| source.ends_with(file));
    let (Some(file), None) = (files.next(), files.next()) else {
        return Err("expected one file of this name".to_owned());
    };
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let Some(expression) = expression(&text, constant) else {
        return Err("the file has no such constant".to_owned());
    };
    if evaluate(expression).is_none_or(|found| written(value) != Some(found)) {
        return Err(format!("the source has `{expression}`"));
    }
    Ok(())
}

/// The expression of a constant in Rust or Python.
fn expression<'t>(text: &'t str, constant: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let (left, right) = line.split_once(" = ")?;
        let declared = left.split_once("const ").map_or(left, |(_, rest)| rest);
        let name = declared.split(':').next()?;
        (name == constant).then(|| right.trim_end_matches(';'))
    })
}

/// The value of an expression; of a `Duration`, in milliseconds.
fn evaluate(expression: &str) -> Option<u64> {
    type Operator = (&'static str, fn(u64, u64) -> Option<u64>);
    // The first binds least.
    let operators: [Operator; 3] = [
        (" << ", |left, right| 2_u64.checked_pow(right.try_into().ok()?)?.checked_mul(left)),
        (" - ", u64::checked_sub),
        (" * ", u64::checked_mul),
    ];
    for (sign, apply) in operators {
        if let Some((left, right)) = expression.rsplit_once(sign) {
            return apply(evaluate(left)?, evaluate(right)?);
        }
    }
    for (function, unit) in [("from_millis", 1), ("from_secs", 1_000), ("from_mins", 60_000)] {
        let call = expression.strip_prefix("Duration::");
        if let Some(argument) = call.and_then(|call| call.strip_prefix(function)) {
            let argument = argument.strip_prefix('(')?.strip_suffix(')')?;
            return evaluate(argument)?.checked_mul(unit);
        }
    }
    match expression.trim_end_matches(" as usize") {
        "u32::MAX" => Some(u32::MAX.into()),
        number => number.replace('_', "").parse().ok(),
    }
}

/// The value of `10,000`, `64 MiB` or `30 s`; a time is in milliseconds.
fn written(value: &str) -> Option<u64> {
    let (number, unit) = value.split_once(' ').unwrap_or((value, ""));
    let unit = match unit {
        "" | "ms" => 1,
        "s" => 1_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.replace(',', "").parse::<u64>().ok()?.checked_mul(unit)
}
