//! The options of lists, watches and reads: parsing, validation, and the meaning of
//! `resourceVersion`.
//!
//! Source: `ValidateListOptions` of `k8s.io/apimachinery/pkg/apis/meta/internalversion`.

use krm_core::label_selector::LabelSelector;

use super::continue_token::Continue;
use super::field_selector::FieldSelector;
use super::query::{Query, not_a_number};
use super::write_options::invalid;
use krm_template_server_core::{Cause, Details, Group, Result, Revision, Status};

const MATCH: &str = "resourceVersionMatch";
const FORBIDDEN: &str = "FieldValueForbidden";

/// The state of the store that a response shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The newest state of the store.
    Newest,
    /// Any state that is not older than this revision. 0 for any state.
    NotOlderThan(Revision),
    /// The state at this revision.
    Exact(Revision),
}

/// The selectors of a list or watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selectors {
    /// The label selector; empty selects all objects.
    pub labels: LabelSelector,
    /// The field selector; empty selects all objects.
    pub fields: FieldSelector,
}

/// The options of a list, or of a collection delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListOptions {
    /// The selectors, which all objects must match.
    pub selectors: Selectors,
    /// The maximum number of objects in the response.
    pub limit: Option<u64>,
    /// The state of the store to show.
    pub at: At,
    /// The key after which the list continues, without the prefix of the list.
    pub after: Option<String>,
}

/// The options of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchOptions {
    /// The selectors, which all objects must match.
    pub selectors: Selectors,
    /// The start of the watch.
    pub start: Start,
    /// Whether the client accepts bookmarks.
    pub bookmarks: bool,
    /// The timeout in seconds, if the client sets one.
    pub timeout_seconds: Option<u64>,
}

/// The start of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// An `ADDED` event for each object, then the changes.
    ///
    /// The state of the objects is not older than this revision. 0 allows any state. If the client
    /// accepts bookmarks, one with `k8s.io/initial-events-end` follows the objects.
    State(Revision),
    /// The changes after this revision.
    After(Revision),
    /// The changes from now on.
    Now,
}

impl Selectors {
    fn parse(query: &Query, group: Group) -> Result<Self> {
        Ok(Self {
            labels: LabelSelector::parse(query.text("labelSelector"))
                .map_err(Status::bad_request)?,
            fields: FieldSelector::parse(query.text("fieldSelector"), group)?,
        })
    }

    /// Returns `true` if everything is selected.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }
}

impl ListOptions {
    /// Parses the options of a list.
    ///
    /// # Errors
    ///
    /// 400 for malformed values, 422 for options that conflict.
    pub fn parse(query: &Query, group: Group) -> Result<Self> {
        let selectors = Selectors::parse(query, group)?;
        let limit = positive(query, "limit")?;
        query.integer("timeoutSeconds")?;
        let (version, exactness) = (query.text("resourceVersion"), query.text(MATCH));
        let token = query.text("continue");
        check("ListOptions", list_causes(query))?;
        let revision = revision(version)
            .map_err(|why| Status::bad_request(format!("invalid resource version: {why}")))?;
        if !token.is_empty() {
            if revision.is_some_and(|revision| revision != 0) {
                let message = "specifying resource version is not allowed when using continue";
                return Err(Status::bad_request(message));
            }
            // A list of any state is not split into pages, and neither is its rest.
            let limit = limit.filter(|_| revision.is_none());
            let Continue { revision, after } = Continue::decode(token)?;
            let at = revision.map_or(At::Newest, At::Exact);
            return Ok(Self { selectors, limit, at, after: Some(after) });
        }
        let at = match (revision, exactness) {
            (None, _) => At::Newest,
            (Some(revision), "Exact") => At::Exact(revision),
            (Some(revision), "") if revision > 0 && limit.is_some() => At::Exact(revision),
            (Some(revision), _) => At::NotOlderThan(revision),
        };
        // A list of any state is not split into pages.
        let limit = limit.filter(|_| at != At::NotOlderThan(0));
        Ok(Self { selectors, limit, at, after: None })
    }
}

impl WatchOptions {
    /// Parses the options of a watch.
    ///
    /// # Errors
    ///
    /// 400 for malformed values, 422 for options that conflict.
    pub fn parse(query: &Query, group: Group) -> Result<Self> {
        let selectors = Selectors::parse(query, group)?;
        query.integer("limit")?;
        let timeout_seconds = positive(query, "timeoutSeconds")?;
        check("ListOptions", watch_causes(query))?;
        let revision = revision(query.text("resourceVersion")).map_err(Status::bad_request)?;
        let start = match (query.flag("sendInitialEvents"), revision) {
            (Some(true), revision) => Start::State(revision.unwrap_or_default()),
            (Some(false), None | Some(0)) => Start::Now,
            (None, None | Some(0)) => Start::State(0),
            (_, Some(revision)) => Start::After(revision),
        };
        let bookmarks = query.flag("allowWatchBookmarks") == Some(true);
        Ok(Self { selectors, start, bookmarks, timeout_seconds })
    }
}

/// Returns the state that a read of one object shows.
///
/// # Errors
///
/// 400 for a malformed `resourceVersion`.
pub fn get(query: &Query) -> Result<At> {
    let revision = revision(query.text("resourceVersion")).map_err(Status::bad_request)?;
    Ok(revision.map_or(At::Newest, At::NotOlderThan))
}

/// Returns the 504 error for a revision that is newer than the newest one.
pub fn in_the_future(asked: Revision, newest: Revision) -> Box<Status> {
    let message = format!("Timeout: Too large resource version: {asked}, current: {newest}");
    let cause = Cause::new("ResourceVersionTooLarge", "", "Too large resource version");
    Status::new(504, "Timeout", message).with(Details {
        causes: vec![cause],
        retry_after_seconds: 1,
        ..Details::default()
    })
}

/// Returns the 410 error for a list of a compacted state. A continued list gets a token to continue
/// at the newest state.
pub fn expired(options: &ListOptions) -> Box<Status> {
    let Some(after) = &options.after else {
        let message = "The resourceVersion for the provided list is too old.";
        return Status::new(410, "Expired", message);
    };
    let message = "The provided continue parameter is too old to display a consistent list result. \
        You can start a new list without the continue parameter, or use the continue token in this \
        response to retrieve the remainder of the results. Continuing with the provided token \
        results in an inconsistent list - objects that were created, modified, or deleted between \
        the time the first chunk was returned and now may show up in the list.";
    let mut status = Status::new(410, "Expired", message);
    status.next = Some(Continue { revision: None, after: after.clone() }.encode());
    status
}

fn positive(query: &Query, name: &str) -> Result<Option<u64>> {
    let number = query.integer(name)?;
    Ok(number.and_then(|number| u64::try_from(number).ok()).filter(|number| *number > 0))
}

/// Parses a `resourceVersion`. Returns `None` for an empty one.
fn revision(text: &str) -> Result<Option<Revision>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    // Rust accepts a sign, Kubernetes does not.
    let number = if text.starts_with('+') { "+".parse() } else { text.parse() };
    number.map(Some).map_err(|error| {
        let error = not_a_number("ParseUint", text, &error);
        format!("resourceVersion: Invalid value: {text:?}: {error}")
    })
}

fn check(kind: &str, causes: Vec<Cause>) -> Result<()> {
    if causes.is_empty() { Ok(()) } else { Err(invalid(kind, causes)) }
}

fn forbidden(field: &str, why: &str) -> Cause {
    Cause::new(FORBIDDEN, field, format!("Forbidden: {why}"))
}

fn unsupported(value: &str, supported: &str) -> Cause {
    let message = format!("Unsupported value: {value:?}: supported values: {supported}");
    Cause::new("FieldValueNotSupported", MATCH, message)
}

fn list_causes(query: &Query) -> Vec<Cause> {
    let mut causes = Vec::new();
    let (version, exactness) = (query.text("resourceVersion"), query.text(MATCH));
    if !exactness.is_empty() {
        if version.is_empty() {
            let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
            causes.push(forbidden(MATCH, why));
        }
        if !query.text("continue").is_empty() {
            let why = "resourceVersionMatch is forbidden when continue is provided";
            causes.push(forbidden(MATCH, why));
        }
        if !matches!(exactness, "Exact" | "NotOlderThan") {
            causes.push(unsupported(exactness, r#""Exact", "NotOlderThan", """#));
        }
        if exactness == "Exact" && version == "0" {
            let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            causes.push(forbidden(MATCH, why));
        }
    }
    if query.first("sendInitialEvents").is_some() {
        let why = "sendInitialEvents is forbidden for list";
        causes.push(forbidden("sendInitialEvents", why));
    }
    causes
}

fn watch_causes(query: &Query) -> Vec<Cause> {
    let mut causes = Vec::new();
    let exactness = query.text(MATCH);
    let has_initial = query.first("sendInitialEvents").is_some();
    if has_initial && exactness != "NotOlderThan" {
        let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        causes.push(forbidden(MATCH, why));
    }
    if !exactness.is_empty() {
        if !has_initial {
            let why =
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            causes.push(forbidden(MATCH, why));
        }
        if exactness != "NotOlderThan" {
            causes.push(unsupported(exactness, r#""NotOlderThan""#));
        }
    }
    if !query.text("continue").is_empty() {
        let why = "resourceVersionMatch is forbidden when continue is provided";
        causes.push(forbidden(MATCH, why));
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query::parse(text).unwrap()
    }

    #[test]
    fn a_list_shows_the_state_that_its_options_ask_for() {
        let cases = [
            ("", At::Newest, None),
            ("limit=2", At::Newest, Some(2)),
            ("limit=-1", At::Newest, None),
            ("resourceVersion=0&limit=2", At::NotOlderThan(0), None),
            ("resourceVersion=5", At::NotOlderThan(5), None),
            ("resourceVersion=5&limit=2", At::Exact(5), Some(2)),
            (
                "resourceVersion=5&resourceVersionMatch=NotOlderThan&limit=2",
                At::NotOlderThan(5),
                Some(2),
            ),
            ("resourceVersion=5&resourceVersionMatch=Exact", At::Exact(5), None),
        ];
        for (text, at, limit) in cases {
            let options = ListOptions::parse(&query(text), Group::Krm).unwrap();
            assert_eq!((options.at, options.limit, options.after), (at, limit, None), "{text}");
        }
    }

    #[test]
    fn a_list_that_goes_on_shows_the_state_of_its_token() {
        let of = |revision| {
            let token = Continue { revision, after: "a/b".to_owned() }.encode();
            let text = format!("continue={token}&resourceVersion=0&limit=3");
            ListOptions::parse(&query(&text), Group::Krm).unwrap()
        };
        assert_eq!((of(Some(7)).at, of(Some(7)).limit), (At::Exact(7), None));
        assert_eq!((of(None).at, of(None).after.as_deref()), (At::Newest, Some("a/b")));
        let expired = expired(&of(Some(7)));
        let next = Continue::decode(&expired.next.unwrap()).unwrap();
        assert_eq!((expired.code, next.revision, next.after.as_str()), (410, None, "a/b"));
    }

    #[test]
    fn a_watch_starts_where_its_options_say() {
        let initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
        let cases = [
            (String::new(), Start::State(0)),
            ("resourceVersion=0".to_owned(), Start::State(0)),
            ("resourceVersion=5".to_owned(), Start::After(5)),
            (initial.to_owned(), Start::State(0)),
            (format!("{initial}&resourceVersion=5"), Start::State(5)),
            ("sendInitialEvents=false&resourceVersionMatch=NotOlderThan".to_owned(), Start::Now),
        ];
        for (text, start) in cases {
            let options = WatchOptions::parse(&query(&text), Group::Krm).unwrap();
            assert_eq!((options.start, options.bookmarks), (start, false), "{text}");
        }
    }

    #[test]
    fn numbers_have_the_bounds_of_go() {
        let message =
            |text: &str| ListOptions::parse(&query(text), Group::Krm).unwrap_err().message;
        let number = "99999999999999999999";
        assert_eq!(
            message(&format!("limit={number}")),
            format!("strconv.ParseInt: parsing \"{number}\": value out of range")
        );
        assert_eq!(message("limit="), "strconv.ParseInt: parsing \"\": invalid syntax");
        assert!(message("resourceVersion=%2B1").ends_with("parsing \"+1\": invalid syntax"));
    }
}
