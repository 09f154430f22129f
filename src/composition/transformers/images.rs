//! `ImageTagTransformer`: changes the name, the tag and the digest of images.
//!
//! Source: kustomize 5.8, `plugin/builtin/imagetagtransformer`, `api/filters/imagetag`,
//! `api/internal/image`. Besides the fields that are named, each `image` in a list `containers` or
//! `initContainers` is looked at, at any depth; `CustomResourceDefinition`s never.

use regex_lite::Regex;
use serde::Deserialize;

use crate::composition::chain::Context;
use crate::composition::field_spec::{FieldSpec, Made};
use crate::composition::resource::Resource;
use crate::composition::transformers::{defaults, fields_or};
use crate::yaml::{Data, FieldPath, Value};

/// The configuration.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Config {
    image_tag: ImageTag,
    field_specs: Option<Vec<FieldSpec>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ImageTag {
    /// A regular expression for the whole name of images.
    name: String,
    #[serde(default)]
    new_name: String,
    #[serde(default)]
    new_tag: String,
    #[serde(default)]
    tag_suffix: String,
    // Kustomize reads either, as Go does not mind case in JSON.
    #[serde(default, alias = "Digest")]
    digest: String,
}

pub(super) fn apply(resources: &mut Vec<Resource<'_>>, context: &mut Context<'_, '_>) {
    let Some(Config {
        image_tag,
        field_specs,
    }) = context.config()
    else {
        return;
    };
    let pattern = format!(
        "^(?:{})(:[a-zA-Z0-9_.{{}}-]*)?(@[a-zA-Z][a-zA-Z0-9]*:[a-zA-Z0-9_.{{}}-]*)?$",
        image_tag.name
    );
    let pattern = match Regex::new(&pattern) {
        Ok(pattern) => pattern,
        Err(error) => {
            let field = FieldPath::root().key("imageTag").key("name");
            let problem = format!("`{}` is no regular expression: {error}", image_tag.name);
            let diagnostic = context.transformer.error(&field, problem);
            context.diagnostics.push(diagnostic);
            return;
        }
    };
    let change = Change { image_tag, pattern };
    let fields = fields_or(field_specs, defaults::IMAGES);
    for resource in resources {
        if resource.value.str_at(&["kind"]) == Some("CustomResourceDefinition") {
            continue;
        }
        change.in_containers(&mut resource.value);
        for field in &fields {
            if !field.is_for(&resource.value) {
                continue;
            }
            let outcome = field.visit(&mut resource.value, Made::Nothing, &mut |image| {
                change.set(image)
            });
            context.outcome(resource, outcome);
        }
    }
}

struct Change {
    image_tag: ImageTag,
    pattern: Regex,
}

impl Change {
    fn in_containers(&self, value: &mut Value<'_>) {
        match &mut value.data {
            Data::Scalar(_) => {}
            Data::Sequence(items) => items.iter_mut().for_each(|item| self.in_containers(item)),
            Data::Mapping(entries) => {
                for (key, value) in entries {
                    self.in_containers(value);
                    if matches!(key.as_ref(), "containers" | "initContainers")
                        && let Data::Sequence(containers) = &mut value.data
                    {
                        let images = containers.iter_mut().filter_map(|one| one.get_mut("image"));
                        images.for_each(|image| self.set_text(image));
                    }
                }
            }
        }
    }

    fn set(&self, image: &mut Value<'_>) -> Result<(), String> {
        if !matches!(image.data, Data::Scalar(_)) {
            return Err("an image is a text, found a list or mapping".to_owned());
        }
        self.set_text(image);
        Ok(())
    }

    fn set_text(&self, image: &mut Value<'_>) {
        let Some(old) = image.as_str() else { return };
        if !self.pattern.is_match(old) {
            return;
        }
        let new = self.changed(old);
        if new != old {
            image.set(Value::string(new).data);
        }
    }

    fn changed(&self, image: &str) -> String {
        let wish = &self.image_tag;
        let Parts { name, tag, digest } = Parts::of(image);
        let name = if wish.new_name.is_empty() {
            name
        } else {
            &wish.new_name
        };
        let (tag, digest) = match (wish.new_tag.as_str(), wish.digest.as_str()) {
            // A suffix is put there once: an image may be in the containers and in a field that is
            // named, and a function may run again on what it made. Every tag ends with "".
            ("", "") if tag.ends_with(&wish.tag_suffix) => (tag.to_owned(), digest),
            ("", "") => (format!("{tag}{}", wish.tag_suffix), ""),
            (tag, digest) => (tag.to_owned(), digest),
        };
        let mut image = name.to_owned();
        for (mark, part) in [(":", tag.as_str()), ("@", digest)] {
            if !part.is_empty() {
                image.push_str(mark);
                image.push_str(part);
            }
        }
        image
    }
}

/// An image as `[HOST[:PORT]/]NAME[:TAG][@DIGEST]`.
#[derive(Debug, PartialEq, Eq)]
struct Parts<'i> {
    name: &'i str,
    tag: &'i str,
    digest: &'i str,
}

impl<'i> Parts<'i> {
    fn of(image: &'i str) -> Self {
        let (rest, digest) = image.split_once('@').unwrap_or((image, ""));
        // A colon before a slash is that of a port.
        let (name, tag) = match rest.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => (name, tag),
            _ => (rest, ""),
        };
        Self { name, tag, digest }
    }
}

#[cfg(test)]
mod tests {
    use super::Parts;

    #[test]
    fn an_image_has_a_name_a_tag_and_a_digest() {
        for (image, name, tag, digest) in [
            ("nginx", "nginx", "", ""),
            ("nginx:1", "nginx", "1", ""),
            ("nginx@sha256:1", "nginx", "", "sha256:1"),
            ("nginx:1@sha256:1", "nginx", "1", "sha256:1"),
            ("host:5000/nginx", "host:5000/nginx", "", ""),
            ("host:5000/a/b:1@sha256:1", "host:5000/a/b", "1", "sha256:1"),
        ] {
            assert_eq!(Parts::of(image), Parts { name, tag, digest }, "{image}");
        }
    }
}
