//! The objects that are exported, stripped.

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use indexmap::map::Entry;

use crate::export::cluster::Cluster;
use crate::export::content::Content;
use crate::export::draft::Draft;
use crate::export::gather::{self, Found, MAX_OPEN, Object};
use crate::export::marks;
use crate::export::options::Options;
use crate::export::strip;
use crate::export::survey::Survey;
use krm_core::identity::{self, Identity};
use krm_core::scope::effective;
use krm_template_engine::Dialect;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result, Way};
use krm_yaml::source::Place;
use krm_yaml::{Cursor, SharedNode, View};

/// An object that is exported.
pub(super) struct Stripped<'g> {
    pub(super) content: Content<'g>,
    /// Where it was read, if an error may still be about it: a place keeps the whole input.
    pub(super) place: Option<Place>,
}

/// All objects that are exported.
pub(super) struct All<'g> {
    pub(super) objects: Vec<Stripped<'g>>,
    /// The survey of them, with their identities in the same order.
    pub(super) survey: Survey,
    /// The comments at the tops of files.
    pub(super) headers: Vec<String>,
    /// Remarks about objects left out and fields dropped.
    pub(super) report: Diagnostics,
}

/// The objects under some nodes, and facts about them.
pub(super) struct Gathered {
    objects: Vec<Found>,
    cluster: Cluster,
}

/// Finds the objects under some nodes.
pub(super) fn gather(roots: impl Iterator<Item = SharedNode>) -> Gathered {
    let mut cluster = Cluster::default();
    let objects = gather::objects(roots, MAX_OPEN, &mut |node, types| cluster.add(node, types));
    Gathered { objects, cluster }
}

/// Strips objects.
pub(super) fn all<'g>(
    gathered: &'g Gathered,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> All<'g> {
    let Gathered { objects, cluster } = gathered;
    let mut stripping = Stripping {
        options,
        tables: strip::Tables::of(options),
        cluster,
        all: All {
            objects: Vec::new(),
            survey: Survey::default(),
            headers: Vec::new(),
            report: Diagnostics::new(),
        },
        seen: IndexMap::default(),
        unselected: 0,
    };
    for object in objects {
        let object = match object {
            Ok(object) => object,
            Err(error) => {
                diagnostics.push(error.clone());
                continue;
            }
        };
        if object.is_open {
            let node = object.node.cursor();
            stripping.object(object, node, diagnostics, |draft| {
                Content::of_open(object, draft)
            });
        } else {
            let opened = object.node.open();
            let node = opened.cursor();
            let of = |draft: Draft<'_>| Content::of(object, node, draft);
            stripping.object(object, node, diagnostics, of);
        }
    }
    stripping.finish(diagnostics)
}

struct Stripping<'o, 'g> {
    options: &'o Options,
    tables: strip::Tables<'o>,
    cluster: &'g Cluster,
    all: All<'g>,
    /// Where each object was read first.
    seen: IndexMap<Identity, Place, RandomState>,
    /// How many objects the selector does not select.
    unselected: usize,
}

impl<'g> Stripping<'_, 'g> {
    /// Strips an object that was opened as this node. `content` makes its content of what is left.
    fn object<'v>(
        &mut self,
        object: &Object,
        node: Cursor<'v>,
        diagnostics: &mut Diagnostics,
        content: impl FnOnce(Draft<'v>) -> Result<Content<'g>>,
    ) {
        let Some(mut draft) = object.draft(node, diagnostics) else {
            return;
        };
        let view = draft.view();
        let metadata = view.get("metadata");
        let labels = || metadata?.get("labels");
        let selector = &self.options.selector;
        if !selector.is_empty() && !selector.fits(labels()) {
            self.unselected += 1;
            return;
        }
        let (identity, api_version) = named(view);
        let called = || called(&identity);
        if let Some(reason) = strip::reason(view, &identity, self.cluster) {
            self.leave_out(&called(), &reason);
            return;
        }
        let is_named = !identity.name.is_empty() || !text(metadata, "generateName").is_empty();
        if identity.kind.is_empty() || api_version.is_empty() || !is_named {
            diagnostics.push(incomplete(node, &identity));
            return;
        }
        let may_have_dollar = node.may_contain(b'$');
        // Without an escape, no ASCII text has a mark.
        let may_have_marks = may_have_dollar || !node.document().is_ascii();
        if may_have_marks && node.may_contain(marks::FIRST_BYTE) && marks::are_in(draft.view()) {
            diagnostics.push(marked(node, &identity));
            return;
        }
        let report = &mut self.all.report;
        strip::strip(
            draft.view_mut(),
            &identity,
            self.cluster,
            &mut self.tables,
            &mut |line| {
                report.push(Diagnostic::info([&called(), ": ", &line].concat()));
            },
        );
        if let Some(reason) = strip::is_bare(draft.view(), &identity) {
            self.leave_out(&called(), reason);
            return;
        }
        if !identity.name.is_empty() && self.is_second(&identity, node, diagnostics) {
            return;
        }
        let is_openshift = self.options.dialect == Dialect::OpenShift;
        let survey = &mut self.all.survey;
        let named = (identity, api_version);
        survey.add(draft.view(), may_have_dollar, named, !is_openshift);
        let mut found = Diagnostics::new();
        let content = found.take(content(draft));
        found.conceal(&[node.place()]);
        diagnostics.append(found);
        if let Some(content) = content {
            self.all.objects.push(Stripped {
                content,
                place: is_openshift.then(|| node.key_place()),
            });
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
    fn finish(mut self, diagnostics: &mut Diagnostics) -> All<'g> {
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
fn named(object: View<'_>) -> (Identity, String) {
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
fn text(mapping: Option<View<'_>>, key: &str) -> String {
    let text = mapping.and_then(|mapping| mapping.str_at(&[key]));
    text.unwrap_or_default().into_owned()
}

/// The name of an object in the report.
pub(super) fn called(identity: &Identity) -> String {
    match (identity.kind.as_str(), identity.name.as_str()) {
        (kind, "") => kind.to_owned(),
        (kind, name) => [kind, " `", name, "`"].concat(),
    }
}

/// An object with characters that export uses itself.
fn marked(node: Cursor<'_>, identity: &Identity) -> Diagnostic {
    let called = called(identity);
    Diagnostic::error(format!(
        "{called} contains a character from U+FDD0 to U+FDD2"
    ))
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
