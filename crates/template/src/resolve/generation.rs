//! Generates the values of `generate: expression`.

use std::cell::OnceCell;
use std::sync::{Arc, OnceLock};

use crate::declare::model::Template;
use crate::declare::parameter::Parameter;
use crate::resolve::earlier::{self, Earlier, Referring};
use crate::resolve::parameters::Parameters;
use crate::values::generate::{self, ExpressionError, Problem};
use crate::values::random::{self, SeededRandom, SystemRandom};
use krm_yaml::diagnostic::{Diagnostic, Result, Way};

/// How the values of `generate: expression` are generated.
#[derive(Clone)]
pub enum Generation<'o> {
    /// At random, by the operating system.
    Random,
    /// At random once, and then the same whenever these options are used again.
    Once(Seed),
    /// The same each time: the value in the objects of an earlier run, else one derived
    /// from a secret seed, else an error.
    Reproducible {
        /// The secret; without one, a value that no object has is an error.
        seed: Option<Vec<u8>>,
        /// For whom the values are, if others have the same secret; may be empty.
        scope: String,
        /// Distinguishes several expansions of one Template.
        instance: String,
        /// Finds the objects of earlier runs.
        earlier: &'o dyn Earlier,
    },
}

/// Random bytes that values are derived from, by default from the operating system when the first
/// value is generated. All copies have the same bytes.
#[derive(Clone, Default)]
pub struct Seed(Arc<OnceLock<[u8; random::SEED]>>);

impl Seed {
    /// The bytes, or why the system gives none.
    fn bytes(&self) -> std::result::Result<&[u8], String> {
        if let Some(bytes) = self.0.get() {
            return Ok(bytes);
        }
        let new = random::random_seed()?;
        Ok(self.0.get_or_init(|| new))
    }
}

impl From<[u8; random::SEED]> for Seed {
    fn from(bytes: [u8; random::SEED]) -> Self {
        Self(Arc::new(bytes.into()))
    }
}

/// The seed of values that nothing shows.
const UNUSED: &[u8] = b"nothing shows this value";

/// The fewest bytes of a secret seed. A shorter one can be guessed.
const MIN_SEED: usize = 16;

/// A generated value.
pub(crate) struct Generated {
    pub(crate) text: String,
    /// The warning that it is not an earlier one.
    pub(crate) warning: Option<Diagnostic>,
}

impl From<String> for Generated {
    fn from(text: String) -> Self {
        Self { text, warning: None }
    }
}

/// The Template whose values are generated, and how.
pub(crate) struct Generator<'g, 'd> {
    pub(crate) template: &'d Template,
    pub(crate) generation: &'g Generation<'g>,
    /// The settings by which expansion gives objects their namespaces.
    pub(crate) namespaces: earlier::Namespaces<'g>,
    /// Which objects refer to a parameter, once it is asked for.
    pub(crate) referring: OnceCell<Referring<'d>>,
}

impl<'d> Generator<'_, 'd> {
    /// The value of a parameter that has an expression and no value.
    pub(crate) fn generate(
        &self,
        parameter: &Parameter,
        from: &str,
        known: &Parameters<'d>,
    ) -> Result<Generated> {
        let template = self.template;
        let place = parameter.field("from").place();
        let field = format!("parameters[{}].from", parameter.index);
        let made = match self.generation {
            Generation::Random => generate::expression(from, &mut SystemRandom::default()),
            Generation::Once(seed) => {
                let seed = seed.bytes().map_err(Diagnostic::error)?;
                let mut random = SeededRandom::new(seed, "", template.name(), "", &parameter.name);
                generate::expression(from, &mut random)
            }
            Generation::Reproducible { seed, scope, instance, earlier } => {
                let referring = self.referring.get_or_init(|| Referring::of(template));
                let look = earlier::Look {
                    template,
                    parameter,
                    from,
                    known,
                    namespaces: self.namespaces,
                    referring,
                };
                if let Some(value) = look.value(*earlier)? {
                    return Ok(value.into());
                }
                let is_used = referring.has(&parameter.name);
                let seed = seed.as_deref().or((!is_used).then_some(UNUSED));
                let Some(seed) = seed else {
                    return Err(no_value(parameter, earlier.has_objects()).into());
                };
                let mut random =
                    SeededRandom::new(seed, scope, template.name(), instance, &parameter.name);
                let made = check_seed(seed).and_then(|()| generate::expression(from, &mut random));
                if let (Ok(text), true) = (&made, is_used && earlier.has_objects()) {
                    let warning = Diagnostic::warning(format!(
                        "parameter `{}`: no earlier value was found; a new one was derived",
                        parameter.name
                    ));
                    return Ok(Generated {
                        text: text.clone(),
                        warning: Some(
                            warning
                                .at(parameter.field("name").place())
                                .field(format!("parameters[{}].value", parameter.index)),
                        ),
                    });
                }
                made
            }
        };
        made.map(Generated::from).map_err(|error| {
            let problem = format!("parameter `{}`: {}", parameter.name, error.message);
            let problem = Diagnostic::error(problem).at(place).field(field);
            problem.maybe_hint(error.hint).into()
        })
    }
}

/// Refuses a seed that can be guessed.
fn check_seed(seed: &[u8]) -> std::result::Result<(), ExpressionError> {
    if seed.len() >= MIN_SEED {
        return Ok(());
    }
    Err(ExpressionError {
        problem: Problem::Other,
        message: format!("the seed has fewer than {MIN_SEED} bytes"),
        range: 0..0,
        hint: Some("take what `head -c 32 /dev/urandom | base64` prints as the seed".to_owned()),
    })
}

/// The error for a parameter without a value and a seed. `has_objects` tells whether an earlier run
/// created objects.
fn no_value(parameter: &Parameter, has_objects: bool) -> Diagnostic {
    let missing = if has_objects { ", and no earlier one was found" } else { "" };
    Diagnostic::error(format!("parameter `{}` has no value{missing}, and no random one is generated, because the output must be the same each time", parameter.name))
        .at(parameter.field("name").place())
        .field(format!("parameters[{}].value", parameter.index))
        .hint("give it a `value`")
        .hint("or set the environment variable `KRM_TEMPLATE_SEED` to a secret that values are derived from")
        .advise(Way::Objects, "or name a Secret among the items that has a `seed`, in the annotation `template.krm.dev/seed-secret`")
        .advise(Way::Arguments, "or leave out `--seed-scope` and `KRM_TEMPLATE_SEED_SCOPE`, to generate a random one")
}
