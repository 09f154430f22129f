//! Writes the requests to the runner.

use std::borrow::Cow;
use std::collections::BTreeMap;

use krm_yaml::scalar::write_json_string;
use krm_yaml::{Data, Scalar, Value};

use crate::model::Imports;
use crate::python::call::Call;
use krm_core::files::join;

/// The line for a call. The first one of a session has the imports.
pub(super) fn line(call: Call<'_>, is_first: bool) -> String {
    let mut out = String::from("{\"name\":");
    write_json_string(&mut out, &call.template.name);
    if let Some(properties) = call.properties {
        out.push_str(",\"properties\":");
        write_value(&mut out, properties);
    }
    out.push_str(",\"env\":");
    write_mapping(&mut out, call.env, |out, value| write_value(out, value));
    if is_first {
        out.push_str(",\"imports\":");
        let imports = call.imports.iter();
        let texts = imports.map(|import| (import.name.as_str(), import.content.text()));
        write_mapping(&mut out, texts, write_json_string);
        out.push_str(",\"modules\":");
        write_mapping(&mut out, modules(call.imports), write_json_string);
    }
    out.push_str("}\n");
    out
}

/// The names of the imports that are Python modules, by the names that Python imports them by.
pub(super) fn modules(imports: &Imports) -> BTreeMap<String, &str> {
    let mut modules = BTreeMap::new();
    let names = imports.iter().map(|import| (&import.name, import));
    let paths = imports.iter().map(|import| (&import.path, import));
    for (path, import) in names.chain(paths) {
        let path = join(".", path);
        let Some(stem) = path.strip_suffix(".py") else {
            continue;
        };
        let stem = stem.strip_suffix("/__init__").unwrap_or(stem);
        if !stem.starts_with(['.', '/']) && !stem.contains("://") {
            let module = stem.replace('/', ".");
            modules.entry(module).or_insert(import.name.as_str());
        }
    }
    modules
}

fn write_mapping<K: AsRef<str>, V>(
    out: &mut String,
    entries: impl IntoIterator<Item = (K, V)>,
    write: impl Fn(&mut String, V),
) {
    out.push('{');
    for (index, (key, value)) in entries.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_json_string(out, key.as_ref());
        out.push(':');
        write(out, value);
    }
    out.push('}');
}

fn write_value(out: &mut String, value: &Value<'_>) {
    if value.non_finite().is_none() {
        return krm_yaml::json(out, value, None, 0);
    }
    let mut value = value.clone();
    spell_for_python(&mut value);
    krm_yaml::json(out, &value, None, 0);
}

/// Spells infinity and NaN as Python's `json` reads them.
fn spell_for_python(value: &mut Value<'_>) {
    if let Data::Scalar(Scalar::Number(digits)) = &mut value.data {
        let lower = digits.to_lowercase();
        *digits = Cow::Borrowed(match lower.trim_start_matches('+') {
            ".nan" => "NaN",
            ".inf" => "Infinity",
            "-.inf" => "-Infinity",
            _ => return,
        });
    }
    value.children_mut().for_each(spell_for_python);
}
