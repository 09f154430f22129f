//! `edit fix`: deprecated fields become those that replace them.

use std::borrow::Cow;

use clap::Args;

use crate::commands::edit::file::File;
use crate::commands::edit::join::join;
use krm_template_composition::GROUP;
use krm_template_exec::io;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::{Data, Document, Value};

/// Replace deprecated fields by those that take their place
///
/// `bases` becomes `resources`, `imageTags` becomes `images`, `commonLabels` becomes `labels`, and
/// `patchesStrategicMerge` and `patchesJson6902` become `patches`. A missing `apiVersion` and `kind`
/// are added. `vars` stay: write `replacements` instead.
#[derive(Args, Debug)]
pub(super) struct Arguments {
    /// Not supported: write `replacements` instead of `vars`
    #[arg(long, hide = true)]
    vars: bool,
}

/// Fields whose items go to another list: before its own ones, or after them. Strategic merge
/// patches run before `patches`, and JSON patches after them.
const MOVED: [(&str, &str, bool); 4] = [
    ("bases", "resources", false),
    ("imageTags", "images", false),
    ("patchesStrategicMerge", "patches", true),
    ("patchesJson6902", "patches", false),
];

impl Arguments {
    /// Returns what was changed.
    pub(super) fn apply(
        &self,
        file: &mut File<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Vec<String>> {
        if self.vars {
            let refused = Diagnostic::error("`--vars` is not supported");
            let hint =
                "write `replacements` by hand: kustomize's conversion changes resource files";
            return Err(refused.hint(hint).into());
        }
        change(file, true, diagnostics)
    }
}

/// The text after the command in which the items of joined lists keep their comments; none if no
/// lists are joined, or they cannot be joined so. `expected` is the value.
pub(super) fn joined(document: &Document, expected: &Value<'_>) -> Option<String> {
    let mut file = File::of(document).ok()?;
    change(&mut file, false, &mut Diagnostics::new()).ok()?;
    let mut text = file.finish().ok()?;
    let mut is_joined = false;
    for (old, new, is_before) in MOVED {
        if let Some(joined) = join(&text, old, new, is_before) {
            text = joined;
            is_joined = true;
        }
    }
    let document = Document::parse(&Source::new("file", text.as_str())).ok()?;
    let value = File::of(&document).ok()?.value;
    (is_joined && value == *expected).then_some(text)
}

/// Replaces the fields; `joins` if items go to lists that exist. Returns what was changed.
fn change(file: &mut File<'_>, joins: bool, diagnostics: &mut Diagnostics) -> Result<Vec<String>> {
    let mut done = Vec::new();
    for (old, new, is_before) in MOVED {
        if file.get(old).is_some() {
            move_items(file, old, new, joins.then_some(is_before))?;
            done.push(format!("`{old}` is now `{new}`"));
        }
    }
    if file.get("commonLabels").is_some() {
        labels(file)?;
        done.push("`commonLabels` is now `labels`".to_owned());
    }
    if fix_env(file)? {
        done.push("`env` is now `envs`".to_owned());
    }
    done.extend(head(file));
    if let Some(vars) = file.get("vars") {
        let warning = Diagnostic::warning("`vars` is deprecated and stays").at(file.place(vars));
        diagnostics.push(warning.hint("write `replacements` instead"));
    }
    Ok(done)
}

/// Moves the items of a list to another one, before its own ones or after them. Without a position
/// they stay if there is another one.
fn move_items(
    file: &mut File<'_>,
    old: &str,
    new: &'static str,
    is_before: Option<bool>,
) -> Result<()> {
    let is_text = old == "patchesStrategicMerge";
    if is_text {
        file.list(old)?.iter_mut().for_each(to_patch);
    }
    if file.get(new).is_none() {
        file.remove(new);
        rename(file, old, new);
        return Ok(());
    }
    let Some(is_before) = is_before else {
        return Ok(());
    };
    let mut moved = std::mem::take(file.list(old)?);
    file.remove(old);
    let list = file.list(new)?;
    if is_before {
        moved.append(list);
        *list = moved;
    } else {
        list.append(&mut moved);
    }
    Ok(())
}

/// Gives a field another name, in its place.
fn rename(file: &mut File<'_>, old: &str, new: &'static str) {
    let old = file.key(old);
    if let Data::Mapping(entries) = &mut file.value.data {
        let mut entries = entries.iter_mut();
        if let Some((key, _)) = entries.find(|(key, _)| old.as_deref() == Some(key)) {
            *key = Cow::Borrowed(new);
        }
    }
}

/// A strategic merge patch, which is a path or a text, as a mapping.
fn to_patch(item: &mut Value<'_>) {
    let Some(text) = item.as_str() else {
        return;
    };
    let key = if text.contains('\n') || !io::is_there(text) { "patch" } else { "path" };
    let body = Value::from(text.to_owned());
    // The item stays in its place, with its comments.
    item.data = Data::Mapping(vec![(Cow::Borrowed(key), body)]);
}

fn labels(file: &mut File<'_>) -> Result<()> {
    let pairs = Value::from(file.mapping("commonLabels")?.data.clone());
    for (key, _) in pairs.entries().unwrap_or_default() {
        let mut groups = file.items("labels").iter().filter_map(|group| group.get("pairs"));
        if let Some(other) = groups.find_map(|pairs| pairs.get(key)) {
            let problem = format!("the label `{key}` is in `commonLabels` and in `labels`");
            let error = Diagnostic::error(problem).at(file.place(other));
            return Err(error.hint("remove one of them").into());
        }
    }
    let group = Value::mapping(vec![
        (Cow::Borrowed("pairs"), pairs),
        (Cow::Borrowed("includeSelectors"), Value::from(true)),
    ]);
    if file.get("labels").is_some() {
        file.remove("commonLabels");
        file.list("labels")?.push(group);
    } else {
        file.remove("labels");
        let key = file.key("commonLabels").unwrap_or_default();
        if let Some(value) = file.value.get_mut(&key) {
            value.data = Data::Sequence(vec![group]);
        }
        rename(file, "commonLabels", "labels");
    }
    Ok(())
}

/// Moves the file of `env` to `envs` in all generators.
fn fix_env(file: &mut File<'_>) -> Result<bool> {
    let mut is_fixed = false;
    for field in ["configMapGenerator", "secretGenerator"] {
        if file.get(field).is_none() {
            continue;
        }
        for item in file.list(field)? {
            let Some(env) = item.remove("env") else {
                continue;
            };
            is_fixed = true;
            match item.get_mut("envs").and_then(Value::items_mut) {
                Some(envs) => envs.push(env),
                None => item.insert(Cow::Borrowed("envs"), Value::sequence(vec![env])),
            }
        }
    }
    Ok(is_fixed)
}

/// Adds `apiVersion` and `kind` where they are missing.
fn head(file: &mut File<'_>) -> Vec<String> {
    let is_component = file.get("kind").and_then(Value::as_str) == Some("Component");
    let (kind, version) =
        if is_component { ("Component", "v1alpha1") } else { ("Kustomization", "v1beta1") };
    let mut done = Vec::new();
    for (at, key, text) in
        [(0, "apiVersion", format!("{GROUP}/{version}")), (1, "kind", kind.to_owned())]
    {
        if file.get(key).is_some() {
            continue;
        }
        file.remove(key);
        if let Data::Mapping(entries) = &mut file.value.data {
            done.push(format!("`{key}: {text}` is new"));
            entries.insert(at.min(entries.len()), (Cow::Borrowed(key), Value::from(text)));
        }
    }
    done
}
