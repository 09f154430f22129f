//! Prints resources, each with the text it was read from.

use std::sync::Arc;

use crate::resources::resource::Resource;
use crate::values::go_yaml;
use krm_core::threads;
use krm_yaml::Position;
use krm_yaml::diagnostic::{Diagnostics, Result};

/// The format of printed resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A stream of documents with `---` between them.
    Yaml,
    /// The same in the style of kustomize, without comments.
    KustomizeStyle,
    /// A ResourceList, as functions read it.
    ResourceList,
}

/// How many resources make another thread worthwhile.
const RESOURCES_A_THREAD: usize = 64;

/// The text of all resources, in pieces; none if a resource cannot be printed, which is reported.
pub fn print(
    resources: &[Resource<'_>],
    format: Format,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<String>> {
    let position = match format {
        Format::Yaml | Format::KustomizeStyle => Position::Document,
        Format::ResourceList => Position::Item { column: 0 },
    };
    let mut pieces = Vec::with_capacity(2 * resources.len() + 1);
    if format == Format::ResourceList {
        let items = if resources.is_empty() { " []" } else { "" };
        pieces.push(format!(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:{items}\n"
        ));
    }
    let mut is_whole = true;
    let texts = text_of_each(resources, |resource| match format {
        Format::KustomizeStyle => Ok(print_as_kustomize(resource)),
        _ => resource.text(position),
    });
    for (index, text) in texts.into_iter().enumerate() {
        if index > 0 && format != Format::ResourceList {
            pieces.push("---\n".to_owned());
        }
        match diagnostics.take(text) {
            Some(text) => pieces.push(text),
            None => is_whole = false,
        }
    }
    is_whole.then_some(pieces)
}

/// The text of a resource in the style of kustomize.
pub fn print_as_kustomize(resource: &Resource<'_>) -> String {
    go_yaml::text(resource.value(), resource.document().map(Arc::as_ref))
}

/// The text of each resource.
pub(crate) fn texts(resources: &[Resource<'_>], position: Position) -> Vec<Result<String>> {
    text_of_each(resources, |resource| resource.text(position))
}

/// Calls `text` for each resource.
pub(crate) fn text_of_each<'d>(
    resources: &[Resource<'d>],
    text: impl Fn(&Resource<'d>) -> Result<String> + Sync,
) -> Vec<Result<String>> {
    let parts = threads::in_chunks(resources, RESOURCES_A_THREAD, |chunk| {
        chunk.iter().map(&text).collect::<Vec<_>>()
    });
    parts.into_iter().flatten().collect()
}
