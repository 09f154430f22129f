//! Reads a functionConfig into a plan.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

#[cfg(feature = "deployment-manager")]
use crate::plan::deployment::Deployment;
use crate::plan::inputs::{Inputs, Opening};
use crate::plan::instance::{Instance, Plan};
#[cfg(not(feature = "deployment-manager"))]
use crate::plan::missing;
use crate::plan::secret::secret_values;
use krm_core::identity::{self, Identity};
#[cfg(feature = "deployment-manager")]
use krm_template_deployment_manager::configuration;
use krm_template_engine::OWN_GROUP;
use krm_template_engine::instance::{self, ObjectSource, TemplateSource, ValueSource};
use krm_template_engine::{Assignment, INDEX, Template, values_from_mapping};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Document, NodeId, SharedNode};

/// Which of several Templates among the items the values of a ConfigMap are for.
const TEMPLATE: &str = "template.krm.dev/template";

/// The first three parts of an owner.
fn base(config: &Identity) -> String {
    format!("{}/{}/{}", config.kind, config.namespace, config.name)
}

/// Reads the plan of a functionConfig; `None` if it asks for nothing. All errors go to
/// `diagnostics`.
pub fn read(config: &SharedNode, inputs: &Inputs, diagnostics: &mut Diagnostics) -> Option<Plan> {
    let mut planner = Planner {
        node: config,
        config: config.cursor(),
        inputs,
        diagnostics,
        plan: Plan::default(),
    };
    planner.read()?;
    Some(planner.plan)
}

struct Planner<'p> {
    /// The functionConfig, which Templates in it keep.
    node: &'p SharedNode,
    config: Cursor<'p>,
    inputs: &'p Inputs,
    diagnostics: &'p mut Diagnostics,
    plan: Plan,
}

impl<'p> Planner<'p> {
    fn read(&mut self) -> Option<()> {
        let config = self.config;
        let kind = config.text_at(["kind"]).unwrap_or_default();
        let data = config.get("data").filter(|data| data.children().next().is_some());
        match kind.as_ref() {
            "Template" if config.get("objects").is_none() && config.get("data").is_some() => {
                data?;
                self.values();
            }
            "Template" => self.template(),
            "TemplateInstance" => self.template_instance(),
            "DeploymentConfiguration" if self.is_own() => self.deployment(),
            // What kpt sends where no functionConfig was given.
            "ConfigMap" if data.is_none() => return None,
            "ConfigMap" | "ParameterValues" => self.values(),
            _ => {
                self.refuse(&kind);
                return None;
            }
        }
        Some(())
    }

    fn refuse(&mut self, kind: &str) {
        let place = self.config.get("kind").map_or_else(|| self.config.place(), Cursor::place);
        let what = if kind.is_empty() {
            "has no `kind`".to_owned()
        } else {
            format!("has the unsupported `kind: {kind}`")
        };
        let kinds = [
            "Template",
            "TemplateInstance",
            "Composition",
            "DeploymentConfiguration",
            "ConfigMap",
            "ParameterValues",
            "TemplateExport",
        ];
        let hint = closest(kind, kinds).map(|known| {
            if known == kind {
                "the kind is right, but its `apiVersion` is wrong or missing".to_owned()
            } else {
                format!("did you mean `{known}`?")
            }
        });
        let kinds = "use `kind: Template` of apiVersion `template.krm.dev/v1alpha1`, `template.openshift.io/v1` or `v1`, `kind: TemplateInstance` of the first two, `kind: TemplateExport` of the first, `kind: Composition` of `kustomize.config.k8s.io/v1alpha1`, or a ConfigMap with values";
        let kinds = match kind {
            "Kustomization" | "Component" => {
                "a Kustomization is not a function: `krm-template build DIR` builds its directory; or make it one of the `transformers` of a Composition"
            }
            _ => kinds,
        };
        let of_kpt = self.of_kpt(kind);
        let kinds = of_kpt.unwrap_or_else(|| kinds.to_owned());
        let problem = format!("the functionConfig {what}");
        let error = Diagnostic::error(problem).at(place).field("kind");
        self.error(error.maybe_hint(hint).hint(kinds));
    }

    /// The hint for arguments of `kpt fn eval`, which takes the first one without `=` for the kind.
    fn of_kpt(&self, kind: &str) -> Option<String> {
        let (name, _) = self.identity();
        (name == "function-input").then(|| {
            format!("kpt takes `{kind}`, the first argument after `--`, for the kind: write only `NAME=VALUE` there, as in `kpt fn eval DIR --exec krm-template -- NAME=VALUE`")
        })
    }

    /// Whether the functionConfig is of our own group.
    fn is_own(&self) -> bool {
        let api_version = self.config.text_at(["apiVersion"]);
        identity::group(&api_version.unwrap_or_default()) == OWN_GROUP
    }

    /// Plans the expansion of a `DeploymentConfiguration`.
    #[cfg(feature = "deployment-manager")]
    fn deployment(&mut self) {
        let (name, base) = self.identity();
        self.plan.owns.base.clone_from(&base);
        let Some(configuration) = configuration::read(self.config, self.diagnostics) else {
            return;
        };
        let reference = identity::reference(self.config);
        let deployment =
            Deployment::new(configuration, self.node, reference, self.inputs, self.diagnostics);
        let Some(deployment) = deployment else {
            return;
        };
        self.plan.expanders.push(Arc::new(deployment));
        self.plan.instances.push(Instance {
            seed: name.clone(),
            name,
            owner: base,
            ..Instance::default()
        });
    }

    #[cfg(not(feature = "deployment-manager"))]
    fn deployment(&mut self) {
        self.error(missing::error(self.config));
    }

    fn error(&mut self, mut diagnostic: Diagnostic) {
        diagnostic.object.get_or_insert_with(|| identity::reference(self.config));
        self.diagnostics.push(diagnostic);
    }

    /// The name of the functionConfig, and its part of every owner.
    fn identity(&self) -> (String, String) {
        let text = |key| {
            let text = self.config.text_at(["metadata", key]);
            text.map(Cow::into_owned).unwrap_or_default()
        };
        let name = text("name");
        let identity = Identity {
            group: String::new(),
            kind: self.config.text_at(["kind"]).unwrap_or_default().into_owned(),
            namespace: text("namespace"),
            name: name.clone(),
        };
        (name, base(&identity))
    }

    /// A Template that is the functionConfig.
    fn template(&mut self) {
        let (name, base) = self.identity();
        self.plan.owns.base.clone_from(&base);
        let Some(template) = Template::read(self.node, self.diagnostics) else {
            return;
        };
        self.plan.expanders.push(Arc::new(template));
        self.plan.instances.push(Instance {
            seed: name.clone(),
            name,
            owner: base,
            ..Instance::default()
        });
    }

    /// Values for the Templates among the items.
    fn values(&mut self) {
        let (_, base) = self.identity();
        let Some(templates) = self.templates_for_values(&base) else {
            return;
        };
        self.plan.owns.base.clone_from(&base);
        for one in templates {
            let name = one.name();
            let owner = format!("{base}/{name}");
            if self.plan.instances.iter().any(|known| known.owner == owner) {
                self.error(
                    Diagnostic::error(format!("two Templates among the items are named `{name}`"))
                        .at(one.place())
                        .hint("rename one of them"),
                );
                continue;
            }
            let Some(template) = Template::read(one.node(), self.diagnostics) else {
                continue;
            };
            self.plan.instances.push(Instance {
                expander: self.plan.expanders.len(),
                name: name.to_owned(),
                owner,
                seed: name.to_owned(),
                ..Instance::default()
            });
            self.plan.expanders.push(Arc::new(template));
        }
        self.give_values();
    }

    /// The Templates among the items that the functionConfig has values for: the one that it names,
    /// or all. The instances of the others are not this run's to remove.
    fn templates_for_values(&mut self, base: &str) -> Option<Vec<&'p Opening>> {
        let all = self.inputs.list().iter();
        let mut templates: Vec<_> = all.filter(|one| one.input.is_template).collect();
        if templates.iter().any(|one| one.input.is_near) {
            templates.retain(|one| one.input.is_near);
        }
        let meant = self
            .config
            .at(["metadata", "annotations", TEMPLATE])
            .map(|meant| (meant, format!("metadata.annotations[{TEMPLATE}]")))
            .or_else(|| Some((self.config.get("template")?, "template".to_owned())))
            .filter(|(meant, _)| !meant.is_null());
        if let Some((meant, field)) = meant {
            let name = meant.text().ok().flatten().unwrap_or_default();
            let chosen = self.find_template(&name, meant, &field)?;
            for other in templates.iter().map(|one| one.name()) {
                if other != name {
                    self.plan.owns.others.insert(format!("{base}/{other}"));
                }
            }
            templates.retain(|one| std::ptr::eq(*one, chosen));
        }
        if templates.is_empty() {
            let data = self.config.get("data");
            let data = data.or_else(|| self.config.get("values"));
            self.error(
                Diagnostic::error("there are values, but there is no Template among the items")
                    .at(data.unwrap_or(self.config).key_place())
                    .field("data")
                    .hint("for kustomize, list the Template under `resources` and set its annotation `config.kubernetes.io/local-config: \"true\"`; kpt sends every object of the package")
                    .hint("or use the Template itself as the functionConfig, with a map `values`"),
            );
            return None;
        }
        Some(templates)
    }

    /// Gives each Template the values that it declares.
    fn give_values(&mut self) {
        let mut found = Diagnostics::new();
        let given = ["data", "values"]
            .iter()
            .filter_map(|key| self.config.get(key))
            .filter(|values| !values.is_null())
            .flat_map(|values| values_from_mapping(values, &mut found))
            .collect::<Vec<_>>();
        found.attribute_to(&identity::reference(self.config));
        self.diagnostics.append(found);
        let Plan { expanders, instances, .. } = &mut self.plan;
        for one in given {
            let mut is_known = false;
            for instance in instances.iter_mut() {
                let own = expanders.get(instance.expander);
                if own.is_some_and(|own| own.declares(&one.name)) {
                    instance.given.push(one.clone());
                    is_known = true;
                }
            }
            if is_known {
                continue;
            }
            // A Template reports itself what it does not declare.
            if let [instance] = instances.as_mut_slice() {
                instance.given.push(one);
                continue;
            }
            let known = expanders.iter().flat_map(|one| one.parameters());
            let known = closest(&one.name, known.map(|parameter| parameter.name.as_str()));
            // A value under a misspelt name may be a secret all the same, and so may one that is
            // meant for a Template that could not be read.
            let mut meant = expanders.iter().flat_map(|one| one.parameters());
            let meant = meant.find(|parameter| Some(parameter.name.as_str()) == known);
            let is_secret = meant.map_or(self.diagnostics.has_errors(), |meant| !meant.may_show());
            let mut diagnostic =
                Diagnostic::error(format!("none of the Templates has a parameter `{}`", one.name))
                    .conceal(is_secret)
                    .maybe_hint(known.map(|known| format!("did you mean `{known}`?")));
            diagnostic.place = one.name_place;
            diagnostic.object = Some(identity::reference(self.config));
            self.diagnostics.push(diagnostic);
        }
    }

    /// Plans the instances of a `TemplateInstance`.
    fn template_instance(&mut self) {
        let (own_name, base) = self.identity();
        self.plan.owns.base.clone_from(&base);
        // The Templates that were read. Each may have a document of its own.
        let mut read: BTreeMap<(*const Document, NodeId), Option<usize>> = BTreeMap::new();
        for instance in instance::read(self.config, self.diagnostics) {
            let Some((node, _)) = self.template_of(&instance.template) else {
                continue;
            };
            let key = (Arc::as_ptr(node.document()), node.cursor().id());
            let expander = *read.entry(key).or_insert_with(|| {
                let template = Template::read(&node, self.diagnostics)?;
                self.plan.expanders.push(Arc::new(template));
                Some(self.plan.expanders.len() - 1)
            });
            let mut given = self.given(&instance.values, expander);
            let Some(expander) = expander else { continue };
            let own = self.plan.expanders.get(expander);
            if let Some(index) = instance.index
                && own.is_some_and(|own| own.declares(INDEX))
            {
                // Values of the instance win.
                given.insert(0, Assignment::text(INDEX, index.to_string(), "count"));
            }
            let (owner, seed) = match &instance.name {
                Some(name) => (format!("{base}/{name}"), format!("{own_name}/{name}")),
                None => (base.clone(), own_name.clone()),
            };
            let is_one_of_several = instance.name.is_some();
            self.plan.instances.push(Instance {
                expander,
                name: instance.name.unwrap_or_else(|| own_name.clone()),
                owner,
                seed,
                given,
                labels: instance.labels,
                namespace: instance.namespace,
                place: is_one_of_several.then_some(instance.place),
                template_field: match instance.template {
                    TemplateSource::Inline { field, .. } => field,
                    TemplateSource::Named { .. } => String::new(),
                },
            });
        }
    }

    fn find_template(&mut self, name: &str, meant: Cursor<'_>, field: &str) -> Option<&'p Opening> {
        let source = TemplateSource::Named {
            name: name.to_owned(),
            place: meant.place(),
            field: field.to_owned(),
        };
        self.template_of(&source)?.1
    }

    fn template_of(
        &mut self,
        source: &TemplateSource,
    ) -> Option<(SharedNode, Option<&'p Opening>)> {
        match source {
            TemplateSource::Inline { node, .. } => Some((self.node.with(*node), None)),
            TemplateSource::Named { name, place, field } => {
                let found = self.inputs.find("Template", name, &self.namespace());
                match found {
                    Ok(one) => Some((one.node().clone(), Some(one))),
                    Err(diagnostic) => {
                        self.error(diagnostic.at(place.clone()).field(field.clone()));
                        None
                    }
                }
            }
        }
    }

    fn namespace(&self) -> String {
        let namespace = self.config.text_at(["metadata", "namespace"]);
        namespace.map(Cow::into_owned).unwrap_or_default()
    }

    /// The values of an instance, those of objects among the items read from there.
    fn given(&mut self, sources: &[ValueSource], expander: Option<usize>) -> Vec<Assignment> {
        let mut given = Vec::new();
        for source in sources {
            match source {
                ValueSource::Given(values) => given.extend(values.iter().cloned()),
                ValueSource::Object(object) => {
                    let mut values = self.object_values(object);
                    let expander = expander.and_then(|index| self.plan.expanders.get(index));
                    if let (true, Some(expander)) = (object.may_have_others, expander) {
                        values.retain(|value| expander.declares(&value.name));
                    }
                    given.extend(values);
                }
            }
        }
        given
    }

    fn object_values(&mut self, source: &ObjectSource) -> Vec<Assignment> {
        let found = self.inputs.find(source.kind, &source.name, &self.namespace());
        let node = match found {
            Ok(found) => found.node().cursor(),
            Err(diagnostic) => {
                let is_missing = diagnostic.related.is_empty();
                if !(is_missing && source.optional) {
                    self.error(diagnostic.at(source.place.clone()).field(source.field.clone()));
                }
                return Vec::new();
            }
        };
        let mut found = Diagnostics::new();
        let values = if source.kind == "Secret" {
            secret_values(node, &mut found)
        } else {
            let data = node.get("data").filter(|data| !data.is_null());
            data.map(|data| values_from_mapping(data, &mut found)).unwrap_or_default()
        };
        found.attribute_to(&identity::reference(node));
        self.diagnostics.append(found);
        values
    }
}
