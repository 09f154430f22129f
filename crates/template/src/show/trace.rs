//! The origin of each field of the objects: its place, and the parameters that it refers to.
//!
//! Objects are expanded twice: with labels and namespace, and without. The labels or the namespace
//! set the fields that differ. Any other field is written in the Template, at the node that its
//! value names. The references in the text of the node are its parameters.
//!
//! Expansion does not record origins, so only `explain`, `--source-map` and `--diff-against` pay
//! for them. Generated values derive from one seed for each expansion, so both expansions create
//! the same objects.

use crate::declare::model::Template;
use crate::declare::parameter::Parameter;
use crate::declare::reference::{parts, references};
use crate::expand::expansion::{Expansion, Object, Options, expand};
use crate::expand::path::Path;
use crate::expand::strings::{Advice, Dollars, Substitution};
use crate::resolve::parameters::{Origin, ParameterValue, Parameters};
use crate::values::given::Assignment;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Place;
use krm_yaml::{Cursor, Data, FieldPath, Step, Value};

/// The origin of the objects and parameters of one expansion.
#[derive(Debug)]
pub struct Trace {
    /// The objects, in the order of the Template.
    pub objects: Vec<Traced>,
    /// The parameters of the Template, each name once.
    pub parameters: Vec<TracedParameter>,
    /// The message of the Template, with `***` in place of the secrets that it refers to.
    pub message: Option<String>,
}

/// An object and the origin of its fields.
#[derive(Debug)]
pub struct Traced {
    /// The object as it is printed.
    pub value: Value<'static>,
    /// Its scalars, empty lists and empty mappings, in order.
    pub fields: Vec<Field>,
    /// The object itself, and its lists and mappings that are not empty.
    pub sections: Vec<Section>,
}

/// A field of an object and its origin.
#[derive(Debug)]
pub struct Field {
    /// The path of the field in the object.
    pub path: FieldPath,
    /// The field path without secrets. A key with a secret is as written in the Template, and a
    /// path into a secret value ends at the field that holds it.
    pub shown: FieldPath,
    /// The number of steps in the Template. The others are in the value of a parameter.
    pub written: usize,
    /// Its place in the Template, if it is written there.
    pub place: Option<Place>,
    /// The source of the field.
    pub cause: Cause,
    /// The references in its text, in order.
    pub references: Vec<Reference>,
    /// Whether its text contains more than references.
    pub is_literal: bool,
}

/// A list or mapping that is written in the Template.
#[derive(Debug)]
pub struct Section {
    /// The field path, as in [`Field::shown`].
    pub path: FieldPath,
    /// Its place in the Template.
    pub place: Place,
}

/// The source of a field in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It is written in the object in the Template.
    Object,
    /// The labels of the Template.
    Labels,
    /// The label at this index of [`Options::labels`].
    GivenLabel(usize),
    /// The namespace for objects without one.
    Namespace,
}

/// A parameter with its value.
#[derive(Debug)]
pub struct TracedParameter {
    /// The name, as the Template declares it.
    pub name: String,
    /// Its value, a list or mapping as JSON; `None` if it must not be shown.
    pub value: Option<String>,
    /// Whether fields that refer to it only are left out.
    pub omits: bool,
    /// The source of its value.
    pub origin: Origin,
    /// The place of the value in a file, or of the expression that generated it.
    pub place: Option<Place>,
    /// The parameters that its default refers to.
    pub made_from: Vec<String>,
}

/// A reference to a declared parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The name of the parameter.
    pub name: String,
    /// The reference as it was written.
    pub spelling: String,
    /// Whether the value may be shown.
    pub may_show: bool,
}

impl Traced {
    /// Returns `true` if the field must not be shown: its value contains a secret, or it is data of
    /// a Secret.
    pub fn is_secret(&self, field: &Field) -> bool {
        field.references.iter().any(|one| !one.may_show) || self.is_of_secret(field)
    }

    /// Returns `true` if the text of the field, as written, must not be shown either.
    pub fn is_secret_as_written(&self, field: &Field) -> bool {
        field.is_literal && self.is_of_secret(field)
    }

    /// Returns `true` if a field path in the object shows a secret: a key, or a part of a value.
    pub fn hides(&self, path: &FieldPath) -> bool {
        self.fields.iter().any(|field| {
            let steps = field.path.steps().iter().zip(path.steps());
            let common = steps.take_while(|(one, other)| one == other).count();
            field.shown.steps().get(..common) != path.steps().get(..common)
        })
    }

    /// The place of a field in the Template, or of the closest one around it.
    pub fn place(&self, path: &FieldPath) -> Option<&Place> {
        let mut path = path.clone();
        loop {
            let field = self.fields.iter().find(|field| field.path == path);
            let section = self.sections.iter().find(|section| section.path == path);
            let place = field.and_then(|field| field.place.as_ref());
            if let Some(place) = place.or(section.map(|section| &section.place)) {
                return Some(place);
            }
            path.pop()?;
        }
    }

    fn is_of_secret(&self, field: &Field) -> bool {
        let [data, string_data] = ["data", "stringData"].map(|key| FieldPath::root().key(key));
        self.value.str_at(&["kind"]) == Some("Secret")
            && (field.path.starts_with(&data) || field.path.starts_with(&string_data))
    }

    /// Returns the fields, each [`Field::shown`] path once.
    pub fn shown(&self) -> impl Iterator<Item = &Field> {
        let mut last: Option<&FieldPath> = None;
        self.fields.iter().filter(move |field| last.replace(&field.shown) != Some(&field.shown))
    }
}

impl Field {
    /// Returns the names of the parameters that it refers to, each once.
    pub fn parameters(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for reference in &self.references {
            if !names.contains(&reference.name.as_str()) {
                names.push(&reference.name);
            }
        }
        names
    }
}

impl Trace {
    /// Returns the parameters that `fields` refer to, also through the defaults of other
    /// parameters, in the order of the Template.
    pub fn parameters_of<'f>(
        &self,
        fields: impl Iterator<Item = &'f Field>,
    ) -> impl Iterator<Item = &TracedParameter> {
        let mut names: Vec<&str> = fields.flat_map(Field::parameters).collect();
        names.sort_unstable();
        names.dedup();
        let mut known = 0;
        while let Some(name) = names.get(known).copied() {
            known += 1;
            let made_from = self.parameters.iter().filter(|one| one.name == name);
            for other in made_from.flat_map(|one| &one.made_from) {
                if let Some(other) = self.parameters.iter().find(|one| one.name == *other)
                    && !names.contains(&other.name.as_str())
                {
                    names.push(&other.name);
                }
            }
        }
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let parameters = self.parameters.iter();
        parameters.filter(move |one| names.contains(&one.name))
    }
}

/// Expands `template` like [`process`](crate::process), and returns the origin of each
/// object.
///
/// Each expansion generates new random values, except with
/// [`Generation::Once`](crate::Generation::Once).
pub fn trace(
    template: &Template,
    given: &[Assignment],
    options: &Options<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Trace> {
    let run = |expansion: &Expansion<'_, '_>, found: &mut Diagnostics| {
        let plain = expansion.without_labels();
        let labels = labels(template, options, expansion.parameters);
        let mut objects = Vec::new();
        for (index, object) in expansion.objects().enumerate() {
            let mut before = Vec::new();
            // The second expansion reports all problems.
            let unheard = &mut Diagnostics::new();
            plain.object(index, object, unheard, &mut |object, _| {
                before.push(object.value.into_owned());
            });
            let mut before = before.into_iter();
            expansion.object(index, object, found, &mut |object, _| {
                objects.extend(before.next().map(|before| {
                    Origins {
                        template,
                        labels: &labels,
                        object: &object,
                        parameters: expansion.parameters,
                    }
                    .of(&before)
                }));
            });
        }
        let parameters = template.named_parameters();
        let parameters = parameters.filter_map(|parameter| {
            let effective = expansion.parameters.get(&parameter.name)?;
            Some(traced_parameter(template, parameter, effective))
        });
        Trace { objects, parameters: parameters.collect(), message: None }
    };
    // The objects were inspected when they were created.
    let unseen = Options {
        labels: options.labels.clone(),
        namespace: options.namespace.clone(),
        budget: options.budget,
        generation: options.generation.clone(),
        inspect: None,
        shows_secrets: false,
        ..*options
    };
    let (message, mut trace) = expand(template, given, &unseen, diagnostics, run)?;
    trace.message = message;
    Some(trace)
}

fn traced_parameter(
    template: &Template,
    parameter: &Parameter,
    effective: &ParameterValue<'_>,
) -> TracedParameter {
    let is_default = effective.origin == Origin::Default && template.defaults_refer();
    let default = parameter.default_text().filter(|_| is_default);
    TracedParameter {
        name: parameter.name.clone(),
        omits: effective.omits,
        value: effective.may_show.then(|| effective.text.clone().into_owned()),
        origin: effective.origin.clone(),
        place: effective.place.clone(),
        made_from: default.map_or_else(Vec::new, |text| template.names_in(&text)),
    }
}

/// A label to add to objects.
struct Label {
    key: String,
    /// The key as written, if it contains a secret.
    secret_key: Option<String>,
    cause: Cause,
    place: Option<Place>,
    references: Vec<Reference>,
    is_literal: bool,
}

/// Returns all labels. Later labels override earlier ones.
fn labels(template: &Template, options: &Options<'_>, parameters: &Parameters<'_>) -> Vec<Label> {
    let label = |key: &str, value: &str, cause, place| {
        let keys = declared_references(template, parameters, key);
        let hides = keys.iter().any(|one| !one.may_show);
        let mut substitution = Substitution {
            document: template.node().document(),
            dialect: template.dialect,
            parameters,
            strict: false,
            advice: Advice::default(),
            dollars: Dollars::default(),
            budget: options.budget,
            diagnostics: &mut Diagnostics::new(),
        };
        Label {
            key: substitution.text(key, None, &Path::Root("labels")),
            secret_key: hides.then(|| key.to_owned()),
            cause,
            place,
            references: [keys, declared_references(template, parameters, value)].concat(),
            is_literal: is_literal(template, value),
        }
    };
    let mut labels: Vec<(bool, Label)> = template
        .label_entries()
        .filter_map(|(entry, _)| {
            let key = entry.key().ok()?;
            let value = entry.text().ok().flatten().unwrap_or_default();
            let label = label(&key, &value, Cause::Labels, Some(entry.place()));
            Some((label.key != key, label))
        })
        .collect();
    // As in the expansion, a key with references overrides a literal one.
    labels.sort_by_key(|(is_replaced, _)| *is_replaced);
    let given = options.labels.iter().enumerate();
    let given =
        given.map(|(index, one)| label(&one.key, &one.value, Cause::GivenLabel(index), None));
    let own = labels.into_iter().map(|(_, label)| label);
    own.chain(given).collect()
}

/// Returns the references to declared parameters in a text.
fn declared_references(
    template: &Template,
    parameters: &Parameters<'_>,
    text: &str,
) -> Vec<Reference> {
    let found = references(text, template.dialect).filter_map(|(name, spelling)| {
        Some(Reference {
            may_show: parameters.get(name)?.may_show,
            name: name.to_owned(),
            spelling: spelling.to_owned(),
        })
    });
    found.collect()
}

/// Returns `true` if a text contains more than references.
fn is_literal(template: &Template, text: &str) -> bool {
    parts(text, template.dialect).any(|part| part.name().is_none())
}

/// The context for tracing one object.
struct Origins<'t, 'd> {
    template: &'t Template,
    labels: &'t [Label],
    object: &'t Object<'d>,
    parameters: &'t Parameters<'t>,
}

/// The origin of a value: its node and the references in its text and in the texts around it.
#[derive(Clone)]
struct ValueOrigin<'d> {
    /// Its node; `None` within the value of a parameter.
    node: Option<Cursor<'d>>,
    /// The nearest node around it.
    nearest: Option<Cursor<'d>>,
    /// The depth of that node, in steps.
    depth: usize,
    /// The field path without secrets.
    shown: FieldPath,
    references: Vec<Reference>,
    is_literal: bool,
}

impl ValueOrigin<'_> {
    /// Returns a field that is written in the Template.
    fn field(&self, path: FieldPath) -> Field {
        Field {
            path,
            shown: self.shown.clone(),
            written: self.depth,
            place: self.nearest.map(Cursor::place),
            cause: Cause::Object,
            references: self.references.clone(),
            is_literal: self.is_literal,
        }
    }

    /// Returns the origin of a part that is not written in the Template.
    fn beyond(&self, key: Option<&str>, index: usize) -> Self {
        let shown = self.shown.clone();
        Self {
            node: None,
            nearest: None,
            depth: self.depth,
            shown: match key {
                Some(key) => shown.key(key),
                None => shown.index(index),
            },
            references: Vec::new(),
            is_literal: false,
        }
    }
}

impl<'d> Origins<'_, 'd> {
    fn of(&self, before: &Value<'_>) -> Traced {
        let value = &self.object.value;
        let node = value.origin.map(|id| self.object.document.cursor(id));
        let origin = ValueOrigin {
            node,
            nearest: node,
            depth: 0,
            shown: FieldPath::root(),
            references: Vec::new(),
            is_literal: false,
        };
        let mut traced =
            Traced { value: value.clone().into_owned(), fields: Vec::new(), sections: Vec::new() };
        let path = FieldPath::root();
        self.fields(value, Some(before), path, &origin, false, &mut traced);
        traced
    }

    /// Collects the fields of `value`. Without labels and namespace, it is `before`.
    fn fields(
        &self,
        value: &Value<'d>,
        before: Option<&Value<'_>>,
        path: FieldPath,
        origin: &ValueOrigin<'d>,
        is_set: bool,
        traced: &mut Traced,
    ) {
        let is_leaf = match &value.data {
            Data::Scalar(_) => true,
            Data::Sequence(items) => items.is_empty(),
            Data::Mapping(entries) => entries.is_empty(),
        };
        if is_leaf {
            traced.fields.push(if is_set || before != Some(value) {
                self.set(path, &origin.shown)
            } else {
                origin.field(path)
            });
            return;
        }
        traced.sections.extend(
            origin.node.map(|node| Section { path: origin.shown.clone(), place: node.key_place() }),
        );
        let mut index = 0;
        while let Some((key, part)) = value.part(index) {
            let path = match key {
                Some(key) => path.clone().key(key),
                None => path.clone().index(index),
            };
            let before = match (before, key) {
                (Some(before), Some(key)) => before.get(key),
                (Some(before), None) => before.items().and_then(|items| items.get(index)),
                (None, _) => None,
            };
            let is_set = before.is_none();
            let mut origin = if is_set {
                origin.beyond(key, index)
            } else {
                self.part(part, key, index, origin)
            };
            if origin.node.is_some() {
                origin.depth = path.steps().len();
            }
            self.fields(part, before, path, &origin, is_set, traced);
            index += 1;
        }
    }

    /// Returns the origin of an entry or item of a value with the origin `outer`.
    fn part(
        &self,
        part: &Value<'d>,
        key: Option<&str>,
        index: usize,
        outer: &ValueOrigin<'d>,
    ) -> ValueOrigin<'d> {
        let own = part.origin.map(|id| self.object.document.cursor(id));
        // A value from an alias or a merge key names no node.
        let beneath = || match key {
            Some(key) => outer.node?.get(key),
            None => outer.node?.children().nth(index),
        };
        let node = own.or_else(beneath);
        let mut references = outer.references.clone();
        let mut is_literal = outer.is_literal;
        // The key as written, if it contains a secret.
        let mut secret_key = None;
        match (node, outer.nearest) {
            (Some(node), _) => {
                let written = node.key_text().unwrap_or_default();
                let keys = self.references(&written);
                if keys.iter().any(|one| !one.may_show) {
                    secret_key = Some(written);
                }
                references.extend(keys);
                let text = node.text().ok().flatten().unwrap_or_default();
                references.extend(self.references(&text));
                is_literal = self::is_literal(self.template, &text);
            }
            // Its key may be a reference in an alias: assume all references in the nearest node.
            (None, Some(nearest)) if outer.node.is_some() => {
                let duplicates = self.template.dialect.duplicate_keys();
                let whole = nearest.value(duplicates, &mut Diagnostics::new());
                self.all_references(whole.as_ref(), &mut references);
            }
            (None, _) => {}
        }
        let is_inside_secret = node.is_none() && references.iter().any(|one| !one.may_show);
        let shown = outer.shown.clone();
        ValueOrigin {
            node,
            nearest: node.or(outer.nearest),
            depth: outer.depth,
            shown: match (secret_key, key) {
                _ if is_inside_secret => shown,
                (Some(written), _) => shown.key(written),
                (None, Some(key)) => shown.key(key),
                (None, None) => shown.index(index),
            },
            references,
            is_literal,
        }
    }

    fn all_references(&self, value: Option<&Value<'_>>, found: &mut Vec<Reference>) {
        let Some(value) = value else { return };
        if let Some(text) = value.as_str() {
            found.extend(self.references(text));
        }
        let mut index = 0;
        while let Some((key, part)) = value.part(index) {
            found.extend(self.references(key.unwrap_or_default()));
            self.all_references(Some(part), found);
            index += 1;
        }
    }

    /// Returns a field that labels or the namespace set.
    fn set(&self, path: FieldPath, shown: &FieldPath) -> Field {
        let is_namespace = path == FieldPath::root().key("metadata").key("namespace");
        let label = match path.steps().last() {
            Some(Step::Key(key)) => self.labels.iter().rfind(|label| label.key == *key),
            _ => None,
        };
        let label = label.filter(|_| !is_namespace);
        let secret_key = label.and_then(|label| label.secret_key.as_ref());
        let shown = match (secret_key, shown.split_last()) {
            (Some(key), Some((parent, _))) => parent.key(key),
            _ => shown.clone(),
        };
        Field {
            written: path.steps().len(),
            path,
            shown,
            place: label.and_then(|label| label.place.clone()),
            cause: match label {
                Some(label) => label.cause,
                None if is_namespace => Cause::Namespace,
                None => Cause::Labels,
            },
            references: label.map_or_else(Vec::new, |label| label.references.clone()),
            is_literal: label.is_some_and(|label| label.is_literal),
        }
    }

    fn references(&self, text: &str) -> Vec<Reference> {
        declared_references(self.template, self.parameters, text)
    }
}
