//! A Composition with all that it imports, as one list of transformers.

use std::borrow::Cow;
use std::sync::Arc;

use crate::composition::model::{self, Composition, Declared, Import, Mode};
use crate::composition::order;
use crate::composition::overrides::apply;
use crate::composition::provider::Provider;
use crate::composition::transformer::{Layer, Transformer};
use crate::composition::transformers;
use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::files::{self, Entry, Files, directory_of, join};
use crate::suggest::closest;
use crate::yaml::{Document, FieldPath, NodeId, Value};

/// What the file of a Composition may be called, as with Kustomizations.
pub(super) const FILE_NAMES: [&str; 3] = ["composition.yaml", "composition.yml", "Composition"];
/// What the file of a Kustomization may be called.
pub(crate) const KUSTOMIZATIONS: [&str; 3] =
    ["kustomization.yaml", "kustomization.yml", "Kustomization"];
/// How many Compositions may import, or build, one another in a row.
pub const MAX_NESTING: usize = 64;

/// Reads the Composition in a file, or in `composition.yaml` of a directory, and all that it
/// imports. With errors, what is returned is not to be used.
pub fn consolidate(
    files: &dyn Files,
    path: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<Transformer> {
    let mut importer = Importer::new(files);
    let list = diagnostics
        .take(locate(files, &join(".", path)))
        .and_then(|file| importer.file(&file, diagnostics));
    finish(list, diagnostics)
}

/// The same of a Composition that is a part of a document; its paths are relative to `directory`.
pub fn consolidate_node(
    files: &dyn Files,
    document: &Arc<Document>,
    node: NodeId,
    directory: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<Transformer> {
    let composition = model::read(document, node, diagnostics);
    let list = composition
        .map(|composition| Importer::new(files).all(composition, directory, diagnostics));
    finish(list, diagnostics)
}

/// Checks that there is something to run each transformer with, and what built-in ones say.
fn finish(list: Option<Vec<Transformer>>, diagnostics: &mut Diagnostics) -> Vec<Transformer> {
    let list = list.unwrap_or_default();
    for transformer in &list {
        let provider = diagnostics.take(Provider::of(transformer));
        if provider == Some(Provider::Builtin)
            && let Some(builtin) = transformers::find(&transformer.id)
        {
            diagnostics.take((builtin.check)(transformer));
        }
    }
    list
}

/// What there is to build at a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A file, as it is named.
    File,
    /// A directory with a Composition: the path of its file.
    Composition(String),
    /// A directory with a Kustomization.
    Kustomization,
    /// A directory with neither of them.
    Nothing,
}

/// Looks what is at a path.
///
/// # Errors
/// If nothing is, if it is an address, or if a directory has more than one thing to build.
pub(super) fn find(files: &dyn Files, path: &str) -> Result<Found> {
    if is_address(path) {
        return Err(files::address(path).into());
    }
    match files.entry(path) {
        Some(Entry::File) => return Ok(Found::File),
        Some(Entry::Directory) => {}
        None => {
            return Err(Diagnostic::error(format!("there is no `{path}`"))
                .maybe_hint(near(files, path))
                .into());
        }
    }
    let within = |names: &[&str]| -> Vec<String> {
        let paths = names.iter().map(|name| join(path, name));
        paths
            .filter(|path| files.entry(path) == Some(Entry::File))
            .collect()
    };
    let (compositions, kustomizations) = (within(&FILE_NAMES), within(&KUSTOMIZATIONS));
    match (compositions.as_slice(), kustomizations.as_slice()) {
        ([one], []) => Ok(Found::Composition(one.clone())),
        ([], []) => Ok(Found::Nothing),
        ([], _) => Ok(Found::Kustomization),
        ([first, ..], [second, ..]) | ([first, second, ..], []) => Err(Diagnostic::error(format!(
            "`{path}` holds both `{first}` and `{second}`: which one is meant is unclear"
        ))
        .hint("move one of them to a directory of its own")
        .into()),
    }
}

/// Whether a file is called like a Kustomization.
pub(super) fn is_kustomization(path: &str) -> bool {
    path.rsplit('/')
        .next()
        .is_some_and(|name| KUSTOMIZATIONS.contains(&name))
}

/// Where a directory is named that has another spelling of a Composition's name.
fn near(files: &dyn Files, path: &str) -> Option<String> {
    let directory = directory_of(path);
    let known = FILE_NAMES.map(|name| join(directory, name));
    let is_there = |known: &&String| files.entry(known) == Some(Entry::File);
    let known: Vec<&str> = known.iter().filter(is_there).map(String::as_str).collect();
    closest(path, known).map(|known| format!("did you mean `{known}`?"))
}

/// Whether this is what kustomize would fetch from somewhere.
fn is_address(path: &str) -> bool {
    path.contains("://") || path.starts_with("git@") || path.starts_with("git::")
}

/// The file of the Composition that a path names.
pub(super) fn locate(files: &dyn Files, path: &str) -> Result<String> {
    let problem = match find(files, path)? {
        Found::File => return Ok(path.to_owned()),
        Found::Composition(file) => return Ok(file),
        Found::Kustomization => {
            return Err(Diagnostic::error(format!(
                "`{path}` holds a Kustomization, which has no list of transformers"
            ))
            .hint("for its resources, name the directory under `paths` of a ResourceAccumulator")
            .into());
        }
        Found::Nothing => format!("`{path}` holds no `{}`", FILE_NAMES[0]),
    };
    Err(Diagnostic::error(problem)
        .hint("name the directory that does, or the file, if it is called otherwise")
        .into())
}

/// Reads Compositions that import one another.
struct Importer<'f> {
    files: &'f dyn Files,
    /// The files that are being read, each imported by the one before.
    open: Vec<String>,
}

/// Transformers of one import, or those that a Composition declares itself.
struct Part {
    mode: Option<Mode>,
    transformers: Vec<Transformer>,
}

impl<'f> Importer<'f> {
    const fn new(files: &'f dyn Files) -> Self {
        Self {
            files,
            open: Vec::new(),
        }
    }

    /// The transformers of the Composition in a file; nothing if they cannot be told.
    fn file(&mut self, file: &str, diagnostics: &mut Diagnostics) -> Option<Vec<Transformer>> {
        diagnostics.take(check_chain(&self.open, file, "import"))?;
        let source = diagnostics.take(self.files.source(file))?;
        let document = Arc::new(diagnostics.take(Document::parse(&source))?);
        let composition = model::read_file(&document, diagnostics)?;
        self.open.push(file.to_owned());
        let all = self.all(composition, directory_of(file), diagnostics);
        self.open.pop();
        Some(all)
    }

    /// The transformers of a Composition and of all that it imports.
    fn all(
        &mut self,
        composition: Composition,
        directory: &str,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Transformer> {
        let mut parts = Vec::new();
        let mut is_whole = true;
        for import in &composition.imports {
            match self.import(import, directory, diagnostics) {
                Some(transformers) => parts.push(Part {
                    mode: Some(import.mode),
                    transformers,
                }),
                None => is_whole = false,
            }
        }
        let own = composition.transformers.into_iter();
        let own = own.map(|declared| transformer(declared, directory));
        let own: Vec<Transformer> = own.collect();
        // Where an import is missing, so may be what is to be overridden or ordered.
        if is_whole {
            override_imported(
                &mut parts,
                &own,
                &composition.overrides,
                !composition.imports.is_empty(),
                diagnostics,
            );
        }
        let (prepended, appended): (Vec<Part>, Vec<Part>) = parts
            .into_iter()
            .partition(|part| part.mode == Some(Mode::Prepend));
        let own = Part {
            mode: None,
            transformers: own,
        };
        let parts = prepended.into_iter().chain([own]).chain(appended);
        let all: Vec<Transformer> = parts.flat_map(|part| part.transformers).collect();
        let are_told_apart = check_ids(&all, diagnostics);
        match composition.order {
            Some(order) if is_whole && are_told_apart => {
                order::sort(all, &order, |transformer| &transformer.id, diagnostics)
            }
            _ => all,
        }
    }

    /// The transformers of an import; nothing if there was an error.
    fn import(
        &mut self,
        import: &Import,
        directory: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Transformer>> {
        let mut found = Diagnostics::new();
        let path = if is_address(&import.path) {
            import.path.clone()
        } else {
            join(directory, &import.path)
        };
        let file = locate(self.files, &path).map_err(|mut problem| {
            problem.place = Some(import.place.clone());
            problem
        });
        let list = found
            .take(file)
            .and_then(|file| self.file(&file, &mut found));
        let has_failed = found.has_errors();
        for mut one in found.iter().cloned() {
            // A file that cannot be read has no place of its own.
            one.place.get_or_insert_with(|| import.place.clone());
            diagnostics.push(one);
        }
        list.filter(|_| !has_failed)
    }
}

/// Refuses a file that is being read, or built, already.
pub(super) fn check_chain(open: &[String], next: &str, verb: &str) -> Result<()> {
    if let Some(at) = open.iter().position(|file| file == next) {
        let chain = open.iter().skip(at).map(String::as_str).chain([next]);
        let chain: Vec<&str> = chain.collect();
        return Err(Diagnostic::error(format!(
            "Compositions {verb} one another in a circle: {}",
            chain.join(" → ")
        ))
        .hint("take what they share into a Composition of its own")
        .into());
    }
    if open.len() >= MAX_NESTING {
        return Err(Diagnostic::error(format!(
            "more than {MAX_NESTING} Compositions {verb} one another"
        ))
        .into());
    }
    Ok(())
}

/// The transformer that a file in `directory` declares.
fn transformer(declared: Declared, directory: &str) -> Transformer {
    let Declared {
        id,
        value: mut config,
        document,
        node,
    } = declared;
    let text = |text: &str| Value::string(text.to_owned());
    if config.get("apiVersion").is_none_or(Value::is_null) {
        config.insert(Cow::Borrowed("apiVersion"), text(model::BUILTIN));
    }
    if let Some(metadata) = config.mapping_at("metadata")
        && metadata.str_at(&["name"]).is_none_or(str::is_empty)
    {
        metadata.insert(Cow::Borrowed("name"), text(&id.name));
    }
    Transformer {
        id,
        config,
        directory: directory.to_owned(),
        layers: vec![Layer {
            document,
            node,
            at: FieldPath::root(),
        }],
    }
}

fn override_imported(
    parts: &mut [Part],
    own: &[Transformer],
    overrides: &[Declared],
    are_there_imports: bool,
    diagnostics: &mut Diagnostics,
) {
    for (index, change) in overrides.iter().enumerate() {
        let mut before = overrides.iter().take(index);
        if let Some(first) = before.find(|before| before.id == change.id) {
            diagnostics.push(
                Diagnostic::error(format!("`{}` is overridden twice", change.id))
                    .at(change.place())
                    .related(first.place(), "overridden here first")
                    .hint("put all changes into one entry"),
            );
            continue;
        }
        let mut imported = parts.iter_mut().flat_map(|part| &mut part.transformers);
        match imported.find(|transformer| transformer.id == change.id) {
            Some(transformer) => apply(transformer, change, diagnostics),
            None => diagnostics.push(unmatched(change, parts, own, are_there_imports)),
        }
    }
}

/// An override of what was not imported.
fn unmatched(
    change: &Declared,
    parts: &[Part],
    own: &[Transformer],
    are_there_imports: bool,
) -> Diagnostic {
    let id = &change.id;
    let wrong = Diagnostic::error(format!(
        "no `{id}` was imported, so it cannot be overridden"
    ))
    .at(change.place());
    if let Some(own) = own.iter().find(|own| own.id == *id) {
        let wrong = wrong.hint("it is declared in this Composition itself: change it there");
        return match own.place() {
            Some(place) => wrong.related(place, "declared here"),
            None => wrong,
        };
    }
    if !are_there_imports {
        return wrong
            .hint("this Composition imports nothing: name others under `transformersFrom`");
    }
    let imported = || parts.iter().flat_map(|part| &part.transformers);
    let same_name = imported().find(|one| one.id.name == id.name && one.id.kind == id.kind);
    let names: Vec<String> = imported().map(|one| one.id.to_string()).collect();
    let slip = closest(&id.to_string(), names.iter().map(String::as_str));
    wrong.hint(match (same_name, slip) {
        (Some(other), _) => format!(
            "there is `{}`: `apiVersion`, `kind`, `namespace` and `name` must all be the same",
            other.id
        ),
        (None, Some(known)) => format!("did you mean `{known}`?"),
        (None, None) => {
            let names: Vec<&str> = names.iter().map(String::as_str).take(10).collect();
            format!("imported are {}", model::backticked(&names))
        }
    })
}

/// A Composition has come in two ways.
fn imported_twice(one: &Transformer) -> Diagnostic {
    let mut wrong = Diagnostic::error(format!(
        "`{}` is imported twice, and with it `{}`",
        one.file(),
        one.id
    ))
    .hint("import it in one place: what others import is imported with them");
    wrong.place = one.place();
    wrong
}

/// Reports transformers that are there twice.
fn check_ids(all: &[Transformer], diagnostics: &mut Diagnostics) -> bool {
    let mut are_told_apart = true;
    for (index, one) in all.iter().enumerate() {
        let mut before = all.iter().take(index);
        let Some(first) = before.find(|before| before.id == one.id) else {
            continue;
        };
        are_told_apart = false;
        if first.is_written_where(one) {
            diagnostics.push(imported_twice(one));
            continue;
        }
        let files = [first, one].map(|one| format!("`{}`", one.file()));
        let mut wrong = Diagnostic::error(if files[0] == files[1] {
            format!("`{}` is there twice in {}", one.id, files[0])
        } else {
            format!(
                "`{}` is there twice, in {} and {}",
                one.id, files[0], files[1]
            )
        })
        .hint("give one of them another `metadata.name`");
        wrong.place = one.place();
        if let Some(place) = first.place() {
            wrong = wrong.related(place, "the other one");
        }
        diagnostics.push(wrong);
    }
    are_told_apart
}
