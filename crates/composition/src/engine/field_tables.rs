//! The fields that kustomize changes and the fields that name objects, with what Compositions add.
//!
//! Source: kustomize 5.8, `api/internal/plugins/builtinconfig` and `api/types/fieldspec.go`.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use crate::fields::field_spec::FieldSpec;
use crate::tables::fields as defaults;
use crate::tables::kind_order::legacy_rank;
use crate::tables::name_references::{NAME_REFERENCES, Named};
use crate::tables::schema::Schema;
use crate::tables::var_references::VAR_REFERENCES;
use krm_core::label_fields::{Field, LABEL_FIELDS};

/// The tables without additions.
static DEFAULT: LazyLock<Arc<Tables>> = LazyLock::new(|| Arc::new(Tables::kustomize()));

/// The group, version and kind of objects that fields name; empty for any.
pub type Kind<'n> = [&'n str; 3];

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
            && self
                .schema
                .as_ref()
                .zip(other.schema.as_ref())
                .is_none_or(is_one)
    }

    /// Adds those of a Composition that is imported or built, once. The first schema counts.
    pub(crate) fn append(&mut self, other: &Self) {
        for new in other.all() {
            if self.all().any(|one| Arc::ptr_eq(one, new)) {
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
    pub(crate) fn settle(&mut self) {
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
        let mut fields = if additions.fields.is_empty() {
            DEFAULT.fields.clone()
        } else {
            FieldTables::for_additions()?
        };
        for addition in &additions.fields {
            fields.merge(addition, true)?;
        }
        for addition in &additions.added {
            fields.merge(addition, false)?;
        }
        fields.sort();
        Ok(Arc::new(Self {
            fields,
            schema: additions.schema.clone(),
        }))
    }

    /// Those of kustomize.
    fn kustomize() -> Self {
        let specs = |fields: &[Field]| fields.iter().map(FieldSpec::from).collect();
        let mut name_reference: Vec<NameReference> = Vec::new();
        for named in NAME_REFERENCES {
            let new = NameReference {
                group: named.group.to_owned(),
                version: named.version.to_owned(),
                kind: named.kind.to_owned(),
                field_specs: specs(named.fields),
            };
            name_reference.push(new);
        }
        Self {
            fields: FieldTables {
                name_prefix: specs(defaults::PREFIX),
                name_suffix: specs(defaults::SUFFIX),
                namespace: specs(defaults::NAMESPACE),
                common_labels: specs(&[defaults::LABELS, LABEL_FIELDS].concat()),
                common_annotations: specs(defaults::ANNOTATIONS),
                images: specs(defaults::IMAGES),
                replicas: specs(defaults::REPLICAS),
                name_reference,
                labels: Vec::new(),
                template_labels: specs(&template_labels()),
                var_reference: specs(VAR_REFERENCES),
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

/// The fields that name objects of a kind.
pub fn fields_of<'k>(to: &'static Named) -> impl Iterator<Item = (Kind<'k>, Cow<'k, FieldSpec>)> {
    let kind = [to.group, to.version, to.kind];
    let fields = to.fields.iter();
    fields.map(move |field| (kind, Cow::Owned(FieldSpec::from(field))))
}

impl NameReference {
    fn kind(&self) -> Kind<'_> {
        [&self.group, &self.version, &self.kind]
    }
}

impl FieldTables {
    /// Those of kustomize, which it sorts and merges once more before it adds others.
    pub(crate) fn for_additions() -> Result<Self, String> {
        let mut sorted = DEFAULT.fields.clone();
        sorted.sort();
        let mut merged = Self::default();
        merged.merge(&sorted, false)?;
        Ok(merged)
    }

    /// Adds the entries of another table. With `hides`, an entry for one kind takes the place of one
    /// for all kinds that would be sorted after it.
    ///
    /// # Errors
    /// If two entries for one field differ in `create`.
    pub(crate) fn merge(&mut self, other: &Self, hides: bool) -> Result<(), String> {
        for (table, new) in self.tables().into_iter().zip(other.clone().tables()) {
            for new in new.drain(..) {
                add(table, new, hides)?;
            }
        }
        for named in &other.name_reference {
            let mut own = self.name_reference.iter_mut();
            match own.find(|own| own.kind() == named.kind()) {
                Some(own) => add_all(&mut own.field_specs, &named.field_specs)?,
                None => self.name_reference.push(named.clone()),
            }
        }
        Ok(())
    }

    /// The number of entries.
    pub(crate) fn count(&mut self) -> usize {
        let references = self.name_reference.iter();
        let references: usize = references.map(|one| one.field_specs.len() + 1).sum();
        let fields: usize = self.tables().iter().map(|table| table.len()).sum();
        references + fields
    }

    const fn tables(&mut self) -> [&mut Vec<FieldSpec>; 10] {
        [
            &mut self.name_prefix,
            &mut self.name_suffix,
            &mut self.namespace,
            &mut self.common_labels,
            &mut self.common_annotations,
            &mut self.images,
            &mut self.replicas,
            &mut self.labels,
            &mut self.template_labels,
            &mut self.var_reference,
        ]
    }

    /// Sorts the tables of fields: those for a kind come before those for all kinds.
    fn sort(&mut self) {
        for table in self.tables() {
            table.sort_by_cached_key(|one| position(kind_of(one)));
        }
        self.name_reference
            .sort_by_cached_key(|named| position(named.kind()));
    }
}

/// The position of a kind in the tables. An empty part comes last, as `~`.
fn position([group, version, kind]: Kind<'_>) -> (usize, String) {
    let or = |text: &str, none: &str| {
        if text.is_empty() {
            none.to_owned()
        } else {
            text.to_owned()
        }
    };
    let parts = [or(group, "~G"), or(version, "~V"), or(kind, "~K")];
    (legacy_rank(kind), parts.join("_"))
}

/// The labels of objects and of the templates in them.
fn template_labels() -> Vec<Field> {
    let all = defaults::LABELS.iter().chain(LABEL_FIELDS);
    let templates = all.filter(|field| field.path.ends_with("metadata/labels"));
    templates.copied().collect()
}

/// Adds fields to a table. A field is left out if the table has it for some of its kinds.
pub(crate) fn add_all(table: &mut Vec<FieldSpec>, new: &[FieldSpec]) -> Result<(), String> {
    new.iter()
        .try_for_each(|new| add(table, new.clone(), false))
}

fn add(table: &mut Vec<FieldSpec>, new: FieldSpec, hides: bool) -> Result<(), String> {
    if let Some(old) = table.iter().find(|old| is_for_all(&new, old)) {
        return same_create(old, &new);
    }
    if hides {
        let is_hidden = |old: &FieldSpec| {
            is_for_all(old, &new) && position(kind_of(&new)) < position(kind_of(old))
        };
        if let Some(old) = table.iter().find(|old| is_hidden(old)) {
            same_create(&new, old)?;
            table.retain(|old| !is_hidden(old));
        }
    }
    table.push(new);
    Ok(())
}

/// Whether an entry is for the field of another one and all its kinds.
fn is_for_all(one: &FieldSpec, other: &FieldSpec) -> bool {
    let fits = |own: &str, found: &str| own.is_empty() || own == found;
    other.path == one.path
        && fits(&one.group, &other.group)
        && fits(&one.version, &other.version)
        && fits(&one.kind, &other.kind)
}

fn same_create(old: &FieldSpec, new: &FieldSpec) -> Result<(), String> {
    if old.create == new.create {
        return Ok(());
    }
    let kind = if new.kind.is_empty() {
        "all kinds"
    } else {
        &new.kind
    };
    Err(format!(
        "`{}` of {kind} has `create: {}` in one entry and `create: {}` in another",
        new.path, old.create, new.create
    ))
}

fn kind_of(field: &FieldSpec) -> Kind<'_> {
    [&field.group, &field.version, &field.kind]
}

#[cfg(test)]
mod tests {
    use super::{Additions, FieldTables, Tables};
    use crate::fields::field_spec::FieldSpec;
    use std::sync::Arc;

    fn labels(kind: &str, create: bool) -> Additions {
        let field = FieldSpec {
            path: "metadata/labels".to_owned(),
            kind: kind.to_owned(),
            create,
            ..FieldSpec::default()
        };
        let fields = FieldTables {
            common_labels: vec![field],
            ..FieldTables::default()
        };
        Additions {
            fields: vec![Arc::new(fields)],
            ..Additions::default()
        }
    }

    /// Kustomize does the same with these entries.
    #[test]
    fn an_entry_for_a_kind_hides_that_for_all() {
        let tables = Tables::of(&labels("Foo", true)).unwrap();
        let with_labels = tables.fields().common_labels.iter();
        let kinds: Vec<&str> = with_labels
            .filter(|field| field.path == "metadata/labels")
            .map(|field| field.kind.as_str())
            .collect();
        assert_eq!(kinds, ["Foo"]);
        for (kind, create) in [("", false), ("Foo", false)] {
            let problem = Tables::of(&labels(kind, create)).unwrap_err();
            assert!(problem.contains("`metadata/labels`"), "{problem}");
        }
    }
}
