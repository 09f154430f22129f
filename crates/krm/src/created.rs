//! The objects and the files that a Template may create: resources, and nothing that tools run.

use std::fmt::Display;

use crate::annotations::is_local;
use crate::identity::Identity;
use krm_yaml::View;
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::source::Place;

/// How the names of files with resources end.
const SUFFIXES: [&str; 3] = [".yaml", ".yml", ".json"];

/// The names of files, without such an ending, from which tools learn what to run or to build.
#[rustfmt::skip]
const OF_TOOLS: &[&str] = &[
    "action", "appveyor", "azure-pipelines", "bitbucket-pipelines", "buildspec", "cdk", "cdk8s",
    "chart", "cloudbuild", "compose", "compose.override", "composer", "composition", "deno",
    "devfile", "devspace", "docker-bake", "docker-bake.override", "docker-compose", "docker-compose.override", "dvc",
    "firebase", "fleet", "goreleaser", "helmfile", "kptfile", "krmfile", "kustomization", "lefthook",
    "lefthook-local", "mkdocs", "nx", "package", "porter", "process-compose", "pulumi", "renovate", "requirements",
    "serverless", "skaffold", "snapcraft", "taskfile", "taskfile.dist", "turbo", "values", "vendir", "vercel", "werf",
];

/// The groups of what tools read.
const GROUPS: [&str; 2] = ["kpt.dev", "kustomize.config.k8s.io"];

/// The fields of `metadata` by which tools find programs to run.
///
/// Source: kyaml, `fn/runtime/runtimeutil/functiontypes.go`.
const PROGRAMS: [&[&str]; 4] = [
    &["annotations", "config.kubernetes.io/function"],
    &["annotations", "config.k8s.io/function"],
    &["annotations", "config.kubernetes.io/container"],
    &["configFn"],
];

/// Checks an object that is written to a file of a directory.
///
/// # Errors
/// As [`check_object`] and [`check_path`], at `place`.
pub fn check<'v>(object: impl Into<View<'v>>, path: &str, place: Option<Place>) -> Result<()> {
    let object = object.into();
    let identity = Identity::of_kind(object);
    let name: &dyn Display = identity.as_ref().map_or(&"", |identity| identity);
    let checked = check_object(object).and_then(|()| check_path(name, path));
    checked.map_err(|wrong| Box::new(Diagnostic { place, ..*wrong }))
}

/// Checks that an object is a resource. One that a tool reads may be created if an annotation keeps
/// it from clusters, but never a Kptfile, and nothing that names a program.
///
/// # Errors
/// If a tool would run what it names.
pub fn check_object<'v>(object: impl Into<View<'v>>) -> Result<()> {
    let object = object.into();
    let metadata = object.get("metadata");
    let Some(identity) = Identity::of_kind(object) else {
        return Ok(());
    };
    let has = |field: &&&[&str]| metadata.is_some_and(|metadata| metadata.at(field).is_some());
    if let Some(field) = PROGRAMS.iter().find(has) {
        let key = field.last().unwrap_or(&"");
        let problem = format!("`{identity}` names a program, by `{key}` in its metadata");
        let hint = format!("remove `{key}`: what a Template creates runs no programs");
        return Err(Diagnostic::error(problem).hint(hint).into());
    }
    let is_kptfile = identity.kind == "Kptfile";
    if !GROUPS.contains(&identity.group.as_str()) || is_local(metadata) && !is_kptfile {
        return Ok(());
    }
    let way_out = (!is_kptfile).then_some(
        "or, if no tool is to run it, set the annotation `config.kubernetes.io/local-config: \"true\"` on it",
    );
    Err(Diagnostic::error(format!("`{identity}` is not a resource: tools run what it names"))
        .hint("write it by hand, and remove it from the Template")
        .maybe_hint(way_out.map(str::to_owned))
        .into())
}

/// Checks the file of an object, by its path in the package or directory.
///
/// # Errors
/// If the path leaves that, or a tool may read the file as more than a resource.
pub fn check_path(object: &dyn Display, path: &str) -> Result<()> {
    let Some(why) = refusal(path) else {
        return Ok(());
    };
    Err(
        Diagnostic::error(format!("`{object}` cannot be kept in `{path}`: {why}"))
            .hint("set another path, like `resources/web.yaml`, or rename the object if the path is made of its names")
            .into(),
    )
}

/// The reason against a path.
fn refusal(path: &str) -> Option<String> {
    let is_plain = |c: char| {
        c.is_alphanumeric() || c.is_ascii() && !c.is_control() && !matches!(c, '\\' | '~')
    };
    if path.starts_with('/') || !path.chars().all(is_plain) {
        return Some("it is absolute or has unusual characters".to_owned());
    }
    if !SUFFIXES.iter().any(|suffix| path.ends_with(suffix)) {
        return Some("it does not end in `.yaml`, `.yml` or `.json`".to_owned());
    }
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    // Some file systems ignore case, and spaces at the ends.
    let parts = parts.map(|part| (part, part.trim().to_uppercase().to_lowercase()));
    parts.into_iter().find_map(|(part, name)| {
        let stem = SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix));
        if name.starts_with('.') || name.is_empty() {
            return Some(format!("`{part}` begins with a dot"));
        }
        let is_tools = OF_TOOLS.contains(&stem.unwrap_or_default())
            || ["kptfile", "kustomization"].contains(&name.trim_end_matches(['.', ' ']))
            || [".tf", ".tofu"].iter().any(|end| stem.unwrap_or_default().ends_with(end));
        is_tools.then(|| format!("other tools read `{part}`"))
    })
}

#[cfg(test)]
mod tests {
    use super::refusal;

    #[test]
    fn only_files_with_resources_are_written() {
        for path in [
            "web-generated.yaml",
            "./a/b.yml",
            "a b/ä.json",
            "chart/web.yaml",
            "chart.web.yaml",
            "a/kustomization-web.yaml",
            "system:node.yaml",
            "a.yaml/b.yaml",
        ] {
            assert_eq!(refusal(path), None, "{path}");
        }
        for path in [
            "",
            "/",
            "/a.yaml",
            "../a.yaml",
            "a/../../b.yaml",
            "a/../b.yaml",
            ".a.yaml",
            ".yaml",
            ".git/hooks/x",
            ".git/x.yaml",
            " .git/x.yaml",
            ".GitHub/workflows/x.yaml",
            "git~1/x.yaml",
            "Kptfile",
            "a/kptfile",
            "kptfile.yaml",
            "KPTFILE/x.yaml",
            "kustomization./x.yaml",
            "Kustomization",
            "KUSTOMIZATION.YAML",
            "kustomization.yml",
            "a/Kustomization.Yaml/x.yaml",
            "ku\u{17f}tomization.yaml",
            "\u{212a}ptfile.json",
            "kusto\u{200d}mization.yaml",
            "composition.yaml",
            "Chart.yaml",
            "values.yaml",
            "Skaffold.yaml",
            "docker-compose.yml",
            "main.tf.json",
            "package.json",
            "a.sh",
            "a",
            "a.yaml ",
            "a.yaml.",
            "a.yaml/",
            "a\\b.yaml",
            "a\n.yaml",
            "a.YAML",
            ". /x.yaml",
            "./.. /x.yaml",
            " kustomization.yaml",
        ] {
            assert!(refusal(path).is_some(), "{path:?}");
        }
    }
}
