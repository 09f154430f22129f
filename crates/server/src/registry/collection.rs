//! Lists of stored Templates, from the store to the response.

use std::sync::Arc;

use super::list_items::{Found, Rest, selected};
use super::list_text;
use crate::api::resource_request::{Call, FUTURE};
use crate::http::response::Answer;
use crate::request::accept::Scope;
use crate::request::list_options::{self, At, ListOptions};
use krm_template_server_core::status::Result;
use krm_template_server_core::store::Error;

pub(crate) async fn list(call: &Call<'_>) -> Result<Answer> {
    let shown = call.shown(Scope::List)?;
    let options = ListOptions::parse(call.query, call.group)?;
    let found = read(call, &options).await?;
    list_text::answer(call, shown, found).await
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
