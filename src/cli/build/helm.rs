//! Runs an installed helm, with the arguments that kustomize gives it.
//!
//! Source: kustomize 5.8, `AsHelmArgs` in `api/types/helmchartargs.go`, and the calls of kubectl 1.37.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use clap::Args;
use tempfile::TempDir;

use super::programs::Programs;
use crate::composition::{Chart, HelmChart};
use krm_template_exec::subprocess::{Ended, Failure, unsuccessful};
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::source::Source;

/// The options of Helm charts.
#[derive(Clone, Debug, Args)]
pub(super) struct HelmOptions {
    /// Allow Helm charts, for which helm runs
    #[arg(long)]
    enable_helm: bool,

    /// The program that is helm
    #[arg(long, value_name = "PROGRAM", default_value = "helm")]
    helm_command: String,

    /// An API version that charts may ask for, unless they have `apiVersions`; can be repeated
    #[arg(long, value_name = "VERSION")]
    helm_api_versions: Vec<String>,

    /// The version of Kubernetes that charts may ask for, unless they have `kubeVersion`
    #[arg(long, value_name = "VERSION", default_value = "")]
    helm_kube_version: String,

    /// Have helm say more when it fails
    #[arg(long)]
    helm_debug: bool,
}

impl Programs {
    /// Pulls a chart that is not there, and makes its objects.
    pub(super) fn inflate(&self, chart: &Chart<'_>) -> Result<Arc<Source>> {
        if !self.helm.enable_helm {
            let refused = Diagnostic::error("running helm is not allowed");
            return Err(refused.hint("allow it with `--enable-helm`").into());
        }
        let unable = |error: std::io::Error| {
            Diagnostic::error(format!(
                "helm cannot be run in a temporary directory: {error}"
            ))
        };
        // Dropped at the end, which removes it.
        let temporary = TempDir::with_prefix("krm-template-helm-").map_err(unable)?;
        let name = &chart.config.name;
        if !chart.is_there && chart.config.repo.is_empty() {
            let missing = Diagnostic::error(format!("there is no chart in `{}`", chart.directory));
            let hint = "put it there, or name the repository to pull it from under `repo`";
            return Err(missing.hint(hint).into());
        }
        if !chart.is_there {
            self.call_helm(pull(chart), chart.config, temporary.path())?;
        }
        let (values, more) = (chart.values)()?;
        let file_name = format!("{}-values.yaml", name.replace('/', "-"));
        let file = temporary.path().join(file_name);
        fs::write(&file, values).map_err(unable)?;
        let ended = self.call_helm(
            self.helm.template(chart, &file, &more),
            chart.config,
            temporary.path(),
        )?;
        krm_yaml::decode(format!("helm template {name}"), ended.stdout)
    }

    fn call_helm(
        &self,
        arguments: Vec<String>,
        chart: &HelmChart,
        temporary: &Path,
    ) -> Result<Ended> {
        let program = &self.helm.helm_command;
        let name = [
            program.as_str(),
            " ",
            arguments.first().map_or("", String::as_str),
        ]
        .concat();
        let home = match chart.config_home.as_str() {
            "" => temporary.join("helm"),
            home => PathBuf::from(home),
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("HELM_CACHE_HOME", home.join(".cache"))
            .env("HELM_DATA_HOME", home.join(".data"))
            .env("HELM_CONFIG_HOME", home);
        match self.process(&mut command, String::new(), self.limit) {
            Ok(ended) if ended.status.success() => Ok(ended),
            Ok(ended) => Err(unsuccessful(&name, &ended).into()),
            Err(Failure::Missing) => {
                let missing = Diagnostic::error(format!("program `{program}` not found"));
                let hint = "install helm, or name it with `--helm-command`";
                Err(missing.hint(hint).into())
            }
            Err(failure) => Err(self.failure(&name, &failure)),
        }
    }
}

/// The arguments that pull a chart from its repository.
fn pull(chart: &Chart<'_>) -> Vec<String> {
    let HelmChart {
        name,
        repo,
        version,
        devel,
        ..
    } = chart.config;
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
    fn template(&self, chart: &Chart<'_>, values: &Path, more: &[String]) -> Vec<String> {
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
            "" => &self.helm_kube_version,
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
