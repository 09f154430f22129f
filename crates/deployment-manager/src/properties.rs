//! Properties on the command line, as gcloud writes them: `zone:us-a,count:3`.

use krm_yaml::Value;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;

use crate::yaml;

/// Adds the properties of an argument to a mapping; later ones win. `KEY:VALUE` has YAML, and
/// `KEY=VALUE` text. `^;^` at the start separates them by `;` instead of `,`.
///
/// # Errors
/// If a part has no delimiter, or a value is not YAML.
pub fn add(
    argument: &str,
    properties: &mut Value<'static>,
    warnings: &mut Diagnostics,
) -> Result<()> {
    let (separator, list) = separator(argument);
    for part in split(list, separator) {
        let part = part.trim_start();
        if part.is_empty() {
            continue;
        }
        let delimiter = part.find([':', '=']);
        let Some((key, value)) = delimiter.and_then(|at| part.split_at_checked(at)) else {
            let message = format!("property `{part}` has no value");
            return Err(Diagnostic::error(message)
                .hint("write `--properties KEY:VALUE,KEY:VALUE`")
                .into());
        };
        let value = match value.strip_prefix('=') {
            Some(text) => {
                let warning = Diagnostic::warning("`=` in `--properties` is deprecated");
                warnings.push(warning.hint(format!("write `{key}:VALUE`")));
                Value::string(text.to_owned())
            }
            None => read(key, value.strip_prefix(':').unwrap_or(value))?,
        };
        properties.insert(key.trim_end().to_owned().into(), value.without_origin());
    }
    Ok(())
}

fn read(key: &str, text: &str) -> Result<Value<'static>> {
    let source = Source::new(format!("--properties {key}"), text);
    let read = yaml::read(&source, &mut Diagnostics::new());
    read.map(|parsed| parsed.value).map_err(|errors| {
        let first = errors.iter().next().cloned();
        let message = format!("the value of property `{key}` is not YAML");
        first.unwrap_or_else(|| Diagnostic::error(message)).into()
    })
}

/// The separator of the properties, and the properties.
fn separator(argument: &str) -> (&str, &str) {
    let changed = argument.strip_prefix('^').and_then(|rest| rest.split_once('^'));
    changed.filter(|(separator, _)| !separator.is_empty()).unwrap_or((",", argument))
}

/// The parts between separators that are neither in quotes nor in brackets.
fn split<'t>(list: &'t str, separator: &str) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut depth = 0_usize;
    let mut quote = None;
    let mut before = None;
    let mut skip = 0;
    for (at, c) in list.char_indices() {
        if at < skip {
            continue;
        }
        match (quote, c) {
            (Some(open), _) => quote = quote.filter(|_| open != c),
            // Elsewhere, a quote is a part of the text, as in `it's`.
            (None, '\'' | '"') if before.is_none_or(|before| ":=,[{ ".contains(before)) => {
                quote = Some(c);
            }
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, _)
                if depth == 0 && list.get(at..).is_some_and(|rest| rest.starts_with(separator)) =>
            {
                parts.push(list.get(start..at).unwrap_or_default());
                start = at + separator.len();
                skip = start;
            }
            _ => {}
        }
        before = Some(c);
    }
    parts.push(list.get(start..).unwrap_or_default());
    parts
}

#[cfg(test)]
mod tests {
    use super::add;
    use krm_yaml::Value;
    use krm_yaml::diagnostic::Diagnostics;

    fn read(argument: &str) -> (String, usize) {
        let mut properties = Value::mapping(Vec::new());
        let mut warnings = Diagnostics::new();
        let text = match add(argument, &mut properties, &mut warnings) {
            Ok(()) => properties.to_json(),
            Err(error) => error.message,
        };
        (text, warnings.iter().count())
    }

    #[test]
    fn properties_are_separated_by_commas_outside_quotes_and_brackets() {
        for (argument, expected) in [
            ("a:1,b:x", r#"{"a":1,"b":"x"}"#),
            ("zone:us-central1-a", r#"{"zone":"us-central1-a"}"#),
            ("a:[1,2],b:{c: 3, d: 4}", r#"{"a":[1,2],"b":{"c":3,"d":4}}"#),
            ("a:'x,y',b:\"p,q\"", r#"{"a":"x,y","b":"p,q"}"#),
            ("a:it's,b:2", r#"{"a":"it's","b":2}"#),
            ("^;^a:1,2;b:2", r#"{"a":"1,2","b":2}"#),
            ("^::^a:1::b:2", r#"{"a":1,"b":2}"#),
            ("a:", r#"{"a":null}"#),
            ("a:yes,b:0644", r#"{"a":true,"b":420}"#),
            ("image:gcr.io/x:v1", r#"{"image":"gcr.io/x:v1"}"#),
            ("a:1,a:2", r#"{"a":2}"#),
            ("a", "property `a` has no value"),
        ] {
            assert_eq!(read(argument), (expected.to_owned(), 0), "{argument}");
        }
    }

    #[test]
    fn after_an_equals_sign_a_value_is_text() {
        assert_eq!(read("a=1,b:1"), (r#"{"a":"1","b":1}"#.to_owned(), 1));
        assert_eq!(read("a=x:y"), (r#"{"a":"x:y"}"#.to_owned(), 1));
    }
}
