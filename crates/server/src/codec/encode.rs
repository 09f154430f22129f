//! API responses with stored objects: single objects, lists, tables and metadata.
//!
//! All functions append to `out`. Responses are compact JSON with a trailing line feed. A Template
//! with revision 0, as in a dry run, has no `resourceVersion`.

use super::cells::age;
use super::json;
use super::stored::Stored;
use crate::request::{Include, MetaVersion};
use krm_template_server_core::{Group, Kind, Revision};

/// The column definitions of tables: for each group, of Templates and of TemplateInstances.
const COLUMNS: &str = include_str!("columns.jsonl");

/// The metadata of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListMeta {
    /// The revision of the list.
    pub revision: Revision,
    /// The continue token for the next page.
    pub next: Option<String>,
    /// The number of remaining items, if known.
    pub remaining: Option<u64>,
}

/// A Template with the revision that wrote it.
pub type Item<'s> = (&'s Stored, Revision);

/// Writes a single Template with a line feed.
pub fn object(item: Item<'_>, out: &mut Vec<u8>) {
    splice(item.0.object(), item.1, out);
    out.push(b'\n');
}

/// Writes a Template without a line feed, as in watch events.
pub fn object_inside(item: Item<'_>, out: &mut Vec<u8>) {
    splice(item.0.object(), item.1, out);
}

/// Writes the `PartialObjectMetadata` of a Template.
pub fn partial(item: Item<'_>, version: MetaVersion, out: &mut Vec<u8>) {
    partial_inside(item, version, out);
    out.push(b'\n');
}

/// Writes a `PartialObjectMetadata` without a line feed, as in watch events.
pub fn partial_inside((stored, revision): Item<'_>, version: MetaVersion, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"");
    out.extend_from_slice(version.api_version().as_bytes());
    out.extend_from_slice(b"\",\"metadata\":");
    splice(stored.metadata(), revision, out);
    out.push(b'}');
}

/// Writes a list of a kind, such as `TemplateList`. As upstream, items of OpenShift's group have no `kind` or `apiVersion`.
pub fn list<'s>(
    group: Group,
    kind: Kind,
    meta: &ListMeta,
    items: impl IntoIterator<Item = Item<'s>>,
    out: &mut Vec<u8>,
) {
    let name = format!("{}List", kind.name());
    begin_list(&name, group.api_version(), meta, out);
    separated(items, out, |item, out| list_item(group, item, out));
    out.extend_from_slice(b"]}\n");
}

/// Writes an item of such a list.
pub(crate) fn list_item(group: Group, (stored, revision): Item<'_>, out: &mut Vec<u8>) {
    match group {
        Group::Krm => splice(stored.object(), revision, out),
        Group::OpenShift => {
            out.push(b'{');
            splice(stored.item(), revision, out);
        }
    }
}

/// Writes a `PartialObjectMetadataList` with a line feed.
pub fn partial_list<'s>(
    version: MetaVersion,
    meta: &ListMeta,
    items: impl IntoIterator<Item = Item<'s>>,
    out: &mut Vec<u8>,
) {
    begin_list("PartialObjectMetadataList", version.api_version(), meta, out);
    separated(items, out, |item, out| partial_inside(item, version, out));
    out.extend_from_slice(b"]}\n");
}

/// The options of a table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The API group of its objects.
    pub group: Group,
    /// The kind of its objects.
    pub kind: Kind,
    /// The version of `meta.k8s.io` in the field `apiVersion`.
    pub version: MetaVersion,
    /// The content of the field `object` in each row.
    pub include: Include,
    /// Whether it has column definitions. In a watch, only the first table has them.
    pub has_columns: bool,
    /// The current time for the ages, in seconds since 1970.
    pub now: i64,
}

/// Writes a `Table` of objects.
pub fn table<'s>(
    table: Table,
    meta: &ListMeta,
    items: impl IntoIterator<Item = Item<'s>>,
    out: &mut Vec<u8>,
) {
    table_inside(table, meta, items, out);
    out.push(b'\n');
}

/// Writes a `Table` without a line feed, as in watch events.
pub fn table_inside<'s>(
    table: Table,
    meta: &ListMeta,
    items: impl IntoIterator<Item = Item<'s>>,
    out: &mut Vec<u8>,
) {
    begin("Table", table.version.api_version(), meta, out);
    out.extend_from_slice(b",\"columnDefinitions\":");
    let line = match (table.group, table.kind) {
        (Group::Krm, Kind::Template) => 0,
        (Group::Krm, Kind::Instance) => 1,
        (Group::OpenShift, Kind::Template) => 2,
        (Group::OpenShift, Kind::Instance) => 3,
    };
    let columns = COLUMNS.lines().nth(line).filter(|_| table.has_columns);
    out.extend_from_slice(columns.unwrap_or("null").as_bytes());
    out.extend_from_slice(b",\"rows\":[");
    separated(items, out, |item, out| row(table, item, out));
    out.extend_from_slice(b"]}");
}

/// Writes a row of a `Table`.
pub(crate) fn row(table: Table, (stored, revision): Item<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"cells\":[");
    match stored.cells().split_once('\t') {
        Some((before, after)) => {
            out.extend_from_slice(before.as_bytes());
            out.extend_from_slice(b",\"");
            out.extend_from_slice(age(table.now.saturating_sub(stored.created())).as_bytes());
            out.extend_from_slice(b"\",");
            out.extend_from_slice(after.as_bytes());
        }
        None => out.extend_from_slice(stored.cells().as_bytes()),
    }
    out.extend_from_slice(b"],\"object\":");
    match table.include {
        Include::None => out.extend_from_slice(b"null"),
        Include::Metadata => partial_inside((stored, revision), table.version, out),
        Include::Object => splice(stored.object(), revision, out),
    }
    out.push(b'}');
}

/// Writes an object with its `resourceVersion` between the two parts.
fn splice((before, after): (&[u8], &[u8]), revision: Revision, out: &mut Vec<u8>) {
    out.extend_from_slice(before);
    if revision > 0 {
        if before.last() != Some(&b'{') {
            out.push(b',');
        }
        out.extend_from_slice(b"\"resourceVersion\":\"");
        out.extend_from_slice(revision.to_string().as_bytes());
        out.push(b'"');
        if before.last() == Some(&b'{') && after.first() != Some(&b'}') {
            out.push(b',');
        }
    }
    out.extend_from_slice(after);
}

/// Writes the type and the metadata of a list.
fn begin(kind: &str, api_version: &str, meta: &ListMeta, out: &mut Vec<u8>) {
    let mut head =
        format!("{{\"kind\":\"{kind}\",\"apiVersion\":\"{api_version}\",\"metadata\":{{");
    head.push_str("\"resourceVersion\":\"");
    head.push_str(&meta.revision.to_string());
    head.push('"');
    if let Some(next) = &meta.next {
        head.push_str(",\"continue\":");
        json::quote(next, &mut head);
    }
    if let Some(remaining) = meta.remaining.filter(|remaining| *remaining > 0) {
        head.push_str(",\"remainingItemCount\":");
        head.push_str(&remaining.to_string());
    }
    head.push('}');
    out.extend_from_slice(head.as_bytes());
}

fn begin_list(kind: &str, api_version: &str, meta: &ListMeta, out: &mut Vec<u8>) {
    begin(kind, api_version, meta, out);
    out.extend_from_slice(b",\"items\":[");
}

fn separated<'s>(
    items: impl IntoIterator<Item = Item<'s>>,
    out: &mut Vec<u8>,
    write: impl Fn(Item<'s>, &mut Vec<u8>),
) {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(item, out);
    }
}
