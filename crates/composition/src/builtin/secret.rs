//! `SecretGenerator`: creates a Secret from texts and files, or changes one.
//!
//! Source: kustomize 5.8, `plugin/builtin/secretgenerator`, `api/internal/generators`.

use serde::Deserialize;

use crate::builtin::generator::{self, GeneratedObject, GeneratorConfig};
use crate::engine::step::{Context, Transform};
use crate::resources::resource::Resource;
use krm_yaml::Value;

/// The generator of a `Secret`.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Generator(GeneratorConfig);

impl Transform for Generator {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let Self(config) = self;
        let Some(pairs) = generator::pairs(config, context) else {
            return;
        };
        let data = pairs.into_iter().map(|(key, bytes)| {
            let encoded = generator::base64(&bytes);
            (key.into(), Value::from(encoded))
        });
        let kind = config.kind.clone().filter(|kind| !kind.is_empty());
        let made = GeneratedObject {
            kind: "Secret",
            fields: vec![
                ("type", Value::from(kind.unwrap_or("Opaque".to_owned()))),
                ("data", Value::mapping(data.collect())),
            ],
            parts: &["data"],
        };
        generator::absorb(resources, made, config, context);
    }

    fn is_generator(&self) -> bool {
        true
    }
}
