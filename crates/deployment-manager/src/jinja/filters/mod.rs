//! The filters of Jinja2.

mod chosen;
mod common;
mod lists;
mod numbers;
mod pretty;
mod serialized;
mod sorting;
mod text;
mod wrapped;

use minijinja::value::{Rest, ValueOrKwargs};
use minijinja::{Environment, Error, State, Value};

use super::arguments::{bind, flag, required, values};
use common::Filter;

use super::containers::{given, is_undefined, weight};
use super::work;

/// Adds the filters.
pub(super) fn add_to(environment: &mut Environment<'_>) {
    let tables: [&[(&'static str, Filter)]; 8] = [
        &[("default", default), ("d", default)],
        chosen::FILTERS,
        lists::FILTERS,
        numbers::FILTERS,
        pretty::FILTERS,
        serialized::FILTERS,
        sorting::FILTERS,
        text::FILTERS,
    ];
    let all = tables.into_iter().flatten().chain(wrapped::FILTERS);
    for &(name, filter) in all {
        environment.add_filter(
            name,
            move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
                let args = values(args);
                let items = args.first().and_then(Value::len).unwrap_or_default();
                let parts: usize = args.iter().map(weight).sum();
                work::charge(state, items / 2 + parts / 8)?;
                if !accepts_missing(name) {
                    args.iter().try_for_each(given)?;
                }
                filter(state, &args)
            },
        );
    }
}

/// Whether a filter takes variables of `env` that were not given.
fn accepts_missing(name: &str) -> bool {
    name == "default" || name == "d"
}

/// The names of all filters.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    [
        chosen::FILTERS,
        lists::FILTERS,
        numbers::FILTERS,
        pretty::FILTERS,
        serialized::FILTERS,
        sorting::FILTERS,
        text::FILTERS,
        wrapped::FILTERS,
    ]
    .into_iter()
    .flatten()
    .map(|(name, _)| *name)
    .chain(["default", "d"])
}

fn default(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let [value, default, boolean] = bind(args, ["value", "default_value", "boolean"])?;
    let value = required(value, "value")?;
    if is_undefined(&value) || flag(boolean.as_ref()) && !value.is_true() {
        return Ok(default.unwrap_or_else(|| Value::from("")));
    }
    Ok(value)
}
