//! Functions that are not built in: the traits by which the caller offers them.

use std::sync::Arc;

use crate::engine::program::Program;
use crate::engine::transformer::Transformer;
use crate::resources::resource::Resource;
use krm_core::files::{self, Checkout};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Runs functions that are not built in.
pub trait Functions {
    /// Checks that a program may run for a transformer.
    ///
    /// # Errors
    /// If that is not allowed.
    fn check(&self, _: &Transformer, _: &Program) -> Result<()> {
        Ok(())
    }

    /// Runs the program of a transformer on a ResourceList whose functionConfig is the transformer.
    /// By default none runs.
    fn run(&self, transformer: &Transformer, program: &Program, _: &Arc<Source>) -> FunctionOutput {
        let checked = self.check(transformer, program);
        FunctionOutput {
            list: None,
            diagnostics: checked.err().map(Diagnostics::from).unwrap_or_default(),
        }
    }

    /// Passes the resources through one of our own functions, which a transformer configures. After
    /// an error, do not use the result.
    fn run_own(
        &self,
        transformer: &Transformer,
        _: &mut Vec<Resource<'_>>,
        diagnostics: &mut Diagnostics,
    ) {
        let mut wrong = Diagnostic::error(format!("{}: nothing runs it here", transformer.id));
        wrong.place = transformer.place();
        diagnostics.push(wrong);
    }

    /// The copy of the git repository that a path in the directory `from` is the URL of; none if it
    /// is not such a URL.
    ///
    /// # Errors
    /// If the repository must not or cannot be fetched, or the path is another address.
    fn fetch(&self, path: &str, _from: &str) -> Result<Option<Checkout>> {
        if files::is_address(path) {
            return Err(files::address(path).into());
        }
        Ok(None)
    }

    /// The stream of objects that helm makes of a chart.
    ///
    /// # Errors
    /// If helm is not allowed, is missing, or fails, or as the values of the chart.
    fn helm(&self, _: &Chart<'_>) -> Result<Arc<Source>> {
        Err(Diagnostic::error("this needs helm, and a function cannot run other programs")
            .hint("on the command line, `krm-template build` runs helm")
            .into())
    }
}

/// A Helm chart, as kustomize configures it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field, and they are independent")]
pub struct HelmChart {
    /// Its name in the repository, and that of its directory.
    pub name: String,
    /// Its version in the repository; by default the newest.
    pub version: String,
    /// The URL of the repository.
    pub repo: String,
    /// The name of the release; by default helm makes one.
    pub release_name: String,
    /// The namespace of the release.
    pub namespace: String,
    /// A file in place of the chart's own values.
    pub(crate) values_file: String,
    /// Files with further values.
    pub(crate) additional_values_files: Vec<String>,
    /// Further values, which are read from the configuration.
    #[serde(rename = "valuesInline")]
    _values_inline: IgnoredAny,
    /// How they are merged with those of the file.
    pub(crate) values_merge: String,
    /// Whether its CustomResourceDefinitions are objects, too.
    #[serde(rename = "includeCRDs")]
    pub include_crds: bool,
    /// Whether hooks are left out.
    pub skip_hooks: bool,
    /// Whether tests are left out.
    pub skip_tests: bool,
    /// The API versions that the chart may ask for.
    pub api_versions: Vec<String>,
    /// The version of Kubernetes that the chart may ask for.
    pub kube_version: String,
    /// The template for the name of the release.
    pub name_template: String,
    /// Whether helm says more.
    pub debug: bool,
    /// Whether versions in development count.
    pub devel: bool,
    /// The directory with the directories of charts.
    pub(crate) chart_home: String,
    /// The directory of helm's own files, as helm reads it; by default a temporary one.
    pub config_home: String,
}

/// A chart that helm makes objects of. Paths are relative to where files are read.
#[derive(Clone, Copy)]
pub struct Chart<'c> {
    /// Its configuration.
    pub config: &'c HelmChart,
    /// The directory that it is in, or is pulled to.
    pub home: &'c str,
    /// Its own directory.
    pub directory: &'c str,
    /// Whether this exists, so that nothing is pulled.
    pub is_there: bool,
    /// The values, to be asked for when the chart is there: a text, and paths of further files.
    pub values: &'c dyn Fn() -> Result<(String, Vec<String>)>,
}

/// The output of a function.
#[derive(Debug)]
pub struct FunctionOutput {
    /// The ResourceList; none if it failed.
    pub list: Option<String>,
    /// Its messages; an error means that it failed.
    pub diagnostics: Diagnostics,
}
