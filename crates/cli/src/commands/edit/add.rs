//! `edit add`: adds items and entries.

use std::borrow::Cow;

use clap::Args;

use crate::commands::edit::file::{File, place};
use crate::commands::edit::options::{self, Generator, Labels, Patch, What};
use crate::commands::edit::words;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::{Cursor, Data, Value};

/// Add resources, components, patches, generators, labels or annotations
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// What to add
    #[arg(value_name = "WHAT")]
    what: What,

    /// Files, directories or patterns such as `'*.yaml'`; the NAME of a configmap or secret;
    /// KEY:VALUE of a label or annotation
    #[arg(value_name = "ARGUMENT")]
    words: Vec<String>,

    /// Change an existing label or annotation
    #[arg(short, long)]
    force: bool,

    /// Do not check whether the resource exists
    #[arg(long)]
    no_verify: bool,

    #[command(flatten)]
    labels: Labels,

    #[command(flatten)]
    patch: Patch,

    #[command(flatten)]
    generator: Generator,
}

const EXAMPLES: &str = "\
Examples:
  krm-template edit add resource '*.yaml' ../base
  krm-template edit add patch --path patch.yaml --kind Deployment --name web
  krm-template edit add configmap web --from-literal COLOR=blue --from-file web.conf
  krm-template edit add label app:web --without-selector --include-templates";

impl Arguments {
    pub(super) fn apply(&self, file: &mut File<'_>, diagnostics: &mut Diagnostics) -> Result<()> {
        self.check()?;
        match self.what {
            What::Patch => self.patch(file, diagnostics),
            What::ConfigMap | What::Secret => self.generator(file),
            What::Label => self.labels(file),
            What::Annotation => self.pairs(file.root(), file.mapping("commonAnnotations")?),
            _ => self.items(file, diagnostics),
        }
    }

    fn check(&self) -> Result<()> {
        let pairs = &[What::Label, What::Annotation];
        let generators = &[What::ConfigMap, What::Secret];
        let spaces = &[What::Patch, What::ConfigMap, What::Secret];
        let rows: [options::Row<'_>; 7] = [
            (self.force, "`--force`", pairs),
            (self.no_verify, "`--no-verify`", &[What::Resource]),
            (self.labels.without_selector, "`--without-selector`", &[What::Label]),
            (self.patch.is_given(), "an option of a patch", &[What::Patch]),
            (self.patch.namespace.is_some(), "`--namespace`", spaces),
            (self.generator.is_given(), "an option of a generator", generators),
            (self.generator.secret_type.is_some(), "`--type`", &[What::Secret]),
        ];
        options::check(self.what, &rows)
    }

    /// Adds paths or words to a list.
    fn items(&self, file: &mut File<'_>, diagnostics: &mut Diagnostics) -> Result<()> {
        let (field, what) = self.what.field();
        options::some(&self.words, what)?;
        let mut new = Vec::new();
        for word in &self.words {
            match self.what {
                What::Resource if self.no_verify => new.push(word.clone()),
                What::BuildMetadata => new.extend(word.split(',').map(str::to_owned)),
                What::Base => {
                    let paths =
                        word.split(',').filter_map(|one| diagnostics.take(words::paths(one)));
                    new.extend(paths.flatten().collect::<Vec<_>>());
                }
                _ => new.extend(diagnostics.take(words::paths(word)).unwrap_or_default()),
            }
        }
        for path in new {
            // kustomize reads `bases` as `resources`.
            let old = if field == "resources" { file.items("bases") } else { &[] };
            let mut old = file.items(field).iter().chain(old);
            if let Some(old) = old.find(|item| item.as_str() == Some(&path)) {
                diagnostics.push(present(what, &path).at(file.place(old)));
            } else {
                file.list(field)?.push(Value::from(path));
            }
        }
        Ok(())
    }

    fn patch(&self, file: &mut File<'_>, diagnostics: &mut Diagnostics) -> Result<()> {
        let Some((field, text)) = self.patch.body().filter(|_| self.words.is_empty()) else {
            let missing = Diagnostic::error("the patch is missing");
            return Err(missing
                .hint("name its file with `--path`, or write it with `--patch`")
                .into());
        };
        let texts = if field == "path" { words::paths(text)? } else { vec![text.to_owned()] };
        for text in texts {
            let patch = patch(field, &text, &self.patch);
            if let Some(old) = file.items("patches").iter().find(|old| **old == patch) {
                diagnostics.push(present("patch", &text).at(file.place(old)));
            } else {
                file.list("patches")?.push(patch);
            }
        }
        Ok(())
    }

    fn generator(&self, file: &mut File<'_>) -> Result<()> {
        let (field, what) = self.what.field();
        let name = options::only(&self.words, &format!("the name of a {what}"))?;
        let given = &self.generator;
        if !given.has_content() {
            let missing = Diagnostic::error(format!("the {what} `{name}` has no content"));
            let hint = "use `--from-literal`, `--from-file` or `--from-env-file`";
            return Err(missing.hint(hint).into());
        }
        let lists = [
            ("files", files(&given.from_file)?),
            ("literals", literals(&given.from_literal)?),
            (
                "envs",
                given.from_env_file.iter().flat_map(|path| words::paths(path)).flatten().collect(),
            ),
        ];
        if let Some(path) = &given.from_env_file {
            words::paths(path)?;
        }
        let namespace = self.patch.namespace.as_deref();
        let is = |item: &Value<'_>| {
            let text = |key| item.get(key).and_then(Value::as_str);
            text("name") == Some(name) && text("namespace") == namespace
        };
        let item = named(file.list(field)?, name, is)?;
        let texts = [
            ("namespace", namespace),
            ("behavior", given.behavior.as_deref()),
            ("type", given.secret_type.as_deref()),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                item.insert(Cow::Borrowed(key), Value::from(text.to_owned()));
            }
        }
        for (key, texts) in lists.into_iter().filter(|(_, texts)| !texts.is_empty()) {
            append(item, key, texts)?;
        }
        if given.disable_name_suffix_hash
            && let Some(options) = item.mapping_at("options")
        {
            options.insert(Cow::Borrowed("disableNameSuffixHash"), Value::from(true));
        }
        Ok(())
    }

    fn labels(&self, file: &mut File<'_>) -> Result<()> {
        if self.labels.without_selector {
            self.pairs(file.root(), group(file, self.labels.include_templates)?)
        } else {
            self.pairs(file.root(), file.mapping("commonLabels")?)
        }
    }

    fn pairs(&self, root: Cursor<'_>, mapping: &mut Value<'_>) -> Result<()> {
        let (_, what) = self.what.field();
        options::some(&self.words, what)?;
        for (key, value) in words::pairs(&self.words, what)? {
            if let Some(old) = mapping.get(&key).filter(|_| !self.force) {
                let problem = format!("the {what} `{key}` is already in the file");
                let error = Diagnostic::error(problem).at(place(root, old));
                return Err(error.hint("to change it, use `--force`").into());
            }
            mapping.insert(Cow::Owned(key), Value::from(value));
        }
        Ok(())
    }
}

fn present(what: &str, name: &str) -> Diagnostic {
    Diagnostic::warning(format!("the {what} `{name}` is already in the file"))
}

/// A patch as an item of `patches`.
pub(super) fn patch<'d>(field: &'static str, text: &str, options: &Patch) -> Value<'d> {
    let entry =
        |(key, text): (&'static str, &str)| (Cow::Borrowed(key), Value::from(text.to_owned()));
    let mut entries = vec![entry((field, text))];
    let target: Vec<_> = options.target().into_iter().map(entry).collect();
    if !target.is_empty() {
        entries.push((Cow::Borrowed("target"), Value::mapping(target)));
    }
    Value::mapping(entries)
}

/// The pairs of the labels without selectors, in pod templates or not.
pub(super) fn group<'f, 'd>(file: &'f mut File<'d>, templates: bool) -> Result<&'f mut Value<'d>> {
    let is = |group: &Value<'_>, key| group.get(key) == Some(&Value::from(true));
    let groups = file.list("labels")?;
    let fits = |group: &Value<'_>| {
        !is(group, "includeSelectors")
            && is(group, "includeTemplates") == templates
            && group.get("fields").is_none()
    };
    let at = groups.iter().position(fits).unwrap_or_else(|| {
        let mut entries = vec![(Cow::Borrowed("pairs"), Value::mapping(Vec::new()))];
        if templates {
            entries.push((Cow::Borrowed("includeTemplates"), Value::from(true)));
        }
        groups.push(Value::mapping(entries));
        groups.len() - 1
    });
    let pairs = groups.get_mut(at).and_then(|group| group.mapping_at("pairs"));
    pairs.ok_or_else(|| Diagnostic::error("expected a mapping").field("labels.pairs").into())
}

/// Finds the item, or appends a new one with this name.
pub(super) fn named<'l, 'd>(
    list: &'l mut Vec<Value<'d>>,
    name: &str,
    is: impl Fn(&Value<'_>) -> bool,
) -> Result<&'l mut Value<'d>> {
    let at = list.iter().position(is).unwrap_or_else(|| {
        let name = (Cow::Borrowed("name"), Value::from(name.to_owned()));
        list.push(Value::mapping(vec![name]));
        list.len() - 1
    });
    let missing = || Diagnostic::error(format!("`{name}` is missing")).into();
    list.get_mut(at).ok_or_else(missing)
}

/// Adds texts to a list of a generator.
fn append(item: &mut Value<'_>, key: &'static str, texts: Vec<String>) -> Result<()> {
    if item.get(key).is_none_or(Value::is_null) {
        item.insert(Cow::Borrowed(key), Data::Sequence(Vec::new()).into());
    }
    let list = item.get_mut(key).and_then(Value::items_mut);
    let list = list.ok_or_else(|| Diagnostic::error("expected a list").field(key))?;
    list.extend(texts.into_iter().map(Value::from));
    Ok(())
}

/// The files of `--from-file`, with their keys.
fn files(words: &[String]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for word in words {
        let Some((key, path)) = word.split_once('=') else {
            all.append(&mut words::paths(word)?);
            continue;
        };
        let paths = words::paths(path)?;
        if key.is_empty() || paths.len() > 1 {
            let wrong = Diagnostic::error(format!("`{word}` needs one key for one file"));
            return Err(wrong.hint("write KEY=FILE").into());
        }
        all.extend(paths.iter().map(|path| format!("{key}={path}")));
    }
    Ok(all)
}

fn literals(words: &[String]) -> Result<Vec<String>> {
    let is_pair = |word: &&String| word.split_once('=').is_some_and(|(key, _)| !key.is_empty());
    if let Some(wrong) = words.iter().find(|word| !is_pair(word)) {
        let wrong = Diagnostic::error(format!("`{wrong}` is not a pair of key and value"));
        return Err(wrong.hint("write KEY=VALUE").into());
    }
    Ok(words.to_vec())
}
