//! Generates the values of `generate: expression`.

use crate::declare::dialect::Dialect;
use crate::declare::legacy;
use crate::declare::model::Template;
use crate::declare::parameter::Parameter;
use crate::declare::reference;
use crate::resolve::parameters::Parameters;
use crate::values::generate;
use crate::values::random::{self, SeededRandom, SystemRandom};
use krm_core::identity::{Identity, group};
use krm_yaml::Cursor;
use krm_yaml::diagnostic::{Diagnostic, Result};

/// How the values of `generate: expression` are generated.
#[derive(Clone)]
pub enum Generation<'o> {
    /// At random, by the operating system.
    Random,
    /// At random once, and then the same whenever these options are used again.
    Once {
        /// Random bytes that values are derived from.
        seed: [u8; random::SEED],
    },
    /// The same each time: the value in the objects of an earlier run, else one derived
    /// from a secret seed, else an error.
    Reproducible {
        /// The secret; without one, a value that no object has is an error.
        seed: Option<Vec<u8>>,
        /// Distinguishes several expansions of one Template.
        instance: String,
        /// Finds the existing object, by identity.
        existing: &'o (dyn Fn(&Identity) -> Option<Cursor<'o>> + 'o),
    },
}

impl Generation<'_> {
    /// Random values, the same in each expansion with these options.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub fn once() -> Result<Self> {
        let seed = random::random_seed();
        let seed = seed.map_err(Diagnostic::error)?;
        Ok(Self::Once { seed })
    }
}

/// The value of a parameter that has an expression and no value.
pub(crate) fn generated(
    template: &Template,
    parameter: &Parameter,
    from: &str,
    known: &Parameters<'_>,
    generation: &Generation<'_>,
) -> Result<String> {
    let place = parameter.field("from").place();
    let field = format!("parameters[{}].from", parameter.index);
    let failed = |message: String, hint: Option<String>| {
        Diagnostic::error(format!("parameter `{}`: {message}", parameter.name))
            .at(place.clone())
            .field(field.clone())
            .maybe_hint(hint)
    };
    let made = match generation {
        Generation::Random => generate::expression(from, &mut SystemRandom),
        Generation::Once { seed } => {
            let mut random = SeededRandom::new(seed, template.name(), "", &parameter.name);
            generate::expression(from, &mut random)
        }
        Generation::Reproducible {
            seed,
            instance,
            existing,
        } => {
            if let Some(value) = earlier_value(template, parameter, known, *existing) {
                return Ok(value);
            }
            let Some(seed) = seed else {
                return Err(Diagnostic::error(format!("parameter `{}` has no value, and a function does not generate a random one: its output must be the same each time", parameter.name))
                    .at(parameter.field("name").place())
                    .field(format!("parameters[{}].value", parameter.index))
                    .hint("give it a `value`")
                    .hint("or set the environment variable `KRM_TEMPLATE_SEED` to a secret that values are derived from")
                    .hint("or name a Secret among the items that has a `seed`, in the annotation `template.krm.dev/seed-secret`")
                    .into());
            };
            let mut random = SeededRandom::new(seed, template.name(), instance, &parameter.name);
            generate::expression(from, &mut random)
        }
    };
    made.map_err(|error| failed(error.message, error.hint).into())
}

/// The value a parameter had in an earlier run: read from the field of the existing object,
/// where the Template refers to it and to nothing else that is unknown.
fn earlier_value<'o>(
    template: &Template,
    parameter: &Parameter,
    known: &Parameters<'_>,
    existing: &(dyn Fn(&Identity) -> Option<Cursor<'o>> + 'o),
) -> Option<String> {
    let look = Earlier {
        template,
        name: &parameter.name,
        known,
    };
    template.objects()?.children().find_map(|object| {
        let object = object.open();
        let identity = look.identity(object.cursor())?;
        let old = existing(&identity)?;
        look.value(object.cursor(), old.open().cursor())
    })
}

struct Earlier<'s, 'd> {
    template: &'s Template,
    name: &'s str,
    known: &'s Parameters<'d>,
}

impl Earlier<'_, '_> {
    /// A text with known values put in; `None` if another value is needed.
    fn text(&self, text: &str) -> Option<String> {
        let is_declared = |name: &str| {
            let mut parameters = self.template.parameters.iter();
            parameters.any(|parameter| parameter.name == name)
        };
        let dialect = self.template.dialect;
        let needs_another = reference::names(text, dialect)
            .any(|name| self.known.get(name).is_none() && is_declared(name));
        (!needs_another).then(|| {
            reference::with_values(text, dialect, |name| {
                Some(self.known.get(name)?.text.as_ref())
            })
        })
    }

    fn identity(&self, object: Cursor<'_>) -> Option<Identity> {
        let text = |keys: [&str; 2]| object.text_at(keys).and_then(|text| self.text(&text));
        let kind = self.text(&object.text_at(["kind"])?)?;
        let api_version = self.text(&object.text_at(["apiVersion"])?)?;
        let group = match group(&api_version) {
            "" if !api_version.contains('/') => legacy::group_of(&kind).unwrap_or_default(),
            group => group,
        };
        let namespace = match object.at(["metadata", "namespace"]) {
            Some(_) => text(["metadata", "namespace"])?,
            None => String::new(),
        };
        Some(Identity {
            group: group.to_owned(),
            namespace,
            name: text(["metadata", "name"])?,
            kind,
        })
    }

    /// Looks for `prefix${NAME}suffix` in `new` and for its text in the same field of `old`.
    fn value(&self, new: Cursor<'_>, old: Cursor<'_>) -> Option<String> {
        if new.is_mapping() {
            return new.children().find_map(|entry| {
                let key = self.text(&entry.key().ok()?)?;
                self.value(entry, old.get(&key)?)
            });
        }
        if new.is_sequence() {
            return new
                .children()
                .zip(old.children())
                .find_map(|(new, old)| self.value(new, old));
        }
        let text = new.text().ok()??;
        let spellings = match self.template.dialect {
            Dialect::Proposal => [format!("$({})", self.name), format!("$(({}))", self.name)],
            Dialect::OpenShift => [
                format!("${{{}}}", self.name),
                format!("${{{{{}}}}}", self.name),
            ],
        };
        spellings.iter().find_map(|spelling| {
            let (prefix, suffix) = text.split_once(spelling.as_str())?;
            let (prefix, suffix) = (self.text(prefix)?, self.text(suffix)?);
            let old = old.text().ok()??;
            let value = old
                .strip_prefix(prefix.as_str())?
                .strip_suffix(suffix.as_str())?;
            (!value.is_empty()).then(|| value.to_owned())
        })
    }
}
