//! What a functionConfig asks for: which Templates are stamped out, how often, with what values.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::function::items::Input;
use crate::krm::identity::{self, Identity};
use crate::template::instance::{self, ObjectSource, TemplateSource, ValueSource};
use crate::template::{Given, GivenValue, Template, values_from_mapping};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Opened};

/// Which of several Templates among the items the values of a ConfigMap are for.
const TEMPLATE: &str = "template.krm.dev/template";

/// What a functionConfig asks for.
pub(crate) struct Plan<'d> {
    pub(crate) templates: Vec<Template<'d>>,
    pub(crate) instances: Vec<Instance>,
    /// Tells whether an object that stands among the items, and names its maker, is this
    /// functionConfig's to take out.
    pub(crate) owns: Owns,
}

/// One time that a Template is stamped out.
pub(crate) struct Instance {
    /// Its position in [`Plan::templates`].
    pub(crate) template: usize,
    /// What it is called: the last part of its owner.
    pub(crate) name: String,
    /// The value of the annotation that names it on its objects.
    pub(crate) owner: String,
    /// Tells its generated values from those of other instances.
    pub(crate) seed: String,
    pub(crate) given: Vec<Given>,
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) namespace: Option<String>,
    /// Where it is declared, if it is one of several.
    pub(crate) place: Option<Place>,
    /// The field path of the Template in the functionConfig, with a dot, if it is there.
    pub(crate) template_field: String,
    /// Where the Template is kept, if it is an item.
    pub(crate) template_path: Option<String>,
}

/// The owners whose objects a functionConfig may take out.
pub(crate) struct Owns {
    /// `KIND/NAMESPACE/NAME` of the functionConfig.
    base: String,
    /// Instances that are not this run's business, though the functionConfig has made them.
    others: BTreeSet<String>,
}

impl Owns {
    pub(super) fn is_own(&self, owner: &str) -> bool {
        let is_below = |rest: &str| rest.is_empty() || rest.starts_with('/');
        owner.strip_prefix(&self.base).is_some_and(is_below) && !self.others.contains(owner)
    }
}

/// The items that a functionConfig may refer to; what is read from them borrows from here.
pub(crate) struct Inputs<'o, 'd> {
    list: Vec<Opening<'o, 'd>>,
    whence: Whence,
}

/// Where inputs come from, in the user's words.
#[derive(Clone, Copy)]
pub(crate) enum Whence {
    /// The items of a ResourceList.
    Items,
    /// The files of a command line.
    Files,
}

impl Whence {
    const fn place(self) -> &'static str {
        match self {
            Self::Items => "among the items",
            Self::Files => "in the files",
        }
    }

    const fn noun(self) -> &'static str {
        match self {
            Self::Items => "items",
            Self::Files => "documents",
        }
    }

    const fn remedy(self) -> &'static str {
        match self {
            Self::Items => "kustomize takes one from `resources`, kpt any of the package",
            Self::Files => "give its file with another `-f`",
        }
    }
}

/// An item, opened when it is looked into.
struct Opening<'o, 'd> {
    input: &'o Input<'d>,
    opened: OnceCell<Opened<'d>>,
}

impl Opening<'_, '_> {
    fn name(&self) -> &str {
        &self.input.identity.name
    }

    fn node(&self) -> Cursor<'_> {
        self.opened.get_or_init(|| self.input.node.open()).cursor()
    }

    fn path(&self) -> Option<String> {
        identity::reference(self.node()).path
    }

    fn place(&self) -> Place {
        let node = self.node();
        node.get("metadata").unwrap_or(node).place()
    }

    fn file(&self) -> String {
        match self.path() {
            Some(path) => format!("one in {path}"),
            None => "one of them".to_owned(),
        }
    }
}

impl<'o, 'd> Inputs<'o, 'd> {
    pub(crate) fn of(inputs: &'o [Input<'d>], whence: Whence) -> Self {
        let inputs = inputs.iter();
        let opening = |input| Opening {
            input,
            opened: OnceCell::new(),
        };
        Self {
            list: inputs.map(opening).collect(),
            whence,
        }
    }

    /// The item of a kind with this name; of several, the one in `namespace`.
    fn find(
        &self,
        is_kind: impl Fn(&Input<'d>) -> bool,
        kind: &str,
        name: &str,
        namespace: &str,
    ) -> Result<&Opening<'o, 'd>> {
        let of_kind = || self.list.iter().filter(|one| is_kind(one.input));
        let named: Vec<_> = of_kind().filter(|one| one.name() == name).collect();
        let is_here = |one: &&&Opening<'_, '_>| one.input.identity.namespace == namespace;
        let here: Vec<_> = named.iter().filter(is_here).copied().collect();
        match (named.as_slice(), here.as_slice()) {
            ([one], _) | (_, [one]) => Ok(one),
            ([], _) => {
                let hint = match closest(name, of_kind().map(Opening::name)) {
                    Some(known) => format!("did you mean `{known}`?"),
                    None => self.among(kind, of_kind().map(Opening::name)),
                };
                let problem = format!("no {kind} `{name}` is {}", self.whence.place());
                Err(Diagnostic::error(problem).hint(hint).into())
            }
            _ => {
                let mut diagnostic = Diagnostic::error(format!(
                    "{} {} are a {kind} `{name}`: which one is meant is unclear",
                    named.len(),
                    self.whence.noun()
                ));
                for one in named {
                    diagnostic = diagnostic.related(one.place(), one.file());
                }
                Err(diagnostic.hint("give one of them another name").into())
            }
        }
    }

    /// Says which inputs of a kind there are.
    fn among<'n>(&self, kind: &str, names: impl Iterator<Item = &'n str>) -> String {
        let names: Vec<String> = names.take(10).map(|name| format!("`{name}`")).collect();
        if names.is_empty() {
            format!("there is no {kind} at all: {}", self.whence.remedy())
        } else {
            format!("there is {}", names.join(", "))
        }
    }
}

/// The first three parts of an owner.
fn base(config: &Identity) -> String {
    format!("{}/{}/{}", config.kind, config.namespace, config.name)
}

/// Reads what the functionConfig asks for; nothing if it asks for nothing. All errors go to
/// `diagnostics`.
pub(crate) fn read<'o>(
    config: Cursor<'o>,
    inputs: &'o Inputs<'o, '_>,
    diagnostics: &mut Diagnostics,
) -> Option<Plan<'o>> {
    let mut planner = Planner {
        config,
        inputs,
        diagnostics,
        plan: Plan {
            templates: Vec::new(),
            instances: Vec::new(),
            owns: Owns {
                base: String::new(),
                others: BTreeSet::new(),
            },
        },
    };
    planner.read()?;
    Some(planner.plan)
}

struct Planner<'p, 'o, 'd> {
    config: Cursor<'o>,
    inputs: &'o Inputs<'o, 'd>,
    diagnostics: &'p mut Diagnostics,
    plan: Plan<'o>,
}

impl<'o, 'd> Planner<'_, 'o, 'd> {
    fn read(&mut self) -> Option<()> {
        let config = self.config;
        let kind = config.text_at(["kind"]).unwrap_or_default();
        let data = config
            .get("data")
            .filter(|data| data.children().next().is_some());
        match kind.as_ref() {
            "Template" if config.get("objects").is_none() && config.get("data").is_some() => {
                data?;
                self.values();
            }
            "Template" => self.template(),
            "TemplateInstance" => self.template_instance(),
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
        let place = self
            .config
            .get("kind")
            .map_or_else(|| self.config.place(), Cursor::place);
        let what = if kind.is_empty() {
            "has no `kind`".to_owned()
        } else {
            format!("of `kind: {kind}` is not understood")
        };
        let kinds = [
            "Template",
            "TemplateInstance",
            "Composition",
            "ConfigMap",
            "ParameterValues",
        ];
        let hint = closest(kind, kinds).map(|known| {
            if known == kind {
                "the kind is right; its `apiVersion` is not, or is missing".to_owned()
            } else {
                format!("did you mean `{known}`?")
            }
        });
        self.error(
            Diagnostic::error(format!("the functionConfig {what}"))
                .at(place)
                .field("kind")
                .maybe_hint(hint)
                .hint("accepted are `kind: Template` of apiVersion `template.krm.dev/v1alpha1`, `template.openshift.io/v1` or `v1`, `kind: TemplateInstance` of the first two, `kind: Composition` of `kustomize.config.k8s.io/v1alpha1`, and a ConfigMap with values"),
        );
    }

    fn error(&mut self, mut diagnostic: Diagnostic) {
        diagnostic
            .object
            .get_or_insert_with(|| identity::reference(self.config));
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
            kind: self
                .config
                .text_at(["kind"])
                .unwrap_or_default()
                .into_owned(),
            namespace: text("namespace"),
            name: name.clone(),
        };
        (name, base(&identity))
    }

    /// A Template that is the functionConfig.
    fn template(&mut self) {
        let (name, base) = self.identity();
        self.plan.owns.base.clone_from(&base);
        let Some(template) = Template::read(self.config, self.diagnostics) else {
            return;
        };
        self.plan.templates.push(template);
        self.plan.instances.push(Instance {
            template: 0,
            seed: name.clone(),
            name,
            owner: base,
            given: Vec::new(),
            labels: Vec::new(),
            namespace: None,
            place: None,
            template_field: String::new(),
            template_path: None,
        });
    }

    /// Values for the Templates among the items.
    fn values(&mut self) {
        let (_, base) = self.identity();
        let all = self.inputs.list.iter();
        let mut templates: Vec<_> = all.filter(|one| one.input.is_template).collect();
        let meant = self
            .config
            .at(["metadata", "annotations", TEMPLATE])
            .map(|meant| (meant, format!("metadata.annotations[{TEMPLATE}]")))
            .or_else(|| Some((self.config.get("template")?, "template".to_owned())))
            .filter(|(meant, _)| !meant.is_null());
        if let Some((meant, field)) = meant {
            let name = meant.text().ok().flatten().unwrap_or_default();
            let Some(chosen) = self.find_template(&name, meant, &field) else {
                return;
            };
            for other in templates.iter().map(|one| one.name()) {
                if other != name {
                    self.plan.owns.others.insert(format!("{base}/{other}"));
                }
            }
            templates.retain(|one| std::ptr::eq(*one, chosen));
        }
        if templates.is_empty() {
            let data = self
                .config
                .get("data")
                .or_else(|| self.config.get("values"));
            self.error(
                Diagnostic::error("there are values, but no Template is among the items")
                    .at(data.unwrap_or(self.config).key_place())
                    .field("data")
                    .hint("kustomize takes a Template from `resources`, with the annotation `config.kubernetes.io/local-config: \"true\"`; kpt any of the package")
                    .hint("or make the Template itself the functionConfig, with a map `values`"),
            );
            return;
        }
        self.plan.owns.base.clone_from(&base);
        for one in templates {
            let name = one.name();
            let owner = format!("{base}/{name}");
            if self.plan.instances.iter().any(|known| known.owner == owner) {
                self.error(
                    Diagnostic::error(format!("two Templates among the items are named `{name}`"))
                        .at(one.place())
                        .hint("give one of them another name"),
                );
                continue;
            }
            let Some(template) = Template::read(one.node(), self.diagnostics) else {
                continue;
            };
            self.plan.instances.push(Instance {
                template: self.plan.templates.len(),
                name: name.to_owned(),
                owner,
                seed: name.to_owned(),
                given: Vec::new(),
                labels: Vec::new(),
                namespace: None,
                place: None,
                template_field: String::new(),
                template_path: one.path(),
            });
            self.plan.templates.push(template);
        }
        self.give_values();
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
        let Plan {
            templates,
            instances,
            ..
        } = &mut self.plan;
        let declares = |template: &Template<'_>, name: &str| {
            let mut parameters = template.parameters().iter();
            parameters.any(|parameter| parameter.name == name)
        };
        for one in given {
            let mut is_known = false;
            for instance in instances.iter_mut() {
                let own = templates.get(instance.template);
                if own.is_some_and(|own| declares(own, &one.name)) {
                    instance.given.push(one.clone());
                    is_known = true;
                }
            }
            if is_known {
                continue;
            }
            // A Template says itself what it does not declare.
            if let [instance] = instances.as_mut_slice() {
                instance.given.push(one);
                continue;
            }
            let known = templates.iter().flat_map(Template::parameters);
            let known = closest(&one.name, known.map(|parameter| parameter.name.as_ref()));
            // What is given under a misspelt name may be a secret all the same, and so may what is
            // meant for a Template that could not be read.
            let mut meant = templates.iter().flat_map(Template::parameters);
            let meant = meant.find(|parameter| Some(parameter.name.as_ref()) == known);
            let is_secret = meant.map_or(self.diagnostics.has_errors(), |meant| !meant.may_show());
            let mut diagnostic = Diagnostic::error(format!(
                "none of the Templates has a parameter `{}`",
                one.name
            ))
            .conceal(is_secret)
            .maybe_hint(known.map(|known| format!("did you mean `{known}`?")));
            diagnostic.place = one.name_place;
            diagnostic.object = Some(identity::reference(self.config));
            self.diagnostics.push(diagnostic);
        }
    }

    /// A `TemplateInstance`.
    fn template_instance(&mut self) {
        let (own_name, base) = self.identity();
        self.plan.owns.base.clone_from(&base);
        // The Templates that were read, by where they begin.
        let mut read: BTreeMap<usize, Option<usize>> = BTreeMap::new();
        for instance in instance::read(self.config, self.diagnostics) {
            let Some((node, input)) = self.template_of(&instance.template) else {
                continue;
            };
            let start = node.place().range.start;
            let template = *read.entry(start).or_insert_with(|| {
                let template = Template::read(node, self.diagnostics)?;
                self.plan.templates.push(template);
                Some(self.plan.templates.len() - 1)
            });
            let given = self.given(&instance.values, template);
            let Some(template) = template else { continue };
            let (owner, seed) = match &instance.name {
                Some(name) => (format!("{base}/{name}"), format!("{own_name}/{name}")),
                None => (base.clone(), own_name.clone()),
            };
            let is_one_of_several = instance.name.is_some();
            self.plan.instances.push(Instance {
                template,
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
                template_path: input.and_then(Opening::path),
            });
        }
    }

    fn find_template(
        &mut self,
        name: &str,
        meant: Cursor<'_>,
        field: &str,
    ) -> Option<&'o Opening<'o, 'd>> {
        let source = TemplateSource::Named {
            name: name.to_owned(),
            place: meant.place(),
            field: field.to_owned(),
        };
        self.template_of(&source)?.1
    }

    fn template_of(
        &mut self,
        source: &TemplateSource<'o>,
    ) -> Option<(Cursor<'o>, Option<&'o Opening<'o, 'd>>)> {
        match source {
            TemplateSource::Inline { node, .. } => Some((*node, None)),
            TemplateSource::Named { name, place, field } => {
                let found = self.inputs.find(
                    |input| input.is_template,
                    "Template",
                    name,
                    &self.namespace(),
                );
                match found {
                    Ok(one) => Some((one.node(), Some(one))),
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
    fn given(&mut self, sources: &[ValueSource], template: Option<usize>) -> Vec<Given> {
        let mut given = Vec::new();
        for source in sources {
            match source {
                ValueSource::Given(values) => given.extend(values.iter().cloned()),
                ValueSource::Object(object) => {
                    let mut values = self.object_values(object);
                    let template = template.and_then(|index| self.plan.templates.get(index));
                    if let (true, Some(template)) = (object.may_have_others, template) {
                        let names: Vec<&str> = template
                            .parameters()
                            .iter()
                            .map(|parameter| parameter.name.as_ref())
                            .collect();
                        values.retain(|value| names.contains(&value.name.as_str()));
                    }
                    given.extend(values);
                }
            }
        }
        given
    }

    fn object_values(&mut self, source: &ObjectSource) -> Vec<Given> {
        let is_kind = |input: &Input<'_>| input.identity.kind == source.kind;
        let found = self
            .inputs
            .find(is_kind, source.kind, &source.name, &self.namespace());
        let node = match found {
            Ok(found) => found.node(),
            Err(diagnostic) => {
                let is_missing = diagnostic.related.is_empty();
                if !(is_missing && source.optional) {
                    self.error(
                        diagnostic
                            .at(source.place.clone())
                            .field(source.field.clone()),
                    );
                }
                return Vec::new();
            }
        };
        let mut found = Diagnostics::new();
        let values = if source.kind == "Secret" {
            secret_values(node, &mut found)
        } else {
            let data = node.get("data").filter(|data| !data.is_null());
            data.map(|data| values_from_mapping(data, &mut found))
                .unwrap_or_default()
        };
        found.attribute_to(&identity::reference(node));
        if source.kind == "Secret" {
            found.conceal(&[node.place()]);
        }
        self.diagnostics.append(found);
        values
    }
}

/// The values that a Secret holds: base64 under `data`, text under `stringData`, which counts where
/// both have one.
fn secret_values(node: Cursor<'_>, found: &mut Diagnostics) -> Vec<Given> {
    let mut read = |key: &str| {
        let values = node.get(key).filter(|values| !values.is_null());
        values
            .map(|values| values_from_mapping(values, found))
            .unwrap_or_default()
    };
    let (mut encoded, plain) = (read("data"), read("stringData"));
    encoded.retain(|one| plain.iter().all(|other| other.name != one.name));
    let mut values = Vec::new();
    for mut one in encoded {
        let text = match &one.value {
            GivenValue::Text(text) => decoded(text),
            GivenValue::Structured(_) | GivenValue::Bytes(_) | GivenValue::Unknown(_) => {
                Err("is no text")
            }
        };
        match text {
            Ok(text) => {
                one.value = GivenValue::Text(text);
                values.push(one);
            }
            Err(problem) => {
                let mut diagnostic = Diagnostic::error(format!(
                    "the value of `{}` in the Secret {problem}",
                    one.name
                ))
                .conceal(true)
                .field(format!("data.{}", one.name))
                .hint("encode it as base64, or put it as text under `stringData`");
                diagnostic.place = one.place;
                found.push(diagnostic);
            }
        }
    }
    values.extend(plain);
    for one in &mut values {
        one.secret = true;
    }
    values
}

fn decoded(text: &str) -> Result<String, &'static str> {
    use base64::Engine as _;
    // As Kubernetes, which reads a block of several lines.
    let text: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    let bytes = base64::engine::general_purpose::STANDARD.decode(text);
    String::from_utf8(bytes.map_err(|_| "is no base64")?).map_err(|_| "is no UTF-8 text")
}
