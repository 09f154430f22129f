//! Names of objects, and the references to them.

use std::sync::LazyLock;

use crate::composition::Referrer;
use crate::export::fields::references::IMAGE_STREAM_TAGS;
use crate::export::options::Group;
use crate::export::parameters::maker::{Maker, Object};
use crate::export::parameters::renames::can_be_renamed;
use crate::export::visit::Tree;
use crate::krm::identity::is_built_in;
use krm_yaml::{Value, ViewMut};

/// The fields that name image streams with tags.
static TAGS: LazyLock<Tree<()>> = LazyLock::new(|| {
    let paths = IMAGE_STREAM_TAGS.iter();
    Tree::of(paths.map(|path| (*path, ())))
});

/// Changes the name of an object, and its references to others. `say` reports problems.
pub(crate) fn of_object(
    mut part: ViewMut<'_, '_>,
    object: &Object<'_>,
    maker: &mut Maker<'_>,
    say: &mut dyn FnMut(String),
) {
    if !maker.makes(Group::Names) {
        return;
    }
    let mut problems = Vec::new();
    let renames = &mut maker.renames;
    renames.follow(part.by_ref(), Referrer::of, &mut problems);
    for problem in problems {
        say(format!("kept a reference in {problem}"));
    }
    if is_built_in(&object.identity.group) {
        TAGS.each(part.by_ref(), &mut |parent, key, ()| {
            parent
                .get(key)
                .into_iter()
                .for_each(|from| stream_tag(from, maker));
        });
    }
    if can_be_renamed(object.identity)
        && let Some(renamed) = maker.renamed(&object.identity.name)
        && let Some(name) = part.at(&["metadata", "name"])
    {
        name.set(Value::string(renamed).data);
    }
}

/// The name of an image stream in a reference with a tag.
fn stream_tag(from: ViewMut<'_, '_>, maker: &Maker<'_>) {
    let is_tag = from.view().str_at(&["kind"]).as_deref() == Some("ImageStreamTag");
    let name = from.view().str_at(&["name"]).unwrap_or_default();
    let Some((stream, tag)) = name.split_once(':') else {
        return;
    };
    if let Some(renamed) = maker.renamed(stream).filter(|_| is_tag) {
        let text = format!("{renamed}:{tag}");
        if let Some(name) = from.get("name") {
            name.set(Value::string(text).data);
        }
    }
}
