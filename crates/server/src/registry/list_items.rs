//! The objects of a list, which are read from the store as the client takes them.

use std::sync::Arc;
use std::vec;

use crate::api::resource_request;
use crate::codec::Stored;
use crate::codec::encode::ListMeta;
use crate::request::continue_token::Continue;
use crate::request::list_options::Selectors;
use krm_template_server_core::status::{Result, Status};
use krm_template_server_core::store::{Item, Page, Revision};
use krm_template_server_core::telemetry::measured_store::Measured;

/// The result of a list request.
pub(crate) struct Found {
    pub(crate) meta: ListMeta,
    pub(crate) items: Items,
}

/// The objects of a list, in order, all at one revision of the store.
pub(crate) struct Items {
    read: vec::IntoIter<Item>,
    pub(crate) rest: Option<Rest>,
    /// The keys of damaged objects that were found, which are left out.
    damaged: Vec<String>,
}

/// The items of a store outside of this process that have not been read yet.
pub(crate) struct Rest {
    pub(crate) store: Arc<Measured>,
    pub(crate) selectors: Selectors,
    pub(crate) prefix: String,
    /// The last key that was read.
    pub(crate) after: String,
    pub(crate) revision: Revision,
}

/// Returns at most `wanted` selected objects of a page, or all for zero.
pub(crate) fn selected(selectors: &Selectors, page: Page, prefix: &str, wanted: usize) -> Found {
    let is_selective = !selectors.is_empty();
    let mut items = Vec::with_capacity(page.items.len());
    let mut has_more = page.remaining > 0;
    let mut damaged = page.damaged;
    for item in page.items {
        if is_selective {
            match resource_request::stored(&item) {
                Ok(stored) if matches(selectors, &stored) => {}
                Ok(_) => continue,
                Err(_) => {
                    damaged.push(item.key);
                    continue;
                }
            }
        }
        if wanted > 0 && items.len() == wanted {
            has_more = true;
            break;
        }
        items.push(item);
    }
    let last = items.last().filter(|_| has_more && wanted > 0);
    let next = last.map(|Item { key, .. }| {
        let after = key.strip_prefix(prefix).unwrap_or(key).to_owned();
        Continue { revision: Some(page.revision), after }.encode()
    });
    let remaining = (next.is_some() && !is_selective).then_some(page.remaining);
    Found {
        meta: ListMeta { revision: page.revision, next, remaining },
        items: Items { damaged, ..Items::new(items) },
    }
}

impl Items {
    pub(crate) fn new(items: Vec<Item>) -> Self {
        Self { read: items.into_iter(), rest: None, damaged: Vec::new() }
    }

    /// Returns the warning about the objects that were left out until now, if there are any.
    pub(crate) fn warning(&self) -> Option<String> {
        resource_request::left_out(&self.damaged)
    }

    /// Returns the size of the objects that have been read, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let items = self.read.as_slice().iter();
        items.map(|item| item.value.len() + 64).sum()
    }

    /// Returns the next object, and the revision that wrote it.
    pub(crate) async fn next(&mut self) -> Result<Option<(Stored, Revision)>> {
        loop {
            if let Some(item) = self.read.next() {
                if let Ok(stored) = resource_request::stored(&item) {
                    return Ok(Some((stored, item.revision)));
                }
                self.damaged.push(item.key);
                continue;
            }
            let Some(rest) = &mut self.rest else {
                return Ok(None);
            };
            let (mut items, is_last) = rest.read().await?;
            self.read = items.read;
            self.damaged.append(&mut items.damaged);
            if is_last {
                self.rest = None;
            }
        }
    }
}

impl Rest {
    /// Reads some more objects. Also returns whether they are the last ones.
    async fn read(&mut self) -> Result<(Items, bool)> {
        let (store, after) = (&self.store, Some(self.after.as_str()));
        let page = store.list(&self.prefix, after, store.chunk(), Some(self.revision));
        let page = page.await.map_err(|error| {
            tracing::warn!(%error, "the rest of a list cannot be read");
            Status::unavailable("the rest of the list cannot be read")
        })?;
        let is_last = page.remaining == 0 || page.items.is_empty();
        if let Some(last) = page.items.last() {
            self.after.clone_from(&last.key);
        }
        let found = selected(&self.selectors, page, &self.prefix, 0);
        Ok((found.items, is_last))
    }
}

/// Returns `true` if the selectors match an object.
pub(crate) fn matches(selectors: &Selectors, stored: &Stored) -> bool {
    selectors.fields.matches(stored.name(), stored.namespace())
        && (selectors.labels.is_empty() || {
            let labels = stored.labels();
            selectors.labels.matches(|key| labels.get(key).map(String::as_str))
        })
}
