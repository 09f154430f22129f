//! Parses Templates and reports syntax errors as a `Status`.

use std::sync::Arc;

use krm_template_engine::{Budget, Overrun, Reading, Template};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::{Place, Source};
use krm_yaml::{Cursor, Document, SharedNode};

use super::request::{IsLate, Limits, Text};
use krm_template_server_core::{Cause, Group, Result, Status};

/// Parses a text with a single object. `name` is the kind of the object, for messages.
pub(super) fn document(name: &str, text: Text<'_>) -> Result<Arc<Document>> {
    let document = Document::parse(&Source::new(name, text.text));
    object(name, document.map_err(|error| unreadable(name, &error))?)
}

/// Checks that a document is a single object.
pub(super) fn object(name: &str, document: Document) -> Result<Arc<Document>> {
    let mut roots = document.roots();
    let is_one = roots.next().is_some_and(Cursor::is_mapping) && roots.next().is_none();
    drop(roots);
    if is_one {
        Ok(Arc::new(document))
    } else {
        Err(Status::bad_request(format!("the body must be one object of kind {name}")))
    }
}

/// Converts a parse error, with its position but without the text there.
fn unreadable(name: &str, error: &Diagnostic) -> Box<Status> {
    let place = error.place.as_ref().map(Place::to_text);
    let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
    Status::bad_request(format!(
        "the object of kind {name} cannot be read: {}{place}",
        error.message
    ))
}

/// Returns a 400: a number in the metadata or the parameters is not finite.
pub(super) fn non_finite() -> Box<Status> {
    Status::bad_request(
        "the object of kind Template cannot be read: JSON cannot represent a number that is not \
         finite",
    )
}

/// Returns a 504: the time is up.
pub(super) fn late() -> Box<Status> {
    Status::new(504, "Timeout", "the Template takes too long to expand")
}

/// Checks that there is time left.
pub(super) fn check_time(is_late: IsLate<'_>) -> Result<()> {
    if is_late() { Err(late()) } else { Ok(()) }
}

/// Checks that an expansion is within its limits, or returns what it exceeds.
pub(super) fn check_budget(budget: &Budget<'_>, limits: &Limits<'_>) -> Result<Option<Cause>> {
    match budget.overrun() {
        None => Ok(None),
        Some(Overrun::Time) => Err(late()),
        Some(Overrun::Bytes(_)) => Ok(Some(too_long(limits.bytes, ""))),
        Some(Overrun::Objects(most)) => {
            let message = format!("Too many: must have at most {most} items");
            Ok(Some(Cause::new("FieldValueTooMany", "objects", message)))
        }
    }
}

/// Returns the cause for objects of more than `most` bytes.
pub(super) fn too_long(most: usize, purpose: &str) -> Cause {
    let message = format!("Too long: may not be more than {most} bytes{purpose}");
    Cause::new("FieldValueTooLong", "objects", message)
}

/// Returns the root of a document.
pub(super) fn root(document: &Document) -> Result<Cursor<'_>> {
    document.roots().next().ok_or_else(|| Status::internal("the document has no root"))
}

/// Reads the Template of a document in the dialect of `group`. With `conceals_values`, no message
/// shows a value. Returns `None` after an error in `diagnostics`.
pub(super) fn template(
    document: &Arc<Document>,
    group: Group,
    conceals_values: bool,
    diagnostics: &mut Diagnostics,
) -> Option<Template> {
    let node = SharedNode::roots(document).next()?;
    let reading = Reading { api_version: Some(group.api_version()), conceals_values };
    Template::read_as(&node, reading, diagnostics)
}

/// Rejects a Template with another namespace, or with too many parameters.
pub(super) fn check(
    root: Cursor<'_>,
    group: Group,
    namespace: &str,
    limits: &Limits<'_>,
) -> Result<()> {
    let own = root.text_at(["metadata", "namespace"]).unwrap_or_default();
    if !own.is_empty() && own != namespace {
        return Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    check_parameters(root, group, limits)
}

/// Rejects a Template with too many parameters.
pub(super) fn check_parameters(root: Cursor<'_>, group: Group, limits: &Limits<'_>) -> Result<()> {
    let parameters = root.get("parameters").filter(|list| list.is_sequence());
    let count = parameters.into_iter().flat_map(Cursor::children).count();
    if count > limits.parameters {
        let message = format!("Too many: {count}: must have at most {} items", limits.parameters);
        let cause = Cause::new("FieldValueTooMany", "parameters", message);
        return Err(Status::invalid(group.name(), "Template", &name(root), vec![cause]));
    }
    Ok(())
}

/// Returns the name of an object.
pub(super) fn name(root: Cursor<'_>) -> String {
    root.text_at(["metadata", "name"]).unwrap_or_default().into_owned()
}
