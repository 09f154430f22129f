//! Objects printed one after another: as a stream of YAML documents, or as one List in JSON.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::template::expand::{Expander, Object, Options, expand};
use crate::template::model::Template;
use crate::template::values::Given;
use crate::yaml::{self, Cursor, Data, NodeId, Position, Scalar, Value};

/// How objects are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A stream of documents with `---` between them, each with the layout of the Template.
    Yaml,
    /// A `v1` List, as `oc process -o json` prints it.
    Json,
}

/// The text of all objects of a Template.
#[derive(Debug)]
pub struct Printed {
    /// The text, in pieces.
    pub pieces: Vec<String>,
    /// The message of the Template, if it has one.
    pub message: Option<String>,
}

/// How many objects a thread is worth starting for.
const OBJECTS_A_THREAD: usize = 64;
/// How many threads there are at most.
const MAX_THREADS: usize = 8;
/// Objects may be nested as deep as [`yaml::MAX_DEPTH`] says.
const STACK: usize = 16 * 1024 * 1024;

/// Expands `template` with `given` values, the strongest last, and prints its objects in order;
/// those of a large Template by several threads, with the same text. All errors and warnings go
/// to `diagnostics`; after an error the text is of no use.
pub fn print(
    template: &Template<'_>,
    given: &[Given],
    options: &Options<'_>,
    format: Format,
    diagnostics: &mut Diagnostics,
) -> Option<Printed> {
    let (message, printed) = expand(template, given, options, diagnostics, |expander, found| {
        print_objects(expander, format, found)
    })?;
    let (pieces, mut complaints) = printed;
    complaints.attribute_to(&template.reference);
    if !diagnostics.has_errors() {
        diagnostics.append(complaints);
    }
    Some(Printed { pieces, message })
}

/// The text of the objects, and what there is to complain of in printing them.
fn print_objects(
    expander: &Expander<'_, '_>,
    format: Format,
    diagnostics: &mut Diagnostics,
) -> (Vec<String>, Diagnostics) {
    let objects: Vec<(usize, Cursor<'_>)> = expander.objects().enumerate().collect();
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MAX_THREADS);
    let size = objects.len().div_ceil(threads).max(OBJECTS_A_THREAD);
    let run = |objects: &[(usize, Cursor<'_>)]| {
        let mut writer = Writer::new(format);
        let mut found = Diagnostics::new();
        for (index, object) in objects {
            expander.object(*index, *object, &mut found, &mut |object, found| {
                if !found.has_errors() {
                    writer.object(&object);
                }
            });
        }
        (writer, found)
    };
    let mut parts = Vec::new();
    std::thread::scope(|scope| {
        let mut chunks = objects.chunks(size);
        let first = chunks.next().unwrap_or_default();
        let others: Vec<_> = chunks
            .map(|chunk| {
                let thread = std::thread::Builder::new().stack_size(STACK);
                (chunk, thread.spawn_scoped(scope, move || run(chunk)))
            })
            .collect();
        parts.push(run(first));
        for (chunk, thread) in others {
            // Where no thread can be had, or one has died, this one does its work.
            let done = thread.ok().and_then(|thread| thread.join().ok());
            parts.push(done.unwrap_or_else(|| run(chunk)));
        }
    });
    let mut pieces = Vec::new();
    let mut complaints = Diagnostics::new();
    for (writer, found) in parts {
        diagnostics.append(found);
        complaints.append(writer.complaints);
        if !writer.text.is_empty() {
            if !pieces.is_empty() {
                pieces.push(writer.separator.to_owned());
            }
            pieces.push(writer.text);
        }
    }
    if format == Format::Json {
        let foot = if pieces.is_empty() {
            "]\n}\n"
        } else {
            "\n    ]\n}\n"
        };
        pieces.insert(0, JSON_HEAD.to_owned());
        pieces.push(foot.to_owned());
    }
    (pieces, complaints)
}

const JSON_HEAD: &str = "{\n    \"kind\": \"List\",\n    \"apiVersion\": \"v1\",\n    \"metadata\": {},\n    \"items\": [";

/// Spaces a level of JSON is indented by, as `oc` prints it.
const JSON_WIDTH: usize = 4;

/// Collects the text of the objects handed to it.
struct Writer {
    format: Format,
    text: String,
    /// What stands between two objects.
    separator: &'static str,
    complaints: Diagnostics,
}

impl Writer {
    const fn new(format: Format) -> Self {
        Self {
            format,
            text: String::new(),
            separator: ",",
            complaints: Diagnostics::new(),
        }
    }

    fn object(&mut self, object: &Object<'_>) {
        match self.format {
            Format::Yaml => self.yaml(object),
            Format::Json => self.json(object),
        }
    }

    fn yaml(&mut self, object: &Object<'_>) {
        let crlf = object.document.eol() == "\r\n";
        self.separator = if crlf { "---\r\n" } else { "---\n" };
        let rendered = yaml::render(object.document, &object.value, Position::Document);
        if let Some(text) = self.complaints.take(rendered) {
            if !self.text.is_empty() {
                self.text.push_str(self.separator);
            }
            self.text.push_str(&text);
        }
    }

    fn json(&mut self, object: &Object<'_>) {
        if let Some((digits, origin)) = non_finite(&object.value, object.value.origin) {
            let mut diagnostic = Diagnostic::error(format!("`{digits}` cannot be written as JSON"))
                .field(object.field.clone())
                .hint("put it in quotes if it is a string");
            diagnostic.place = origin.map(|node| object.document.cursor(node).place());
            self.complaints.push(diagnostic);
        }
        if !self.text.is_empty() {
            self.text.push_str(self.separator);
        }
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', 2 * JSON_WIDTH));
        yaml::json(&mut self.text, &object.value, Some(JSON_WIDTH), 2);
    }
}

/// The first infinite or undefined number, which YAML has and JSON has not, and the nearest node
/// that holds it.
fn non_finite<'v>(
    value: &'v Value<'_>,
    nearest: Option<NodeId>,
) -> Option<(&'v str, Option<NodeId>)> {
    let nearest = value.origin.or(nearest);
    match &value.data {
        Data::Scalar(Scalar::Number(digits)) if yaml::scalar::is_non_finite(digits) => {
            Some((digits, nearest))
        }
        Data::Scalar(_) => None,
        Data::Sequence(items) => items.iter().find_map(|item| non_finite(item, nearest)),
        Data::Mapping(entries) => entries
            .iter()
            .find_map(|(_, value)| non_finite(value, nearest)),
    }
}
