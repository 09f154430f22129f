//! Makes parameters of images: repository and tag, and the registry that all share.

use std::borrow::Cow;

use krm_yaml::{Value, ViewMut};

use crate::export::marks;
use crate::export::options::Group;
use crate::export::parameters::image::Image;
use crate::export::parameters::made::{Made, name};
use crate::export::parameters::maker::{Maker, Object};
use crate::export::visit::each_container;

/// Makes parameters of the images of the containers of a pod.
pub(crate) fn of_pod(spec: ViewMut<'_, '_>, object: &Object<'_>, maker: &mut Maker<'_>) {
    if !maker.makes(Group::Images) {
        return;
    }
    each_container(spec, &mut |container| {
        let of = container.view().str_at(&["name"]);
        let of = of.unwrap_or_default().into_owned();
        if let Some(image) = container.get("image") {
            of_text(image, &["container `", &of, "`"].concat(), object, maker);
        }
    });
}

/// Makes parameters of an image, or refers to those of the same image.
pub(crate) fn of_text(
    value: ViewMut<'_, '_>,
    of: &str,
    object: &Object<'_>,
    maker: &mut Maker<'_>,
) {
    let Some(text) = value.view().as_str() else {
        return;
    };
    let marked = if let Some(known) = maker.images.get(text.as_ref()) {
        known.clone()
    } else {
        let Some(image) = Image::parse(&text) else {
            return;
        };
        let marked = reference(image, of, object, maker);
        maker.images.insert(text.into_owned(), marked.clone());
        marked
    };
    value.set(Value::string(marked).data);
}

fn reference(image: Image<'_>, of: &str, object: &Object<'_>, maker: &mut Maker<'_>) -> String {
    let scope = maker.scope;
    let registry = scope.registry.as_deref();
    let registry = registry.map(|registry| {
        maker.shared("registry", registry, || Made {
            name: "REGISTRY".into(),
            title: "Registry".into(),
            origin: "the registry of all images".into(),
            ..Made::default()
        })
    });
    let mut make = |field: &str, title: &str, noun: &str, value: &str| {
        let made = Made {
            name: name(&[object.word, field]),
            title: [title, " of ", object.short()].concat().into(),
            origin: ["the ", noun, " of ", of, " in ", object.called]
                .concat()
                .into(),
            group: object.called,
            value: value.into(),
            is_required: true,
            ..Made::default()
        };
        marks::text(maker.parameters.add(made, &|_| false))
    };
    let own = match (&registry, image.registry) {
        (None, Some(own)) => Cow::Owned([own, "/", image.repository].concat()),
        _ => Cow::Borrowed(image.repository),
    };
    let mut text = make("IMAGE", "Image", "image", &own);
    if let Some(registry) = registry {
        text = [&registry, "/", &text].concat();
    }
    if let Some(tag) = image.tag {
        text.push(':');
        text.push_str(&make("TAG", "Tag", "tag", tag));
    }
    text
}
