//! Field ownership after a create, an update, or a patch other than apply.

use serde_json::{Value, json};

use super::managers::{Id, Managers, Operation, Writer, time};
use super::shape::Changes;
use krm_template_server_core::Group;

/// Sets `metadata.managedFields` of a written object: the writer owns the fields that it changed.
///
/// `before` is the stored object, or `None` for a create. The managers in `after` are used if they
/// are well-formed. An update adds no managers to an object without managers.
pub fn track_update(group: Group, before: Option<&Value>, after: &mut Value, writer: &Writer<'_>) {
    let mut managers = Managers::given(before, after);
    if before.is_none() || !managers.0.is_empty() {
        let nothing = json!({});
        let changes = Changes::between(group, before.unwrap_or(&nothing), after);
        managers.release(group, &changes);
        if !changes.changed.is_empty() {
            let id = Id::new(group, Operation::Update, writer);
            managers.own(group, id, changes.changed, time(writer.time));
        }
        managers.cap(group);
    }
    managers.write(after);
}
