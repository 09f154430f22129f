//! `edit remove`: removes items and entries, with their comments.

use clap::Args;

use crate::commands::edit::add;
use crate::commands::edit::file::{File, meant};
use crate::commands::edit::options::{self, Patch, What};
use krm_core::glob::{Patterns, fits};
use krm_yaml::Value;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};

/// Remove resources, components, patches, generators, labels or annotations
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// What to remove
    #[arg(value_name = "WHAT")]
    what: What,

    /// Paths as the file has them, or patterns; names of configmaps and secrets; keys of labels and
    /// annotations, which commas may separate
    #[arg(value_name = "ARGUMENT")]
    words: Vec<String>,

    /// Ignore a label or annotation that does not exist
    #[arg(short, long)]
    ignore_non_existence: bool,

    #[command(flatten)]
    patch: Patch,
}

const EXAMPLES: &str = "\
Examples:
  krm-template edit remove resource 'old-*.yaml'
  krm-template edit remove patch --path patch.yaml --kind Deployment --name web
  krm-template edit remove label app,tier";

impl Arguments {
    pub(super) fn apply(&self, file: &mut File<'_>, diagnostics: &mut Diagnostics) -> Result<()> {
        let rows: [options::Row<'_>; 3] = [
            (
                self.ignore_non_existence,
                "`--ignore-non-existence`",
                &[What::Label, What::Annotation],
            ),
            (self.patch.is_given(), "an option of a patch", &[What::Patch]),
            (
                self.patch.namespace.is_some(),
                "`--namespace`",
                &[What::Patch, What::ConfigMap, What::Secret],
            ),
        ];
        options::check(self.what, &rows)?;
        let (field, what) = self.what.field();
        if self.what == What::Patch {
            return self.patch(file, diagnostics);
        }
        options::some(&self.words, what)?;
        match self.what {
            What::Label | What::Annotation => self.pairs(file)?,
            What::Resource | What::Base => {
                self.items(&["resources", "bases"], file, diagnostics)?;
            }
            What::ConfigMap | What::Secret => self.generators(file)?,
            _ => self.items(&[field], file, diagnostics)?,
        }
        Ok(())
    }

    /// The words, of which commas make several where no path can have one.
    fn split(&self) -> impl Iterator<Item = &str> {
        self.words.iter().flat_map(|word| word.split(',')).filter(|word| !word.is_empty())
    }

    fn items(
        &self,
        fields: &[&'static str],
        file: &mut File<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<()> {
        let (_, what) = self.what.field();
        let known = fields.iter().flat_map(|field| file.items(field));
        let known: Vec<String> = known.filter_map(Value::as_str).map(str::to_owned).collect();
        let is_split = matches!(self.what, What::Base | What::BuildMetadata);
        let words: Vec<&str> = if is_split {
            self.split().collect()
        } else {
            self.words.iter().map(String::as_str).collect()
        };
        let is = |word: &str, item: &str| word == item || fits(word, item, Patterns::Go);
        for word in words.iter().filter(|word| !known.iter().any(|item| is(word, item))) {
            diagnostics.push(absent(what, word, known.iter().map(String::as_str)));
        }
        for field in fields {
            if file.get(field).is_some() {
                let goes = |item: &Value<'_>| {
                    item.as_str().is_some_and(|item| words.iter().any(|word| is(word, item)))
                };
                file.list(field)?.retain(|item| !goes(item));
                file.tidy(field);
            }
        }
        Ok(())
    }

    fn patch(&self, file: &mut File<'_>, diagnostics: &mut Diagnostics) -> Result<()> {
        let Some((field, text)) = self.patch.body().filter(|_| self.words.is_empty()) else {
            let missing = Diagnostic::error("the patch is missing");
            let hint = "name its file with `--path`, or write it with `--patch`, and its target";
            return Err(missing.hint(hint).into());
        };
        let patch = add::patch(field, text, &self.patch);
        if file.items("patches").contains(&patch) {
            file.list("patches")?.retain(|item| *item != patch);
            file.tidy("patches");
            return Ok(());
        }
        let same = |item: &&Value<'_>| item.get(field).and_then(Value::as_str) == Some(text);
        let other = file.items("patches").iter().find(same);
        let known = file.items("patches").iter();
        let known = known.filter_map(|item| item.get(field).and_then(Value::as_str));
        diagnostics.push(match other {
            Some(other) => absent("patch", text, [])
                .at(file.place(other))
                .hint("this one has another target: name the target that it has"),
            None => absent("patch", text, known),
        });
        Ok(())
    }

    fn generators(&self, file: &mut File<'_>) -> Result<()> {
        let (field, what) = self.what.field();
        let text = |item: &Value<'_>, key| item.get(key).and_then(Value::as_str).map(str::to_owned);
        let names: Vec<&str> = self.split().collect();
        let namespace = self.patch.namespace.as_deref().unwrap_or_default();
        let goes = |item: &Value<'_>| {
            text(item, "name").is_some_and(|name| names.contains(&name.as_str()))
                && (namespace.is_empty() || text(item, "namespace").as_deref() == Some(namespace))
        };
        let known = file.items(field).iter().filter_map(|item| text(item, "name"));
        let known: Vec<String> = known.collect();
        if !file.items(field).iter().any(goes) {
            let name = names.join(",");
            let mut error = absent(what, &name, known.iter().map(String::as_str));
            error.severity = krm_yaml::diagnostic::Severity::Error;
            return Err(error.into());
        }
        file.list(field)?.retain(|item| !goes(item));
        file.tidy(field);
        Ok(())
    }

    /// Removes labels, also those of `labels`, or annotations.
    fn pairs(&self, file: &mut File<'_>) -> Result<()> {
        let (field, what) = self.what.field();
        for key in self.split() {
            let mut is_found = false;
            if file.get(field).is_some() {
                is_found |= file.mapping(field)?.remove(key).is_some();
            }
            if self.what == What::Label && file.get("labels").is_some() {
                is_found |= remove_label(file.list("labels")?, key);
            }
            if !is_found && !self.ignore_non_existence {
                let known = file.get(field).and_then(Value::entries).unwrap_or_default();
                let known = known.iter().map(|(key, _)| key.as_ref());
                let mut error = absent(what, key, known);
                error.severity = krm_yaml::diagnostic::Severity::Error;
                return Err(error.into());
            }
        }
        file.tidy(field);
        if self.what == What::Label {
            file.tidy("labels");
        }
        Ok(())
    }
}

/// Removes a label from all groups, and the groups without labels.
fn remove_label(groups: &mut Vec<Value<'_>>, key: &str) -> bool {
    let mut is_found = false;
    groups.retain_mut(|group| {
        let Some(pairs) = group.get_mut("pairs") else {
            return true;
        };
        let removed = pairs.remove(key).is_some();
        is_found |= removed;
        !removed || pairs.entries().is_some_and(|entries| !entries.is_empty())
    });
    is_found
}

fn absent<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
    let absent = Diagnostic::warning(format!("the {what} `{name}` is not in the file"));
    absent.maybe_hint(meant(name, known))
}
