//! The types that Kubernetes requires of fields.
//!
//! The table is small on purpose: fields that templates set, of kinds in every cluster.

use std::sync::LazyLock;

use crate::identity::{group, is_built_in};
use crate::kinds::{Row, lines};
use crate::pods;

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A string.
    String,
    /// A number.
    Number,
    /// A bool.
    Bool,
    /// A number, or the name of a port.
    Port,
    /// A number, or a percentage such as `25%`.
    Share,
}

/// Fields by their path in an object or a part of it. Lists are traversed, `*` is any key.
pub type Fields = [(Vec<&'static str>, Type)];

/// Kinds or a part of objects, with fields.
type Entry = (Row, Vec<(Vec<&'static str>, Type)>);

/// The fields of kinds, by the last part of their groups; of all kinds under `*`.
static TABLE: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let typed = |row: &'static str| {
        let (path, kind) = row.split_once(' ')?;
        Some((path.split('/').collect(), Type::named(kind)?))
    };
    lines("type").map(|(title, rows)| (title, rows.filter_map(typed).collect())).collect()
});

/// The probes of a container.
pub const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];

impl Type {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "string" => Self::String,
            "number" => Self::Number,
            "bool" => Self::Bool,
            "port" => Self::Port,
            "share" => Self::Share,
            _ => return None,
        })
    }

    /// Its name, with an article.
    pub const fn with_article(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Number => "a number",
            Self::Bool => "`true` or `false`",
            Self::Port => "a number or the name of a port",
            Self::Share => "a number or a percentage",
        }
    }

    /// Its name.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Bool => "bool",
            Self::Number | Self::Port | Self::Share => "number",
        }
    }

    /// Whether Kubernetes rejects this text here because it takes the number or the bool only.
    pub fn rejects(self, text: &str) -> bool {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        match self {
            Self::String => false,
            Self::Number | Self::Bool => true,
            Self::Port | Self::Share => is_integer,
        }
    }
}

/// The lists of containers in the specification of a pod.
pub const CONTAINERS: [&str; 2] = ["containers", "initContainers"];

/// The fields of objects of a kind, apart from their pods.
pub fn of_kind(api_version: &str, kind: &str) -> impl Iterator<Item = &'static Fields> {
    let is_known = is_built_in(group(api_version));
    let is_own = move |title: &Row| title.contains(&"*") || is_known && title.contains(&kind);
    TABLE.iter().filter(move |(title, _)| is_own(title)).map(|(_, fields)| fields.as_slice())
}

/// The fields of a part of pods: `template`, `spec`, `container` or `probe`.
pub fn of_pod(part: &str) -> &'static Fields {
    let is_it = |name: &&str| name.strip_prefix("pod.") == Some(part);
    let part = TABLE.iter().find(|(title, _)| title.first().is_some_and(is_it));
    part.map(|(_, fields)| fields.as_slice()).unwrap_or_default()
}

/// The type of a field in objects of a kind, by its keys from the object down; `None` if the table
/// does not have it.
pub fn of_field(api_version: &str, kind: &str, keys: &[&str]) -> Option<Type> {
    let own = of_kind(api_version, kind).find_map(|fields| find(fields, keys));
    if own.is_some() || !is_built_in(group(api_version)) {
        return own;
    }
    let below = keys.strip_prefix(pods::spec(kind)?)?;
    match below {
        [list, probe, field @ ..] if CONTAINERS.contains(list) && PROBES.contains(probe) => {
            find(of_pod("probe"), field)
        }
        [list, field @ ..] if CONTAINERS.contains(list) => find(of_pod("container"), field),
        field => find(of_pod("spec"), field),
    }
}

fn find(fields: &Fields, keys: &[&str]) -> Option<Type> {
    let is_meant = |path: &[&str]| {
        let mut pairs = path.iter().zip(keys);
        path.len() == keys.len() && pairs.all(|(own, key)| *own == "*" || own == key)
    };
    let mut fields = fields.iter();
    fields.find_map(|(path, kind)| is_meant(path).then_some(*kind))
}

#[cfg(test)]
mod tests {
    use super::{Type, of_field};

    #[test]
    fn fields_are_found_by_their_path() {
        let check = |kind, path: &str, expected| {
            let keys: Vec<&str> = path.split('.').collect();
            assert_eq!(of_field("apps/v1", kind, &keys), expected, "{kind} {path}");
        };
        check("Deployment", "spec.replicas", Some(Type::Number));
        check("Deployment", "metadata.labels.a", Some(Type::String));
        let container = "spec.template.spec.containers";
        check("Deployment", &format!("{container}.ports.containerPort"), Some(Type::Number));
        check("Deployment", &format!("{container}.livenessProbe.httpGet.port"), Some(Type::Port));
        check("Deployment", "spec.template.spec.hostNetwork", Some(Type::Bool));
        check("Deployment", "spec.port", None);
        check("ConfigMap", "spec.replicas", None);
        assert_eq!(of_field("example.org/v1", "Deployment", &["spec", "replicas"]), None);
    }

    #[test]
    fn texts_that_a_port_or_a_share_may_be() {
        assert!(Type::Number.rejects("web"));
        assert!(Type::Port.rejects("8080"));
        assert!(!Type::Port.rejects("web"));
        assert!(Type::Share.rejects("3"));
        assert!(!Type::Share.rejects("25%"));
    }
}
