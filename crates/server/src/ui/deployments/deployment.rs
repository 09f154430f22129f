//! A deployment with its manifests, operations, resources and outputs.

use minijinja::context;
use std::collections::BTreeSet;

use super::address::Address;
use super::texts::{beginning, moment, uses, word, yaml};
use super::tree::nodes;
use crate::http::Answer;
use crate::ui::pages::{self, Data};
use crate::ui::visit::{Visit, html};
use krm_template_cluster::{Recorded, What};
use krm_template_server_core::{Result, panics};
use krm_template_server_deployments::{Deployment, Manifest, Operation};

/// The maximum number of operations on a page.
const MAX_OPERATIONS: usize = 10;
/// The maximum number of resources, and of objects, on a page.
const MAX_ROWS: usize = 200;

pub(super) async fn page(visit: &Visit<'_>, address: &Address) -> Result<Answer> {
    let service = &visit.state.deployments;
    let found = service.get(&address.target).await?;
    let deployment = &found.deployment;
    let may_read_operations = address.allows_operations(visit).await?;
    let operations = if may_read_operations {
        service.operations(&address.target, MAX_OPERATIONS).await?
    } else {
        Vec::new()
    };
    let may_list = address.allows_manifests(visit, "list").await?;
    let may_read = address.allows_manifests(visit, "get").await?;
    let manifests = may_list.then(|| manifests(visit, address, deployment, &operations));
    let owned = Address { target: address.target.clone() };
    let newest = deployment.latest_manifest.clone();
    let json = found.manifest.clone();
    let drawn = move || Ok(drawn(&owned, &newest, &Manifest::read(&json)?));
    let drawn = panics::blocking(&visit.state.metrics, drawn).await?;
    let last = operations.first();
    let mut objects = objects(deployment, last);
    let object_count = objects.len();
    objects.truncate(MAX_ROWS);
    let page = context! {
        name => address.target.name.clone(),
        list => address.list(),
        state => word(&deployment.state),
        message => found.message,
        errors => deployment.errors.clone(),
        created => moment(visit, &deployment.created_at),
        modified => moment(visit, &deployment.modified_at),
        is_busy => deployment.state.is_busy(),
        manifests,
        hides_operations => !may_read_operations,
        operations => operations.into_iter().map(|one| row(visit, one)).collect::<Data>(),
        resources => drawn.resources,
        resource_count => drawn.count,
        objects,
        object_count,
        outputs => if may_read { drawn.outputs } else { Data::default() },
        uses => uses(visit, address, &deployment.latest_manifest),
    };
    let name = &address.target.name;
    let frame = visit.frame("deployment", name, &address.target.namespace);
    Ok(html(200, pages::render("deployment.html", &frame, page)?))
}

/// Returns the manifests, the latest first. The time of a manifest is the start of its operation.
fn manifests(
    visit: &Visit<'_>,
    address: &Address,
    deployment: &Deployment,
    operations: &[Operation],
) -> Vec<Data> {
    let names = &deployment.manifests;
    let rows = names.iter().enumerate().map(|(at, name)| {
        let before = at.checked_sub(1).and_then(|before| names.get(before));
        let made = operations.iter().find(|operation| {
            operation.state.is_final() && operation.manifest.as_ref() == Some(name)
        });
        context! {
            href => address.below(name, &[]),
            name => name.clone(),
            is_newest => *name == deployment.latest_manifest,
            made => made.map(|operation| moment(visit, &operation.started_at)),
            changes => before.map(|before| address.changes(before, name)),
        }
    });
    let mut rows: Vec<Data> = rows.collect();
    rows.reverse();
    rows
}

fn row(visit: &Visit<'_>, operation: Operation) -> Data {
    context! {
        change => word(&operation.change),
        state => word(&operation.state),
        manifest => operation.manifest.unwrap_or_default(),
        user => operation.user,
        started => moment(visit, &operation.started_at),
        message => operation.message,
        errors => operation.errors,
        name => operation.name,
    }
}

/// Returns the objects of the last operation, and then the other objects in the cluster.
fn objects(deployment: &Deployment, last: Option<&Operation>) -> Vec<Data> {
    let row = |object: &Recorded, what: What, message: &str| {
        context! {
            kind => object.kind.clone(),
            name => object.name.clone(),
            namespace => object.namespace.clone(),
            what => word(&what),
            message => message.to_owned(),
        }
    };
    let steps = last.map(|last| last.steps.as_slice()).unwrap_or_default();
    let known: BTreeSet<[&str; 4]> = steps.iter().map(|step| identity(&step.object)).collect();
    let others = deployment.resources.iter();
    let others = others.filter(|object| !known.contains(&identity(object)));
    let steps = steps.iter();
    steps
        .map(|step| row(&step.object, step.what, &step.message))
        .chain(others.map(|object| row(object, What::Applied, "")))
        .collect()
}

/// Returns the identity of an object in a cluster: its group, kind, namespace and name.
fn identity(object: &Recorded) -> [&str; 4] {
    [object.group(), &object.kind, &object.namespace, &object.name]
}

/// The rendered parts of the latest manifest.
struct Drawn {
    resources: Vec<Data>,
    count: usize,
    outputs: Data,
}

fn drawn(address: &Address, name: &str, manifest: &Manifest) -> Drawn {
    let nodes = nodes(manifest);
    let resources = nodes.iter().filter(|node| node.resource.is_some());
    let outputs = manifest.layout.outputs.as_ref();
    Drawn {
        resources: resources
            .take(MAX_ROWS)
            .map(|node| {
                context! {
                    href => address.node(name, &node.path),
                    name => node.name.clone(),
                    kind => node.kind.clone(),
                }
            })
            .collect(),
        count: manifest.resources.len(),
        outputs: outputs.map_or_else(Data::default, |outputs| {
            yaml(0, beginning(&krm_yaml::to_string(outputs)))
        }),
    }
}
