//! Watches of stored Templates: a stream of events, one JSON document on each line.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::list;
use super::list::{Items, matches};
use crate::api::Call;
use crate::codec::encode::{ListMeta, Table};
use crate::codec::{Stored, encode as write};
use crate::http::{Answer, Body, JSON, compression::Unbuffered, response};
use crate::request::{
    At, Include, ListOptions, ResponseFormat, Scope, Selectors, Shape, WatchOptions,
    list_options::Start,
};
use krm_template_server_core::store::{Error, Event, Watch};
use krm_template_server_core::{
    Class, Group, Item, Metrics, Permit, Phase, Result, Revision, Shutdown, Status, groups,
};

const BOOKMARKS: Duration = Duration::from_mins(1);

/// The time between the last bookmark and the end of the watch. It is also the minimum time
/// before that bookmark.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);

/// The minimum lifetime of a watch without `timeoutSeconds`. The maximum is twice as long.
///
/// Source: `--min-request-timeout` of kube-apiserver.
const LIFE: Duration = Duration::from_mins(30);

/// The annotation of the bookmark that ends the initial events of a watch.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

pub(crate) async fn watch(call: &Call<'_>) -> Result<Answer> {
    let shown = call.shown(Scope::Watch)?;
    let options = WatchOptions::parse(call.query, call.group)?;
    let permit = call.state.admission.enter(Class::Watch)?;
    let life = match options.timeout_seconds {
        Some(seconds) => Duration::from_secs(seconds).min(LIFE * 2),
        None => random_life()?,
    };
    let now = Instant::now();
    let end = now + life;
    let mut events = Events {
        group: call.group,
        kind: call.kind,
        prefix: call.prefix(),
        shown,
        selectors: options.selectors.clone(),
        initial: None,
        ready: VecDeque::new(),
        changes: None,
        has_columns: false,
        bookmark: options.bookmarks.then(|| next_bookmark(now, end)),
        end,
        shutdown: call.state.shutdown.clone(),
        metrics: Arc::clone(&call.state.metrics),
        _permit: permit,
    };
    let warning = events.open(call, &options).await?;
    let mut answer = response::with_body(200, JSON, events.into_body());
    answer.extensions_mut().insert(Unbuffered);
    response::warn(&mut answer, warning.as_slice());
    Ok(answer)
}

/// The event stream of a watch.
struct Events {
    group: Group,
    kind: groups::Kind,
    prefix: String,
    shown: ResponseFormat,
    selectors: Selectors,
    /// The objects at the start of the watch that have not been sent yet.
    initial: Option<Initial>,
    /// Lines that have not been sent yet.
    ready: VecDeque<Bytes>,
    /// The changes from the store; `None` after an error.
    changes: Option<Watch>,
    /// Whether a Table with column definitions has been sent.
    has_columns: bool,
    /// When to send the next bookmark; `None` to send none.
    bookmark: Option<Instant>,
    end: Instant,
    shutdown: Shutdown,
    metrics: Arc<Metrics>,
    _permit: Permit,
}

/// The objects at the start of a watch.
struct Initial {
    items: Items,
    /// The revision of the bookmark after them, if there is one.
    bookmark: Option<Revision>,
}

/// The type of an event about an object.
#[derive(Clone, Copy)]
enum Kind {
    Added,
    Modified,
    Deleted,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

impl Events {
    /// Queues the initial events and opens the watch of the store. Returns a warning, if objects
    /// are left out.
    async fn open(&mut self, call: &Call<'_>, options: &WatchOptions) -> Result<Option<String>> {
        let mut warning = None;
        let after = match options.start {
            Start::After(revision) => {
                let newest = call.newest(revision).await?;
                if newest < revision {
                    self.expire_future(revision, newest);
                    return Ok(None);
                }
                revision
            }
            Start::Now => {
                let revision = call.state.store.revision().await;
                revision.map_err(|error| call.refused("", &error))?
            }
            Start::State(oldest) => {
                let (revision, left_out) = self.all(call, oldest, options.bookmarks).await?;
                warning = left_out;
                revision
            }
        };
        match call.state.store.watch(&self.prefix, after).await {
            Ok(changes) => self.changes = Some(changes),
            Err(Error::Compacted(oldest)) => {
                self.initial = None;
                self.expire(after, oldest);
            }
            Err(error) => return Err(call.refused("", &error)),
        }
        Ok(warning)
    }

    /// Begins with an `ADDED` event for each object. Returns the revision of the list, and a warning
    /// if objects are left out.
    async fn all(
        &mut self,
        call: &Call<'_>,
        oldest: Revision,
        bookmarks: bool,
    ) -> Result<(Revision, Option<String>)> {
        let options = ListOptions {
            selectors: self.selectors.clone(),
            limit: None,
            at: At::NotOlderThan(oldest),
            after: None,
        };
        let found = list::read(call, &options).await?;
        let revision = found.meta.revision;
        let warning = found.items.warning();
        self.initial =
            Some(Initial { items: found.items, bookmark: bookmarks.then_some(revision) });
        Ok((revision, warning))
    }

    fn is_selected(&self, stored: &Stored) -> bool {
        matches(&self.selectors, stored)
    }

    fn into_body(self) -> Body {
        let lines = stream::try_unfold(self, |mut events| async move {
            let line = events.next().await?;
            Ok::<_, io::Error>(line.map(|line| (Frame::data(line), events)))
        });
        StreamBody::new(lines).boxed_unsync()
    }

    /// Queues the event of the next object at the start of the watch.
    async fn begin(&mut self, mut initial: Initial) -> io::Result<()> {
        let next = initial.items.next().await;
        match next.map_err(|status| io::Error::other(status.message))? {
            Some((stored, revision)) => {
                self.send(Kind::Added, &stored, revision);
                self.initial = Some(initial);
            }
            None => {
                if let Some(revision) = initial.bookmark {
                    self.mark(revision, true);
                }
            }
        }
        Ok(())
    }

    /// Returns the next line; `None` at the end.
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Ok(Some(line));
            }
            if let Some(initial) = self.initial.take() {
                self.begin(initial).await?;
                continue;
            }
            let Some(changes) = self.changes.as_mut() else {
                return Ok(None);
            };
            // Without bookmarks, the branch below is disabled.
            let bookmark = self.bookmark.unwrap_or(self.end);
            let event = tokio::select! {
                biased;
                () = self.shutdown.reached(Phase::Closing) => return Ok(None),
                () = sleep_until(self.end) => return Ok(None),
                event = changes.next() => event,
                () = sleep_until(bookmark), if self.bookmark.is_some() => {
                    let revision = changes.revision();
                    self.bookmark = Some(next_bookmark(Instant::now(), self.end));
                    Ok(Event::Progress(revision))
                }
            };
            self.take(event);
        }
    }

    /// Queues the lines of an event.
    fn take(&mut self, event: Result<Event, Error>) {
        match event {
            Ok(Event::Put(item, before)) => self.put(item, before),
            Ok(Event::Delete(Item { value, revision, .. })) => match Stored::decode(&value) {
                Ok(stored) if self.is_selected(&stored) => {
                    self.send(Kind::Deleted, &stored, revision);
                }
                Ok(_) => {}
                // The object was damaged, so it cannot be told whether the client knows it.
                Err(_) => {
                    let after = self.changes.take().map_or(0, |changes| changes.revision());
                    self.expire(after, revision);
                }
            },
            Ok(Event::Progress(revision)) if self.bookmark.is_some() => {
                self.mark(revision, false);
            }
            Ok(Event::Progress(_)) => {}
            Err(error) => {
                let after = self.changes.take().map_or(0, |changes| changes.revision());
                if let Error::Compacted(oldest) = error {
                    self.metrics.count_dropped_events();
                    self.expire(after, oldest);
                } else {
                    // The client reconnects and gets the error of the store.
                    tracing::warn!(%error, "a watch ends");
                }
            }
        }
    }

    fn put(&mut self, Item { value, revision, .. }: Item, before: Option<Bytes>) {
        let Ok(stored) = Stored::decode(&value) else {
            return;
        };
        let before = before.and_then(|value| Stored::decode(&value).ok());
        let was = before.filter(|before| self.is_selected(before));
        match (was, self.is_selected(&stored)) {
            (None, true) => self.send(Kind::Added, &stored, revision),
            (Some(_), true) => self.send(Kind::Modified, &stored, revision),
            // It no longer matches the selectors. Send its last state that did.
            (Some(before), false) => self.send(Kind::Deleted, &before, revision),
            (None, false) => {}
        }
    }

    fn send(&mut self, kind: Kind, stored: &Stored, revision: Revision) {
        let mut object = Vec::with_capacity(stored.bytes().len() + 128);
        match self.shown.shape {
            Shape::Plain => write::object_inside((stored, revision), &mut object),
            Shape::Partial(version) => {
                write::partial_inside((stored, revision), version, &mut object);
            }
            Shape::Table(version, include) => {
                let meta = ListMeta { revision, next: None, remaining: None };
                let items = std::iter::once((stored, revision));
                let now = Timestamp::now().as_second();
                let has_columns = !std::mem::replace(&mut self.has_columns, true);
                let table = Table {
                    group: self.group,
                    kind: self.kind,
                    version,
                    include,
                    has_columns,
                    now,
                };
                write::table_inside(table, &meta, items, &mut object);
            }
        }
        self.push(kind.name(), &object);
    }

    fn mark(&mut self, revision: Revision, is_initial_end: bool) {
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if is_initial_end && let Some(fields) = metadata.as_object_mut() {
            fields.insert("annotations".to_owned(), json!({INITIAL_EVENTS_END: "true"}));
        }
        let template = || {
            let version = self.group.api_version();
            match self.kind {
                groups::Kind::Template => json!({"kind": "Template", "apiVersion": version,
                    "metadata": metadata, "objects": null}),
                groups::Kind::Instance => json!({"kind": "TemplateInstance",
                    "apiVersion": version, "metadata": metadata, "spec": {}, "status": {}}),
            }
        };
        let object = match self.shown.shape {
            Shape::Plain => template(),
            Shape::Partial(version) => json!({
                "kind": "PartialObjectMetadata",
                "apiVersion": version.api_version(),
                "metadata": metadata,
            }),
            Shape::Table(version, include) => json!({
                "kind": "Table",
                "apiVersion": version.api_version(),
                "metadata": {"resourceVersion": revision.to_string()},
                "columnDefinitions": null,
                "rows": [{"cells": [], "object": match include {
                    Include::None => Value::Null,
                    Include::Object => template(),
                    Include::Metadata => json!({
                        "kind": "PartialObjectMetadata",
                        "apiVersion": version.api_version(),
                        "metadata": metadata,
                    }),
                }}],
            }),
        };
        self.push("BOOKMARK", object.to_string().as_bytes());
    }

    /// Queues a 410 error: changes after the requested revision have been compacted.
    fn expire(&mut self, asked: Revision, oldest: Revision) {
        let message = format!("too old resource version: {asked} ({oldest})");
        let status = Status::new(410, "Expired", message);
        self.push("ERROR", status.object().to_string().as_bytes());
    }

    /// Queues a 410 error: the store was restored from a backup.
    fn expire_future(&mut self, asked: Revision, newest: Revision) {
        let message = format!("too new resource version: {asked} ({newest})");
        let status = Status::new(410, "Expired", message);
        self.push("ERROR", status.object().to_string().as_bytes());
    }

    fn push(&mut self, kind: &str, object: &[u8]) {
        let mut line = Vec::with_capacity(object.len() + 40);
        line.extend_from_slice(b"{\"type\":\"");
        line.extend_from_slice(kind.as_bytes());
        line.extend_from_slice(b"\",\"object\":");
        line.extend_from_slice(object);
        line.extend_from_slice(b"}\n");
        self.ready.push_back(line.into());
    }
}

fn next_bookmark(now: Instant, end: Instant) -> Instant {
    let last = end.checked_sub(LAST_BOOKMARK);
    let last = last.filter(|last| *last >= now + LAST_BOOKMARK);
    last.unwrap_or(end + BOOKMARKS).min(now + BOOKMARKS)
}

/// Returns a random lifetime, so that clients do not all reconnect at the same time.
fn random_life() -> Result<Duration> {
    let random = getrandom::u32()
        .map_err(|error| Status::internal(format!("cannot generate random numbers: {error}")))?;
    Ok(LIFE + LIFE.mul_f64(f64::from(random) / f64::from(u32::MAX)))
}
