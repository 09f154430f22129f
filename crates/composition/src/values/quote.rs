//! Labels and annotations are strings: quotes the numbers and bools that patches and replacements
//! put there.

use std::fmt::Display;

use krm_yaml::{Data, Document, Scalar, Value, View, ViewMut};

/// The fields that hold other objects.
const WITHIN: [&str; 5] =
    ["spec", "template", "jobTemplate", "volumeClaimTemplates", "volumeClaimTemplate"];

/// Turns numbers and bools among labels and annotations into strings, also in the templates of an
/// object. Kubernetes accepts nothing else. They are spelled as in `document` if they come from it,
/// otherwise as Go prints them.
pub(crate) fn quote(mut object: ViewMut<'_, '_>, document: Option<&Document>) {
    object.reborrow().each_item(|item| quote(item, document));
    if let Some(mut metadata) = object.reborrow().get_mut("metadata") {
        for key in ["labels", "annotations"] {
            let texts = metadata.reborrow().get_mut(key);
            let texts = texts.filter(|texts| holds_others(texts.view()));
            let texts = texts.map(|texts| &mut texts.value_mut().data);
            if let Some(Data::Mapping(entries)) = texts {
                for (_, value) in entries {
                    quote_scalar(value, document);
                }
            }
        }
    }
    for key in WITHIN {
        if let Some(inner) = object.reborrow().get_mut(key) {
            quote(inner, document);
        }
    }
}

/// Whether a mapping holds numbers or bools.
fn holds_others(texts: View<'_>) -> bool {
    let is_other =
        |value: View<'_>| matches!(value.scalar(), Some(Scalar::Number(_) | Scalar::Bool(_)));
    texts.entries().is_some_and(|mut entries| entries.any(|(_, value)| is_other(value)))
}

fn quote_scalar(value: &mut Value<'_>, document: Option<&Document>) {
    let Data::Scalar(scalar) = &value.data else {
        return;
    };
    let spelled = match scalar {
        Scalar::Null | Scalar::String(_) => return,
        Scalar::Bool(flag) => flag.to_string(),
        Scalar::Number(digits) => spelled_by_go(digits),
    };
    let written = document.and_then(|document| written(value, document));
    value.set(Value::string(written.unwrap_or(spelled)).data);
}

/// The text that a scalar was read from, if that still means the same.
pub(crate) fn written(value: &Value<'_>, document: &Document) -> Option<String> {
    let node = document.cursor(value.origin?);
    let Data::Scalar(scalar) = &value.data else {
        return None;
    };
    let is_same = node.scalar().ok()?.as_ref() == Some(scalar);
    let text = node.text().ok()?.filter(|_| is_same)?;
    Some(text.into_owned())
}

/// A number as Go prints it in JSON: `1000` of `1e3`, `1.1` of `1.10`.
pub(crate) fn spelled_by_go(digits: &str) -> String {
    let is_whole = digits.parse::<i64>().is_ok() || digits.parse::<u64>().is_ok();
    match digits.parse::<f64>() {
        Ok(number) if !is_whole && number.is_finite() => json_of_go(number),
        _ => match digits {
            "-0" => "0".to_owned(),
            digits => digits.to_owned(),
        },
    }
}

/// `encoding/json`: exponents below -6 and from 21 on.
fn json_of_go(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        return with_exponent(&format!("{number:e}"), 1);
    }
    // Go reads zero without its sign.
    format!("{}", number + 0.0)
}

/// `1e+21` for `1e21`, with at least `width` digits in the exponent.
fn with_exponent(text: &str, width: usize) -> String {
    let Some((mantissa, exponent)) = text.split_once('e') else {
        return text.to_owned();
    };
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{exponent:0>width$}")
}

/// A number as kustomize spells it where the configuration of a transformer needs a string and
/// `sigs.k8s.io/yaml` reads a number: whole numbers keep their digits, others become floats of 32
/// bits.
pub(crate) fn text_of_number(digits: &str) -> String {
    let is_whole = digits.parse::<i64>().is_ok() || digits.parse::<u64>().is_ok();
    match digits.parse::<f64>() {
        Ok(number) if !is_whole => text_of_float(number),
        _ => spelled_by_go(digits),
    }
}

/// The same for a number with a fraction or an exponent.
pub(crate) fn text_of_float(number: f64) -> String {
    let json = json_of_go(number);
    if json.parse::<i64>().is_ok() || json.parse::<u64>().is_ok() {
        return json;
    }
    #[expect(clippy::cast_possible_truncation, reason = "kustomize formats with 32 bits")]
    let number = number as f32;
    if number == 0.0 {
        return "0".to_owned();
    }
    general(&format!("{number:e}"), &number)
}

/// A number as `sigs.k8s.io/yaml` prints it in YAML, which it makes of JSON.
pub(crate) fn number_in_yaml(digits: &str) -> String {
    let json = spelled_by_go(digits);
    let is_whole = json.parse::<i64>().is_ok() || json.parse::<u64>().is_ok();
    match json.parse::<f64>() {
        Ok(number) if !is_whole => general(&format!("{number:e}"), &number),
        _ => json,
    }
}

/// `strconv.FormatFloat(…, 'g', -1, …)` of a number that Rust prints in these two ways.
fn general(scientific: &str, decimal: &dyn Display) -> String {
    let exponent = scientific.split_once('e');
    let exponent = exponent.and_then(|(_, exponent)| exponent.parse().ok());
    if (-4..LARGE).contains(&exponent.unwrap_or_default()) {
        return decimal.to_string();
    }
    with_exponent(scientific, 2)
}

/// The exponent from which on the format `g` of Go prints exponents.
const LARGE: i32 = 6;

#[cfg(test)]
mod tests {
    use super::text_of_number;

    /// As `kubectl kustomize` spells labels in the configuration of a `LabelTransformer`.
    #[test]
    fn numbers_become_strings_as_in_kustomize() {
        for (number, text) in [
            ("1e3", "1000"),
            ("1.10", "1.1"),
            ("1.123456789012", "1.1234568"),
            ("1e21", "1e+21"),
            ("0.0000001", "1e-07"),
            ("123456789.5", "1.2345679e+08"),
            ("1234567.0", "1234567"),
            ("-0", "0"),
            ("16777217", "16777217"),
            ("1e7", "10000000"),
            ("1e20", "1e+20"),
            ("1e22", "1e+22"),
            ("-0.0", "0"),
            ("12345678901234567890", "12345678901234567890"),
        ] {
            assert_eq!(text_of_number(number), text, "{number}");
        }
    }
}
