//! The options of Helm charts, and the arguments that kustomize gives helm for them.
//!
//! Source: kustomize 5.8, `AsHelmArgs` in `api/types/helmchartargs.go`, and the calls of kubectl 1.37.

use std::path::Path;

use clap::Args;

use krm_template_composition::{Chart, HelmChart};

/// The options of Helm charts.
#[derive(Clone, Debug, Args)]
pub(crate) struct HelmOptions {
    /// Allow Helm charts, for which helm runs
    #[arg(long = "enable-helm")]
    pub(crate) is_enabled: bool,

    /// The program that is helm
    #[arg(long = "helm-command", value_name = "PROGRAM", default_value = "helm")]
    pub(crate) program: String,

    /// An API version that charts may ask for, unless they have `apiVersions`; can be repeated
    #[arg(long, value_name = "VERSION")]
    helm_api_versions: Vec<String>,

    /// The version of Kubernetes that charts may ask for, unless they have `kubeVersion`
    #[arg(long, value_name = "VERSION")]
    helm_kube_version: Option<String>,

    /// Have helm say more when it fails
    #[arg(long)]
    helm_debug: bool,
}

/// The arguments that pull a chart from its repository.
pub(crate) fn pull(chart: &Chart<'_>) -> Vec<String> {
    let HelmChart { name, repo, version, devel, .. } = chart.config;
    let mut all = Words::new("pull");
    all.flag("--untar", true);
    all.option("--untardir", &absolute(chart.home));
    if repo.starts_with("oci://") {
        all.add(&format!("{}/{name}", repo.trim_end_matches('/')));
    } else {
        all.option("--repo", repo);
        all.add(name);
    }
    all.option("--version", version);
    all.flag("--devel", *devel);
    all.0
}

impl HelmOptions {
    /// The arguments that make the objects of a chart.
    pub(crate) fn template(
        &self,
        chart: &Chart<'_>,
        values: &Path,
        more: &[String],
    ) -> Vec<String> {
        let config = chart.config;
        let mut all = Words::new("template");
        if config.release_name.is_empty() {
            all.flag("--generate-name", true);
        } else {
            all.add(&config.release_name);
        }
        all.add(&absolute(chart.directory));
        all.option("--namespace", &config.namespace);
        all.option("--name-template", &config.name_template);
        all.option("-f", &values.to_string_lossy());
        for path in more {
            all.option("-f", &absolute(path));
        }
        let versions = match config.api_versions.as_slice() {
            [] => &self.helm_api_versions,
            _ => &config.api_versions,
        };
        for version in versions {
            all.option("--api-versions", version);
        }
        let version = match config.kube_version.as_str() {
            "" => self.helm_kube_version.as_deref().unwrap_or_default(),
            own => own,
        };
        all.option("--kube-version", version);
        all.flag("--include-crds", config.include_crds);
        all.flag("--skip-tests", config.skip_tests);
        all.flag("--no-hooks", config.skip_hooks);
        all.flag("--debug", config.debug || self.helm_debug);
        all.flag("--devel", config.devel);
        all.0
    }
}

/// Arguments of a program.
struct Words(Vec<String>);

impl Words {
    fn new(command: &str) -> Self {
        Self(vec![command.to_owned()])
    }

    fn add(&mut self, word: &str) {
        self.0.push(word.to_owned());
    }

    fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.add(name);
        }
    }

    /// Adds an option, unless its value is empty.
    fn option(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.add(name);
            self.add(value);
        }
    }
}

fn absolute(path: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    here.join(path).to_string_lossy().into_owned()
}
