//! Lists of stored Templates, from the store to the response.

use super::answer::Answer;
use super::call::{self, Call, FUTURE};
use super::render;
use crate::object::Stored;
use crate::object::answer::ListMeta;
use crate::wire::accept::Scope;
use crate::wire::cont::Continue;
use crate::wire::list::{self, At, ListOptions, Selectors};
use krm_template_server_core::status::Result;
use krm_template_server_core::store::{Error, Item, Page, Revision};

/// The result of a list request.
pub(super) struct Found {
    pub(super) meta: ListMeta,
    pub(super) items: Vec<(Stored, Revision)>,
}

pub(super) async fn list(call: &Call<'_>) -> Result<Answer> {
    let shown = call.shown(Scope::List)?;
    let options = ListOptions::parse(call.query, call.group)?;
    let found = read(call, &options).await?;
    Ok(render::list(
        call.group,
        shown,
        call.now,
        &found.meta,
        &found.items,
    ))
}

pub(super) async fn read(call: &Call<'_>, options: &ListOptions) -> Result<Found> {
    let at = match options.at {
        At::Newest => None,
        At::NotOlderThan(revision) => {
            call.reach(revision).await?;
            None
        }
        At::Exact(revision) => Some(revision),
    };
    let prefix = call.prefix();
    let after = options
        .after
        .as_ref()
        .map(|after| format!("{prefix}{after}"));
    let wanted = options
        .limit
        .and_then(|limit| usize::try_from(limit).ok())
        .unwrap_or(0);
    let is_selective = !options.selectors.is_empty();
    // With selectors, filling a page can take any number of items.
    let limit = if is_selective { 0 } else { wanted };
    let page = match call
        .state
        .store
        .list(&prefix, after.as_deref(), limit, at)
        .await
    {
        Ok(page) => page,
        Err(Error::Compacted(_)) => return Err(list::expired(options)),
        Err(Error::Future(newest)) => {
            tokio::time::sleep(FUTURE).await;
            return Err(list::in_the_future(at.unwrap_or_default(), newest));
        }
        Err(error) => return Err(call.refused("", &error)),
    };
    selected(options, page, &prefix, wanted)
}

/// Returns at most `wanted` selected objects of a page, or all for zero.
fn selected(options: &ListOptions, page: Page, prefix: &str, wanted: usize) -> Result<Found> {
    let is_selective = !options.selectors.is_empty();
    let mut items = Vec::with_capacity(page.items.len());
    let mut has_more = page.remaining > 0;
    let mut last = None;
    for Item {
        key,
        value,
        revision,
    } in page.items
    {
        let stored = call::stored(&value)?;
        if is_selective && !matches(&options.selectors, &stored) {
            continue;
        }
        if wanted > 0 && items.len() == wanted {
            has_more = true;
            break;
        }
        items.push((stored, revision));
        last = Some(key);
    }
    let next = last.filter(|_| has_more).map(|key| {
        let after = key.strip_prefix(prefix).unwrap_or(&key).to_owned();
        Continue {
            revision: Some(page.revision),
            after,
        }
        .encode()
    });
    let remaining = (next.is_some() && !is_selective).then_some(page.remaining);
    Ok(Found {
        meta: ListMeta {
            revision: page.revision,
            next,
            remaining,
        },
        items,
    })
}

/// Returns `true` if the selectors match an object.
pub(super) fn matches(selectors: &Selectors, stored: &Stored) -> bool {
    selectors.fields.matches(stored.name(), stored.namespace())
        && (selectors.labels.is_empty() || {
            let labels = stored.labels();
            selectors
                .labels
                .matches(|key| labels.get(key).map(String::as_str))
        })
}
