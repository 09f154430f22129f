//! Label selectors as `kubectl -l` writes them.
//!
//! Source: `k8s.io/apimachinery/pkg/labels`.

use crate::scalar::into_text;
use krm_yaml::View;

/// Requirements that labels or annotations must all meet.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LabelSelector(Vec<Requirement>);

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

impl LabelSelector {
    /// Reads `a=b,c!=d,e in (f,g),h notin (i),j,!k`.
    ///
    /// # Errors
    /// With the part that is not a requirement.
    pub fn parse(text: &str) -> Result<Self, String> {
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
        let requirements = parts.map(|part| {
            let invalid = || format!("`{part}` is not a label requirement such as `app=web`");
            let requirement = parse_requirement(part).ok_or_else(invalid)?;
            let is_clear = |c: char| !c.is_whitespace() && !"=!<>(),".contains(c);
            let is_key = !requirement.key.is_empty() && requirement.key.chars().all(is_clear);
            is_key.then_some(requirement).ok_or_else(invalid)
        });
        Ok(Self(requirements.collect::<Result<_, String>>()?))
    }

    /// Whether it has no requirements.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether labels or annotations meet all requirements.
    #[must_use]
    pub fn fits(&self, labels: Option<View<'_>>) -> bool {
        self.0.iter().all(|requirement| {
            let label = labels.and_then(|labels| labels.get(&requirement.key));
            let text = label.and_then(View::scalar).and_then(into_text);
            requirement.test.passes(text.as_deref())
        })
    }
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
    use super::LabelSelector;
    use krm_yaml::{Value, View};

    #[track_caller]
    fn check(selector: &str, expected: bool) {
        let labels = [("app", "web"), ("tier", "front"), ("size", "3")];
        let labels = labels.map(|(key, value)| (key.into(), Value::from(value)));
        let selector = LabelSelector::parse(selector).unwrap();
        assert_eq!(
            selector.fits(Some(View::from(&Value::mapping(labels.into())))),
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
            assert!(LabelSelector::parse(selector).is_err(), "{selector}");
        }
    }
}
