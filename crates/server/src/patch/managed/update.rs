//! The owners of fields after a create, an update, or a patch other than apply.

use serde_json::{Value, json};

use super::managers::{Id, Managers, Operation, Writer, time};
use super::shape::Changes;
use crate::groups::Group;

/// Sets `metadata.managedFields` of an object that is written: the writer owns what it changed.
///
/// `before` is the stored object, none for a create. Managers in `after` are taken as they are if
/// they can be read. An object without managers gets none by an update.
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
