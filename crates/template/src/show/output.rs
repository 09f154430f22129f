//! Prints objects: as a stream, as one List, as a ResourceList or by name.

use crate::declare::model::Template;
use crate::expand::expansion::{Expansion, Look, Object, Options, expand};
use crate::values::given::Assignment;
use krm_core::identity::group;
use krm_core::lists;
use krm_core::threads;
use krm_core::visible::on_one_line;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Cursor, Document, Position, View};

/// The output format of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A stream of documents with `---` between them, each with the layout of the Template.
    Yaml,
    /// A `v1` List in YAML, its items with the layout of the Template.
    List,
    /// A ResourceList in YAML, its items with the layout of the Template.
    ResourceList,
    /// A `v1` List in JSON, as `oc process -o json` prints it.
    Json,
    /// Objects in JSON, one after another, as `oc process --raw -o json` prints them.
    JsonStream,
    /// A line for each object, such as `deployment.apps/web`.
    Name,
}

impl Format {
    /// Returns the text between two objects. A Template with CRLF line endings overrides it.
    const fn separator(self) -> &'static str {
        match self {
            Self::Yaml => "---\n",
            Self::Json => ",",
            Self::List | Self::ResourceList | Self::JsonStream | Self::Name => "",
        }
    }

    /// Returns the position of each object in the output, if it keeps the layout of the Template.
    const fn position(self) -> Option<Position> {
        match self {
            Self::Yaml => Some(Position::Document),
            Self::List | Self::ResourceList => Some(Position::Item { column: 0 }),
            Self::Json | Self::JsonStream | Self::Name => None,
        }
    }

    /// Returns the text before and after all objects.
    const fn frame(self, is_empty: bool) -> (&'static str, &'static str) {
        match (self, is_empty) {
            (Self::List, false) => (LIST_ITEMS, ""),
            (Self::List, true) => (LIST_EMPTY, ""),
            (Self::ResourceList, false) => (RESOURCE_LIST_ITEMS, ""),
            (Self::ResourceList, true) => (RESOURCE_LIST_EMPTY, ""),
            (Self::Json, false) => (JSON_HEAD, "\n    ]\n}\n"),
            (Self::Json, true) => (JSON_HEAD, "]\n}\n"),
            (Self::Yaml | Self::JsonStream | Self::Name, _) => ("", ""),
        }
    }
}

const LIST_ITEMS: &str = "apiVersion: v1\nkind: List\nmetadata: {}\nitems:\n";
const LIST_EMPTY: &str = "apiVersion: v1\nkind: List\nmetadata: {}\nitems: []\n";
const RESOURCE_LIST_ITEMS: &str =
    "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n";
const RESOURCE_LIST_EMPTY: &str =
    "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n";
const JSON_HEAD: &str = "{\n    \"kind\": \"List\",\n    \"apiVersion\": \"v1\",\n    \"metadata\": {},\n    \"items\": [";

/// The text of all objects of a Template.
#[derive(Debug)]
pub struct Printed {
    /// The text in pieces, to be printed one after another.
    pub pieces: Vec<String>,
    /// The message of the Template, if it has one.
    pub message: Option<String>,
}

/// The minimum number of objects for each thread.
const OBJECTS_A_THREAD: usize = 64;

/// Expands `template` with the `given` values and prints its objects in order.
///
/// Later values override earlier ones. Several threads print the objects of a large Template, with
/// the same result. Returns `None` after an error; all errors and warnings go to `diagnostics`.
pub fn print(
    template: &Template,
    given: &[Assignment],
    options: &Options<'_>,
    format: Format,
    diagnostics: &mut Diagnostics,
) -> Option<Printed> {
    let mut printer = Printer::new(format);
    let message = printer.add(template, given, options, diagnostics);
    let pieces = printer.finish();
    (!diagnostics.has_errors()).then_some(Printed { pieces, message })
}

/// A printer of the objects of several expansions as one text.
#[derive(Debug)]
pub struct Printer {
    format: Format,
    pieces: Vec<String>,
}

impl Printer {
    /// Creates a printer without objects.
    #[must_use]
    pub const fn new(format: Format) -> Self {
        Self { format, pieces: Vec::new() }
    }

    /// Expands `template` like [`print()`] and prints its objects after the others. Returns its
    /// message, if it has one.
    pub fn add(
        &mut self,
        template: &Template,
        given: &[Assignment],
        options: &Options<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<String> {
        let format = self.format;
        let (message, printed) =
            expand(template, given, options, diagnostics, |expansion, found| {
                expansion.warn(found);
                print_objects(expansion, format, found)
            })?;
        let (texts, mut complaints) = printed;
        complaints.attribute_to(&template.reference);
        if !diagnostics.has_errors() {
            diagnostics.append(complaints);
        }
        for (separator, text) in texts {
            if !self.pieces.is_empty() {
                self.pieces.push(separator.to_owned());
            }
            self.pieces.push(text);
        }
        message
    }

    /// Prints objects after the others.
    pub fn objects<'o>(
        &mut self,
        objects: impl IntoIterator<Item = Object<'o>>,
        diagnostics: &mut Diagnostics,
    ) {
        let mut writer = Writer::new(self.format);
        for object in objects {
            writer.object(&object);
        }
        diagnostics.append(writer.complaints);
        if writer.text.is_empty() {
            return;
        }
        if !self.pieces.is_empty() {
            self.pieces.push(writer.separator.to_owned());
        }
        self.pieces.push(writer.text);
    }

    /// Returns the whole text, in pieces.
    pub fn finish(self) -> Vec<String> {
        let (head, foot) = self.format.frame(self.pieces.is_empty());
        let mut pieces = self.pieces;
        if !head.is_empty() {
            pieces.insert(0, head.to_owned());
        }
        if !foot.is_empty() {
            pieces.push(foot.to_owned());
        }
        pieces
    }
}

/// Prints the objects as items of a list that begins at the left margin.
pub(crate) fn print_items(
    expansion: &Expansion<'_, '_>,
    diagnostics: &mut Diagnostics,
) -> (String, Diagnostics) {
    let (texts, complaints) = print_objects(expansion, Format::List, diagnostics);
    let texts = texts.into_iter().map(|(_, text)| text);
    (texts.collect(), complaints)
}

/// Texts, each with the separator before it.
type Texts = Vec<(&'static str, String)>;

/// Prints the objects. Returns their text, and the problems with printing them.
fn print_objects(
    expansion: &Expansion<'_, '_>,
    format: Format,
    diagnostics: &mut Diagnostics,
) -> (Texts, Diagnostics) {
    let objects: Vec<(usize, Cursor<'_>)> = expansion.objects().enumerate().collect();
    let parts = threads::in_chunks(&objects, OBJECTS_A_THREAD, |objects| {
        let mut writer = Writer::new(format);
        writer.make_room(objects.iter().map(|(_, object)| *object));
        let mut found = Diagnostics::new();
        for (index, object) in objects {
            if !expansion.goes_on() {
                break;
            }
            let field = format!("objects[{index}]");
            let opened = object.open();
            let object = opened.cursor();
            if writer.patched(expansion, object, &field, &mut found) {
                continue;
            }
            expansion.opened(object, field, &mut found, &mut |object, found| {
                if !found.has_errors() {
                    writer.object(&object);
                }
            });
        }
        (writer, found)
    });
    let mut texts = Vec::new();
    let mut complaints = Diagnostics::new();
    for (writer, found) in parts {
        diagnostics.append(found);
        complaints.append(writer.complaints);
        if !writer.text.is_empty() {
            texts.push((writer.separator, writer.text));
        }
    }
    (texts, complaints)
}

/// The indentation of JSON in spaces, as in `oc`.
const JSON_WIDTH: usize = 4;

/// A writer that collects the text of objects.
struct Writer {
    format: Format,
    text: String,
    /// The text between two objects.
    separator: &'static str,
    complaints: Diagnostics,
}

impl Writer {
    const fn new(format: Format) -> Self {
        Self {
            format,
            text: String::new(),
            separator: format.separator(),
            complaints: Diagnostics::new(),
        }
    }

    /// Reserves memory for the text of these objects. A text that grows is copied, and both copies
    /// take memory. Reserved memory that is not used takes none.
    fn make_room<'d>(&mut self, objects: impl Iterator<Item = Cursor<'d>>) {
        if self.format != Format::Name {
            let length: usize = objects.map(|object| object.end() - object.start()).sum();
            let is_json = self.format.position().is_none();
            // JSON on one line triples when it is indented.
            let more = if is_json { 2 * length } else { length / 2 };
            self.text.reserve(length + more);
        }
    }

    fn object(&mut self, object: &Object<'_>) {
        let Some(position) = self.format.position() else {
            return self.data(View::from(&object.value));
        };
        self.set_separator(object.document);
        let rendered = lists::render(object.document, &object.value, position);
        if let Some(text) = self.complaints.take(rendered) {
            self.separate();
            self.text.push_str(&text);
        }
    }

    /// Prints an object in a format without the layout of the Template.
    fn data(&mut self, object: View<'_>) {
        match self.format {
            Format::Name => self.name(object),
            Format::Json => self.json(object, 2),
            Format::JsonStream | Format::Yaml | Format::List | Format::ResourceList => {
                self.json(object, 0);
            }
        }
    }

    /// Prints the name of an object like `oc process -o name`.
    fn name(&mut self, object: View<'_>) {
        let text = |keys: &[&str]| object.str_at(keys).filter(|text| !text.is_empty());
        let kind = text(&["kind"]).unwrap_or_default().to_lowercase();
        self.text.push_str(&on_one_line(&kind));
        let api_version = text(&["apiVersion"]).unwrap_or_default();
        let group = group(&api_version);
        if !group.is_empty() {
            self.text.push('.');
            self.text.push_str(&on_one_line(group));
        }
        let name = text(&["metadata", "name"]).or_else(|| text(&["metadata", "generateName"]));
        self.text.push('/');
        self.text.push_str(&on_one_line(&name.unwrap_or_default()));
        self.text.push('\n');
    }

    fn separate(&mut self) {
        if !self.text.is_empty() {
            self.text.push_str(self.separator);
        }
    }

    /// Expands and prints an object without reading its unchanged parts. Returns `false`, and does
    /// nothing, if the whole object must be read.
    fn patched(
        &mut self,
        expansion: &Expansion<'_, '_>,
        node: Cursor<'_>,
        field: &str,
        diagnostics: &mut Diagnostics,
    ) -> bool {
        let mut found = Diagnostics::new();
        let Some(object) = expansion.patched(node, field, &mut found) else {
            return false;
        };
        let position = self.format.position();
        let text = position.and_then(|position| krm_yaml::render_patched(&object, position));
        if position.is_some() && text.is_none() {
            return false;
        }
        let look = Look { view: object.view(), document: node.document(), field };
        debug_assert!(
            self.is_whole(expansion, &look, text.as_deref(), &found),
            "{text:?} with {found:?}"
        );
        expansion.inspect(&look, &mut found);
        diagnostics.append(found);
        if !diagnostics.has_errors() {
            self.print(&look, text.as_deref());
        }
        true
    }

    /// Prints an object. `text` is its text, if the format keeps the layout of the Template.
    fn print(&mut self, object: &Look<'_>, text: Option<&str>) {
        let Some(text) = text else {
            return self.data(object.view);
        };
        self.set_separator(object.document);
        self.separate();
        self.text.push_str(text);
    }

    /// Returns `true` if reading the whole object results in the same text and problems. Only debug
    /// builds check this.
    fn is_whole(
        &self,
        expansion: &Expansion<'_, '_>,
        object: &Look<'_>,
        text: Option<&str>,
        found: &Diagnostics,
    ) -> bool {
        let [mut patched, mut whole] = [Self::new(self.format), Self::new(self.format)];
        patched.print(object, text);
        let mut others = Diagnostics::new();
        let mut sink = |object: Object<'_>, _: &mut Diagnostics| whole.object(&object);
        let node = object.view.origin().map(|id| object.document.cursor(id));
        let expansion = expansion.without_inspection();
        if let Some(node) = node {
            expansion.opened(node, object.field.to_owned(), &mut others, &mut sink);
        }
        let messages = |found: &Diagnostics| -> Vec<String> {
            found.iter().map(|one| format!("{one:?}")).collect()
        };
        let is_same = patched.text == whole.text && messages(found) == messages(&others);
        // Without time left, the whole object is not read to its end.
        is_same || !expansion.goes_on()
    }

    /// Uses the line endings of the Template in the separator.
    fn set_separator(&mut self, document: &Document) {
        if self.format == Format::Yaml && document.eol() == "\r\n" {
            self.separator = "---\r\n";
        }
    }

    /// Writes an object as JSON after the others, indented by `depth` levels. At depth 0, it ends
    /// with a line feed.
    fn json(&mut self, object: View<'_>, depth: usize) {
        self.separate();
        if depth > 0 {
            self.text.push('\n');
        }
        self.text.extend(std::iter::repeat_n(' ', depth * JSON_WIDTH));
        krm_yaml::json(&mut self.text, object, Some(JSON_WIDTH), depth);
        if depth == 0 {
            self.text.push('\n');
        }
    }
}
