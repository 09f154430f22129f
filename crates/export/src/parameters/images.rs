//! Makes parameters of images: repository and tag, and the registry that all share.

use std::borrow::Cow;

use krm_yaml::Value;

use crate::options::Group;
use crate::parameters::declarations::NewParameter;
use crate::parameters::image::Image;
use crate::parameters::maker::{Maker, Object};
use crate::references::marks;
use crate::visit::each_container;

/// Room for the references of an image, apart from the names of objects in them.
const ROOM: usize = 64;

/// Makes parameters of the images of the containers of a pod.
pub(crate) fn of_pod(spec: &mut Value<'_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    if !maker.makes(Group::Images) {
        return;
    }
    each_container(spec, &mut |container| {
        let of = container.str_at(&["name"]);
        let of = of.unwrap_or_default().to_owned();
        if let Some(image) = container.get_mut("image") {
            of_text(image, ["container `", &of, "`"], object, maker);
        }
    });
}

/// Makes parameters of an image, or refers to those of the same image. `of` says in parts what it is
/// the image of.
pub(crate) fn of_text(
    value: &mut Value<'_>,
    of: [&str; 3],
    object: &Object<'_>,
    maker: &mut Maker<'_>,
) {
    let Some(text) = value.as_str() else {
        return;
    };
    let marked = if let Some(known) = maker.images.get(text) {
        known.clone()
    } else {
        let Some(image) = Image::parse(text) else {
            return;
        };
        let marked = reference(image, of, object, maker);
        maker.images.insert(text.to_owned(), marked.clone());
        marked
    };
    value.set(Value::string(marked).data);
}

fn reference(
    image: Image<'_>,
    [before, of, after]: [&str; 3],
    object: &Object<'_>,
    maker: &mut Maker<'_>,
) -> String {
    let mut text = String::with_capacity(ROOM + 2 * object.word.len());
    let registry = maker.scope.registry.as_deref();
    if let Some(registry) = registry {
        let new = NewParameter {
            name: &["REGISTRY"],
            title: &["Registry"],
            origin: &["the registry of all images"],
            value: registry,
            ..NewParameter::default()
        };
        text.push_str(maker.shared("registry", new));
        text.push('/');
    }
    let mut add = |text: &mut String, [field, title, noun]: [&str; 3], value: &str| {
        let new = NewParameter {
            name: &[object.word, field],
            title: &[title, " of ", object.short()],
            origin: &["the ", noun, " of ", before, of, after, " in ", object.called],
            group: object.called,
            value,
            is_required: true,
            ..NewParameter::default()
        };
        marks::add_text(text, maker.parameters.add(&new, &|_| false));
    };
    let own = match (registry, image.registry) {
        (None, Some(own)) => Cow::Owned([own, "/", image.repository].concat()),
        _ => Cow::Borrowed(image.repository),
    };
    add(&mut text, ["IMAGE", "Image", "image"], &own);
    if let Some(tag) = image.tag {
        text.push(':');
        add(&mut text, ["TAG", "Tag", "tag"], tag);
    }
    text
}
