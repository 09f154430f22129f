//! A Template and a body of kind `Parameters`, separated by NUL, as a server receives them. The
//! Template is read, stored, shown in all formats and expanded. All JSON in responses is valid.

use crate::codec::encode::{self, ListMeta, Table};
use crate::codec::{self, Stored, decode};
use crate::request::{FieldValidation, Format, Include, MetaVersion};
use crate::templates::{self, Limits, Output, Processed, Request, Text};
use crate::validation::object_meta::{self, Create};
use bytes::Bytes;
use jiff::Timestamp;
use krm_template_server_core::{Group, Kind, Result};
use serde::de::IgnoredAny;

/// Holds the property for an input.
///
/// # Panics
/// If it does not hold.
pub fn check(text: &str) {
    let (template, parameters) = text.split_once('\0').unwrap_or((text, "{}"));
    for group in Group::ALL {
        for format in [Format::Json, Format::Yaml] {
            store(group, format, template);
            expand(group, format, template, parameters);
        }
    }
}

fn readable(json: &[u8]) {
    let read = serde_json::from_slice::<IgnoredAny>(json);
    assert!(read.is_ok(), "{}", String::from_utf8_lossy(json));
}

fn store(group: Group, format: Format, text: &str) {
    let body = text.as_bytes();
    let named = decode::group(format, body);
    let _ = decode::template(group, format, body, FieldValidation::Strict);
    let Ok((mut draft, _)) = decode::template(group, format, body, FieldValidation::Warn) else {
        return;
    };
    // OpenShift's group takes each Template of `v1`, whatever its dialect is.
    let is_own = group == Group::OpenShift || named.is_none_or(|named| named == group);
    assert!(is_own, "of another group");
    let how = Create {
        namespace: "default",
        now: Timestamp::UNIX_EPOCH,
        uid: "00000000-0000-0000-0000-000000000000",
        suffix: "bcdfg",
    };
    if object_meta::create(&mut draft, &how).is_err() {
        return;
    }
    let Ok(stored) = Stored::encode(&draft) else {
        panic!("a checked Template can be stored");
    };
    let decoded = Stored::decode(&Bytes::copy_from_slice(stored.bytes()));
    assert_eq!(decoded.as_ref(), Ok(&stored));
    show(group, &stored);
    let patched = decode::patched(
        group,
        Kind::Template,
        draft.to_value(),
        Some(&draft),
        &[],
        FieldValidation::Warn,
    );
    assert!(patched.is_ok(), "a patch without changes succeeds");
}

fn show(group: Group, stored: &Stored) {
    let meta = ListMeta::default();
    let item = (stored, 7);
    let mut out = Vec::new();
    encode::object(item, &mut out);
    readable(&out);
    let yaml = codec::yaml(&out);
    assert!(!yaml.is_empty());
    out.clear();
    codec::yaml_object(item, &mut out);
    out.clear();
    encode::list(group, Kind::Template, &meta, [item], &mut out);
    readable(&out);
    let version = MetaVersion::V1;
    out.clear();
    encode::partial_list(version, &meta, [item], &mut out);
    readable(&out);
    for include in [Include::None, Include::Metadata, Include::Object] {
        out.clear();
        let table =
            Table { group, kind: Kind::Template, version, include, has_columns: true, now: 0 };
        encode::table(table, &meta, [item], &mut out);
        readable(&out);
    }
}

fn expand(group: Group, syntax: Format, template: &str, parameters: &str) {
    let text = |text| Text { text, syntax };
    let never = || false;
    let limits = Limits { objects: 100, bytes: 1 << 20, parameters: 100, is_late: &never };
    for output in [Output::Template, Output::List] {
        let request = Request {
            group,
            namespace: "default",
            labels: Vec::new(),
            target_namespace: None,
            output,
            source_map: output == Output::List,
            checks: output == Output::List,
            syntax: Format::Json,
            limits,
        };
        finish(templates::template(&request, text(template)));
        finish(templates::stored(&request, text(template), text(parameters)));
    }
    if let Ok(schema) = templates::schema(group, text(template), &limits) {
        readable(schema.as_bytes());
    }
}

fn finish(processed: Result<Processed>) {
    match processed {
        Ok(processed) => {
            assert!(processed.body.len() <= 1 << 20, "more than the limit");
            readable(processed.body.as_bytes());
        }
        Err(status) => assert_ne!(status.code, 500, "{}", status.message),
    }
}
