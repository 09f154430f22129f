//! Surveys a Template without given values: checks its defaults and expands its objects with the
//! known values.
//!
//! A reference to a parameter without a known value stays as written. So a text with such a
//! reference is known only in part, and equal references are equal values.

use std::collections::BTreeSet;

use crate::declare::dialect::{Dialect, OWN_GROUP};
use crate::declare::model::Template;
use crate::declare::parameter::Parameter;
use crate::declare::reference::with_values;
use crate::expand::expansion::{Options, Sink, expand};
use crate::resolve::generation::{Generated, Generation};
use crate::resolve::parameters::Parameters;
use crate::resolve::resolver;
use crate::values::given::{AssignedValue, Assignment};
use krm_core::identity::group;
use krm_yaml::Cursor;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};

/// The known values of a Template.
pub struct Survey<'t> {
    template: &'t Template,
    given: Vec<Assignment>,
    parameters: Parameters<'t>,
    /// The parameters without a value.
    unknown: BTreeSet<&'t str>,
    /// The fields of the parameters with invalid values; `None` if an error has no field.
    wrong: Option<BTreeSet<String>>,
}

impl<'t> Survey<'t> {
    /// Checks the values of the parameters. An invalid value is not a known value.
    pub fn of(template: &'t Template, diagnostics: &mut Diagnostics) -> Self {
        let unknown = unknown(template);
        let mut found = Diagnostics::new();
        let given = references(template, |parameter| unknown.contains(parameter.name.as_str()));
        resolve(template, &given, false, &mut found);
        diagnostics.append(found.clone());
        Self::with(template, unknown, wrong(&found), Parameter::may_show)
    }

    /// Returns a survey that also knows the values of secrets; `None` if there are none. Lists and
    /// mappings stay unknown: the path of a field in them shows keys.
    pub fn with_secrets(&self) -> Option<Self> {
        let is_text = |one: &Parameter| one.may_show() || !one.kind.is_structured();
        let (unknown, wrong) = (self.unknown.clone(), self.wrong.clone());
        let mut parameters = self.template.parameters.iter();
        parameters
            .any(|one| !one.may_show() && is_text(one) && is_known(one, &unknown, wrong.as_ref()))
            .then(|| Self::with(self.template, unknown, wrong, is_text))
    }

    /// Creates a survey with the known values of the matching parameters.
    fn with(
        template: &'t Template,
        unknown: BTreeSet<&'t str>,
        wrong: Option<BTreeSet<String>>,
        is_meant: impl Fn(&Parameter) -> bool,
    ) -> Self {
        let given = references(template, |parameter| {
            !is_meant(parameter) || !is_known(parameter, &unknown, wrong.as_ref())
        });
        Self {
            template,
            parameters: resolve(template, &given, true, &mut Diagnostics::new()),
            given,
            unknown,
            wrong,
        }
    }

    /// Whether a text contains no secret value.
    pub fn may_show(&self, text: &str) -> bool {
        self.parameters.may_show(text)
    }

    /// Returns `true` if the parameter has no value until one is given or generated.
    pub fn is_unknown(&self, name: &str) -> bool {
        self.unknown.contains(name)
    }

    /// Replaces the references to known values in a text.
    pub fn text(&self, text: &str) -> String {
        with_values(text, self.template.dialect, |name| {
            Some(self.parameters.get(name)?.text.as_ref())
        })
    }

    /// Passes each object to `sink`, including objects with errors.
    pub fn objects(&self, diagnostics: &mut Diagnostics, sink: &mut Sink<'_>) {
        let options = Options {
            keep_namespace: false,
            shows_secrets: false,
            // Unknown parameters were reported when the values were checked.
            ignore_unknown_parameters: true,
            ..Options::new(Generation::Random)
        };
        expand(self.template, &self.given, &options, diagnostics, |expansion, found| {
            let expansion = expansion.for_checking();
            expansion.advise(found);
            for (index, object) in expansion.objects().enumerate() {
                expansion.object(index, object, found, sink);
            }
        });
    }
}

/// Whether a parameter has a value, which is valid.
fn is_known(
    parameter: &Parameter,
    unknown: &BTreeSet<&str>,
    wrong: Option<&BTreeSet<String>>,
) -> bool {
    let field = format!("parameters[{}]", parameter.index);
    !unknown.contains(parameter.name.as_str()) && wrong.is_some_and(|wrong| !wrong.contains(&field))
}

/// Returns the fields of the parameters with invalid values; `None` if an error has no field.
fn wrong(found: &Diagnostics) -> Option<BTreeSet<String>> {
    let is_meant = |one: &&Diagnostic| {
        one.severity == Severity::Error && one.rule != Some("undeclared-parameter")
    };
    let parameter = |one: &Diagnostic| Some(one.field.as_ref()?.split('.').next()?.to_owned());
    found.iter().filter(is_meant).map(parameter).collect()
}

/// Returns the parameters without a value, and the parameters whose default refers to them.
fn unknown(template: &Template) -> BTreeSet<&str> {
    let refers = group(&template.reference.api_version) == OWN_GROUP;
    let mut unknown = BTreeSet::new();
    let mut made_of: Vec<(&str, Vec<String>)> = Vec::new();
    for parameter in &template.parameters {
        let name = parameter.name.as_str();
        if template.values.iter().any(|given| given.name == name) {
            continue;
        }
        match parameter.value().map(Cursor::text) {
            Some(Ok(Some(text))) if !text.is_empty() => {
                if refers {
                    made_of.push((name, template.names_in(&text)));
                }
            }
            // A list or a mapping; unreadable values are reported with the others.
            Some(Ok(None) | Err(_)) => {}
            Some(Ok(Some(_))) | None => {
                unknown.insert(name);
            }
        }
    }
    loop {
        let before = unknown.len();
        for (name, others) in &made_of {
            if others.iter().any(|other| unknown.contains(other.as_str())) {
                unknown.insert(name);
            }
        }
        if unknown.len() == before {
            return unknown;
        }
    }
}

/// Returns a value for each matching parameter: a reference to the parameter itself.
fn references(template: &Template, is_meant: impl Fn(&Parameter) -> bool) -> Vec<Assignment> {
    let meant = template.parameters.iter().filter(|one| is_meant(one));
    meant
        .map(|parameter| {
            let name = parameter.name.as_str();
            let reference = match template.dialect {
                Dialect::Proposal => format!("$({name})"),
                Dialect::OpenShift => format!("${{{name}}}"),
            };
            Assignment {
                value: AssignedValue::Unknown(reference),
                ..Assignment::text(name, "", "")
            }
        })
        .collect()
}

fn resolve<'d>(
    template: &'d Template,
    given: &[Assignment],
    ignore_unknown: bool,
    diagnostics: &mut Diagnostics,
) -> Parameters<'d> {
    // Generated values are not known either, so generate nothing.
    let mut generate =
        |_: &'d Parameter, from: &str, _: &Parameters<'d>| Ok(Generated::from(from.to_owned()));
    resolver::resolve(template, given, ignore_unknown, None, &mut generate, diagnostics)
}
