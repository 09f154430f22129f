//! The options of a merge.

/// The name of the merged Template, and how conflicts are resolved.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `metadata.name` of the merged Template.
    pub name: String,
    /// The annotation `openshift.io/display-name`; without it, that of the first Template stays.
    pub display_name: Option<String>,
    /// Prefixes for all parameters of a Template.
    pub prefixes: Vec<Prefix>,
    /// New names of single parameters; they win over prefixes.
    pub renames: Vec<Rename>,
    /// Parameters, by their new names, that are one although `required` or `secret` differ.
    pub shared: Vec<String>,
    /// Whose value a parameter has where only the values differ.
    pub prefer: Option<Prefer>,
    /// Keep the labels of the first Template, and drop those of the others.
    pub keep_first_labels: bool,
    /// The format of the text; without it, that of the first Template.
    pub format: Option<Format>,
}

/// A prefix for the names of all parameters of a Template.
#[derive(Clone, Debug)]
pub struct Prefix {
    /// The Template, by its name or its file.
    pub template: String,
    /// The text that is put before each name.
    pub prefix: String,
}

/// A new name for a parameter of a Template.
#[derive(Clone, Debug)]
pub struct Rename {
    /// The Template, by its name or its file.
    pub template: String,
    /// The name of the parameter.
    pub from: String,
    /// The name in the merged Template.
    pub to: String,
}

/// The Template whose value a parameter gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefer {
    /// The first Template with the parameter.
    First,
    /// The last Template with the parameter.
    Last,
}

/// The format of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// YAML, with the comments of those Templates that are YAML.
    Yaml,
    /// JSON, indented by two spaces a level.
    Json,
}
