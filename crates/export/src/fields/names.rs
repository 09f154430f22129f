//! The fields whose values are names of objects, apart from references.

use std::collections::BTreeMap;

use crate::fields::references::{IMAGE_STREAM_TAGS, POD_SELECTORS, SELECTORS};
use crate::visit::{ByKind, Tree};
use krm_core::identity::is_built_in;
use krm_core::{label_fields, pods};

/// A field with names that parameters change.
#[derive(Clone, Copy)]
pub(crate) enum Field {
    /// Labels, or the values of a selector.
    Labels,
    /// The name of an image stream with a tag.
    StreamTag,
}

/// The fields of all kinds so far.
pub(crate) type Fields = ByKind<Tree<Field>>;

/// The fields of a kind of an API group.
pub(crate) fn fields((group, kind): (&str, &str)) -> Tree<Field> {
    let mut paths = BTreeMap::from([("metadata/labels".to_owned(), Field::Labels)]);
    let mut select = |path: &str| {
        for labels in ["matchLabels", "matchExpressions/values"] {
            paths.insert([path, "/", labels].concat(), Field::Labels);
        }
    };
    for (_, path) in SELECTORS.iter().filter(|(own, _)| *own == kind) {
        select(path);
    }
    if is_built_in(group) {
        if let Some(spec) = pods::spec(kind) {
            for path in POD_SELECTORS {
                select(&[&spec.join("/"), "/", path].concat());
            }
        }
        let labels = label_fields::paths(group, kind).into_iter();
        paths.extend(labels.map(|path| (path, Field::Labels)));
        let tags = IMAGE_STREAM_TAGS.iter();
        paths.extend(tags.map(|path| ((*path).to_owned(), Field::StreamTag)));
    }
    let paths = paths.iter();
    Tree::of(paths.map(|(path, field)| (path.as_str(), *field)))
}
