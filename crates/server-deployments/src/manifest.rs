//! Manifests, as they are stored in JSON.

use krm_template_deployment_manager::expansion::Layout;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Document, DuplicateKeys, Value};

use krm_template_server_core::status::{Result, Status};

/// A configuration with its expansion.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The text of the configuration.
    pub configuration: String,
    /// The imported files, with their texts.
    pub imports: Vec<Import>,
    /// The resources that the configuration expands to, in the order of the layout.
    pub resources: Vec<Value<'static>>,
    /// The templates, with the resources that they created.
    pub layout: Layout<'static>,
}

/// A file that a configuration imports.
#[derive(Clone, Debug)]
pub struct Import {
    /// The name that types refer to.
    pub name: String,
    /// The text of the file.
    pub content: String,
}

impl Manifest {
    /// Reads a manifest in JSON.
    ///
    /// # Errors
    ///
    /// 500 if it is not a manifest.
    pub fn read(json: &[u8]) -> Result<Self> {
        let unreadable = || Status::internal("a manifest of the store cannot be read");
        let value = document(json).and_then(|document| value(&document, None));
        let value = value.ok_or_else(unreadable)?;
        let text = |value: &Value<'_>, path: &[&str]| {
            let text = value.str_at(path);
            text.unwrap_or_default().to_owned()
        };
        let items = |path: &[&str]| value.at(path).and_then(Value::items).unwrap_or_default();
        let imports = items(&["inputConfig", "imports"]).iter();
        Ok(Self {
            configuration: text(&value, &["inputConfig", "content"]),
            imports: imports
                .map(|import| Import {
                    name: text(import, &["name"]),
                    content: text(import, &["content"]),
                })
                .collect(),
            resources: items(&["expandedConfig", "resources"]).to_vec(),
            layout: value.get("layout").map(Layout::of_value).unwrap_or_default(),
        })
    }

    /// Returns the import with a name, such as the type of a template.
    pub fn import(&self, name: &str) -> Option<&Import> {
        self.imports.iter().find(|import| import.name == name)
    }
}

/// Parses the layout of a manifest, which may be nested deeper than other parsers allow.
pub(super) fn layout(json: &[u8]) -> Option<Layout<'static>> {
    let layout = value(&document(json)?, Some("layout"))?;
    Some(Layout::of_value(&layout))
}

fn document(json: &[u8]) -> Option<Document> {
    let source = krm_yaml::decode("manifest", json.to_vec()).ok()?;
    Document::parse(&source).ok()
}

/// Returns the value of a document, or of one of its fields.
fn value(document: &Document, field: Option<&str>) -> Option<Value<'static>> {
    let mut node = document.roots().next()?;
    if let Some(field) = field {
        node = node.get(field)?;
    }
    let value = node.value(DuplicateKeys::Refuse, &mut Diagnostics::default())?;
    Some(value.into_owned())
}
