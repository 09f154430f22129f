//! Expansion of a TemplateInstance: each of its Templates with its values.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use krm_core::secrets::KnownSecrets;
use krm_template_engine::instance::{self, Instance, ObjectSource, TemplateSource, ValueSource};
use krm_template_engine::{
    AssignedValue, Assignment, Budget, Dialect, Expander as _, Generation, INDEX, Label, Options,
    Reading, Template, detect,
};
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Cursor, Document, SharedNode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::causes::{Hidden, Reporter};
use super::openshift_errors;
use super::parse;
use super::request::{Limits, Output, Request, Text};
use super::response;
use crate::request::Format;
use krm_template_server_core::{Cause, Group, Kind, Result, Status};

/// The objects that an instance refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needed {
    /// The names of Templates.
    pub templates: BTreeSet<String>,
    /// The ConfigMaps and Secrets with values, and whether each may be missing.
    pub objects: BTreeMap<(&'static str, String), bool>,
}

/// A stored Template.
#[derive(Clone, Debug)]
pub struct Named {
    /// The group, which selects the dialect.
    pub group: Group,
    /// Its text.
    pub text: String,
    /// The syntax of the text.
    pub syntax: Format,
}

/// The contents of the objects that an instance refers to, and earlier generated values.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Templates by name.
    pub templates: BTreeMap<String, Named>,
    /// The values in ConfigMaps and Secrets, by kind and name.
    pub objects: BTreeMap<(&'static str, String), BTreeMap<String, String>>,
    /// Generated values, by the keys of [`Expansion::generated`].
    pub generated: BTreeMap<String, Generated>,
    /// Labels for all objects, which win over all others.
    pub labels: Vec<(String, String)>,
}

/// A generated value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Known")]
pub struct Generated {
    /// The value.
    pub value: String,
    /// A digest of the instance, the Template and the parameter that it belongs to. Others do not get
    /// it. Empty if it comes from an earlier version, which did not record this.
    pub of: String,
}

/// A stored generated value, also as earlier versions wrote it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Known {
    Text(String),
    Whole { value: String, of: String },
}

impl From<Known> for Generated {
    fn from(known: Known) -> Self {
        let (value, of) = match known {
            Known::Text(value) => (value, String::new()),
            Known::Whole { value, of } => (value, of),
        };
        Self { value, of }
    }
}

/// The result of an expansion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expansion {
    /// The objects in order.
    pub objects: Vec<Value>,
    /// The generated values: `PARAMETER`, or `INSTANCE.PARAMETER` for one of several instances.
    pub generated: BTreeMap<String, Generated>,
    /// The values of secret parameters, which no message may show.
    pub secrets: KnownSecrets,
    /// The version of each ConfigMap and Secret with values, as the server has read them.
    pub values: BTreeMap<String, String>,
}

/// Returns what the expansion of an instance needs. `text` is the instance as JSON.
///
/// # Errors
/// 422 with the errors in its `spec`.
pub fn needed(group: Group, text: &str) -> Result<Needed> {
    let (_, instances) = instances(group, text)?;
    let mut needed = Needed::default();
    for one in instances {
        if let TemplateSource::Named { name, .. } = one.template {
            needed.templates.insert(name);
        }
        for source in one.values {
            if let ValueSource::Object(ObjectSource { kind, name, optional, .. }) = source {
                let may_be_missing = needed.objects.entry((kind, name)).or_insert(true);
                *may_be_missing &= optional;
            }
        }
    }
    Ok(needed)
}

/// Expands an instance.
///
/// # Errors
/// 422 if a Template or a value is invalid, or there are too many objects; 504 if the time is up.
pub fn expanded(
    group: Group,
    namespace: &str,
    text: &str,
    found: &Found,
    limits: Limits<'_>,
) -> Result<Expansion> {
    let (document, instances) = instances(group, text)?;
    let mut documents: BTreeMap<&str, Arc<Document>> = BTreeMap::new();
    for (name, named) in &found.templates {
        let text = Text { text: &named.text, syntax: named.syntax };
        documents.insert(name, parse::document("Template", text)?);
    }
    let budget = Budget::new(limits.objects, limits.bytes, limits.is_late);
    let work =
        Run { group, namespace, document: &document, documents, found, limits, budget: &budget };
    let mut all = Expansion::default();
    for one in &instances {
        work.expand(one, &mut all)?;
    }
    Ok(all)
}

fn instances(group: Group, text: &str) -> Result<(Arc<Document>, Vec<Instance>)> {
    let text = Text { text, syntax: Format::Json };
    let document = parse::document("TemplateInstance", text)?;
    let mut diagnostics = Diagnostics::new();
    let root = parse::root(&document)?;
    let instances = instance::read(root, &mut diagnostics);
    if diagnostics.has_errors() {
        let reporter = Reporter { documents: vec![&document], hidden: Hidden::default() };
        let causes = reporter.causes(&diagnostics);
        let name = parse::name(root);
        return Err(Status::invalid(group.name(), Kind::Instance.name(), &name, causes));
    }
    Ok((document, instances))
}

struct Run<'w> {
    group: Group,
    namespace: &'w str,
    document: &'w Arc<Document>,
    documents: BTreeMap<&'w str, Arc<Document>>,
    found: &'w Found,
    limits: Limits<'w>,
    budget: &'w Budget<'w>,
}

impl Run<'_> {
    /// Expands one of the instances, and adds its objects and generated values.
    fn expand(&self, one: &Instance, all: &mut Expansion) -> Result<()> {
        let (node, group) = self.template(one)?;
        parse::check_parameters(node.cursor(), group, &self.limits)?;
        let reading = Reading { api_version: Some(group.api_version()), conceals_values: true };
        let mut diagnostics = Diagnostics::new();
        let template = Template::read_as(&node, reading, &mut diagnostics);
        let name = parse::name(node.cursor());
        let template = template.as_ref();
        let kept = template.map(|template| self.kept(one, group, &name, template));
        let kept = kept.unwrap_or_default();
        let given = template.map(|template| self.given(one, template, &kept));
        let given = given.unwrap_or_default();
        self.check_parameters(node.cursor(), &given, &diagnostics)?;
        let Some(template) = template else {
            return Err(self.invalid(&node, &name, &diagnostics, Hidden::default()));
        };
        let request = Request {
            group,
            namespace: self.namespace,
            labels: Vec::new(),
            target_namespace: None,
            output: Output::List,
            source_map: false,
            checks: false,
            syntax: Format::Json,
            limits: self.limits,
        };
        let mut labels = one.labels.clone();
        labels.extend(self.found.labels.iter().cloned().map(Label::from));
        let options = Options {
            labels,
            namespace: one.namespace.clone(),
            budget: Some(self.budget),
            ..Options::new(Generation::Random)
        };
        let hidden = Hidden::of(template, &given);
        let expanded = response::expand(&request, template, &given, &options, &mut diagnostics);
        self.check_budget(&name)?;
        let expanded = expanded.filter(|_| !diagnostics.has_errors());
        let Some(expanded) = expanded else {
            return Err(self.invalid(&node, &name, &diagnostics, hidden));
        };
        let objects: Vec<Value> = serde_json::from_str(&expanded.objects())
            .map_err(|_| Status::internal("the objects are not JSON"))?;
        all.objects.extend(objects);
        keep(one, kept, &expanded, all);
        self.learn(template, &given, &mut all.secrets);
        Ok(())
    }

    /// Checks parameters in the way of OpenShift.
    fn check_parameters(
        &self,
        root: Cursor<'_>,
        given: &[Assignment],
        diagnostics: &Diagnostics,
    ) -> Result<()> {
        if self.group != Group::OpenShift {
            return Ok(());
        }
        let mut causes = openshift_errors::names(root);
        if causes.is_empty() {
            causes = openshift_errors::values(root, given, diagnostics);
        }
        if causes.is_empty() {
            return Ok(());
        }
        Err(self.status(&parse::name(root), causes))
    }

    /// Returns the Template of an instance, and the group of its dialect.
    fn template(&self, one: &Instance) -> Result<(SharedNode, Group)> {
        match &one.template {
            TemplateSource::Inline { node, .. } => {
                let root = SharedNode::roots(self.document).next();
                let root = root.ok_or_else(|| Status::internal("the document has no root"))?;
                let node = root.with(*node);
                let group = match (self.group, detect(node.cursor())) {
                    (Group::OpenShift, _) | (_, Dialect::OpenShift) => Group::OpenShift,
                    (Group::Krm, Dialect::Proposal) => Group::Krm,
                };
                Ok((node, group))
            }
            TemplateSource::Named { name, .. } => {
                let missing = || Status::not_found(self.group.name(), "templates", name);
                let named = self.found.templates.get(name).ok_or_else(missing)?;
                let document = self.documents.get(name.as_str()).ok_or_else(missing)?;
                let node = SharedNode::roots(document).next().ok_or_else(missing)?;
                Ok((node, named.group))
            }
        }
    }

    /// Returns the parameters that are generated, each with what its value belongs to, and with the
    /// value that was generated before.
    fn kept<'t>(
        &self,
        one: &Instance,
        group: Group,
        name: &str,
        template: &'t Template,
    ) -> BTreeMap<&'t str, Generated> {
        let root = self.document.roots().next();
        let uid = root.and_then(|root| root.text_at(["metadata", "uid"]));
        let place = match one.template {
            TemplateSource::Inline { .. } => "inline",
            TemplateSource::Named { .. } => group.name(),
        };
        let mut kept = BTreeMap::new();
        for parameter in template.parameters() {
            let Some(from) = parameter.expression() else {
                continue;
            };
            let of = serde_json::json!([uid, place, name, parameter.name, from]);
            let digest = Sha256::digest(of.to_string());
            let of = STANDARD_NO_PAD.encode(digest.get(..16).unwrap_or_default());
            let known = self.found.generated.get(&key(one, &parameter.name));
            let known = known.filter(|known| known.of.is_empty() || known.of == of);
            let value = known.map(|known| known.value.clone()).unwrap_or_default();
            kept.insert(parameter.name.as_str(), Generated { value, of });
        }
        kept
    }

    /// Adds the values of secret parameters, and of Secrets, to those that no message may show.
    fn learn(&self, template: &Template, given: &[Assignment], secrets: &mut KnownSecrets) {
        let mut names = BTreeSet::new();
        for parameter in template.parameters() {
            if parameter.secret || parameter.from.is_some() || parameter.is_named_like_secret() {
                names.insert(parameter.name.as_str());
                secrets.add(parameter.default_text().as_deref().unwrap_or_default());
            }
        }
        for one in given.iter().filter(|one| names.contains(&*one.name)) {
            if let AssignedValue::Text(text) = &one.value {
                secrets.add(text);
            }
        }
        let of_secrets = self.found.objects.iter();
        for (_, values) in of_secrets.filter(|((kind, _), _)| *kind == "Secret") {
            for value in values.values() {
                secrets.add(value);
            }
        }
    }

    /// Returns the values of an instance. Later ones win.
    fn given(
        &self,
        one: &Instance,
        template: &Template,
        kept: &BTreeMap<&str, Generated>,
    ) -> Vec<Assignment> {
        let secret = |name: &str, value: &str, origin: &str| Assignment {
            secret: true,
            ..Assignment::text(name, value, origin)
        };
        let mut given = Vec::new();
        for (name, kept) in kept.iter().filter(|(_, kept)| !kept.value.is_empty()) {
            given.push(secret(name, &kept.value, "generated"));
        }
        if let Some(index) = one.index.filter(|_| template.declares(INDEX)) {
            given.push(Assignment::text(INDEX, index.to_string(), "count"));
        }
        for source in &one.values {
            match source {
                ValueSource::Given(values) => {
                    given.extend(
                        values.iter().cloned().map(|value| Assignment { secret: true, ..value }),
                    );
                }
                ValueSource::Object(object) => {
                    let values = self.found.objects.get(&(object.kind, object.name.clone()));
                    let values = values.into_iter().flatten();
                    let is_wanted = |name: &str| !object.may_have_others || template.declares(name);
                    given.extend(
                        values
                            .filter(|(name, _)| is_wanted(name))
                            .map(|(name, value)| secret(name, value, object.kind)),
                    );
                }
            }
        }
        given
    }

    fn invalid(
        &self,
        node: &SharedNode,
        name: &str,
        diagnostics: &Diagnostics,
        hidden: Hidden,
    ) -> Box<Status> {
        let reporter =
            Reporter { documents: vec![node.document().as_ref(), self.document.as_ref()], hidden };
        let causes = match self.group {
            Group::OpenShift => openshift_errors::objects(node.cursor(), &reporter, diagnostics),
            Group::Krm => reporter.causes(diagnostics),
        };
        self.status(name, causes)
    }

    fn status(&self, name: &str, causes: Vec<Cause>) -> Box<Status> {
        Status::invalid(self.group.name(), Kind::Template.name(), name, causes)
    }

    fn check_budget(&self, name: &str) -> Result<()> {
        match parse::check_budget(self.budget, &self.limits)? {
            None => Ok(()),
            Some(cause) => Err(self.status(name, vec![cause])),
        }
    }
}

/// Adds generated values, new ones and those that were generated before.
fn keep(
    one: &Instance,
    kept: BTreeMap<&str, Generated>,
    expanded: &response::Expanded,
    all: &mut Expansion,
) {
    let new: BTreeMap<&str, &String> = expanded.generated().collect();
    for (name, mut kept) in kept {
        if let Some(value) = new.get(name) {
            kept.value.clone_from(value);
        }
        if !kept.value.is_empty() {
            all.secrets.add(&kept.value);
            all.generated.insert(key(one, name), kept);
        }
    }
}

/// Returns the key of a generated value.
fn key(one: &Instance, parameter: &str) -> String {
    match &one.name {
        Some(name) => format!("{name}.{parameter}"),
        None => parameter.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(text: &str, found: &Found) -> Result<Expansion> {
        expanded(Group::Krm, "shop", text, found, Limits::of_server(&|| false))
    }

    const INLINE: &str = r#"{"apiVersion": "template.krm.dev/v1alpha1", "kind": "TemplateInstance",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"parameters": {"SIZE": "big"}, "template": {
            "apiVersion": "template.krm.dev/v1alpha1", "kind": "Template",
            "metadata": {"name": "t"},
            "parameters": [{"name": "SIZE"}, {"name": "PASSWORD", "generate": "expression",
                "from": "[a-z]{8}"}],
            "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"},
                "data": {"size": "$(SIZE)", "password": "$(PASSWORD)"}}]}}}"#;

    #[test]
    fn generated_values_are_kept_and_others_win() {
        let first = expand(INLINE, &Found::default()).unwrap();
        let password = first.generated["PASSWORD"].value.clone();
        assert_eq!(password.len(), 8);
        assert_eq!(first.objects[0]["data"]["password"], password.as_str());
        assert_eq!(first.objects[0]["data"]["size"], "big");
        let found = Found { generated: first.generated.clone(), ..Found::default() };
        assert_eq!(expand(INLINE, &found).unwrap(), first);
        let given = INLINE.replace(r#""SIZE": "big""#, r#""SIZE": "big", "PASSWORD": "mine""#);
        let given = expand(&given, &found).unwrap();
        assert_eq!(given.objects[0]["data"]["password"], "mine");
    }

    #[test]
    fn a_kept_value_belongs_to_a_template_and_a_parameter() {
        let first = expand(INLINE, &Found::default()).unwrap();
        let value = first.generated["PASSWORD"].value.clone();
        let found = Found { generated: first.generated.clone(), ..Found::default() };
        for (what, text) in [
            ("Template", INLINE.replace(r#""name": "t""#, r#""name": "u""#)),
            ("expression", INLINE.replace("[a-z]{8}", "[a-z]{9}")),
            ("instance", INLINE.replace(r#""name": "web","#, r#""name": "web", "uid": "2","#)),
            // It is not generated any more.
            (
                "kind",
                INLINE.replace(
                    r#""generate": "expression",
                "from": "[a-z]{8}""#,
                    r#""value": "shown""#,
                ),
            ),
        ] {
            assert_ne!(text, INLINE);
            let other = expand(&text, &found).unwrap();
            assert!(!format!("{other:?}").contains(&value), "another {what}");
        }
        // A value of an earlier version is kept, and belongs to the Template from then on.
        let mut found = found;
        let known: Generated = serde_json::from_value(value.into()).unwrap();
        found.generated.insert("PASSWORD".to_owned(), known);
        assert_eq!(expand(INLINE, &found).unwrap(), first);
        let mut secrets = KnownSecrets::default();
        secrets.add(&first.generated["PASSWORD"].value);
        assert_eq!(first.secrets, secrets);
    }

    #[test]
    fn what_an_instance_refers_to_is_named() {
        let text = r#"{"apiVersion": "template.krm.dev/v1alpha1", "kind": "TemplateInstance",
            "metadata": {"name": "web"}, "spec": {"templateRef": {"name": "t"},
            "parametersFrom": [{"secretRef": {"name": "s"}},
                {"configMapRef": {"name": "c", "optional": true}}]}}"#;
        let needed = needed(Group::Krm, text).unwrap();
        assert_eq!(needed.templates.into_iter().collect::<Vec<_>>(), ["t"]);
        assert!(!needed.objects[&("Secret", "s".to_owned())]);
        assert!(needed.objects[&("ConfigMap", "c".to_owned())]);
    }

    #[test]
    fn openshift_has_its_own_messages() {
        let text = r#"{"apiVersion": "template.openshift.io/v1", "kind": "TemplateInstance",
            "metadata": {"name": "web"}, "spec": {"secret": {"name": "s"}, "template": {
                "metadata": {"name": "t"}, "parameters": [{"name": "N", "required": true}],
                "objects": [{"apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": {"name": "${N}"}}]}}}"#;
        let with = |name: &str| {
            let values = [(name.to_owned(), "given".to_owned())].into();
            let objects = [(("Secret", "s".to_owned()), values)].into();
            let found = Found { objects, ..Found::default() };
            let limits = Limits::of_server(&|| false);
            expanded(Group::OpenShift, "shop", text, &found, limits)
        };
        let all = with("N").unwrap();
        assert_eq!(all.objects[0]["metadata"]["name"], "given");
        let refused = with("OTHER").unwrap_err();
        let expected = "Template.template.openshift.io \"t\" is invalid: template.parameters[0]: \
            Required value: template.parameters[0]: parameter N is required and must be specified";
        assert_eq!(refused.message, expected);
    }

    #[test]
    fn no_message_quotes_a_value() {
        let text = INLINE.replace(r#""name": "SIZE"}"#, r#""name": "SIZE", "type": "int"}"#);
        let status = expand(&text, &Found::default()).unwrap_err();
        assert_eq!(status.code, 422);
        assert!(!status.message.contains("big"), "{}", status.message);
    }
}
