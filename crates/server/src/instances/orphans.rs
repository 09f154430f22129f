//! Records of instances that are gone: they are deleted with them, also when somebody removed a
//! finalizer by hand. A new instance with the same name has another uid and keeps its own.

use std::collections::BTreeMap;

use serde_json::Value;

use super::store::{beside, prefix};
use crate::codec::Stored;
use krm_template_server_core::{Group, Item, Measured, store::Error};

/// The resources of what is stored beside an instance. Each record has its uid.
const BESIDE: [&str; 3] = ["instanceplans", "instancerevisions", "instancedeleters"];

/// The number of records that are read at once.
const PAGE: usize = 500;

/// Deletes what is stored beside an instance that is gone.
pub(super) async fn forget(
    store: &Measured,
    (group, namespace, name): (Group, &str, &str),
    uid: &str,
) -> Result<(), Error> {
    for what in BESIDE {
        let key = beside(group, what, namespace, name);
        let mut items = store.list(&format!("{key}/"), None, 0, None).await?.items;
        items.extend(store.get(&key).await?);
        for item in items.iter().filter(|item| uid_of(item).as_deref() == Some(uid)) {
            delete(store, item).await?;
        }
    }
    Ok(())
}

/// Deletes what is stored beside instances of a group that are gone. `known` are the uids of those
/// that were there a moment ago.
pub(super) async fn sweep(
    store: &Measured,
    group: Group,
    known: &BTreeMap<String, String>,
) -> Result<(), Error> {
    for what in BESIDE {
        let prefix = format!("/{}/{what}/", group.name());
        let mut after = None;
        loop {
            let page = store.list(&prefix, after.as_deref(), PAGE, None).await?;
            for item in &page.items {
                let key = instance_of(group, item.key.strip_prefix(&prefix).unwrap_or_default());
                let uid = uid_of(item);
                let is_known = known.get(&key).is_some_and(|known| Some(known) == uid.as_ref());
                if !is_known && !exists(store, &key, uid.as_deref()).await? {
                    delete(store, item).await?;
                }
            }
            match page.items.last() {
                Some(last) if page.remaining > 0 => after = Some(last.key.clone()),
                _ => break,
            }
        }
    }
    Ok(())
}

/// Returns the key of the instance of a record, from the end of the record's key.
fn instance_of(group: Group, rest: &str) -> String {
    let mut parts = rest.split('/');
    let (namespace, name) = (parts.next(), parts.next());
    let prefix = prefix(group);
    format!("{prefix}{}/{}", namespace.unwrap_or_default(), name.unwrap_or_default())
}

fn uid_of(item: &Item) -> Option<String> {
    let record = serde_json::from_slice::<Value>(&item.value).ok()?;
    Some(record.get("uid")?.as_str()?.to_owned())
}

/// Returns `true` if an instance exists, also if it cannot be read. Without a uid, any counts.
async fn exists(store: &Measured, key: &str, uid: Option<&str>) -> Result<bool, Error> {
    match store.get(key).await {
        Ok(None) => Ok(false),
        Ok(Some(item)) => Ok(Stored::decode(&item.value)
            .map_or(true, |stored| uid.is_none_or(|uid| uid == stored.uid()))),
        Err(Error::Damaged { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

async fn delete(store: &Measured, item: &Item) -> Result<(), Error> {
    match store.delete(&item.key, item.revision).await {
        Ok(_) | Err(Error::Missing | Error::Stale(_)) => Ok(()),
        Err(error) => Err(error),
    }
}
