//! Processing of a Template from a request, or of a stored one with the values from a request.

use std::sync::Arc;

use krm_template_authoring::lint::Refusals;
use krm_template_engine::{
    Assignment, Budget, Generation, Inspect, Label, Look, Options, Parameters, Template,
};
use krm_template_object_check::Checker;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};
use krm_yaml::{ALIASES_EXPAND, Cursor, Document};

use super::causes::{Hidden, Reporter};
use super::request::{Limits, Processed, Request, Text};
use super::response::{self, Expanded, Unwritable};
use super::{openshift_errors, parameters, parse, source_map, yaml_response};
use crate::request::Format;
use krm_template_server_core::{Cause, Group, Result, Status};

/// Processes the Template in the body of a request.
///
/// # Errors
/// 400 if the body is not an object, or has another namespace; 422 if the Template or a value is
/// invalid, or the result is too large; 504 if the time is up.
pub fn template(request: &Request<'_>, body: Text<'_>) -> Result<Processed> {
    let document = parse::document("Template", body)?;
    let work = Expansion { request, document: &document, syntax: body.syntax, values: None };
    work.run(&[], Diagnostics::new())
}

/// Processes a stored Template with the `Parameters` in the body of a request. Their labels and
/// namespace override the ones in `request`.
///
/// # Errors
/// The same as [`template`].
pub fn stored(
    request: &Request<'_>,
    template: Text<'_>,
    parameters: Text<'_>,
) -> Result<Processed> {
    let document = parse::document("Template", template)?;
    let values = parse::document("Parameters", parameters)?;
    let given = Given::read(request, &document, &values)?;
    let request = given.request(request);
    let work = Expansion {
        request: &request,
        document: &document,
        syntax: template.syntax,
        values: Some(&values),
    };
    work.run(&given.values, given.found.clone())
}

/// The values and labels of a request, and problems with them.
pub(super) struct Given {
    pub(super) values: Vec<Assignment>,
    labels: Vec<(String, String)>,
    namespace: Option<String>,
    /// The diagnostics of the values.
    pub(super) found: Diagnostics,
}

impl Given {
    pub(super) fn read(
        request: &Request<'_>,
        template: &Document,
        values: &Document,
    ) -> Result<Self> {
        let mut found = Diagnostics::new();
        let name = parse::name(parse::root(template)?);
        let read = parameters::read(parse::root(values)?, request.group, &name, &mut found)?;
        Ok(Self { values: read.values, labels: read.labels, namespace: read.namespace, found })
    }

    /// Returns the request with the labels and the namespace.
    pub(super) fn request<'r>(&'r self, request: &Request<'r>) -> Request<'r> {
        let mut request = request.clone();
        request.labels.extend(self.labels.iter().cloned());
        request.target_namespace = self.namespace.as_deref().or(request.target_namespace);
        request
    }
}

/// Random bytes that make several expansions generate the same values.
pub(super) type Seed = Option<[u8; 32]>;

pub(super) struct Expansion<'w> {
    pub(super) request: &'w Request<'w>,
    pub(super) document: &'w Arc<Document>,
    /// The syntax of the Template.
    pub(super) syntax: Format,
    /// The document with the values, if it is not the Template.
    pub(super) values: Option<&'w Arc<Document>>,
}

impl Expansion<'_> {
    /// Processes the Template. `found` contains the diagnostics of the values.
    pub(super) fn run(&self, given: &[Assignment], found: Diagnostics) -> Result<Processed> {
        let (request, root) = (self.request, parse::root(self.document)?);
        parse::check(root, request.group, request.namespace, &request.limits)?;
        let is_upstream = request.group == Group::OpenShift;
        if is_upstream {
            self.refuse(openshift_errors::names(root))?;
        }
        let mut diagnostics = Diagnostics::new();
        let template = parse::template(self.document, request.group, true, &mut diagnostics);
        // This check knows only the values in the Template.
        if is_upstream && self.values.is_none() {
            self.refuse(openshift_errors::values(root, &[], &diagnostics))?;
        }
        diagnostics.append(found);
        let Some(template) = template else {
            return Err(self.invalid(root, &diagnostics, Hidden::default()));
        };
        self.expand(&template, root, given, diagnostics)
    }

    fn expand(
        &self,
        template: &Template,
        root: Cursor<'_>,
        given: &[Assignment],
        mut diagnostics: Diagnostics,
    ) -> Result<Processed> {
        let hidden = Hidden::of(template, given);
        if diagnostics.has_errors() {
            return Err(self.invalid(root, &diagnostics, hidden));
        }
        let request = self.request;
        let limits = &request.limits;
        let seed = self.seed()?;
        let budget = Budget::new(limits.objects, limits.bytes, limits.is_late);
        let checks = Checks::default();
        let options =
            Options { inspect: request.checks.then_some(&checks), ..self.options(&budget, seed) };
        let expanded = response::expand(request, template, given, &options, &mut diagnostics);
        self.check_budget(&budget)?;
        let Some(expanded) = expanded.filter(|_| !diagnostics.has_errors()) else {
            return Err(self.invalid(root, &diagnostics, hidden));
        };
        if expanded.is_over(limits.bytes) {
            return Err(self.too_long());
        }
        self.refuse(
            expanded.labelled_list.map(openshift_errors::label_of_list).into_iter().collect(),
        )?;
        let mut hidden = hidden;
        expanded.hide_generated(&mut hidden);
        let mut warnings = self.reporter(hidden).warnings(&diagnostics);
        warnings.extend(checks.not_checked());
        let body = self.body(template, root, given, expanded, seed)?;
        Ok(Processed { body, warnings, objects: budget.created() })
    }

    /// Returns the body of the response.
    fn body(
        &self,
        template: &Template,
        root: Cursor<'_>,
        given: &[Assignment],
        expanded: Expanded,
        seed: Seed,
    ) -> Result<String> {
        let request = self.request;
        let limit = request.limits.bytes;
        let map = self.source_map(&expanded, given, seed)?;
        let json = response::whole(request, root, expanded, map.as_deref());
        let json = json.map_err(|why| match why {
            Unwritable::TooLong => self.too_long(),
            Unwritable::NonFinite => parse::non_finite(),
        })?;
        if request.syntax == Format::Json {
            return Ok(json);
        }
        if yaml_response::size(&json, self.document.text()) > limit {
            return Err(self.too_long());
        }
        if self.syntax == Format::Yaml {
            let budget = Budget::new(request.limits.objects, limit, request.limits.is_late);
            let options = self.options(&budget, seed);
            let mut unheard = Diagnostics::new();
            let text = yaml_response::kept(
                request,
                template,
                given,
                &options,
                map.as_deref(),
                &mut unheard,
            );
            self.check_budget(&budget)?;
            if let Some(text) = text {
                return Ok(text);
            }
        }
        Ok(yaml_response::rewritten(json))
    }

    /// Returns the source map, if it is requested.
    fn source_map(
        &self,
        expanded: &Expanded,
        given: &[Assignment],
        seed: Seed,
    ) -> Result<Option<String>> {
        if !self.request.source_map {
            return Ok(None);
        }
        if expanded.is_over(source_map::LIMIT) {
            let cause = parse::too_long(source_map::LIMIT, " for a source map");
            return Err(self.status(vec![cause]));
        }
        let limits = &self.request.limits;
        let budget = budget_of_trace(limits);
        let options = self.options(&budget, seed);
        let map = source_map::made(self.document, self.request.group, given, &options);
        self.check_budget(&budget)?;
        Ok(map)
    }

    /// Returns a seed if the request needs several expansions.
    fn seed(&self) -> Result<Seed> {
        let is_once = self.request.source_map || self.request.syntax == Format::Yaml;
        if !is_once {
            return Ok(None);
        }
        let mut seed = [0; 32];
        let filled = getrandom::fill(&mut seed);
        filled.map_err(|_| Status::internal("cannot generate random numbers"))?;
        Ok(Some(seed))
    }

    pub(super) fn options<'o>(&'o self, budget: &'o Budget<'o>, seed: Seed) -> Options<'o> {
        Options {
            labels: self.request.labels.iter().cloned().map(Label::from).collect(),
            namespace: self.request.target_namespace.map(str::to_owned),
            shows_secrets: true,
            budget: Some(budget),
            ..Options::new(seed.map_or(Generation::Random, |seed| Generation::Once(seed.into())))
        }
    }

    fn reporter(&self, hidden: Hidden) -> Reporter<'_> {
        let documents = [Some(self.document), self.values].into_iter().flatten();
        Reporter { documents: documents.map(AsRef::as_ref).collect(), hidden }
    }

    fn invalid(&self, root: Cursor<'_>, diagnostics: &Diagnostics, hidden: Hidden) -> Box<Status> {
        let mut errors = diagnostics.iter();
        if let Some(error) = errors.find(|error| error.message.starts_with(ALIASES_EXPAND)) {
            return Status::bad_request(error.message.clone());
        }
        let reporter = self.reporter(hidden);
        let causes = match self.request.group {
            Group::OpenShift if self.values.is_none() => {
                openshift_errors::objects(root, &reporter, diagnostics)
            }
            Group::OpenShift | Group::Krm => reporter.causes(diagnostics),
        };
        self.status(causes)
    }

    pub(super) fn status(&self, causes: Vec<Cause>) -> Box<Status> {
        let name = parse::root(self.document).map(parse::name).unwrap_or_default();
        Status::invalid(self.request.group.name(), "Template", &name, causes)
    }

    fn refuse(&self, causes: Vec<Cause>) -> Result<()> {
        if causes.is_empty() { Ok(()) } else { Err(self.status(causes)) }
    }

    pub(super) fn check_budget(&self, budget: &Budget<'_>) -> Result<()> {
        self.refuse(parse::check_budget(budget, &self.request.limits)?.into_iter().collect())
    }

    pub(super) fn too_long(&self) -> Box<Status> {
        self.status(vec![parse::too_long(self.request.limits.bytes, "")])
    }
}

/// Returns the budget of a trace: it expands twice, and then once more to print.
pub(super) fn budget_of_trace<'l>(limits: &Limits<'l>) -> Budget<'l> {
    Budget::new(2 * limits.objects, 3 * limits.bytes, limits.is_late)
}

/// The check of the objects of an expansion.
#[derive(Default)]
struct Checks {
    checker: Checker,
}

impl Checks {
    /// A sentence about the checks that were left out.
    pub(super) fn not_checked(&self) -> Option<String> {
        self.checker.not_checked()
    }
}

impl Inspect for Checks {
    fn object(
        &self,
        object: &Look<'_>,
        template: &Template,
        values: &Parameters<'_>,
        diagnostics: &mut Diagnostics,
    ) {
        let refusals = Refusals { checker: &self.checker, before: None };
        let mut found = Diagnostics::new();
        refusals.object(object, template, values, &mut found);
        diagnostics.append(found.map(|one| Diagnostic { severity: Severity::Warning, ..one }));
    }
}
