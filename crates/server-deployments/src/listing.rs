//! Pages of deployments, and the operations of a deployment.

use std::collections::VecDeque;

use super::input::check_namespace;
use super::record::{DEPLOYMENTS, Deployment, OPERATIONS, Operation, Target};
use super::repository::decoded;
use super::service::Deployments;
use krm_template_server_core::{Result, Status};

/// A part of the list of deployments.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The deployments, sorted by namespace and name; damaged ones come last.
    pub deployments: Vec<Deployment>,
    /// The continue token of the next page, if there is one.
    pub next: Option<String>,
}

impl Deployments {
    /// Returns a page of the deployments of a namespace, or of all namespaces if it is empty.
    ///
    /// # Errors
    ///
    /// 400 if the namespace or the continue token is invalid.
    pub async fn page(&self, namespace: &str, after: Option<&str>) -> Result<Page> {
        let prefix = if namespace.is_empty() {
            DEPLOYMENTS.to_owned()
        } else {
            check_namespace(namespace)?;
            format!("{DEPLOYMENTS}{namespace}/")
        };
        let after = after.map(|after| format!("{DEPLOYMENTS}{after}"));
        if after.as_ref().is_some_and(|key| !key.starts_with(&prefix)) {
            return Err(Status::bad_request("continue: not a token of this list"));
        }
        let found = self.tools.records.page(&prefix, after.as_deref()).await?;
        let mut page = Page::default();
        for item in &found.items {
            let mut deployment = decoded::<Deployment>(item)?.value;
            self.mark_interrupted(&mut deployment).await?;
            page.deployments.push(deployment);
        }
        let damaged = found.damaged.iter();
        page.deployments.extend(damaged.filter_map(|key| Deployment::damaged(key)));
        if found.remaining > 0 {
            let last = found.items.last();
            let last = last.and_then(|item| item.key.strip_prefix(DEPLOYMENTS));
            page.next = last.map(str::to_owned);
        }
        Ok(page)
    }

    /// Returns the last `count` operations of a deployment, newest first.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub async fn operations(&self, target: &Target, count: usize) -> Result<Vec<Operation>> {
        let (mut last, mut after) = (VecDeque::new(), None);
        loop {
            let page = self.tools.records.page(OPERATIONS, after.as_deref()).await?;
            for item in &page.items {
                let operation = decoded::<Operation>(item)?.value;
                if operation.target() == *target {
                    last.push_front(operation);
                    last.truncate(count);
                }
            }
            match page.items.last() {
                Some(item) if page.remaining > 0 => after = Some(item.key.clone()),
                _ => return Ok(last.into()),
            }
        }
    }
}
