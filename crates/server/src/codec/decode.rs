//! Decoding of bodies into a [`Draft`]: syntax, kind, types, unknown and duplicate fields.

use std::borrow::Cow;

use krm_template_engine::{Dialect, detect};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys, lines_of_root};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::draft::{Draft, Texts, values_as_text};
use super::field_types::{self, Complaints, Of};
use super::json::{self, MAX_COMPLAINTS, Path};
use super::template_schema;
use crate::request::{FieldValidation, Format};
use krm_template_server_core::{Cause, Group, Kind, Result, Status};

/// Decodes the Template in the body of a request. Returns it with texts for `Warning` headers,
/// which name fields but contain no values.
///
/// # Errors
/// 400 if the body is not JSON or YAML, is nested too deeply, has another kind or version, or has a
/// field of the wrong type. With [`FieldValidation::Strict`], also for unknown and duplicate
/// fields.
pub fn template(
    group: Group,
    format: Format,
    body: &[u8],
    validation: FieldValidation,
) -> Result<(Draft, Vec<String>)> {
    object(group, Kind::Template, format, body, validation)
}

/// Decodes the object of a kind in the body of a request like [`template`].
///
/// # Errors
/// The same as [`template`].
pub fn object(
    group: Group,
    kind: Kind,
    format: Format,
    body: &[u8],
    validation: FieldValidation,
) -> Result<(Draft, Vec<String>)> {
    let body = Body::read(kind, format, body)?;
    let read = read((group, kind), &body, validation, Objects::Kept)?;
    // The server changes the text of a TemplateInstance, which has the user of the request.
    let yaml = body.kept.clone().filter(|_| kind == Kind::Template);
    let draft = Draft::new(group, kind, read.object, &read.texts, yaml);
    Ok((draft, read.warnings))
}

/// Checks the Template in the body of a request like [`template`], without keeping it. Returns the
/// texts for `Warning` headers.
///
/// # Errors
/// The same as [`template`].
pub fn check(
    group: Group,
    format: Format,
    body: &[u8],
    validation: FieldValidation,
) -> Result<Vec<String>> {
    let of = (group, Kind::Template);
    let body = Body::read(of.1, format, body)?;
    read(of, &body, validation, Objects::Checked).map(|read| read.warnings)
}

/// The use of the field `objects`.
#[derive(Clone, Copy, PartialEq)]
enum Objects {
    Kept,
    /// The items of the list are left out. In our group, their keys are checked.
    Checked,
}

/// A checked object.
struct Read<'b> {
    object: Value,
    /// The texts of unchanged fields.
    texts: Texts<'b>,
    /// The texts for `Warning` headers.
    warnings: Vec<String>,
}

/// Reads and checks an object.
fn read<'b>(
    of: Of,
    body: &'b Body<'_>,
    validation: FieldValidation,
    objects: Objects,
) -> Result<Read<'b>> {
    let (group, kind) = of;
    let fields = fields(kind, &body.json)?;
    let (mut object, mut repeated) = (Map::new(), Vec::new());
    for (key, text) in &fields {
        let path = &Path::Key(&Path::Root, key);
        if object.contains_key(key) {
            json::add_repeated(path, &mut repeated);
        }
        let value = if key == "objects" && kind == Kind::Template {
            items(group, text.get(), objects, &mut repeated)
        } else {
            json::value_at(path, text.get(), &mut repeated)
        };
        // An error of the whole has its position in the body.
        let value = value
            .map_err(|why| unrecognized(kind, &json::value(&body.json).err().unwrap_or(why)))?;
        object.insert(key.clone(), value);
    }
    let is_used = |(key, _): &(String, _)| objects == Objects::Kept || key == "parameters";
    let mut texts: Texts<'_> = fields.into_iter().filter(is_used).collect();
    let version = object.get_mut("apiVersion");
    if let Some(version) = version.filter(|version| *version == LEGACY)
        && of == (Group::Krm, Kind::Template)
        && group_of_json(&body.json) == Some(group)
    {
        *version = Value::from(group.api_version());
    }
    let mut object = Value::Object(object);
    let mut warnings = checked(of, &object, &repeated, &body.repeated, validation)?;
    if !repeated.is_empty() {
        texts.retain(|key, _| key == "objects");
    }
    let changed = as_text(of, &mut object, texts.get("parameters"));
    if !changed.is_empty() {
        texts.shift_remove("parameters");
    }
    warnings.extend(changed);
    Ok(Read { object, texts, warnings })
}

/// Reads the field `objects`. In OpenShift's group, keys of objects are not checked.
fn items(
    group: Group,
    text: &str,
    objects: Objects,
    repeated: &mut Vec<String>,
) -> std::result::Result<Value, String> {
    let is_left_out = objects == Objects::Checked && text.starts_with('[');
    if group == Group::OpenShift {
        return if is_left_out { Ok(Value::Array(Vec::new())) } else { json::value(text) };
    }
    let path = &Path::Key(&Path::Root, "objects");
    let value = json::value_at(path, text, repeated)?;
    Ok(if is_left_out { Value::Array(Vec::new()) } else { value })
}

/// Parses the fields of a body. `null` has none.
fn fields(kind: Kind, json: &str) -> Result<Vec<(String, &RawValue)>> {
    let fields = json::fields(json).map_err(|why| {
        let other = json::value(json).map(|other| json::wrong_type("", "object", &other));
        unrecognized(kind, &other.unwrap_or(why))
    })?;
    Ok(fields.0)
}

/// Checks the kind, version and fields of a body. `lines` are the duplicate keys of a YAML text.
/// Returns the texts for `Warning` headers.
fn checked(
    of: Of,
    object: &Value,
    repeated: &[String],
    lines: &[(usize, String)],
    validation: FieldValidation,
) -> Result<Vec<String>> {
    let (group, wanted) = of;
    let version = group.version();
    let named = kind(of, object)?;
    let refused = |why: &str| {
        let version = named.version.rsplit('/').next().unwrap_or(version);
        let kind = named.kind;
        Status::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {}: {why}",
            wanted.name()
        ))
    };
    if let Some(why) = named.wrong() {
        return Err(refused(&why));
    }
    let complaints = field_types::check_values(object, of);
    judge(group, complaints, repeated, lines, validation).map_err(|why| refused(&why))
}

/// Decodes an apply configuration in YAML or JSON. Returns it with texts for `Warning` headers. It
/// may have fields that cannot be applied.
///
/// # Errors
/// 400 if the body is not a YAML mapping, or, with [`FieldValidation::Strict`], if it has duplicate
/// keys.
pub fn configuration(body: &[u8], validation: FieldValidation) -> Result<(Value, Vec<String>)> {
    const CONVERTING: &str = "error converting YAML to JSON";
    let refused = |why: &str| Status::bad_request(format!("error decoding YAML: {why}"));
    let body = Body::yaml(body).map_err(|why| refused(&format!("{CONVERTING}: {why}")))?;
    let object = json::value(&body.json).map_err(|why| refused(&why))?;
    if !matches!(object, Value::Object(_) | Value::Null) {
        return Err(refused(&json::wrong_type("", "object", &object)));
    }
    let warnings = warnings(Vec::new(), &body.repeated, validation).map_err(|_| {
        let why = repeated_in_yaml(&repeated_lines(&body.repeated));
        Status::bad_request(format!("error strict decoding YAML: {CONVERTING}: {why}"))
    })?;
    Ok((object, warnings))
}

/// Returns the error that prevents a server-side apply: an unknown field, or a wrong type.
pub(crate) fn undeclared(of: Of, object: &Value) -> Option<String> {
    field_types::check_values(object, of).undeclared().or_else(|| {
        let causes = match of {
            (Group::Krm, Kind::Template) => template_schema::check(object),
            _ => Vec::new(),
        };
        let mut causes = causes.into_iter();
        let wrong = causes.find(|cause| cause.reason == template_schema::WRONG_TYPE)?;
        Some(format!(".{}: {}", wrong.field, wrong.message))
    })
}

/// Finds duplicate keys in a JSON body. Returns texts such as `duplicate field "a"`.
pub fn repeated_keys(body: &[u8]) -> Vec<String> {
    let mut repeated = Vec::new();
    let value = json::value_with(&String::from_utf8_lossy(body), &mut repeated);
    value.map_or_else(|_| Vec::new(), |_| repeated)
}

/// Checks the result of a patch. Returns it with texts for `Warning` headers.
///
/// Fields that are also unknown in `old` are not reported again. Unchanged fields keep their JSON
/// text from `old`. `repeated` contains the errors about duplicate keys in the patch.
///
/// # Errors
/// 422 for the field `patch` if the kind or version changed, or a field has the wrong type. With
/// [`FieldValidation::Strict`], also for unknown and duplicate fields.
pub fn patched(
    group: Group,
    kind: Kind,
    mut object: Value,
    old: Option<&Draft>,
    repeated: &[String],
    validation: FieldValidation,
) -> Result<(Draft, Vec<String>)> {
    let of = (group, kind);
    let refused = |why: &str| {
        let cause = Cause::new("FieldValueInvalid", "patch", format!("Invalid value: {why}"));
        Status::invalid("", "", "", vec![cause])
    };
    let named = self::kind(of, &object).map_err(|status| refused(&status.message))?;
    if let Some(why) = named.wrong() {
        return Err(refused(&why));
    }
    let mut complaints = field_types::check_values(&object, of);
    if let Some(old) = old {
        let old = field_types::check_values(&old.to_value(), of).unknown;
        complaints.unknown.retain(|path| !old.contains(path));
    }
    let warnings = judge(group, complaints, repeated, &[], validation);
    let mut warnings = warnings.map_err(|why| refused(&why))?;
    warnings.extend(as_text(of, &mut object, None));
    let mut draft = Draft::new(group, kind, object, &Texts::new(), None);
    if let Some(old) = old {
        draft.keep_spelling(old);
    }
    Ok((draft, warnings))
}

/// The `apiVersion` that Templates had before there were groups.
const LEGACY: &str = "v1";

/// Returns the served group of the Template in a body: that of its `apiVersion`, or for `v1` that of
/// its dialect.
pub fn group(format: Format, body: &[u8]) -> Option<Group> {
    match format {
        Format::Json => group_of_json(std::str::from_utf8(body).ok()?),
        Format::Yaml => {
            let source = krm_yaml::decode("body", body.to_vec()).ok()?;
            group_of(&Document::parse(&source).ok()?)
        }
    }
}

fn group_of_json(json: &str) -> Option<Group> {
    let fields = fields(Kind::Template, json).ok()?;
    let version = fields.iter().rfind(|(key, _)| key == "apiVersion")?.1;
    let version: String = serde_json::from_str(version.get()).ok()?;
    if version != LEGACY {
        return group_named(&version);
    }
    drop(fields);
    group_of(&Document::parse(&Source::new("body", json)).ok()?)
}

/// Returns the served group of a Template, like [`group`].
pub fn group_of(document: &Document) -> Option<Group> {
    let root = document.roots().next()?;
    match root.text_at(["apiVersion"])?.as_ref() {
        LEGACY => Some(match detect(root) {
            Dialect::Proposal => Group::Krm,
            Dialect::OpenShift => Group::OpenShift,
        }),
        version => group_named(version),
    }
}

fn group_named(api_version: &str) -> Option<Group> {
    let mut groups = Group::ALL.into_iter();
    groups.find(|group| group.api_version() == api_version)
}

fn unrecognized(kind: Kind, why: &str) -> Box<Status> {
    Status::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): couldn't get version/kind; json \
         parse error: {why}",
        kind.name()
    ))
}

/// A body, converted to JSON.
struct Body<'b> {
    json: Cow<'b, str>,
    /// The text of the document, if it was YAML.
    kept: Option<String>,
    /// The duplicate keys of YAML mappings, each with its line number.
    repeated: Vec<(usize, String)>,
}

impl<'b> Body<'b> {
    fn read(kind: Kind, format: Format, body: &'b [u8]) -> Result<Self> {
        let read = match format {
            // As in Go, invalid UTF-8 becomes U+FFFD.
            Format::Json => Ok(Self {
                json: std::str::from_utf8(body)
                    .map_or_else(|_| String::from_utf8_lossy(body), Cow::Borrowed),
                kept: None,
                repeated: Vec::new(),
            }),
            Format::Yaml => Self::yaml(body),
        };
        read.map_err(|why| {
            Status::bad_request(format!(
                "the object provided is unrecognized (must be of type {}): {why}",
                kind.name()
            ))
        })
    }

    fn yaml(body: &[u8]) -> std::result::Result<Self, String> {
        let source = krm_yaml::decode("body", body.to_vec()).map_err(|why| in_yaml(&why))?;
        let document = Document::parse(&source).map_err(|why| in_yaml(&why))?;
        let Some(root) = document.roots().next() else {
            return Ok(Self { json: "null".into(), kept: None, repeated: Vec::new() });
        };
        let mut found = Diagnostics::new();
        let value = root.value(DuplicateKeys::LastWins, &mut found);
        let error = found.iter().find(|one| one.severity == Severity::Error);
        if let Some(error) = error {
            return Err(in_yaml(error));
        }
        let Some(value) = value else {
            return Err("yaml: invalid value".to_owned());
        };
        if value.non_finite().is_some() {
            return Err("yaml: JSON cannot represent a number that is not finite".to_owned());
        }
        let is_json = source.text().trim_start().starts_with('{');
        let kept = match document.roots().nth(1) {
            _ if is_json => None,
            None => Some(source.text().to_owned()),
            Some(_) => Some(document.slice(lines_of_root(root)).to_owned()),
        };
        let repeated = found.iter().filter_map(repeated_key).collect();
        Ok(Self { json: value.to_json().into(), kept, repeated })
    }
}

/// Formats an error of the YAML parser, without text from the body.
fn in_yaml(why: &Diagnostic) -> String {
    let line = why.place.as_ref().map(|place| place.line_column().0);
    let mut message = String::new();
    for (index, part) in why.message.split('`').enumerate() {
        let is_quoted = index % 2 == 1;
        match part {
            _ if !is_quoted => message.push_str(part),
            part if part.chars().any(char::is_alphanumeric) => message.push_str("this text"),
            part => message.extend(["`", part, "`"]),
        }
    }
    match line {
        Some(line) => format!("yaml: line {line}: {message}"),
        None => format!("yaml: {message}"),
    }
}

fn repeated_key(found: &Diagnostic) -> Option<(usize, String)> {
    let (_, quoted) =
        found.message.split_once('`').filter(|_| found.rule == Some("duplicate-key"))?;
    let (key, _) = quoted.rsplit_once('`')?;
    Some((found.place.as_ref()?.line_column().0, key.to_owned()))
}

/// The kind and version of a body.
struct Named<'n> {
    of: Of,
    kind: &'n str,
    version: &'n str,
}

impl Named<'_> {
    /// Returns an error if the object has another kind or group.
    fn wrong(&self) -> Option<String> {
        let (group, kind) = self.of;
        let is_version = self.version == group.api_version();
        (self.kind != kind.name() || !is_version).then(|| {
            format!("no kind {:?} is registered for version {:?}", self.kind, self.version)
        })
    }
}

/// Reads the kind and version. In OpenShift's group, they default to the expected ones.
fn kind(of: Of, object: &Value) -> Result<Named<'_>> {
    let (group, expected_kind) = of;
    let wrong_type =
        |path, wanted, found| unrecognized(expected_kind, &json::wrong_type(path, wanted, found));
    if !matches!(object, Value::Object(_) | Value::Null) {
        return Err(wrong_type("", "object", object));
    }
    let text = |key| match object.get(key) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(other) => Err(wrong_type(key, "string", other)),
    };
    let (kind, version) = (text("kind")?, text("apiVersion")?);
    let expected = group.api_version();
    match (group, kind, version) {
        (Group::Krm, _, version) if version != expected => Err(Status::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({expected})"
        ))),
        (Group::Krm, "", _) => Err(Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): Object 'Kind' is missing",
            expected_kind.name()
        ))),
        (Group::OpenShift, "Template" | "", "v1" | "") | (Group::OpenShift, "", _)
            if kind.is_empty() || expected_kind == Kind::Template =>
        {
            let version = if matches!(version, "v1" | "") { expected } else { version };
            Ok(Named { of, kind: expected_kind.name(), version })
        }
        (_, kind, "") => Ok(Named { of, kind, version: expected }),
        _ => Ok(Named { of, kind, version }),
    }
}

/// Converts complaints to warnings, or to an error. In our group, they have the API server's order
/// for custom resources: duplicate fields first, then unknown fields, each sorted by path.
fn judge(
    group: Group,
    complaints: Complaints,
    repeated: &[String],
    lines: &[(usize, String)],
    validation: FieldValidation,
) -> std::result::Result<Vec<String>, String> {
    if let Some(mismatch) = complaints.mismatch {
        return Err(mismatch);
    }
    let unknown = complaints.unknown.iter();
    let unknown = unknown.map(|path| format!("unknown field {path:?}"));
    let mut all: Vec<String> = repeated.iter().cloned().chain(unknown).collect();
    if group == Group::Krm {
        all.sort();
    }
    all.truncate(MAX_COMPLAINTS);
    warnings(all, lines, validation)
}

/// Returns texts for `Warning` headers, or an error with all of them.
fn warnings(
    mut all: Vec<String>,
    lines: &[(usize, String)],
    validation: FieldValidation,
) -> std::result::Result<Vec<String>, String> {
    let lines = repeated_lines(lines);
    match validation {
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Warn => Ok(lines.into_iter().chain(all).collect()),
        FieldValidation::Strict if lines.is_empty() && all.is_empty() => Ok(Vec::new()),
        FieldValidation::Strict => {
            if !lines.is_empty() {
                all.insert(0, repeated_in_yaml(&lines));
            }
            Err(format!("strict decoding error: {}", all.join(", ")))
        }
    }
}

fn repeated_lines(repeated: &[(usize, String)]) -> Vec<String> {
    let repeated = repeated.iter();
    repeated.map(|(line, key)| format!("line {line}: key {key:?} already set in map")).collect()
}

fn repeated_in_yaml(lines: &[String]) -> String {
    format!("yaml: unmarshal errors:\n  {}", lines.join("\n  "))
}

/// Converts parameter values to strings in OpenShift's group. Returns a warning for each. `text` is
/// the JSON text of the parameters, if they have one.
fn as_text(of: Of, object: &mut Value, text: Option<&&RawValue>) -> Vec<String> {
    let (group, kind) = of;
    let (parent, parameters) = match kind {
        Kind::Template => ("", object.get_mut("parameters")),
        Kind::Instance => ("spec.template.", object.pointer_mut("/spec/template/parameters")),
    };
    let parameters = parameters.filter(|_| group == Group::OpenShift);
    let text = text.map_or("", |text| text.get());
    let indexes = parameters.map(|parameters| values_as_text(parameters, text));
    let warning = |index| {
        format!(
            "{parent}parameters[{index}].value: a number or bool is stored as its text: put it in quotes"
        )
    };
    indexes.into_iter().flatten().map(warning).collect()
}
