//! Shortened objects for our own functions, which read only the identity and the owner of most
//! kinds.

use std::borrow::Cow;

use crate::composition::resources::print::text_of_each;
use crate::composition::resources::resource::Resource;
use krm_yaml::diagnostic::Result;
use krm_yaml::{Data, Position, Value};

/// Kinds that a functionConfig may refer to; these are not shortened.
const WHOLE: [&str; 3] = ["Template", "ConfigMap", "Secret"];

/// The text of each resource as an item at the left margin, shortened where possible.
pub(crate) fn texts(resources: &[Resource<'_>]) -> Vec<Result<String>> {
    text_of_each(resources, |resource| {
        let kind = resource.value.str_at(&["kind"]).unwrap_or_default();
        if WHOLE.contains(&kind) {
            return resource.text(Position::Item { column: 0 });
        }
        let metadata = resource.value.get("metadata");
        let metadata =
            metadata.map(|metadata| part(metadata, &["name", "namespace", "annotations"]));
        let mut head = part(&resource.value, &["apiVersion", "kind"]);
        if let Some(metadata) = metadata {
            head.insert(Cow::Borrowed("metadata"), metadata);
        }
        Ok(format!("- {}\n", head.to_json()))
    })
}

/// Some fields of a mapping.
fn part<'d>(mapping: &Value<'d>, keys: &[&'static str]) -> Value<'d> {
    let fields = keys.iter();
    let fields = fields.filter_map(|key| Some((Cow::Borrowed(*key), mapping.get(key)?.clone())));
    Data::Mapping(fields.collect()).into()
}
