//! Label selectors, as `kubectl -l` and as objects write them.
//!
//! Source: `selector.go` of `k8s.io/apimachinery/pkg/labels`.

use std::collections::BTreeSet;

use crate::scalar::into_text;
use crate::validation;
use krm_yaml::View;

/// A label selector. The default selects everything.
///
/// [`parse`](Self::parse) reads the form of `kubectl -l`; [`of`](Self::of) reads `matchLabels` and
/// `matchExpressions`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector(Vec<Requirement>);

/// A condition on one label.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
    values: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Exists,
    DoesNotExist,
    In,
    NotIn,
    GreaterThan,
    LessThan,
}

impl LabelSelector {
    /// Parses a selector, such as `app=web,tier in (front,back),!old`.
    ///
    /// # Errors
    ///
    /// The message of Kubernetes for a malformed selector.
    pub fn parse(text: &str) -> Result<Self, String> {
        Parser { tokens: tokens(text), at: 0 }.parse()
    }

    /// Parses a selector that a user writes. Empty requirements are ignored.
    ///
    /// # Errors
    ///
    /// A message with the first malformed requirement.
    pub fn parse_each(text: &str) -> Result<Self, String> {
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
            let parsed = Self::parse(part).map(|selector| selector.0);
            parsed.map_err(|_| format!("`{part}` is not a label requirement such as `app=web`"))
        });
        let requirements = requirements.collect::<Result<Vec<_>, _>>()?;
        Ok(Self(requirements.concat()))
    }

    /// The selector that an object has, with `matchLabels` and `matchExpressions`. `None` if it is
    /// malformed.
    pub fn of(selector: View<'_>) -> Option<Self> {
        let mut all = Self::default();
        for (key, part) in selector.entries()? {
            match key.as_ref() {
                "matchLabels" => all.0.extend(Self::of_labels(part)?.0),
                "matchExpressions" => {
                    for expression in part.items()? {
                        all.0.push(Requirement::of(expression)?);
                    }
                }
                _ => return None,
            }
        }
        Some(all)
    }

    /// The selector that requires these labels, as that of a Service. `None` if one is no string.
    pub fn of_labels(labels: View<'_>) -> Option<Self> {
        let equal = labels.entries()?.map(|(key, value)| {
            Some(Requirement {
                key: key.into_owned(),
                operator: Operator::In,
                values: BTreeSet::from([value.as_str()?.into_owned()]),
            })
        });
        equal.collect::<Option<_>>().map(Self)
    }

    /// The selector of a workload, in either form.
    pub fn of_workload(selector: View<'_>) -> Option<Self> {
        Self::of(selector).or_else(|| Self::of_labels(selector))
    }

    /// The same without requirements of some labels, unless it has no others.
    #[must_use]
    pub fn without(mut self, is_left_out: impl Fn(&str) -> bool) -> Self {
        if !self.0.iter().all(|one| is_left_out(&one.key)) {
            self.0.retain(|one| !is_left_out(&one.key));
        }
        self
    }

    /// The labels that it requires with one value.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let equal = self.0.iter().filter(|one| one.operator == Operator::In);
        equal.filter_map(|one| match one.values.first() {
            Some(value) if one.values.len() == 1 => Some((one.key.as_str(), value.as_str())),
            _ => None,
        })
    }

    /// Returns `true` if labels are selected, of which some may have one of several values.
    pub fn matches_some(&self, labels: &BTreeSet<(String, String)>) -> bool {
        self.0.iter().all(|requirement| {
            let from = (requirement.key.clone(), String::new());
            let values = labels.range(from..).map(|(key, value)| (key, value.as_str()));
            let mut values = values.take_while(|(key, _)| **key == requirement.key).peekable();
            if values.peek().is_none() {
                return requirement.matches(None);
            }
            values.any(|(_, value)| requirement.matches(Some(value)))
        })
    }

    /// Returns `true` if an object is selected. `label` looks up the value of a label.
    pub fn matches<L: AsRef<str>>(&self, label: impl Fn(&str) -> Option<L>) -> bool {
        self.0.iter().all(|requirement| {
            let label = label(&requirement.key);
            requirement.matches(label.as_ref().map(AsRef::as_ref))
        })
    }

    /// Returns `true` if labels or annotations, as they are written, meet all requirements.
    pub fn fits(&self, labels: Option<View<'_>>) -> bool {
        self.matches(|key| labels?.get(key).and_then(View::scalar).and_then(into_text))
    }

    /// Returns `true` if everything is selected.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Requirement {
    /// An item of `matchExpressions`.
    fn of(expression: View<'_>) -> Option<Self> {
        let text = |key| Some(expression.get(key)?.as_str()?.into_owned());
        let operator = match text("operator")?.as_str() {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::DoesNotExist,
            _ => return None,
        };
        let values = expression.get("values").and_then(View::items);
        let values = values.into_iter().flatten();
        let values = values.map(|value| Some(value.as_str()?.into_owned()));
        Some(Self { key: text("key")?, operator, values: values.collect::<Option<_>>()? })
    }

    fn matches(&self, label: Option<&str>) -> bool {
        use Operator as Is;
        let compare = |is: fn(i64, i64) -> bool| {
            let wanted = self.values.first().and_then(|value| value.parse().ok());
            let found = label.and_then(|value| value.parse().ok());
            found.zip(wanted).is_some_and(|(found, wanted)| is(found, wanted))
        };
        let is_one = label.is_some_and(|value| self.values.contains(value));
        match self.operator {
            Is::Exists => label.is_some(),
            Is::DoesNotExist => label.is_none(),
            Is::In => is_one,
            Is::NotIn => !is_one,
            Is::GreaterThan => compare(|found, wanted| found > wanted),
            Is::LessThan => compare(|found, wanted| found < wanted),
        }
    }
}

/// A word, including `in` and `notin`, or a sign. The end of the text is an empty token.
type Token<'t> = &'t str;

const SIGNS: [&str; 9] = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];

fn is_special(letter: char) -> bool {
    matches!(letter, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}

fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\r' | '\n')
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
        let end = sign.map_or_else(
            || rest.find(|letter| is_special(letter) || is_space(letter)).unwrap_or(rest.len()),
            |sign| sign.len(),
        );
        let Some((token, after)) = rest.split_at_checked(end) else {
            break;
        };
        tokens.push(token);
        rest = after.trim_start_matches(is_space);
    }
    tokens
}

/// Returns `true` if a token is a word, including `in` and `notin`.
fn is_word(token: Token<'_>) -> bool {
    !token.is_empty() && !token.starts_with(is_special)
}

struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Token<'t> {
        self.tokens.get(self.at).copied().unwrap_or_default()
    }

    fn next(&mut self) -> Token<'t> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn parse(mut self) -> Result<LabelSelector, String> {
        let mut requirements = Vec::new();
        loop {
            match self.peek() {
                "" => return Ok(LabelSelector(requirements)),
                token if token == "!" || is_word(token) => {}
                token => {
                    return Err(format!(
                        "found '{token}', expected: !, identifier, or 'end of string'"
                    ));
                }
            }
            let requirement = self.requirement();
            requirements.push(
                requirement.map_err(|error| format!("unable to parse requirement: {error}"))?,
            );
            match (self.next(), self.peek()) {
                ("", _) => return Ok(LabelSelector(requirements)),
                (",", token) if token == "!" || is_word(token) => {}
                (",", token) => {
                    return Err(format!("found '{token}', expected: identifier after ','"));
                }
                (token, _) => {
                    return Err(format!("found '{token}', expected: ',' or 'end of string'"));
                }
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let is_negated = self.peek() == "!";
        if is_negated {
            self.at += 1;
        }
        let key = self.next();
        // After `!`, the operators are not names.
        if !is_word(key) || is_negated && matches!(key, "in" | "notin") {
            return Err(format!("found '{key}', expected: identifier"));
        }
        let wrong = validation::qualified(key);
        if !wrong.is_empty() {
            return Err(format!("<nil>: Invalid value: {key:?}: {}", wrong.join("; ")));
        }
        if is_negated {
            return requirement(key, Operator::DoesNotExist, BTreeSet::new());
        }
        if matches!(self.peek(), "" | ",") {
            return requirement(key, Operator::Exists, BTreeSet::new());
        }
        let token = self.next();
        let operator = match token {
            "in" | "=" | "==" => Operator::In,
            "notin" | "!=" => Operator::NotIn,
            ">" => Operator::GreaterThan,
            "<" => Operator::LessThan,
            _ => {
                return Err(format!("found '{token}', expected: in, notin, =, ==, !=, gt, lt"));
            }
        };
        let values = match token {
            "in" | "notin" => self.values()?,
            _ => BTreeSet::from([self.exact_value()?]),
        };
        requirement(key, operator, values)
    }

    fn exact_value(&mut self) -> Result<String, String> {
        match self.peek() {
            "" | "," => Ok(String::new()),
            token if is_word(token) => {
                self.at += 1;
                Ok(token.to_owned())
            }
            token => Err(format!("found '{token}', expected: identifier")),
        }
    }

    fn values(&mut self) -> Result<BTreeSet<String>, String> {
        let open = self.next();
        if open != "(" {
            return Err(format!("found '{open}' expected: '('"));
        }
        let first = self.peek();
        if first == ")" {
            self.at += 1;
            return Ok(BTreeSet::from([String::new()]));
        }
        if first != "," && !is_word(first) {
            return Err(format!("found '{first}', expected: ',', ')' or identifier"));
        }
        let mut values = BTreeSet::new();
        loop {
            // The text between two signs is one value, or an empty one.
            let value = self.exact_value()?;
            values.insert(value);
            match self.next() {
                "," if self.peek() == ")" => {
                    values.insert(String::new());
                    self.at += 1;
                    return Ok(values);
                }
                "," if self.peek() == "," || is_word(self.peek()) => {}
                "," => {
                    return Err(format!("found '{}', expected: ',', or identifier", self.peek()));
                }
                ")" => return Ok(values),
                token => return Err(format!("found '{token}', expected: ',' or ')'")),
            }
        }
    }
}

/// Creates a requirement, and validates its values.
fn requirement(
    key: &str,
    operator: Operator,
    values: BTreeSet<String>,
) -> Result<Requirement, String> {
    let mut wrong = Vec::new();
    if matches!(operator, Operator::GreaterThan | Operator::LessThan) {
        for (index, value) in
            values.iter().enumerate().filter(|(_, value)| value.parse::<i64>().is_err())
        {
            wrong.push(format!(
                "values[{index}]: Invalid value: {value:?}: for 'Gt', 'Lt' operators, the value must be an integer"
            ));
        }
    }
    for (index, value) in values.iter().enumerate() {
        let what = validation::label_value(value);
        if !what.is_empty() {
            let what = what.join("; ");
            wrong.push(format!("values[{index}][{key}]: Invalid value: {value:?}: {what}"));
        }
    }
    match wrong.as_slice() {
        [] => Ok(Requirement { key: key.to_owned(), operator, values }),
        [one] => Err(one.clone()),
        all => Err(format!("[{}]", all.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use krm_yaml::diagnostic::Diagnostics;
    use krm_yaml::source::Source;
    use krm_yaml::{Document, DuplicateKeys, Value};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn errors_say_what_is_wrong() {
        let cases = [
            ("a=b c", "found 'c', expected: ',' or 'end of string'"),
            ("a=(", "unable to parse requirement: found '(', expected: identifier"),
            ("!=a", "found '!=', expected: !, identifier, or 'end of string'"),
            ("!in", "unable to parse requirement: found 'in', expected: identifier"),
            ("a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"),
            ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
            ("a in (b,", "unable to parse requirement: found '', expected: ',', or identifier"),
            ("a,=b", "found '=', expected: identifier after ','"),
        ];
        for (text, expected) in cases {
            let message = LabelSelector::parse(text).unwrap_err();
            assert_eq!(message, expected, "{text}");
        }
    }

    #[test]
    fn empty_values_are_values() {
        for text in ["a=", "a in ()", "a in (,)", "a in (,b)", "a in (b,)", "a in (b,,c)"] {
            let selector = LabelSelector::parse(text).unwrap();
            assert!(selector.matches(|_| Some("")), "{text}");
            assert!(!selector.matches(|_| None::<&str>), "{text}");
        }
    }

    #[track_caller]
    fn check_object(text: &str, expected: Option<&str>) {
        let document = Document::parse(&Source::new("test", text)).unwrap();
        let root = document.roots().next().unwrap();
        let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new()).unwrap();
        let expected = expected.map(|text| LabelSelector::parse(text).unwrap());
        assert_eq!(LabelSelector::of(View::from(&value)), expected, "{text}");
    }

    #[test]
    fn selectors_of_objects_are_read() {
        check_object("{}", Some(""));
        check_object(
            "{matchLabels: {a: b}, matchExpressions: [{key: c, operator: NotIn, values: [d, e]}, \
             {key: f, operator: Exists, values: null}]}",
            Some("a in (b),c notin (d,e),f"),
        );
        check_object("{matchLabel: {a: b}}", None);
        check_object("{matchLabels: {a: null}}", None);
        check_object("{matchExpressions: [{key: a, operator: Equals}]}", None);
    }

    #[test]
    fn a_malformed_requirement_is_named() {
        for (selector, part) in [
            ("=web", "=web"),
            ("a=b,a b", "a b"),
            ("app in (x", "app in (x"),
            ("app foo (x), b", "app foo (x)"),
            ("size>big", "size>big"),
        ] {
            let message = format!("`{part}` is not a label requirement such as `app=web`");
            assert_eq!(LabelSelector::parse_each(selector), Err(message));
        }
        for selector in ["", " , ", "a=b,,c in (d,e),"] {
            assert!(LabelSelector::parse_each(selector).is_ok(), "{selector}");
        }
    }

    #[test]
    fn labels_are_matched_as_they_are_written() {
        let labels = [("app", "web".into()), ("size", Value::from(3_i64))];
        let labels = Value::mapping(labels.map(|(key, value)| (key.into(), value)).into());
        for (text, expected) in
            [("app=web,size>2", true), ("size=3", true), ("app=db", false), ("!app", false)]
        {
            let selector = LabelSelector::parse_each(text).unwrap();
            assert_eq!(selector.fits(Some(View::from(&labels))), expected, "{text}");
        }
        assert!(LabelSelector::parse_each("!app").unwrap().fits(None));
    }

    fn word() -> impl Strategy<Value = String> {
        prop_oneof!["[a-c]", Just("in".to_owned()), Just("notin".to_owned()), "[0-9]"]
    }

    /// The text of a requirement, its key, its meaning, and its values.
    type Case = (String, String, fn(Option<&str>, &[String]) -> bool, Vec<String>);

    fn case() -> impl Strategy<Value = Case> {
        let one = |sign: &'static str, is: fn(Option<&str>, &[String]) -> bool| {
            (word(), word()).prop_map(move |(key, value)| {
                (format!("{key} {sign} {value}"), key, is, vec![value])
            })
        };
        let set = |sign: &'static str, is: fn(Option<&str>, &[String]) -> bool| {
            (word(), prop::collection::vec(word(), 1..4)).prop_map(move |(key, values)| {
                (format!("{key} {sign} ({})", values.join(" , ")), key, is, values)
            })
        };
        prop_oneof![
            one("=", |label, values| label == Some(&values[0])),
            one("==", |label, values| label == Some(&values[0])),
            one("!=", |label, values| label != Some(&values[0])),
            set("in", |label, values| label
                .is_some_and(|label| values.iter().any(|value| value == label))),
            set("notin", |label, values| label
                .is_none_or(|label| values.iter().all(|value| value != label))),
            (word().prop_filter("a name", |key| key != "in" && key != "notin"), Just(())).prop_map(
                |(key, ())| {
                    let is: fn(Option<&str>, &[String]) -> bool = |label, _| label.is_none();
                    (format!("! {key}"), key, is, Vec::new())
                }
            ),
            word().prop_map(|key| {
                let is: fn(Option<&str>, &[String]) -> bool = |label, _| label.is_some();
                (key.clone(), key, is, Vec::new())
            }),
            (word(), 0_i64..5).prop_map(|(key, number)| {
                let is: fn(Option<&str>, &[String]) -> bool = |label, values| {
                    let found = label.and_then(|label| label.parse::<i64>().ok());
                    found.is_some_and(|found| found > values[0].parse().unwrap())
                };
                (format!("{key}>{number}"), key, is, vec![number.to_string()])
            }),
        ]
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC*") {
            let _ = LabelSelector::parse(&text);
        }

        #[test]
        fn any_signs_are_read(text in "[a=!(),<> in]{0,20}") {
            let _ = LabelSelector::parse(&text);
        }

        #[test]
        fn requirements_mean_what_they_say(
            cases in prop::collection::vec(case(), 0..4),
            labels in prop::collection::btree_map(word(), word(), 0..4),
        ) {
            let texts: Vec<&str> = cases.iter().map(|(text, ..)| text.as_str()).collect();
            let selector = LabelSelector::parse(&texts.join(" , ")).unwrap();
            let found = selector.matches(|key| labels.get(key).map(String::as_str));
            let expected = cases.iter().all(|(_, key, is, values)| {
                is(labels.get(key).map(String::as_str), values)
            });
            prop_assert_eq!(found, expected, "{:?}", selector);
        }
    }
}
