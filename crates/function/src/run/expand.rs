//! Expands the Templates that a functionConfig asks for, and places their objects.

use std::borrow::Cow;

use crate::input::config_place::{self, ConfigPlace};
use crate::input::items::Items;
use crate::input::objects::{Decision, Objects};
use crate::ownership::Level;
use crate::ownership::matching::{Found, Matching, Names};
use crate::placing::Placing;
use crate::placing::creation::Run;
use crate::plan::{self, InputOrigin, Inputs, Instance, Plan};
use crate::run::Environment;
use crate::run::export;
use krm_core::identity::{self, Identity};
use krm_template_authoring::lint;
use krm_template_engine::{self as template, Assignment, Earlier, Generation, Options, Template};
use krm_template_object_check::Checker;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Cursor, SharedNode};

/// The annotation that names the Secret among the items that generated values are derived from.
const SEED_SECRET: &str = "template.krm.dev/seed-secret";

/// Whether the objects are checked as an API server does: `"true"`.
const CHECK: &str = "template.krm.dev/check";

/// Decides what happens to the objects, of which `items` are the heads. `node` is the
/// functionConfig. In a Composition, `earlier` finds the objects of earlier runs, which are not
/// among these objects, and the Composition decides about them.
pub(crate) fn decide<O: Objects>(
    objects: &O,
    mut items: Items,
    node: &SharedNode,
    environment: &Environment<'_>,
    earlier: Option<&dyn Earlier>,
    diagnostics: &mut Diagnostics,
) -> Decision<O::ItemChange, O::New> {
    let config = node.cursor();
    let place = match earlier {
        None => config_place::find(objects, &mut items, config, diagnostics),
        Some(_) => Some(ConfigPlace::default()),
    };
    let Some(place) = place else {
        return Decision::default();
    };
    let run = Run {
        objects,
        items: &items,
        place: &place,
        config,
        files: environment.files,
        writes_marks: earlier.is_none(),
    };
    if export::is_export(config) {
        return export::decide(&run, diagnostics);
    }
    let inputs = match config.get("objects") {
        None => items.inputs(objects, diagnostics),
        // A Template refers to no other object.
        Some(_) => Vec::new(),
    };
    let inputs = Inputs::of(inputs, InputOrigin::Items);
    #[cfg(feature = "deployment-manager")]
    let inputs = inputs.with_python(environment.python.clone());
    let mut found = Diagnostics::new();
    let plan = plan::read(node, &inputs, &mut found);
    let decision = plan.map(|plan| {
        let rules = run.rules(&mut found);
        warn_about_annotations(config, &plan, &mut found);
        let expanding = Expanding { run: &run, environment, earlier };
        run.placed(&plan, &rules, &mut found, |placing, matching, found| {
            expanding.expand(&plan, placing, matching, found);
        })
    });
    found.dedup();
    diagnostics.append(found);
    decision.unwrap_or_default()
}

/// Warns of annotations of this program that have no effect, unless they are errors already.
fn warn_about_annotations(config: Cursor<'_>, plan: &Plan, found: &mut Diagnostics) {
    let mut own = Diagnostics::new();
    lint::warn_about_annotations(config, &mut own);
    for template in plan.expanders.iter().filter_map(|one| one.template()) {
        lint::warn_about_annotations(template.node(), &mut own);
    }
    own.retain(|one| found.iter().all(|known| known.message != one.message));
    found.append(own);
}

/// Expands the Templates of a plan.
struct Expanding<'s, O> {
    run: &'s Run<'s, O>,
    environment: &'s Environment<'s>,
    /// Finds the objects of earlier runs of a transformer.
    earlier: Option<&'s dyn Earlier>,
}

impl<O: Objects> Expanding<'_, O> {
    /// Expands the Template of each instance and places its objects.
    fn expand(
        &self,
        plan: &Plan,
        placing: &mut Placing<'_, O>,
        matching: &Matching<'_>,
        diagnostics: &mut Diagnostics,
    ) {
        let checker = self.checker();
        for (index, instance) in plan.instances.iter().enumerate() {
            let Some(expander) = plan.expanders.get(instance.expander) else {
                continue;
            };
            let earlier = EarlierOf { expanding: self, matching, instance };
            let options = Options {
                labels: instance.labels.clone(),
                namespace: instance.namespace.clone(),
                require_name: true,
                ..Options::new(Generation::Reproducible {
                    seed: self.seed(expander.template(), diagnostics),
                    scope: self.environment.seed_scope.clone(),
                    instance: instance.seed.clone(),
                    earlier: &earlier,
                })
            };
            let (mut found, mut placed) = (Diagnostics::new(), Diagnostics::new());
            let mut refused = Diagnostics::new();
            let message =
                expander.expand(&instance.given, &options, &mut found, &mut |object, _| {
                    if let (Some(checker), Some(template)) = (&checker, expander.template()) {
                        let look = object.look();
                        let findings = checker.check(look.view, &|_| false);
                        lint::report_refusals(&findings, &look, template, &mut refused);
                    }
                    placing.object(index, instance, object, &mut placed);
                });
            if let Some(template) = expander.template() {
                let own = [&mut refused, &mut placed];
                hide_secrets(own, template, &instance.given, &options);
            }
            found.append(refused);
            if let (Some(tell), Some(template)) = (self.environment.trace, expander.template()) {
                // The expansion has reported everything.
                let ignored = &mut Diagnostics::new();
                template::trace(template, &instance.given, &options, ignored).map(tell);
            }
            if let Some(message) = message {
                found.push(Diagnostic::info(message.trim_end()).of_success());
            }
            if let Some(place) = &instance.place {
                found.relate(place, &format!("for the instance `{}`", instance.name));
            }
            found.append(placed);
            found.attribute_to(expander.reference());
            found.move_to(
                &self.run.config.place(),
                &identity::reference(self.run.config),
                &instance.template_field,
            );
            diagnostics.append(found);
        }
        if let Some(text) = checker.and_then(|checker| checker.not_checked()) {
            diagnostics.push(Diagnostic::info(text).of_success());
        }
    }

    /// The check of the objects, if it is asked for, with the custom resources that items define.
    fn checker(&self) -> Option<Checker> {
        let annotation = self.run.config.text_at(["metadata", "annotations", CHECK]);
        if annotation.as_deref() != Some("true") {
            return None;
        }
        let mut checker = Checker::default();
        for (position, item) in self.run.items.list.iter().enumerate() {
            let identity = item.identity.as_ref();
            if identity.is_none_or(|one| one.kind != "CustomResourceDefinition") {
                continue;
            }
            // An item without text is reported where it is read.
            if let Ok(node) = self.run.objects.at(position) {
                checker.define(node.cursor().open().cursor());
            }
        }
        Some(checker)
    }

    /// The secret that generated values are derived from: of the environment, or of a Secret among
    /// the objects.
    fn seed(&self, template: Option<&Template>, diagnostics: &mut Diagnostics) -> Option<Vec<u8>> {
        let named =
            template.and_then(|template| Some((template, template.annotation(SEED_SECRET)?)));
        let Some((template, name)) = named else {
            return self.environment.seed.clone();
        };
        let secret = self.run.items.list.iter().position(|item| {
            let identity = item.identity.as_ref();
            identity.is_some_and(|one| one.kind == "Secret" && one.name == name)
        });
        let problem = match secret {
            None => format!("there is no Secret `{name}` among the items"),
            Some(secret) => {
                let secret = diagnostics.take(self.run.objects.at(secret))?;
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

/// Leaves out refusals with a secret, and masks secrets in all messages about the objects.
fn hide_secrets(
    [refused, placed]: [&mut Diagnostics; 2],
    template: &Template,
    given: &[Assignment],
    options: &Options<'_>,
) {
    if refused.iter().chain(placed.iter()).next().is_none() {
        return;
    }
    let ignored = &mut Diagnostics::new();
    template::effective(template, given, options, ignored, |values| {
        let may_show = |text: &str| values.may_show(text);
        refused.retain(|one| may_show(&one.message) && one.field.as_deref().is_none_or(may_show));
        let secrets = values.secrets();
        secrets.conceal(placed);
        placed.hide_lines(|line| secrets.changed(line).is_some());
    });
    refused.conceal(&template.secrets(given));
}

/// The objects of earlier runs of an instance.
struct EarlierOf<'e, O> {
    expanding: &'e Expanding<'e, O>,
    matching: &'e Matching<'e>,
    instance: &'e Instance,
}

impl<O: Objects> Earlier for EarlierOf<'_, O> {
    fn object(&self, identity: &Identity) -> Option<SharedNode> {
        if let Some(found) = self.expanding.earlier.and_then(|earlier| earlier.object(identity)) {
            return Some(found);
        }
        let names = Names { maker: "", identity: identity.clone(), called: identity.clone() };
        let at = match self.matching.find(&names) {
            Found::Marked(at) => at,
            Found::Foreign(at) => {
                let mark = self.matching.mark(at);
                let is_others = mark.is_some_and(|mark| matches!(mark.level, Level::Others(_)));
                Some(at).filter(|_| !is_others)?
            }
            Found::Several(_) | Found::Nothing => return None,
        };
        self.expanding.run.objects.at(at).ok().cloned()
    }

    fn has_objects(&self) -> bool {
        let earlier = self.expanding.earlier;
        earlier.map_or_else(
            || self.matching.has_objects_of(&self.instance.owner),
            Earlier::has_objects,
        )
    }
}

/// The seed in a Secret.
fn seed_in(secret: Cursor<'_>) -> Option<Vec<u8>> {
    use base64::Engine as _;
    let field = |keys: [&str; 2]| secret.text_at(keys).map(Cow::into_owned);
    let plain = field(["stringData", "seed"]).map(String::into_bytes);
    let encoded = field(["data", "seed"]);
    let decoded =
        encoded.and_then(|seed| base64::engine::general_purpose::STANDARD.decode(seed.trim()).ok());
    plain.or(decoded).filter(|seed| !seed.is_empty())
}
