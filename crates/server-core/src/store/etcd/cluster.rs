//! Reads, writes and watches of an etcd cluster.

use std::sync::{Arc, Mutex as Lock, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use etcd_client::{
    Compare, CompareOp, GetOptions, GetResponse, KvClient, Txn, TxnOp, TxnOpResponse, TxnResponse,
};
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use super::answers::Failure;
use super::follow::{follow, item_of, number};
use super::members::{EtcdOptions, Members};
use crate::store::feed::{Feed, Watch};
use crate::store::objects::Write;
use crate::store::record::Record;
use crate::store::types::{Error, Item, Page, Revision};

/// How long a read is retried on other members.
const READ_PATIENCE: Duration = Duration::from_secs(8);
/// The timeout of a read on one member.
const READ_ATTEMPT: Duration = Duration::from_secs(2);
/// How long a write that reaches no member is retried on other members.
const WRITE_PATIENCE: Duration = Duration::from_secs(8);
/// The timeout of a write on one member.
const WRITE_ATTEMPT: Duration = Duration::from_secs(5);
/// How long a store stays ready without a response from a quorum.
const READY_PATIENCE: Duration = Duration::from_secs(10);
/// The age up to which a response from a quorum proves that the store is ready.
const READY_AGE: Duration = Duration::from_secs(1);

/// The number of items in a page; fewer if they are large.
const PAGE: usize = 500;
/// The maximum size of a response, in bytes. [`MIN_PAGE`] items of the maximum size fit.
const MAX_ANSWER_BYTES: usize = 16 << 20;
const MIN_PAGE: usize = 8;

/// The size from which a list with a limit ends early, in bytes.
const LIST_BYTES: usize = 4 << 20;

/// The maximum number of feeds: each one starts at an older revision than the one before it.
const MAX_FEEDS: usize = 4;

/// A store in an etcd cluster. Clones share the connection and the watches.
#[derive(Clone, Debug)]
pub(in crate::store) struct Etcd(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    members: Arc<Members>,
    /// The prefix without a trailing slash: all keys begin with a slash.
    prefix: String,
    feeds: Lock<Feeds>,
    /// Held while a feed is created.
    making: Mutex<()>,
}

#[derive(Debug, Default)]
struct Feeds {
    /// The feed of new watches, if it reaches back far enough.
    newest: Option<Arc<Feed>>,
    all: Vec<Weak<Feed>>,
}

impl Etcd {
    pub(in crate::store) async fn new(options: EtcdOptions) -> Result<Self, Error> {
        let prefix = options.prefix.trim_end_matches('/').to_owned();
        let members = Arc::new(Members::new(options).await?);
        let (feeds, making) = (Lock::default(), Mutex::new(()));
        Ok(Self(Arc::new(Shared { members, prefix, feeds, making })))
    }

    pub(in crate::store) async fn get(&self, key: &str) -> Result<Option<Item>, Error> {
        let response = self.range(&self.key(key), None).await;
        let response = response.map_err(|failure| unavailable(failure.why()))?;
        self.item(&response).transpose()
    }

    pub(in crate::store) async fn revision(&self) -> Result<Revision, Error> {
        // The prefix itself is not a key.
        let response = self.range(&self.0.prefix, None).await;
        let response = response.map_err(|failure| unavailable(failure.why()))?;
        Ok(revision_of(&response))
    }

    pub(in crate::store) async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
        at: Option<Revision>,
    ) -> Result<Page, Error> {
        let prefix = if prefix.is_empty() { "/" } else { prefix };
        let mut start = match after {
            Some(after) if after >= prefix => self.key(after) + "\0",
            _ => self.key(prefix),
        };
        let end = end_of(&self.key(prefix));
        let (mut at, mut together) = (at, PAGE);
        let (mut items, mut damaged) = (Vec::new(), Vec::new());
        loop {
            let missing = if limit == 0 { together } else { (limit - items.len()).min(together) };
            let mut options = GetOptions::new()
                .with_range(end.clone())
                .with_limit(i64::try_from(missing).unwrap_or(i64::MAX));
            if let Some(at) = at.filter(|&at| at > 0) {
                options = options.with_revision(signed(at));
            }
            let response = match self.range(&start, Some(options)).await {
                Ok(response) => response,
                Err(Failure::TooMuch) if together > MIN_PAGE => {
                    together = (together / 8).max(MIN_PAGE);
                    continue;
                }
                Err(Failure::Compacted) => return Err(Error::Compacted(self.revision().await?)),
                Err(Failure::Future) => return Err(Error::Future(self.revision().await?)),
                Err(failure) => return Err(unavailable(failure.why())),
            };
            let revision = *at.get_or_insert_with(|| revision_of(&response));
            let pairs = response.kvs();
            for item in pairs.iter().filter_map(|pair| item_of(pair, &self.0.prefix)) {
                match item {
                    Ok(item) => items.push(item),
                    Err(Error::Damaged { key, .. }) => damaged.push(key),
                    Err(error) => return Err(error),
                }
            }
            let remaining = number(response.count()).saturating_sub(pairs.len() as u64);
            let bytes: usize = items.iter().map(|item: &Item| item.value.len()).sum();
            let is_full = limit > 0 && (items.len() >= limit || bytes >= LIST_BYTES);
            match pairs.last().and_then(|pair| pair.key_str().ok()) {
                Some(last) if remaining > 0 && !is_full => start = format!("{last}\0"),
                _ => {
                    return Ok(Page { items, damaged, revision, remaining });
                }
            }
        }
    }

    pub(in crate::store) async fn write(&self, write: Write) -> Result<Revision, Error> {
        let txn = self.txn(&write);
        let sent = timeout(WRITE_PATIENCE, self.send(&txn)).await;
        let sent = sent.unwrap_or_else(|_| Err(Failure::Unknown("no member answers".to_owned())));
        match sent {
            Ok(response) => self.outcome(&write, &response),
            Err(Failure::Unknown(why)) => self.read_back(&write, why).await,
            Err(failure) => Err(unavailable(failure.why())),
        }
    }

    pub(in crate::store) async fn watch(
        &self,
        prefix: &str,
        after: Revision,
    ) -> Result<Watch, Error> {
        if let Some(watch) = self.subscribe(prefix, after) {
            return Ok(watch);
        }
        let _alone = self.0.making.lock().await;
        if let Some(watch) = self.subscribe(prefix, after) {
            return Ok(watch);
        }
        let now = self.revision().await?;
        let start = after.min(now);
        self.check_known(start, now).await?;
        let feed = Arc::new(Feed::new(start));
        let mut feeds = self.feeds();
        feeds.all.retain(|feed| feed.strong_count() > 0);
        if feeds.all.len() >= MAX_FEEDS {
            return Err(Error::Compacted(now));
        }
        feeds.all.push(Arc::downgrade(&feed));
        let (members, prefix_of_all) = (Arc::clone(&self.0.members), self.0.prefix.clone());
        tokio::spawn(follow(members, prefix_of_all, Arc::downgrade(&feed)));
        let watch = feed.watch(prefix, after);
        feeds.newest = Some(feed);
        watch
    }

    pub(in crate::store) async fn ready(&self) -> Result<(), Error> {
        let members = &self.0.members;
        if members.since_last_quorum().is_some_and(|time| time < READY_AGE) {
            return Ok(());
        }
        let read = timeout(READ_ATTEMPT, self.revision()).await;
        let why = match read {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error,
            Err(_) => unavailable("no member answers"),
        };
        let is_recent = members.since_last_quorum().is_some_and(|time| time < READY_PATIENCE);
        if is_recent { Ok(()) } else { Err(why) }
    }

    pub(in crate::store) fn close(&self) {
        let mut feeds = self.feeds();
        feeds.newest = None;
        for feed in feeds.all.iter().filter_map(Weak::upgrade) {
            feed.end(unavailable("the store is closed"));
        }
    }

    /// Returns a watch of the newest feed, if the feed reaches back to the revision.
    fn subscribe(&self, prefix: &str, after: Revision) -> Option<Watch> {
        self.feeds().newest.as_ref().and_then(|feed| feed.watch(prefix, after).ok())
    }

    /// Checks that etcd still has all changes after a revision, and the values before them.
    async fn check_known(&self, after: Revision, now: Revision) -> Result<(), Error> {
        let options = GetOptions::new().with_revision(signed(after.max(1)));
        match self.range(&self.0.prefix, Some(options)).await {
            Ok(_) => Ok(()),
            Err(Failure::Compacted) => Err(Error::Compacted(now)),
            Err(failure) => Err(unavailable(failure.why())),
        }
    }

    /// Performs a linearizable read on the first member that answers.
    async fn range(&self, key: &str, options: Option<GetOptions>) -> Result<GetResponse, Failure> {
        let mut last = "no member answers".to_owned();
        let reading = async {
            loop {
                let member = match self.0.members.member().await {
                    Ok(member) => member,
                    Err(why) => return Err(Failure::Refused(why)),
                };
                let mut client = limited(member.client.kv_client());
                let read = client.get(key, options.clone());
                let failure = match timeout(READ_ATTEMPT, read).await {
                    Ok(Ok(response)) => {
                        self.0.members.succeeded();
                        return Ok(response);
                    }
                    Ok(Err(error)) => Failure::of(&error),
                    Err(_) => Failure::Unknown("a member does not answer".to_owned()),
                };
                match failure {
                    Failure::NotSent(why) | Failure::Unknown(why) => last = why,
                    failure => return Err(failure),
                }
                self.0.members.failed(member.connection).await;
            }
        };
        let read = timeout(READ_PATIENCE, reading).await;
        read.unwrap_or(Err(Failure::Unknown(last)))
    }

    /// Sends a write, and retries it only if it did not reach the cluster.
    async fn send(&self, txn: &Txn) -> Result<TxnResponse, Failure> {
        loop {
            let member = self.0.members.member().await;
            let member = member.map_err(Failure::Refused)?;
            let mut client = limited(member.client.kv_client());
            let failure = match timeout(WRITE_ATTEMPT, client.txn(txn.clone())).await {
                Ok(Ok(response)) => {
                    self.0.members.succeeded();
                    return Ok(response);
                }
                Ok(Err(error)) => Failure::of(&error),
                Err(_) => Failure::Unknown("a member does not answer".to_owned()),
            };
            if matches!(failure, Failure::NotSent(_) | Failure::Unknown(_)) {
                self.0.members.failed(member.connection).await;
            }
            match failure {
                Failure::NotSent(_) => sleep(Duration::from_millis(10)).await,
                failure => return Err(failure),
            }
        }
    }

    /// Builds a transaction that writes if the key has the expected revision, and otherwise reads
    /// the key.
    fn txn(&self, write: &Write) -> Txn {
        let key = self.key(write.key());
        let record = |value| Record::in_etcd(write.key(), value).encode();
        // A key that does not exist has the revision 0, so 0 must never match.
        let expect = |revision: Revision| match revision {
            0 => i64::MAX,
            revision => signed(revision),
        };
        let (compare, operation) = match write {
            Write::Create(_, value) => (
                Compare::create_revision(key.clone(), CompareOp::Equal, 0),
                TxnOp::put(key.clone(), record(value), None),
            ),
            Write::Update(_, value, expected) => (
                Compare::mod_revision(key.clone(), CompareOp::Equal, expect(*expected)),
                TxnOp::put(key.clone(), record(value), None),
            ),
            Write::Delete(_, expected) => (
                Compare::mod_revision(key.clone(), CompareOp::Equal, expect(*expected)),
                TxnOp::delete(key.clone(), None),
            ),
        };
        Txn::new().when([compare]).and_then([operation]).or_else([TxnOp::get(key, None)])
    }

    fn outcome(&self, write: &Write, response: &TxnResponse) -> Result<Revision, Error> {
        if response.succeeded() {
            return Ok(response.header().map_or(0, |header| number(header.revision())));
        }
        let now = response.op_responses().into_iter().find_map(|response| match response {
            TxnOpResponse::Get(response) => self.item(&response),
            _ => None,
        });
        Err(match (write, now) {
            (Write::Create(..), _) => Error::Exists,
            (_, None) => Error::Missing,
            (_, Some(Ok(item))) => Error::Stale(item),
            (_, Some(Err(error))) => error,
        })
    }

    /// Checks whether a write without a response was executed: the key then has its value, at a
    /// later revision than the expected one.
    async fn read_back(&self, write: &Write, why: String) -> Result<Revision, Error> {
        let unknown = || unavailable(format!("the outcome of the write is unknown: {why}"));
        let (value, expected): (&Bytes, _) = match write {
            Write::Create(_, value) => (value, 0),
            Write::Update(_, value, expected) => (value, *expected),
            // Another client may have deleted the item.
            Write::Delete(..) => return Err(unknown()),
        };
        match self.get(write.key()).await {
            Ok(Some(item)) if item.revision > expected && item.value == value => Ok(item.revision),
            _ => Err(unknown()),
        }
    }

    fn item(&self, response: &GetResponse) -> Option<Result<Item, Error>> {
        response.kvs().first().and_then(|pair| item_of(pair, &self.0.prefix))
    }

    /// Returns the key in etcd.
    fn key(&self, key: &str) -> String {
        format!("{}{key}", self.0.prefix)
    }

    fn feeds(&self) -> MutexGuard<'_, Feeds> {
        self.0.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn limited(client: KvClient) -> KvClient {
    client.max_decoding_message_size(MAX_ANSWER_BYTES)
}

fn unavailable(why: impl Into<String>) -> Error {
    Error::Unavailable(format!("etcd: {}", why.into()))
}

fn revision_of(response: &GetResponse) -> Revision {
    response.header().map_or(0, |header| number(header.revision()))
}

fn signed(revision: Revision) -> i64 {
    i64::try_from(revision).unwrap_or(i64::MAX)
}

/// Returns the first key after the keys with a prefix.
fn end_of(prefix: &str) -> Vec<u8> {
    let mut end = prefix.as_bytes().to_vec();
    // No byte of UTF-8 is 0xFF, so this does not overflow.
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    end
}
