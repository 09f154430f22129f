//! The files under `configurations`, `crds` and `openapi`.
//!
//! Source: kustomize 5.8, `api/internal/accumulator/loadconfigfromcrds.go`.

use std::sync::Arc;

use crate::engine::field_tables::{Additions, FieldTables, Merging, NameReference};
use crate::fields::field_spec::FieldSpec;
use crate::read::model::{Added, Named};
use crate::tables::schema::Schema;
use krm_core::files::{Files, join};
use krm_core::typed;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::{Data, Document, DuplicateKeys, FieldPath, Value};

/// How many fields the definitions of a file may lead to, and how many entries the files that a
/// Composition or Kustomization names may have together: each is looked for in all objects.
const MAX_FIELDS: usize = 10_000;

/// Reads the entries that files in `directory` add to the tables.
pub(crate) fn additions(
    added: &Added,
    files: &dyn Files,
    directory: &str,
    diagnostics: &mut Diagnostics,
) -> Additions {
    let mut found = Additions { names_built_in: added.names_built_in, ..Additions::default() };
    let configurations = added.configurations.iter().map(|named| {
        let read = file(named, files, directory);
        let tables =
            read.and_then(|(document, value)| configuration(&document, &value, diagnostics));
        (named, tables)
    });
    let crds = added.crds.iter().map(|named| {
        let read = file(named, files, directory);
        (named, read.and_then(|(_, value)| definitions(named, &value)))
    });
    found.fields = tables(configurations.chain(crds).collect(), diagnostics);
    if let Some(named) = &added.openapi
        && let Some((_, value)) = diagnostics.take(file(named, files, directory))
    {
        let schema = Schema::of_document(&value);
        if schema.is_none() {
            let problem = format!("`{}` has no `definitions`", named.path);
            let wrong = wrong(named, problem);
            diagnostics
                .push(wrong.hint("`kustomize openapi fetch` writes the schema of a cluster"));
        }
        found.schema = schema.map(Arc::new);
    }
    found
}

/// The tables of files. Reports those that cannot be read, or merged with the ones before.
fn tables(
    read: Vec<(&Named, Result<FieldTables>)>,
    diagnostics: &mut Diagnostics,
) -> Vec<Arc<FieldTables>> {
    // Only if there is a file, as most Kustomizations have none.
    let mut merging = None;
    let mut count = 0;
    for (named, tables) in &read {
        let path = &named.path;
        let tables = match tables {
            Ok(tables) => tables,
            Err(problem) => {
                diagnostics.push(Diagnostic::clone(problem));
                continue;
            }
        };
        count += tables.count();
        if count > MAX_FIELDS {
            let problem =
                format!("`{path}` has more than {MAX_FIELDS} fields, with the files above it");
            diagnostics.push(wrong(named, problem));
            break;
        }
        let merging = merging.get_or_insert_with(Merging::for_additions);
        let merging = merging.as_mut().map_err(|problem| problem.clone());
        if let Err(problem) = merging.and_then(|merging| merging.add(tables, true)) {
            let problem = format!("`{path}` has conflicting fields: {problem}");
            diagnostics.push(wrong(named, problem));
        }
    }
    let tables = read.into_iter().filter_map(|(_, tables)| tables.ok());
    tables.map(Arc::new).collect()
}

fn wrong(named: &Named, problem: String) -> Diagnostic {
    let error = Diagnostic::error(problem);
    error.at(named.place.clone()).field(named.field.clone())
}

/// The first document of a file; an empty mapping if it has none.
fn file(named: &Named, files: &dyn Files, directory: &str) -> Result<(Document, Value<'static>)> {
    let read = files.source(&join(directory, &named.path), directory);
    let source = read.map_err(|mut problem| {
        problem.place.get_or_insert_with(|| named.place.clone());
        problem
    })?;
    let document = Document::parse(&source)?;
    let mut found = Diagnostics::new();
    let value = document.roots().next().and_then(|root| {
        let value = root.value(DuplicateKeys::Refuse, &mut found)?;
        Some(value.into_owned())
    });
    if let Some(problem) = found.iter().next() {
        return Err(Box::new(problem.clone()));
    }
    let value = value.filter(|value| !value.is_null());
    let value = value.unwrap_or_else(|| Value::mapping(Vec::new()));
    Ok((document, value))
}

/// The tables in a file under `configurations`. Warns of keys in another case.
fn configuration(
    document: &Document,
    value: &Value<'static>,
    diagnostics: &mut Diagnostics,
) -> Result<FieldTables> {
    let mut value = value.clone();
    if let Data::Mapping(entries) = &mut value.data {
        entries.retain(|(_, table)| !table.is_null());
    }
    let placed = |mut found: Diagnostic, path: &FieldPath| {
        let root = document.roots().next();
        found.place = found.place.or_else(|| Some(root?.nearest(path).key_place()));
        found.field(path.to_string())
    };
    let (read, keys) = typed::read_in_any_case(&value, false);
    for key in keys {
        let warning = Diagnostic::warning(key.in_words().0);
        diagnostics.push(placed(warning, &key.written));
    }
    read.map_err(|mismatch| {
        let (problem, hint) = mismatch.in_words();
        let wrong = Diagnostic::error(problem).maybe_hint(hint);
        placed(wrong, &mismatch.field(&FieldPath::root())).into()
    })
}

/// The fields of types in a file under `crds`: by extensions in their schemas.
fn definitions(named: &Named, types: &Value<'static>) -> Result<FieldTables> {
    let all = types.entries().unwrap_or_default();
    if all.iter().any(|(_, value)| value.entries().is_none()) {
        let problem = format!("`{}` has no definitions of types", named.path);
        let wrong = wrong(named, problem).hint(
            "expected a mapping of names to schemas, as `openapi-gen` writes it, not a CustomResourceDefinition; name merge keys under `openapi`, and fields under `configurations`",
        );
        return Err(wrong.into());
    }
    let mut found = Definitions { types, tables: FieldTables::default(), count: 0 };
    for (name, definition) in all {
        let is_object = |properties: &Value<'_>| {
            let has = |key| properties.get(key).is_some();
            has("kind") && has("apiVersion") && has("metadata")
        };
        if properties(definition).is_some_and(is_object) {
            let kind = name.rsplit(['.', '/']).next().unwrap_or_default();
            found.visit(kind, &mut vec![name.as_ref()], "");
        }
    }
    if found.count > MAX_FIELDS {
        let problem = format!("`{}` has more than {MAX_FIELDS} fields", named.path);
        return Err(wrong(named, problem).into());
    }
    Ok(found.tables)
}

fn properties<'v>(definition: &'v Value<'static>) -> Option<&'v Value<'static>> {
    definition.at(&["Schema", "properties"])
}

/// Definitions of types that refer to one another.
struct Definitions<'v> {
    types: &'v Value<'static>,
    tables: FieldTables,
    /// The number of fields visited.
    count: usize,
}

impl<'v> Definitions<'v> {
    /// Adds the fields of the last of the `open` types, which is at a path in the objects of `kind`.
    fn visit(&mut self, kind: &str, open: &mut Vec<&'v str>, path: &str) {
        let definition = open.last().and_then(|name| self.types.get(name));
        let properties = definition.and_then(properties).and_then(Value::entries);
        for (name, property) in properties.unwrap_or_default() {
            self.count = self.count.saturating_add(1);
            if self.count > MAX_FIELDS {
                return;
            }
            let slash = if path.is_empty() { "" } else { "/" };
            let path = format!("{path}{slash}{}", name.replace('/', "\\/"));
            let field = |path: &str| FieldSpec {
                path: path.into(),
                kind: kind.to_owned(),
                ..FieldSpec::default()
            };
            let extension = |name: &str| property.str_at(&[&format!("x-kubernetes-{name}")]);
            let marks = [
                ("annotation", &mut self.tables.common_annotations),
                ("label-selector", &mut self.tables.common_labels),
                ("identity", &mut self.tables.name_prefix),
            ];
            for (mark, table) in marks {
                table.extend(extension(mark).map(|_| field(&path)));
            }
            if let Some(version) = extension("object-ref-api-version")
                && let Some(kind) = extension("object-ref-kind")
            {
                let key = extension("object-ref-name-key").unwrap_or("name");
                self.tables.name_reference.push(NameReference {
                    group: String::new(),
                    version: version.to_owned(),
                    kind: kind.to_owned(),
                    field_specs: vec![field(&format!("{path}/{key}"))],
                });
            }
            if let Some(reference) = property.str_at(&["$ref"])
                && !open.contains(&reference)
            {
                open.push(reference);
                self.visit(kind, open, &path);
                open.pop();
            }
        }
    }
}
