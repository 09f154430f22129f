//! `edit set`: sets fields, images, replicas, labels and annotations.

use std::borrow::Cow;

use clap::{Args, ValueEnum};

use crate::cli::edit::add;
use crate::cli::edit::file::File;
use crate::cli::edit::options::{self, Labels};
use crate::cli::edit::words::{self, Image};
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
    /// a label or annotation
    #[arg(value_name = "ARGUMENT", required = true)]
    words: Vec<String>,

    #[command(flatten)]
    labels: Labels,
}

const EXAMPLES: &str = "\
Examples:
  krm-template edit set image nginx=registry.example.com/nginx:1.29 'redis=*@sha256:0a1b…'
  krm-template edit set namespace staging
  krm-template edit set namesuffix -- -blue
  krm-template edit set replicas web=3
  krm-template edit set label -w app:web,tier:front";

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
}

impl Arguments {
    pub(super) fn apply(&self, file: &mut File<'_>) -> Result<()> {
        if self.labels.without_selector && self.what != What::Label {
            let wrong = Diagnostic::error("`--without-selector` is an option of `set label`");
            return Err(wrong.into());
        }
        match self.what {
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
        file.value
            .insert(Cow::Owned(key), Value::from(text.to_owned()));
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
    let images: Vec<Image> = words
        .iter()
        .map(|word| words::image(word))
        .collect::<Result<_>>()?;
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
