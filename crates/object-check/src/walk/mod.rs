//! Goes through an object along its definition: decodes each field as the API server does, applies the
//! rules for single fields, and calls the functions over several.

mod types;
mod views;

use std::borrow::Cow;
use std::collections::BTreeSet;

use krm_core::scope::is_namespaced;
use krm_yaml::suggest::closest;
use krm_yaml::{Data, FieldPath, NodeId, Scalar, Step, Value, View};

use crate::finding::{Finding, Fix, Rule};
use crate::formats::Format;
use crate::rules::{Rules, Unique};
use crate::scalars::{integer, quantity};
use crate::schema::{Definition, Field, Schema, Type};

use types::{mismatch, respelled};
pub(crate) use views::{
    at, entries, get, has, is_empty, is_filled, is_true, list, name_of, number, one_of, text, word,
};

/// The most steps to a field that is looked at.
const MAX_DEPTH: usize = 200;

/// The most findings in one object: each of them may look through a list.
const MAX_FOUND: usize = 100;

/// An object that is not there, but checked.
static EMPTY: Value<'static> = Value { origin: None, data: Data::Mapping(Vec::new()) };

/// A step to a field.
#[derive(Clone, Debug)]
pub(crate) enum Part<'v> {
    Key(Cow<'v, str>),
    Index(usize),
}

impl From<&'static str> for Part<'_> {
    fn from(key: &'static str) -> Self {
        Self::Key(Cow::Borrowed(key))
    }
}

impl From<usize> for Part<'_> {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

impl<'v> From<Cow<'v, str>> for Part<'v> {
    fn from(key: Cow<'v, str>) -> Self {
        Self::Key(key)
    }
}

/// The steps to a field: `steps!["ports", 0, "name"]`.
macro_rules! steps {
    ($($step:expr),* $(,)?) => { &[$($crate::walk::Part::from($step)),*] };
}
pub(crate) use steps;

/// Applies the rules over several fields of the definition with an index.
pub(crate) type Functions = for<'w, 'v> fn(&'w mut Walk<'v>, usize, View<'v>);

/// A walk through one object.
pub(crate) struct Walk<'v> {
    schema: &'static Schema,
    pub(crate) version: u8,
    is_placeholder: &'v dyn Fn(&str) -> bool,
    functions: Functions,
    pub(crate) root: View<'v>,
    pub(crate) kind: &'v str,
    pub(crate) group: String,
    pub(crate) is_namespaced: bool,
    path: Vec<Part<'v>>,
    origins: Vec<Option<NodeId>>,
    in_status: bool,
    pub(crate) found: Vec<Finding>,
}

impl<'v> Walk<'v> {
    pub(crate) fn new(
        root: View<'v>,
        group: &str,
        kind: &'v str,
        version: u8,
        is_placeholder: &'v dyn Fn(&str) -> bool,
        functions: Functions,
    ) -> Self {
        Self {
            schema: Schema::get(),
            version,
            is_placeholder,
            functions,
            root,
            kind,
            group: group.to_owned(),
            is_namespaced: is_namespaced(group, kind),
            path: Vec::new(),
            origins: vec![root.origin()],
            in_status: false,
            found: Vec::new(),
        }
    }

    /// Checks the object as one of this definition.
    pub(crate) fn object(&mut self, view: View<'v>, index: usize) {
        let definition = self.schema.definition(index);
        let Some(definition) = definition.filter(|_| self.path.len() < MAX_DEPTH) else {
            return;
        };
        let Some(entries) = view.entries() else {
            return;
        };
        let is_root = self.path.is_empty();
        for (key, value) in entries {
            if (self.is_placeholder)(&key) {
                continue;
            }
            let Some(field) = definition.field(&key, self.version) else {
                self.unknown(view, definition, key, value);
                continue;
            };
            let was_in_status = self.in_status;
            self.in_status |= is_root && key == "status";
            self.within(Part::Key(key), value, |walk| walk.field(value, field));
            self.in_status = was_in_status;
        }
        if self.in_status {
            return;
        }
        for field in definition.needed.iter().filter_map(|at| definition.fields.get(*at)) {
            let is_there = get(view, field.name).is_some();
            if is_there || !field.is_in(self.version) {
                continue;
            }
            if field.rules.is_implied {
                if let Type::Object(inner) = field.of {
                    let empty = View::of(&EMPTY);
                    self.within(Part::from(field.name), empty, |walk| {
                        walk.object(empty, inner);
                    });
                }
            } else {
                self.missing(view, &[Part::from(field.name)]);
            }
        }
        (self.functions)(self, index, view);
    }

    /// Checks what is below a step.
    pub(crate) fn within(
        &mut self,
        part: Part<'v>,
        value: View<'v>,
        check: impl FnOnce(&mut Self),
    ) {
        self.enter(part, value);
        check(self);
        self.leave();
    }

    /// Goes a step down.
    pub(crate) fn enter(&mut self, part: Part<'v>, value: View<'v>) {
        self.path.push(part);
        let around = self.origins.last().copied().flatten();
        self.origins.push(value.origin().or(around));
    }

    /// Goes back.
    pub(crate) fn leave(&mut self) {
        self.origins.pop();
        self.path.pop();
    }

    /// Checks the metadata of a custom resource.
    pub(crate) fn metadata(&mut self, value: View<'v>) {
        if let Some(definition) = self.schema.named("meta.v1.ObjectMeta") {
            let of = Type::Object(definition);
            self.within(Part::from("metadata"), value, |walk| {
                walk.decode(value, of, &Rules::default());
            });
        }
    }

    fn field(&mut self, value: View<'v>, field: &'static Field) {
        self.decode(value, field.of, &field.item_rules);
        if !self.in_status && !field.rules.is_none() {
            self.rules(value, field.of, &field.rules);
        }
    }

    /// Checks the type of a value, and what is in it.
    fn decode(&mut self, value: View<'v>, of: Type, item_rules: &Rules) {
        if value.is_null() || self.is_unknown(value) {
            return;
        }
        match of {
            Type::Any => {}
            Type::Object(inner) if value.is_mapping() => self.object(value, inner),
            Type::ObjectOrBool(inner) | Type::ObjectOrList(inner) | Type::ObjectOrTexts(inner)
                if value.is_mapping() =>
            {
                self.object(value, inner);
            }
            Type::ObjectOrList(inner) if value.is_sequence() => {
                self.items(value, Type::Object(inner), item_rules);
            }
            Type::ObjectOrTexts(_) if value.is_sequence() => {
                self.items(value, Type::Text, item_rules);
            }
            Type::List(inner) if value.is_sequence() => {
                self.items(value, self.schema.of(inner), item_rules);
            }
            Type::Map(inner) if value.is_mapping() => {
                let inner = self.schema.of(inner);
                for (key, value) in value.entries().into_iter().flatten() {
                    self.within(Part::Key(key), value, |walk| {
                        walk.item(value, inner, item_rules);
                    });
                }
            }
            Type::Bytes if value.is_sequence() => self.items(value, Type::Int32, item_rules),
            _ => {
                if let Some(expected) = mismatch(value, of) {
                    // A text may be right, but not this one.
                    let has_format = matches!(of, Type::Bytes | Type::Quantity | Type::Time);
                    let what = if has_format && value.as_str().is_some() {
                        format!("must be {expected}")
                    } else {
                        format!("is {}; the API server expects {expected}", name_of(value))
                    };
                    let before = self.found.len();
                    self.add(Rule::WrongType, value, &[], &what);
                    if let Some(found) = self.found.get_mut(before) {
                        found.fix = respelled(value, of);
                    }
                }
            }
        }
    }

    fn items(&mut self, list: View<'v>, of: Type, rules: &Rules) {
        for (index, item) in list.items().into_iter().flatten().enumerate() {
            self.within(Part::Index(index), item, |walk| walk.item(item, of, rules));
        }
    }

    fn item(&mut self, value: View<'v>, of: Type, rules: &Rules) {
        let is_object = matches!(of, Type::Object(_));
        if is_object && value.is_null() && !self.in_status {
            // An item that is null is an empty object.
            if let Type::Object(inner) = of {
                let empty = View::of(&EMPTY);
                self.within_origin(value, |walk| walk.object(empty, inner));
            }
            return;
        }
        self.decode(value, of, &Rules::default());
        if !self.in_status && !rules.is_none() {
            if value.is_null()
                && (rules.is_required || rules.is_not_empty || !rules.words.is_empty())
            {
                self.missing(value, &[]);
            } else {
                self.rules(value, of, rules);
            }
        }
    }

    fn within_origin(&mut self, value: View<'v>, check: impl FnOnce(&mut Self)) {
        self.origins.push(value.origin());
        check(self);
        self.origins.pop();
    }

    /// Applies the rules for one field to its value.
    #[expect(clippy::too_many_lines, reason = "each kind of scalar has its rules")]
    fn rules(&mut self, value: View<'v>, of: Type, rules: &Rules) {
        if value.is_null() || self.is_unknown(value) {
            return;
        }
        let is_empty = match value.scalar() {
            Some(Scalar::String(text)) => text.is_empty(),
            Some(Scalar::Number(digits)) => of != Type::IntOrString && digits == "0",
            Some(_) => false,
            None if matches!(of, Type::Object(_)) => false,
            None => is_empty(value),
        };
        if is_empty && rules.is_required {
            self.missing(value, &[]);
            return;
        }
        if let Some(unique) = &rules.unique {
            self.unique(value, unique);
        }
        if let Some(most) = rules.longest
            && value.items().is_some_and(|items| items.count() > most)
        {
            self.refuse(value, &[], &format!("must have at most {most} items"));
        }
        match value.scalar() {
            Some(Scalar::String(text)) if text.is_empty() => {
                let may_be = rules.words.is_empty() || rules.words.contains(&"");
                let is_like_none =
                    matches!(rules.format, None | Some(Format::Trimmed)) || !rules.is_not_empty;
                let is_address = matches!(rules.format, Some(Format::Ip | Format::Cidr));
                let is_number =
                    of == Type::IntOrString && rules.format.is_some() && rules.is_not_empty;
                if !may_be || !is_like_none || is_address || is_number {
                    self.refuse(value, &[], "must not be empty");
                }
            }
            Some(Scalar::String(text)) => {
                if let Some(format) = rules.format
                    && matches!(of, Type::Text | Type::IntOrString)
                    && !format.fits(&text)
                {
                    self.refuse(value, &[], &format!("must be {}", format.words()));
                }
                if !rules.words.is_empty()
                    && matches!(of, Type::Text)
                    && !rules.words.contains(&text.as_ref())
                {
                    self.not_one_of(value, &[], &text, &rules.words);
                }
                if rules.longest.is_some_and(|most| text.len() > most) {
                    let most = rules.longest.unwrap_or_default();
                    self.refuse(value, &[], &format!("must have at most {most} bytes"));
                }
                if of == Type::Quantity
                    && let Some(number) = quantity(&text)
                {
                    self.range(value, number.value, of, rules);
                }
            }
            Some(Scalar::Number(digits)) => {
                if matches!(of, Type::Int32 | Type::Int64 | Type::IntOrString)
                    && let Some(number) = integer(&digits)
                {
                    #[expect(
                        clippy::cast_precision_loss,
                        reason = "only compared with small numbers"
                    )]
                    self.range(value, number as f64, of, rules);
                    if rules.format == Some(Format::CountOrPercent) && number < 0 {
                        self.refuse(value, &[], "must be at least 0");
                    }
                } else if of == Type::Quantity
                    && let Some(number) = quantity(&digits)
                {
                    self.range(value, number.value, of, rules);
                }
            }
            _ => {}
        }
    }

    fn unique(&mut self, list: View<'v>, unique: &Unique) {
        let mut seen = BTreeSet::new();
        for (index, item) in list.items().into_iter().flatten().enumerate() {
            let key = |(key, default): &(&'static str, Option<&'static str>)| {
                word(get(item, key)).or(default.map(Cow::Borrowed))
            };
            let own: Option<Vec<_>> = match unique.keys[..] {
                [] => word(Some(item)).map(|text| vec![text]),
                _ => unique.keys.iter().map(key).collect(),
            };
            if own.is_none_or(|own| seen.insert(own)) {
                continue;
            }
            let name = unique.keys.first().map(|(key, _)| Part::from(*key));
            let Some(place) = unique.place else {
                let names: Vec<_> = unique.keys.iter().map(|(key, _)| format!("`{key}`")).collect();
                let what = format!("must differ from the others in {}", one_of(&names));
                self.refuse(list, steps![index], &what);
                continue;
            };
            let path: Vec<_> = [Part::Index(index)].into_iter().chain(name).collect();
            self.refuse(list, &path, format!("must be unique {place}").trim_end());
        }
    }

    fn range(&mut self, value: View<'v>, number: f64, of: Type, rules: &Rules) {
        #[expect(clippy::cast_precision_loss, reason = "limits are small numbers")]
        let as_float = |limit: i64| limit as f64;
        // A quantity may be less than 1.
        let is_low = rules.minimum.is_some_and(|least| {
            if of == Type::Quantity && least == 1 {
                number <= 0.0
            } else {
                number < as_float(least)
            }
        });
        let is_high = rules.maximum.is_some_and(|most| number > as_float(most));
        if !is_low && !is_high {
            return;
        }
        let what = match (rules.minimum, rules.maximum) {
            (Some(least), Some(most)) => format!("must be between {least} and {most}"),
            (Some(1), None) if of == Type::Quantity => "must be more than 0".to_owned(),
            (Some(least), None) => format!("must be at least {least}"),
            (_, most) => format!("must be at most {}", most.unwrap_or_default()),
        };
        self.refuse(value, &[], &what);
    }

    fn unknown(
        &mut self,
        object: View<'v>,
        definition: &'static Definition,
        key: Cow<'v, str>,
        value: View<'v>,
    ) {
        let what = definition.name.rsplit('.').next().unwrap_or_default();
        let mut fields = definition.fields.iter();
        let before = self.found.len();
        if fields.any(|field| field.name == key) {
            self.not_a_field(object, key, value, what, std::iter::empty());
            if let Some(found) = self.found.get_mut(before) {
                found.hint = Some("another version of Kubernetes has it".to_owned());
            }
            return;
        }
        let (fields, version) = (definition.fields.iter(), self.version);
        let fields = fields.filter(|field| field.is_in(version));
        let known = fields.map(|field| field.name);
        self.not_a_field(object, key, value, what, known);
    }

    /// Adds the finding about a field that an object does not have, for which one of the `known` may be
    /// meant.
    pub(crate) fn not_a_field<'k>(
        &mut self,
        object: View<'v>,
        key: Cow<'v, str>,
        value: View<'v>,
        what: &str,
        known: impl Iterator<Item = &'k str>,
    ) {
        if self.found.len() >= MAX_FOUND {
            return;
        }
        let meant = closest(&key, known);
        let origin = value.origin();
        let is_free = |meant: &&str| object.get(meant).is_none();
        let fix = meant
            .filter(is_free)
            .map(|meant| Fix { old: key.clone().into_owned(), new: meant.to_owned() });
        let message =
            format!("`{}` is not a field of {what}", krm_core::visible::on_one_line(&key));
        let path = self.path_to(&[Part::Key(key)]);
        self.found.push(Finding {
            rule: Rule::UnknownField,
            path,
            fix: origin.and(fix),
            origin: origin.or_else(|| self.origins.last().copied().flatten()),
            message,
            hint: meant.map(|meant| format!("did you mean `{meant}`?")),
        });
    }

    /// Adds the finding that a field is missing or empty.
    pub(crate) fn missing(&mut self, view: View<'v>, steps: &[Part<'v>]) {
        self.add(Rule::Refused, view, steps, "is required");
    }

    /// Adds a finding about the field at `steps` below `view`.
    pub(crate) fn refuse(&mut self, view: View<'v>, steps: &[Part<'v>], what: &str) {
        self.add(Rule::Refused, view, steps, what);
    }

    /// Adds the finding that a text is not one of these words.
    pub(crate) fn not_one_of(
        &mut self,
        view: View<'v>,
        steps: &[Part<'v>],
        text: &str,
        words: &[&str],
    ) {
        let known = || words.iter().copied().filter(|word| !word.is_empty());
        let list: Vec<String> = known().map(|word| format!("`{word}`")).collect();
        let before = self.found.len();
        self.refuse(view, steps, &format!("must be {}", one_of(&list)));
        if let Some(found) = self.found.get_mut(before)
            && let Some(meant) = closest(text, known())
        {
            found.hint = Some(format!("did you mean `{meant}`?"));
            found.fix = Some(Fix { old: text.to_owned(), new: meant.to_owned() });
        }
    }

    fn add(&mut self, rule: Rule, view: View<'v>, steps: &[Part<'v>], what: &str) {
        if self.found.len() >= MAX_FOUND {
            return;
        }
        let mut at = view;
        let mut origin = view.origin().or_else(|| self.origins.last().copied().flatten());
        for step in steps {
            let next = match step {
                Part::Key(key) => at.get(key),
                Part::Index(index) => at.items().and_then(|mut items| items.nth(*index)),
            };
            let Some(next) = next else { break };
            at = next;
            origin = next.origin().or(origin);
        }
        let is_placeholder_key =
            |step: &Part<'v>| matches!(step, Part::Key(key) if (self.is_placeholder)(key));
        if steps.iter().any(is_placeholder_key) || self.holds_placeholder(at) {
            return;
        }
        let path = self.path_to(steps);
        let message = format!("`{path}` {what}");
        if !self.found.iter().any(|found| found.message == message) {
            self.found.push(Finding { rule, path, origin, message, hint: None, fix: None });
        }
    }

    fn path_to(&self, steps: &[Part<'v>]) -> FieldPath {
        let mut path = FieldPath::root();
        for part in self.path.iter().chain(steps) {
            path.push(match part {
                Part::Key(key) => Step::Key(key.clone().into_owned()),
                Part::Index(index) => Step::Index(*index),
            });
        }
        path
    }

    /// Whether the path to here ends with these keys.
    pub(crate) fn is_at(&self, path: &[&str]) -> bool {
        self.path.len() == path.len()
            && self
                .path
                .iter()
                .zip(path)
                .all(|(part, key)| matches!(part, Part::Key(own) if own == key))
    }

    /// Whether this is a part of a template of pods.
    pub(crate) fn is_in_pod_template(&self) -> bool {
        let mut keys = self.path.iter().rev().filter_map(|part| match part {
            Part::Key(key) => Some(key.as_ref()),
            Part::Index(_) => None,
        });
        keys.next();
        keys.next() == Some("template")
    }

    /// The keys on the way here.
    pub(crate) fn passes(&self, key: &str) -> bool {
        self.path.iter().any(|part| matches!(part, Part::Key(own) if own == key))
    }

    /// Whether the value is only known later.
    pub(crate) fn is_unknown(&self, value: View<'_>) -> bool {
        value.as_str().is_some_and(|text| (self.is_placeholder)(&text))
    }

    /// Whether a text is only known later.
    pub(crate) fn is_placeholder_text(&self, text: &str) -> bool {
        (self.is_placeholder)(text)
    }

    /// Whether something in a value is only known later.
    pub(crate) fn holds_placeholder(&self, value: View<'_>) -> bool {
        if let Some(items) = value.items() {
            return items.into_iter().any(|item| self.holds_placeholder(item));
        }
        match value.entries() {
            Some(entries) => entries
                .into_iter()
                .any(|(key, value)| (self.is_placeholder)(&key) || self.holds_placeholder(value)),
            None => self.is_unknown(value),
        }
    }
}
