//! DeploymentConfigs.

use std::collections::BTreeSet;

use krm_yaml::{Scalar, View};

use super::super::metadata::label_map;
use super::super::pods::{has_labels, template_labels};
use crate::formats::{Format, is_subdomain};
use crate::walk::{Part, Walk, get, has, is_empty, list, number, steps, text};

/// Checks a DeploymentConfig.
pub(crate) fn deployment<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let labels = template_labels(spec);
    if let Some(selector) = get(spec, "selector").filter(|selector| !is_empty(*selector))
        && get(spec, "template").is_some()
        && !has_labels(labels, spec, "selector")
        && !walk.is_open(selector)
        && !walk.is_open(labels.unwrap_or(selector))
    {
        let what = "must have the labels that `spec.selector` selects";
        walk.refuse(spec, steps!["template", "metadata", "labels"], what);
    }
    let mut containers = BTreeSet::new();
    let pod = get(spec, "template").and_then(|template| get(template, "spec"));
    for field in ["initContainers", "containers"] {
        containers.extend(
            pod.into_iter().flat_map(|pod| list(pod, field)).filter_map(|one| text(one, "name")),
        );
    }
    for (index, trigger) in list(spec, "triggers").enumerate() {
        let kind = text(trigger, "type");
        match (kind.as_deref(), get(trigger, "imageChangeParams")) {
            (None, _) if get(trigger, "type").is_none_or(|one| one.as_str().is_some()) => {
                walk.missing(spec, steps!["triggers", index, "type"]);
            }
            (Some("ImageChange"), None) => {
                walk.missing(spec, steps!["triggers", index, "imageChangeParams"]);
            }
            (Some("ImageChange"), Some(parameters)) if parameters.is_mapping() => {
                image_change(walk, spec, parameters, index);
            }
            _ => {}
        }
    }
    deployment_strategy(walk, spec);
}

/// The time in which a deployment must be done, by default.
const DEADLINE: i64 = 600;

fn image_change<'v>(walk: &mut Walk<'v>, spec: View<'v>, parameters: View<'v>, index: usize) {
    if let Some(from) = get(parameters, "from").filter(|from| from.is_mapping()) {
        let at = |field: &'static str| {
            [
                Part::from("triggers"),
                index.into(),
                "imageChangeParams".into(),
                "from".into(),
                field.into(),
            ]
        };
        let is_tag = text(from, "kind").is_none_or(|kind| kind == "ImageStreamTag");
        match text(from, "name") {
            None => walk.missing(spec, &at("name")),
            Some(name) if is_tag && !is_stream_tag(&name) => {
                walk.refuse(spec, &at("name"), "must be the name of an image stream, `:` and a tag")
            }
            Some(_) => {}
        }
        if text(from, "kind").is_some_and(|kind| {
            !matches!(kind.as_ref(), "ImageStreamTag" | "ImageStream" | "ImageRepository")
        }) {
            walk.refuse(spec, &at("kind"), "must be `ImageStreamTag`");
        }
        if text(from, "namespace").is_some_and(|name| !is_subdomain(&name)) {
            walk.refuse(spec, &at("namespace"), &format!("must be {}", Format::Subdomain.words()));
        }
    }
}

fn deployment_strategy<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let Some(strategy) = get(spec, "strategy").filter(|one| one.is_mapping()) else {
        return;
    };
    label_map(walk, strategy, "labels");
    let most = number(strategy, "activeDeadlineSeconds");
    let kind = text(strategy, "type");
    let is_recreate = kind.as_deref() == Some("Recreate");
    let field = if is_recreate { "recreateParams" } else { "rollingParams" };
    let within =
        get(strategy, field).and_then(|one| number(one, "timeoutSeconds")).unwrap_or(DEADLINE);
    if kind.as_deref() != Some("Custom") && most.is_some_and(|most| most > 0 && most <= within) {
        walk.refuse(
            spec,
            steps!["strategy", "activeDeadlineSeconds"],
            "must be more than `timeoutSeconds`",
        );
    }
    if kind.as_deref() == Some("Custom") && get(strategy, "customParams").is_none() {
        walk.refuse(spec, steps!["strategy", "customParams"], "is required for `type: Custom`");
    }
    for field in ["rollingParams", "recreateParams"] {
        let Some(parameters) = get(strategy, field).filter(|one| one.is_mapping()) else {
            continue;
        };
        if field == "rollingParams"
            && text(strategy, "type").as_deref().is_some_and(|kind| kind != "Rolling")
        {
            continue;
        }
        let zero = |name: &str| match get(parameters, name).and_then(View::scalar) {
            Some(Scalar::Number(digits)) => digits == "0",
            Some(Scalar::String(text)) => text == "0%" || text == "0",
            _ => false,
        };
        if field == "rollingParams" && zero("maxSurge") && zero("maxUnavailable") {
            walk.refuse(
                spec,
                steps!["strategy", field, "maxUnavailable"],
                "must not be 0 if `maxSurge` is 0",
            );
        }
        for hook in ["pre", "mid", "post"] {
            let Some(one) = get(parameters, hook).filter(|one| one.is_mapping()) else {
                continue;
            };
            let at = |field2: &'static str| {
                [Part::from("strategy"), field.into(), hook.into(), field2.into()]
            };
            let pod = get(one, "execNewPod");
            let tags = has(one, "tagImages");
            if pod.is_some() && tags {
                walk.refuse(spec, &at("tagImages"), "must not be set next to `execNewPod`");
            } else if pod.is_none() && !tags {
                walk.refuse(spec, &at("execNewPod"), "or `tagImages` is required");
            }
        }
    }
}

/// Whether a text is the name of an image stream, `:` and a tag.
pub(super) fn is_stream_tag(name: &str) -> bool {
    name.split_once(':').is_some_and(|(stream, tag)| !stream.is_empty() && !tag.is_empty())
}
