//! The objects that are exported, stripped.

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use indexmap::map::Entry;

use crate::options::Options;
use crate::read::cluster::Cluster;
use crate::read::gather::{self, Object};
use crate::references::marks;
use crate::strip;
use crate::strip::content;
use crate::survey::Survey;
use krm_core::identity::{self, Identity};
use krm_core::scope::effective;
use krm_template_engine::Dialect;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Way};
use krm_yaml::source::Place;
use krm_yaml::{Cursor, SharedNode, Value, View};

/// An object that is exported.
pub(crate) struct Stripped {
    /// Its text, as a document.
    pub(crate) text: String,
    /// The comment lines below it.
    pub(crate) below: Vec<String>,
    /// Where it was read, if an error may still be about it: a place keeps the whole input.
    pub(crate) place: Option<Place>,
}

/// All objects that are exported.
pub(crate) struct All {
    pub(crate) objects: Vec<Stripped>,
    /// The survey of them, with their identities in the same order.
    pub(crate) survey: Survey,
    /// The comments at the tops of files.
    pub(crate) headers: Vec<String>,
    /// Messages (`info`) about objects left out and fields dropped.
    pub(crate) report: Diagnostics,
}

/// Strips the objects under some nodes, which may be documents.
pub(crate) fn all(
    roots: impl Iterator<Item = SharedNode>,
    are_documents: bool,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> All {
    let mut cluster = Cluster::default();
    let objects = gather::objects(roots, &mut |node, types| cluster.add(node, types));
    let mut stripping = Stripping {
        options,
        tables: strip::Tables::of(options),
        cluster: &cluster,
        all: All {
            objects: Vec::new(),
            survey: Survey::default(),
            headers: Vec::new(),
            report: Diagnostics::new(),
        },
        seen: IndexMap::default(),
        unselected: 0,
        are_documents,
    };
    for object in objects {
        match object {
            Ok(object) => stripping.object(&object, object.node.open().cursor(), diagnostics),
            Err(error) => diagnostics.push(error),
        }
    }
    stripping.finish(diagnostics)
}

struct Stripping<'o> {
    options: &'o Options,
    tables: strip::Tables<'o>,
    cluster: &'o Cluster,
    all: All,
    /// Where each object was read first.
    seen: IndexMap<Identity, Place, RandomState>,
    /// How many objects the selector does not select.
    unselected: usize,
    are_documents: bool,
}

impl Stripping<'_> {
    /// Strips an object that was opened as this node.
    fn object(&mut self, object: &Object, node: Cursor<'_>, diagnostics: &mut Diagnostics) {
        let Some(mut value) = object.value(node, diagnostics) else {
            return;
        };
        let metadata = value.get("metadata");
        let labels = metadata.and_then(|metadata| metadata.get("labels"));
        let selector = &self.options.selector;
        if !selector.is_empty() && !selector.fits(labels.map(View::of)) {
            self.unselected += 1;
            return;
        }
        let (identity, api_version) = named(&value);
        let called = || called(&identity);
        if let Some(reason) = strip::reason(&value, &identity, self.cluster) {
            self.leave_out(&called(), &reason);
            return;
        }
        let is_named = !identity.name.is_empty() || !text(metadata, "generateName").is_empty();
        if identity.kind.is_empty() || api_version.is_empty() || !is_named {
            diagnostics.push(incomplete(node, &identity));
            return;
        }
        if marks::are_in(&value) {
            diagnostics.push(marked(node, &identity));
            return;
        }
        let report = &mut self.all.report;
        strip::strip(&mut value, &identity, self.cluster, &mut self.tables, &mut |line| {
            report.push(Diagnostic::info([&called(), ": ", &line].concat()));
        });
        if let Some(reason) = strip::is_bare(&value, &identity) {
            self.leave_out(&called(), reason);
            return;
        }
        if !identity.name.is_empty() && self.is_second(&identity, node, diagnostics) {
            return;
        }
        let below = self.below(object, node, &identity);
        let is_openshift = self.options.dialect == Dialect::OpenShift;
        let survey = &mut self.all.survey;
        survey.add(&value, (identity, api_version), !is_openshift);
        let mut found = Diagnostics::new();
        let text = found.take(content::text_of(node, value));
        found.conceal(&[node.place()]);
        diagnostics.append(found);
        self.all.objects.extend(text.map(|text| Stripped {
            text,
            below,
            place: is_openshift.then(|| node.key_place()),
        }));
    }

    /// The comment lines below a document. Those below a Secret may hold one.
    fn below(&self, object: &Object, node: Cursor<'_>, identity: &Identity) -> Vec<String> {
        let is_secret = identity.group.is_empty() && identity.kind == "Secret";
        let is_document = self.are_documents && object.is_document;
        if is_document && !is_secret && !node.is_flow() {
            krm_yaml::comments_below(node)
        } else {
            Vec::new()
        }
    }

    fn leave_out(&mut self, called: &str, reason: &str) {
        let line = format!("left out {called}: {reason}");
        self.all.report.push(Diagnostic::info(line));
    }

    /// Reports an object that was read before.
    fn is_second(
        &mut self,
        identity: &Identity,
        node: Cursor<'_>,
        diagnostics: &mut Diagnostics,
    ) -> bool {
        let place = node.key_place();
        let first = match self.seen.entry(effective(identity.clone())) {
            Entry::Vacant(new) => {
                new.insert(place);
                return false;
            }
            Entry::Occupied(first) => first.get().clone(),
        };
        diagnostics.push(
            Diagnostic::error(format!("{identity} is in the input twice"))
                .at(place)
                .conceal(true)
                .related(first, "first here")
                .hint("remove one of them, or export the namespaces one by one"),
        );
        true
    }

    /// Reports the objects left out, and an error if no object is left.
    fn finish(mut self, diagnostics: &mut Diagnostics) -> All {
        if self.unselected > 0 {
            let count = self.unselected;
            let line = format!("left out {count} objects that the selector does not select");
            self.all.report.push(Diagnostic::info(line));
        }
        if self.all.objects.is_empty() && !diagnostics.has_errors() {
            let read = self.all.report.iter().next().is_some();
            let error = Diagnostic::error("there is no object to export");
            diagnostics.push(if read {
                error.hint("the messages above say why each object is left out")
            } else {
                error
                    .advise(Way::Arguments, "pipe objects in, as with `kubectl get all,configmaps,secrets -o json | krm-template export`, or name files with `-f`")
                    .advise(Way::Objects, "add objects to the package, or move the step after those that create them")
            });
        }
        self.all.survey.infer_namespace();
        self.all
    }
}

/// The identity of an object, and its API version.
fn named(object: &Value<'_>) -> (Identity, String) {
    let metadata = object.get("metadata");
    let api_version = text(Some(object), "apiVersion");
    let identity = Identity {
        group: identity::group(&api_version).to_owned(),
        kind: text(Some(object), "kind"),
        namespace: text(metadata, "namespace"),
        name: text(metadata, "name"),
    };
    (identity, api_version)
}

/// The text of a field; empty if there is none.
fn text(mapping: Option<&Value<'_>>, key: &str) -> String {
    let text = mapping.and_then(|mapping| mapping.str_at(&[key]));
    text.unwrap_or_default().to_owned()
}

/// The name of an object in the report.
pub(crate) fn called(identity: &Identity) -> String {
    match (identity.kind.as_str(), identity.name.as_str()) {
        (kind, "") => kind.to_owned(),
        (kind, name) => [kind, " `", name, "`"].concat(),
    }
}

/// An object with characters that export uses itself.
fn marked(node: Cursor<'_>, identity: &Identity) -> Diagnostic {
    let called = called(identity);
    Diagnostic::error(format!("{called} contains a character from U+FDD0 to U+FDD2"))
        .at(node.key_place())
        .conceal(true)
        .hint("remove it: Unicode reserves these characters for programs, and `export` uses them")
}

/// An object without a kind, an API version or a name.
fn incomplete(node: Cursor<'_>, identity: &Identity) -> Diagnostic {
    let missing = match (identity.kind.is_empty(), identity.name.is_empty()) {
        (true, true) => "neither `kind` nor `metadata.name`",
        (true, false) => "no `kind`",
        (false, true) => "no `metadata.name`",
        (false, false) => "no `apiVersion`",
    };
    Diagnostic::error(format!("the object has {missing}"))
        .at(node.key_place())
        .conceal(true)
        .hint("give objects as `kubectl get -o json` or `-o yaml` prints them")
}
