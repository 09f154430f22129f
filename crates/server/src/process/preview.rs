//! An expansion for people: the text of each object in pieces, with where each field comes from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use krm_template::template::{
    Assignment, Field, Format, Origin, Template, Trace, Traced, print, trace,
};
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::{Place, Source};
use krm_yaml::{Cursor, Document, DuplicateKeys, FieldPath};

use super::expand::{Given, Work, budget_of_trace};
use super::read;
use super::request::{Request, Syntax, Text};
use super::source_map::LIMIT;
use super::tokens::{self, Class, Token};
use crate::status::{Cause, Result, Status};

/// What stands for a secret.
const MASK: &str = "***";

/// An expansion for people.
#[derive(Clone, Debug, Default)]
pub struct Preview {
    /// The objects in order, if they are to be shown.
    pub objects: Vec<Shown>,
    /// The objects as one text in YAML, with the values of secrets.
    pub yaml: String,
    /// The message of the Template.
    pub message: Option<String>,
    /// What the expansion warns of, without values.
    pub warnings: Vec<String>,
    /// Whether values are masked.
    pub has_masks: bool,
    /// How many objects the expansion created.
    pub created: usize,
}

/// An object.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its text.
    pub pieces: Vec<Piece>,
    /// How many fields came from parameters.
    pub from_parameters: usize,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The part.
    pub text: String,
    /// What it is.
    pub class: Class,
    /// Where it comes from, if it is a value.
    pub from: Option<From>,
}

/// Where a value comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct From {
    /// The line of the Template, from 1; zero if it is not written there.
    pub line: usize,
    /// The parameters that it was made of.
    pub parameters: Vec<String>,
    /// The same in words.
    pub words: String,
}

/// How to make a preview.
#[derive(Clone, Copy)]
pub struct Look {
    /// What generated values are derived from, so that they are the same each time.
    pub seed: [u8; 32],
    /// Whether the values of secrets are shown.
    pub shows_secrets: bool,
}

/// Expands a Template in YAML with the `Parameters` in the body of a request, and shows the result.
/// All checks are those of [`stored`](super::stored).
///
/// # Errors
/// As [`stored`](super::stored).
pub fn preview(
    request: &Request<'_>,
    template: Text<'_>,
    parameters: Text<'_>,
    look: Look,
) -> Result<Preview> {
    let document = read::document("Template", template)?;
    let values = read::document("Parameters", parameters)?;
    let given = Given::read(request, &document, &values)?;
    let request = given.request(request);
    let work = Work {
        request: &request,
        document: &document,
        syntax: template.syntax,
        values: Some(&values),
    };
    let checked = work.run(&given.values, given.found.clone(), given.warnings.clone())?;
    let printing = budget_of_trace(&request.limits);
    let options = work.options(&printing, Some(look.seed));
    let mut unheard = Diagnostics::new();
    let read = read::template(&document, request.group, false, &mut unheard);
    // The values of the parameters that are secret are still hidden.
    let mut open: Vec<Assignment> = given.values.clone();
    for one in &mut open {
        one.secret = false;
    }
    let printed = read.as_ref().and_then(|template| {
        let printed = print(template, &open, &options, Format::Yaml, &mut unheard)?;
        Some((template, printed))
    });
    work.check_budget(&printing)?;
    let (template, printed) = printed.ok_or_else(|| Status::internal("an expansion failed"))?;
    let yaml = printed.pieces.concat();
    if yaml.len() > LIMIT {
        let message = format!("the objects have more than {LIMIT} bytes, which a page cannot show");
        return Err(work.status(vec![Cause::new("FieldValueTooLong", "objects", message)]));
    }
    let budget = budget_of_trace(&request.limits);
    let options = work.options(&budget, Some(look.seed));
    let trace = trace(template, &open, &options, &mut unheard);
    work.check_budget(&budget)?;
    let trace = trace.ok_or_else(|| Status::internal("an expansion failed"))?;
    let painter = Painter::new(&document, &trace, look.shows_secrets);
    let mut preview = Preview {
        objects: painter.objects(&yaml),
        message: printed.message,
        warnings: checked.warnings,
        created: checked.objects,
        has_masks: false,
        yaml,
    };
    let masked = |object: &Traced| object.fields.iter().any(|field| object.is_secret(field));
    preview.has_masks = !look.shows_secrets && trace.objects.iter().any(masked);
    Ok(preview)
}

/// The text of a Template in pieces, without secrets.
#[must_use]
pub fn source(group: crate::groups::Group, template: Text<'_>) -> Vec<Piece> {
    let Ok(document) = read::document("Template", template) else {
        return Vec::new();
    };
    let mut unheard = Diagnostics::new();
    let Some(template) = read::template(&document, group, false, &mut unheard) else {
        return Vec::new();
    };
    let hidden = hidden(&template, &document);
    let mut pieces = Vec::new();
    for token in tokens::of(&document) {
        let is_hidden = token.class.is_value()
            && hidden
                .iter()
                .any(|range| range.start <= token.range.start && token.range.end <= range.end);
        let text = document.slice(token.range);
        let text = if is_hidden {
            masked(text)
        } else {
            text.to_owned()
        };
        pieces.push(Piece {
            text,
            class: token.class,
            from: None,
        });
    }
    pieces
}

/// A text of YAML in pieces; in a single one if it is not YAML.
#[must_use]
pub fn pieces(text: &str) -> Vec<Piece> {
    let piece = |text: &str, class| Piece {
        text: text.to_owned(),
        class,
        from: None,
    };
    match Document::parse(&Source::new("text", text)) {
        Ok(document) => {
            let tokens = tokens::of(&document).into_iter();
            tokens
                .map(|token| piece(document.slice(token.range), token.class))
                .collect()
        }
        Err(_) => vec![piece(text, Class::Plain)],
    }
}

/// The text of a Template as YAML: JSON is rewritten, without what the server sets.
#[must_use]
pub fn readable(text: Text<'_>) -> String {
    if text.syntax == Syntax::Yaml {
        return text.text.to_owned();
    }
    let document = Document::parse(&Source::new("Template", text.text));
    let rewritten = document.ok().and_then(|document| {
        let root = document.roots().next()?;
        let mut value = root.value(DuplicateKeys::LastWins, &mut Diagnostics::new())?;
        if let Some(metadata) = value.get_mut("metadata") {
            for key in [
                "managedFields",
                "uid",
                "resourceVersion",
                "generation",
                "creationTimestamp",
            ] {
                metadata.remove(key);
            }
        }
        Some(krm_yaml::to_string(&value))
    });
    rewritten.unwrap_or_else(|| text.text.to_owned())
}

/// The `apiVersion` of an object; empty if it has none. `None` if the text is not one object.
#[must_use]
pub fn api_version(text: Text<'_>) -> Option<String> {
    let document = read::document("Template", text).ok()?;
    let version = document.roots().next()?.text_at(["apiVersion"]);
    Some(version.unwrap_or_default().into_owned())
}

/// The places of values in a Template that must not be shown.
fn hidden(template: &Template, document: &Document) -> Vec<std::ops::Range<usize>> {
    let Some(root) = document.roots().next() else {
        return Vec::new();
    };
    let mut hidden = Vec::new();
    let values = root.get("values");
    for parameter in template.parameters() {
        if parameter.may_show() {
            continue;
        }
        let given = values.and_then(|values| values.get(&parameter.name));
        let own = parameter.node().get("value");
        hidden.extend(
            [own, given]
                .into_iter()
                .flatten()
                .map(|node| node.place().range),
        );
    }
    let objects = root.get("objects").into_iter().flat_map(Cursor::children);
    let is_secret = |object: &Cursor<'_>| object.text_at(["kind"]).as_deref() == Some("Secret");
    for object in objects.filter(is_secret) {
        let data = ["data", "stringData"].map(|key| object.get(key));
        hidden.extend(data.into_iter().flatten().map(|node| node.place().range));
    }
    hidden
}

/// A mask with the line breaks at the end of a text.
fn masked(text: &str) -> String {
    let end = text.get(text.trim_end().len()..).unwrap_or_default();
    format!("{MASK}{end}")
}

/// Tells where the parts of objects come from.
struct Painter<'p> {
    trace: &'p Trace,
    /// Where the lines of the Template begin.
    lines: Vec<usize>,
    document: &'p Arc<Document>,
    shows_secrets: bool,
}

impl<'p> Painter<'p> {
    fn new(document: &'p Arc<Document>, trace: &'p Trace, shows_secrets: bool) -> Self {
        let breaks = document.text().match_indices('\n').map(|(at, _)| at + 1);
        Self {
            trace,
            lines: std::iter::once(0).chain(breaks).collect(),
            document,
            shows_secrets,
        }
    }

    /// The objects of a stream.
    fn objects(&self, yaml: &str) -> Vec<Shown> {
        let mut texts = vec![String::new()];
        for line in yaml.split_inclusive('\n') {
            match texts.last_mut() {
                Some(text) if line != "---\n" => text.push_str(line),
                _ => texts.push(String::new()),
            }
        }
        let objects = self.trace.objects.iter().zip(texts);
        objects
            .map(|(object, text)| self.object(object, &text))
            .collect()
    }

    fn object(&self, object: &Traced, text: &str) -> Shown {
        let value = |keys: &[&str]| object.value.str_at(keys).unwrap_or_default().to_owned();
        let name = object
            .fields
            .iter()
            .find(|field| field.path.to_string() == "metadata.name" && object.is_secret(field));
        let name = if name.is_some() && !self.shows_secrets {
            MASK.to_owned()
        } else {
            let name = value(&["metadata", "name"]);
            if name.is_empty() {
                value(&["metadata", "generateName"])
            } else {
                name
            }
        };
        let is_from = |field: &&Field| !field.references.is_empty();
        Shown {
            kind: value(&["kind"]),
            name,
            pieces: self.pieces(object, text),
            from_parameters: object.fields.iter().filter(is_from).count(),
        }
    }

    fn pieces(&self, object: &Traced, text: &str) -> Vec<Piece> {
        let Ok(document) = Document::parse(&Source::new("object", text)) else {
            // What cannot be read again may hold a secret.
            return Vec::new();
        };
        let fields: BTreeMap<String, &Field> = object
            .fields
            .iter()
            .map(|field| (field.path.to_string(), field))
            .collect();
        let secrets = object.fields.iter().filter(|field| object.is_secret(field));
        let keys: BTreeSet<String> = secrets.clone().flat_map(secret_keys).collect();
        let has_secrets = secrets.count() > 0;
        let tokens = tokens::of(&document);
        let piece = |token: Token| {
            let text = document.slice(token.range);
            let field = token.path.as_ref().and_then(|path| fields.get(path));
            let is_secret = match (token.class, &token.path, field) {
                (Class::Key, Some(path), _) => keys.contains(path),
                (class, _, Some(field)) if class.is_value() => object.is_secret(field),
                (class, ..) => class.is_value() && has_secrets,
            };
            let is_masked = is_secret && !self.shows_secrets;
            Piece {
                text: if is_masked {
                    masked(text)
                } else {
                    text.to_owned()
                },
                from: field
                    .filter(|_| token.class.is_value())
                    .map(|field| self.from(field, is_secret)),
                class: token.class,
            }
        };
        tokens.into_iter().map(piece).collect()
    }

    fn from(&self, field: &Field, is_secret: bool) -> From {
        let line = field.place.as_ref().map_or(0, |place| self.line(place));
        let parameters: Vec<String> = field.parameters().into_iter().map(str::to_owned).collect();
        let last = field.path.steps().last();
        let last = match last {
            Some(krm_yaml::Step::Key(key)) if field.shown == field.path => key.clone(),
            Some(krm_yaml::Step::Index(index)) => format!("[{index}]"),
            _ => String::new(),
        };
        let mut words = last;
        if !parameters.is_empty() {
            let origins: Vec<String> = parameters
                .iter()
                .map(|name| self.parameter(name, is_secret))
                .collect();
            words = format!("{words} ← {}", origins.join(", "));
        }
        if line > 0 {
            words = format!("{words} · template line {line}");
        }
        From {
            line,
            parameters,
            words,
        }
    }

    /// A parameter with the source of its value.
    fn parameter(&self, name: &str, is_secret: bool) -> String {
        let mut parameters = self.trace.parameters.iter();
        let Some(parameter) = parameters.find(|one| one.name == name) else {
            return name.to_owned();
        };
        let source = match parameter.origin {
            Origin::Given(_) => "your value",
            Origin::Default => "default",
            Origin::Generated => "generated",
            Origin::Nowhere => "no value",
        };
        match &parameter.value {
            Some(value) if !is_secret && !value.is_empty() && value.len() <= 80 => {
                format!("{name} ({source} {value})")
            }
            _ => format!("{name} ({source})"),
        }
    }

    fn line(&self, place: &Place) -> usize {
        if !Arc::ptr_eq(&place.source, self.document.source()) {
            return 0;
        }
        self.lines
            .partition_point(|start| *start <= place.range.start)
    }
}

/// The paths of the keys of a field that have a secret.
fn secret_keys(field: &Field) -> Vec<String> {
    let mut path = FieldPath::root();
    let mut keys = Vec::new();
    let shown = field.shown.steps();
    for (index, step) in field.path.steps().iter().enumerate() {
        path.push(step.clone());
        if shown.get(index) != Some(step) {
            keys.push(path.to_string());
        }
    }
    keys
}
