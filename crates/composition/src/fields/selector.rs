//! Selects the resources for a patch or replacement.
//!
//! Source: kustomize 5.8, `api/types/selector.go`, `api/resmap/reswrangler.go` (`Select`) and
//! `k8s.io/apimachinery/pkg/labels`. Group, version, kind, name and namespace are regular
//! expressions for the whole text. Name and namespace also match the first ones; in replacements,
//! name, namespace, group and kind match all former ones. A resource without a namespace is in
//! `default`.

use regex_lite::Regex;
use serde::Deserialize;

use crate::resources::resource::Resource;
use crate::values::expression;
use krm_core::Identity;
use krm_core::identity::group;
use krm_core::label_selector::LabelSelector;
use krm_core::scope::effective_namespace;
use krm_yaml::suggest::closest;

/// The selector of a configuration; empty fields match anything.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Selector {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) namespace: String,
    #[serde(rename = "labelSelector")]
    pub(crate) labels: String,
    #[serde(rename = "annotationSelector")]
    pub(crate) annotations: String,
}

impl Selector {
    /// Whether it is empty, and so selects all.
    pub(crate) const fn is_empty(&self) -> bool {
        self.group.is_empty()
            && self.version.is_empty()
            && self.kind.is_empty()
            && self.name.is_empty()
            && self.namespace.is_empty()
            && self.labels.is_empty()
            && self.annotations.is_empty()
    }

    /// Compiles it.
    ///
    /// # Errors
    /// If an expression is not valid; with the name of its field.
    pub(crate) fn compile(&self) -> Result<Matcher, (&'static str, String)> {
        let pattern = |field, text: &str| Pattern::parse(text).map_err(|problem| (field, problem));
        let labels =
            |field, text: &str| LabelSelector::parse_each(text).map_err(|problem| (field, problem));
        Ok(Matcher {
            group: pattern("group", &self.group)?,
            version: pattern("version", &self.version)?,
            kind: pattern("kind", &self.kind)?,
            name: pattern("name", &self.name)?,
            namespace: pattern("namespace", &self.namespace)?,
            labels: labels("labelSelector", &self.labels)?,
            annotations: labels("annotationSelector", &self.annotations)?,
            is_literal: false,
        })
    }

    /// A hint for a selector that selects nothing: a similar name or kind.
    pub(crate) fn suggestion(&self, resources: &[Resource<'_>]) -> Option<String> {
        let is_left_alone = |resource: &Resource<'_>| {
            resource.is_configuration && resource.is_or_was(|one| one.name == self.name)
        };
        if self.kind.is_empty() && resources.iter().any(is_left_alone) {
            return Some(format!(
                "`{}` is configuration: to change it, name its `kind` as well",
                self.name
            ));
        }
        let identities: Vec<Identity> = resources.iter().filter_map(Resource::identity).collect();
        let kinds = || identities.iter().map(|identity| identity.kind.as_str());
        let is_kind = |kind: &str| kinds().any(|known| known == kind);
        if !self.kind.is_empty() && !is_kind(&self.kind) {
            return Some(format!("did you mean `kind: {}`?", closest(&self.kind, kinds())?));
        }
        let of_kind = |identity: &&Identity| self.kind.is_empty() || identity.kind == self.kind;
        let names = identities.iter().filter(of_kind).map(|identity| identity.name.as_str());
        let close = closest(&self.name, names).filter(|close| *close != self.name);
        Some(format!("did you mean `name: {}`?", close?))
    }
}

/// A [`Selector`] with its patterns compiled.
#[derive(Debug)]
pub(crate) struct Matcher {
    group: Pattern,
    version: Pattern,
    kind: Pattern,
    name: Pattern,
    namespace: Pattern,
    labels: LabelSelector,
    annotations: LabelSelector,
    /// Whether an object without a namespace is not in `default`.
    is_literal: bool,
}

impl Matcher {
    /// Selects as replacements do: an object without a namespace is not in `default`, unless it was
    /// moved.
    pub(crate) fn literally(mut self) -> Self {
        self.is_literal = true;
        self
    }

    /// The former identities that count.
    fn former<'r>(&self, resource: &'r Resource<'_>) -> &'r [Identity] {
        let all = resource.previous.as_slice();
        match all {
            [first, ..] if !self.is_literal => std::slice::from_ref(first),
            all => all,
        }
    }

    fn fits_namespace(&self, resource: &Resource<'_>) -> bool {
        let Pattern::Any = self.namespace else {
            let now = resource.str_at(&["metadata", "namespace"]);
            let mut before = self.former(resource).iter();
            let is_now = if self.is_literal {
                self.namespace.matches(now.unwrap_or_default())
            } else {
                let now = resource.identity();
                now.is_some_and(|now| self.namespace.matches(effective_namespace(&now)))
            };
            return is_now || before.any(|one| self.namespace.matches(effective_namespace(one)));
        };
        true
    }

    /// Whether a part of the current identity or of a former one matches.
    fn fits_part(
        &self,
        pattern: &Pattern,
        now: &str,
        resource: &Resource<'_>,
        part: impl Fn(&Identity) -> &str,
    ) -> bool {
        pattern.matches(now) || self.former(resource).iter().any(|one| pattern.matches(part(one)))
    }

    /// Whether it selects a resource; configuration only if it names a kind.
    pub(crate) fn selects(&self, resource: &Resource<'_>) -> bool {
        let names_kind = !matches!(self.kind, Pattern::Any);
        (names_kind || !resource.is_configuration) && self.fits(resource)
    }

    /// Whether a resource is as described.
    pub(crate) fn fits(&self, resource: &Resource<'_>) -> bool {
        let text = |keys: &[&str]| resource.str_at(keys).unwrap_or_default();
        let (api_version, kind) = (text(&["apiVersion"]), text(&["kind"]));
        self.version.matches(version(api_version))
            && self.fits_part(&self.kind, kind, resource, |one| &one.kind)
            && self.fits_part(&self.group, group(api_version), resource, |one| &one.group)
            && self.fits_part(&self.name, text(&["metadata", "name"]), resource, |one| &one.name)
            && self.fits_namespace(resource)
            && fits(&self.labels, resource, "labels")
            && fits(&self.annotations, resource, "annotations")
    }
}

/// Whether the labels or annotations of a resource meet all requirements.
fn fits(selector: &LabelSelector, resource: &Resource<'_>, key: &str) -> bool {
    selector.is_empty() || selector.fits(resource.view().at(&["metadata", key]))
}

/// The version of an API version: `v1` of `apps/v1`.
pub(crate) fn version(api_version: &str) -> &str {
    api_version.split_once('/').map_or(api_version, |(_, version)| version)
}

/// A regular expression for a whole text.
#[derive(Debug)]
enum Pattern {
    Any,
    Text(String),
    Expression(Regex),
}

impl Pattern {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::Any);
        }
        if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Ok(Self::Text(text.to_owned()));
        }
        let whole = expression::compile(&format!("^(?:{text})$"));
        let invalid = |error| format!("`{text}` is not a regular expression: {error}");
        whole.map(Self::Expression).map_err(invalid)
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Text(own) => own == text,
            Self::Expression(expression) => expression.is_match(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn patterns_match_the_whole_text() {
        let matches = |pattern: &str, text: &str| Pattern::parse(pattern).unwrap().matches(text);
        assert!(matches("", "web"));
        assert!(matches("web|db", "db"));
        assert!(!matches("web|db", "web-1"));
        assert!(!matches("web", "web-1"));
        assert!(matches(r"v\d", "v1"));
        assert!(Pattern::parse("(").is_err());
    }
}
