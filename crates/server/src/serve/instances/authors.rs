//! The users who have changed a stored Template: an automatic upgrade does only what all of them may do.
#![cfg_attr(
    not(feature = "deployments"),
    expect(dead_code, reason = "without a cluster, nothing is upgraded")
)]

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::{Context, beside, without_tokens};
use crate::object::instance;
use crate::serve::call::Call;
use krm_template_server_core::auth::User;
use krm_template_server_core::groups::{Group, Kind};
use krm_template_server_core::store::Revision;

/// The resource in the keys of the store.
pub(super) const KEYS: &str = "templateauthors";

/// The maximum number of changes, each by another user than the one before, that are known.
const MAX_CHANGES: usize = 20;

/// Changes of a Template by one user, from one revision to another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Change {
    /// The revision before; 0 if the Template was created.
    before: Revision,
    after: Revision,
    /// When the last one was made, in seconds since 1970.
    time: i64,
    user: Value,
}

/// Records the user of a request that has written a Template. Without a record, the change is of an
/// unknown user, so that nothing depends on its success.
pub(in crate::serve) async fn note(call: &Call<'_>, name: &str, before: Revision, after: Revision) {
    if call.kind != Kind::Template || !call.state.installs() {
        return;
    }
    let store = &call.state.store;
    let key = beside(call.group, KEYS, call.namespace, name);
    let Ok(found) = store.get(&key).await else {
        return;
    };
    let known = found.as_ref().filter(|_| before > 0);
    let changes = known.and_then(|item| serde_json::from_slice(&item.value).ok());
    let change = Change {
        before,
        after,
        time: call.now.as_second(),
        user: instance::requester(&without_tokens(call.user.clone())),
    };
    let changes = with(changes.unwrap_or_default(), change);
    let bytes = serde_json::to_vec(&changes).unwrap_or_default();
    let _ = match found {
        Some(item) => store.update(&key, bytes.into(), item.revision).await,
        None => store.create(&key, bytes.into()).await,
    };
}

/// Adds a change to those before it.
fn with(mut changes: Vec<Change>, change: Change) -> Vec<Change> {
    match changes.last_mut() {
        Some(last) if (last.after, &last.user) == (change.before, &change.user) => {
            last.after = change.after;
            last.time = change.time;
        }
        _ => changes.push(change),
    }
    let surplus = changes.len().saturating_sub(MAX_CHANGES);
    changes.split_off(surplus)
}

/// Forgets the users who have changed a Template, which is deleted.
pub(in crate::serve) async fn forget(call: &Call<'_>, name: &str) {
    if call.kind == Kind::Template {
        let store = &call.state.store;
        let key = beside(call.group, KEYS, call.namespace, name);
        if let Ok(Some(item)) = store.get(&key).await {
            let _ = store.delete(&key, item.revision).await;
        }
    }
}

/// Returns the users who have changed a Template since a revision; `None` if one is unknown, or
/// recorded longer than `--requester-max-age` ago.
pub(super) async fn since(
    context: &Context,
    at: (Group, &str, &str),
    from: Revision,
    now: Revision,
) -> Option<Vec<User>> {
    let key = beside(at.0, KEYS, at.1, at.2);
    let item = context.state.store.get(&key).await.ok()??;
    let oldest = match i64::try_from(context.max_age.as_secs()) {
        Ok(0) | Err(_) => i64::MIN,
        Ok(age) => Timestamp::now().as_second() - age,
    };
    users(
        &serde_json::from_slice::<Vec<Change>>(&item.value).ok()?,
        from,
        now,
        oldest,
    )
}

fn users(changes: &[Change], from: Revision, now: Revision, oldest: i64) -> Option<Vec<User>> {
    let (mut expected, mut users) = (now, Vec::new());
    for change in changes.iter().rev() {
        if expected <= from {
            break;
        }
        if change.after != expected || change.time < oldest {
            return None;
        }
        users.push(instance::user(&change.user)?);
        expected = change.before;
    }
    // Without a change, the Template comes from elsewhere.
    (expected <= from && !users.is_empty()).then_some(users)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(before: Revision, after: Revision, name: &str) -> Change {
        Change {
            before,
            after,
            time: 100,
            user: json!({"username": name}),
        }
    }

    fn names(changes: &[Change], from: Revision, now: Revision) -> Option<Vec<String>> {
        let users = users(changes, from, now, 100)?;
        Some(users.into_iter().map(|user| user.name).collect())
    }

    #[test]
    fn all_who_changed_a_template_since_a_revision_are_known_or_nobody() {
        let mut all = Vec::new();
        for one in [(0, 3, "ann"), (3, 5, "eve"), (5, 6, "eve"), (6, 9, "ann")] {
            all = with(all, change(one.0, one.1, one.2));
        }
        assert_eq!(all.len(), 3);
        let known = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect());
        assert_eq!(names(&all, 6, 9), known(&["ann"]));
        // A later change of somebody else does not hide the one before.
        assert_eq!(names(&all, 3, 9), known(&["ann", "eve"]));
        assert_eq!(names(&all, 0, 9), known(&["ann", "eve", "ann"]));
        // The store was changed in another way, or nothing is known of the time before.
        assert_eq!(names(&all, 3, 10), None);
        assert_eq!(names(&all[1..], 0, 9), None);
        assert_eq!(names(&all, 9, 9), None);
        assert_eq!(names(&[], 3, 9), None);
        assert_eq!(users(&all, 6, 9, 101), None);
    }

    #[test]
    fn the_known_changes_are_bounded() {
        let mut all = Vec::new();
        for number in 0..100 {
            all = with(all, change(number, number + 1, &format!("user-{number}")));
        }
        assert_eq!(all.len(), MAX_CHANGES);
        assert_eq!(names(&all, 99, 100).unwrap(), ["user-99"]);
        assert_eq!(names(&all, 10, 100), None);
    }
}
