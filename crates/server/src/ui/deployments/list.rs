//! The deployments of a namespace.

use minijinja::context;
use std::collections::BTreeSet;

use futures_util::future::try_join_all;

use super::address::{Address, HOME};
use super::texts::{command, moment, word};
use crate::deployments::rights;
use crate::http::Answer;
use crate::request::DEFAULT_NAMESPACE;
use crate::ui::pages::{self, Data};
use crate::ui::visit::{Visit, encoded, html};
use krm_core::visible::counted;
use krm_template_server_core::Result;
use krm_template_server_deployments::{Deployment, Target};

pub(super) async fn page(visit: &Visit<'_>) -> Result<Answer> {
    let query = &visit.incoming.query;
    let namespace = query.text("namespace").trim();
    let after = query.first("continue").filter(|after| !after.is_empty());
    let service = &visit.state.deployments;
    let found = service.page(namespace, after).await?;
    let deployments = listed(visit, namespace, found.deployments, found.next.is_some()).await?;
    let rows = deployments.iter().map(|one| row(visit, one));
    let rows = try_join_all(rows).await?;
    let mut frame = visit.frame("deployments", "Deployments", namespace);
    frame.namespaces = deployments.iter().map(|one| one.namespace.clone()).collect();
    frame.namespaces.dedup();
    let of = if namespace.is_empty() { DEFAULT_NAMESPACE } else { namespace };
    let more = if found.next.is_some() { ", and more on the next page" } else { "" };
    let list = context! {
        count => counted(rows.len(), "deployment") + more,
        rows,
        next => found.next.map(|after| {
            let namespace = encoded(namespace);
            format!("{HOME}?namespace={namespace}&continue={}", encoded(&after))
        }),
        is_first => after.is_none(),
        command => command(visit, of, "create web --config config.yaml"),
        expands_only => !service.applies(),
    };
    Ok(html(200, pages::render("deployments.html", &frame, list)?))
}

/// Returns the deployments of namespaces in which the user may list them.
///
/// # Errors
/// 403 if the user may list none, and there are no more pages.
async fn listed(
    visit: &Visit<'_>,
    namespace: &str,
    mut found: Vec<Deployment>,
    has_more: bool,
) -> Result<Vec<Deployment>> {
    let all = rights::to("list", namespace, "");
    let Err(refusal) = visit.state.authorize(&visit.user, &all).await else {
        return Ok(found);
    };
    if refusal.code != 403 || !namespace.is_empty() {
        return Err(refusal);
    }
    let namespaces: BTreeSet<String> = found.iter().map(|one| one.namespace.clone()).collect();
    let mut hidden = BTreeSet::new();
    for namespace in namespaces {
        let wanted = rights::to("list", &namespace, "");
        if !visit.state.allows(&visit.user, &wanted).await? {
            hidden.insert(namespace);
        }
    }
    found.retain(|one| !hidden.contains(&one.namespace));
    if found.is_empty() && !has_more {
        return Err(refusal);
    }
    Ok(found)
}

async fn row(visit: &Visit<'_>, deployment: &Deployment) -> Result<Data> {
    let Target { namespace, name } = deployment.target();
    let wanted = rights::to("get", &namespace, &name);
    let may_get = visit.state.allows(&visit.user, &wanted).await?;
    let more = may_get.then(|| {
        context! {
            state => word(&deployment.state),
            manifest => deployment.latest_manifest.clone(),
            modified => moment(visit, &deployment.modified_at),
        }
    });
    let address = Address { target: deployment.target() };
    Ok(context! { href => address.page(), name, namespace, more })
}
