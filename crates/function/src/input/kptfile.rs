//! The functions that the pipeline of a Kptfile runs.

use std::collections::BTreeMap;

use krm_core::identity::Identity;
use krm_yaml::Cursor;

/// A function of a pipeline.
pub(crate) struct PipelineFunction {
    /// Its `name`, by which kpt does nothing.
    pub(crate) name: Option<String>,
    /// The file of its functionConfig, relative to the package, as it is written.
    pub(crate) config_path: Option<String>,
    /// The values that it gets instead of a functionConfig.
    pub(crate) values: Option<BTreeMap<String, String>>,
    /// The last part of its program or image, without a tag.
    pub(crate) program: String,
}

/// Whether an item is a Kptfile.
pub(crate) fn is_kptfile(identity: &Identity) -> bool {
    identity.group == "kpt.dev" && identity.kind == "Kptfile"
}

/// The functions of a Kptfile, in the order in which kpt runs them.
pub(crate) fn functions(kptfile: Cursor<'_>) -> Vec<PipelineFunction> {
    let opened = kptfile.open();
    let pipeline = opened.cursor().get("pipeline");
    let lists = ["mutators", "validators"].map(|key| pipeline?.get(key));
    let functions = lists.into_iter().flatten().flat_map(Cursor::children);
    functions.map(read).collect()
}

fn read(function: Cursor<'_>) -> PipelineFunction {
    let text = |key| function.text_at([key]).map(std::borrow::Cow::into_owned);
    let values = function.get("configMap").filter(|values| values.is_mapping());
    let program = text("image").or_else(|| text("exec")).unwrap_or_default();
    PipelineFunction {
        name: text("name").filter(|name| !name.is_empty()),
        config_path: text("configPath").filter(|path| !path.is_empty()),
        values: values.map(texts).filter(|values| !values.is_empty()),
        program: last_part(&program).to_owned(),
    }
}

/// The entries of a mapping as texts.
pub(crate) fn texts(mapping: Cursor<'_>) -> BTreeMap<String, String> {
    let entries = mapping.children().filter_map(|entry| {
        let value = entry.text().ok()?.unwrap_or_default();
        Some((entry.key().ok()?.into_owned(), value.into_owned()))
    });
    entries.collect()
}

/// `krm-template` of `/usr/bin/krm-template --flag` and of `host:5000/a/krm-template:v1`.
fn last_part(program: &str) -> &str {
    let program = program.split_whitespace().next().unwrap_or_default();
    let last = program.rsplit('/').next().unwrap_or_default();
    last.split([':', '@']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::last_part;

    #[test]
    fn a_program_is_known_by_its_last_part_without_a_tag() {
        let known = |program| last_part(program);
        assert_eq!(known("krm-template"), "krm-template");
        assert_eq!(known("/usr/bin/krm-template --x a/b"), "krm-template");
        assert_eq!(known("host:5000/a/krm-template:v1"), "krm-template");
        assert_eq!(known("a/krm-template@sha256:00"), "krm-template");
        assert_eq!(known(""), "");
    }
}
