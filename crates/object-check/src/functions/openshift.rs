//! Kinds of OpenShift: Routes, DeploymentConfigs, BuildConfigs, ImageStreams and Templates.

use std::collections::BTreeSet;

use krm_yaml::{Scalar, View};

use super::metadata::label_map;
use super::pods::{has_labels, template_labels};
use crate::formats::{Format, is_label, is_subdomain};
use crate::walk::{Part, Walk, get, has, is_empty, list, number, steps, text};

/// Checks a Route.
pub(crate) fn route<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let host = text(spec, "host");
    for field in ["host", "subdomain"] {
        if let Some(name) = text(spec, field) {
            let is_host = is_subdomain(&name) && name.split('.').all(is_label);
            if !is_host {
                walk.refuse(
                    spec,
                    steps![field],
                    "must be a DNS name of parts of up to 63 lower case letters, digits and `-`",
                );
            }
        }
    }
    if let Some(path) = text(spec, "path")
        && !path.starts_with('/')
    {
        walk.refuse(spec, steps!["path"], "must begin with `/`");
    }
    if get(spec, "to").is_none() {
        walk.missing(spec, steps!["to", "name"]);
    }
    if let Some(to) = get(spec, "to") {
        target(walk, spec, to, &["to".into()]);
    }
    let mut count = 0;
    for (index, other) in list(spec, "alternateBackends").enumerate() {
        count += 1;
        target(
            walk,
            spec,
            other,
            &["alternateBackends".into(), index.into()],
        );
    }
    if count > 3 {
        walk.refuse(
            spec,
            steps!["alternateBackends"],
            "must have at most 3 items",
        );
    }
    if let Some(port) = get(spec, "port").filter(|port| port.is_mapping()) {
        let target = get(port, "targetPort").and_then(View::scalar);
        let is_none = match &target {
            None => get(port, "targetPort").is_none(),
            Some(Scalar::String(name)) => name.is_empty(),
            Some(Scalar::Number(digits)) => digits == "0",
            Some(_) => false,
        };
        if is_none {
            walk.missing(spec, steps!["port", "targetPort"]);
        }
    }
    let wildcard = text(spec, "wildcardPolicy");
    if wildcard.as_deref() == Some("Subdomain") && host.is_none() {
        walk.refuse(
            spec,
            steps!["wildcardPolicy"],
            "must not be `Subdomain` without `host`",
        );
    }
    tls(walk, spec, wildcard.as_deref());
}

fn target<'v>(walk: &mut Walk<'v>, spec: View<'v>, target: View<'v>, path: &[Part<'v>]) {
    if !target.is_mapping() {
        return;
    }
    let at = |field: &'static str| {
        let mut path = path.to_vec();
        path.push(Part::from(field));
        path
    };
    if get(target, "kind")
        .and_then(View::as_str)
        .is_some_and(|kind| kind != "Service" && !kind.is_empty())
    {
        walk.refuse(spec, &at("kind"), "must be `Service`");
    }
    if !has(target, "name") {
        walk.missing(spec, &at("name"));
    }
    if number(target, "weight").is_some_and(|weight| !(0..=256).contains(&weight)) {
        walk.refuse(spec, &at("weight"), "must be between 0 and 256");
    }
}

fn tls<'v>(walk: &mut Walk<'v>, spec: View<'v>, wildcard: Option<&str>) {
    let Some(tls) = get(spec, "tls").filter(|tls| tls.is_mapping() && !is_empty(*tls)) else {
        return;
    };
    // Old capitals are read as well.
    let kind = text(tls, "termination").map(|kind| kind.to_ascii_lowercase());
    match kind.as_deref() {
        Some("reencrypt" | "edge" | "passthrough") | None => {}
        Some(other) => {
            let words = ["edge", "passthrough", "reencrypt"];
            walk.not_one_of(spec, steps!["tls", "termination"], other, &words);
        }
    }
    if kind.as_deref() == Some("passthrough") {
        for field in [
            "certificate",
            "key",
            "caCertificate",
            "destinationCACertificate",
            "externalCertificate",
        ] {
            if has(tls, field) {
                walk.refuse(
                    spec,
                    steps!["tls", field],
                    "must not be set for `termination: passthrough`",
                );
            }
        }
        if wildcard == Some("Subdomain") {
            walk.refuse(
                spec,
                steps!["wildcardPolicy"],
                "must not be `Subdomain` for `termination: passthrough`",
            );
        }
        if has(spec, "path") {
            walk.refuse(
                spec,
                steps!["path"],
                "must not be set for `termination: passthrough`",
            );
        }
    }
    if kind.as_deref() == Some("edge") && has(tls, "destinationCACertificate") {
        walk.refuse(
            spec,
            steps!["tls", "destinationCACertificate"],
            "must not be set for `termination: edge`",
        );
    }
    if let Some(policy) = text(tls, "insecureEdgeTerminationPolicy") {
        let words: &[&str] = match kind.as_deref() {
            Some("passthrough") => &["None", "Redirect"],
            _ => &["None", "Redirect", "Allow"],
        };
        if !words.contains(&policy.as_ref()) {
            walk.not_one_of(
                spec,
                steps!["tls", "insecureEdgeTerminationPolicy"],
                &policy,
                words,
            );
        }
    }
}

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
            pod.into_iter()
                .flat_map(|pod| list(pod, field))
                .filter_map(|one| text(one, "name")),
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
            Some(name) if is_tag && !is_stream_tag(&name) => walk.refuse(
                spec,
                &at("name"),
                "must be the name of an image stream, `:` and a tag",
            ),
            Some(_) => {}
        }
        if text(from, "kind").is_some_and(|kind| {
            !matches!(
                kind.as_ref(),
                "ImageStreamTag" | "ImageStream" | "ImageRepository"
            )
        }) {
            walk.refuse(spec, &at("kind"), "must be `ImageStreamTag`");
        }
        if text(from, "namespace").is_some_and(|name| !is_subdomain(&name)) {
            walk.refuse(
                spec,
                &at("namespace"),
                &format!("must be {}", Format::Subdomain.words()),
            );
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
    let field = if is_recreate {
        "recreateParams"
    } else {
        "rollingParams"
    };
    let within = get(strategy, field)
        .and_then(|one| number(one, "timeoutSeconds"))
        .unwrap_or(DEADLINE);
    if kind.as_deref() != Some("Custom") && most.is_some_and(|most| most > 0 && most <= within) {
        walk.refuse(
            spec,
            steps!["strategy", "activeDeadlineSeconds"],
            "must be more than `timeoutSeconds`",
        );
    }
    if kind.as_deref() == Some("Custom") && get(strategy, "customParams").is_none() {
        walk.refuse(
            spec,
            steps!["strategy", "customParams"],
            "is required for `type: Custom`",
        );
    }
    for field in ["rollingParams", "recreateParams"] {
        let Some(parameters) = get(strategy, field).filter(|one| one.is_mapping()) else {
            continue;
        };
        if field == "rollingParams"
            && text(strategy, "type")
                .as_deref()
                .is_some_and(|kind| kind != "Rolling")
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
                [
                    Part::from("strategy"),
                    field.into(),
                    hook.into(),
                    field2.into(),
                ]
            };
            let pod = get(one, "execNewPod");
            let tags = has(one, "tagImages");
            if pod.is_some() && tags {
                walk.refuse(
                    spec,
                    &at("tagImages"),
                    "must not be set next to `execNewPod`",
                );
            } else if pod.is_none() && !tags {
                walk.refuse(spec, &at("execNewPod"), "or `tagImages` is required");
            }
        }
    }
}

/// Whether a text is the name of an image stream, `:` and a tag.
fn is_stream_tag(name: &str) -> bool {
    name.split_once(':')
        .is_some_and(|(stream, tag)| !stream.is_empty() && !tag.is_empty())
}

/// Checks what is built, and from what.
pub(crate) fn build<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let strategy = get(spec, "strategy");
    const STRATEGIES: [&str; 4] = [
        "sourceStrategy",
        "dockerStrategy",
        "customStrategy",
        "jenkinsPipelineStrategy",
    ];
    if let Some(strategy) = strategy.filter(|one| one.is_mapping()) {
        let count = STRATEGIES
            .iter()
            .filter(|field| get(strategy, field).is_some())
            .count();
        // This type alone stands for an empty strategy.
        if count > 1 || (count == 0 && text(strategy, "type").as_deref() != Some("Docker")) {
            let what = "must have one of `sourceStrategy`, `dockerStrategy`, `customStrategy` and `jenkinsPipelineStrategy`";
            walk.refuse(spec, steps!["strategy"], what);
        }
        for field in ["sourceStrategy", "customStrategy"] {
            let Some(one) = get(strategy, field).filter(|one| one.is_mapping()) else {
                continue;
            };
            image(
                walk,
                spec,
                one,
                &["strategy".into(), field.into(), "from".into()],
            );
        }
        if let Some(one) = get(strategy, "dockerStrategy").filter(|one| get(*one, "from").is_some())
        {
            image(
                walk,
                spec,
                one,
                &["strategy".into(), "dockerStrategy".into(), "from".into()],
            );
        }
    } else if strategy.is_none() {
        walk.missing(spec, steps!["strategy"]);
    }
    source(walk, spec, strategy);
    if let Some(output) = get(spec, "output").filter(|one| one.is_mapping())
        && let Some(to) = get(output, "to").filter(|one| one.is_mapping())
    {
        let at = |field: &'static str| [Part::from("output"), "to".into(), field.into()];
        let kind = text(to, "kind");
        match kind.as_deref() {
            Some("ImageStreamTag" | "DockerImage" | "ImageStream" | "ImageRepository") | None => {}
            Some(other) => {
                walk.not_one_of(spec, &at("kind"), other, &["ImageStreamTag", "DockerImage"]);
            }
        }
        let name = text(to, "name");
        if kind.as_deref() == Some("ImageStreamTag") {
            match name {
                None if get(to, "name").is_none_or(|name| name.as_str().is_some()) => {
                    walk.missing(spec, &at("name"));
                }
                Some(name) if !is_stream_tag(&name) => {
                    walk.refuse(
                        spec,
                        &at("name"),
                        "must be the name of an image stream, `:` and a tag",
                    );
                }
                _ => {}
            }
        }
    }
    if get(spec, "output")
        .and_then(|output| get(output, "pushSecret"))
        .is_some_and(|one| one.is_mapping() && !has(one, "name"))
    {
        walk.missing(spec, steps!["output", "pushSecret", "name"]);
    }
    if let Some(hook) = get(spec, "postCommit")
        && has(hook, "command")
        && has(hook, "script")
    {
        walk.refuse(
            spec,
            steps!["postCommit", "script"],
            "must not be set next to `command`",
        );
    }
    triggers(walk, spec, strategy);
    if number(spec, "completionDeadlineSeconds").is_some_and(|seconds| seconds < 1) {
        walk.refuse(
            spec,
            steps!["completionDeadlineSeconds"],
            "must be at least 1",
        );
    }
}

fn image<'v>(walk: &mut Walk<'v>, spec: View<'v>, around: View<'v>, path: &[Part<'v>]) {
    let from = get(around, "from");
    let at = |field: &'static str| {
        let mut path = path.to_vec();
        path.push(Part::from(field));
        path
    };
    let Some(from) = from else {
        walk.missing(spec, path);
        return;
    };
    if !from.is_mapping() {
        return;
    }
    let kind = text(from, "kind");
    let words = ["ImageStreamTag", "ImageStreamImage", "DockerImage"];
    if let Some(kind) = &kind
        && !words.contains(&kind.as_ref())
    {
        // Old names of the first.
        if !matches!(kind.as_ref(), "ImageStream" | "ImageRepository") {
            walk.not_one_of(spec, &at("kind"), kind, &words);
        }
        return;
    }
    match text(from, "name") {
        None if get(from, "name").is_none_or(|name| name.as_str().is_some()) => {
            walk.missing(spec, &at("name"));
        }
        Some(name) if kind.as_deref() == Some("ImageStreamTag") && !is_stream_tag(&name) => {
            walk.refuse(
                spec,
                &at("name"),
                "must be the name of an image stream, `:` and a tag",
            );
        }
        Some(name)
            if kind.as_deref() == Some("ImageStreamImage") && name.split('@').count() != 2 =>
        {
            walk.refuse(
                spec,
                &at("name"),
                "must be the name of an image stream, `@` and a digest",
            );
        }
        _ => {}
    }
    if kind.as_deref() != Some("DockerImage")
        && text(from, "namespace").is_some_and(|name| !is_subdomain(&name))
    {
        walk.refuse(
            spec,
            &at("namespace"),
            &format!("must be {}", Format::Subdomain.words()),
        );
    }
}

fn source<'v>(walk: &mut Walk<'v>, spec: View<'v>, strategy: Option<View<'v>>) {
    let source = get(spec, "source");
    let inputs = ["git", "binary", "dockerfile"];
    let count = source.map_or(0, |source| {
        inputs
            .iter()
            .filter(|field| get(source, field).is_some())
            .count()
            + list(source, "images").count().min(1)
    });
    let is_docker = strategy.is_some_and(|one| get(one, "dockerStrategy").is_some());
    // A type alone stands for an empty source.
    let is_typed = source.is_none_or(|source| !source.is_mapping() || has(source, "type"));
    if is_docker && count == 0 && !is_typed {
        walk.refuse(
            spec,
            steps!["source"],
            "must have one of `git`, `binary`, `dockerfile` and `images`",
        );
    }
    let Some(source) = source else { return };
    if get(source, "git").is_some() && get(source, "binary").is_some() {
        walk.refuse(
            spec,
            steps!["source", "binary"],
            "must not be set next to `git`",
        );
    }
    if let Some(directory) = text(source, "contextDir")
        && directory.split('/').next() == Some("..")
    {
        walk.refuse(
            spec,
            steps!["source", "contextDir"],
            "must be a path in the source",
        );
    }
    for (index, one) in list(source, "secrets").enumerate() {
        let name = get(one, "secret").and_then(|secret| text(secret, "name"));
        if name.is_none() {
            walk.missing(spec, steps!["source", "secrets", index, "secret"]);
        } else if name.is_some_and(|name| !is_subdomain(&name)) {
            walk.refuse(
                spec,
                steps!["source", "secrets", index, "secret", "name"],
                &format!("must be {}", Format::Subdomain.words()),
            );
        }
    }
    for (index, one) in list(source, "images").enumerate() {
        image(
            walk,
            spec,
            one,
            &[
                "source".into(),
                "images".into(),
                index.into(),
                "from".into(),
            ],
        );
        if !has(one, "paths") && !has(one, "as") {
            walk.refuse(
                spec,
                steps!["source", "images", index, "paths"],
                "or `as` is required",
            );
        }
    }
    if let Some(secret) = get(source, "sourceSecret").filter(|one| one.is_mapping())
        && !has(secret, "name")
    {
        walk.missing(spec, steps!["source", "sourceSecret", "name"]);
    }
}

fn triggers<'v>(walk: &mut Walk<'v>, spec: View<'v>, strategy: Option<View<'v>>) {
    let mut changes = BTreeSet::new();
    const KINDS: [(&str, &str); 4] = [
        ("GitHub", "github"),
        ("Generic", "generic"),
        ("GitLab", "gitlab"),
        ("Bitbucket", "bitbucket"),
    ];
    for (index, trigger) in list(spec, "triggers").enumerate() {
        let Some(kind) = text(trigger, "type") else {
            continue;
        };
        let hook = KINDS
            .iter()
            .find(|(name, field)| kind == *name || kind == *field);
        if let Some((_, field)) = hook {
            match get(trigger, field) {
                None => walk.missing(spec, steps!["triggers", index, *field]),
                Some(hook) => {
                    let reference = get(hook, "secretReference").and_then(|one| text(one, "name"));
                    if hook.is_mapping() && !has(hook, "secret") && reference.is_none() {
                        let what = "must have `secret` or `secretReference`";
                        walk.refuse(spec, steps!["triggers", index, *field], what);
                    }
                }
            }
        } else if kind == "ImageChange" || kind == "imageChange" {
            let from = get(trigger, "imageChange").and_then(|change| get(change, "from"));
            let image = from.map(|from| {
                (
                    text(from, "kind"),
                    text(from, "namespace"),
                    text(from, "name"),
                )
            });
            // Without one it is the image of the strategy.
            let is_known = from.is_some() || strategy.is_some_and(|one| has(one, "sourceStrategy"));
            if is_known && !changes.insert(image) {
                walk.refuse(
                    spec,
                    steps!["triggers", index],
                    "must have another image than the other triggers",
                );
            }
            if let Some(from) = get(trigger, "imageChange").and_then(|change| get(change, "from"))
                && from.is_mapping()
            {
                let at = |field: &'static str| {
                    [
                        Part::from("triggers"),
                        index.into(),
                        "imageChange".into(),
                        "from".into(),
                        field.into(),
                    ]
                };
                if text(from, "kind").is_none_or(|kind| kind != "ImageStreamTag") {
                    walk.refuse(spec, &at("kind"), "must be `ImageStreamTag`");
                }
                match text(from, "name") {
                    None => walk.missing(spec, &at("name")),
                    Some(name) if !is_stream_tag(&name) => {
                        walk.refuse(
                            spec,
                            &at("name"),
                            "must be the name of an image stream, `:` and a tag",
                        );
                    }
                    Some(_) => {}
                }
            }
        }
    }
}

/// Checks an ImageStream.
pub(crate) fn stream<'v>(walk: &mut Walk<'v>, object: View<'v>) {
    if let Some(name) = get(object, "metadata").and_then(|meta| text(meta, "name"))
        && !is_repository(&name)
    {
        walk.refuse(
            object,
            steps!["metadata", "name"],
            "must be a repository of images: lower case letters, digits, `.`, `-` and `_`",
        );
    }
    if let Some(prefix) = get(object, "metadata").and_then(|meta| text(meta, "generateName"))
        && !is_repository(&format!("{prefix}a"))
    {
        walk.refuse(
            object,
            steps!["metadata", "generateName"],
            "must begin a repository of images: lower case letters, digits, `.`, `-` and `_`",
        );
    }
    let Some(spec) = get(object, "spec") else {
        return;
    };
    if let Some(repository) = text(spec, "dockerImageRepository") {
        let last = repository.rsplit('/').next().unwrap_or_default();
        if last.contains([':', '@']) {
            walk.refuse(
                object,
                steps!["spec", "dockerImageRepository"],
                "must have no tag and no digest",
            );
        } else if !is_image(&repository) {
            walk.refuse(
                object,
                steps!["spec", "dockerImageRepository"],
                "must be a repository of images",
            );
        }
    }
    for (index, tag) in list(spec, "tags").enumerate() {
        let at = |field: &'static str| {
            [
                Part::from("spec"),
                "tags".into(),
                index.into(),
                field.into(),
            ]
        };
        if let Some(policy) = get(tag, "importPolicy").and_then(|one| text(one, "importMode"))
            && !matches!(policy.as_ref(), "Legacy" | "PreserveOriginal")
        {
            let mut path = at("importPolicy").to_vec();
            path.push("importMode".into());
            walk.not_one_of(object, &path, &policy, &["Legacy", "PreserveOriginal"]);
        }
        if let Some(policy) = get(tag, "referencePolicy").and_then(|one| text(one, "type"))
            && !matches!(policy.as_ref(), "Source" | "Local")
        {
            let mut path = at("referencePolicy").to_vec();
            path.push("type".into());
            walk.not_one_of(object, &path, &policy, &["Local", "Source"]);
        }
        let Some(from) = get(tag, "from").filter(|from| from.is_mapping()) else {
            continue;
        };
        let below = |field: &'static str| {
            let mut path = at("from").to_vec();
            path.push(field.into());
            path
        };
        let words = ["DockerImage", "ImageStreamImage", "ImageStreamTag"];
        let kind = text(from, "kind");
        match kind.as_deref() {
            None if get(from, "kind").is_none_or(|kind| kind.as_str().is_some()) => {
                walk.missing(object, &below("kind"));
            }
            Some(kind) if !words.contains(&kind) => {
                walk.not_one_of(object, &below("kind"), kind, &words);
            }
            _ => {}
        }
        match text(from, "name") {
            None if kind.is_some()
                && get(from, "name").is_none_or(|name| name.as_str().is_some()) =>
            {
                walk.missing(object, &below("name"));
            }
            Some(name) if kind.as_deref() == Some("DockerImage") && !is_image(&name) => {
                walk.refuse(object, &below("name"), "must be the name of an image");
            }
            _ => {}
        }
    }
}

/// Whether a name is a repository on its own.
fn is_repository(name: &str) -> bool {
    let is_outer = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = name.as_bytes();
    bytes.first().is_some_and(|byte| is_outer(*byte))
        && bytes.last().is_some_and(|byte| is_outer(*byte))
        && bytes
            .iter()
            .all(|byte| is_outer(*byte) || matches!(byte, b'.' | b'-' | b'_'))
        && !name.contains("..")
        && name.len() <= 255
}

/// Whether a text names an image, with a registry, a tag or a digest or without.
fn is_image(name: &str) -> bool {
    let (name, digest) = name.split_once('@').unwrap_or((name, "sha256:0"));
    if digest.is_empty() || !digest.contains(':') {
        return false;
    }
    let (path, last) = name
        .rsplit_once('/')
        .map_or(("", name), |(path, last)| (path, last));
    let (last, tag) = last.split_once(':').unwrap_or((last, "x"));
    let is_tag = |tag: &str| {
        !tag.is_empty()
            && tag.len() <= 128
            && tag
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
            && !tag.starts_with(['.', '-'])
    };
    let mut parts = path.split('/').filter(|_| !path.is_empty());
    let first = parts.next();
    let is_host = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':'))
    };
    let first_fits = first.is_none_or(|part| is_repository(part) || is_host(part));
    is_tag(tag) && is_repository(last) && first_fits && parts.all(is_repository)
}

/// Checks a Template as an object.
pub(crate) fn template<'v>(walk: &mut Walk<'v>, template: View<'v>) {
    for (index, parameter) in list(template, "parameters").enumerate() {
        match text(parameter, "name") {
            None if get(parameter, "name").is_none_or(|name| name.as_str().is_some()) => {
                walk.missing(template, steps!["parameters", index, "name"]);
            }
            Some(name)
                if !name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') =>
            {
                walk.refuse(
                    template,
                    steps!["parameters", index, "name"],
                    "must be letters, digits and `_`",
                );
            }
            _ => {}
        }
    }
}

/// Checks a binding of OpenShift's own group.
pub(crate) fn binding<'v>(walk: &mut Walk<'v>, binding: View<'v>) {
    let Some(role) = get(binding, "roleRef").filter(|role| role.is_mapping()) else {
        walk.missing(binding, steps!["roleRef"]);
        return;
    };
    if !has(role, "name") {
        walk.missing(binding, steps!["roleRef", "name"]);
    }
    let own = get(binding, "metadata").and_then(|meta| text(meta, "namespace"));
    let of_role = text(role, "namespace");
    if own.is_some() && of_role.is_some() && own != of_role {
        walk.refuse(
            binding,
            steps!["roleRef", "namespace"],
            "must be the namespace of the binding",
        );
    }
    for (index, subject) in list(binding, "subjects").enumerate() {
        let kind = text(subject, "kind").unwrap_or_default();
        let words = [
            "ServiceAccount",
            "SystemUser",
            "SystemGroup",
            "User",
            "Group",
        ];
        if !words.contains(&kind.as_ref())
            && get(subject, "kind").is_none_or(|kind| kind.as_str().is_some())
        {
            walk.not_one_of(binding, steps!["subjects", index, "kind"], &kind, &words);
        }
        if !has(subject, "name") {
            walk.missing(binding, steps!["subjects", index, "name"]);
        }
    }
}
