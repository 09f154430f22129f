//! Dumps all items of a store as JSON lines, and loads them into another store.
//!
//! The first line is `{"revision":…}`, the last revision of the store. Another line is
//! `{"key":"…","value":"…"}`; a value that is not UTF-8 is `"base64":"…"` instead. The revisions of
//! items are not kept: the other store assigns its own, above the last one unless it is etcd.

use std::io::{BufRead, Read, Write};

use anyhow::{Context, Result, anyhow, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::any::Store;
use super::types::{Item, Revision};

/// The number of items in a page.
const PAGE: usize = 500;

/// The maximum size of a line, in bytes: a value and its key, with every byte escaped.
const MAX_LINE_BYTES: u64 = 8 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    revision: Revision,
}

/// Writes all items at one revision, and returns the keys of damaged ones, which are left out.
///
/// # Errors
///
/// If the store or the writer fails, or if items change meanwhile and the store does not keep old
/// revisions.
pub async fn dump(store: &Store, mut out: impl Write) -> Result<Vec<String>> {
    let (mut after, mut at, mut damaged) = (None, None, Vec::new());
    loop {
        let page = store.list("", after.as_deref(), PAGE, at).await?;
        if at.is_none() {
            out.write_all(&dump_head(page.revision))?;
        }
        damaged.extend(page.damaged);
        for item in &page.items {
            out.write_all(&dump_line(item))?;
        }
        if page.remaining == 0 {
            out.flush()?;
            return Ok(damaged);
        }
        at = Some(page.revision);
        after = page.items.last().map(|item| item.key.clone());
    }
}

/// Returns the first line of a dump.
pub fn dump_head(revision: Revision) -> Vec<u8> {
    line(&Head { revision })
}

/// Returns the line of an item.
pub fn dump_line(item: &Item) -> Vec<u8> {
    line(&Line::of(item))
}

fn line(content: &impl Serialize) -> Vec<u8> {
    // Texts and numbers can always be written.
    let mut line = serde_json::to_vec(content).unwrap_or_default();
    line.push(b'\n');
    line
}

/// Creates the items of a dump, and returns their number.
///
/// # Errors
///
/// At the first line that is malformed or whose key exists. The items before it stay in the store.
pub async fn load(store: &Store, mut lines: impl BufRead) -> Result<u64> {
    let (mut text, mut count) = (String::new(), 0);
    for number in 1_u64.. {
        text.clear();
        (&mut lines).take(MAX_LINE_BYTES).read_line(&mut text)?;
        if text.is_empty() {
            return Ok(count);
        }
        if number == 1
            && let Ok(Head { revision }) = serde_json::from_str(&text)
        {
            store.advance(revision).await?;
            continue;
        }
        let (key, value) = parse(&text).with_context(|| format!("line {number}"))?;
        let created = store.create(&key, value).await;
        created.with_context(|| format!("line {number}: key `{key}`"))?;
        count += 1;
    }
    bail!("too many lines")
}

impl Line {
    fn of(item: &Item) -> Self {
        let key = item.key.clone();
        match std::str::from_utf8(&item.value) {
            Ok(text) => Self { key, value: Some(text.to_owned()), base64: None },
            Err(_) => Self { key, value: None, base64: Some(STANDARD.encode(&item.value)) },
        }
    }
}

/// Parses the key and the value of a line. Errors do not quote the line: values can be secret.
fn parse(line: &str) -> Result<(String, Bytes)> {
    let line: Line = serde_json::from_str(line)
        .map_err(|error| anyhow!("column {}: not an item of a dump", error.column()))?;
    let value = match (line.value, line.base64) {
        (Some(text), None) => Bytes::from(text),
        (None, Some(text)) => STANDARD.decode(text).map_err(|_| anyhow!("not base64"))?.into(),
        _ => bail!("expected `value` or `base64`"),
    };
    Ok((line.key, value))
}
