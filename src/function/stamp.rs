//! Stamps out the Templates that a functionConfig asks for, and places their objects.

use std::borrow::Cow;

use crate::function::export;
use crate::function::items::{Existing, Items};
use crate::function::objects::{Decision, Objects};
use crate::function::placing::Placing;
use crate::function::rules::Rules;
use crate::function::run::Environment;
use crate::krm::identity::{self, Identity};
use crate::plan::{self, InputOrigin, Inputs, Plan};
use crate::template::{Generation, Options, Template};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Cursor, SharedNode};

/// The annotation that names the Secret among the items that generated values are derived from.
const SEED_SECRET: &str = "template.krm.dev/seed-secret";

/// Decides what happens to the objects, of which `items` are the heads. `node` is the
/// functionConfig.
pub(super) fn decide<O: Objects>(
    objects: &O,
    mut items: Items,
    node: &SharedNode,
    environment: &Environment<'_>,
    diagnostics: &mut Diagnostics,
) -> Decision<O::ItemChange, O::New> {
    let config = node.cursor();
    if export::is_export(config) {
        return export::decide(objects, items, config, diagnostics);
    }
    let storage = std::mem::take(&mut items.storage);
    let inputs = match config.get("objects") {
        None => items.inputs(objects, diagnostics),
        // A Template refers to no other object.
        Some(_) => Vec::new(),
    };
    let inputs = Inputs::of(inputs, InputOrigin::Items);
    #[cfg(feature = "deployment-manager")]
    let inputs = inputs.with_python(environment.python.clone());
    let existing = items.by_identity();
    let mut found = Diagnostics::new();
    let decision = match plan::read(node, &inputs, &mut found) {
        Some(plan) => {
            let rules = Rules::read(config, storage.are_kept, &mut found);
            let mut placing = Placing::new(objects, &items, &existing, storage, &plan, &rules);
            if !found.has_errors() {
                let run = Run {
                    objects,
                    items: &items,
                    existing: &existing,
                    config,
                    environment,
                };
                run.stamp_out(&plan, &mut placing, &mut found);
            }
            placing.finish(&mut found)
        }
        None => Decision::default(),
    };
    found.dedup();
    diagnostics.append(found);
    decision
}

/// The surroundings of an expansion.
struct Run<'r, O> {
    objects: &'r O,
    items: &'r Items,
    existing: &'r Existing<'r>,
    config: Cursor<'r>,
    environment: &'r Environment<'r>,
}

impl<O: Objects> Run<'_, O> {
    /// Expands the Template of each instance and places its objects.
    fn stamp_out(&self, plan: &Plan, placing: &mut Placing<'_, O>, diagnostics: &mut Diagnostics) {
        for (index, instance) in plan.instances.iter().enumerate() {
            let Some(expander) = plan.expanders.get(instance.expander) else {
                continue;
            };
            let existing = |identity: &Identity| {
                let node = self.objects.at(self.existing.get(identity)?);
                node.ok().map(SharedNode::cursor)
            };
            let options = Options {
                labels: instance.labels.clone(),
                namespace: instance.namespace.clone(),
                ignore_unknown_parameters: false,
                strict: false,
                require_name: true,
                inspect: None,
                keep_namespace: false,
                budget: None,
                generation: Generation::Reproducible {
                    seed: self.seed(expander.template(), diagnostics),
                    instance: instance.seed.clone(),
                    existing: &existing,
                },
            };
            let (mut found, mut placed) = (Diagnostics::new(), Diagnostics::new());
            let message =
                expander.expand(&instance.given, &options, &mut found, &mut |object, _| {
                    placing.object(index, instance, object, &mut placed);
                });
            if let Some(message) = message {
                found.push(Diagnostic::info(message.trim_end()).of_success());
            }
            if let Some(place) = &instance.place {
                found.relate(place, &format!("for the instance `{}`", instance.name));
            }
            found.append(placed);
            found.attribute_to(expander.reference());
            found.move_to(
                &self.config.place(),
                &identity::reference(self.config),
                &instance.template_field,
            );
            diagnostics.append(found);
        }
    }

    /// The secret that generated values are derived from: of the environment, or of a Secret among
    /// the objects.
    fn seed(&self, template: Option<&Template>, diagnostics: &mut Diagnostics) -> Option<Vec<u8>> {
        let named =
            template.and_then(|template| Some((template, template.annotation(SEED_SECRET)?)));
        let Some((template, name)) = named else {
            return self.environment.seed.clone();
        };
        let secret = self.items.list.iter().position(|item| {
            let identity = item.identity.as_ref();
            identity.is_some_and(|one| one.kind == "Secret" && one.name == name)
        });
        let problem = match secret {
            None => format!("there is no Secret `{name}` among the items"),
            Some(secret) => {
                let secret = diagnostics.take(self.objects.at(secret))?;
                if let Some(seed) = seed_in(secret.cursor().open().cursor()) {
                    return Some(seed);
                }
                format!(
                    "the Secret `{name}` has no `seed`: write it as text in `stringData` or as base64 in `data`"
                )
            }
        };
        let mut diagnostic =
            Diagnostic::error(problem).field(format!("metadata.annotations[{SEED_SECRET}]"));
        diagnostic.place = template.annotation_place(SEED_SECRET);
        diagnostic.object = Some(template.reference().clone());
        diagnostics.push(diagnostic);
        None
    }
}

/// The seed in a Secret.
fn seed_in(secret: Cursor<'_>) -> Option<Vec<u8>> {
    use base64::Engine as _;
    let field = |keys: [&str; 2]| secret.text_at(keys).map(Cow::into_owned);
    let plain = field(["stringData", "seed"]).map(String::into_bytes);
    let encoded = field(["data", "seed"]);
    let decoded = encoded.and_then(|seed| {
        base64::engine::general_purpose::STANDARD
            .decode(seed.trim())
            .ok()
    });
    plain.or(decoded).filter(|seed| !seed.is_empty())
}
