//! Selects the resources for a patch or replacement.
//!
//! Source: kustomize 5.8, `api/types/selector.go`, `api/resmap/reswrangler.go` (`Select`) and
//! `k8s.io/apimachinery/pkg/labels`. Group, version, kind, name and namespace are regular
//! expressions for the whole text. Group, kind, name and namespace also match former ones; a
//! resource without a namespace is in `default`.

use regex_lite::Regex;
use serde::Deserialize;

use crate::composition::resources::resource::Resource;
use crate::composition::values::scalar::text_of;
use crate::krm::Identity;
use crate::krm::identity::group;
use crate::krm::scope::effective_namespace;
use krm_yaml::Value;
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
        let labels = |field, text: &str| parse_labels(text).map_err(|problem| (field, problem));
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
        let identities: Vec<Identity> = resources.iter().filter_map(Resource::identity).collect();
        let kinds = || identities.iter().map(|identity| identity.kind.as_str());
        let is_kind = |kind: &str| kinds().any(|known| known == kind);
        if !self.kind.is_empty() && !is_kind(&self.kind) {
            return Some(format!(
                "did you mean `kind: {}`?",
                closest(&self.kind, kinds())?
            ));
        }
        let of_kind = |identity: &&Identity| self.kind.is_empty() || identity.kind == self.kind;
        let names = identities
            .iter()
            .filter(of_kind)
            .map(|identity| identity.name.as_str());
        let close = closest(&self.name, names).filter(|close| *close != self.name);
        Some(format!("did you mean `name: {}`?", close?))
    }
}

/// A compiled [`Selector`].
#[derive(Debug)]
pub(crate) struct Matcher {
    group: Pattern,
    version: Pattern,
    kind: Pattern,
    name: Pattern,
    namespace: Pattern,
    labels: Vec<Requirement>,
    annotations: Vec<Requirement>,
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

    fn fits_namespace(&self, resource: &Resource<'_>) -> bool {
        if !self.is_literal {
            return any(resource, |identity| {
                self.namespace.matches(effective_namespace(identity))
            });
        }
        let now = resource.value.str_at(&["metadata", "namespace"]);
        let mut before = resource.previous.iter();
        self.namespace.matches(now.unwrap_or_default())
            || before.any(|identity| self.namespace.matches(effective_namespace(identity)))
    }

    /// Whether it selects a resource.
    pub(crate) fn selects(&self, resource: &Resource<'_>) -> bool {
        let text = |keys: &[&str]| resource.value.str_at(keys).unwrap_or_default();
        let version = version(text(&["apiVersion"]));
        self.version.matches(version)
            && (self.kind.matches(text(&["kind"]))
                || resource
                    .previous
                    .iter()
                    .any(|old| self.kind.matches(&old.kind)))
            && any(resource, |identity| self.group.matches(&identity.group))
            && any(resource, |identity| self.name.matches(&identity.name))
            && self.fits_namespace(resource)
            && fit(&self.labels, resource.value.at(&["metadata", "labels"]))
            && fit(
                &self.annotations,
                resource.value.at(&["metadata", "annotations"]),
            )
    }
}

/// Whether `is` holds for the current identity or a former one. Kind and name may be missing.
fn any(resource: &Resource<'_>, is: impl Fn(&Identity) -> bool) -> bool {
    let text = |keys: &[&str]| resource.value.str_at(keys).unwrap_or_default().to_owned();
    let now = Identity {
        group: group(&text(&["apiVersion"])).to_owned(),
        kind: text(&["kind"]),
        namespace: text(&["metadata", "namespace"]),
        name: text(&["metadata", "name"]),
    };
    is(&now) || resource.previous.iter().any(is)
}

/// The version of an API version: `v1` of `apps/v1`.
pub(crate) fn version(api_version: &str) -> &str {
    api_version
        .split_once('/')
        .map_or(api_version, |(_, version)| version)
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
        if text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        {
            return Ok(Self::Text(text.to_owned()));
        }
        let whole = Regex::new(&format!("^(?:{text})$"));
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

/// A requirement for one label.
#[derive(Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Debug, PartialEq, Eq)]
enum Test {
    Exists,
    IsMissing,
    In(Vec<String>),
    NotIn(Vec<String>),
    Above(i64),
    Below(i64),
}

/// Whether labels or annotations meet all requirements.
fn fit(requirements: &[Requirement], labels: Option<&Value<'_>>) -> bool {
    requirements.iter().all(|requirement| {
        let label = labels
            .and_then(|labels| labels.get(&requirement.key))
            .and_then(text_of);
        requirement.test.passes(label)
    })
}

impl Test {
    fn passes(&self, label: Option<&str>) -> bool {
        let is_in = |values: &[String]| {
            label.is_some_and(|label| values.iter().any(|value| value == label))
        };
        let number = || label.and_then(|label| label.parse::<i64>().ok());
        match self {
            Self::Exists => label.is_some(),
            Self::IsMissing => label.is_none(),
            Self::In(values) => is_in(values),
            Self::NotIn(values) => !is_in(values),
            Self::Above(limit) => number().is_some_and(|number| number > *limit),
            Self::Below(limit) => number().is_some_and(|number| number < *limit),
        }
    }
}

/// Reads `a=b,c!=d,e in (f,g),h notin (i),j,!k`.
fn parse_labels(text: &str) -> Result<Vec<Requirement>, String> {
    let mut depth = 0_usize;
    let parts = text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    let parts = parts.map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let invalid = || format!("`{part}` is not a label requirement such as `app=web`");
            let requirement = parse_requirement(part).ok_or_else(invalid)?;
            let is_clear = |c: char| !c.is_whitespace() && !"=!<>(),".contains(c);
            let is_key = !requirement.key.is_empty() && requirement.key.chars().all(is_clear);
            is_key.then_some(requirement).ok_or_else(invalid)
        })
        .collect()
}

fn parse_requirement(part: &str) -> Option<Requirement> {
    let of = |key: &str, test| {
        let key = key.trim().to_owned();
        Some(Requirement { key, test })
    };
    let one = |value: &str| vec![value.trim().to_owned()];
    let (key, set) = part.split_once('(').unzip();
    if let (Some(key), Some(set)) = (key, set) {
        let values = set.strip_suffix(')')?.split(',');
        let values = values.map(|value| value.trim().to_owned()).collect();
        let (key, word) = key.trim_end().rsplit_once(char::is_whitespace)?;
        return match word {
            "in" => of(key, Test::In(values)),
            "notin" => of(key, Test::NotIn(values)),
            _ => None,
        };
    }
    if let Some(key) = part.strip_prefix('!') {
        return of(key, Test::IsMissing);
    }
    if let Some((key, value)) = part.split_once("!=") {
        return of(key, Test::NotIn(one(value)));
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return of(key, Test::In(one(value)));
    }
    if let Some((key, value)) = part.split_once('>') {
        return of(key, Test::Above(value.trim().parse().ok()?));
    }
    if let Some((key, value)) = part.split_once('<') {
        return of(key, Test::Below(value.trim().parse().ok()?));
    }
    of(part, Test::Exists)
}

#[cfg(test)]
mod tests {
    use super::{Pattern, fit, parse_labels};
    use krm_yaml::Value;

    #[track_caller]
    fn check(selector: &str, expected: bool) {
        let labels = [("app", "web"), ("tier", "front"), ("size", "3")];
        let labels = labels.map(|(key, value)| (key.into(), Value::from(value)));
        let requirements = parse_labels(selector).unwrap();
        assert_eq!(
            fit(&requirements, Some(&Value::mapping(labels.into()))),
            expected
        );
    }

    #[test]
    fn label_selectors_match_as_in_kubernetes() {
        check("", true);
        check("app=web", true);
        check("app == web , tier!=back", true);
        check("app=db", false);
        check("app in (db, web),!other", true);
        check("app notin (db,web)", false);
        check("other notin (x),other!=y", true);
        check("tier", true);
        check("!tier", false);
        check("size>2,size<4", true);
        check("app>2", false);
    }

    #[test]
    fn malformed_selectors_are_refused() {
        for selector in ["=web", "a b", "app in (x", "app foo (x)", "size>big"] {
            assert!(parse_labels(selector).is_err(), "{selector}");
        }
    }

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
