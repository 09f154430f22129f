//! The options of an export.

use std::collections::BTreeSet;

use krm_core::label_selector::LabelSelector;
use krm_template_engine::Dialect;
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::suggest::closest;
use krm_yaml::{FieldPath, Step};

/// The options of an export.
#[derive(Debug)]
pub struct Options {
    /// The name of the Template; without one, it is made of the names of the objects.
    pub name: Option<String>,
    /// The syntax of references in the Template.
    pub dialect: Dialect,
    /// The groups of fields that become parameters.
    pub groups: BTreeSet<Group>,
    /// Whether only the fields of every object are stripped.
    pub exact: bool,
    /// Fields that stay although the cluster or its tools set them.
    pub keep: Vec<FieldPattern>,
    /// Fields that are dropped besides the known ones.
    pub drop: Vec<FieldPattern>,
    /// Whether fields that the API server fills in stay.
    pub keeps_defaults: bool,
    /// The labels of the objects to export.
    pub selector: LabelSelector,
    /// The format of the Template.
    pub format: Format,
}

/// The format of the Template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Block YAML, with two spaces a level.
    Yaml,
    /// JSON, indented by two spaces a level.
    Json,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: None,
            dialect: Dialect::Proposal,
            groups: DEFAULT_GROUPS.iter().copied().collect(),
            exact: false,
            keep: Vec::new(),
            drop: Vec::new(),
            keeps_defaults: false,
            selector: LabelSelector::default(),
            format: Format::Yaml,
        }
    }
}

impl Options {
    /// Whether parameters of this group are made.
    pub(crate) fn makes(&self, group: Group) -> bool {
        // Secrets never stay.
        group == Group::Secrets || self.groups.contains(&group)
    }

    /// Whether the user keeps the field at a path of the tables, below some keys.
    #[inline]
    pub(crate) fn keeps(&self, prefix: &[&str], path: &str) -> bool {
        // Most users keep no field, and this is called for each field that may be dropped.
        !self.keep.is_empty() && self.keeps_whole(|| prefix.iter().copied().chain(path.split('/')))
    }

    /// Whether the user keeps an entry of a mapping.
    pub(crate) fn keeps_entry(&self, prefix: &[&str], key: &str) -> bool {
        self.keeps_whole(|| prefix.iter().copied().chain([key]))
    }

    fn keeps_whole<'k, K: Iterator<Item = &'k str>>(&self, path: impl Fn() -> K) -> bool {
        self.keep.iter().any(|one| one.ends(path()))
    }
}

/// Parameters that are made together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    Names,
    Images,
    Replicas,
    Resources,
    Hosts,
    Storage,
    Namespace,
    Secrets,
    ConfigMaps,
}

/// The words for the groups.
pub const GROUPS: &[(&str, Group)] = &[
    ("names", Group::Names),
    ("images", Group::Images),
    ("replicas", Group::Replicas),
    ("resources", Group::Resources),
    ("hosts", Group::Hosts),
    ("storage", Group::Storage),
    ("namespace", Group::Namespace),
    ("secrets", Group::Secrets),
    ("configmaps", Group::ConfigMaps),
];

/// The groups that are made by default.
const DEFAULT_GROUPS: &[Group] = &[
    Group::Names,
    Group::Images,
    Group::Replicas,
    Group::Hosts,
    Group::Storage,
    Group::Namespace,
    Group::Secrets,
];

/// Reads words such as `names` and `images`, `all` or `none`.
///
/// # Errors
/// If a word is unknown, or `all` or `none` is not alone.
pub fn groups<'w>(words: impl Iterator<Item = &'w str>) -> Result<BTreeSet<Group>> {
    let words: Vec<&str> = words.map(str::trim).filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        ["all"] => return Ok(GROUPS.iter().map(|(_, group)| *group).collect()),
        ["none"] => return Ok(BTreeSet::new()),
        _ => {}
    }
    let known = || GROUPS.iter().map(|(word, _)| *word).chain(["all", "none"]);
    let mut groups = BTreeSet::new();
    for word in words {
        match GROUPS.iter().find(|(known, _)| *known == word) {
            Some((_, group)) => {
                groups.insert(*group);
            }
            None if ["all", "none"].contains(&word) => {
                let problem = format!("`{word}` cannot be combined with other groups");
                return Err(Diagnostic::error(problem)
                    .hint("write it alone, or list the groups")
                    .into());
            }
            None => {
                let problem = format!("`{word}` is not a group of parameters");
                let hint = match closest(word, known()) {
                    Some(known) => format!("did you mean `{known}`?"),
                    None => format!("the groups are {}", known().collect::<Vec<_>>().join(", ")),
                };
                return Err(Diagnostic::error(problem).hint(hint).into());
            }
        }
    }
    Ok(groups)
}

/// A field that the user names, as `spec.ports.nodePort`, `spec.ports[].nodePort` or `nodePort`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPattern {
    keys: Vec<String>,
}

impl FieldPattern {
    /// Reads a field path. An index is left out: all items of a list are meant.
    ///
    /// # Errors
    /// If it is not a field path, or names no field.
    pub fn parse(text: &str) -> Result<Self> {
        let path: FieldPath = text.replace("[]", "").parse()?;
        let keys = path.steps().iter().filter_map(|step| match step {
            Step::Key(key) => Some(key.clone()),
            Step::Index(_) => None,
        });
        let keys: Vec<String> = keys.collect();
        if keys.is_empty() {
            let problem = format!("`{text}` names no field");
            return Err(Diagnostic::error(problem)
                .hint("write a field path such as `spec.ports.nodePort`")
                .into());
        }
        Ok(Self { keys })
    }

    /// The keys from the object down.
    pub(crate) fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Whether a path ends with this one.
    fn ends<'k>(&self, path: impl Iterator<Item = &'k str>) -> bool {
        let path: Vec<&str> = path.collect();
        let own = self.keys.iter().map(String::as_str);
        path.len()
            .checked_sub(self.keys.len())
            .and_then(|start| path.get(start..))
            .is_some_and(|end| end.iter().copied().eq(own))
    }
}

#[cfg(test)]
mod tests {
    use super::{FieldPattern, Group, groups};

    #[track_caller]
    fn check(pattern: &str, path: &str, expected: bool) {
        let pattern = FieldPattern::parse(pattern).unwrap();
        assert_eq!(pattern.ends(path.split('|')), expected);
    }

    #[test]
    fn a_field_is_named_by_its_last_keys() {
        check("nodePort", "spec|ports|nodePort", true);
        check("ports[].nodePort", "spec|ports|nodePort", true);
        check("spec.ports[0].nodePort", "spec|ports|nodePort", true);
        check("spec.nodePort", "spec|ports|nodePort", false);
        check("a.spec.ports.nodePort", "spec|ports|nodePort", false);
        check("annotations[helm.sh/hook]", "metadata|annotations|helm.sh/hook", true);
    }

    #[test]
    fn groups_are_listed_or_all_or_none() {
        let read = |text: &str| groups(text.split(','));
        assert_eq!(read("names, images").unwrap().len(), 2);
        assert_eq!(read("all").unwrap().len(), 9);
        assert!(read("none").unwrap().is_empty());
        assert!(read("names").unwrap().contains(&Group::Names));
        assert!(read("all,names").is_err());
        assert!(read("name").unwrap_err().hints.concat().contains("`names`"));
    }
}
