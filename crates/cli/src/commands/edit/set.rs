//! `edit set`: sets fields, images, replicas, labels and annotations.

use std::borrow::Cow;

use clap::{Args, ValueEnum};

use crate::commands::edit::add;
use crate::commands::edit::file::{File, meant};
use crate::commands::edit::options::{self, Labels};
use crate::commands::edit::words::{self, Image};
use krm_core::scope::unless_default;
use krm_yaml::Value;
use krm_yaml::diagnostic::{Diagnostic, Result};

/// Set images, replicas, the namespace, prefixes, labels or annotations
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// What to set
    #[arg(value_name = "WHAT")]
    what: What,

    /// NAME=NEWNAME:TAG of an image, where `*` keeps a part; NAME=COUNT of replicas; KEY:VALUE of
    /// a label or annotation; the NAME of a configmap or secret
    #[arg(value_name = "ARGUMENT", required = true)]
    words: Vec<String>,

    #[command(flatten)]
    labels: Labels,

    /// New value of a literal of the configmap or secret
    #[arg(long, value_name = "KEY=VALUE")]
    from_literal: Vec<String>,

    /// Namespace of the configmap or secret
    #[arg(long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    /// New namespace of the configmap or secret
    #[arg(long, value_name = "NAMESPACE")]
    new_namespace: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  krm-template edit set image nginx=registry.example.com/nginx:1.29 'redis=*@sha256:0a1b…'
  krm-template edit set namespace staging
  krm-template edit set namesuffix -- -blue
  krm-template edit set replicas web=3
  krm-template edit set label -w app:web,tier:front
  krm-template edit set configmap web --from-literal COLOR=red";

/// What to set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// `images`
    Image,
    /// `replicas`
    Replicas,
    /// `namespace`
    Namespace,
    /// `namePrefix`
    #[value(name = "nameprefix")]
    NamePrefix,
    /// `nameSuffix`
    #[value(name = "namesuffix")]
    NameSuffix,
    /// `commonLabels` or `labels`
    Label,
    /// `commonAnnotations`
    Annotation,
    /// `buildMetadata`
    #[value(name = "buildmetadata")]
    BuildMetadata,
    /// A generator in `configMapGenerator`
    #[value(name = "configmap")]
    ConfigMap,
    /// A generator in `secretGenerator`
    Secret,
}

impl Arguments {
    pub(super) fn apply(&self, file: &mut File<'_>) -> Result<()> {
        if self.labels.without_selector && self.what != What::Label {
            let wrong = Diagnostic::error("`--without-selector` is an option of `set label`");
            return Err(wrong.into());
        }
        let is_generator = matches!(self.what, What::ConfigMap | What::Secret);
        let has_change = !self.from_literal.is_empty() || self.new_namespace.is_some();
        if !is_generator && (has_change || self.namespace.is_some()) {
            let wrong = Diagnostic::error("these are options of a configmap or secret");
            return Err(wrong.hint("leave `--from-literal` and `--namespace` out").into());
        }
        if is_generator && !has_change {
            let wrong = Diagnostic::error("nothing is to be set");
            let hint = "use `--from-literal` or `--new-namespace`";
            return Err(wrong.hint(hint).into());
        }
        match self.what {
            What::ConfigMap => self.generator("configMapGenerator", "configmap", file),
            What::Secret => self.generator("secretGenerator", "secret", file),
            What::Image => images(&self.words, file),
            What::Replicas => replicas(&self.words, file),
            What::Namespace => self.text("namespace", file),
            What::NamePrefix => self.text("namePrefix", file),
            What::NameSuffix => self.text("nameSuffix", file),
            What::Label if self.labels.without_selector => {
                let pairs = words::pairs(&self.words, "label")?;
                set(pairs, add::group(file, self.labels.include_templates)?);
                Ok(())
            }
            What::Label => self.pairs("label", "commonLabels", file),
            What::Annotation => self.pairs("annotation", "commonAnnotations", file),
            What::BuildMetadata => {
                let words = self.words.iter().flat_map(|word| word.split(','));
                *file.list("buildMetadata")? =
                    words.map(|word| Value::from(word.to_owned())).collect();
                Ok(())
            }
        }
    }

    fn text(&self, field: &'static str, file: &mut File<'_>) -> Result<()> {
        let text = options::only(&self.words, &format!("one value of `{field}`"))?;
        let key = file.key(field).unwrap_or_else(|| field.to_owned());
        file.value.insert(Cow::Owned(key), Value::from(text.to_owned()));
        Ok(())
    }

    /// Changes a generator that exists.
    fn generator(&self, field: &str, what: &str, file: &mut File<'_>) -> Result<()> {
        let name = options::only(&self.words, &format!("the name of a {what}"))?;
        let text = |item: &Value<'_>, key| item.str_at(&[key]).unwrap_or_default().to_owned();
        let namespace = unless_default(self.namespace.as_deref().unwrap_or_default());
        let is = |item: &Value<'_>| {
            text(item, "name") == name && unless_default(&text(item, "namespace")) == namespace
        };
        let known = file.items(field).iter().map(|item| text(item, "name"));
        let known: Vec<String> = known.collect();
        let Some(item) = file.list(field)?.iter_mut().find(|item| is(item)) else {
            let missing = Diagnostic::error(format!("the {what} `{name}` is not in the file"));
            let tip = if known.iter().any(|known| known == name) {
                Some("give its `--namespace`".to_owned())
            } else {
                meant(name, known.iter().map(String::as_str))
            };
            return Err(missing.maybe_hint(tip).into());
        };
        let literals = item.get_mut("literals").and_then(Value::items_mut);
        let literals = literals.map(Vec::as_mut_slice).unwrap_or_default();
        for word in &self.from_literal {
            let key = word.split_once('=').map_or("", |(key, _)| key);
            let is = |old: &&mut Value<'_>| {
                old.as_str().and_then(|old| old.split_once('=')).is_some_and(|(old, _)| old == key)
            };
            let Some(old) = literals.iter_mut().find(is) else {
                let problem = format!("the {what} `{name}` has no literal `{key}`");
                let hint = format!("write KEY=VALUE of one that it has, or use `edit add {what}`");
                return Err(Diagnostic::error(problem).hint(hint).into());
            };
            old.data = Value::from(word.clone()).data;
        }
        if let Some(new) = &self.new_namespace {
            item.insert(Cow::Borrowed("namespace"), Value::from(new.clone()));
        }
        Ok(())
    }

    fn pairs(&self, what: &str, field: &'static str, file: &mut File<'_>) -> Result<()> {
        let pairs = words::pairs(&self.words, what)?;
        set(pairs, file.mapping(field)?);
        Ok(())
    }
}

fn set(pairs: Vec<(String, String)>, mapping: &mut Value<'_>) {
    for (key, value) in pairs {
        mapping.insert(Cow::Owned(key), Value::from(value));
    }
}

/// The item of a list with a name; a new one if it is missing.
fn named<'f, 'd>(file: &'f mut File<'d>, field: &str, name: &str) -> Result<&'f mut Value<'d>> {
    let is = |item: &Value<'_>| item.get("name").and_then(Value::as_str) == Some(name);
    add::named(file.list(field)?, name, is)
}

fn images(words: &[String], file: &mut File<'_>) -> Result<()> {
    let images: Vec<Image> = words.iter().map(|word| words::image(word)).collect::<Result<_>>()?;
    // kustomize reads `imageTags` as `images`.
    let field = if file.get("images").is_none() && file.get("imageTags").is_some() {
        "imageTags"
    } else {
        "images"
    };
    for image in images {
        let item = named(file, field, &image.name)?;
        let is_kept = image.parts.iter().any(|(_, text)| text == "*");
        for (key, text) in image.parts {
            if text.is_empty() {
                item.remove(key);
            } else if text != "*" {
                item.insert(Cow::Borrowed(key), Value::from(text));
            }
        }
        if !is_kept {
            item.remove("tagSuffix");
        }
    }
    Ok(())
}

fn replicas(words: &[String], file: &mut File<'_>) -> Result<()> {
    for word in words {
        let pair = word.split_once('=').filter(|(name, _)| !name.is_empty());
        let pair = pair.and_then(|(name, count)| Some((name, count.parse::<u32>().ok()?)));
        let Some((name, count)) = pair else {
            let wrong =
                Diagnostic::error(format!("`{word}` is not a name and a number of replicas"));
            return Err(wrong.hint("write NAME=COUNT, such as `web=3`").into());
        };
        let item = named(file, "replicas", name)?;
        item.insert(Cow::Borrowed("count"), Value::from(i64::from(count)));
    }
    Ok(())
}
