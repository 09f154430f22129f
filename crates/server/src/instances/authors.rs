//! Who has changed a stored Template: an automatic upgrade does only what that user may do.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::standing;
use super::store::{Context, beside, without_tokens};
use crate::api::Call;
use crate::validation::instance;
use krm_template_server_core::{Kind, Revision, User, store::Error};

/// The resource in the keys of the store.
pub(super) const KEYS: &str = "templateauthors";

/// The last changes of a Template, which one user has made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Author {
    /// The revision before these changes; 0 if the user has created the Template.
    before: Revision,
    after: Revision,
    /// When the last one was made, in seconds since 1970.
    time: i64,
    user: Value,
    /// Whether a file of this server had the user then.
    #[serde(default)]
    is_listed: bool,
}

impl Author {
    /// Returns the author after another change.
    fn followed(self, next: Self) -> Self {
        let is_same = (self.after, &self.user) == (next.before, &next.user) && next.before > 0;
        let before = if is_same { self.before } else { next.before };
        Self { before, ..next }
    }

    /// Returns `true` if the user has made all changes between two revisions, and one at least.
    const fn has_made(&self, from: Revision, now: Revision) -> bool {
        self.before <= from && from < now && self.after == now
    }
}

/// Records the user of a request that has written a Template. Without a record, the author is
/// unknown, so that nothing depends on its success.
pub(crate) async fn note(
    call: &Call<'_>,
    name: &str,
    before: Revision,
    written: &Result<Revision, Error>,
) {
    let (Ok(after), Kind::Template, true) = (written, call.kind, call.state.installs()) else {
        return;
    };
    let store = &call.state.store;
    let key = beside(call.group, KEYS, call.namespace, name);
    let next = Author {
        before,
        after: *after,
        time: call.now.as_second(),
        user: instance::requester(&without_tokens(call.user.clone())),
        is_listed: call.state.authenticator.lists(call.user),
    };
    let _ = match store.get(&key).await {
        Ok(Some(item)) => {
            let last = serde_json::from_slice::<Author>(&item.value);
            let author = last.map_or_else(|_| next.clone(), |last| last.followed(next.clone()));
            let author = json!(author).to_string();
            store.update(&key, author.into(), item.revision).await
        }
        Ok(None) => store.create(&key, json!(next).to_string().into()).await,
        Err(error) => Err(error),
    };
}

/// Forgets the author of a Template that is deleted.
pub(crate) async fn forget(call: &Call<'_>, name: &str) {
    let key = beside(call.group, KEYS, call.namespace, name);
    if call.kind == Kind::Template
        && let Ok(Some(item)) = call.state.store.get(&key).await
    {
        let _ = call.state.store.delete(&key, item.revision).await;
    }
}

/// Returns the user who has made all changes of a Template between two revisions, if the record still
/// counts.
pub(super) async fn since(
    context: &Context,
    (group, namespace, name): (&str, &str, &str),
    from: Revision,
    now: Revision,
) -> Option<User> {
    let key = format!("/{group}/{KEYS}/{namespace}/{name}");
    let item = context.state.store.get(&key).await.ok()??;
    let author: Author = serde_json::from_slice(&item.value).ok()?;
    let user = instance::user(&author.user)?;
    let authenticator = &context.state.authenticator;
    let is_listed = author.is_listed || authenticator.lists_all();
    let counts = standing::ended(context, &user, author.time, is_listed).is_none();
    (author.has_made(from, now) && counts).then_some(user)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn author(before: Revision, after: Revision, name: &str) -> Author {
        Author { before, after, time: 100, user: json!({"username": name}), is_listed: false }
    }

    #[test]
    fn an_author_has_made_all_changes_since_a_revision() {
        let ann = author(0, 3, "ann");
        assert!(ann.has_made(0, 3) && ann.has_made(2, 3));
        // The store was changed in another way.
        assert!(!ann.has_made(2, 4) && !ann.has_made(3, 3));
        let more = ann.clone().followed(author(3, 5, "ann"));
        assert_eq!(more, author(0, 5, "ann"));
        // A change of somebody else does not hide the one before.
        let eve = more.clone().followed(author(5, 6, "eve"));
        assert_eq!(eve, author(5, 6, "eve"));
        let again = eve.followed(author(6, 7, "ann"));
        assert!(again.has_made(6, 7) && !again.has_made(5, 7) && !again.has_made(3, 7));
        // A change of an unknown user lies between, or it is another Template.
        assert_eq!(ann.clone().followed(author(4, 8, "ann")), author(4, 8, "ann"));
        let created = author(0, 0, "ann").followed(author(0, 9, "ann"));
        assert_eq!(created, author(0, 9, "ann"));
    }
}
