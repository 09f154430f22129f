//! A kind of ours, with its schema in two forms.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::schema::structural::{self, describe};

/// The version of all kinds.
pub(super) const VERSION: &str = "v1alpha1";

/// One of our kinds, with its schema in two forms.
pub(super) struct Kind {
    pub(super) group: &'static str,
    pub(super) name: &'static str,
    /// As JSON Schema 2020-12, for editors.
    pub(super) json: Schema,
    /// `OpenAPI` 3.0 as Kubernetes takes it.
    pub(super) structural: Value,
    /// The function that takes it as its functionConfig, if there is one.
    pub(super) function: Option<Function>,
    /// Its short name in kubectl.
    pub(super) short_name: &'static str,
    /// The columns of `kubectl get`, besides the name and the age.
    pub(super) columns: &'static [Column],
}

/// A column of `kubectl get`.
#[derive(Clone, Copy)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) json_path: &'static str,
    /// Whether only `-o wide` shows it.
    pub(super) is_wide: bool,
}

/// The fields of a function in catalogs.
#[derive(Clone, Copy)]
pub(super) struct Function {
    pub(super) tag: &'static str,
    pub(super) usage: &'static str,
    pub(super) examples: &'static [&'static str],
}

impl Kind {
    pub(super) fn of<T: JsonSchema>(
        group: &'static str,
        name: &'static str,
        function: Option<Function>,
    ) -> Self {
        let json = SchemaSettings::draft2020_12()
            .with_transform(RecursiveTransform(describe))
            .into_generator()
            .into_root_schema_for::<T>();
        Self {
            group,
            name,
            json,
            structural: structural::schema::<T>(),
            function,
            short_name: "",
            columns: &[],
        }
    }

    /// The same with a short name and columns.
    pub(super) fn shown(self, short_name: &'static str, columns: &'static [Column]) -> Self {
        Self { short_name, columns, ..self }
    }

    /// Its name in addresses: `templates`.
    pub(super) fn plural(&self) -> String {
        let name = self.name.to_lowercase();
        let end = if name.ends_with('s') { "" } else { "s" };
        name + end
    }

    /// The name of its definition: `templates.template.krm.dev`.
    pub(super) fn full_name(&self) -> String {
        format!("{}.{}", self.plural(), self.group)
    }
}
