//! The user who deletes an instance: its objects are deleted with their permissions if the requester
//! may not do it.
#![cfg_attr(
    not(feature = "deployments"),
    expect(dead_code, reason = "without a cluster, instances are only expanded")
)]

use serde_json::{Value, json};

use super::record::{Context, Instance, Stop, beside, unavailable};
use crate::object::instance;
use crate::serve::call::Call;
use krm_template_server_core::auth::User;
use krm_template_server_core::status::Result as Answered;
use krm_template_server_core::store::Error;

/// The resource in the keys of the store.
const KEYS: &str = "instancedeleters";

/// Records the user of a request that deletes an instance, before the instance is marked.
pub(in crate::serve) async fn note(call: &Call<'_>, name: &str, uid: &str) -> Answered<()> {
    let store = &call.state.store;
    let key = beside(call.group, KEYS, call.namespace, name);
    let deleter = json!({"uid": uid, "user": instance::requester(call.user)});
    let bytes = deleter.to_string();
    let found = store.get(&key).await;
    let written = match found.map_err(|error| call.refused(name, &error))? {
        Some(item) => store.update(&key, bytes.into(), item.revision).await,
        None => store.create(&key, bytes.into()).await,
    };
    match written {
        // Another deletion at the same time has written its user.
        Ok(_) | Err(Error::Stale(_) | Error::Exists | Error::Missing) => Ok(()),
        Err(error) => Err(call.refused(name, &error)),
    }
}

/// Returns the user who deletes an instance, if it is recorded.
pub(super) async fn of(context: &Context, instance: &Instance) -> Result<Option<User>, Stop> {
    let item = context.state.store.get(&instance.beside(KEYS)).await;
    let item = item.map_err(|error| unavailable(&error))?;
    let deleter = item.and_then(|item| serde_json::from_slice::<Value>(&item.value).ok());
    let deleter =
        deleter.filter(|one| one.get("uid").and_then(Value::as_str) == Some(instance.uid.as_str()));
    Ok(deleter
        .and_then(|one| instance::user(one.get("user")?))
        .map(super::record::without_tokens))
}

/// Deletes the record.
pub(super) async fn forget(context: &Context, instance: &Instance) -> Result<(), Stop> {
    let store = &context.state.store;
    let item = store.get(&instance.beside(KEYS)).await;
    let Some(item) = item.map_err(|error| unavailable(&error))? else {
        return Ok(());
    };
    match store.delete(&item.key, item.revision).await {
        Ok(_) | Err(Error::Missing | Error::Stale(_)) => Ok(()),
        Err(error) => Err(unavailable(&error)),
    }
}
