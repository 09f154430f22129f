//! One watch of all keys, which resumes where it ended.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use etcd_client::{EventType, KeyValue, WatchOptions, WatchResponse};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};

use super::answers::Failure;
use super::members::{Member, Members, pause};
use crate::store::feed::{Feed, KeyChange};
use crate::store::record::Record;
use crate::store::types::{Error, Item, Revision};

/// The maximum size of a message, in bytes. etcd splits larger ones at 2 MiB or at an event, which
/// has at most two values.
const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// The interval between checks whether the feed is still read.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);

/// The reason why a watch of etcd ended.
enum End {
    /// Nobody reads the feed any more.
    Unused,
    /// The revision to resume from has been compacted.
    Compacted(Revision),
    /// The member failed, or another one is in use.
    Lost,
}

/// Pushes all changes of keys under the prefix and a slash to the feed, as long as it is in use.
pub(super) async fn follow(members: Arc<Members>, prefix: String, feed: Weak<Feed>) {
    let mut rounds = 0;
    loop {
        let Ok(member) = members.member().await else {
            // For example, a file is missing. The next round tries again.
            sleep(LOOK_INTERVAL).await;
            if feed.strong_count() == 0 {
                return;
            }
            continue;
        };
        let (connection, begin) = (member.connection, Instant::now());
        match watch(member, &members, &prefix, &feed).await {
            End::Unused => return,
            End::Compacted(revision) => {
                if let Some(feed) = feed.upgrade() {
                    feed.end(Error::Compacted(revision));
                }
                return;
            }
            End::Lost => members.failed(connection).await,
        }
        // Members that answer reads can refuse watches.
        rounds = if begin.elapsed() > LOOK_INTERVAL { 0 } else { rounds + 1 };
        sleep(pause(rounds)).await;
    }
}

async fn watch(member: Member, members: &Members, prefix: &str, feed: &Weak<Feed>) -> End {
    let Some(after) = feed.upgrade().filter(|feed| !feed.has_ended()).map(|feed| feed.revision())
    else {
        return End::Unused;
    };
    let mut connections = members.connections();
    if let Some(newest) = restored(&member, prefix, after).await {
        return End::Compacted(newest);
    }
    let options = WatchOptions::new()
        .with_prefix()
        .with_start_revision(i64::try_from(after + 1).unwrap_or(i64::MAX))
        .with_prev_key()
        .with_progress_notify()
        .with_fragment();
    let mut client = member.client.watch_client().max_decoding_message_size(MAX_MESSAGE_BYTES);
    let mut look = interval(LOOK_INTERVAL);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    look.reset();
    let started = timeout(LOOK_INTERVAL, client.watch(format!("{prefix}/"), Some(options))).await;
    let Ok(Ok(mut stream)) = started else {
        return End::Lost;
    };
    while *connections.borrow_and_update() == member.connection {
        tokio::select! {
            message = stream.message() => {
                let end = match message {
                    Ok(Some(response)) => take(&response, prefix, feed),
                    Ok(None) => Some(End::Lost),
                    Err(error) => Some(lost(&Failure::of(&error))),
                };
                if let Some(end) = end {
                    return end;
                }
            }
            _ = connections.changed() => {}
            _ = look.tick() => {
                if feed.upgrade().is_none_or(|feed| feed.has_ended()) {
                    return End::Unused;
                }
            }
        }
    }
    End::Lost
}

/// Returns the newest revision if it is older than one that was seen: etcd was restored from a
/// backup, and would send no event up to that revision.
async fn restored(member: &Member, prefix: &str, seen: Revision) -> Option<Revision> {
    let mut client = member.client.kv_client();
    let read = timeout(LOOK_INTERVAL, client.get(prefix, None)).await;
    let newest = number(read.ok()?.ok()?.header()?.revision());
    (newest < seen).then_some(newest)
}

/// Logs the end of a watch. Messages of etcd contain no keys or values, so no secrets.
fn lost(failure: &Failure) -> End {
    tracing::debug!(?failure, "a watch of etcd ended");
    End::Lost
}

/// Pushes the changes of one message. Returns the reason if the watch must end.
fn take(response: &WatchResponse, prefix: &str, feed: &Weak<Feed>) -> Option<End> {
    let Some(feed) = feed.upgrade() else {
        return Some(End::Unused);
    };
    let newest = response.header().map_or(0, |header| number(header.revision()));
    if response.compact_revision() > 0 {
        return Some(End::Compacted(newest));
    }
    if response.canceled() {
        return Some(End::Lost);
    }
    // The revision in the creation message is not progress: old events may follow.
    if response.events().is_empty() && !response.created() {
        feed.push([], newest);
        return None;
    }
    let mut changes = Vec::new();
    for event in response.events() {
        let Some(now) = event.kv() else { continue };
        // Not one of our keys, which are UTF-8 under the prefix.
        let Some(key) = key_of(now, prefix) else {
            continue;
        };
        // Only the value before may be damaged: then it is empty, as in a file.
        let before = event.prev_kv();
        let before = before.map(|before| value_of(key, before.value()).unwrap_or_default());
        let is_put = event.event_type() == EventType::Put;
        let value = is_put.then(|| value_of(key, now.value()));
        let Some(value) = value.unwrap_or_else(|| Some(Bytes::new())) else {
            return Some(End::Compacted(newest));
        };
        let item = Item { key: key.to_owned(), value, revision: number(now.mod_revision()) };
        changes.push(match (event.event_type(), before) {
            (EventType::Put, None) if now.version() > 1 => return Some(End::Compacted(newest)),
            (EventType::Put, before) => KeyChange::Put(item, before),
            (EventType::Delete, Some(value)) => KeyChange::Delete(Item { value, ..item }),
            (EventType::Delete, None) => return Some(End::Compacted(newest)),
        });
    }
    if let Some(last) = changes.last().map(|change| change.item().revision) {
        feed.push(changes, last);
    }
    None
}

/// Converts a key-value pair of etcd to an item, or returns `None` if its key is not under the
/// prefix.
pub(super) fn item_of(pair: &KeyValue, prefix: &str) -> Option<Result<Item, Error>> {
    let key = key_of(pair, prefix)?.to_owned();
    let revision = number(pair.mod_revision());
    Some(match value_of(&key, pair.value()) {
        Some(value) => Ok(Item { key, value, revision }),
        None => Err(Error::Damaged { key, revision }),
    })
}

fn key_of<'p>(pair: &'p KeyValue, prefix: &str) -> Option<&'p str> {
    pair.key_str().ok()?.strip_prefix(prefix)
}

/// Returns the value in a record, or `None` if it is damaged.
fn value_of(key: &str, bytes: &[u8]) -> Option<Bytes> {
    let record = Record::decode(bytes).filter(|record| record.key == key)?;
    Some(Bytes::copy_from_slice(record.value))
}

/// Converts a revision of etcd.
pub(super) fn number(revision: i64) -> Revision {
    u64::try_from(revision).unwrap_or(0)
}
