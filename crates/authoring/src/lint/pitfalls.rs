//! Rules about plain scalars with an unexpected meaning.

use crate::lint::context::Context;
use krm_template_engine::Path;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::scalar::{Style, resolve};
use krm_yaml::{Cursor, Kind, Scalar, space_hint};

/// Fields with file modes, which are usually octal.
const MODES: &[&str] = &["defaultMode", "mode"];

/// `yes`, `no`, `on`, `off`, `y` and `n`, as values and as keys.
pub(super) fn yaml_bool(context: &Context<'_>, found: &mut Diagnostics) {
    each_plain(context, &mut |text, node, is_key, path| {
        let Scalar::Bool(flag) = resolve(text) else {
            return;
        };
        if matches!(text.to_ascii_lowercase().as_str(), "true" | "false") && !is_key {
            return;
        }
        let what = if is_key { "the key " } else { "" };
        let place = if is_key { node.key_place() } else { node.place() };
        found.push(
            Diagnostic::warning(format!("Kubernetes reads {what}`{text}` as the bool `{flag}`"))
                .at(place)
                .field(path.to_string())
                .hint(if is_key {
                    format!("put it in quotes: `\"{text}\"`")
                } else {
                    format!("write `{flag}`, or `\"{text}\"` for the text")
                }),
        );
    });
}

/// Numbers that are not read digit by digit: octal, hexadecimal, with underscores, or with zeros
/// at the end.
pub(super) fn yaml_number(context: &Context<'_>, found: &mut Diagnostics) {
    each_plain(context, &mut |text, node, is_key, path| {
        let Scalar::Number(digits) = resolve(text) else {
            return;
        };
        let is_mode = path.key().is_some_and(|key| MODES.contains(&key));
        let Some(read) = read_as(text, &digits) else {
            return;
        };
        if is_key || is_mode {
            return;
        }
        found.push(
            Diagnostic::warning(format!("Kubernetes reads `{text}` as the number {read}"))
                .at(node.place())
                .field(path.to_string())
                .hint(format!("write `{read}`, or `\"{text}\"` for the text")),
        );
    });
}

/// `replicas:2` below a key or in braces, which is meant to be a key and its value.
pub(super) fn missing_space(context: &Context<'_>, found: &mut Diagnostics) {
    each_plain(context, &mut |text, node, is_key, path| {
        let key = node.key_place();
        let between = key.range.end..node.place().range.start;
        let between = key.source.text().get(between).unwrap_or_default();
        let (message, place) = if is_key && node.raw().is_empty() && !between.contains(':') {
            (format!("`{text}` is a key without a value"), key)
        } else if !is_key && between.contains('\n') {
            let what = path.key().unwrap_or("item");
            let message = format!("`{what}` is the string `{text}`, not a mapping");
            (message, node.place())
        } else {
            return;
        };
        if let Some(hint) = space_hint(text) {
            let warning = Diagnostic::warning(message).at(place);
            found.push(warning.field(path.to_string()).hint(hint));
        }
    });
}

/// The number as most would write it, if it is written another way.
fn read_as(text: &str, digits: &str) -> Option<String> {
    if text.contains(['e', 'E']) && text == digits {
        let number: f64 = text.parse().ok()?;
        return (number.abs() < 1e15).then(|| number.to_string());
    }
    let shorter = match digits.split_once('.') {
        Some((whole, fraction)) => match fraction.trim_end_matches('0') {
            "" => whole.to_owned(),
            fraction => format!("{whole}.{fraction}"),
        },
        None => digits.to_owned(),
    };
    (shorter != text).then_some(shorter)
}

/// Visits an unquoted scalar: its text, its node, whether it is a key, and its path.
type Visit<'f> = dyn FnMut(&str, Cursor<'_>, bool, &Path<'_>) + 'f;

/// Visits all unquoted keys and values of the objects.
fn each_plain(context: &Context<'_>, visit: &mut Visit<'_>) {
    if let Some(objects) = context.template.objects() {
        walk(objects, &Path::Root("objects"), visit);
    }
}

fn walk(node: Cursor<'_>, path: &Path<'_>, visit: &mut Visit<'_>) {
    // The target of an alias is visited at its own place.
    if node.raw().starts_with('*') && node.resolved().id() != node.id() {
        return;
    }
    match node.kind() {
        Kind::Scalar(Style::Plain) if !node.raw().is_empty() => {
            if let Ok(Some(text)) = node.text() {
                visit(&text, node, false, path);
            }
        }
        Kind::Mapping => {
            let is_secret = node.text_at(["kind"]).as_deref() == Some("Secret");
            for entry in node.children() {
                let key = entry.key().unwrap_or_default();
                // Must not be shown; another rule reports values that are not strings.
                if is_secret && matches!(key.as_ref(), "data" | "stringData") {
                    continue;
                }
                let path = Path::Key(path, &key);
                let written = entry.key_place();
                let written = written.source.text().get(written.range).unwrap_or_default();
                if written == entry.key_text().unwrap_or_default() {
                    visit(written, entry, true, &path);
                }
                walk(entry, &path, visit);
            }
        }
        Kind::Sequence => {
            for (index, item) in node.children().enumerate() {
                walk(item, &Path::Index(path, index), visit);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::read_as;
    use krm_yaml::Scalar;
    use krm_yaml::scalar::resolve;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let Scalar::Number(digits) = resolve(text) else {
            panic!("{text} is not a number");
        };
        assert_eq!(read_as(text, &digits).as_deref(), expected);
    }

    #[test]
    fn numbers_that_look_like_what_they_are_pass() {
        for text in ["0", "-1", "80", "1.5", "12345678901234567890", "0.25"] {
            check(text, None);
        }
    }

    #[test]
    fn numbers_that_are_read_otherwise_are_found() {
        check("1.10", Some("1.1"));
        check("2.0", Some("2"));
        check("0644", Some("420"));
        check("0b11", Some("3"));
        check("1_000", Some("1000"));
        check("1e3", Some("1000"));
        check("+5", Some("5"));
    }
}
