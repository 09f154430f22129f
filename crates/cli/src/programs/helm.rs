//! Runs an installed helm for Helm charts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::programs::Programs;
use crate::programs::chart::pull;
use krm_template_composition::{Chart, HelmChart};
use krm_template_exec::subprocess::{Ended, Failure, folder, private, unsuccessful};
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::source::Source;

impl Programs {
    /// Pulls a chart that is not there, and makes its objects.
    pub(crate) fn inflate(&self, chart: &Chart<'_>) -> Result<Arc<Source>> {
        if !self.helm.is_enabled {
            let refused = Diagnostic::error("running helm is not allowed");
            return Err(refused.hint("allow it with `--enable-helm`").into());
        }
        let unable = |error: std::io::Error| {
            Diagnostic::error(format!("helm cannot be run in a temporary directory: {error}"))
        };
        // Dropped at the end, which removes it.
        let temporary = folder("krm-template-helm-", &self.interruption).map_err(unable)?;
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
        let arguments = self.helm.template(chart, &file, &more);
        let ended = private(|| {
            fs::write(&file, values).map_err(unable)?;
            self.call_helm(arguments, chart.config, temporary.path())
        })?;
        krm_yaml::decode(format!("helm template {name}"), ended.stdout)
    }

    fn call_helm(
        &self,
        arguments: Vec<String>,
        chart: &HelmChart,
        temporary: &Path,
    ) -> Result<Ended> {
        let program = &self.helm.program;
        let name = [program.as_str(), " ", arguments.first().map_or("", String::as_str)].concat();
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
