//! The options of `--check`: objects that an API server would refuse.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::args::files::{files_of, parse_all};
use krm_template_exec::console::Console;
use krm_template_object_check::{Checker, version};
use krm_template_workspace::objects::define;
use krm_yaml::diagnostic::Diagnostics;

/// Whether and how printed objects are checked.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Check {
    /// Check each object as the API server of a cluster does, and print nothing that it refuses
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    options: Options,
}

impl Check {
    /// The check, if one is asked for.
    pub(crate) fn checker(&self, console: Console, trouble: &mut Diagnostics) -> Option<Checker> {
        self.check.then(|| self.options.checker(console, trouble))
    }
}

/// How objects are checked.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Options {
    /// Check objects as this version of Kubernetes does: 1.30 to 1.37, by default the newest
    #[arg(long, value_name = "VERSION", value_parser = version)]
    kubernetes_version: Option<u8>,

    /// Check custom resources with the CustomResourceDefinitions in this file or directory
    #[arg(long, value_name = "FILE|DIR")]
    crds: Vec<String>,

    /// Check no objects of this kind, or not by this rule; separate them with commas
    #[arg(long, value_name = "RULE|KIND", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    ignore: Vec<String>,
}

impl Options {
    /// The check, with the definitions in the files that are named.
    pub(crate) fn checker(&self, console: Console, trouble: &mut Diagnostics) -> Checker {
        let mut checker = Checker::default();
        if let Some(version) = self.kubernetes_version {
            checker.version = version;
        }
        checker.ignored.clone_from(&self.ignore);
        for path in &self.crds {
            let files = files_of(path, trouble);
            for document in parse_all(&files, console, trouble) {
                define(&document, &mut checker);
            }
        }
        checker
    }
}
