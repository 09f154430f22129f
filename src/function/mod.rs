//! The KRM function: a ResourceList in, a ResourceList out.
//!
//! Contract: the KRM functions specification. The input items pass through byte for byte. The
//! functionConfig says which Templates are stamped out: each object takes the place of the item
//! that was made of it before, or comes behind the others; items that are made no longer go. On an
//! error the items come back as they were, with `results` that say what is wrong.

mod composed;
mod crossings;
#[cfg(test)]
mod hand_edits;
pub(crate) mod items;
mod located;
mod package;
mod paths;
mod placing;
pub(crate) mod plan;
mod update;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

pub use self::composed::InProcess;

use self::items::Items;
use self::placing::{Placing, Rules};
use self::plan::{Inputs, Plan, Whence};
use crate::files::Files;
use crate::krm::identity::{self, Identity};
use crate::krm::long_lists::LONG_LISTS;
use crate::krm::resource_list::{Changes, ResourceList};
use crate::report;
use crate::template::{self, Generation, Options, Template};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Way};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, Edited, Value};

/// The annotation that names the Secret among the items that generated values are derived from.
const SEED_SECRET: &str = "template.krm.dev/seed-secret";

/// What a function may know besides its input.
#[derive(Clone, Default)]
pub struct Environment<'e> {
    /// The secret that generated values are derived from.
    pub seed: Option<Vec<u8>>,
    /// The files that a Composition names; without them it finds none.
    pub files: Option<&'e dyn Files>,
}

impl fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A seed is a secret.
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}

/// What a function has to say.
#[derive(Debug)]
pub struct Output {
    /// The ResourceList; none if the input was none.
    pub list: Option<Edited>,
    /// Errors, warnings and information; with an error, the function has failed.
    pub diagnostics: Diagnostics,
}

/// Runs the function on the text of a ResourceList.
#[must_use]
pub fn run(source: &Arc<Source>, environment: &Environment<'_>) -> Output {
    Document::read_with(source, LONG_LISTS, |document| {
        match ResourceList::read(document) {
            Ok(list) => run_on(&list, source, environment),
            Err(diagnostic) => diagnostic.into(),
        }
    })
    .unwrap_or_else(Output::from)
}

impl Output {
    /// The text of the ResourceList; empty if the input was none.
    #[must_use]
    pub fn text(&self) -> String {
        self.list
            .as_ref()
            .map(Edited::to_string)
            .unwrap_or_default()
    }
}

impl From<Box<Diagnostic>> for Output {
    /// Of an input that is no ResourceList.
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Self {
            list: None,
            diagnostics: diagnostic.into(),
        }
    }
}

fn run_on(list: &ResourceList<'_>, source: &Source, environment: &Environment<'_>) -> Output {
    let mut diagnostics = Diagnostics::new();
    let changes = changes(list, environment, &mut diagnostics);
    diagnostics.address(Way::Objects);
    located::locate(list, source, &diagnostics);
    let mut edited = None;
    if !diagnostics.has_errors() {
        let results = results(&diagnostics);
        edited = diagnostics.take(list.with_changes(Changes { results, ..changes }));
    }
    if diagnostics.has_errors() {
        diagnostics.drop_success();
        let results = results(&diagnostics);
        edited = diagnostics.take(list.with_changes(Changes {
            results,
            ..Changes::default()
        }));
    }
    Output {
        list: edited,
        diagnostics,
    }
}

fn results(diagnostics: &Diagnostics) -> Value<'static> {
    Value::from(report::results(diagnostics))
}

/// Decides what happens to the items.
fn changes(
    list: &ResourceList<'_>,
    environment: &Environment<'_>,
    diagnostics: &mut Diagnostics,
) -> Changes {
    let Some(config) = list.function_config() else {
        diagnostics.append(list.misspelt_config());
        return Changes::default();
    };
    if let Err(error) = list.check_items() {
        diagnostics.push(*error);
        return Changes::default();
    }
    if composed::is_composition(config) {
        return composed::changes(list, config, environment, diagnostics);
    }
    let items = Items::read(list, config);
    let inputs = Inputs::of(&items.inputs, Whence::Items);
    let mut found = Diagnostics::new();
    let changes = match plan::read(config, &inputs, &mut found) {
        Some(plan) => {
            let rules = Rules::read(config, items.are_kept, &mut found);
            let mut placing = Placing::new(list, &items, &plan, &rules);
            if !found.has_errors() {
                stamp_out(
                    list,
                    config,
                    &items,
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
    items: &Items<'_>,
    plan: &Plan<'_>,
    environment: &Environment<'_>,
    placing: &mut Placing<'_, '_>,
    diagnostics: &mut Diagnostics,
) {
    for (index, instance) in plan.instances.iter().enumerate() {
        let Some(template) = plan.templates.get(instance.template) else {
            continue;
        };
        let standing = |identity: &Identity| Some(items.by_identity.get(identity)?.node);
        let options = Options {
            labels: instance.labels.clone(),
            namespace: instance.namespace.clone(),
            ignore_unknown_parameters: false,
            strict: false,
            require_name: true,
            inspect: None,
            keep_namespace: false,
            generation: Generation::Reproducible {
                seed: seed(template, list, environment, diagnostics),
                instance: instance.seed.clone(),
                standing: &standing,
            },
        };
        let (mut found, mut placed) = (Diagnostics::new(), Diagnostics::new());
        let message = template::process(
            template,
            &instance.given,
            &options,
            &mut found,
            &mut |object, _| placing.object(index, instance, object, &mut placed),
        );
        if let Some(message) = message {
            found.push(Diagnostic::info(message.trim_end()).of_success());
        }
        if let Some(place) = &instance.place {
            found.relate(place, &format!("for the instance `{}`", instance.name));
        }
        found.append(placed);
        found.attribute_to(template.reference());
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
    template: &Template<'_>,
    list: &ResourceList<'_>,
    environment: &Environment<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<u8>> {
    use base64::Engine as _;
    let Some(name) = template.annotation(SEED_SECRET) else {
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
            None => format!("no Secret `{name}` is among the items"),
            Some(_) => format!(
                "the Secret `{name}` holds no `seed`, as text in `stringData` or base64 in `data`"
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
