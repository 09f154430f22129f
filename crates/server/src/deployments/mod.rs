//! The Deployment Manager API: paths, methods and responses.

mod call;
mod changes;
pub(crate) mod rights;
mod shown;

use http::Method;
use serde_json::json;

use crate::http::{Answer, response};
use crate::request::{DeploymentPath, resources};
use krm_template_server_core::{Result, Status};
use krm_template_server_deployments::{ChangeKind, Input};

pub(crate) use call::Call;
pub(crate) use rights::is_read;

pub(crate) async fn answer(call: &Call<'_>, path: &DeploymentPath) -> Result<Answer> {
    let method = &call.incoming.method;
    let service = &call.state.deployments;
    match (path, method) {
        (DeploymentPath::Deployments, _) if is_read(method) => {
            let all = service.list(call.namespace()).await?;
            let names: Vec<String> = all.into_iter().map(|one| one.name).collect();
            Ok(call.shown(200, json!(names).to_string().into_bytes()).await)
        }
        (DeploymentPath::Deployments, &Method::POST) => {
            let Input { name, request } = call.input().await?;
            let name = name.ok_or_else(|| Status::bad_request("name: Required value"))?;
            changes::make(call, &name, ChangeKind::Create, Some(request)).await
        }
        (DeploymentPath::Deployment(name), _) if is_read(method) => {
            let shown = service.get(&call.target(name)).await?;
            let wanted = rights::to_manifests("get", call.namespace(), name);
            let may_read = call.state.allows(call.user, &wanted).await?;
            let manifest = may_read.then_some(&*shown.manifest);
            let json = shown::deployment(&shown.deployment, &shown.message, manifest);
            Ok(call.shown(200, json).await)
        }
        (DeploymentPath::Deployment(name), &Method::PUT) => {
            let input = call.input().await?;
            changes::check_name(&input, name)?;
            changes::make(call, name, ChangeKind::Update, Some(input.request)).await
        }
        (DeploymentPath::Deployment(name), &Method::DELETE) => {
            changes::make(call, name, ChangeKind::Delete, None).await
        }
        (DeploymentPath::Manifests(name), _) if is_read(method) => {
            let names = service.manifests(&call.target(name)).await?;
            Ok(call.shown(200, json!(names).to_string().into_bytes()).await)
        }
        (DeploymentPath::Manifest(name, manifest), _) if is_read(method) => {
            let manifest = service.manifest(&call.target(name), manifest).await?;
            Ok(call.shown(200, manifest.to_vec()).await)
        }
        (DeploymentPath::Types, _) if is_read(method) => {
            let types = service.types(call.namespace()).await?;
            Ok(call.shown(200, types.into_bytes()).await)
        }
        (DeploymentPath::Instances(kind), _) if is_read(method) => {
            let kind = Some(kind.as_str()).filter(|kind| *kind != "all");
            let instances = service.instances(call.namespace(), kind).await?;
            Ok(call.shown(200, instances.into_bytes()).await)
        }
        (DeploymentPath::Expand, &Method::POST) => expand(call).await,
        (DeploymentPath::Operation(name), _) if is_read(method) => {
            let operation = call.operation(name).await?;
            Ok(call.shown(200, shown::operation(&operation)?).await)
        }
        _ => Err(resources::not_allowed()),
    }
}

/// Expands the configuration in the body.
async fn expand(call: &Call<'_>) -> Result<Answer> {
    call.refuse_dry_run()?;
    let texts = call.state.deployments.texts(call.input().await?.request).await?;
    let document = json!({"config": texts.config, "layout": texts.layout});
    let mut answer = call.shown(200, document.to_string().into_bytes()).await;
    response::warn(&mut answer, &texts.warnings);
    Ok(answer)
}
