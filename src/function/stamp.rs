//! Stamps out the Templates that a functionConfig asks for, and places their objects.

use std::borrow::Cow;
use std::sync::Arc;

use crate::composition::Additions;
use crate::function::items::{Existing, Items};
use crate::function::placing::{Placing, Rules};

use crate::function::run::{self, Environment, Output};
use crate::krm::identity::{self, Identity};
use crate::krm::resource_list::{Changes, ResourceList};
use crate::plan::{self, Inputs, Plan, Whence};
use crate::template::{Generation, Options, Template};
use krm_yaml::Cursor;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::Source;

/// The annotation that names the Secret among the items that generated values are derived from.
const SEED_SECRET: &str = "template.krm.dev/seed-secret";

/// Runs the function on a ResourceList whose functionConfig is not a Composition.
pub(super) fn run(source: &Arc<Source>, environment: &Environment<'_>) -> Output {
    run::run(source, environment, &changes)
}

/// The objects that such a function adds; none if it fails, or changes items.
pub(super) fn additions(source: &Arc<Source>, environment: &Environment<'_>) -> Option<Additions> {
    run::additions(source, environment, &changes)
}

/// Decides what happens to the items.
pub(super) fn changes(
    list: &ResourceList<'_>,
    config: Cursor<'_>,
    environment: &Environment<'_>,
    diagnostics: &mut Diagnostics,
) -> Changes {
    let mut items = Items::read(list, config);
    let storage = std::mem::take(&mut items.storage);
    let inputs = match config.get("objects") {
        None => items.inputs(),
        // A Template refers to no other object.
        Some(_) => Vec::new(),
    };
    let inputs = Inputs::of(&inputs, Whence::Items);
    let existing = items.by_identity();
    let mut found = Diagnostics::new();
    let changes = match plan::read(config, &inputs, &mut found) {
        Some(plan) => {
            let rules = Rules::read(config, storage.are_kept, &mut found);
            let mut placing = Placing::new(list, &items, &existing, storage, &plan, &rules);
            if !found.has_errors() {
                stamp_out(
                    list,
                    config,
                    &existing,
                    &plan,
                    environment,
                    &mut placing,
                    &mut found,
                );
            }
            placing.finish(&mut found)
        }
        None => Changes::default(),
    };
    found.dedup();
    diagnostics.append(found);
    changes
}

/// Expands the Template of each instance and places its objects.
fn stamp_out(
    list: &ResourceList<'_>,
    config: Cursor<'_>,
    existing: &Existing<'_, '_>,
    plan: &Plan<'_>,
    environment: &Environment<'_>,
    placing: &mut Placing<'_, '_>,
    diagnostics: &mut Diagnostics,
) {
    for (index, instance) in plan.instances.iter().enumerate() {
        let Some(expander) = plan.expanders.get(instance.expander) else {
            continue;
        };
        let existing = |identity: &Identity| Some(existing.get(identity)?.node);
        let options = Options {
            labels: instance.labels.clone(),
            namespace: instance.namespace.clone(),
            ignore_unknown_parameters: false,
            strict: false,
            require_name: true,
            inspect: None,
            keep_namespace: false,
            generation: Generation::Reproducible {
                seed: seed(expander.template(), list, environment, diagnostics),
                instance: instance.seed.clone(),
                existing: &existing,
            },
        };
        let (mut found, mut placed) = (Diagnostics::new(), Diagnostics::new());
        let message = expander.expand(&instance.given, &options, &mut found, &mut |object, _| {
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
            &config.place(),
            &identity::reference(config),
            &instance.template_field,
        );
        diagnostics.append(found);
    }
}

/// The secret that generated values are derived from: of the environment, or of a Secret item.
fn seed(
    template: Option<&Template<'_>>,
    list: &ResourceList<'_>,
    environment: &Environment<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<u8>> {
    use base64::Engine as _;
    let named = template.and_then(|template| Some((template, template.annotation(SEED_SECRET)?)));
    let Some((template, name)) = named else {
        return environment.seed.clone();
    };
    let secret = list.items().map(Cursor::open).find(|item| {
        let item = item.cursor();
        item.text_at(["kind"]).as_deref() == Some("Secret")
            && item.text_at(["metadata", "name"]).as_deref() == Some(name.as_ref())
    });
    let field = |keys: [&str; 2]| {
        let secret = secret.as_ref()?.cursor();
        secret.text_at(keys).map(Cow::into_owned)
    };
    let plain = field(["stringData", "seed"]).map(String::into_bytes);
    let encoded = field(["data", "seed"]);
    let decoded = encoded.and_then(|seed| {
        base64::engine::general_purpose::STANDARD
            .decode(seed.trim())
            .ok()
    });
    let found = plain.or(decoded).filter(|seed| !seed.is_empty());
    if found.is_none() {
        let problem = match secret {
            None => format!("there is no Secret `{name}` among the items"),
            Some(_) => format!(
                "the Secret `{name}` has no `seed`: write it as text in `stringData` or as base64 in `data`"
            ),
        };
        let place = template.annotation_place(SEED_SECRET);
        let mut diagnostic =
            Diagnostic::error(problem).field(format!("metadata.annotations[{SEED_SECRET}]"));
        diagnostic.place = place;
        diagnostic.object = Some(template.reference().clone());
        diagnostics.push(diagnostic);
    }
    found
}
