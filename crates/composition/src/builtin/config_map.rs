//! `ConfigMapGenerator`: creates a ConfigMap from texts and files, or changes one.
//!
//! Source: kustomize 5.8, `plugin/builtin/configmapgenerator`, `api/internal/generators`.

use serde::Deserialize;

use crate::builtin::generator::{self, GeneratedObject, GeneratorConfig};
use crate::engine::step::{Context, Transform};
use crate::resources::resource::Resource;
use krm_yaml::{FieldPath, Value};

/// The generator of a `ConfigMap`.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Generator(GeneratorConfig);

impl Transform for Generator {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let Self(config) = self;
        if config.kind.is_some() {
            let field = FieldPath::root().key("type");
            let diagnostic = context
                .transformer
                .error(&field, "a ConfigMap has no type")
                .hint("use the SecretGenerator for secrets");
            context.diagnostics.push(diagnostic);
            return;
        }
        let Some(pairs) = generator::pairs(config, context) else {
            return;
        };
        let mut data = Vec::new();
        let mut binary = Vec::new();
        for (key, bytes) in pairs {
            match String::from_utf8(bytes) {
                Ok(text) => data.push((key.into(), Value::from(text))),
                Err(error) => {
                    let encoded = generator::base64(error.as_bytes());
                    binary.push((key.into(), Value::from(encoded)));
                }
            }
        }
        let mut fields = Vec::new();
        for (name, entries) in [("data", data), ("binaryData", binary)] {
            if !entries.is_empty() {
                fields.push((name, Value::mapping(entries)));
            }
        }
        let made = GeneratedObject { kind: "ConfigMap", fields, parts: &["data", "binaryData"] };
        generator::absorb(resources, made, config, context);
    }

    fn is_generator(&self) -> bool {
        true
    }
}
