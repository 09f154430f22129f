//! Names of objects, and the references to them.

use crate::fields::names::{Field, fields};
use crate::options::Group;
use crate::parameters::labels;
use crate::parameters::maker::{Maker, Object};
use crate::parameters::renames::can_be_renamed;
use krm_core::Identity;
use krm_template_composition::Referrer;
use krm_yaml::{Value, View};

/// Changes labels and references of an object that hold names. `say` reports problems.
pub(crate) fn of_object(
    part: &mut Value<'_>,
    object: &Object<'_>,
    maker: &mut Maker<'_>,
    say: &mut dyn FnMut(String),
) {
    if !maker.makes(Group::Names) {
        return;
    }
    let renames = &mut maker.renames;
    let referring = renames.fields_of(object.api_version, &object.identity.kind);
    if !referring.is_empty() {
        let referrer = Referrer::of(View::of(part));
        let mut problems = Vec::new();
        renames.follow(part.into(), &referring, &referrer, &mut problems);
        for problem in problems {
            say(format!("kept a reference in {problem}"));
        }
    }
    if maker.scope.prefix.is_none() {
        return;
    }
    let kind = (object.identity.group.as_str(), object.identity.kind.as_str());
    let fields = maker.fields.get(kind, || fields(kind));
    fields.each(part, &mut |parent, key, field| {
        if let Some(part) = parent.get_mut(key) {
            match field {
                Field::Labels => labels::rename_values(part, maker),
                Field::StreamTag => stream_tag(part, maker),
            }
        }
    });
}

/// Changes the name in the metadata of an object.
pub(crate) fn of_metadata(metadata: &mut Value<'_>, identity: &Identity, maker: &Maker<'_>) {
    if maker.makes(Group::Names)
        && can_be_renamed(identity)
        && let Some(renamed) = maker.renamed(&identity.name)
        && let Some(name) = metadata.get_mut("name")
    {
        name.set(Value::string(renamed).data);
    }
}

/// The name of an image stream in a reference with a tag.
fn stream_tag(from: &mut Value<'_>, maker: &Maker<'_>) {
    let is_tag = from.str_at(&["kind"]) == Some("ImageStreamTag");
    let name = from.str_at(&["name"]).unwrap_or_default();
    let Some((stream, tag)) = name.split_once(':') else {
        return;
    };
    if let Some(renamed) = maker.renamed(stream).filter(|_| is_tag) {
        let text = format!("{renamed}:{tag}");
        if let Some(name) = from.get_mut("name") {
            name.set(Value::string(text).data);
        }
    }
}
