//! Where each field of the objects came from: its place, and the parameters that went into it.
//!
//! Objects are expanded twice, with labels and namespace and without. What differs was set by
//! these. All else stands in the Template, at the node that a value names, and the references in
//! that node's text say which parameters it was made from.

use crate::diagnostic::Diagnostics;
use crate::source::Place;
use crate::template::expand::{Expander, Object, Options, expand};
use crate::template::model::Template;
use crate::template::parameters::Parameters;
use crate::template::reference::{Part, parts};
use crate::template::values::Given;
use crate::yaml::{Cursor, Data, FieldPath, Step, Value};

/// An object with where its fields came from.
#[derive(Debug)]
pub struct Traced {
    /// The object.
    pub value: Value<'static>,
    /// Its scalars, and the lists and mappings that are empty, in order.
    pub fields: Vec<Field>,
}

/// A field of an object and where it came from.
#[derive(Debug)]
pub struct Field {
    /// The field.
    pub path: FieldPath,
    /// How many steps of the path stand in the Template; the others are in a parameter's value.
    pub written: usize,
    /// Where it was written, if that was in the Template.
    pub place: Option<Place>,
    /// What put it there.
    pub cause: Cause,
    /// What its text refers to, in order.
    pub references: Vec<Reference>,
}

/// What put a field into an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It stands in the object in the Template.
    Object,
    /// The labels of the Template.
    Labels,
    /// Labels of the command line or of an instance.
    GivenLabels,
    /// The namespace for objects that name none.
    Namespace,
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
    /// Whether the field must not be shown: a secret went into it, or it is what a Secret holds.
    #[must_use]
    pub fn is_secret(&self, field: &Field) -> bool {
        let of_secret = || {
            let [data, string_data] = ["data", "stringData"].map(|key| FieldPath::root().key(key));
            self.value.str_at(&["kind"]) == Some("Secret")
                && (field.path.starts_with(&data) || field.path.starts_with(&string_data))
        };
        field.references.iter().any(|one| !one.may_show) || of_secret()
    }
}

/// Expands `template` as [`process`](crate::template::process) does, and tells of each object
/// where it came from. `look` sees the values of the parameters.
pub fn trace<R>(
    template: &Template<'_>,
    given: &[Given],
    options: &Options<'_>,
    diagnostics: &mut Diagnostics,
    look: impl FnOnce(&Parameters<'_>) -> R,
) -> Option<(Vec<Traced>, R)> {
    let run = |expander: &Expander<'_, '_>, found: &mut Diagnostics| {
        let plain = expander.without_labels();
        let mut traced = Vec::new();
        for (index, object) in expander.objects().enumerate() {
            let mut before = Vec::new();
            // Whatever is wrong is reported the second time.
            let unheard = &mut Diagnostics::new();
            plain.object(index, object, unheard, &mut |object, _| {
                before.push(object.value.into_owned());
            });
            let mut before = before.into_iter();
            expander.object(index, object, found, &mut |object, _| {
                traced.extend(before.next().map(|before| {
                    Origins {
                        template,
                        given: &options.labels,
                        object: &object,
                        parameters: expander.parameters,
                    }
                    .of(&before)
                }));
            });
        }
        (traced, look(expander.parameters))
    };
    Some(expand(template, given, options, diagnostics, run)?.1)
}

/// Looks at one object.
struct Origins<'t, 'd> {
    template: &'t Template<'t>,
    /// Labels that win over the Template's.
    given: &'t [(String, String)],
    object: &'t Object<'d>,
    parameters: &'t Parameters<'t>,
}

/// Where a value was read from, and what its text and those around it refer to.
#[derive(Clone)]
struct Whence<'d> {
    /// Its node; `None` within the value of a parameter.
    node: Option<Cursor<'d>>,
    /// The nearest node that holds it.
    nearest: Option<Cursor<'d>>,
    /// How many steps down that is.
    depth: usize,
    references: Vec<Reference>,
}

impl<'d> Origins<'_, 'd> {
    fn of(&self, before: &Value<'_>) -> Traced {
        let value = &self.object.value;
        let node = value.origin.map(|id| self.object.document.cursor(id));
        let whence = Whence {
            node,
            nearest: node,
            depth: 0,
            references: Vec::new(),
        };
        let mut fields = Vec::new();
        self.fields(
            value,
            Some(before),
            FieldPath::root(),
            &whence,
            false,
            &mut fields,
        );
        Traced {
            value: value.clone().into_owned(),
            fields,
        }
    }

    /// Collects the fields of `value`, which was `before` without labels and namespace.
    fn fields(
        &self,
        value: &Value<'d>,
        before: Option<&Value<'_>>,
        path: FieldPath,
        whence: &Whence<'d>,
        is_set: bool,
        fields: &mut Vec<Field>,
    ) {
        let is_leaf = match &value.data {
            Data::Scalar(_) => true,
            Data::Sequence(items) => items.is_empty(),
            Data::Mapping(entries) => entries.is_empty(),
        };
        if is_leaf {
            fields.push(if is_set || before != Some(value) {
                self.set(path)
            } else {
                Field {
                    path,
                    written: whence.depth,
                    place: whence.nearest.map(Cursor::place),
                    cause: Cause::Object,
                    references: whence.references.clone(),
                }
            });
            return;
        }
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
            let mut whence = self.part(part, key, index, whence);
            if whence.node.is_some() {
                whence.depth = path.steps().len();
            }
            self.fields(part, before, path, &whence, before.is_none(), fields);
            index += 1;
        }
    }

    /// Where an entry or item comes from that is in something from `outer`.
    fn part(
        &self,
        part: &Value<'d>,
        key: Option<&str>,
        index: usize,
        outer: &Whence<'d>,
    ) -> Whence<'d> {
        let own = part.origin.map(|id| self.object.document.cursor(id));
        // What came by an alias or a merge key names no node.
        let beneath = || match key {
            Some(key) => outer.node?.get(key),
            None => outer.node?.children().nth(index),
        };
        let node = own.or_else(beneath);
        let mut references = outer.references.clone();
        match (node, outer.nearest) {
            (Some(node), _) => {
                references.extend(self.references(&node.key_text().unwrap_or_default()));
                let text = node.text().ok().flatten();
                references.extend(self.references(&text.unwrap_or_default()));
            }
            // Its key may have been a reference behind an alias: all that is there may be in it.
            (None, Some(nearest)) if outer.node.is_some() => {
                let duplicates = self.template.dialect.duplicate_keys();
                let whole = nearest.value(duplicates, &mut Diagnostics::new());
                self.all_references(whole.as_ref(), &mut references);
            }
            (None, _) => {}
        }
        Whence {
            node,
            nearest: node.or(outer.nearest),
            depth: outer.depth,
            references,
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

    /// A field that labels or the namespace set.
    fn set(&self, path: FieldPath) -> Field {
        let key = match path.steps().last() {
            Some(Step::Key(key)) => key.as_str(),
            _ => "",
        };
        let is_meant = |text: &str| text == key || !self.references(text).is_empty();
        let mut labels = self.template.labels.into_iter().flat_map(Cursor::children);
        let is_namespace = path == FieldPath::root().key("metadata").key("namespace");
        let given = self.given.iter().find(|(given, _)| is_meant(given));
        let own = labels.find(|entry| entry.key().is_ok_and(|own| is_meant(&own)));
        let (cause, place, references) = match (given, own) {
            _ if is_namespace => (Cause::Namespace, None, Vec::new()),
            (Some((given, value)), _) => (
                Cause::GivenLabels,
                None,
                [given, value].map(|text| self.references(text)).concat(),
            ),
            (_, Some(entry)) => {
                let value = entry.text().ok().flatten().unwrap_or_default();
                let key = entry.key().unwrap_or_default();
                (
                    Cause::Labels,
                    Some(entry.place()),
                    [self.references(&key), self.references(&value)].concat(),
                )
            }
            _ => (Cause::Labels, None, Vec::new()),
        };
        Field {
            written: path.steps().len(),
            path,
            place,
            cause,
            references,
        }
    }

    /// The references in a text to parameters that there are.
    fn references(&self, text: &str) -> Vec<Reference> {
        let found = parts(text, self.template.dialect).into_iter();
        let references = found.filter_map(|part| match part {
            Part::String { name, spelling } | Part::Raw { name, spelling } => Some(Reference {
                may_show: self.parameters.get(name)?.may_show,
                name: name.to_owned(),
                spelling: spelling.to_owned(),
            }),
            _ => None,
        });
        references.collect()
    }
}
