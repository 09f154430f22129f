//! The stored Templates of several groups as one list, sorted by namespace and name.

use std::collections::VecDeque;

use krm_template_server_core::groups::Group;
use krm_template_server_core::status::{Result, Status};
use krm_template_server_core::store::Item;
use krm_template_server_core::telemetry::measured_store::Measured;

/// The number of Templates to read at once.
const CHUNK: usize = 200;

/// The stored Templates of several groups as one list.
pub(super) struct Merged<'m> {
    store: &'m Measured,
    lists: Vec<Listed>,
    /// The keys of damaged Templates, which are left out.
    pub(super) damaged: Vec<String>,
}

/// The Templates of one group.
struct Listed {
    /// The key prefix of the group.
    group: String,
    /// The key prefix of the list.
    prefix: String,
    /// The last key that was read.
    after: Option<String>,
    items: VecDeque<Item>,
    is_read: bool,
}

impl<'m> Merged<'m> {
    /// Lists the Templates after `NAMESPACE/NAME`: in a namespace or, if it is empty, in all.
    pub(super) fn new(
        store: &'m Measured,
        groups: &[Group],
        namespace: &str,
        name: Option<&str>,
    ) -> Self {
        let lists = groups.iter().map(|group| {
            let group = format!("/{}/templates/", group.name());
            let prefix = match namespace {
                "" => group.clone(),
                namespace => format!("{group}{namespace}/"),
            };
            let after = name.map(|name| format!("{group}{name}"));
            Listed {
                after: after.filter(|after| after.starts_with(&prefix)),
                group,
                prefix,
                items: VecDeque::new(),
                is_read: false,
            }
        });
        Self { store, lists: lists.collect(), damaged: Vec::new() }
    }

    /// Returns the next Template and its `NAMESPACE/NAME`. Templates of different groups can
    /// have the same one.
    pub(super) async fn next(&mut self) -> Result<Option<(String, Item)>> {
        for list in &mut self.lists {
            self.damaged.extend(list.read(self.store).await?);
        }
        let lists = self.lists.iter_mut();
        let first = lists
            .filter(|list| !list.items.is_empty())
            .min_by(|one, other| one.name().cmp(&other.name()));
        Ok(first.and_then(|list| {
            let name = list.name()?.to_owned();
            Some((name, list.items.pop_front()?))
        }))
    }
}

impl Listed {
    /// Returns `NAMESPACE/NAME` of the next Template.
    fn name(&self) -> Option<&str> {
        self.items.front()?.key.strip_prefix(&self.group)
    }

    /// Reads more Templates if none are left. Returns the keys of damaged ones.
    async fn read(&mut self, store: &Measured) -> Result<Vec<String>> {
        if self.is_read || !self.items.is_empty() {
            return Ok(Vec::new());
        }
        let listed = store.list(&self.prefix, self.after.as_deref(), CHUNK, None);
        let page = listed.await.map_err(|error| {
            tracing::warn!(%error, "the store cannot be listed");
            Status::unavailable("the store is unavailable, please try again later")
        })?;
        self.is_read = page.remaining == 0;
        self.items.extend(page.items);
        self.after = self.items.back().map(|item| item.key.clone());
        self.is_read |= self.items.is_empty();
        Ok(page.damaged)
    }
}
