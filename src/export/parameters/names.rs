//! Names of objects, and the references to them.

use crate::composition::Referrer;
use crate::export::fields::references::IMAGE_STREAM_TAGS;
use crate::export::options::Group;
use crate::export::parameters::maker::{Maker, Object};
use crate::export::parameters::renames::can_be_renamed;
use crate::export::visit::{self, at_mut};
use crate::krm::identity::is_built_in;
use krm_yaml::Value;

/// Changes the name of an object, and its references to others. `say` reports problems.
pub(crate) fn of_object(
    value: &mut Value<'_>,
    object: &Object<'_>,
    maker: &mut Maker<'_>,
    say: &mut dyn FnMut(String),
) {
    if !maker.makes(Group::Names) {
        return;
    }
    let mut problems = Vec::new();
    let referrer = Referrer::of(value);
    maker.renames.follow(value, &referrer, &mut problems);
    for problem in problems {
        say(format!("kept a reference in {problem}"));
    }
    if is_built_in(&object.identity.group) {
        for path in IMAGE_STREAM_TAGS {
            visit::each(value, path, &mut |from| stream_tag(from, maker));
        }
    }
    if can_be_renamed(object.identity)
        && let Some(renamed) = maker.renamed(&object.identity.name)
        && let Some(name) = at_mut(value, &["metadata", "name"])
    {
        name.set(Value::string(renamed).data);
    }
}

/// The name of an image stream in a reference with a tag.
fn stream_tag(from: &mut Value<'_>, maker: &Maker<'_>) {
    let is_tag = from.str_at(&["kind"]) == Some("ImageStreamTag");
    let Some((stream, tag)) = from.str_at(&["name"]).and_then(|name| name.split_once(':')) else {
        return;
    };
    if let Some(renamed) = maker.renamed(stream).filter(|_| is_tag) {
        let text = format!("{renamed}:{tag}");
        from.insert("name".into(), Value::string(text));
    }
}
