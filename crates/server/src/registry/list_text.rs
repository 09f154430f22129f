//! The text of a list, page by page: a client that reads slowly keeps one page in memory.

use std::io;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};

use super::list_items::{Found, Items};
use crate::api::render::{formatted, table};
use crate::api::resource_request::Call;
use crate::codec::encode as write;
use crate::codec::encode::{Item, ListMeta, Table};
use crate::codec::{self, Stored};
use crate::http::response::{self, Answer};
use crate::request::accept::{Answer as Shown, MetaVersion, Shape};
use crate::request::content_type::Format;
use krm_template_server_core::flow_control::admission::Admission;
use krm_template_server_core::groups::{self, Group};
use krm_template_server_core::status::Result;
use krm_template_server_core::store::Revision;

/// The size from which a page is sent, in bytes.
const PAGE: usize = 256 << 10;

/// Creates a response with a list: complete if it has one page, otherwise a stream.
pub(crate) async fn answer(call: &Call<'_>, shown: Shown, found: Found) -> Result<Answer> {
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
    shown: Shown,
}

/// The type of a list.
enum Kind {
    Plain(Group, groups::Kind),
    Partial(MetaVersion),
    Table(Table),
}

impl Listing {
    fn new(call: &Call<'_>, shown: Shown, Found { meta, items }: Found) -> Self {
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

    /// Splits a list without items at the place of its items: it is the only `[]`. Returns the text
    /// after them.
    fn open(&self, text: &mut Vec<u8>) -> Vec<u8> {
        let at = text.windows(2).rposition(|two| two == b"[]");
        let mut end = text.split_off(at.map_or(text.len(), |at| at + 1));
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

    fn json(&self, item: Item<'_>, out: &mut Vec<u8>) {
        match self.shape {
            Kind::Plain(group, _) => write::list_item(group, item, out),
            Kind::Partial(version) => write::partial_inside(item, version, out),
            Kind::Table(table) => write::row(table, item, out),
        }
    }

    fn formatted(&self, item: Item<'_>, out: &mut Vec<u8>) {
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
    fn whole(shown: Shown, meta: &ListMeta, items: &[Stored]) -> Vec<u8> {
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
    fn in_parts(shown: Shown, meta: &ListMeta, items: &[Stored]) -> Vec<u8> {
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
                let shown = Shown { format, pretty, shape };
                for items in [&all[..1], &all[..]] {
                    let texts = [whole, in_parts].map(|write| write(shown, &meta, items));
                    let [expected, text] = texts.map(|text| String::from_utf8(text).unwrap());
                    assert_eq!(text, expected, "{shown:?}");
                }
            }
        }
    }
}
