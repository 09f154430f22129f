//! A Composition as it is written, with the place of each part.

use std::fmt;
use std::sync::Arc;

use crate::engine::transformer::TransformerId;
use krm_core::fields;
use krm_core::identity::group;
use krm_core::names::{Form, not_the_name};
use krm_core::scope::unless_default;
use krm_core::typed::backticked;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result, Severity};
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Document, DuplicateKeys, NodeId, Scalar, Value, Words};

/// The API group of Compositions, Kustomizations and Components.
pub const GROUP: &str = "kustomize.config.k8s.io";
/// The only `apiVersion` of a Composition.
const API_VERSION: &str = "kustomize.config.k8s.io/v1alpha1";
/// The version of a transformer without an `apiVersion`.
pub(crate) const BUILTIN: &str = "builtin";

/// The only version of Kubernetes whose schema kustomize has.
const SCHEMA_VERSION: &str = "v1.21.2";

/// Kinds that have readers of their own, with their own rules.
const READERS: [&str; 5] =
    ["Template", "TemplateInstance", "DeploymentConfiguration", "Composition", "Kustomization"];

/// The fields of a Composition.
pub const FIELDS: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "transformersFrom",
    "transformerOverrides",
    "transformers",
    "transformerOrder",
    "configurations",
    "crds",
    "openapi",
];
/// The field with the transformers.
const TRANSFORMERS: &str = "transformers";
/// The fields of `openapi`.
pub const OPENAPI_FIELDS: &[&str] = &["path", "version"];
/// The fields of an entry of `transformersFrom`.
pub const IMPORT_FIELDS: &[&str] = &["path", "importMode"];
/// The fields of an entry of `transformerOrder`.
pub const ORDER_FIELDS: &[&str] = &["name", "kind", "apiVersion", "group", "version", "namespace"];

/// A Composition as its file declares it.
#[derive(Debug, Default)]
pub(crate) struct Composition {
    pub(crate) imports: Vec<Import>,
    pub(crate) overrides: Vec<Declared>,
    pub(crate) transformers: Vec<TransformerEntry>,
    /// The order of all transformers, if the Composition has one.
    pub(crate) order: Option<Order>,
    pub(crate) added: Added,
}

/// The files with what is added to the tables.
#[derive(Debug, Default)]
pub(crate) struct Added {
    /// Files with fields for the tables.
    pub(crate) configurations: Vec<Named>,
    /// Files with definitions of types.
    pub(crate) crds: Vec<Named>,
    /// The file with a schema.
    pub(crate) openapi: Option<Named>,
    /// Whether the schema that is built in is named.
    pub(crate) names_built_in: bool,
}

/// A file that a Composition or Kustomization names.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) path: String,
    pub(crate) place: Place,
    /// The field path.
    pub(crate) field: String,
}

/// An item of `transformersFrom`: another Composition, whose transformers are added.
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) path: String,
    pub(crate) mode: Mode,
    pub(crate) place: Place,
}

/// The position of imported transformers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Before the own ones of the Composition; the default of the KEP.
    #[default]
    Prepend,
    /// After the own ones of the Composition.
    Append,
}

/// An entry of `transformers` or `transformerOverrides`.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) id: TransformerId,
    /// The object as it is written, each part with its node.
    pub(crate) value: Value<'static>,
    pub(crate) document: Arc<Document>,
    pub(crate) node: NodeId,
}

/// An item of `transformers`.
#[derive(Debug)]
pub(crate) enum TransformerEntry {
    Declared(Declared),
    /// A file with transformers.
    File(Named),
}

/// The field `transformerOrder`.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) entries: Vec<Entry>,
    /// Whether all entries could be read.
    pub(crate) is_whole: bool,
    pub(crate) place: Place,
}

/// Names one transformer; a field that is missing matches anything.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) kind: Option<String>,
    pub(crate) group: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) place: Place,
    /// The field path, with the index.
    pub(crate) field: String,
}

impl Entry {
    pub(crate) fn is_for(&self, id: &TransformerId) -> bool {
        let fits = |said: Option<&String>, found: &str| said.is_none_or(|said| said == found);
        self.name == id.name
            && fits(self.kind.as_ref(), &id.kind)
            && fits(self.group.as_ref(), &id.group)
            && fits(self.version.as_ref(), &id.version)
            && fits(self.namespace.as_ref(), &id.namespace)
    }

    pub(crate) fn error(&self, problem: impl Into<String>) -> Diagnostic {
        Diagnostic::error(problem).at(self.place.clone()).field(self.field.clone())
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(kind) = &self.kind {
            write!(f, "{kind} ")?;
        }
        if let Some(namespace) = self.namespace.as_ref().filter(|name| !name.is_empty()) {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}

impl Declared {
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        self.document.cursor(self.node)
    }

    pub(crate) fn place(&self) -> Place {
        self.cursor().key_place()
    }
}

/// The Composition in a file; none after an error.
pub(crate) fn read_file(
    document: &Arc<Document>,
    diagnostics: &mut Diagnostics,
) -> Option<Composition> {
    let name = document.source().name();
    let mut roots = document.roots();
    let Some(root) = roots.next() else {
        let problem = format!("`{name}` is empty, expected a Composition");
        diagnostics.push(Diagnostic::error(problem));
        return None;
    };
    if let Some(second) = roots.next() {
        diagnostics.push(
            Diagnostic::error("expected one Composition, found several documents")
                .at(second.key_place())
                .hint("a file holds one Composition and nothing else"),
        );
        return None;
    }
    read(document, root.id(), diagnostics)
}

/// The Composition under a node; none after an error.
pub(crate) fn read(
    document: &Arc<Document>,
    node: NodeId,
    diagnostics: &mut Diagnostics,
) -> Option<Composition> {
    let root = document.cursor(node);
    if !root.is_mapping() {
        let problem = "expected a Composition, found no mapping";
        diagnostics.push(Diagnostic::error(problem).at(root.place()));
        return None;
    }
    diagnostics.take(check_kind(root))?;
    check_fields(root, FIELDS, "", "a Composition", diagnostics);
    check_metadata(root, "metadata", diagnostics);
    let imports = items(root, "transformersFrom", diagnostics)
        .into_iter()
        .filter_map(|(field, item)| import(item, &field, diagnostics))
        .collect();
    Some(Composition {
        imports,
        overrides: all_declared(document, root, "transformerOverrides", diagnostics),
        transformers: entered(document, root, diagnostics),
        order: order(root, diagnostics),
        added: Added {
            configurations: paths(root, "configurations", diagnostics),
            crds: paths(root, "crds", diagnostics),
            openapi: openapi(root, diagnostics),
            names_built_in: false,
        },
    })
}

fn check_kind(root: Cursor<'_>) -> Result<()> {
    let kind = root.text_at(["kind"]).unwrap_or_default();
    let version = root.text_at(["apiVersion"]);
    let place = |key| root.get(key).map_or_else(|| root.key_place(), Cursor::place);
    if matches!(kind.as_ref(), "Kustomization" | "Component") {
        return Err(Diagnostic::error(format!(
            "a {kind} cannot be imported, it has no list of transformers"
        ))
        .at(place("kind"))
        .field("kind")
        .hint("for its resources, name its directory under `paths` of a ResourceAccumulator")
        .into());
    }
    if kind != "Composition" {
        let found = match kind.as_ref() {
            "" => "an object without `kind`".to_owned(),
            kind => format!("`kind: {kind}`"),
        };
        return Err(Diagnostic::error(format!("expected `kind: Composition`, found {found}"))
            .at(place("kind"))
            .field("kind")
            .hint(hint_for(&kind))
            .into());
    }
    // The examples of the KEP name no apiVersion.
    match version {
        Some(version) if version != API_VERSION => {
            Err(Diagnostic::error(format!("unknown `apiVersion: {version}` of a Composition"))
                .at(place("apiVersion"))
                .field("apiVersion")
                .hint(format!("use `{API_VERSION}`"))
                .into())
        }
        _ => Ok(()),
    }
}

/// Reports unknown and duplicate fields.
fn check_fields(
    node: Cursor<'_>,
    known: &[&'static str],
    path: &str,
    what: &str,
    diagnostics: &mut Diagnostics,
) {
    node.check_keys(DuplicateKeys::Refuse, diagnostics);
    for unknown in fields::unknown(node, known) {
        let hint = match unknown.key.as_ref() {
            _ if unknown.meant.is_some() => None,
            "resources" | "components" | "bases" => {
                Some("add resources with a ResourceAccumulator, as the first of the `transformers`: `paths: [FILE]`".to_owned())
            }
            _ => Some(format!("its fields are {}", backticked(known))),
        };
        let wrong = Diagnostic::error(unknown.message(what)).maybe_hint(hint);
        diagnostics.push(unknown.locate(wrong, path));
    }
}

/// The hint for an object that is not a Composition.
fn hint_for(kind: &str) -> &'static str {
    if closest(kind, ["Composition"]).is_some() {
        return "did you mean `kind: Composition`?";
    }
    match kind {
        "Template" | "TemplateInstance" => {
            "expand it with `krm-template process -f FILE`, or add it to the `transformers` of a Composition"
        }
        "Kustomization" => {
            "build it with `kustomize build`, or add its resources to a Composition with a ResourceAccumulator"
        }
        _ => {
            "a Composition lists its `transformers`; a ResourceAccumulator among them adds resources"
        }
    }
}

/// The hint for an item of a list that is not a mapping.
fn hint_for_item(list: &str) -> &'static str {
    match list {
        "transformers" => "write the transformer itself, or the path of a file with transformers",
        "transformersFrom" => "write it as `- path: DIR|FILE`",
        "transformerOrder" => "write it as `- name: NAME` or `- kind: KIND`",
        _ => "begin it with `- kind: KIND`, the kind of the transformer to change",
    }
}

/// The items of a list that may be missing, each with its field path.
fn items<'d>(
    root: Cursor<'d>,
    key: &'static str,
    diagnostics: &mut Diagnostics,
) -> Vec<(String, Cursor<'d>)> {
    let list = root.get(key).filter(|list| !list.is_null());
    let mut found = Vec::new();
    match list {
        Some(list) if !list.is_sequence() => diagnostics.push(
            Diagnostic::error(format!("`{key}` must be a list"))
                .at(list.place())
                .field(key)
                .hint("begin each item with `- `"),
        ),
        Some(list) => {
            for (index, item) in list.children().enumerate() {
                let field = format!("{key}[{index}]");
                let is_path = key == TRANSFORMERS && is_text(item);
                if item.is_mapping() || is_path {
                    found.push((field, item));
                    continue;
                }
                let wrong = Diagnostic::error(format!("an item of `{key}` must be a mapping"))
                    .at(item.place())
                    .maybe_hint(item.space_hint())
                    .hint(hint_for_item(key));
                diagnostics.push(wrong.field(field));
            }
        }
        None => {}
    }
    found
}

/// Whether a node is a string that is not empty.
fn is_text(node: Cursor<'_>) -> bool {
    let scalar = node.scalar().ok().flatten();
    matches!(scalar, Some(Scalar::String(text)) if !text.is_empty())
}

/// The files in a list of paths that may be missing.
fn paths(root: Cursor<'_>, key: &'static str, diagnostics: &mut Diagnostics) -> Vec<Named> {
    let Some(list) = root.get(key).filter(|list| !list.is_null()) else {
        return Vec::new();
    };
    let mut paths = Vec::new();
    for (index, item) in list.children().enumerate() {
        let path = item.text().ok().flatten().filter(|_| list.is_sequence());
        paths.extend(path.filter(|path| !path.is_empty()).map(|path| Named {
            path: path.into_owned(),
            place: item.place(),
            field: format!("{key}[{index}]"),
        }));
    }
    if !list.is_sequence() || paths.len() < list.children().count() {
        let wrong = Diagnostic::error(format!("`{key}` must be a list of files"));
        let wrong = wrong.at(list.place()).field(key);
        diagnostics.push(wrong.hint("write each as `- FILE`"));
    }
    paths
}

/// The file under `openapi`; none for the schema that is built in.
fn openapi(root: Cursor<'_>, diagnostics: &mut Diagnostics) -> Option<Named> {
    let key = "openapi";
    let node = root.get(key).filter(|node| !node.is_null())?;
    if !node.is_mapping() {
        let wrong = Diagnostic::error(format!("`{key}` must be a mapping"));
        let wrong = wrong.at(node.place()).field(key);
        diagnostics.push(wrong.hint("write `path: FILE` in it"));
        return None;
    }
    check_fields(node, OPENAPI_FIELDS, "openapi.", "`openapi`", diagnostics);
    let path = text(node, "path", key, diagnostics).map(|(path, place)| Named {
        path,
        place,
        field: "openapi.path".to_owned(),
    });
    let version = text(node, "version", key, diagnostics);
    schema_file(path, version, diagnostics)
}

/// The file with the schema; none for the one that is built in.
pub(crate) fn schema_file(
    path: Option<Named>,
    version: Option<(String, Place)>,
    diagnostics: &mut Diagnostics,
) -> Option<Named> {
    if let Some((version, place)) = version {
        let problem = if path.is_some() {
            "`openapi` has both `path` and `version`".to_owned()
        } else if version == SCHEMA_VERSION {
            return None;
        } else {
            format!("the schema of Kubernetes `{version}` is not built in")
        };
        let wrong = Diagnostic::error(problem).at(place);
        let wrong = wrong.field("openapi.version");
        diagnostics.push(
            wrong.hint(format!("name a file under `path`, or use `version: {SCHEMA_VERSION}`")),
        );
    }
    path
}

/// The text of a field; none if it is missing or empty. Reports another type.
fn text(
    node: Cursor<'_>,
    key: &str,
    path: &str,
    diagnostics: &mut Diagnostics,
) -> Option<(String, Place)> {
    let field = node.get(key)?;
    match diagnostics.take(field.text()) {
        Some(Some(text)) if !field.is_null() => Some((text.into_owned(), field.place())),
        None | Some(Some(_)) => None,
        Some(None) => {
            diagnostics.push(
                Diagnostic::error(format!("`{key}` must be a string"))
                    .at(field.place())
                    .field(format!("{path}.{key}")),
            );
            None
        }
    }
    .filter(|(text, _)| !text.is_empty())
}

/// The error for a required field that is missing or empty.
fn missing(node: Cursor<'_>, key: &str, path: &str, what: &str) -> Diagnostic {
    let (problem, place) = match node.get(key) {
        Some(field) => (format!("{what} has an empty `{key}`"), field.place()),
        None => (format!("{what} has no `{key}`"), node.key_place()),
    };
    let field = format!("{path}.{key}");
    Diagnostic::error(problem).at(place).field(field.trim_start_matches('.'))
}

fn import(node: Cursor<'_>, field: &str, diagnostics: &mut Diagnostics) -> Option<Import> {
    let what = "an entry of `transformersFrom`";
    let prefix = format!("{field}.");
    check_fields(node, IMPORT_FIELDS, &prefix, what, diagnostics);
    let mode = match text(node, "importMode", field, diagnostics) {
        None => Mode::default(),
        Some((mode, _)) if mode == "prepend" => Mode::Prepend,
        Some((mode, _)) if mode == "append" => Mode::Append,
        Some((mode, place)) => {
            let hint = match closest(&mode, ["prepend", "append"]) {
                Some(known) => format!("did you mean `{known}`?"),
                None => "use `prepend`, which is the default, or `append`".to_owned(),
            };
            diagnostics.push(
                Diagnostic::error(format!("unknown import mode `{mode}`"))
                    .at(place)
                    .field(format!("{field}.importMode"))
                    .hint(hint),
            );
            Mode::default()
        }
    };
    let Some((path, place)) = text(node, "path", field, diagnostics) else {
        diagnostics.push(
            missing(node, "path", field, what)
                .hint("name a file, or a directory that holds `composition.yaml`"),
        );
        return None;
    };
    Some(Import { path, mode, place })
}

fn all_declared(
    document: &Arc<Document>,
    root: Cursor<'_>,
    key: &'static str,
    diagnostics: &mut Diagnostics,
) -> Vec<Declared> {
    items(root, key, diagnostics)
        .into_iter()
        .filter_map(|(field, node)| declared(document, node, &field, diagnostics))
        .collect()
}

/// The items of `transformers`: transformers, and the paths of files with some.
fn entered(
    document: &Arc<Document>,
    root: Cursor<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<TransformerEntry> {
    items(root, TRANSFORMERS, diagnostics)
        .into_iter()
        .filter_map(|(field, node)| {
            if node.is_mapping() {
                return declared(document, node, &field, diagnostics)
                    .map(TransformerEntry::Declared);
            }
            let path = diagnostics.take(node.text())??.into_owned();
            let place = node.place();
            Some(TransformerEntry::File(Named { path, place, field }))
        })
        .collect()
}

/// The transformers in a file that a Composition names.
pub(crate) fn declared_in(
    document: &Arc<Document>,
    diagnostics: &mut Diagnostics,
) -> Vec<Declared> {
    let mut all = Vec::new();
    for root in document.roots().filter(|root| !root.is_null()) {
        let problem = if built_kind(root).as_deref() == Some("Composition") {
            "this is a Composition, expected a transformer"
        } else if root.is_mapping() {
            all.extend(declared(document, root, "", diagnostics));
            continue;
        } else {
            "expected a transformer, found no mapping"
        };
        let wrong = Diagnostic::error(problem).at(root.key_place());
        diagnostics.push(wrong.hint("import a Composition under `transformersFrom`"));
    }
    all
}

/// The transformer under a node; none after an error.
fn declared(
    document: &Arc<Document>,
    node: Cursor<'_>,
    field: &str,
    diagnostics: &mut Diagnostics,
) -> Option<Declared> {
    // As kustomize reads configurations, except for kinds with readers of their own.
    let kind = node.text_at(["kind"]).unwrap_or_default();
    let words = if READERS.contains(&kind.as_ref()) { Words::Bools } else { Words::Texts };
    let value = node.value_with(DuplicateKeys::Refuse, words, diagnostics)?;
    let id = id(node, field, diagnostics)?;
    Some(Declared {
        id,
        value: value.into_owned(),
        document: Arc::clone(document),
        node: node.id(),
    })
}

/// Reports `metadata` that is not a mapping.
fn check_metadata(node: Cursor<'_>, path: &str, diagnostics: &mut Diagnostics) {
    let metadata = node.get("metadata").filter(|metadata| !metadata.is_null());
    if let Some(metadata) = metadata.filter(|metadata| !metadata.is_mapping()) {
        diagnostics.push(
            Diagnostic::error("`metadata` must be a mapping")
                .at(metadata.place())
                .field(path)
                .maybe_hint(metadata.space_hint()),
        );
    }
}

/// The id of the transformer under a node.
fn id(node: Cursor<'_>, field: &str, diagnostics: &mut Diagnostics) -> Option<TransformerId> {
    let api_version = text(node, "apiVersion", field, diagnostics);
    let (group, version) = split(api_version.as_ref().map_or(BUILTIN, |(text, _)| text));
    let kind = text(node, "kind", field, diagnostics);
    let metadata = node.get("metadata").filter(|metadata| !metadata.is_null());
    let path = format!("{field}.metadata");
    let mut part = |key| text(metadata?, key, &path, diagnostics);
    let (name, namespace) = (part("name"), part("namespace"));
    check_metadata(node, &path, diagnostics);
    let Some((kind, _)) = kind else {
        let mut wrong = missing(node, "kind", field, "a transformer");
        let slip = node.children().find_map(|entry| {
            let key = entry.key().ok()?;
            let is_slip = closest(&key, ["kind", "apiVersion", "metadata"]).is_some();
            (is_slip && key != "apiVersion" && key != "metadata" && key != "kind")
                .then(|| format!("`{key}` is probably a typing error"))
        });
        wrong = wrong.maybe_hint(slip);
        diagnostics.push(wrong);
        return None;
    };
    if let Some((text, place)) = api_version.as_ref().filter(|(text, _)| text != BUILTIN) {
        warn_of_version(text, place, field, diagnostics);
        if let Some((name, place)) = &name {
            warn_of_name(name, place, &path, diagnostics);
        }
    }
    Some(TransformerId {
        group: group.to_owned(),
        version: version.to_owned(),
        name: name.map_or_else(|| kebab_case(&kind), |(name, _)| name),
        kind,
        namespace: namespace.map_or_else(String::new, |(name, _)| unless_default(&name).to_owned()),
    })
}

/// Warns of an `apiVersion` that is none in Kubernetes. The pattern of the KEP is narrower: it has
/// no `-`, and no `v1` of the core group.
fn warn_of_version(version: &str, place: &Place, field: &str, diagnostics: &mut Diagnostics) {
    let (group, number) = version.rsplit_once('/').unwrap_or(("example.com", version));
    if Form::Subdomain.fits(group) && Form::Label.fits(number) {
        return;
    }
    let warning = Diagnostic::warning(format!("`{version}` is not a valid `apiVersion`"));
    diagnostics.push(
        warning
            .at(place.clone())
            .field(format!("{field}.apiVersion"))
            .hint("write it as `GROUP/VERSION`, such as `example.com/v1`"),
    );
}

/// Warns of a name that the pattern of the KEP excludes. Its examples give capital letters to
/// built-in transformers, whose names are not checked.
fn warn_of_name(name: &str, place: &Place, metadata: &str, diagnostics: &mut Diagnostics) {
    if !Form::Subdomain.fits(name) {
        let warning = Diagnostic {
            severity: Severity::Warning,
            ..not_the_name(name, "a transformer", Form::Subdomain)
        };
        let warning = warning.at(place.clone());
        diagnostics.push(warning.field(format!("{metadata}.name")));
    }
}

/// Group and version of an `apiVersion`.
pub(crate) fn split(api_version: &str) -> (&str, &str) {
    let version = api_version.rsplit('/').next().unwrap_or_default();
    (group(api_version), version)
}

/// The name of a transformer without one: `config-map-generator` for `ConfigMapGenerator`,
/// `iam-policy` for `IAMPolicy`.
pub(crate) fn kebab_case(kind: &str) -> String {
    let mut name = String::with_capacity(kind.len() + 4);
    let mut before: Option<char> = None;
    let mut rest = kind.chars().peekable();
    while let Some(next) = rest.next() {
        let is_start = next.is_uppercase()
            && before.is_some_and(|before| {
                let ends_word = before.is_lowercase() || before.is_numeric();
                let begins_word = rest.peek().is_some_and(|behind| behind.is_lowercase());
                ends_word || begins_word && before != '-'
            });
        if is_start {
            name.push('-');
        }
        name.extend(next.to_lowercase());
        before = Some(next);
    }
    name
}

fn order(root: Cursor<'_>, diagnostics: &mut Diagnostics) -> Option<Order> {
    let list = root.get("transformerOrder")?;
    // A list without entries asks for no order.
    if list.is_null() || (list.is_sequence() && list.children().next().is_none()) {
        return None;
    }
    let entries: Vec<Entry> = items(root, "transformerOrder", diagnostics)
        .into_iter()
        .filter_map(|(field, node)| entry(node, &field, diagnostics))
        .collect();
    Some(Order {
        is_whole: list.is_sequence() && entries.len() == list.children().count(),
        entries,
        place: list.key_place(),
    })
}

/// Reads an item of `transformerOrder`. Reports what is malformed, and then returns none.
pub(crate) fn entry(node: Cursor<'_>, field: &str, diagnostics: &mut Diagnostics) -> Option<Entry> {
    let what = "an entry of `transformerOrder`";
    let prefix = format!("{field}.");
    check_fields(node, ORDER_FIELDS, &prefix, what, diagnostics);
    let mut part = |key| text(node, key, field, diagnostics).map(|(text, _)| text);
    let (name, kind, namespace) = (part("name"), part("kind"), part("namespace"));
    let (own_group, own_version) = (part("group"), part("version"));
    let api_version = part("apiVersion");
    let both = api_version.as_deref().map(split);
    if both.is_some() && (own_group.is_some() || own_version.is_some()) {
        diagnostics.push(
            Diagnostic::error(format!("{what} has both `apiVersion` and a part of it"))
                .at(node.key_place())
                .field(field)
                .hint("use `apiVersion`, or `group` and `version`"),
        );
    }
    let Some(name) = name else {
        // Another type than a string is already reported.
        if node.get("name").is_none_or(|name| !name.is_mapping() && !name.is_sequence()) {
            diagnostics.push(missing(node, "name", field, what));
        }
        return None;
    };
    Some(Entry {
        name,
        kind,
        group: both.map(|(group, _)| group.to_owned()).or(own_group),
        version: both.map(|(_, version)| version.to_owned()).or(own_version),
        namespace: namespace.map(|name| unless_default(&name).to_owned()),
        place: node.key_place(),
        field: field.to_owned(),
    })
}

/// The kind of an object that is built, such as a Composition: it has our group, or no group.
pub fn built_kind(root: Cursor<'_>) -> Option<String> {
    let api_version = root.text_at(["apiVersion"]).unwrap_or_default();
    let is_ours = api_version.is_empty() || split(&api_version).0 == GROUP;
    let kind = root.text_at(["kind"]).filter(|_| is_ours)?;
    Some(kind.into_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{kebab_case, read_file};
    use krm_yaml::Document;
    use krm_yaml::diagnostic::Diagnostics;
    use krm_yaml::source::Source;

    #[test]
    fn a_transformer_without_a_kind_may_have_a_slip_of_it() {
        for (transformer, hint) in [
            ("{metadata: {name: a}, knd: A}", Some("`knd` is probably a typing error")),
            ("{apiVersion: builtin, metadata: {name: a}, kind: ''}", None),
            ("{other: A}", None),
        ] {
            let text = format!("kind: Composition\ntransformers:\n- {transformer}\n");
            let document = Document::parse(&Source::new("composition.yaml", text)).unwrap();
            let mut found = Diagnostics::new();
            read_file(&Arc::new(document), &mut found);
            let hints = found.iter().map(|one| one.hints.first().map(String::as_str));
            assert_eq!(hints.collect::<Vec<_>>(), [hint], "{transformer}");
        }
    }

    #[test]
    fn the_default_name_of_a_transformer_is_its_kind() {
        for (kind, name) in [
            ("LabelTransformer", "label-transformer"),
            ("ConfigMapGenerator", "config-map-generator"),
            ("PatchJson6902Transformer", "patch-json6902-transformer"),
            ("IAMPolicyGenerator", "iam-policy-generator"),
            ("Kubeval", "kubeval"),
            ("kubeval", "kubeval"),
            ("JSON", "json"),
        ] {
            assert_eq!(kebab_case(kind), name);
        }
    }
}
