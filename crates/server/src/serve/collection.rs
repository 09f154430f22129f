//! Lists of stored Templates, from the store to the response.

use std::sync::Arc;

use super::answer::Answer;
use super::call::{Call, FUTURE};
use super::items::{Found, Rest, selected};
use super::listing;
use crate::wire::accept::Scope;
use crate::wire::list::{self, At, ListOptions};
use krm_template_server_core::status::Result;
use krm_template_server_core::store::Error;

pub(super) async fn list(call: &Call<'_>) -> Result<Answer> {
    let shown = call.shown(Scope::List)?;
    let options = ListOptions::parse(call.query, call.group)?;
    let found = read(call, &options).await?;
    listing::answer(call, shown, found).await
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
        Err(Error::Compacted(_)) => return Err(list::expired(options)),
        // The store was restored from a backup.
        Err(Error::Future(_)) if options.after.is_some() => return Err(list::expired(options)),
        Err(Error::Future(newest)) => {
            tokio::time::sleep(FUTURE).await;
            return Err(list::in_the_future(at.unwrap_or_default(), newest));
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
