//! The cells of an object's table row.
//!
//! Source: `pkg/template/printers` of openshift-apiserver, `HumanDuration` of
//! `k8s.io/apimachinery`.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::draft::Draft;
use super::json;
use krm_template_server_core::{Group, Kind, conditions::find};

/// The maximum length of a description in bytes.
const MAX_DESCRIPTION: usize = 80;

/// Returns the cells as JSON without brackets. In our group, a tab marks the position of the age.
pub(crate) fn of(draft: &Draft) -> String {
    let mut out = String::new();
    json::quote(draft.name(), &mut out);
    if draft.kind == Kind::Instance {
        instance(draft, &mut out);
        return out;
    }
    out.push(',');
    json::quote(&first_line(annotation(draft, "description")), &mut out);
    out.push_str(",\"");
    out.push_str(&parameters(draft.field("parameters")));
    out.push_str("\",");
    let objects = draft.field("objects").unwrap_or_default();
    let objects: Vec<IgnoredAny> = serde_json::from_str(objects).unwrap_or_default();
    out.push_str(&objects.len().to_string());
    if draft.group == Group::Krm {
        out.push('\t');
        json::quote(annotation(draft, "openshift.io/display-name"), &mut out);
        out.push(',');
        json::quote(annotation(draft, "tags"), &mut out);
    }
    out
}

/// Appends the cells of a TemplateInstance after its name.
fn instance(draft: &Draft, out: &mut String) {
    let spec = draft.value("spec");
    let text = |path: &str| spec.pointer(path).and_then(Value::as_str);
    let template = text("/templateRef/name").or_else(|| text("/template/metadata/name"));
    out.push(',');
    json::quote(template.unwrap_or_default(), out);
    if draft.group == Group::OpenShift {
        return;
    }
    let status = draft.value("status");
    let ready = find(status.get("conditions"), "Ready");
    for text in [ready.status, ready.reason] {
        out.push(',');
        json::quote(text, out);
    }
    out.push('\t');
    json::quote(text("/namespace").unwrap_or_default(), out);
}

fn annotation<'d>(draft: &'d Draft, key: &str) -> &'d str {
    let annotations = draft.metadata.get("annotations");
    annotations.and_then(|map| map.get(key)).and_then(Value::as_str).unwrap_or_default()
}

fn first_line(description: &str) -> String {
    let line = match description.split_once('\n') {
        Some((line, _)) => format!("{line}..."),
        None => description.to_owned(),
    };
    if line.len() <= MAX_DESCRIPTION {
        return line;
    }
    let cut = line.floor_char_boundary(MAX_DESCRIPTION - 3);
    format!("{}...", line.get(..cut).unwrap_or_default().trim())
}

/// Returns the number of parameters, and how many of them have no value.
fn parameters(text: Option<&str>) -> String {
    let list = text.and_then(|text| json::value(text).ok());
    let items = list.as_ref().and_then(Value::as_array);
    let items = items.map_or(&[][..], Vec::as_slice);
    let is_set = |item: &Value, key: &str| match item.get(key) {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(_) => true,
    };
    let (mut blank, mut generated) = (0, 0);
    for item in items.iter().filter(|item| !is_set(item, "value")) {
        if is_set(item, "generate") {
            generated += 1;
        } else {
            blank += 1;
        }
    }
    let total = items.len();
    match (blank, generated) {
        (0, 0) => format!("{total} (all set)"),
        (0, generated) => format!("{total} ({generated} generated)"),
        (blank, _) => format!("{total} ({blank} blank)"),
    }
}

/// Formats a duration in seconds like an age in kubectl.
pub(crate) fn age(seconds: i64) -> String {
    let parts = |large: i64, unit: char, small: i64, small_unit: char| match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit}{small}{small_unit}"),
    };
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let days = hours / 24;
    match (seconds, minutes, hours) {
        (..=-2, ..) => "<invalid>".to_owned(),
        (-1, ..) => "0s".to_owned(),
        (..120, ..) => format!("{seconds}s"),
        (_, ..10, _) => parts(minutes, 'm', seconds % 60, 's'),
        (_, ..180, _) => format!("{minutes}m"),
        (_, _, ..8) => parts(hours, 'h', minutes % 60, 'm'),
        (_, _, ..48) => format!("{hours}h"),
        (_, _, ..192) => parts(days, 'd', hours % 24, 'h'),
        (_, _, ..17_520) => format!("{days}d"),
        (_, _, ..70_080) => parts(days / 365, 'y', days % 365, 'd'),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::age;

    #[test]
    fn ages_are_as_kubectl_shows_them() {
        let cases = [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (185, "3m5s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (11_100, "3h5m"),
            (28_800, "8h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (176_400, "2d1h"),
            (691_200, "8d"),
            (63_072_000, "2y"),
            (63_158_400, "2y1d"),
            (252_288_000, "8y"),
        ];
        for (seconds, text) in cases {
            assert_eq!(age(seconds), text, "{seconds}");
        }
    }
}
