//! Instances that create instances: the chain is short, and no Template occurs twice in it.

use serde_json::{Value, json};

use super::expansion::Problem;
use super::objects::{objects_of, recorded_of};
use super::status::Status;
use super::store::{Context, Instance, Planned, Stop, prefix};
use krm_template_cluster::{Recorded, owner_of};
use krm_template_server_core::{Group, Kind};

/// The maximum number of instances in a chain.
const DEPTH: usize = 8;

/// Checks that an instance may create the instances among its objects.
pub(super) async fn check(
    context: &Context,
    instance: &Instance,
    objects: &[&Value],
) -> Result<Result<(), Problem>, Stop> {
    let children = objects.iter().filter(|object| group_of(object).is_some());
    let children: Vec<&Value> = children.copied().collect();
    if children.is_empty() {
        return Ok(Ok(()));
    }
    let mut templates = templates(instance.namespace(), &instance.spec());
    let mut parent = parent(context, instance).await?;
    let mut depth = 1;
    while let Some(one) = parent.take().filter(|_| depth < DEPTH) {
        depth += 1;
        templates.extend(self::templates(one.namespace(), &one.spec()));
        parent = self::parent(context, &one).await?;
    }
    for child in children {
        let name = child.pointer("/metadata/name").and_then(Value::as_str);
        let name = name.unwrap_or_default();
        let namespace = child.pointer("/metadata/namespace").and_then(Value::as_str);
        let namespace = namespace.unwrap_or(instance.namespace());
        let spec = child.get("spec").unwrap_or(&Value::Null);
        let why = if depth >= DEPTH {
            format!("instances create one another at most {DEPTH} levels deep")
        } else if self::templates(namespace, spec).iter().any(|one| templates.contains(one)) {
            "an instance cannot be created by an instance of the same Template".to_owned()
        } else {
            continue;
        };
        let message = format!("TemplateInstance {name:?}: {why}; remove it from the Template");
        return Ok(Err(Problem::new("Invalid", message)));
    }
    Ok(Ok(()))
}

/// Returns the group of an object if it is an instance.
fn group_of(object: &Value) -> Option<Group> {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let group = text("apiVersion").split('/').next();
    let is_instance = text("kind") == Kind::Instance.name();
    let mut groups = Group::ALL.into_iter();
    groups.find(|one| is_instance && Some(one.name()) == group)
}

/// Returns the Templates of a `spec`: stored ones by name, others by content.
fn templates(namespace: &str, spec: &Value) -> Vec<Value> {
    let instances = spec.get("instances").and_then(Value::as_array);
    let mut all = Vec::new();
    for one in instances.into_iter().flatten().chain([spec]) {
        if let Some(name) = one.pointer("/templateRef/name") {
            all.push(json!([namespace, name]));
        }
        if let Some(template) = one.get("template").filter(|one| !one.is_null()) {
            all.push(json!([template.get("parameters"), template.get("objects")]));
        }
    }
    all
}

/// Returns the instance that has created another one. The annotation alone proves nothing: the other
/// instance must have recorded it, too.
async fn parent(context: &Context, child: &Instance) -> Result<Option<Instance>, Stop> {
    let value = child.draft.to_value();
    let owner = owner_of(&value).and_then(|owner| owner.strip_prefix(Kind::Instance.name()));
    let Some((group, place)) = owner.and_then(|rest| rest.strip_prefix('.')?.split_once('/'))
    else {
        return Ok(None);
    };
    let mut groups = Group::ALL.into_iter();
    let Some(group) = groups.find(|one| one.name() == group) else {
        return Ok(None);
    };
    let key = format!("{}{place}", prefix(group));
    let Some(parent) = Instance::read(context, &key).await? else {
        return Ok(None);
    };
    let mut recorded = objects_of(&Status::of(&parent));
    let planned = Planned::read(&context.state, &parent).await?;
    recorded.extend(planned.plan.objects.iter().map(recorded_of));
    // Of one that is being created, the uid is not known yet, nor a generated name.
    let is_child = |one: &Recorded| {
        (one.group(), &*one.kind) == (child.group().name(), Kind::Instance.name())
            && one.namespace == child.namespace()
            && (one.name == child.name() || one.name.is_empty())
            && (one.uid == child.uid || one.uid.is_empty())
    };
    Ok(recorded.iter().any(is_child).then_some(parent))
}
