//! A test that parses all recorded requests for Templates, and compares the errors.

use std::collections::BTreeMap;

use http::Method;
use serde_json::Value;

use crate::wire::accept::{self, Scope};
use crate::wire::content::{self, PatchType};
use crate::wire::endpoint::{self, Action, Endpoint};
use crate::wire::list::{self, ListOptions, WatchOptions};
use crate::wire::options::{DeleteOptions, PatchOptions, WriteOptions};
use crate::wire::path::{self, Path, Resource};
use crate::wire::query::Query;
use krm_template_server_core::groups::Group;
use krm_template_server_core::status::Result;

/// Intended differences: the name of the file, the code, a part of the message, and the reason. The
/// message of an accepted request is empty.
const DIFFERENT: &[(&str, u16, &str, &str)] = &[
    ("074-", 415, "has no type", "pages of other sites omit it"),
    ("079-", 200, "", "other names of YAML are accepted"),
    ("080-", 200, "", "other names of YAML are accepted"),
    ("189-", 406, "406: Not Acceptable", "no protobuf"),
    ("190-", 200, "", "no protobuf, so the JSON that is accepted too"),
    ("227-", 400, "resourceVersion: Invalid value: \"abc\"", "a mistake of the client"),
    ("228-", 400, "resourceVersion: Invalid value: \"-1\"", "a mistake of the client"),
    (
        "254-",
        400,
        "invalid continue token: continue key is not valid: the token is not from this server",
        "our words about malformed JSON",
    ),
    ("332-", 406, "not a list", "otherwise the watch would have no events"),
    ("335-", 406, "406: Not Acceptable", "no protobuf"),
    ("347-", 400, "resourceVersion: Invalid value: \"abc\"", "a mistake of the client"),
    (
        "502-",
        400,
        "couldn't get version/kind; json parse error: error at line 1",
        "a mistake of the client",
    ),
    ("503-", 400, "the kind of the body is not DeleteOptions", "a mistake of the client"),
    ("364-", 200, "", "whoever reads the body decides"),
    ("617-", 406, "406: Not Acceptable", "no protobuf"),
    ("621-", 415, "has no type", "pages of other sites omit it"),
    ("622-", 415, "the body of the request was in an unknown format", "no protobuf"),
    ("623-", 406, "406: Not Acceptable", "no protobuf"),
    ("692-", 415, "the body of the request was in an unknown format", "no protobuf"),
    ("752-", 404, "the server could not find", "no status"),
];

/// Prefixes of the messages of this module.
const DECIDED: &[&str] = &[
    "406: ",
    "415: ",
    "CreateOptions.",
    "DeleteOptions.",
    "ListOptions.",
    "PatchOptions.",
    "UpdateOptions.",
    "Unable to convert to Table",
    "field label not supported",
    "found ",
    "invalid continue token",
    "invalid resource version",
    "invalid selector",
    "only the following media types",
    "resourceVersion: ",
    "specifying resource version",
    "strconv.",
    "the body of the request was in an unknown format",
    "the server could not find the requested resource",
    "the server does not allow this method",
    "unable to parse requirement",
    "you requested ",
    "\"message\" is not a known field selector",
];

struct Exchange {
    name: String,
    method: Method,
    path: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
    code: u16,
    message: String,
}

fn exchanges() -> Vec<Exchange> {
    let root = std::env::var_os("KRM_TEMPLATE_SHARED").expect("KRM_TEMPLATE_SHARED");
    let folder = std::path::Path::new(&root).join("corpus/template-api");
    let mut exchanges: Vec<Exchange> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .filter_map(|path| {
            #[expect(clippy::disallowed_methods, reason = "a test")]
            let value: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            exchange(name, &value)
        })
        .collect();
    exchanges.sort_by(|one, other| one.name.cmp(&other.name));
    exchanges
}

fn exchange(name: String, value: &Value) -> Option<Exchange> {
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    if text("/request/user")? != "admin" {
        return None;
    }
    let headers = value.pointer("/request/headers")?.as_object()?;
    let body = text("/response/body").unwrap_or_default();
    let status: Option<Value> = serde_json::from_str(&body).ok();
    let message = status.as_ref().and_then(|status| status.get("message")?.as_str());
    Some(Exchange {
        name,
        method: text("/request/method")?.parse().unwrap(),
        path: text("/request/path")?,
        headers: headers
            .iter()
            .map(|(name, value)| {
                (name.to_lowercase(), value.as_str().unwrap_or_default().to_owned())
            })
            .collect(),
        body: text("/request/body").unwrap_or_default().into_bytes(),
        code: u16::try_from(value.pointer("/response/status")?.as_u64()?).unwrap(),
        message: message.unwrap_or_default().to_owned(),
    })
}

/// Returns `true` for a request for Templates in a served version.
fn is_for_templates(resource: &Resource) -> bool {
    Group::named(&resource.group).is_some_and(|group| group.version() == resource.version)
        && matches!(resource.resource.as_str(), "templates" | "processedtemplates" | "nope")
}

fn read(exchange: &Exchange, resource: &Resource, query: &Query) -> Result<()> {
    let header = |name: &str| exchange.headers.get(name).map(String::as_str);
    let (content_type, agent) = (header("content-type"), header("user-agent"));
    let endpoint = endpoint::of(resource, false)?;
    let scope = match &endpoint {
        Endpoint::Objects { action: Action::List | Action::DeleteCollection, .. } => Scope::List,
        Endpoint::Objects { action: Action::Watch(_), .. } => Scope::Watch,
        _ => Scope::One,
    };
    accept::negotiate(header("accept"), agent, query, scope)?;
    match endpoint {
        Endpoint::Process { .. } | Endpoint::ProcessStored { .. } => {
            WriteOptions::create(query)?;
            content::of_object(content_type)?;
        }
        Endpoint::Objects { group, action, .. } => match action {
            Action::Create => {
                WriteOptions::create(query)?;
                content::of_object(content_type)?;
            }
            Action::Update(_) => {
                WriteOptions::update(query)?;
                content::of_object(content_type)?;
            }
            Action::Patch(_) => {
                let kind = content::of_patch(content_type, group)?;
                PatchOptions::parse(query, kind == PatchType::Apply)?;
            }
            Action::Get(_) => {
                list::get(query)?;
            }
            Action::List => {
                ListOptions::parse(query, group)?;
            }
            Action::Watch(_) => {
                WatchOptions::parse(query, group)?;
            }
            Action::Delete(_) => {
                DeleteOptions::parse(query, content_type, &exchange.body)?;
            }
            Action::DeleteCollection => {
                ListOptions::parse(query, group)?;
                DeleteOptions::parse(query, content_type, &exchange.body)?;
            }
        },
        Endpoint::Schema { .. }
        | Endpoint::Revisions { .. }
        | Endpoint::Preview { .. }
        | Endpoint::Review(_)
        | Endpoint::Namespace(_) => {}
    }
    Ok(())
}

/// Removes the types that this server does not have from a recorded message.
fn comparable(message: &str) -> String {
    message
        .replace(", application/vnd.kubernetes.protobuf;stream=watch", "")
        .replace(", application/vnd.kubernetes.protobuf", "")
        .replace("(*template.Template", "(Template")
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn every_recorded_request_is_read_as_it_was() {
    let (mut wrong, mut refused, mut accepted) = (Vec::new(), 0, 0);
    for exchange in exchanges() {
        let (path, query) = exchange.path.split_once('?').unwrap_or((&exchange.path, ""));
        let query = Query::parse(query).unwrap();
        let Path::Resource(resource) = path::parse(&exchange.method, path, &query) else {
            continue;
        };
        if !is_for_templates(&resource) {
            continue;
        }
        let found = read(&exchange, &resource, &query);
        let different = DIFFERENT.iter().find(|(name, ..)| exchange.name.starts_with(name));
        let (code, message) = match different {
            Some((_, code, message, _)) => (*code, (*message).to_owned()),
            None => (exchange.code, comparable(&exchange.message)),
        };
        let is_right = match &found {
            Ok(()) => !DECIDED.iter().any(|start| message.starts_with(start)) && code != 406,
            Err(status) => {
                status.code == code
                    && (different.is_some() && status.message.contains(&message)
                        || status.message == message
                        // No message is recorded for HEAD or YAML responses.
                        || message.is_empty() && matches!(code, 405 | 406))
            }
        };
        refused += usize::from(found.is_err());
        accepted += usize::from(found.is_ok());
        if !is_right {
            wrong.push(format!("{}: {code} {message}\n  found {found:?}", exchange.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused > 60 && accepted > 500, "{refused} refused, {accepted} accepted");
}
