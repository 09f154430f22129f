//! Makes parameters of the fields of objects, and marks the references to them.

mod declarations;
mod hosts;
mod image;
mod images;
mod labels;
mod leftovers;
mod maker;
mod names;
mod namespaces;
mod pods;
mod renames;
mod secrets;
mod values;

use krm_yaml::Value;

pub(super) use declarations::{Declarations, InfoMessages, Parameters};
pub(super) use hosts::shared_domains;
pub(super) use image::Images;
pub(super) use maker::{Maker, Object, Scope};
pub(super) use renames::can_be_renamed;

/// Makes the parameters of one object, and marks the references to them. `say` takes the messages.
pub(super) fn of_object(
    part: &mut Value<'_>,
    object: &Object<'_>,
    maker: &mut Maker<'_>,
    say: &mut dyn FnMut(String),
) {
    let is_built_in = krm_core::identity::is_built_in(&object.identity.group);
    if let Some(metadata) = part.get_mut("metadata") {
        namespaces::drop_common(metadata, maker);
        labels::take_common(metadata, maker);
    }
    names::of_object(part, object, maker, say);
    if let Some(metadata) = part.get_mut("metadata") {
        names::of_metadata(metadata, object.identity, maker);
        namespaces::of_metadata(metadata, maker);
    }
    if is_built_in {
        pods::of_object(part, object, maker);
    }
    if is_built_in || object.identity.group == "monitoring.coreos.com" {
        values::of_object(part, object, maker);
    }
    if object.identity.group.is_empty() && object.identity.kind == "Secret" {
        secrets::of_secret(part, object, maker);
    }
    leftovers::of_object(part, object, maker, say);
}
