//! A Template that is merged: as it is read, and its data as the merge changes it.

use std::collections::{BTreeMap, BTreeSet};

use krm_template_engine::Template;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::Place;
use krm_yaml::{Cursor, Edit, SharedNode, Value};

pub(super) struct Part<'d> {
    pub(super) root: Cursor<'d>,
    pub(super) template: Template,
    /// `metadata.name`; without one, the name of the file.
    pub(super) name: String,
    /// Its name in messages and options: the Template's, or that of the file if it is not unique.
    pub(super) label: String,
    /// The parameters that get new names.
    pub(super) renames: BTreeMap<String, String>,
    /// Its data as it becomes part of the merged Template. All of it that was read knows its node.
    pub(super) value: Value<'d>,
    /// The new names of parameters, by position in the text.
    pub(super) edits: Vec<Edit>,
}

impl<'d> Part<'d> {
    /// Reads the Templates; `None` if one of them has errors.
    pub(super) fn read_all(
        roots: &'d [SharedNode],
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Self>> {
        let parts = roots.iter().map(|root| Self::read(root, diagnostics));
        let parts: Vec<Option<Self>> = parts.collect();
        let mut parts = parts.into_iter().collect::<Option<Vec<Self>>>()?;
        let names: Vec<String> = parts.iter().map(|part| part.name.clone()).collect();
        for part in &mut parts {
            if names.iter().filter(|name| **name == part.name).count() > 1 {
                part.file().clone_into(&mut part.label);
            }
        }
        Some(parts)
    }

    fn read(root: &'d SharedNode, diagnostics: &mut Diagnostics) -> Option<Self> {
        let template = Template::read(root, diagnostics)?;
        let root = root.cursor();
        let duplicates = template.dialect().duplicate_keys();
        let mut found = Diagnostics::new();
        let value = root.value(duplicates, &mut found);
        found.attribute_to(template.reference());
        diagnostics.append(found);
        let name = match template.name() {
            "" => stem(root.document().source().name()),
            name => name,
        };
        Some(Self {
            root,
            name: name.to_owned(),
            label: name.to_owned(),
            renames: BTreeMap::new(),
            value: value?,
            edits: Vec::new(),
            template,
        })
    }

    /// The name of its file.
    pub(super) fn file(&self) -> &'d str {
        self.root.document().source().name()
    }

    /// Whether an option means this Template by its file.
    pub(super) fn is_of_file(&self, word: &str) -> bool {
        self.file() == word || stem(self.file()) == word
    }

    /// The new name of a parameter.
    pub(super) fn renamed<'n>(&'n self, name: &'n str) -> &'n str {
        self.renames.get(name).map_or(name, String::as_str)
    }

    /// The names of its parameters in the merged Template.
    pub(super) fn new_names(&self) -> BTreeSet<String> {
        let parameters = self.template.parameters().iter();
        parameters.map(|parameter| self.renamed(&parameter.name).to_owned()).collect()
    }

    /// The items of one of its lists.
    pub(super) fn items(&self, key: &str) -> &[Value<'d>] {
        let items = self.value.get(key).and_then(Value::items);
        items.unwrap_or_default()
    }

    /// The same, to be changed.
    pub(super) fn items_mut(&mut self, key: &str) -> Option<&mut Vec<Value<'d>>> {
        self.value.get_mut(key)?.items_mut()
    }

    /// Where a value is written; for one from an alias, where the Template begins.
    pub(super) fn place(&self, value: Option<&Value<'_>>) -> Place {
        let origin = value.and_then(|value| value.origin);
        let node = origin.map(|origin| self.root.document().cursor(origin));
        node.map_or_else(|| self.root.key_place(), Cursor::place)
    }

    /// An error about a value of this Template.
    pub(super) fn error(&self, message: String, value: Option<&Value<'_>>) -> Diagnostic {
        Diagnostic {
            object: Some(self.template.reference().clone()),
            ..Diagnostic::error(message).at(self.place(value))
        }
    }

    /// A warning about a value of this Template.
    pub(super) fn warning(&self, message: String, value: Option<&Value<'_>>) -> Diagnostic {
        Diagnostic {
            object: Some(self.template.reference().clone()),
            ..Diagnostic::warning(message).at(self.place(value))
        }
    }

    /// A hint with the option that gives all its parameters new names.
    pub(super) fn prefix_hint(&self) -> String {
        format!(
            "to give the parameters of `{}` names of their own, add `--prefix {}={}`",
            self.label,
            self.label,
            self.suggested_prefix()
        )
    }

    /// A prefix made of its name.
    pub(super) fn suggested_prefix(&self) -> String {
        let letters = self.name.chars().map(|letter| match letter {
            letter if letter.is_ascii_alphanumeric() => letter.to_ascii_uppercase(),
            _ => '_',
        });
        let prefix: String = letters.chain(['_']).collect();
        if prefix.starts_with(|first: char| first.is_ascii_digit()) {
            return format!("_{prefix}");
        }
        prefix
    }
}

/// The name of a file without its folder and extension.
fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
