//! Lists of stored objects, from the store to the response.
//!
//! The objects are read from the store, and their text is written, page by page: a client that reads
//! slowly keeps one page in memory.

use std::sync::Arc;
use std::{io, vec};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};

use crate::api::Call;
use crate::api::render::{formatted, table};
use crate::api::resource_request::{self, FUTURE};
use crate::codec::encode::{ListMeta, Table};
use crate::codec::{self, Stored, encode as write};
use crate::http::{Answer, response};
use crate::request::{
    At, Continue, Format, ListOptions, MetaVersion, ResponseFormat, Scope, Selectors, Shape,
    list_options,
};
use krm_template_server_core::store::{Error, Page};
use krm_template_server_core::{
    Admission, Group, Item, Measured, Result, Revision, Status, groups,
};

pub(crate) async fn list(call: &Call<'_>) -> Result<Answer> {
    let shown = call.shown(Scope::List)?;
    let options = ListOptions::parse(call.query, call.group)?;
    let found = read(call, &options).await?;
    respond(call, shown, found).await
}

pub(crate) async fn read(call: &Call<'_>, options: &ListOptions) -> Result<Found> {
    let at = match options.at {
        At::Newest => None,
        At::NotOlderThan(revision) => {
            call.reach(revision).await?;
            None
        }
        At::Exact(revision) => Some(revision),
    };
    let prefix = call.prefix();
    let after = options.after.as_ref().map(|after| format!("{prefix}{after}"));
    let wanted = options.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(0);
    let store = &call.state.store;
    let limit = match wanted {
        0 => store.chunk(),
        // With selectors, filling a page can take any number of items.
        _ if !options.selectors.is_empty() => 0,
        wanted => wanted,
    };
    let page = match store.list(&prefix, after.as_deref(), limit, at).await {
        Ok(page) => page,
        Err(Error::Compacted(_)) => return Err(list_options::expired(options)),
        // The store was restored from a backup.
        Err(Error::Future(_)) if options.after.is_some() => {
            return Err(list_options::expired(options));
        }
        Err(Error::Future(newest)) => {
            tokio::time::sleep(FUTURE).await;
            return Err(list_options::in_the_future(at.unwrap_or_default(), newest));
        }
        Err(error) => return Err(call.refused("", &error)),
    };
    let (revision, last) = (page.revision, page.items.last());
    let rest = last.filter(|_| wanted == 0 && page.remaining > 0).map(|last| Rest {
        store: Arc::clone(store),
        selectors: options.selectors.clone(),
        after: last.key.clone(),
        prefix: prefix.clone(),
        revision,
    });
    let mut found = selected(&options.selectors, page, &prefix, wanted);
    found.items.rest = rest;
    Ok(found)
}

/// The result of a list request.
pub(crate) struct Found {
    pub(crate) meta: ListMeta,
    pub(crate) items: Items,
}

/// The objects of a list, in order, all at one revision of the store.
pub(crate) struct Items {
    read: vec::IntoIter<Item>,
    pub(crate) rest: Option<Rest>,
    /// The keys of damaged objects that were found, which are left out.
    damaged: Vec<String>,
}

/// The items of a store outside of this process that have not been read yet.
pub(crate) struct Rest {
    pub(crate) store: Arc<Measured>,
    pub(crate) selectors: Selectors,
    pub(crate) prefix: String,
    /// The last key that was read.
    pub(crate) after: String,
    pub(crate) revision: Revision,
}

/// Returns at most `wanted` selected objects of a page, or all for zero.
pub(crate) fn selected(selectors: &Selectors, page: Page, prefix: &str, wanted: usize) -> Found {
    let is_selective = !selectors.is_empty();
    let mut items = Vec::with_capacity(page.items.len());
    let mut has_more = page.remaining > 0;
    let mut damaged = page.damaged;
    for item in page.items {
        if is_selective {
            match resource_request::stored(&item) {
                Ok(stored) if matches(selectors, &stored) => {}
                Ok(_) => continue,
                Err(_) => {
                    damaged.push(item.key);
                    continue;
                }
            }
        }
        if wanted > 0 && items.len() == wanted {
            has_more = true;
            break;
        }
        items.push(item);
    }
    let last = items.last().filter(|_| has_more && wanted > 0);
    let next = last.map(|Item { key, .. }| {
        let after = key.strip_prefix(prefix).unwrap_or(key).to_owned();
        Continue { revision: Some(page.revision), after }.encode()
    });
    let remaining = (next.is_some() && !is_selective).then_some(page.remaining);
    Found {
        meta: ListMeta { revision: page.revision, next, remaining },
        items: Items { damaged, ..Items::new(items) },
    }
}

impl Items {
    pub(crate) fn new(items: Vec<Item>) -> Self {
        Self { read: items.into_iter(), rest: None, damaged: Vec::new() }
    }

    /// Returns the warning about the objects that were left out until now, if there are any.
    pub(crate) fn warning(&self) -> Option<String> {
        resource_request::left_out(&self.damaged)
    }

    /// Returns the size of the objects that have been read, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let items = self.read.as_slice().iter();
        items.map(|item| item.value.len() + 64).sum()
    }

    /// Returns the next object, and the revision that wrote it.
    pub(crate) async fn next(&mut self) -> Result<Option<(Stored, Revision)>> {
        loop {
            if let Some(item) = self.read.next() {
                if let Ok(stored) = resource_request::stored(&item) {
                    return Ok(Some((stored, item.revision)));
                }
                self.damaged.push(item.key);
                continue;
            }
            let Some(rest) = &mut self.rest else {
                return Ok(None);
            };
            let (mut items, is_last) = rest.read().await?;
            self.read = items.read;
            self.damaged.append(&mut items.damaged);
            if is_last {
                self.rest = None;
            }
        }
    }
}

impl Rest {
    /// Reads some more objects. Also returns whether they are the last ones.
    async fn read(&mut self) -> Result<(Items, bool)> {
        let (store, after) = (&self.store, Some(self.after.as_str()));
        let page = store.list(&self.prefix, after, store.chunk(), Some(self.revision));
        let page = page.await.map_err(|error| {
            tracing::warn!(%error, "the rest of a list cannot be read");
            Status::unavailable("the rest of the list cannot be read")
        })?;
        let is_last = page.remaining == 0 || page.items.is_empty();
        if let Some(last) = page.items.last() {
            self.after.clone_from(&last.key);
        }
        let found = selected(&self.selectors, page, &self.prefix, 0);
        Ok((found.items, is_last))
    }
}

/// Returns `true` if the selectors match an object.
pub(crate) fn matches(selectors: &Selectors, stored: &Stored) -> bool {
    selectors.fields.matches(stored.name(), stored.namespace())
        && (selectors.labels.is_empty() || {
            let labels = stored.labels();
            selectors.labels.matches(|key| labels.get(key).map(String::as_str))
        })
}

/// The size from which a page is sent, in bytes.
const PAGE: usize = 256 << 10;

/// Creates a response with a list: complete if it has one page, otherwise a stream.
pub(super) async fn respond(
    call: &Call<'_>,
    shown: ResponseFormat,
    found: Found,
) -> Result<Answer> {
    Listing::new(call, shown, found).into_answer().await
}

/// A list that is written page by page.
struct Listing {
    writer: Writer,
    items: Items,
    admission: Admission,
    content_type: &'static str,
    /// The page that is being written.
    text: Vec<u8>,
    /// The text after the items. `None` at the end of the list.
    end: Option<Vec<u8>>,
    is_empty: bool,
}

/// Writes the items of a list.
struct Writer {
    shape: Kind,
    shown: ResponseFormat,
}

/// The type of a list.
enum Kind {
    Plain(Group, groups::Kind),
    Partial(MetaVersion),
    Table(Table),
}

impl Listing {
    fn new(call: &Call<'_>, shown: ResponseFormat, Found { meta, items }: Found) -> Self {
        let shape = match shown.shape {
            Shape::Plain => Kind::Plain(call.group, call.kind),
            Shape::Partial(version) => Kind::Partial(version),
            Shape::Table(version, include) => Kind::Table(table(call, version, include)),
        };
        let writer = Writer { shape, shown };
        let (content_type, text) = formatted(shown, writer.empty(&meta));
        Self {
            writer,
            items,
            admission: call.state.admission.clone(),
            content_type,
            text,
            end: Some(Vec::new()),
            is_empty: true,
        }
    }

    async fn into_answer(mut self) -> Result<Answer> {
        let bytes = match self.writer.shape {
            Kind::Plain(..) => self.items.bytes().min(PAGE),
            _ => 0,
        };
        self.text.reserve(bytes);
        let first = self.page().await?;
        let content_type = self.content_type;
        let warning = self.items.warning();
        if self.end.is_none() {
            let mut answer = response::new(200, content_type, first);
            response::warn(&mut answer, warning.as_slice());
            return Ok(answer);
        }
        let rest = stream::try_unfold(self, |mut listing| async move {
            if listing.end.is_none() {
                return Ok(None);
            }
            let page = listing.page().await;
            let page = page.map_err(|status| io::Error::other(status.message))?;
            Ok(Some((page, listing)))
        });
        let pages = stream::iter([Ok(first)]).chain(rest);
        let frames = pages.map_ok(|page| Frame::data(Bytes::from(page)));
        let body = StreamBody::new(frames).boxed_unsync();
        let mut answer = response::with_body(200, content_type, body);
        response::warn(&mut answer, warning.as_slice());
        Ok(answer)
    }

    /// Writes the next page.
    async fn page(&mut self) -> Result<Vec<u8>> {
        while self.text.len() < PAGE {
            let Some((stored, revision)) = self.items.next().await? else {
                self.text.append(&mut self.end.take().unwrap_or_default());
                break;
            };
            if std::mem::take(&mut self.is_empty) {
                self.end = Some(self.writer.open(&mut self.text));
            } else if self.writer.shown.format == Format::Json {
                self.text.push(b',');
            }
            if self.writer.is_compact() {
                self.writer.json((&stored, revision), &mut self.text);
            } else {
                self.formatted(&stored, revision).await;
            }
        }
        Ok(std::mem::take(&mut self.text))
    }

    /// Writes an item in a format that needs its JSON to be parsed.
    async fn formatted(&mut self, stored: &Stored, revision: Revision) {
        let Self { writer, admission, text, .. } = self;
        let bytes = stored.bytes().len();
        let written = admission.work(bytes, || writer.formatted((stored, revision), text));
        written.await;
    }
}

impl Writer {
    /// Returns the list without items, as JSON.
    fn empty(&self, meta: &ListMeta) -> Vec<u8> {
        let mut text = Vec::new();
        match self.shape {
            Kind::Plain(group, kind) => write::list(group, kind, meta, [], &mut text),
            Kind::Partial(version) => write::partial_list(version, meta, [], &mut text),
            Kind::Table(table) => write::table(table, meta, [], &mut text),
        }
        text
    }

    /// Splits a list without items at the place of its items. Returns the text after them.
    fn open(&self, text: &mut Vec<u8>) -> Vec<u8> {
        let key = if matches!(self.shape, Kind::Table(_)) { "rows" } else { "items" };
        // Of the keys at the top of a text, one has this name.
        let items = match (self.shown.format, self.shown.pretty) {
            (Format::Yaml, _) => format!("\n{key}: []"),
            (Format::Json, true) => format!("\n  \"{key}\": []"),
            (Format::Json, false) => format!("\"{key}\":[]"),
        };
        let at = memchr::memmem::rfind(text, items.as_bytes());
        let mut end = text.split_off(at.map_or(text.len(), |at| at + items.len() - 1));
        match (self.shown.format, self.shown.pretty) {
            (Format::Yaml, _) => {
                // The items follow `items:` on lines of their own.
                text.truncate(text.len().saturating_sub(2));
                text.push(b'\n');
                end.drain(..end.len().min(2));
            }
            (Format::Json, true) => _ = end.splice(..0, *b"\n  "),
            (Format::Json, false) => {}
        }
        end
    }

    fn is_compact(&self) -> bool {
        self.shown.format == Format::Json && !self.shown.pretty
    }

    fn json(&self, item: write::Item<'_>, out: &mut Vec<u8>) {
        match self.shape {
            Kind::Plain(group, _) => write::list_item(group, item, out),
            Kind::Partial(version) => write::partial_inside(item, version, out),
            Kind::Table(table) => write::row(table, item, out),
        }
    }

    fn formatted(&self, item: write::Item<'_>, out: &mut Vec<u8>) {
        let mut json = Vec::new();
        self.json(item, &mut json);
        if self.shown.format == Format::Yaml {
            let list = [b"[", json.as_slice(), b"]"].concat();
            out.extend_from_slice(&codec::yaml(&list));
            return;
        }
        for line in codec::pretty(&json).split(|byte| *byte == b'\n') {
            out.extend_from_slice(b"\n    ");
            out.extend_from_slice(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::request::accept::Include;

    fn stored(name: &str) -> Stored {
        let text = format!(
            "{{\"apiVersion\":\"template.krm.dev/v1alpha1\",\"kind\":\"Template\",\
             \"metadata\":{{\"name\":\"{name}\",\"namespace\":\"shop\",\"uid\":\"u\",\
             \"annotations\":{{\"a\":\"[]\",\"b\":\"x\\ny\\n\"}}}},\
             \"objects\":[{{\"data\":[],\"long\":\"{}\"}}]}}",
            "word ".repeat(40)
        );
        let validation = crate::request::write_options::FieldValidation::Ignore;
        let draft =
            crate::codec::decode::template(Group::Krm, Format::Json, text.as_bytes(), validation);
        Stored::encode(&draft.unwrap().0).unwrap()
    }

    fn kind(shape: Shape) -> Kind {
        match shape {
            Shape::Plain => Kind::Plain(Group::Krm, groups::Kind::Template),
            Shape::Partial(version) => Kind::Partial(version),
            Shape::Table(version, include) => Kind::Table(Table {
                group: Group::Krm,
                kind: groups::Kind::Template,
                version,
                include,
                has_columns: true,
                now: 0,
            }),
        }
    }

    /// Writes a list at once, then formats it.
    fn whole(shown: ResponseFormat, meta: &ListMeta, items: &[Stored]) -> Vec<u8> {
        let items = items.iter().map(|stored| (stored, 5));
        let mut text = Vec::new();
        match kind(shown.shape) {
            Kind::Plain(group, kind) => write::list(group, kind, meta, items, &mut text),
            Kind::Partial(version) => write::partial_list(version, meta, items, &mut text),
            Kind::Table(table) => write::table(table, meta, items, &mut text),
        }
        formatted(shown, text).1
    }

    /// Formats and writes one item after the other.
    fn in_parts(shown: ResponseFormat, meta: &ListMeta, items: &[Stored]) -> Vec<u8> {
        let shape = kind(shown.shape);
        let writer = Writer { shape, shown };
        let (_, mut text) = formatted(shown, writer.empty(meta));
        let end = writer.open(&mut text);
        for (index, stored) in items.iter().enumerate() {
            if index > 0 && shown.format == Format::Json {
                text.push(b',');
            }
            if writer.is_compact() {
                writer.json((stored, 5), &mut text);
            } else {
                writer.formatted((stored, 5), &mut text);
            }
        }
        text.extend(end);
        text
    }

    #[test]
    fn the_pages_are_the_list() {
        let all = [stored("one"), stored("two"), stored("three")];
        let meta = ListMeta { revision: 7, next: Some("W10=".to_owned()), remaining: Some(2) };
        let version = MetaVersion::V1;
        let table = Shape::Table(version, Include::Metadata);
        let formats = [(Format::Json, false), (Format::Json, true), (Format::Yaml, false)];
        for shape in [Shape::Plain, Shape::Partial(version), table] {
            for (format, pretty) in formats {
                let shown = ResponseFormat { format, pretty, shape };
                for items in [&all[..1], &all[..]] {
                    let texts = [whole, in_parts].map(|write| write(shown, &meta, items));
                    let [expected, text] = texts.map(|text| String::from_utf8(text).unwrap());
                    assert_eq!(text, expected, "{shown:?}");
                }
            }
        }
    }
}
