//! Expands a Template: each object in order, from its node to the value it is meant to have.

use std::borrow::Cow;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::krm::identity::{Identity, group};
use crate::template::dialect::Dialect;
use crate::template::generate::{self, SeededRandom, SystemRandom};
use crate::template::labels;
use crate::template::model::{Parameter, Template};
use crate::template::parameters::{self, Parameters};
use crate::template::reference;
use crate::template::substitute::Substitution;
use crate::template::values::Given;
use crate::yaml::{Cursor, Data, Document, DuplicateKeys, Scalar, Value};

/// The annotation that keeps `metadata.namespace` in OpenShift's dialect.
const KEEP_NAMESPACE: &str = "template.krm.dev/keep-namespace";
/// The annotation that puts labels on selectors in OpenShift's dialect.
const LABEL_SELECTORS: &str = "template.krm.dev/label-selectors";

/// How the values of `generate: expression` are made.
pub enum Generation<'o> {
    /// At random, by the operating system.
    Random,
    /// The same each time: a value that stands in the objects of an earlier run, else one derived
    /// from a secret seed, else an error.
    Reproducible {
        /// The secret.
        seed: Option<Vec<u8>>,
        /// What tells apart several expansions of one Template.
        instance: String,
        /// Finds the object that was made before, by identity.
        standing: &'o (dyn Fn(&Identity) -> Option<Cursor<'o>> + 'o),
    },
}

/// What decides an expansion besides the Template and its values.
pub struct Options<'o> {
    /// Labels that win over those of the Template.
    pub labels: Vec<(String, String)>,
    /// Values for names the Template does not declare are left out with a warning.
    pub ignore_unknown_parameters: bool,
    /// A reference to no declared parameter is an error anywhere.
    pub strict: bool,
    /// Every object needs `metadata.name`: `generateName` will not do.
    pub require_name: bool,
    /// How generated values are made.
    pub generation: Generation<'o>,
}

/// An object made from a Template.
pub struct Object<'d> {
    /// Its data, with the nodes of the Template they come from.
    pub value: Value<'d>,
    /// The document of the Template.
    pub document: &'d Document,
    /// Its place among the Template's objects, as a field path.
    pub field: String,
}

/// Expands `template` with `given` values, the strongest last, and hands each object to `sink` in
/// order. Returns the message, if the Template has one. All errors and warnings go to
/// `diagnostics`; after an error the objects are of no use.
pub fn process<'d>(
    template: &Template<'d>,
    given: &[Given],
    options: &Options<'_>,
    diagnostics: &mut Diagnostics,
    sink: &mut dyn FnMut(Object<'d>, &mut Diagnostics),
) -> Option<String> {
    let mut found = Diagnostics::new();
    let message = expand(template, given, options, &mut found, sink);
    for diagnostic in found.iter_mut() {
        diagnostic
            .object
            .get_or_insert_with(|| template.reference.clone());
    }
    diagnostics.append(found);
    message
}

fn expand<'d>(
    template: &Template<'d>,
    given: &[Given],
    options: &Options<'_>,
    diagnostics: &mut Diagnostics,
    sink: &mut dyn FnMut(Object<'d>, &mut Diagnostics),
) -> Option<String> {
    let mut generate = |parameter: &Parameter<'d>, from: &str, known: &Parameters<'d>| {
        generated(template, parameter, from, known, &options.generation)
    };
    let parameters = parameters::resolve(
        template,
        given,
        options.ignore_unknown_parameters,
        &mut generate,
        diagnostics,
    );
    if diagnostics.has_errors() {
        return None;
    }
    let document = template.node.document();
    let mut substitution = Substitution {
        document,
        dialect: template.dialect,
        parameters: &parameters,
        strict: options.strict,
        diagnostics,
    };
    let message = template.message.and_then(|message| {
        let text = message.text().ok()??;
        Some(substitution.text(&text, Some(message.id()), "message"))
    });
    let labels = template_labels(template, options, &mut substitution);
    let expander = Expander {
        template,
        options,
        parameters: &parameters,
        labels,
    };
    for (index, node) in template
        .objects
        .into_iter()
        .flat_map(Cursor::children)
        .enumerate()
    {
        expander.object(node, index, diagnostics, sink);
    }
    message
}

/// The Template's labels with references replaced, and the given ones over them. `None` if there
/// is no such field, which differs from an empty one.
fn template_labels(
    template: &Template<'_>,
    options: &Options<'_>,
    substitution: &mut Substitution<'_, '_>,
) -> Option<Vec<(String, String)>> {
    if template.labels.is_none() && options.labels.is_empty() {
        return None;
    }
    let mut labels: Vec<(String, String)> = Vec::new();
    let mut set =
        |key: String, value: String| match labels.iter_mut().find(|(known, _)| *known == key) {
            Some((_, old)) => *old = value,
            None => labels.push((key, value)),
        };
    for entry in template.labels.into_iter().flat_map(Cursor::children) {
        let Ok(key) = entry.key() else { continue };
        let value = entry.text().ok().flatten().unwrap_or_default();
        let field = format!("labels.{key}");
        let id = Some(entry.id());
        let new_key = substitution.text(&key, id, &field);
        set(new_key, substitution.text(&value, id, &field));
    }
    for (key, value) in &options.labels {
        let key = substitution.text(key, None, "labels");
        set(key, substitution.text(value, None, "labels"));
    }
    Some(labels)
}

struct Expander<'e, 'o, 'd> {
    template: &'e Template<'d>,
    options: &'e Options<'o>,
    parameters: &'e Parameters<'d>,
    labels: Option<Vec<(String, String)>>,
}

impl<'d> Expander<'_, '_, 'd> {
    fn object(
        &self,
        node: Cursor<'d>,
        index: usize,
        diagnostics: &mut Diagnostics,
        sink: &mut dyn FnMut(Object<'d>, &mut Diagnostics),
    ) {
        let field = format!("objects[{index}]");
        if !node.is_mapping() {
            let what = if node.is_null() {
                "is empty"
            } else {
                "is no mapping"
            };
            diagnostics.push(
                Diagnostic::error(format!("the object {what}"))
                    .at(node.place())
                    .field(field)
                    .hint("an object has `apiVersion`, `kind` and `metadata.name`"),
            );
            return;
        }
        let duplicates = match self.template.dialect {
            Dialect::Proposal => DuplicateKeys::Refuse,
            Dialect::OpenShift => DuplicateKeys::LastWins,
        };
        let Some(mut value) = node.value(duplicates, diagnostics) else {
            return;
        };
        if self.template.dialect == Dialect::OpenShift && !self.keeps_namespace() {
            strip_namespace(&mut value);
        }
        let mut substitution = Substitution {
            document: node.document(),
            dialect: self.template.dialect,
            parameters: self.parameters,
            strict: self.options.strict,
            diagnostics,
        };
        substitution.object(&mut value, &field);
        self.flat(value, node, field, diagnostics, sink, 0);
    }

    fn keeps_namespace(&self) -> bool {
        self.template.annotation(KEEP_NAMESPACE).as_deref() == Some("true")
    }

    /// Hands an object on, or the objects of a list that it is.
    fn flat(
        &self,
        mut value: Value<'d>,
        node: Cursor<'d>,
        field: String,
        diagnostics: &mut Diagnostics,
        sink: &mut dyn FnMut(Object<'d>, &mut Diagnostics),
        depth: usize,
    ) {
        let is_list = value
            .str_at(&["kind"])
            .is_some_and(|kind| kind.ends_with("List"));
        if is_list && depth < MAX_LISTS && value.get("items").and_then(Value::items).is_some() {
            if let Some(Data::Sequence(items)) = value.remove("items").map(|items| items.data) {
                for (index, item) in items.into_iter().enumerate() {
                    self.flat(
                        item,
                        node,
                        format!("{field}.items[{index}]"),
                        diagnostics,
                        sink,
                        depth + 1,
                    );
                }
            }
            return;
        }
        set_legacy_group(&mut value);
        if !self.is_complete(&value, node, &field, diagnostics) {
            return;
        }
        if let Some(labels) = &self.labels {
            let kept = labels::on_metadata(&mut value, labels);
            if !kept {
                let metadata = node.at(["metadata", "labels"]).unwrap_or(node);
                diagnostics.push(
                    Diagnostic::warning(
                        "the labels of this object are left out: they are no mapping of strings",
                    )
                    .at(metadata.place())
                    .field(format!("{field}.metadata.labels"))
                    .hint("put the values of labels in quotes"),
                );
            }
            let selectors = self.template.dialect == Dialect::Proposal
                || self.template.annotation(LABEL_SELECTORS).as_deref() == Some("true");
            if selectors {
                labels::on_selectors(&mut value, labels);
            }
        }
        sink(
            Object {
                value,
                document: node.document(),
                field,
            },
            diagnostics,
        );
    }

    /// Whether an object has what every Kubernetes object has; if not, says what is missing.
    fn is_complete(
        &self,
        value: &Value<'d>,
        node: Cursor<'d>,
        field: &str,
        diagnostics: &mut Diagnostics,
    ) -> bool {
        let place = value
            .origin
            .map_or(node, |origin| node.document().cursor(origin))
            .place();
        let first_line = {
            let text = node
                .document()
                .text()
                .get(place.range.clone())
                .unwrap_or_default();
            let length = text.find(['\n', '\r']).unwrap_or(text.len());
            crate::source::Place {
                range: place.range.start..place.range.start + length,
                ..place
            }
        };
        let mut complete = true;
        let mut missing = |what: &str, hint: &str| {
            diagnostics.push(
                Diagnostic::error(format!("the object has no `{what}`"))
                    .at(first_line.clone())
                    .field(format!("{field}.{what}"))
                    .hint(hint),
            );
            complete = false;
        };
        let is_there = |keys: &[&str]| value.str_at(keys).is_some_and(|text| !text.is_empty());
        if !is_there(&["apiVersion"]) {
            missing(
                "apiVersion",
                "`kubectl explain KIND` shows the API version of a kind",
            );
        }
        if !is_there(&["kind"]) {
            missing(
                "kind",
                "every Kubernetes object has one, as `kind: Deployment`",
            );
        }
        let generate_name = is_there(&["metadata", "generateName"]);
        match value.at(&["metadata", "name"]).map(|name| &name.data) {
            Some(Data::Scalar(Scalar::String(name))) if !name.is_empty() => {}
            // As `oc`: an empty parameter makes an empty name.
            Some(Data::Scalar(Scalar::String(_))) if !self.options.require_name => {}
            None if generate_name && !self.options.require_name => {}
            None if generate_name => missing(
                "metadata.name",
                "`generateName` will not do: kustomize and kpt find an object again by its name; use `krm-template process` and `kubectl create`",
            ),
            Some(Data::Scalar(Scalar::String(_))) => missing(
                "metadata.name",
                "its value is empty: which parameter does it come from?",
            ),
            _ => missing("metadata.name", "every Kubernetes object has one"),
        }
        complete
    }
}

/// How deep lists may stand in lists.
const MAX_LISTS: usize = 16;

/// As `oc`: a namespace that is no reference goes, so that objects land where they are created.
fn strip_namespace(object: &mut Value<'_>) {
    let Some(metadata) = object.get_mut("metadata") else {
        return;
    };
    match metadata.get("namespace").map(|namespace| &namespace.data) {
        None => {}
        Some(Data::Scalar(Scalar::String(text))) if reference::has_openshift_reference(text) => {}
        Some(Data::Scalar(Scalar::String(text))) if !text.is_empty() => {
            metadata.remove("namespace");
        }
        Some(_) => metadata.insert(Cow::Borrowed("namespace"), Value::string("")),
    }
}

/// OpenShift's own kinds once belonged to no group; they get the one they have today.
fn set_legacy_group(object: &mut Value<'_>) {
    let (Some(api_version), Some(kind)) =
        (object.str_at(&["apiVersion"]), object.str_at(&["kind"]))
    else {
        return;
    };
    if api_version.is_empty() || api_version.contains('/') {
        return;
    }
    let Some(group) = legacy_group(kind) else {
        return;
    };
    let new = format!("{group}/{api_version}");
    object.insert(Cow::Borrowed("apiVersion"), Value::string(new));
}

/// The API group of a kind that OpenShift's first API had without one (oc's legacy scheme).
fn legacy_group(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "DeploymentConfig"
        | "DeploymentConfigList"
        | "DeploymentConfigRollback"
        | "DeploymentLog"
        | "DeploymentRequest" => "apps.openshift.io",
        "ClusterRole"
        | "ClusterRoleList"
        | "ClusterRoleBinding"
        | "ClusterRoleBindingList"
        | "Role"
        | "RoleList"
        | "RoleBinding"
        | "RoleBindingList"
        | "RoleBindingRestriction"
        | "RoleBindingRestrictionList"
        | "LocalResourceAccessReview"
        | "LocalSubjectAccessReview"
        | "ResourceAccessReview"
        | "ResourceAccessReviewResponse"
        | "SubjectAccessReview"
        | "SubjectAccessReviewResponse"
        | "IsPersonalSubjectAccessReview"
        | "SelfSubjectRulesReview"
        | "SubjectRulesReview" => "authorization.openshift.io",
        "BuildConfig"
        | "BuildConfigList"
        | "Build"
        | "BuildList"
        | "BuildLog"
        | "BuildRequest"
        | "BinaryBuildRequestOptions" => "build.openshift.io",
        "Image" | "ImageList" | "ImageStream" | "ImageStreamList" | "ImageStreamTag"
        | "ImageStreamTagList" | "ImageSignature" | "ImageStreamImage" | "ImageStreamImport"
        | "ImageStreamMapping" => "image.openshift.io",
        "ClusterNetwork"
        | "ClusterNetworkList"
        | "EgressNetworkPolicy"
        | "EgressNetworkPolicyList"
        | "HostSubnet"
        | "HostSubnetList"
        | "NetNamespace"
        | "NetNamespaceList" => "network.openshift.io",
        "OAuthAccessToken"
        | "OAuthAccessTokenList"
        | "OAuthAuthorizeToken"
        | "OAuthAuthorizeTokenList"
        | "OAuthClient"
        | "OAuthClientList"
        | "OAuthClientAuthorization"
        | "OAuthClientAuthorizationList" => "oauth.openshift.io",
        "Project" | "ProjectList" | "ProjectRequest" => "project.openshift.io",
        "ClusterResourceQuota"
        | "ClusterResourceQuotaList"
        | "AppliedClusterResourceQuota"
        | "AppliedClusterResourceQuotaList" => "quota.openshift.io",
        "Route" | "RouteList" => "route.openshift.io",
        "SecurityContextConstraints"
        | "SecurityContextConstraintsList"
        | "PodSecurityPolicySubjectReview"
        | "PodSecurityPolicySelfSubjectReview"
        | "PodSecurityPolicyReview" => "security.openshift.io",
        "Template" | "TemplateList" => "template.openshift.io",
        "Group"
        | "GroupList"
        | "Identity"
        | "IdentityList"
        | "User"
        | "UserList"
        | "UserIdentityMapping" => "user.openshift.io",
        _ => return None,
    })
}

/// The value of a parameter that has an expression and no value.
fn generated<'o>(
    template: &Template<'_>,
    parameter: &Parameter<'_>,
    from: &str,
    known: &Parameters<'_>,
    generation: &Generation<'o>,
) -> Result<String, Diagnostic> {
    let place = parameter.node.get("from").unwrap_or(parameter.node).place();
    let field = format!("parameters[{}].from", parameter.index);
    let failed = |message: String, hint: Option<String>| {
        Diagnostic::error(format!("parameter `{}`: {message}", parameter.name))
            .at(place.clone())
            .field(field.clone())
            .maybe_hint(hint)
    };
    let made = match generation {
        Generation::Random => generate::expression(from, &mut SystemRandom),
        Generation::Reproducible {
            seed,
            instance,
            standing,
        } => {
            if let Some(value) = standing_value(template, parameter, known, *standing) {
                return Ok(value);
            }
            let Some(seed) = seed else {
                return Err(Diagnostic::error(format!("parameter `{}` has no value, and a function does not make one up: its output must be the same each time", parameter.name))
                    .at(parameter.node.get("name").unwrap_or(parameter.node).place())
                    .field(format!("parameters[{}].value", parameter.index))
                    .hint("give it a `value`")
                    .hint("or set the environment variable `KRM_TEMPLATE_SEED` to a secret that values are derived from")
                    .hint("or name a Secret among the items that holds `seed`, by the annotation `template.krm.dev/seed-secret`"));
            };
            let mut random = SeededRandom::new(seed, template.name(), instance, &parameter.name);
            generate::expression(from, &mut random)
        }
    };
    made.map_err(|error| failed(error.message, error.hint))
}

/// The value a parameter had in an earlier run: read from the field of the object made then,
/// where the Template refers to it and to nothing else that is unknown.
fn standing_value<'o>(
    template: &Template<'_>,
    parameter: &Parameter<'_>,
    known: &Parameters<'_>,
    standing: &(dyn Fn(&Identity) -> Option<Cursor<'o>> + 'o),
) -> Option<String> {
    let look = Standing {
        template,
        name: &parameter.name,
        known,
    };
    template.objects?.children().find_map(|object| {
        let identity = look.identity(object)?;
        let old = standing(&identity)?;
        look.value(object, old)
    })
}

struct Standing<'s, 'd> {
    template: &'s Template<'d>,
    name: &'s str,
    known: &'s Parameters<'d>,
}

impl Standing<'_, '_> {
    /// A text with known values put in; `None` if another value is needed.
    fn text(&self, text: &str) -> Option<String> {
        use crate::template::reference::Part;
        reference::parts(text, self.template.dialect)
            .into_iter()
            .map(|part| match part {
                Part::String { name, .. } | Part::Raw { name, .. } => match self.known.get(name) {
                    Some(value) => Some(value.text.as_ref()),
                    None if self
                        .template
                        .parameters
                        .iter()
                        .any(|parameter| parameter.name == name) =>
                    {
                        None
                    }
                    None => Some(part.spelling()),
                },
                _ => Some(part.spelling()),
            })
            .collect()
    }

    fn identity(&self, object: Cursor<'_>) -> Option<Identity> {
        let text = |keys: [&str; 2]| object.text_at(keys).and_then(|text| self.text(&text));
        let kind = self.text(&object.text_at(["kind"])?)?;
        let api_version = self.text(&object.text_at(["apiVersion"])?)?;
        let group = match group(&api_version) {
            "" if !api_version.contains('/') => legacy_group(&kind).unwrap_or_default(),
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
