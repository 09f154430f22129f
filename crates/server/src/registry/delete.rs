//! Deletion of an object or a collection of objects.

use serde_json::json;

use super::list::{self, Found, Items};
use crate::api::{Call, render, resource_request};
use crate::codec::Stored;
use crate::http::Answer;
use crate::instances::{authors, deleter};
use crate::request::{DeleteOptions, ListOptions, ResponseFormat, Scope};
use crate::validation::object_meta;
use krm_template_server_core::{Group, Item, Kind, Result, Revision, Status, store::Error};

/// The maximum number of attempts to delete an object that other clients modify.
const ATTEMPTS: usize = 5;

/// Deletes an object, or marks it for deletion if it has finalizers.
pub(crate) async fn delete(call: &Call<'_>, name: &str) -> Result<Answer> {
    let shown = call.shown(Scope::One)?;
    let options = self::options(call).await?;
    let (stored, revision) = match remove(call, name, &options).await {
        Ok(removed) => removed,
        Err(status) if status.code == 500 => return damaged(call, name, &options, status).await,
        Err(status) => return Err(status),
    };
    let is_whole = (call.group, call.kind) == (Group::OpenShift, Kind::Template);
    if is_whole || stored.draft(revision).finalizers().next().is_some() {
        return Ok(render::object(call, 200, shown, &stored, revision).await);
    }
    Ok(deleted(call, name, shown, stored.uid()))
}

/// Deletes an object that cannot be read. Nothing is known of its finalizers, and a precondition
/// cannot be checked.
async fn damaged(
    call: &Call<'_>,
    name: &str,
    options: &DeleteOptions,
    status: Box<Status>,
) -> Result<Answer> {
    let store = &call.state.store;
    let revision = match store.get(&call.key(name)).await {
        Err(Error::Damaged { revision, .. }) => revision,
        Ok(Some(item)) if Stored::decode(&item.value).is_err() => item.revision,
        _ => return Err(status),
    };
    if options.uid.is_some() || options.resource_version.is_some() {
        return Err(status);
    }
    if !options.dry_run {
        let removed = store.delete(&call.key(name), revision).await;
        removed.map_err(|error| call.refused(name, &error))?;
        authors::forget(call, name).await;
    }
    Ok(deleted(call, name, call.shown(Scope::One)?, ""))
}

/// Creates the response to the deletion of an object.
fn deleted(call: &Call<'_>, name: &str, shown: ResponseFormat, uid: &str) -> Answer {
    let status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {
            "name": name,
            "group": call.group.name(),
            "kind": call.kind.resource(),
            "uid": uid,
        },
    });
    let mut text = status.to_string().into_bytes();
    text.push(b'\n');
    render::finished(200, shown, text)
}

/// Deletes all selected objects and responds with a list of them.
pub(crate) async fn delete_collection(call: &Call<'_>) -> Result<Answer> {
    let shown = call.shown(Scope::List)?;
    let options = ListOptions::parse(call.query, call.group)?;
    let deletion = self::options(call).await?;
    let Found { meta, mut items } = list::read(call, &options).await?;
    let mut deleted = Vec::new();
    while let Some((stored, _)) = items.next().await? {
        match remove(call, stored.name(), &deletion).await {
            Ok((last, revision)) => deleted.push(Item {
                key: call.key(last.name()),
                value: last.bytes().clone(),
                revision,
            }),
            // Another client has deleted it.
            Err(status) if status.code == 404 => {}
            Err(status) => return Err(status),
        }
    }
    let items = Items::new(deleted);
    list::respond(call, shown, Found { meta, items }).await
}

async fn options(call: &Call<'_>) -> Result<DeleteOptions> {
    let parse = || DeleteOptions::parse(call.query, call.content_type(), &call.body);
    call.work(call.body.len(), parse).await
}

/// Deletes an object, or marks it for deletion if it has finalizers. Returns its last state.
async fn remove(
    call: &Call<'_>,
    name: &str,
    options: &DeleteOptions,
) -> Result<(Stored, Revision)> {
    for _ in 0..ATTEMPTS {
        let current = call.found(name).await?;
        let stored = resource_request::stored(&current)?;
        check(call, name, &stored, current.revision, options)?;
        let mut draft = stored.draft(current.revision);
        // Without a kube-apiserver, no garbage collector would remove the finalizer.
        let is_changed = call.state.is_aggregated
            && object_meta::choose_dependents(&mut draft, options.dependents);
        let has_finalizers = draft.finalizers().next().is_some();
        let is_instance = call.kind == Kind::Instance && call.state.installs();
        if has_finalizers && is_instance && !options.dry_run {
            deleter::note(call, name, stored.uid()).await?;
        }
        if has_finalizers && draft.is_being_deleted() && !is_changed {
            return Ok((stored, current.revision));
        }
        let (stored, value) = if has_finalizers {
            object_meta::delete(&mut draft, call.now);
            let marked = call.encoded(&draft)?;
            let value = marked.bytes().clone();
            (marked, Some(value))
        } else {
            (stored, None)
        };
        let Item { key, revision, .. } = current;
        let store = &call.state.store;
        let written = match (options.dry_run, value) {
            (true, _) => Ok(revision),
            (false, Some(value)) => store.update(&key, value, revision).await,
            // The response has the object as it was before.
            (false, None) => {
                authors::forget(call, name).await;
                store.delete(&key, revision).await.map(|_| revision)
            }
        };
        match written {
            Ok(revision) => return Ok((stored, revision)),
            Err(Error::Stale(_)) => {}
            Err(error) => return Err(call.refused(name, &error)),
        }
    }
    Err(call.modified(name))
}

/// Checks the preconditions of a deletion.
///
/// Source of the messages: `BeforeDelete` of `k8s.io/apiserver/pkg/registry/rest`.
fn check(
    call: &Call<'_>,
    name: &str,
    stored: &Stored,
    revision: Revision,
    options: &DeleteOptions,
) -> Result<()> {
    if let Some(uid) = &options.uid
        && uid != stored.uid()
    {
        let found = stored.uid();
        let why = format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({found}). \
             The object might have been deleted and then recreated"
        );
        return Err(Status::conflict(call.group.name(), call.kind.name(), name, &why));
    }
    if let Some(expected) = &options.resource_version
        && *expected != revision.to_string()
    {
        let why = format!(
            "the ResourceVersion in the precondition ({expected}) does not match the \
             ResourceVersion in record ({revision}). The object might have been modified"
        );
        return Err(Status::conflict(call.group.name(), call.kind.name(), name, &why));
    }
    Ok(())
}
