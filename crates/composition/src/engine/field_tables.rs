//! The fields that kustomize changes and the fields that name objects, with what Compositions add.
//!
//! Source: kustomize 5.8, `api/internal/plugins/builtinconfig` and `api/types/fieldspec.go`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use crate::engine::merged_fields::{ByKind, MergedFields, position};
use crate::fields::field_spec::{FieldSpec, Kind};
use crate::tables::schema::Schema;
use krm_core::kinds::{Field, Row, fields, sections};

/// The tables without additions.
static DEFAULT: LazyLock<Arc<Tables>> = LazyLock::new(|| Arc::new(Tables::kustomize()));

/// The tables of a Composition.
#[derive(Debug)]
pub(crate) struct Tables {
    fields: FieldTables,
    schema: Option<Arc<Schema>>,
}

/// The fields that transformers change where their configuration names none: what a file under
/// `configurations` holds.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct FieldTables {
    pub(crate) name_prefix: Vec<FieldSpec>,
    pub(crate) name_suffix: Vec<FieldSpec>,
    pub(crate) namespace: Vec<FieldSpec>,
    pub(crate) common_labels: Vec<FieldSpec>,
    pub(crate) common_annotations: Vec<FieldSpec>,
    pub(crate) images: Vec<FieldSpec>,
    pub(crate) replicas: Vec<FieldSpec>,
    pub(crate) name_reference: Vec<NameReference>,
    /// This and the following are for fields that only a Kustomization has: the fields of all
    /// `labels`, of those with `includeTemplates`, and the ones that may name `vars`.
    pub(crate) labels: Vec<FieldSpec>,
    pub(crate) template_labels: Vec<FieldSpec>,
    pub(crate) var_reference: Vec<FieldSpec>,
}

/// Borrows all tables of fields, in the same order.
macro_rules! tables {
    ($own:ident, $($borrow:tt)+) => {
        [
            $($borrow)+ $own.name_prefix,
            $($borrow)+ $own.name_suffix,
            $($borrow)+ $own.namespace,
            $($borrow)+ $own.common_labels,
            $($borrow)+ $own.common_annotations,
            $($borrow)+ $own.images,
            $($borrow)+ $own.replicas,
            $($borrow)+ $own.labels,
            $($borrow)+ $own.template_labels,
            $($borrow)+ $own.var_reference,
        ]
    };
}

/// The fields that name the objects of a kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NameReference {
    #[serde(default)]
    pub(crate) group: String,
    #[serde(default)]
    pub(crate) version: String,
    #[serde(default)]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) field_specs: Vec<FieldSpec>,
}

/// The entries that Compositions add to the tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Additions {
    pub(crate) fields: Vec<Arc<FieldTables>>,
    /// Those of Kustomizations that kustomize adds to tables which have its defaults already: a
    /// default then stays beside an entry for one kind.
    pub(crate) added: Vec<Arc<FieldTables>>,
    /// Whether the tables of a directory are among these.
    pub(crate) is_based: bool,
    pub(crate) schema: Option<Arc<Schema>>,
    /// Whether a Kustomization names the schema that is built in.
    pub(crate) names_built_in: bool,
}

impl Additions {
    pub(crate) const fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.added.is_empty() && self.schema.is_none()
    }

    fn all(&self) -> impl Iterator<Item = &Arc<FieldTables>> {
        self.fields.iter().chain(&self.added)
    }

    /// Whether they are the same entries, from the same files.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let mut pairs = self.all().zip(other.all());
        let is_one = |(one, other): (&Arc<Schema>, &Arc<Schema>)| Arc::ptr_eq(one, other);
        self.fields.len() == other.fields.len()
            && self.added.len() == other.added.len()
            && pairs.all(|(one, other)| Arc::ptr_eq(one, other))
            && self.schema.is_some() == other.schema.is_some()
            && self.schema.as_ref().zip(other.schema.as_ref()).is_none_or(is_one)
    }

    /// Adds those of a Composition that is imported or built, once. The first schema counts.
    pub(crate) fn append(&mut self, other: &Self) {
        let address = |one: &Arc<FieldTables>| Arc::as_ptr(one).addr();
        let mut known: BTreeSet<usize> = self.all().map(address).collect();
        for new in other.all() {
            if !known.insert(address(new)) {
                continue;
            }
            if self.is_based {
                self.added.push(Arc::clone(new));
            } else {
                self.fields.push(Arc::clone(new));
            }
        }
        self.schema = self.schema.take().or_else(|| other.schema.clone());
    }

    /// Adds those of a directory that a Kustomization names, with its bases.
    pub(crate) fn append_base(&mut self, base: &Self) {
        self.append(base);
        self.is_based = true;
    }

    /// Merges them into empty tables, as kustomize does after a Component.
    pub(crate) fn merge_after_component(&mut self) {
        self.fields.append(&mut self.added);
        self.is_based = true;
    }
}

impl Tables {
    /// The tables with additions.
    ///
    /// # Errors
    /// If two entries for one field differ in `create`.
    pub(crate) fn of(additions: &Additions) -> Result<Arc<Self>, String> {
        if additions.is_empty() {
            return Ok(Arc::clone(&DEFAULT));
        }
        let mut merging = if additions.fields.is_empty() {
            Merging::of(&DEFAULT.fields)
        } else {
            Merging::for_additions()?
        };
        for addition in &additions.fields {
            merging.add(addition, true)?;
        }
        for addition in &additions.added {
            merging.add(addition, false)?;
        }
        let fields = merging.sorted();
        Ok(Arc::new(Self { fields, schema: additions.schema.clone() }))
    }

    /// Those of kustomize.
    fn kustomize() -> Self {
        let specs = |section| fields(section).map(|field| FieldSpec::from(&field)).collect();
        let for_all = |path: &str, create| {
            vec![FieldSpec { path: path.into(), create, ..FieldSpec::default() }]
        };
        let labels = fields("labels").map(|field| FieldSpec::from(&field));
        let common_labels: Vec<_> =
            for_all("metadata/labels", true).into_iter().chain(labels).collect();
        let of_templates = |field: &&FieldSpec| field.path.ends_with("metadata/labels");
        Self {
            fields: FieldTables {
                name_prefix: for_all("metadata/name", false),
                name_suffix: for_all("metadata/name", false),
                namespace: specs("namespace"),
                template_labels: common_labels.iter().filter(of_templates).cloned().collect(),
                common_labels,
                common_annotations: specs("annotations"),
                images: specs("images"),
                replicas: specs("replicas"),
                name_reference: sections("names").filter_map(NameReference::of).collect(),
                labels: Vec::new(),
                var_reference: specs("vars"),
            },
            schema: None,
        }
    }

    pub(crate) const fn fields(&self) -> &FieldTables {
        &self.fields
    }

    /// The schema that a Composition names.
    pub(crate) fn schema(&self) -> Option<&Schema> {
        self.schema.as_deref()
    }

    /// The fields that name objects, each with the kind that it names.
    pub(crate) fn name_references(&self) -> impl Iterator<Item = (Kind<'_>, Cow<'_, FieldSpec>)> {
        let all = self.fields.name_reference.iter();
        all.flat_map(|named| {
            let fields = named.field_specs.iter();
            fields.map(|field| (named.kind(), Cow::Borrowed(field)))
        })
    }
}

/// The fields that name objects, each with the kind that it names, in the sections of a name.
pub fn name_references<'k>(section: &str) -> impl Iterator<Item = (Kind<'k>, Cow<'k, FieldSpec>)> {
    sections(section).flat_map(|(kind, rows)| {
        let kind = Kind::try_from(kind).unwrap_or_default();
        rows.filter_map(move |row| Some((kind, Cow::Owned(FieldSpec::from(&Field::of(&row)?)))))
    })
}

impl NameReference {
    /// Those in a section of the table.
    fn of((kind, rows): (Row, impl Iterator<Item = Row>)) -> Option<Self> {
        let [group, version, kind] = Kind::try_from(kind).ok()?.map(str::to_owned);
        let fields = rows.filter_map(|row| Some(FieldSpec::from(&Field::of(&row)?)));
        Some(Self { group, version, kind, field_specs: fields.collect() })
    }

    fn kind(&self) -> Kind<'_> {
        [&self.group, &self.version, &self.kind]
    }
}

impl FieldTables {
    /// The number of entries.
    pub(crate) fn count(&self) -> usize {
        let references = self.name_reference.iter();
        let references: usize = references.map(|one| one.field_specs.len() + 1).sum();
        let fields: usize = self.tables().iter().map(|table| table.len()).sum();
        references + fields
    }

    const fn tables(&self) -> [&Vec<FieldSpec>; 10] {
        tables!(self, &)
    }
}

/// Tables that are merged.
#[derive(Default)]
pub(crate) struct Merging<'t> {
    tables: [MergedFields<'t>; 10],
    references: Vec<(Kind<'t>, MergedFields<'t>)>,
    /// The indexes of these.
    by_kind: ByKind<'t>,
}

impl<'t> Merging<'t> {
    /// Begins with the tables of kustomize, which it sorts and merges once more before it adds
    /// others.
    pub(crate) fn for_additions() -> Result<Self, String> {
        static SORTED: LazyLock<FieldTables> =
            LazyLock::new(|| Merging::of(&DEFAULT.fields).sorted());
        let mut merging = Merging::default();
        merging.add(&SORTED, false)?;
        Ok(merging)
    }

    fn of(tables: &'t FieldTables) -> Self {
        let mut merging = Self::default();
        for (own, fields) in merging.tables.iter_mut().zip(tables.tables()) {
            own.extend(fields);
        }
        for named in &tables.name_reference {
            merging.add_references(named);
        }
        merging
    }

    /// Adds the entries of a table. With `hides`, an entry for one kind takes the place of one for all
    /// kinds that would be sorted after it.
    ///
    /// # Errors
    /// If two entries for one field differ in `create`.
    pub(crate) fn add(&mut self, tables: &'t FieldTables, hides: bool) -> Result<(), String> {
        for (own, fields) in self.tables.iter_mut().zip(tables.tables()) {
            fields.iter().try_for_each(|field| own.add(field, hides))?;
        }
        for named in &tables.name_reference {
            let own = self.by_kind.get(&("", named.kind()));
            match own.and_then(|index| self.references.get_mut(*index)) {
                Some((_, own)) => own.add_all(&named.field_specs)?,
                None => self.add_references(named),
            }
        }
        Ok(())
    }

    fn add_references(&mut self, named: &'t NameReference) {
        let mut fields = MergedFields::default();
        fields.extend(&named.field_specs);
        let index = self.references.len();
        self.by_kind.entry(("", named.kind())).or_insert(index);
        self.references.push((named.kind(), fields));
    }

    /// The tables, in which the fields of a kind come before those of all kinds.
    fn sorted(self) -> FieldTables {
        let mut sorted = FieldTables::default();
        for (own, merged) in tables!(sorted, &mut).into_iter().zip(self.tables) {
            *own = merged.fields();
            own.sort_by_cached_key(|one| position(one.kind()));
        }
        let mut references = self.references;
        references.sort_by_cached_key(|(kind, _)| position(*kind));
        let name_reference = references.into_iter().map(|(kind, fields)| {
            let [group, version, kind] = kind.map(str::to_owned);
            NameReference { group, version, kind, field_specs: fields.fields() }
        });
        sorted.name_reference = name_reference.collect();
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::{Additions, FieldTables, Tables};
    use crate::fields::field_spec::FieldSpec;
    use std::sync::Arc;

    fn labels(kind: &str, create: bool) -> Additions {
        let field = FieldSpec {
            path: "metadata/labels".into(),
            kind: kind.to_owned(),
            create,
            ..FieldSpec::default()
        };
        let fields = FieldTables { common_labels: vec![field], ..FieldTables::default() };
        Additions { fields: vec![Arc::new(fields)], ..Additions::default() }
    }

    /// Kustomize does the same with these entries.
    #[test]
    fn an_entry_for_a_kind_hides_that_for_all() {
        let tables = Tables::of(&labels("Foo", true)).unwrap();
        let with_labels = tables.fields().common_labels.iter();
        let kinds: Vec<&str> = with_labels
            .filter(|field| &*field.path == "metadata/labels")
            .map(|field| field.kind.as_str())
            .collect();
        assert_eq!(kinds, ["Foo"]);
        for (kind, create) in [("", false), ("Foo", false)] {
            let problem = Tables::of(&labels(kind, create)).unwrap_err();
            assert!(problem.contains("`metadata/labels`"), "{problem}");
        }
    }
}
