//! Lists of stored Templates, from the store to the response.

use super::answer::{self, Answer};
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
    /// The keys of damaged objects, which are left out.
    damaged: Vec<String>,
}

impl Found {
    /// Returns the warning about the objects that are left out, if there are any.
    pub(super) fn warning(&self) -> Option<String> {
        call::left_out(&self.damaged)
    }
}

pub(super) async fn list(call: &Call<'_>) -> Result<Answer> {
    let shown = call.shown(Scope::List)?;
    let options = ListOptions::parse(call.query, call.group)?;
    let found = read(call, &options).await?;
    let mut answer = render::list(call.group, shown, call.now, &found.meta, &found.items);
    answer::warn(&mut answer, found.warning().as_slice());
    Ok(answer)
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
        // The store was restored from a backup.
        Err(Error::Future(_)) if options.after.is_some() => return Err(list::expired(options)),
        Err(Error::Future(newest)) => {
            tokio::time::sleep(FUTURE).await;
            return Err(list::in_the_future(at.unwrap_or_default(), newest));
        }
        Err(error) => return Err(call.refused("", &error)),
    };
    Ok(selected(options, page, &prefix, wanted))
}

/// Returns at most `wanted` selected objects of a page, or all for zero.
fn selected(options: &ListOptions, page: Page, prefix: &str, wanted: usize) -> Found {
    let is_selective = !options.selectors.is_empty();
    let mut items = Vec::with_capacity(page.items.len());
    let mut has_more = page.remaining > 0;
    let (mut last, mut damaged) = (None, page.damaged);
    for Item {
        key,
        value,
        revision,
    } in page.items
    {
        let Ok(stored) = Stored::decode(&value) else {
            damaged.push(key);
            continue;
        };
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
    Found {
        meta: ListMeta {
            revision: page.revision,
            next,
            remaining,
        },
        items,
        damaged,
    }
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
