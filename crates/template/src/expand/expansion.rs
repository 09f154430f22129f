//! Expands a Template: each object in order, from its node to the value it is meant to have.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use crate::declare::dialect::Dialect;
use crate::declare::label::Label;
use crate::declare::legacy;
use crate::declare::model::Template;
use crate::declare::nearly;
use crate::declare::parameter::Parameter;
use crate::declare::reference::{has_dollar, has_openshift_reference};
use crate::expand::label_sets::{LabelSets, Lines, template_labels};
use crate::expand::path::Path;
use crate::expand::pods::KnownPods;
use crate::expand::required::{is_complete, not_a_mapping};
use crate::expand::strings::{Advice, Dollars, Purpose, Substitution, has_braces};
use crate::expand::{labels, pods, refused};
use crate::resolve::earlier::Namespaces;
use crate::resolve::generation::{Generation, Generator};
use crate::resolve::parameters::Parameters;
use crate::resolve::resolver;
use crate::values::budget::{self, Budget, MAX_BYTES};
use crate::values::given::Assignment;
use krm_core::pods::pod;
use krm_core::{scope, selection};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Way};
use krm_yaml::{
    Cursor, Data, Document, EntryLine, Ordinary, Patched, Scalar, Value, View, ViewMut,
};

/// The annotation that keeps `metadata.namespace` in OpenShift's dialect.
const KEEP_NAMESPACE: &str = "template.krm.dev/keep-namespace";
/// The annotation that says whether labels are put on selectors and pods, too.
const LABEL_SELECTORS: &str = "template.krm.dev/label-selectors";

/// The settings of an expansion besides the Template and its values.
#[expect(clippy::struct_excessive_bools, reason = "each is a setting, and they are independent")]
pub struct Options<'o> {
    /// Labels that win over those of the Template.
    pub labels: Vec<Label>,
    /// The namespace of objects that name none and belong to one.
    pub namespace: Option<String>,
    /// Values for names the Template does not declare are left out with a warning.
    pub ignore_unknown_parameters: bool,
    /// A reference to no declared parameter is an error anywhere.
    pub strict: bool,
    /// Every object needs `metadata.name`: `generateName` will not do, nor a warning in OpenShift's
    /// dialect.
    pub require_name: bool,
    /// Keep `metadata.namespace` in OpenShift's dialect, where it is removed otherwise.
    pub keep_namespace: bool,
    /// The message has secret values, too: it is part of an answer with all values.
    pub shows_secrets: bool,
    /// The way in which values are generated.
    pub generation: Generation<'o>,
    /// Inspects each object before it is handed out.
    pub inspect: Option<&'o dyn Inspect>,
    /// The limits of the expansion; `None` for [`MAX_BYTES`](crate::MAX_BYTES) alone.
    pub budget: Option<&'o Budget<'o>>,
}

impl<'o> Options<'o> {
    /// A way in which values are generated, and nothing else.
    #[must_use]
    pub const fn new(generation: Generation<'o>) -> Self {
        Self {
            labels: Vec::new(),
            namespace: None,
            ignore_unknown_parameters: false,
            strict: false,
            require_name: false,
            keep_namespace: false,
            shows_secrets: false,
            generation,
            inspect: None,
            budget: None,
        }
    }
}

/// Looks at objects, perhaps at several at the same time.
pub trait Inspect: Sync {
    /// Checks an object that `template` created with these values, and reports problems
    /// with it.
    fn object(
        &self,
        object: &Look<'_>,
        template: &Template,
        values: &Parameters<'_>,
        diagnostics: &mut Diagnostics,
    );
}

/// An object of a Template.
pub struct Object<'d> {
    /// Its data, with the nodes of the Template that it was read from.
    pub value: Value<'d>,
    /// The document of the Template.
    pub document: &'d Document,
    /// Its place among the Template's objects, as a field path.
    pub field: String,
}

impl Object<'_> {
    /// The object, to be looked at.
    pub fn look(&self) -> Look<'_> {
        Look { view: View::from(&self.value), document: self.document, field: &self.field }
    }
}

/// An object of a Template that is only looked at.
#[derive(Clone, Copy)]
pub struct Look<'o> {
    /// The data, with references replaced and labels set.
    pub view: View<'o>,
    /// The document of the Template.
    pub document: &'o Document,
    /// Its place among the Template's objects, as a field path.
    pub field: &'o str,
}

/// Receives the objects one by one; problems with an object go to the diagnostics.
pub type Sink<'s> = dyn FnMut(Object<'_>, &mut Diagnostics) + 's;

/// Expands `template` with `given` values, of which later ones override earlier ones, and hands each
/// object to `sink` in order. Returns the message, if the Template has one. All errors and warnings
/// go to `diagnostics`; after an error the objects are of no use.
pub fn process(
    template: &Template,
    given: &[Assignment],
    options: &Options<'_>,
    diagnostics: &mut Diagnostics,
    sink: &mut Sink<'_>,
) -> Option<String> {
    let (message, ()) = expand(template, given, options, diagnostics, |expansion, found| {
        let mut sink = |object: Object<'_>, found: &mut Diagnostics| {
            if !found.has_errors() {
                sink(object, found);
            }
        };
        expansion.warn(found);
        for (index, object) in expansion.objects().enumerate() {
            if !expansion.goes_on() {
                break;
            }
            expansion.object(index, object, found, &mut sink);
        }
    })?;
    message
}

/// Finds the values of the parameters as [`process`] does, and passes them to `look`;
/// `None` after an error.
pub fn effective<'d, R>(
    template: &'d Template,
    given: &[Assignment],
    options: &Options<'_>,
    diagnostics: &mut Diagnostics,
    look: impl FnOnce(&Parameters<'d>) -> R,
) -> Option<R> {
    let look = |expansion: &Expansion<'_, 'd>, _: &mut Diagnostics| look(expansion.parameters);
    Some(expand(template, given, options, diagnostics, look)?.1)
}

/// Prepares everything but the objects, and has `run` expand them. Returns the message and
/// the result of `run`; `None` after an error.
pub(crate) fn expand<'d, R>(
    template: &'d Template,
    given: &[Assignment],
    options: &Options<'_>,
    diagnostics: &mut Diagnostics,
    run: impl FnOnce(&Expansion<'_, 'd>, &mut Diagnostics) -> R,
) -> Option<(Option<String>, R)> {
    let mut found = Diagnostics::new();
    let default = Budget::new(usize::MAX, MAX_BYTES, &|| false);
    let budget = options.budget.unwrap_or(&default);
    let done = prepare(template, given, options, budget, &mut found, run);
    found.attribute_to(&template.reference);
    diagnostics.append(found);
    if !template.conceals_values && diagnostics.iter().next().is_some() {
        diagnostics.conceal(&template.secrets(given));
    }
    done
}

fn prepare<'d, R>(
    template: &'d Template,
    given: &[Assignment],
    options: &Options<'_>,
    budget: &Budget<'_>,
    diagnostics: &mut Diagnostics,
    run: impl FnOnce(&Expansion<'_, 'd>, &mut Diagnostics) -> R,
) -> Option<(Option<String>, R)> {
    let generator = Generator {
        template,
        generation: &options.generation,
        namespaces: Namespaces {
            namespace: options.namespace.as_deref(),
            are_removed: !options.keep_namespace && template.removes_namespaces(),
        },
        referring: OnceCell::new(),
    };
    let mut generate = |parameter: &'d Parameter, from: &str, known: &Parameters<'d>| {
        generator.generate(parameter, from, known)
    };
    let parameters = resolver::resolve(
        template,
        given,
        options.ignore_unknown_parameters,
        Some(budget),
        &mut generate,
        diagnostics,
    );
    report_overrun(budget, diagnostics);
    if diagnostics.has_errors() {
        mask(&parameters, None, diagnostics);
        return None;
    }
    let mut substitution = Substitution {
        document: template.node().document(),
        dialect: template.dialect,
        parameters: &parameters,
        strict: options.strict,
        advice: Advice::default(),
        dollars: Dollars::default(),
        budget: Some(budget),
        diagnostics,
    };
    let message = message_of(template, &mut substitution);
    let labels = template_labels(template, &options.labels, Some(budget), &mut substitution);
    let expansion = Expansion {
        template,
        parameters: &parameters,
        label_lines: labels.as_ref().map(Lines::of).unwrap_or_default(),
        labels,
        pods: Arc::default(),
        namespace: options.namespace.as_deref(),
        strict: options.strict,
        require_name: options.require_name,
        removes_namespaces: !options.keep_namespace && template.removes_namespaces(),
        purpose: Purpose::Creating,
        has_braces: template.objects().is_some_and(|objects| has_braces(objects.raw())),
        inspect: options.inspect,
        budget: Some(budget),
    };
    let result = run(&expansion, diagnostics);
    report_overrun(budget, diagnostics);
    let masked = mask(&parameters, message.as_deref(), diagnostics);
    let masked = masked.filter(|_| !options.shows_secrets);
    Some((masked.or(message), result))
}

/// The message with its references replaced, if the Template has one.
fn message_of(template: &Template, substitution: &mut Substitution<'_, '_>) -> Option<String> {
    let message = template.message()?;
    let text = message.text().ok()??;
    Some(substitution.text(&text, Some(message.id()), &Path::Root("message")))
}

/// Masks the secret values in diagnostics. Returns the message with masks, if it has secret values.
fn mask(
    parameters: &Parameters<'_>,
    message: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    if message.is_none() && diagnostics.iter().next().is_none() {
        return None;
    }
    let secrets = parameters.secrets();
    secrets.conceal(diagnostics);
    message.and_then(|text| secrets.changed(text))
}

/// Reports that the expansion used up its budget, once.
fn report_overrun(budget: &Budget<'_>, diagnostics: &mut Diagnostics) {
    if let Some(overrun) = budget.overrun() {
        diagnostics.push(overrun.diagnostic());
    }
}

impl Template {
    /// Whether expanding removes the namespaces of objects that are not references.
    pub fn removes_namespaces(&self) -> bool {
        self.dialect == Dialect::OpenShift
            && self.annotation(KEEP_NAMESPACE).as_deref() != Some("true")
    }

    /// Whether its labels are put on selectors too.
    pub fn labels_selectors(&self) -> bool {
        match self.annotation(LABEL_SELECTORS).as_deref() {
            Some("true") => true,
            Some("false") => false,
            _ => self.dialect == Dialect::Proposal,
        }
    }
}

/// Expands the objects of a Template one by one.
#[expect(clippy::struct_excessive_bools, reason = "each is a setting, and they are independent")]
pub(crate) struct Expansion<'e, 'd> {
    template: &'d Template,
    pub(crate) parameters: &'e Parameters<'d>,
    pub(crate) labels: Option<LabelSets>,
    /// The labels as lines, if each takes one.
    label_lines: Lines,
    /// The pods that get labels, once a selector has asked for them.
    pods: Arc<OnceLock<KnownPods>>,
    namespace: Option<&'e str>,
    strict: bool,
    require_name: bool,
    removes_namespaces: bool,
    purpose: Purpose,
    /// Whether the objects have `{{` without a `$` before it.
    has_braces: bool,
    inspect: Option<&'e dyn Inspect>,
    budget: Option<&'e Budget<'e>>,
}

impl<'d> Expansion<'_, 'd> {
    /// The same without labels and a namespace to be set.
    pub(crate) fn without_labels(&self) -> Self {
        Self {
            labels: None,
            label_lines: Lines::default(),
            pods: Arc::default(),
            namespace: None,
            inspect: None,
            ..*self
        }
    }

    /// The same to check the Template.
    pub(crate) fn for_checking(&self) -> Self {
        Self { purpose: Purpose::Checking, ..self.without_inspection() }
    }

    /// The same without an inspection.
    pub(crate) fn without_inspection(&self) -> Self {
        Self {
            labels: self.labels.clone(),
            label_lines: Lines::default(),
            pods: Arc::clone(&self.pods),
            inspect: None,
            ..*self
        }
    }

    /// Reports texts in the labels and the message that look like a reference.
    pub(crate) fn advise(&self, diagnostics: &mut Diagnostics) {
        let mut substitution = self.substitution(self.template.node(), diagnostics);
        let root = Path::Root("");
        let field = Path::Key(&root, "labels");
        for (entry, _) in self.template.label_entries() {
            let Ok(key) = entry.key() else { continue };
            let path = Path::Key(&field, &key);
            substitution.advise(&key, entry.id(), &path);
            if let Some(value) = entry.text().ok().flatten() {
                substitution.advise(&value, entry.id(), &path);
            }
        }
        if let Some(message) = self.template.message()
            && let Some(text) = message.text().ok().flatten()
        {
            substitution.advise(&text, message.id(), &Path::Root("message"));
        }
    }

    /// Warns of labels and a namespace that Kubernetes refuses, and of what looks like a reference.
    pub(crate) fn warn(&self, diagnostics: &mut Diagnostics) {
        self.advise(diagnostics);
        let labels = self.labels.as_ref();
        let labels = labels.map(|labels| labels.all.as_slice()).unwrap_or_default();
        refused::warn(
            self.template,
            self.parameters,
            labels,
            self.namespace,
            self.budget,
            diagnostics,
        );
    }

    /// The objects of the Template, to be opened.
    pub(crate) fn objects(&self) -> impl Iterator<Item = Cursor<'d>> {
        self.template.objects().into_iter().flat_map(Cursor::children)
    }

    /// Expands the object at `index` and passes the result to the sink, also after errors.
    pub(crate) fn object(
        &self,
        index: usize,
        object: Cursor<'_>,
        diagnostics: &mut Diagnostics,
        sink: &mut Sink<'_>,
    ) {
        let field = format!("objects[{index}]");
        self.opened(object.open().cursor(), field, diagnostics, sink);
    }

    /// As [`object`](Self::object), for an object that was opened, in a field of the Template.
    pub(crate) fn opened(
        &self,
        node: Cursor<'_>,
        field: String,
        diagnostics: &mut Diagnostics,
        sink: &mut Sink<'_>,
    ) {
        if !node.is_mapping() {
            diagnostics.push(not_a_mapping(node.is_null(), node.place(), field));
            return;
        }
        let duplicates = self.template.dialect.duplicate_keys();
        let mut found = Diagnostics::new();
        let value = node.value(duplicates, &mut found);
        nearly::explain_braces(self.template, &mut found);
        found.attribute_to_field(&field);
        diagnostics.append(found);
        let Some(mut value) = value else {
            return;
        };
        if self.removes_namespaces
            && let Some(metadata) = value.get_mut("metadata")
        {
            self.note_namespace((&*metadata).into(), node, &field, diagnostics);
            legacy::strip_namespace(metadata);
        }
        let mut substitution = self.substitution(node, diagnostics);
        substitution.object(&mut value, &field);
        self.flat(value, node, field, diagnostics, sink, 0);
    }

    /// Says that the namespace of an object is removed, unless another one takes its place.
    fn note_namespace(
        &self,
        metadata: View<'_>,
        node: Cursor<'_>,
        field: &str,
        diagnostics: &mut Diagnostics,
    ) {
        let name = metadata.get("namespace");
        let is_named = name.and_then(View::as_str).is_some_and(|name| !name.is_empty());
        if self.namespace.is_some() || !is_named || !legacy::has_fixed_namespace(metadata) {
            return;
        }
        let message = "`metadata.namespace` is removed, as in `oc process`";
        let diagnostic = match self.purpose {
            Purpose::Checking => Diagnostic::warning(message),
            _ => Diagnostic::info(message),
        };
        let origin = name.and_then(View::origin);
        let place = origin.map_or_else(|| node.place(), |at| node.document().cursor(at).place());
        diagnostics.push(
            diagnostic
                .rule("removed-namespace")
                .at(place)
                .field(format!("{field}.metadata.namespace"))
                .hint(format!(
                    "to keep it, write a parameter, as `${{NAMESPACE}}`, or set the annotation `{KEEP_NAMESPACE}: \"true\"`"
                ))
                .advise(Way::Arguments, "or use `process --keep-namespace`"),
        );
    }

    fn substitution<'s, 'p: 's>(
        &'s self,
        node: Cursor<'p>,
        diagnostics: &'s mut Diagnostics,
    ) -> Substitution<'s, 'p>
    where
        'd: 'p,
    {
        Substitution {
            document: node.document(),
            dialect: self.template.dialect,
            parameters: self.parameters,
            strict: self.strict,
            advice: Advice {
                purpose: self.purpose,
                has_braces: self.has_braces,
                object: Some(node),
            },
            dollars: Dollars::default(),
            budget: self.budget,
            diagnostics,
        }
    }

    /// As [`opened`](Self::opened), without reading the parts of the object that stay as they are.
    /// `None` if it must be read as a whole, also if there are errors. It is not inspected.
    pub(crate) fn patched<'p>(
        &'p self,
        node: Cursor<'p>,
        field: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<Patched<'p>>
    where
        'd: 'p,
    {
        if self.namespace.is_some() || !node.is_mapping() {
            return None;
        }
        let [api_version, kind, metadata] = node.get_all(["apiVersion", "kind", "metadata"]);
        let (api_node, metadata) = (api_version?, metadata?);
        let (api_version, kind) = (string(api_node)?, string(kind?)?);
        let is_plain = |text: &str| !text.is_empty() && !has_dollar(text);
        if !is_plain(&api_version) || !is_plain(&kind) || kind.ends_with("List") {
            return None;
        }
        let mut object = Patched::new(Ordinary::of(node)?);
        if self.removes_namespaces && legacy::has_fixed_namespace(object.view_of(metadata)) {
            self.note_namespace(object.view_of(metadata), node, field, diagnostics);
            legacy::strip_namespace(object.value_mut(metadata));
        }
        let mut substitution = self.substitution(node, diagnostics);
        substitution.patch_object(&mut object, field)?;
        if let Some(new) = legacy::with_group(&api_version, &kind) {
            object.set(api_node, Data::Scalar(Scalar::String(Cow::Owned(new))));
        }
        let name = object.view_of(metadata).str_at(&["name"])?;
        (!name.is_empty()).then_some(())?;
        self.set_labels((&mut object).into(), node, field, diagnostics);
        let goes_on = !diagnostics.has_errors() && self.takes_object();
        goes_on.then_some(object)
    }

    /// Whether the expansion may use more than it has.
    pub(crate) fn goes_on(&self) -> bool {
        self.budget.is_none_or(Budget::goes_on)
    }

    fn takes_object(&self) -> bool {
        self.budget.is_none_or(Budget::take_object)
    }

    /// The labels for pod templates and selectors.
    fn selecting<'l>(
        &'l self,
        labels: &'l LabelSets,
        pods: &'l dyn Fn() -> &'l KnownPods,
    ) -> labels::Selecting<'l> {
        labels::Selecting {
            templates: self.set_of(&labels.templates, &self.label_lines.templates),
            selectors: self.set_of(&labels.selectors, &self.label_lines.selectors),
            pods,
        }
    }

    /// The pods that get labels.
    fn pods(&self) -> &KnownPods {
        self.pods.get_or_init(|| {
            let mut pods = KnownPods::new(self.namespace);
            let Some(labels) = &self.labels else {
                return pods;
            };
            for object in self.objects() {
                if !self.goes_on() {
                    break;
                }
                if may_have_pods(object) {
                    let opened = object.open();
                    self.add_pods(opened.cursor(), labels, &mut pods);
                }
            }
            pods
        })
    }

    /// Adds the pods of an object of the Template.
    fn add_pods(&self, node: Cursor<'_>, labels: &LabelSets, pods: &mut KnownPods) {
        let unheard = &mut Diagnostics::new();
        if self.add_known_pods(node, labels, pods, unheard).is_some() {
            return;
        }
        let duplicates = self.template.dialect.duplicate_keys();
        let Some(mut object) = node.value(duplicates, unheard) else {
            return;
        };
        if self.removes_namespaces
            && let Some(metadata) = object.get_mut("metadata")
        {
            legacy::strip_namespace(metadata);
        }
        self.substitution(node, unheard).object(&mut object, "");
        add_pods(&object, labels, pods, 0);
    }

    /// The same without reading the whole object. `None` if it must be read.
    fn add_known_pods(
        &self,
        node: Cursor<'_>,
        labels: &LabelSets,
        pods: &mut KnownPods,
        diagnostics: &mut Diagnostics,
    ) -> Option<()> {
        let [kind, metadata] = Ordinary::of(node)?.cursor().get_all(["kind", "metadata"]);
        let (kind, metadata) = (string(kind?)?, metadata.filter(|one| one.is_mapping())?);
        let path = krm_core::pods::pod(&kind).filter(|path| !path.is_empty())?;
        let pod = path.iter().try_fold(node, |node, key| mapping_in(node, key))?;
        let own = mapping_in(mapping_in(pod, "metadata")?, "labels")?;
        let mut substitution = self.substitution(node, diagnostics);
        let mut text = |node: Cursor<'_>, text: &str| {
            substitution.text(text, Some(node.id()), &Path::Root(""))
        };
        let mut all = labels.templates.iter().cloned().collect::<BTreeSet<_>>();
        for entry in own.children() {
            let (key, value) = (entry.key().ok()?, string(entry)?);
            all.insert((text(entry, &key), text(entry, &value)));
        }
        let [name, namespace] = metadata.get_all(["name", "namespace"]);
        let namespace = match namespace {
            Some(namespace) => string(namespace)?,
            None => Cow::Borrowed(""),
        };
        let namespace = match namespace {
            namespace if self.removes_namespaces && !has_openshift_reference(&namespace) => {
                String::new()
            }
            namespace => text(metadata, &namespace),
        };
        let name = text(metadata, &string(name?)?);
        pods.insert(&namespace, all, format!("{kind} `{name}`"));
        Some(())
    }

    /// Warns if an object requires a label of the Template that the pods do not get.
    fn warn_of_missing(
        &self,
        object: View<'_>,
        document: &Document,
        field: &str,
        labels: &LabelSets,
        diagnostics: &mut Diagnostics,
    ) {
        // An object with pods of its own is checked by others, and is not read for this.
        let kind = object.str_at(&["kind"]).unwrap_or_default();
        let is_meant = self.template.labels_selectors() && pod(&kind).is_none();
        if !is_meant || selection::selector_field(object).is_none() {
            return;
        }
        let Some((missing, owner)) = self.pods().missing(object, &labels.all) else {
            return;
        };
        let missing: Vec<String> =
            missing.iter().map(|(key, value)| format!("`{key}: {value}`")).collect();
        let message = format!(
            "{} selects pods with {}, which those of {owner} do not get",
            pods::title(object),
            missing.join(", ")
        );
        let mut warning = Diagnostic::warning(message)
            .rule("unmatched-selector")
            .field(format!("{field}.spec"))
            .hint("remove the label from the selector, or give it to the pods, too");
        warning.place = object.origin().map(|id| document.cursor(id).place());
        diagnostics.push(warning);
    }

    const fn set_of<'l>(
        &'l self,
        labels: &'l pods::Labels,
        lines: &'l [Arc<EntryLine>],
    ) -> labels::Set<'l> {
        labels::Set { labels, lines, budget: self.budget }
    }

    /// Inspects an object as the settings say.
    pub(crate) fn inspect(&self, object: &Look<'_>, diagnostics: &mut Diagnostics) {
        if let Some(inspect) = self.inspect {
            inspect.object(object, self.template, self.parameters, diagnostics);
        }
    }

    /// Hands an object on, or the objects of a list that it is.
    fn flat<'p>(
        &self,
        mut value: Value<'p>,
        node: Cursor<'p>,
        field: String,
        diagnostics: &mut Diagnostics,
        sink: &mut Sink<'_>,
        depth: usize,
    ) {
        let is_list = value.str_at(&["kind"]).is_some_and(|kind| kind.ends_with("List"));
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
        if value.entries().is_none() {
            let place_of = |origin| node.document().cursor(origin).place();
            let place = value.origin.map_or_else(|| node.place(), place_of);
            diagnostics.push(not_a_mapping(value.is_null(), place, field));
            return;
        }
        if !self.takes_object() {
            return;
        }
        if self.template.is_upstream && value.get("apiVersion").is_none_or(Value::is_null) {
            value.insert(Cow::Borrowed("apiVersion"), Value::string(""));
        }
        legacy::set_group(&mut value);
        let require_name = self.require_name;
        if !is_complete(&value, node, &field, self.template, require_name, diagnostics) {
            return;
        }
        self.set_labels((&mut value).into(), node, &field, diagnostics);
        if let Some(namespace) = self.namespace
            && budget::take(self.budget, namespace.len())
        {
            scope::set_namespace(&mut value, namespace);
        }
        let object = Object { value, document: node.document(), field };
        self.inspect(&object.look(), diagnostics);
        sink(object, diagnostics);
    }

    /// Puts the labels on an object and, where the Template asks for it, on its selectors.
    fn set_labels(
        &self,
        mut object: ViewMut<'_, '_>,
        node: Cursor<'_>,
        field: &str,
        diagnostics: &mut Diagnostics,
    ) {
        let Some(labels) = &self.labels else { return };
        let all = self.set_of(&labels.all, &self.label_lines.all);
        let kept = labels::on_object(object.reborrow(), all);
        if !kept {
            let metadata = node.at(["metadata", "labels"]).unwrap_or(node);
            diagnostics.push(
                Diagnostic::warning(
                    "the labels of this object are dropped: they are not a mapping of strings",
                )
                .rule("string-expected")
                .at(metadata.place())
                .field(format!("{field}.metadata.labels"))
                .hint("put the values of labels in quotes"),
            );
        }
        let pods = || self.pods();
        labels::on_selectors(object.reborrow(), self.selecting(labels, &pods));
        self.warn_of_missing(object.view(), node.document(), field, labels, diagnostics);
    }
}

fn mapping_in<'d>(node: Cursor<'d>, key: &str) -> Option<Cursor<'d>> {
    node.get(key).filter(|inner| inner.is_mapping())
}

fn string(node: Cursor<'_>) -> Option<Cow<'_, str>> {
    match node.scalar().ok()?? {
        Scalar::String(text) => Some(text),
        Scalar::Number(_) | Scalar::Bool(_) | Scalar::Null => None,
    }
}

/// The depth of lists in lists.
const MAX_LISTS: usize = 16;

/// Whether an object may have pods, by its text: a pod template has `containers`, or is one of the
/// kinds without. A value may have them, too.
fn may_have_pods(object: Cursor<'_>) -> bool {
    let text = object.document().slice(object.start()..object.end());
    ["emplate", "Pod", "VirtualMachine", "$((", "${{"].iter().any(|part| text.contains(part))
}

/// Adds the pods of an object, or of the objects of a list that it is.
fn add_pods(object: &Value<'_>, labels: &LabelSets, pods: &mut KnownPods, depth: usize) {
    let kind = object.str_at(&["kind"]).unwrap_or_default();
    let items = object.get("items").and_then(Value::items);
    match items.filter(|_| kind.ends_with("List") && depth < MAX_LISTS) {
        Some(items) => {
            for item in items {
                add_pods(item, labels, pods, depth + 1);
            }
        }
        None => pods.add(object.into(), &labels.all, &labels.templates),
    }
}
