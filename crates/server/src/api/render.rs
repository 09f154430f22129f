//! Response bodies: objects, lists and tables.

use super::resource_request::Call;
use crate::codec::encode as write;
use crate::codec::encode::{ListMeta, Table};
use crate::codec::{self, Stored, decode};
use crate::http::{Answer, JSON, YAML, response};
use crate::request::{FieldValidation, Format, Include, MetaVersion, ResponseFormat, Shape};
use krm_template_server_core::{Result, Revision};

/// Creates a response with an object. The revision of an object that is not stored is zero.
pub(crate) async fn object(
    call: &Call<'_>,
    code: u16,
    shown: ResponseFormat,
    stored: &Stored,
    revision: Revision,
) -> Answer {
    let is_plain = shown.format == Format::Json && !shown.pretty;
    let bytes = if is_plain { 0 } else { stored.bytes().len() };
    let written = call.work(bytes, || written(call, code, shown, stored, revision));
    written.await
}

fn written(
    call: &Call<'_>,
    code: u16,
    shown: ResponseFormat,
    stored: &Stored,
    revision: Revision,
) -> Answer {
    let mut text = Vec::with_capacity(stored.bytes().len() + 64);
    if shown.format == Format::Yaml && shown.shape == Shape::Plain {
        codec::yaml_object((stored, revision), &mut text);
        return response::new(code, YAML, text);
    }
    match shown.shape {
        Shape::Plain => write::object((stored, revision), &mut text),
        Shape::Partial(version) => write::partial((stored, revision), version, &mut text),
        Shape::Table(version, include) => {
            let meta = ListMeta { revision, next: None, remaining: None };
            let items = std::iter::once((stored, revision));
            write::table(table(call, version, include), &meta, items, &mut text);
        }
    }
    finished(code, shown, text)
}

/// Returns the options of a table with column definitions.
pub(crate) fn table(call: &Call<'_>, version: MetaVersion, include: Include) -> Table {
    Table {
        group: call.group,
        kind: call.kind,
        version,
        include,
        has_columns: true,
        now: call.now.as_second(),
    }
}

/// Creates a response with a processed Template. The body already has the requested format.
pub(crate) async fn processed(
    call: &Call<'_>,
    shown: ResponseFormat,
    body: String,
) -> Result<Answer> {
    match (shown.shape, shown.format) {
        (Shape::Plain, Format::Yaml) => Ok(response::new(201, YAML, body)),
        (Shape::Plain, Format::Json) if !shown.pretty => Ok(response::new(201, JSON, body)),
        (Shape::Plain, Format::Json) => {
            let length = body.len();
            let pretty = call.work(length, || finished(201, shown, body.into_bytes()));
            Ok(pretty.await)
        }
        (_, format) => {
            let (group, ignore) = (call.group, FieldValidation::Ignore);
            let stored = call.work(body.len(), || {
                let (draft, _) = decode::template(group, format, body.as_bytes(), ignore)?;
                Stored::encode(&draft)
            });
            Ok(object(call, 201, shown, &stored.await?, 0).await)
        }
    }
}

/// Creates a response with a JSON document in the requested format.
pub(crate) fn finished(code: u16, shown: ResponseFormat, json: Vec<u8>) -> Answer {
    let (content_type, text) = formatted(shown, json);
    response::new(code, content_type, text)
}

/// Converts a JSON document to the requested format. Also returns the media type.
pub(crate) fn formatted(shown: ResponseFormat, json: Vec<u8>) -> (&'static str, Vec<u8>) {
    match shown.format {
        Format::Yaml => (YAML, codec::yaml(&json)),
        Format::Json if shown.pretty => (JSON, codec::pretty(&json)),
        Format::Json => (JSON, json),
    }
}
