//! Comparison of the fake cluster with a real one.

use std::process::Command;

use libtest_mimic::{Failed, Trial};

use crate::apply::support::programs;

pub(crate) fn missing() -> Option<&'static str> {
    if std::env::var_os("KRM_TEMPLATE_SHARED").is_none_or(|path| path.is_empty()) {
        return Some("needs KRM_TEMPLATE_SHARED");
    }
    let yaml = Command::new("python3").args(["-c", "import yaml"]).output();
    let has_yaml = yaml.is_ok_and(|output| output.status.success());
    (!has_yaml).then_some("needs PyYAML")
}

pub(crate) fn trial() -> Trial {
    Trial::test("apply/the_small_cluster_answers_as_a_real_one", || {
        let shared = std::env::var_os("KRM_TEMPLATE_SHARED").ok_or("no shared data")?;
        let recordings = std::path::PathBuf::from(shared).join("corpus/template-api");
        let output = Command::new("python3")
            .arg(programs().join("cluster_recorded"))
            .arg(recordings)
            .output()?;
        if output.status.success() {
            return Ok(());
        }
        let text = [output.stdout, output.stderr].concat();
        Err(Failed::from(String::from_utf8_lossy(&text)))
    })
}
