//! Parsing of all recorded requests for Templates: the errors are compared.

use libtest_mimic::Failed;
use serde_json::Value;

use crate::exchanges::recording::Exchange;
use krm_template_server::request::{
    DeleteOptions, Handler, ListOptions, PatchOptions, PatchType, Path, Query, Resource, Scope,
    Verb, WatchOptions, WriteOptions, accept, content_type, list_options, path, resources,
};
use krm_template_server_core::{Group, Result};

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

/// Returns the message of a recorded error, which may be empty.
fn message(exchange: &Exchange) -> String {
    let body = exchange.response.body.as_deref().unwrap_or_default();
    let status: Option<Value> = serde_json::from_str(body).ok();
    let message = status.as_ref().and_then(|status| status.get("message")?.as_str());
    message.unwrap_or_default().to_owned()
}

/// Returns `true` for a request for Templates in a served version.
fn is_for_templates(resource: &Resource) -> bool {
    Group::named(&resource.group).is_some_and(|group| group.version() == resource.version)
        && matches!(resource.resource.as_str(), "templates" | "processedtemplates" | "nope")
}

fn read(exchange: &Exchange, resource: &Resource, query: &Query) -> Result<()> {
    let header = |name: &str| {
        let mut headers = exchange.request.headers.iter();
        headers.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    };
    let (content_type, agent) = (header("content-type"), header("user-agent"));
    let (handler, verb) = resources::of(resource, false)?;
    let scope = match verb {
        Verb::List | Verb::DeleteCollection => Scope::List,
        Verb::Watch => Scope::Watch,
        _ => Scope::One,
    };
    accept::negotiate(header("accept"), agent, query, scope)?;
    let group = Group::named(&resource.group).unwrap();
    let body = exchange.request.body().unwrap_or_default();
    match verb {
        Verb::Create => {
            WriteOptions::create(query)?;
            content_type::of_object(content_type)?;
        }
        Verb::Update => {
            WriteOptions::update(query)?;
            content_type::of_object(content_type)?;
        }
        Verb::Patch => {
            let kind = content_type::of_patch(content_type, group)?;
            PatchOptions::parse(query, kind == PatchType::Apply)?;
        }
        Verb::Get if handler == Handler::Schema => {}
        Verb::Get => {
            list_options::get(query)?;
        }
        Verb::List => {
            ListOptions::parse(query, group)?;
        }
        Verb::Watch => {
            WatchOptions::parse(query, group)?;
        }
        Verb::Delete => {
            DeleteOptions::parse(query, content_type, &body)?;
        }
        Verb::DeleteCollection => {
            ListOptions::parse(query, group)?;
            DeleteOptions::parse(query, content_type, &body)?;
        }
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

pub(crate) fn every_recorded_request_is_read_as_it_was(
    exchanges: &[Exchange],
) -> std::result::Result<(), Failed> {
    let (mut wrong, mut refused, mut accepted) = (Vec::new(), 0, 0);
    for exchange in exchanges.iter().filter(|exchange| exchange.request.user == "admin") {
        let target = &exchange.request.path;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let query = Query::parse(query).unwrap();
        let method = exchange.request.method.parse()?;
        let Path::Resource(resource) = path::parse(&method, path, &query) else {
            continue;
        };
        if !is_for_templates(&resource) {
            continue;
        }
        let found = read(exchange, &resource, &query);
        let different = DIFFERENT.iter().find(|(name, ..)| exchange.file.starts_with(name));
        let (code, message) = match different {
            Some((_, code, message, _)) => (*code, (*message).to_owned()),
            None => (exchange.response.status, comparable(&message(exchange))),
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
            wrong.push(format!("{}: {code} {message}\n  found {found:?}", exchange.file));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused > 60 && accepted > 500, "{refused} refused, {accepted} accepted");
    Ok(())
}
