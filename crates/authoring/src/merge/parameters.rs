//! The parameters of the merged Template: one declaration for each name.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::merge::options::{Options, Prefer};
use crate::merge::part::Part;
use crate::merge::values::{PREFER_HINT, compared};
use krm_template_engine::Parameter;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Data, Scalar, Value};

/// Removes declarations that an earlier Template has too, and puts parameters into groups.
pub(super) fn unify(parts: &mut [Part<'_>], options: &Options, found: &mut Diagnostics) {
    let mut first: BTreeMap<String, Spot> = BTreeMap::new();
    let mut gone: Vec<Spot> = Vec::new();
    for part in 0..parts.len() {
        let count = parts.get(part).map_or(0, |part| part.template.parameters().len());
        for parameter in 0..count {
            let spot = Spot { part, parameter };
            let Some(name) = spot.name(parts) else {
                continue;
            };
            match first.get(&name).copied() {
                None => {
                    first.insert(name, spot);
                }
                Some(earlier) if earlier.part < part => {
                    declare_once(parts, earlier, spot, options, found);
                    gone.push(spot);
                }
                // Twice in one Template: reading has reported that.
                Some(_) => {}
            }
        }
    }
    if parts.len() > 1 {
        parts.iter_mut().for_each(group);
    }
    remove(parts, &gone);
}

/// A parameter of one of the Templates.
#[derive(Clone, Copy)]
struct Spot {
    part: usize,
    parameter: usize,
}

impl Spot {
    fn name(self, parts: &[Part<'_>]) -> Option<String> {
        let part = parts.get(self.part)?;
        let parameter = part.template.parameters().get(self.parameter)?;
        Some(part.renamed(&parameter.name).to_owned())
    }
}

/// Takes parameters out of the lists of their Templates.
fn remove(parts: &mut [Part<'_>], gone: &[Spot]) {
    let mut by_part: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for spot in gone {
        by_part.entry(spot.part).or_default().insert(spot.parameter);
    }
    for (part, gone) in by_part {
        let Some(part) = parts.get_mut(part) else {
            continue;
        };
        let parameters = part.template.parameters().iter().enumerate();
        let gone = parameters.filter(|(position, _)| gone.contains(position));
        let gone: BTreeSet<usize> = gone.map(|(_, parameter)| parameter.index).collect();
        let mut position = 0..;
        if let Some(items) = part.items_mut("parameters") {
            items.retain(|_| !position.next().is_some_and(|at| gone.contains(&at)));
        }
    }
}

/// Compares two declarations of one name; the first of them stays.
fn declare_once(
    parts: &mut [Part<'_>],
    first: Spot,
    second: Spot,
    options: &Options,
    found: &mut Diagnostics,
) {
    let Some(pair) = Pair::of(parts, first, second) else {
        return;
    };
    let is_shared = options.shared.contains(&pair.name);
    let (mut problems, texts) = pair.differences();
    let stricter: Vec<&'static str> = if is_shared {
        let stricter = problems.iter().copied().filter(|field| STRICTER.contains(field));
        let stricter = stricter.collect();
        problems.retain(|field| !STRICTER.contains(field));
        stricter
    } else {
        Vec::new()
    };
    let value = pair.second_value();
    let value_differs = pair.first_value() != value;
    if !problems.is_empty() || (value_differs && options.prefer.is_none()) {
        found.push(pair.conflict(&problems, value_differs && options.prefer.is_none()));
        return;
    }
    if !texts.is_empty() && !is_shared {
        found.push(pair.warning(&texts));
    }
    let index = pair.first.parameter.index;
    let kept = parts.get_mut(first.part).and_then(|part| part.items_mut("parameters"));
    let Some(kept) = kept.and_then(|items| items.get_mut(index)) else {
        return;
    };
    for field in stricter {
        kept.insert(Cow::Borrowed(field), Value::from(true));
    }
    if value_differs && options.prefer == Some(Prefer::Last) {
        set_value(kept, value);
    }
}

/// Gives a parameter another default; the empty text removes it.
fn set_value(parameter: &mut Value<'_>, value: Value<'static>) {
    if value.as_str() == Some("") {
        parameter.remove("value");
    } else {
        parameter.insert(Cow::Borrowed("value"), value);
    }
}

/// Fields of which `--share` takes the stricter.
const STRICTER: &[&str] = &["required", "secret"];

/// A declaration, with its Template.
struct Declaration<'p, 'd> {
    part: &'p Part<'d>,
    parameter: &'p Parameter,
    value: &'p Value<'d>,
}

impl<'p, 'd> Declaration<'p, 'd> {
    fn of(parts: &'p [Part<'d>], spot: Spot) -> Option<Self> {
        let part = parts.get(spot.part)?;
        let parameter = part.template.parameters().get(spot.parameter)?;
        let value = part.items("parameters").get(parameter.index)?;
        Some(Self { part, parameter, value })
    }
}

/// Two declarations of one name.
struct Pair<'p, 'd> {
    name: String,
    first: Declaration<'p, 'd>,
    second: Declaration<'p, 'd>,
}

impl<'p, 'd> Pair<'p, 'd> {
    fn of(parts: &'p [Part<'d>], first: Spot, second: Spot) -> Option<Self> {
        Some(Self {
            name: first.name(parts)?,
            first: Declaration::of(parts, first)?,
            second: Declaration::of(parts, second)?,
        })
    }

    fn first_value(&self) -> Value<'static> {
        compared(self.first.part, self.first.value.get("value"))
    }

    fn second_value(&self) -> Value<'static> {
        compared(self.second.part, self.second.value.get("value"))
    }

    /// The fields besides `value` that differ: those that change the output, and those that people
    /// read.
    fn differences(&self) -> (Vec<&'static str>, Vec<&'static str>) {
        let (a, b) = (self.first.parameter, self.second.parameter);
        // An earlier `--share` may have set it.
        let flag = |field: &str| self.first.value.get(field).is_some_and(is_true);
        let differing = |fields: &[(&'static str, bool)]| {
            let fields = fields.iter().filter(|(_, differs)| *differs);
            fields.map(|(field, _)| *field).collect()
        };
        let problems = differing(&[
            ("type", a.kind != b.kind),
            ("required", flag("required") != b.required),
            ("omitEmpty", a.omit_empty != b.omit_empty),
            ("secret", flag("secret") != b.secret),
            ("generate", a.from.is_some() != b.from.is_some()),
            ("from", a.from.is_some() && b.from.is_some() && a.expression() != b.expression()),
            ("enum", a.allowed != b.allowed),
            ("pattern", a.pattern != b.pattern),
            ("minimum", a.minimum != b.minimum),
            ("maximum", a.maximum != b.maximum),
            ("minLength", a.min_length != b.min_length),
            ("maxLength", a.max_length != b.max_length),
        ]);
        let texts = differing(&[
            ("displayName", a.display_name() != b.display_name()),
            ("description", a.description() != b.description()),
            ("group", a.group != b.group),
        ]);
        (problems, texts)
    }

    fn conflict(&self, problems: &[&str], value_differs: bool) -> Diagnostic {
        let (first, second) = (self.first.part, self.second.part);
        let (name, old) = (&self.name, &self.second.parameter.name);
        let mut fields = problems.to_vec();
        if value_differs && !problems.is_empty() {
            fields.push("value");
        }
        let message = if problems.is_empty() {
            self.different_values()
        } else {
            let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
            format!(
                "parameter `{name}` differs between `{}` and `{}` in {}",
                first.label,
                second.label,
                fields.join(", ")
            )
        };
        let place = first.place(self.first.value.get("name"));
        let mut diagnostic = second
            .error(message, self.second.value.get("name"))
            .related(place, format!("declared here in `{}`", first.label))
            .field(format!("parameters[{}]", self.second.parameter.index));
        let can_share = problems.iter().all(|field| STRICTER.contains(field));
        if problems.is_empty() {
            diagnostic = diagnostic.hint(PREFER_HINT);
        } else if can_share && value_differs {
            diagnostic = diagnostic.hint(format!(
                "if both are one parameter, with the stricter rules, add `--share {name}` and, for its value, `--prefer first` or `--prefer last`"
            ));
        } else if can_share {
            diagnostic = diagnostic.hint(format!(
                "if both are one parameter, with the stricter rules, add `--share {name}`"
            ));
        }
        diagnostic.hint(second.prefix_hint()).hint(format!(
            "to rename only this one, add `--rename {}:{old}={}{old}`",
            second.label,
            second.suggested_prefix()
        ))
    }

    fn different_values(&self) -> String {
        let (first, second) = (self.first.part, self.second.part);
        let may_show = self.first.parameter.may_show() && self.second.parameter.may_show();
        let values = (self.first_value(), self.second_value());
        match (values.0.as_str(), values.1.as_str()) {
            (Some(one), Some(other)) if may_show && is_short(one) && is_short(other) => format!(
                "parameter `{}` has {} in `{}` and {} in `{}`",
                self.name,
                shown(one),
                first.label,
                shown(other),
                second.label
            ),
            _ => format!(
                "parameter `{}` has different values in `{}` and `{}`",
                self.name, first.label, second.label
            ),
        }
    }

    fn warning(&self, texts: &[&str]) -> Diagnostic {
        let (first, second) = (self.first.part, self.second.part);
        let texts: Vec<String> = texts.iter().map(|field| format!("`{field}`")).collect();
        let message = format!(
            "parameter `{}` has another {} in `{}`; the parameter of `{}` is kept",
            self.name,
            texts.join(", "),
            second.label,
            first.label
        );
        let place = first.place(self.first.value.get("name"));
        second
            .warning(message, self.second.value.get("name"))
            .related(place, "this one is kept")
            .field(format!("parameters[{}]", self.second.parameter.index))
            .hint(format!(
                "if they are one parameter, add `--share {}`; if not, rename one with `--rename` or `--prefix`",
                self.name
            ))
    }
}

fn is_true(value: &Value<'_>) -> bool {
    matches!(value.data, Data::Scalar(Scalar::Bool(true)))
}

/// Whether a message has room for it.
fn is_short(text: &str) -> bool {
    text.len() <= 60 && !text.contains(['\n', '`'])
}

fn shown(value: &str) -> String {
    match value {
        "" => "no value".to_owned(),
        value => format!("the value `{value}`"),
    }
}

/// Puts the parameters of a Template that are in no group into one with its name.
fn group(part: &mut Part<'_>) {
    let name = part.name.clone();
    for parameter in part.items_mut("parameters").into_iter().flatten() {
        let has_group = parameter.get("group").is_some_and(|group| !group.is_null());
        if parameter.entries().is_some() && !has_group {
            parameter.insert(Cow::Borrowed("group"), Value::string(name.clone()));
        }
    }
}
