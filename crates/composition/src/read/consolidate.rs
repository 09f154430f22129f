//! A Composition with all that it imports, as one list of transformers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::field_tables::Additions;
use crate::engine::transformer::{Layer, Transformer};
use crate::patch::merge::Merged;
use crate::read::configurations;
use crate::read::locate::{is_composition, locate};
use crate::read::model::{self, Composition, Declared, Import, Mode, TransformerEntry};
use crate::read::nesting::check_chain;
use crate::read::order;
use crate::read::overrides::apply;
use krm_core::files::{self, Files, directory_of, join};
use krm_core::typed::backticked;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::suggest::closest;
use krm_yaml::{Document, FieldPath, NodeId, Value};

/// The maximum number of imports. If several Compositions import the same one, each import counts.
const MAX_IMPORTS: usize = 10_000;

/// Reads the Composition in a file, or in `composition.yaml` of a directory, with all that it
/// imports. After errors, do not use the result.
pub(crate) fn consolidate(
    files: &dyn Files,
    path: &str,
    diagnostics: &mut Diagnostics,
) -> Consolidated {
    let mut importer = Importer::new(files);
    diagnostics
        .take(locate(files, &join(".", path)))
        .and_then(|file| importer.file(&file, diagnostics))
        .unwrap_or_default()
}

/// Reads the Composition under a node; its paths are relative to `directory`.
pub(crate) fn consolidate_node(
    files: &dyn Files,
    document: &Arc<Document>,
    node: NodeId,
    directory: &str,
    diagnostics: &mut Diagnostics,
) -> Consolidated {
    let composition = model::read(document, node, diagnostics);
    composition
        .map(|composition| Importer::new(files).all(composition, directory, diagnostics))
        .unwrap_or_default()
}

/// Reads Compositions that import one another.
struct Importer<'f> {
    files: &'f dyn Files,
    /// The files that are being read, each imported by the one before.
    open: Vec<String>,
    /// The files whose import failed or has no transformers: reading them again would change
    /// nothing.
    settled: BTreeMap<String, ImportOutcome>,
    /// How many imports were followed.
    count: usize,
}

/// The outcome of an import.
#[derive(Clone, Copy)]
enum ImportOutcome {
    /// It failed, and the errors are reported.
    Failed,
    /// It was read, and has no transformers.
    Empty,
}

/// The transformers of a Composition, with what it adds to the tables.
#[derive(Default)]
pub(crate) struct Consolidated {
    pub(crate) transformers: Vec<Transformer>,
    pub(crate) additions: Additions,
    /// Whether all of them could be read.
    is_whole: bool,
}

/// The transformers of one import, or those of the Composition itself.
struct Part {
    mode: Option<Mode>,
    transformers: Vec<Transformer>,
}

impl<'f> Importer<'f> {
    const fn new(files: &'f dyn Files) -> Self {
        Self { files, open: Vec::new(), settled: BTreeMap::new(), count: 0 }
    }

    /// The transformers of the Composition in a file; none after an error.
    fn file(&mut self, file: &str, diagnostics: &mut Diagnostics) -> Option<Consolidated> {
        diagnostics.take(check_chain(&self.open, file, "import"))?;
        let source = diagnostics.take(self.files.source(file, directory_of(file)))?;
        let document = Arc::new(diagnostics.take(Document::parse(&source))?);
        let composition = model::read_file(&document, diagnostics)?;
        self.open.push(file.to_owned());
        let all = self.all(composition, directory_of(file), diagnostics);
        self.open.pop();
        Some(all)
    }

    /// The transformers of a Composition and of its imports.
    fn all(
        &mut self,
        composition: Composition,
        directory: &str,
        diagnostics: &mut Diagnostics,
    ) -> Consolidated {
        let mut parts = Vec::new();
        let mut is_whole = true;
        let own = configurations::additions(&composition.added, self.files, directory, diagnostics);
        let mut additions =
            Additions { fields: Vec::new(), schema: own.schema.clone(), ..Additions::default() };
        for import in &composition.imports {
            match self.import(import, directory, diagnostics) {
                Some(all) => {
                    additions.append(&all.additions);
                    parts.push(Part { mode: Some(import.mode), transformers: all.transformers });
                }
                None => is_whole = false,
            }
        }
        additions.append(&own);
        let own = self.own(composition.transformers, directory, diagnostics);
        // With a missing import, transformers to override or to order may be missing too.
        if is_whole {
            override_imported(
                &mut parts,
                &own,
                &composition.overrides,
                !composition.imports.is_empty(),
                diagnostics,
            );
        }
        let (prepended, appended): (Vec<Part>, Vec<Part>) =
            parts.into_iter().partition(|part| part.mode == Some(Mode::Prepend));
        let own = Part { mode: None, transformers: own };
        let mut all = Vec::new();
        for mut part in prepended.into_iter().chain([own]).chain(appended) {
            all.append(&mut part.transformers);
        }
        let are_told_apart = check_ids(&all, diagnostics);
        let transformers = match composition.order {
            Some(order) if is_whole && are_told_apart => {
                order::sort(all, &order, |transformer| &transformer.id, diagnostics)
            }
            _ => all,
        };
        Consolidated { transformers, additions, is_whole }
    }

    /// The transformers that a Composition in `directory` declares, and those in files that it names.
    fn own(
        &self,
        entered: Vec<TransformerEntry>,
        directory: &str,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Transformer> {
        let mut own = Vec::with_capacity(entered.len());
        for one in entered {
            let named = match one {
                TransformerEntry::Declared(declared) => {
                    own.push(transformer(declared, directory));
                    continue;
                }
                TransformerEntry::File(named) => named,
            };
            let path = join(directory, &named.path);
            let read = self.files.source(&path, directory);
            let read = read.and_then(|source| Document::parse(&source));
            let read = read.map_err(|mut problem| {
                problem.place.get_or_insert(named.place);
                problem.field.get_or_insert(named.field);
                problem
            });
            if let Some(document) = diagnostics.take(read) {
                let declared = model::declared_in(&Arc::new(document), diagnostics);
                let directory = directory_of(&path);
                own.extend(declared.into_iter().map(|one| transformer(one, directory)));
            }
        }
        own
    }

    /// Refuses a file outside of `directory` that is not a Composition, without showing any of its
    /// text.
    fn check_outside(&self, file: &str, directory: &str) -> Result<()> {
        self.files.check_base(file, directory)?;
        if is_composition(file) || files::is_below(directory, file) {
            return Ok(());
        }
        let source = self.files.source(file, directory_of(file))?;
        let document = Document::parse(&source).ok();
        let root = document.as_ref().and_then(|document| document.roots().next());
        let kind = root.and_then(|root| root.text_at(["kind"]));
        if kind.as_deref() == Some("Composition") {
            return Ok(());
        }
        Err(Diagnostic::error(format!("`{file}` cannot be read as a Composition"))
            .hint(format!("`krm-template build {file}` shows why"))
            .into())
    }

    /// The transformers of an import; none after an error.
    fn import(
        &mut self,
        import: &Import,
        directory: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<Consolidated> {
        let mut found = Diagnostics::new();
        let (path, may_be_read) = if files::is_address(&import.path) {
            (import.path.clone(), Ok(()))
        } else {
            let path = join(directory, &import.path);
            let may_be_read = self.files.check_base(&path, directory);
            (path, may_be_read)
        };
        let file = may_be_read.and_then(|()| locate(self.files, &path));
        let file = file.map_err(|mut problem| {
            problem.place = Some(import.place.clone());
            problem
        });
        let file = file.and_then(|file| self.check_outside(&file, directory).map(|()| file));
        let file = found.take(file);
        let list = match file.as_deref().and_then(|file| self.settled.get(file)) {
            Some(ImportOutcome::Failed) => return None,
            Some(ImportOutcome::Empty) => return Some(Consolidated::default()),
            None => file.as_deref().and_then(|file| {
                found.take(self.count_import())?;
                self.file(file, &mut found)
            }),
        };
        let list = list.filter(|all| all.is_whole && !found.has_errors());
        if let Some(file) = file {
            let settled = match &list {
                None => Some(ImportOutcome::Failed),
                Some(all) => {
                    let is_empty = all.transformers.is_empty() && all.additions.is_empty();
                    is_empty.then_some(ImportOutcome::Empty)
                }
            };
            if let Some(settled) = settled {
                self.settled.insert(file, settled);
            }
        }
        diagnostics.append(found.map(|mut one| {
            // A file that cannot be read has no place.
            one.place.get_or_insert_with(|| import.place.clone());
            one
        }));
        list
    }

    fn count_import(&mut self) -> Result<()> {
        self.count += 1;
        if self.count <= MAX_IMPORTS {
            return Ok(());
        }
        Err(Diagnostic::error(format!("more than {MAX_IMPORTS} imports of Compositions"))
            .hint("import each Composition in one place")
            .into())
    }
}

/// The transformer that a file in `directory` declares.
fn transformer(declared: Declared, directory: &str) -> Transformer {
    let Declared { id, value: mut config, document, node } = declared;
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
        layers: vec![Layer { document, node, at: FieldPath::root() }],
        written_as: Vec::new(),
        read_from: None,
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
        let is_meant = |transformer: &Transformer| transformer.id == change.id;
        let mut imported = parts.iter_mut().flat_map(|part| &mut part.transformers);
        match imported.find(|transformer| is_meant(transformer)) {
            Some(transformer) => {
                if apply(transformer, change, diagnostics) == Merged::Deleted {
                    for part in &mut *parts {
                        part.transformers.retain(|one| !is_meant(one));
                    }
                }
            }
            None => diagnostics.push(unmatched(change, parts, own, are_there_imports)),
        }
    }
}

/// An override of a transformer that was not imported.
fn unmatched(
    change: &Declared,
    parts: &[Part],
    own: &[Transformer],
    are_there_imports: bool,
) -> Diagnostic {
    let id = &change.id;
    let wrong = Diagnostic::error(format!("cannot override `{id}`: it was not imported"))
        .at(change.place());
    if let Some(own) = own.iter().find(|own| own.id == *id) {
        let wrong = wrong.hint("this Composition declares it: change it there");
        return match own.place() {
            Some(place) => wrong.related(place, "declared here"),
            None => wrong,
        };
    }
    if !are_there_imports {
        return wrong
            .hint("this Composition imports nothing: add imports under `transformersFrom`");
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
            format!("the imported transformers are {}", backticked(&names))
        }
    })
}

/// The error for a Composition that was imported twice.
fn imported_twice(one: &Transformer) -> Diagnostic {
    let mut wrong =
        Diagnostic::error(format!("`{}` is imported twice, and with it `{}`", one.file(), one.id))
            .hint("import it in one place: a Composition brings its own imports with it");
    wrong.place = one.place();
    wrong
}

/// Reports duplicate transformers. Returns whether there are none.
fn check_ids(all: &[Transformer], diagnostics: &mut Diagnostics) -> bool {
    let duplicates = duplicates(all);
    for (one, first) in &duplicates {
        if first.is_written_where(one) {
            diagnostics.push(imported_twice(one));
            continue;
        }
        let files = [first, one].map(|one| format!("`{}`", one.file()));
        let mut wrong = Diagnostic::error(if files[0] == files[1] {
            format!("duplicate transformer `{}` in {}", one.id, files[0])
        } else {
            format!("duplicate transformer `{}`, in {} and {}", one.id, files[0], files[1])
        })
        .hint("give one of them another `metadata.name`");
        wrong.place = one.place();
        if let Some(place) = first.place() {
            wrong = wrong.related(place, "the other one");
        }
        diagnostics.push(wrong);
    }
    duplicates.is_empty()
}

/// The transformers whose identity an earlier one has, each with the first of these.
fn duplicates(all: &[Transformer]) -> Vec<(&Transformer, &Transformer)> {
    // Names differ most often, so they are compared first. Imported lists are nearly sorted already,
    // which a map would not gain from.
    let mut sorted: Vec<(usize, &Transformer)> = all.iter().enumerate().collect();
    sorted.sort_by(|(_, one), (_, other)| {
        let by_name = one.id.name.cmp(&other.id.name);
        by_name.then_with(|| one.id.cmp(&other.id))
    });
    let same = sorted.chunk_by(|(_, one), (_, other)| one.id == other.id);
    let mut duplicates: Vec<_> = same
        .flat_map(|same| {
            let first = same.first();
            let later = same.iter().skip(1);
            later.filter_map(move |(at, one)| Some((*at, *one, first?.1)))
        })
        .collect();
    duplicates.sort_by_key(|(at, ..)| *at);
    duplicates.into_iter().map(|(_, one, first)| (one, first)).collect()
}
