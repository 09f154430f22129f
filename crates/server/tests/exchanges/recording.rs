//! The recorded exchanges, as files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use libtest_mimic::Failed;
use serde::Deserialize;
use serde_json::Value;

/// A request and its response.
#[derive(Deserialize)]
pub(crate) struct Exchange {
    /// The name of the file, such as `072-create.json`.
    #[serde(skip)]
    pub(crate) file: String,
    pub(crate) request: Request,
    pub(crate) response: Response,
    #[serde(default)]
    pub(crate) volatile: Vec<String>,
    #[serde(default)]
    pub(crate) bindings: Vec<Binding>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) user: String,
    pub(crate) headers: BTreeMap<String, String>,
    body: Option<String>,
    body_base64: Option<String>,
    #[serde(default)]
    body_described: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, Values>,
    pub(crate) body: Option<String>,
    pub(crate) trimmed: Option<String>,
}

/// The values of one header.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Values {
    One(String),
    Many(Vec<String>),
}

impl Values {
    pub(crate) fn to_vec(&self) -> Vec<String> {
        match self {
            Self::One(value) => vec![value.clone()],
            Self::Many(values) => values.clone(),
        }
    }
}

/// A value of the request that comes from an earlier response.
#[derive(Deserialize)]
pub(crate) struct Binding {
    /// The recorded value.
    pub(crate) value: String,
    /// The file of the response, or `the object at this moment`.
    pub(crate) from: String,
    pub(crate) path: Option<String>,
    pub(crate) header: Option<String>,
}

impl Exchange {
    /// Returns the number at the start of the file name.
    pub(crate) fn number(&self) -> u32 {
        number(&self.file)
    }

    /// Returns `true` if the request starts a watch.
    pub(crate) fn is_watch(&self) -> bool {
        let path = &self.request.path;
        self.request.method == "GET"
            && (path.contains("watch=") || path.contains("/watch/"))
            && self.response.status == 200
    }

    /// Returns `true` if the request can change an object.
    pub(crate) fn changes(&self) -> bool {
        let path = &self.request.path;
        self.request.method != "GET" && !path.contains("processedtemplates")
    }
}

impl Exchange {
    /// Returns the objects of the response that have a uid, by uid and revision.
    pub(crate) fn objects(&self) -> Vec<((String, String), Value)> {
        let text = self.response.body.as_deref().unwrap_or_default();
        let Ok(body) = serde_json::from_str::<Value>(text) else {
            return Vec::new();
        };
        let items = body.get("items").and_then(Value::as_array).cloned();
        let objects = items.unwrap_or_else(|| vec![body]);
        let keyed = |object: Value| {
            let text = |path| Some(object.pointer(path)?.as_str()?.to_owned());
            let key = (text("/metadata/uid")?, text("/metadata/resourceVersion")?);
            Some((key, object))
        };
        objects.into_iter().filter_map(keyed).collect()
    }
}

impl Request {
    /// Returns the body of the request, if there is one.
    pub(crate) fn body(&self) -> Option<Vec<u8>> {
        if self.body_described {
            return self.body.as_deref().map(|text| described(text, &self.path).into_bytes());
        }
        match &self.body_base64 {
            Some(text) => Some(STANDARD.decode(text).expect("the recording has base64")),
            None => self.body.clone().map(String::into_bytes),
        }
    }
}

/// Creates a body that the recording only describes.
pub(crate) fn described(description: &str, path: &str) -> String {
    let version = if path.contains("krm.dev") {
        "template.krm.dev/v1alpha1"
    } else {
        "template.openshift.io/v1"
    };
    let template = |name: &str, rest: &str| {
        format!(
            r#"{{"kind":"Template","apiVersion":"{version}","metadata":{{"name":"{name}"}},{rest}}}"#
        )
    };
    let object = |value: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"c"}},"data":{{"a":"{value}"}}}}"#
        )
    };
    match description {
        "message of 3,145,738 times x" => {
            template("large", &format!(r#""objects":[],"message":"{}""#, "x".repeat(3_145_738)))
        }
        "message of 1,638,400 times x" => {
            let name = if path.contains("processed") { "large3" } else { "large2" };
            template(name, &format!(r#""objects":[],"message":"{}""#, "x".repeat(1_638_400)))
        }
        "10,000 times the same ConfigMap with ${A}" => {
            let objects = vec![object("${A}"); 10_000].join(",");
            template(
                "t",
                &format!(r#""objects":[{objects}],"parameters":[{{"name":"A","value":"v"}}]"#),
            )
        }
        "a value of 100,000 x in 300 places" => {
            let objects = vec![object("${A}"); 300].join(",");
            let value = "x".repeat(100_000);
            template(
                "t",
                &format!(
                    r#""objects":[{objects}],"parameters":[{{"name":"A","value":"{value}"}}]"#
                ),
            )
        }
        operations if operations.starts_with("10,001 times ") => {
            let operation = operations.trim_start_matches("10,001 times ");
            format!("[{}]", vec![operation; 10_001].join(","))
        }
        other => unreachable!("no body is made from {other:?}"),
    }
}

/// Returns the number at the start of a file name.
pub(crate) fn number(file: &str) -> u32 {
    file.split('-')
        .next()
        .and_then(|digits| digits.parse().ok())
        .expect("a file begins with a number")
}

/// Reads all exchanges of a folder, in the order of the recording.
pub(crate) fn all(folder: &Path) -> Result<Vec<Exchange>, Failed> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        if is_json && name.starts_with(|first: char| first.is_ascii_digit()) {
            files.push(name);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(format!("{} has no recordings", folder.display()).into());
    }
    files
        .into_iter()
        .map(|file| {
            let text = fs::read_to_string(folder.join(&file))?;
            let mut exchange: Exchange =
                serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
            exchange.file = file;
            Ok(exchange)
        })
        .collect()
}
