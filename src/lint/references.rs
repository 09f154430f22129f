//! Rules about parameters and the references to them.

use std::collections::{BTreeMap, BTreeSet};

use crate::krm::identity::group;
use crate::lint::Context;
use crate::template::{
    Dialect, Fallback, OWN_GROUP, Part, Path, Template, constant, parts, place_of,
};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Data, DuplicateKeys, NodeId, Scalar, Value};

/// A reference, and where it stands.
pub(super) struct Reference {
    pub(super) name: String,
    pub(super) spelling: String,
    is_raw: bool,
    /// Whether it stands in a command or in a text of several lines, so perhaps in a program.
    in_script: bool,
    /// Whether the text that it stands in could not be valid with it.
    needs_replacement: bool,
    place: Place,
    field: String,
}

/// All references of a Template, in the order they are written.
pub(super) fn all(template: &Template<'_>) -> Vec<Reference> {
    let mut list = References {
        template,
        list: Vec::new(),
    };
    list.read(template.labels, &Path::Key(&Path::Root(""), "labels"));
    list.read(template.objects, &Path::Root("objects"));
    list.read(template.message, &Path::Root("message"));
    if group(&template.reference().api_version) == OWN_GROUP {
        for parameter in template.parameters() {
            let field = format!("parameters[{}].value", parameter.index);
            list.read(parameter.value, &Path::Root(&field));
        }
    }
    list.list
}

struct References<'t, 'd> {
    template: &'t Template<'d>,
    list: Vec<Reference>,
}

impl<'d> References<'_, 'd> {
    fn read(&mut self, node: Option<Cursor<'d>>, path: &Path<'_>) {
        // What cannot be read is reported where it is expanded.
        let mut ignored = Diagnostics::new();
        let items = node.filter(|node| matches!(path, Path::Root("objects")) && node.is_sequence());
        if let Some(items) = items {
            // One by one: what is wrong with an object does not hide the references of others.
            for (index, item) in items.children().enumerate() {
                let field = format!("objects[{index}]");
                if let Some(value) = item.value(DuplicateKeys::LastWins, &mut ignored) {
                    self.value(&value, &Path::Root(&field), item.id());
                }
            }
        } else if let Some(node) = node
            && let Some(value) = node.value(DuplicateKeys::LastWins, &mut ignored)
        {
            self.value(&value, path, node.id());
        }
    }

    fn value(&mut self, value: &Value<'d>, path: &Path<'_>, node: NodeId) {
        let node = value.origin.unwrap_or(node);
        match &value.data {
            Data::Scalar(Scalar::String(text)) => self.text(text, path, node),
            Data::Scalar(_) => {}
            Data::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.value(item, &Path::Index(path, index), node);
                }
            }
            Data::Mapping(entries) => {
                for (key, value) in entries {
                    let path = Path::Key(path, key);
                    self.text(key, &path, value.origin.unwrap_or(node));
                    self.value(value, &path, node);
                }
            }
        }
    }

    fn text(&mut self, text: &str, path: &Path<'_>, node: NodeId) {
        if !text.contains('$') {
            return;
        }
        let in_script = text.contains('\n') || is_command(path);
        for part in parts(text, self.template.dialect()) {
            if let Part::String { name, spelling } | Part::Raw { name, spelling } = part {
                self.list.push(Reference {
                    name: name.to_owned(),
                    spelling: spelling.to_owned(),
                    is_raw: matches!(part, Part::Raw { .. }),
                    in_script,
                    needs_replacement: path.needs_replacement(),
                    place: place_of(spelling, self.template.node.document().cursor(node)),
                    field: path.to_string(),
                });
            }
        }
    }
}

fn is_command(path: &Path<'_>) -> bool {
    match path {
        Path::Index(list, _) => matches!(list.key(), Some("command" | "args")),
        _ => false,
    }
}

/// Limits that contradict one another, and patterns that are none.
pub(super) fn parameter_limits(context: &Context<'_, '_>, found: &mut Diagnostics) {
    for parameter in context.template.parameters() {
        let number = |bound: &Option<std::borrow::Cow<'_, str>>| {
            bound.as_ref().and_then(|digits| digits.parse::<f64>().ok())
        };
        let bounds = [
            (
                "minimum",
                "maximum",
                number(&parameter.minimum)
                    .zip(number(&parameter.maximum))
                    .is_some_and(|(least, most)| least > most),
            ),
            (
                "minLength",
                "maxLength",
                parameter
                    .min_length
                    .zip(parameter.max_length)
                    .is_some_and(|(least, most)| least > most),
            ),
        ];
        for (least, most, _) in bounds.into_iter().filter(|(_, _, is_wrong)| *is_wrong) {
            let node = parameter.node.get(least).unwrap_or(parameter.node);
            found.push(
                Diagnostic::error(format!(
                    "`{least}` of parameter `{}` is greater than its `{most}`",
                    parameter.name
                ))
                .at(node.place())
                .field(format!("parameters[{}].{least}", parameter.index))
                .hint("no value can satisfy both: change one of them"),
            );
        }
        if let Some(pattern) = &parameter.pattern
            && let Err(error) = regex_lite::Regex::new(pattern)
        {
            let node = parameter.node.get("pattern").unwrap_or(parameter.node);
            found.push(
                Diagnostic::error(format!(
                    "the pattern of parameter `{}` is not a regular expression: {error}",
                    parameter.name
                ))
                .at(node.place())
                .field(format!("parameters[{}].pattern", parameter.index)),
            );
        }
    }
}

/// Expressions that generate nothing, or the same value each time, where no value is there.
pub(super) fn generated_value(context: &Context<'_, '_>, found: &mut Diagnostics) {
    let template = context.template;
    for parameter in template.parameters() {
        if matches!(template.fallback(parameter), Fallback::Generated(_))
            && let Some(diagnostic) = constant::check(template, parameter)
        {
            found.push(diagnostic);
        }
    }
}

/// In OpenShift's dialect, where such a reference stays without a word. It may be meant for a
/// shell, so each name is said once. In the proposal's dialect expanding reports them.
pub(super) fn undeclared_parameter(context: &Context<'_, '_>, found: &mut Diagnostics) {
    if context.template.dialect() == Dialect::Proposal {
        return;
    }
    let names = || {
        context
            .template
            .parameters()
            .iter()
            .map(|one| one.name.as_ref())
    };
    let declared: BTreeSet<&str> = names().collect();
    let mut seen: BTreeMap<&str, Vec<&Reference>> = BTreeMap::new();
    for reference in &context.references {
        if !declared.contains(reference.name.as_str()) {
            seen.entry(&reference.name).or_default().push(reference);
        }
    }
    for (name, references) in seen {
        let bad = references.iter().find(|one| one.needs_replacement);
        let in_text = references.iter().find(|one| !one.in_script);
        let Some(first) = bad.or(in_text).or(references.first()) else {
            continue;
        };
        let known = in_text.and_then(|_| closest(name, names()));
        let message = format!("parameter `{name}` is not declared");
        let diagnostic = match known {
            Some(known) => Diagnostic::warning(message).hint(format!(
                "did you mean `{}`?",
                first.spelling.replace(name, known)
            )),
            None if bad.is_some() => Diagnostic::warning(message).hint(format!(
                "declare it under `parameters`, as `- name: {name}`"
            )),
            None => Diagnostic::info(message).hint(format!(
                "`{}` stays unchanged, for a shell or another program",
                first.spelling
            )),
        };
        found.push(diagnostic.at(first.place.clone()).field(&first.field));
    }
}

/// Parameters that nothing refers to.
pub(super) fn unused_parameter(context: &Context<'_, '_>, found: &mut Diagnostics) {
    let used: BTreeSet<&str> = context
        .references
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    for parameter in context.template.parameters() {
        let name = parameter.name.as_ref();
        let (open, close) = match context.template.dialect() {
            Dialect::Proposal => ("$(", ")"),
            Dialect::OpenShift => ("${", "}"),
        };
        let reference = format!("{open}{name}{close}");
        // Of names that no reference can hold another rule speaks.
        let can_be_used = !context.is_known(&reference);
        if used.contains(name) || !can_be_used {
            continue;
        }
        found.push(
            Diagnostic::warning(format!("nothing refers to parameter `{name}`"))
                .at(parameter.node.get("name").unwrap_or(parameter.node).place())
                .field(format!("parameters[{}].name", parameter.index))
                .hint(format!("use it as `{reference}`, or remove it")),
        );
    }
}

/// Raw references to parameters that may stay without a value.
pub(super) fn empty_value(context: &Context<'_, '_>, found: &mut Diagnostics) {
    for parameter in context.template.parameters() {
        let name = parameter.name.as_ref();
        let default = parameter
            .value
            .and_then(|default| default.text().ok().flatten());
        let may_be_empty = context.survey.is_unknown(name)
            && !parameter.required
            && parameter.from.is_none()
            && default.is_none_or(|default| default.is_empty());
        let mut raw = context.references.iter().filter(|one| one.is_raw);
        let Some(reference) = raw.find(|one| may_be_empty && one.name == name) else {
            continue;
        };
        found.push(
            Diagnostic::warning(format!(
                "`{}` becomes the empty string if parameter `{name}` has no value",
                reference.spelling
            ))
            .at(reference.place.clone())
            .field(&reference.field)
            .hint(format!(
                "give parameter `{name}` a `value`, or make it `required`"
            )),
        );
    }
}
