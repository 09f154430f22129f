//! The map `values` of the merged Template.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::merge::options::{Options, Prefer};
use crate::merge::part::Part;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Data, Scalar, Value};

/// Brings the values of all Templates into the first one.
pub(super) fn unify(parts: &mut [Part<'_>], options: &Options, found: &mut Diagnostics) {
    let Some((first, others)) = parts.split_first_mut() else {
        return;
    };
    let mut merged = Merged {
        values: Values::of(first),
        defaults: defaults(first),
        is_changed: false,
        prefer: options.prefer,
    };
    for part in others {
        merged.add(first, part, found);
    }
    if merged.is_changed
        && let Some(values) = first.value.mapping_at("values")
    {
        values.data = Data::Mapping(merged.values.entries.into_iter().flatten().collect());
    }
}

/// The value of a parameter as it is compared: the text of a scalar as it is written, empty if there
/// is none.
pub(super) fn compared(part: &Part<'_>, value: Option<&Value<'_>>) -> Value<'static> {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return Value::string("");
    };
    match &value.data {
        Data::Scalar(Scalar::String(text)) => Value::string(text.clone().into_owned()),
        Data::Scalar(_) => {
            let node = value.origin.map(|node| part.root.document().cursor(node));
            let text = node.and_then(|node| node.text().ok().flatten());
            Value::string(text.map_or_else(|| value.to_json(), Cow::into_owned))
        }
        Data::Sequence(_) | Data::Mapping(_) => value.clone().into_owned().without_origin(),
    }
}

/// The defaults of the parameters of a Template, by their new names.
fn defaults(part: &Part<'_>) -> BTreeMap<String, Value<'static>> {
    let items = part.items("parameters");
    let parameters = part.template.parameters().iter();
    let defaults = parameters.map(|parameter| {
        let item = items.get(parameter.index);
        let default = compared(part, item.and_then(|item| item.get("value")));
        (part.renamed(&parameter.name).to_owned(), default)
    });
    defaults.collect()
}

/// The entries of a map `values` in their order, found by their names.
#[derive(Default)]
struct Values<'d> {
    /// None where one was taken out.
    entries: Vec<Option<(Cow<'d, str>, Value<'d>)>>,
    by_name: BTreeMap<String, usize>,
}

impl<'d> Values<'d> {
    fn of(part: &Part<'d>) -> Self {
        let mut values = Self::default();
        let entries = part.value.get("values").and_then(Value::entries);
        for (key, value) in entries.into_iter().flatten() {
            values.add(key.clone(), value.clone());
        }
        values
    }

    fn get(&self, name: &str) -> Option<&Value<'d>> {
        let entry = self.entries.get(*self.by_name.get(name)?)?.as_ref();
        entry.map(|(_, value)| value)
    }

    fn add(&mut self, name: Cow<'d, str>, value: Value<'d>) {
        self.by_name.insert(name.clone().into_owned(), self.entries.len());
        self.entries.push(Some((name, value)));
    }

    fn remove(&mut self, name: &str) {
        let position = self.by_name.remove(name);
        if let Some(entry) = position.and_then(|position| self.entries.get_mut(position)) {
            *entry = None;
        }
    }
}

/// The values and defaults of the Templates so far.
struct Merged<'d> {
    values: Values<'d>,
    defaults: BTreeMap<String, Value<'static>>,
    is_changed: bool,
    prefer: Option<Prefer>,
}

impl<'d> Merged<'d> {
    /// Adds the values of one Template.
    fn add(&mut self, first: &Part<'d>, part: &Part<'d>, found: &mut Diagnostics) {
        let values = Values::of(part);
        let defaults = defaults(part);
        for key in self.keys(&values, &defaults) {
            let (ours, theirs) = (self.values.get(&key), values.get(&key));
            let (value, other) = match (ours, theirs) {
                (Some(_), Some(_)) => (compared(first, ours), Some(compared(part, theirs))),
                (Some(_), None) => (compared(first, ours), defaults.get(&key).cloned()),
                (None, _) => (compared(part, theirs), self.defaults.get(&key).cloned()),
            };
            let differs = other.is_some_and(|other| other != value);
            match (differs, self.prefer) {
                (false, _) if ours.is_some() => {}
                (true, Some(Prefer::First)) => {}
                (true, None) => found.push(conflict(&key, first, ours, part, theirs)),
                (false, _) | (true, Some(Prefer::Last)) => {
                    self.values.remove(&key);
                    self.is_changed = true;
                    if let Some(value) = theirs {
                        self.values.add(key.into(), compared(part, Some(value)));
                    }
                }
            }
        }
        for (name, default) in defaults {
            self.defaults.entry(name).or_insert(default);
        }
    }

    /// The names that have a value, and that the other Template knows: those of the values so far
    /// in their order, then the others.
    fn keys(
        &self,
        values: &Values<'_>,
        defaults: &BTreeMap<String, Value<'static>>,
    ) -> Vec<String> {
        let theirs = values.entries.iter().flatten().map(|(name, _)| name.as_ref());
        let (known, new): (BTreeSet<&str>, Vec<&str>) = {
            let known = |name: &&str| self.values.by_name.contains_key(*name);
            let new = theirs.clone().filter(|name| !known(name)).collect();
            let both = theirs.chain(defaults.keys().map(String::as_str));
            (both.filter(known).collect(), new)
        };
        let mut known: Vec<&str> = known.into_iter().collect();
        known.sort_by_key(|name| self.values.by_name.get(*name));
        known.into_iter().chain(new).map(str::to_owned).collect()
    }
}

/// Two values for one parameter, of which one may be a default.
fn conflict(
    name: &str,
    first: &Part<'_>,
    ours: Option<&Value<'_>>,
    part: &Part<'_>,
    theirs: Option<&Value<'_>>,
) -> Diagnostic {
    let (first_label, label) = (&first.label, &part.label);
    let diagnostic = match (ours, theirs) {
        (Some(_), Some(_)) => part
            .error(
                format!(
                    "`values` sets `{name}` to different values in `{first_label}` and `{label}`"
                ),
                theirs,
            )
            .related(first.place(ours), "the other value"),
        (None, _) => part.error(
            format!(
                "`values` of `{label}` sets `{name}`, which has another value in `{first_label}`"
            ),
            theirs,
        ),
        (Some(_), None) => first.error(
            format!(
                "`values` of `{first_label}` sets `{name}`, which has another value in `{label}`"
            ),
            ours,
        ),
    };
    diagnostic.field(format!("values.{name}")).hint(PREFER_HINT).hint(part.prefix_hint())
}

/// How to choose between two values.
pub(super) const PREFER_HINT: &str = "to use the value of the first or of the last Template, add `--prefer first` or `--prefer last`";
