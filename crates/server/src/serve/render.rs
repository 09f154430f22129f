//! Response bodies: objects, lists and tables.

use jiff::Timestamp;

use super::answer::{self, Answer, JSON, YAML};
use super::call::Call;
use crate::object::answer as write;
use crate::object::answer::{ListMeta, Table};
use crate::object::{self, Stored, decode};
use crate::wire::accept::{Answer as Shown, Include, MetaVersion, Shape};
use crate::wire::content::Format;
use crate::wire::options::FieldValidation;
use krm_template_server_core::groups::Group;
use krm_template_server_core::status::Result;
use krm_template_server_core::store::Revision;

/// Creates a response with an object. The revision of an object that is not stored is zero.
pub(super) fn object(
    code: u16,
    shown: Shown,
    now: Timestamp,
    stored: &Stored,
    revision: Revision,
) -> Answer {
    let mut text = Vec::with_capacity(stored.bytes().len() + 64);
    if shown.format == Format::Yaml && shown.shape == Shape::Plain {
        object::yaml_object((stored, revision), &mut text);
        return answer::new(code, YAML, text);
    }
    match shown.shape {
        Shape::Plain => write::object((stored, revision), &mut text),
        Shape::Partial(version) => write::partial((stored, revision), version, &mut text),
        Shape::Table(version, include) => {
            let meta = ListMeta {
                revision,
                next: None,
                remaining: None,
            };
            let items = std::iter::once((stored, revision));
            write::table(
                table(stored.group(), version, include, now),
                &meta,
                items,
                &mut text,
            );
        }
    }
    finished(code, shown, text)
}

/// Creates a response with a list.
pub(super) fn list(
    group: Group,
    shown: Shown,
    now: Timestamp,
    meta: &ListMeta,
    items: &[(Stored, Revision)],
) -> Answer {
    let bytes: usize = items
        .iter()
        .map(|(stored, _)| stored.bytes().len() + 64)
        .sum();
    let mut text = Vec::new();
    let items = items.iter().map(|(stored, revision)| (stored, *revision));
    match shown.shape {
        Shape::Plain => {
            text.reserve(bytes);
            write::list(group, meta, items, &mut text);
        }
        Shape::Partial(version) => write::partial_list(version, meta, items, &mut text),
        Shape::Table(version, include) => {
            write::table(table(group, version, include, now), meta, items, &mut text);
        }
    }
    finished(200, shown, text)
}

/// Returns the options of a table with column definitions.
fn table(group: Group, version: MetaVersion, include: Include, now: Timestamp) -> Table {
    Table {
        group,
        version,
        include,
        has_columns: true,
        now: now.as_second(),
    }
}

/// Creates a response with a processed Template. The body already has the requested format.
pub(super) fn processed(call: &Call<'_>, shown: Shown, body: String) -> Result<Answer> {
    match (shown.shape, shown.format) {
        (Shape::Plain, Format::Yaml) => Ok(answer::new(201, YAML, body)),
        (Shape::Plain, Format::Json) => Ok(finished(201, shown, body.into_bytes())),
        _ => {
            let format = shown.format;
            let (draft, _) =
                decode::template(call.group, format, body.as_bytes(), FieldValidation::Ignore)?;
            Ok(object(201, shown, call.now, &Stored::encode(&draft)?, 0))
        }
    }
}

/// Creates a response with a JSON document in the requested format.
pub(super) fn finished(code: u16, shown: Shown, json: Vec<u8>) -> Answer {
    match shown.format {
        Format::Yaml => answer::new(code, YAML, object::yaml(&json)),
        Format::Json if shown.pretty => answer::new(code, JSON, object::pretty(&json)),
        Format::Json => answer::new(code, JSON, json),
    }
}
