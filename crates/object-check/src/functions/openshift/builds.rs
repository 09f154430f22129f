//! BuildConfigs.

use std::collections::BTreeSet;

use krm_yaml::View;

use super::deployments::is_stream_tag;
use crate::formats::{Format, is_subdomain};
use crate::walk::{Part, Walk, get, has, list, number, steps, text};

/// Checks what is built, and from what.
pub(crate) fn build<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let strategy = get(spec, "strategy");
    const STRATEGIES: [&str; 4] =
        ["sourceStrategy", "dockerStrategy", "customStrategy", "jenkinsPipelineStrategy"];
    if let Some(strategy) = strategy.filter(|one| one.is_mapping()) {
        let count = STRATEGIES.iter().filter(|field| get(strategy, field).is_some()).count();
        // This type alone means an empty strategy.
        if count > 1 || (count == 0 && text(strategy, "type").as_deref() != Some("Docker")) {
            let what = "must have one of `sourceStrategy`, `dockerStrategy`, `customStrategy` and `jenkinsPipelineStrategy`";
            walk.refuse(spec, steps!["strategy"], what);
        }
        for field in ["sourceStrategy", "customStrategy"] {
            let Some(one) = get(strategy, field).filter(|one| one.is_mapping()) else {
                continue;
            };
            image(walk, spec, one, &["strategy".into(), field.into(), "from".into()]);
        }
        if let Some(one) = get(strategy, "dockerStrategy").filter(|one| get(*one, "from").is_some())
        {
            image(walk, spec, one, &["strategy".into(), "dockerStrategy".into(), "from".into()]);
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
        walk.refuse(spec, steps!["postCommit", "script"], "must not be set next to `command`");
    }
    triggers(walk, spec, strategy);
    if number(spec, "completionDeadlineSeconds").is_some_and(|seconds| seconds < 1) {
        walk.refuse(spec, steps!["completionDeadlineSeconds"], "must be at least 1");
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
            walk.refuse(spec, &at("name"), "must be the name of an image stream, `:` and a tag");
        }
        Some(name)
            if kind.as_deref() == Some("ImageStreamImage") && name.split('@').count() != 2 =>
        {
            walk.refuse(spec, &at("name"), "must be the name of an image stream, `@` and a digest");
        }
        _ => {}
    }
    if kind.as_deref() != Some("DockerImage")
        && text(from, "namespace").is_some_and(|name| !is_subdomain(&name))
    {
        walk.refuse(spec, &at("namespace"), &format!("must be {}", Format::Subdomain.words()));
    }
}

fn source<'v>(walk: &mut Walk<'v>, spec: View<'v>, strategy: Option<View<'v>>) {
    let source = get(spec, "source");
    let inputs = ["git", "binary", "dockerfile"];
    let count = source.map_or(0, |source| {
        inputs.iter().filter(|field| get(source, field).is_some()).count()
            + list(source, "images").count().min(1)
    });
    let is_docker = strategy.is_some_and(|one| get(one, "dockerStrategy").is_some());
    // A type alone means an empty source.
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
        walk.refuse(spec, steps!["source", "binary"], "must not be set next to `git`");
    }
    if let Some(directory) = text(source, "contextDir")
        && directory.split('/').next() == Some("..")
    {
        walk.refuse(spec, steps!["source", "contextDir"], "must be a path in the source");
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
        image(walk, spec, one, &["source".into(), "images".into(), index.into(), "from".into()]);
        if !has(one, "paths") && !has(one, "as") {
            walk.refuse(spec, steps!["source", "images", index, "paths"], "or `as` is required");
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
        let hook = KINDS.iter().find(|(name, field)| kind == *name || kind == *field);
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
            let image =
                from.map(|from| (text(from, "kind"), text(from, "namespace"), text(from, "name")));
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
