//! Explains an object or one of its fields by the origin of its fields.

use crate::output::table;
use krm_core::report;
use krm_template_exec::io;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::shorten::MASK;
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
use krm_yaml::{FieldPath, Step};

/// The maximum number of fields in a hint.
const MAX_LISTED: usize = 10;

/// The origin of a field, or of a list or mapping.
#[derive(Default)]
pub(super) struct Origin {
    /// The value as JSON, which distinguishes numbers from strings of digits; none if it is secret.
    pub(super) value: Option<String>,
    /// The source of its value, or none if it is as it was written.
    pub(super) setter: Option<String>,
    pub(super) place: Option<Place>,
    /// The names of the parameters that it refers to.
    pub(super) parameters: Vec<String>,
    /// Whether it is a part of the value of the last of them.
    pub(super) is_part: bool,
}

type Origins<'t> = dyn Fn(&FieldPath, usize) -> Origin + 't;
type Parameters<'t> = dyn Fn(&[usize]) -> Vec<[String; 3]> + 't;

/// An object that knows where its fields come from.
pub(super) struct Trail<'t> {
    /// The object in the form `Deployment/web`.
    pub(super) title: String,
    /// Its scalars, empty lists and empty mappings, each once; without secrets.
    pub(super) fields: Vec<FieldPath>,
    /// The origin of what is at a path, with the first of the fields there.
    pub(super) origin: Box<Origins<'t>>,
    /// Whether a key in a path may show a secret. In `password:TEXT`, a space is missing.
    pub(super) hides: Box<dyn Fn(&FieldPath) -> bool + 't>,
    /// The places that excerpts must not show; without them, those of secrets.
    pub(super) hidden: Option<&'t [Place]>,
    /// The parameters that fields refer to, with their values and sources.
    pub(super) parameters: Option<Box<Parameters<'t>>>,
    /// The fields that are left out of the object.
    pub(super) left_out: Option<String>,
}

impl Trail<'_> {
    /// A field in messages.
    fn named(&self, path: &FieldPath) -> String {
        let mut name = path.to_string();
        let end = name.find([':', ' ']).filter(|_| (self.hides)(path));
        name.truncate(end.unwrap_or(name.len()));
        name
    }

    /// The fields at a path, which is spelled as they are shown.
    fn at(&self, path: &FieldPath) -> Vec<usize> {
        let all = self.fields.iter().enumerate();
        all.filter(|(_, field)| field.starts_with(path)).map(|(index, _)| index).collect()
    }
}

/// The value with its source lines, or a table of its fields; then the parameters.
pub(super) fn explain(trail: &Trail<'_>, path: &FieldPath) -> Result<String> {
    let chosen = trail.at(path);
    let fields = chosen.iter().filter_map(|at| Some((trail.fields.get(*at)?, *at)));
    let fields: Vec<(&FieldPath, Origin)> =
        fields.map(|(field, at)| (field, (trail.origin)(field, at))).collect();
    let (Some(first), Some((field, origin))) = (chosen.first(), fields.first()) else {
        return Err(unknown(trail, path));
    };
    let only = (*field == path).then_some(origin);
    let parameters = trail.parameters.as_ref().map(|parameters| parameters(&chosen));
    let mut parts = Vec::new();
    if !path.steps().is_empty() {
        let title = &trail.title;
        let message = match (only, chosen.len()) {
            (Some(field), _) => format!("`{path}` of {title} is {}{}", shown(field), cause(field)),
            (None, 1) => format!("`{path}` of {title} has 1 field"),
            (None, count) => format!("`{path}` of {title} has {count} fields"),
        };
        let has_secret = fields.iter().any(|(_, origin)| origin.value.is_none());
        let mut found = Diagnostic::info(message).conceal(trail.hidden.is_none() && has_secret);
        found.place = match only {
            Some(field) => field.place.clone(),
            None => (trail.origin)(path, *first).place,
        };
        let mut found = Diagnostics::from(found);
        found.conceal(trail.hidden.unwrap_or_default());
        parts.push(report::text(&found, io::stdout_color()));
    }
    if only.is_none() {
        let rows = fields.iter().map(|(field, origin)| {
            let place = origin.place.as_ref().map(Place::to_text);
            let from: Vec<String> = origin.setter.clone().into_iter().chain(place).collect();
            let value = table::shortened(&shown(origin));
            [trail.named(field), value, from.join(", "), origin.parameters.join(", ")]
        });
        parts.push(if parameters.is_some() {
            table::plain(["FIELD", "VALUE", "FROM", "PARAMETERS"], rows, io::width())
        } else {
            let rows = rows.map(|[field, value, from, _]| [field, value, from]);
            table::plain(["FIELD", "VALUE", "FROM"], rows, io::width())
        });
    }
    if let Some(rows) = parameters.filter(|rows| !rows.is_empty()) {
        let head = ["PARAMETER", "VALUE", "FROM"];
        parts.push(table::plain(head, rows.into_iter(), io::width()));
    }
    Ok(parts.join("\n"))
}

fn shown(origin: &Origin) -> String {
    origin.value.clone().unwrap_or_else(|| MASK.to_owned())
}

/// The setter of the field, as a part of a sentence; empty for a field as it was written.
fn cause(origin: &Origin) -> String {
    match (&origin.setter, origin.parameters.last()) {
        (Some(setter), _) => format!(", set by {setter}"),
        (None, Some(name)) if origin.is_part => format!(", in the value of `{name}`"),
        _ => String::new(),
    }
}

/// The error for an unknown field, with the fields of its nearest existing parent.
fn unknown(trail: &Trail<'_>, path: &FieldPath) -> Box<Diagnostic> {
    let mut parent = FieldPath::root();
    let mut missing = None;
    for step in path.steps() {
        let next = parent.clone().join([step]);
        if trail.at(&next).is_empty() {
            missing = Some(step);
            break;
        }
        parent = next;
    }
    let below = trail.at(&parent);
    let mut diagnostic = Diagnostic::error(format!("{} has no field `{path}`", trail.title));
    let mut steps: Vec<&Step> = Vec::new();
    for step in
        below.iter().filter_map(|at| trail.fields.get(*at)?.steps().get(parent.steps().len()))
    {
        // The fields of a part are beside one another.
        if steps.last() != Some(&step) {
            steps.push(step);
        }
    }
    if !parent.steps().is_empty() {
        diagnostic.place = below.first().and_then(|at| (trail.origin)(&parent, *at).place);
    }
    let names = steps.iter().map(|step| trail.named(&parent.clone().join([*step])));
    let names: Vec<String> = names.collect();
    let asked = missing.filter(|step| matches!(step, Step::Key(_)));
    let asked = asked.map(|step| parent.clone().join([step]).to_string());
    let meant = asked.and_then(|asked| closest(&asked, names.iter().map(String::as_str)));
    let meant = meant.map(|meant| format!("did you mean `{meant}`?"));
    let is_secret = || below.first().is_some_and(|at| (trail.origin)(&parent, *at).value.is_none());
    let hint = match (steps.as_slice(), steps.len().saturating_sub(MAX_LISTED)) {
        ([], _) if is_secret() => format!("the content of `{parent}` is secret"),
        ([], _) => format!("`{parent}` has no fields"),
        ([Step::Index(_), ..], _) => {
            let items = if steps.len() == 1 { "item" } else { "items" };
            let count = steps.len();
            format!("`{parent}` has {count} {items}, counted from 0: `{parent}[0]`")
        }
        (_, more) => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let shown = names.get(..MAX_LISTED).unwrap_or(&names).join(", ");
            match more {
                0 => format!("the fields are {shown}"),
                more => format!("the fields are {shown} and {more} more"),
            }
        }
    };
    diagnostic.maybe_hint(meant).hint(hint).maybe_hint(trail.left_out.clone()).into()
}
