//! Finds mistakes in Templates, in the objects beside them, and in what Kustomizations and
//! Compositions build.

mod file;
mod kustomizations;
mod related_objects;

use std::collections::{BTreeMap, BTreeSet};

pub use self::file::File;
pub use self::kustomizations::Machine;
pub use self::related_objects::Kind;

use self::kustomizations::Builds;
use crate::listing::Listings;
use crate::objects::define;
use krm_core::files::join;
use krm_template_authoring::lint;
use krm_template_composition::is_kustomization;
use krm_template_object_check::Checker;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Way};

/// The result of a check: the numbers of checked files, and the findings.
#[derive(Default)]
pub struct Checked {
    /// How many of each kind were checked.
    pub counts: BTreeMap<Kind, usize>,
    /// The findings.
    pub findings: Diagnostics,
    /// A sentence about the checks that were left out.
    pub not_checked: Option<String>,
    /// Messages about files that were skipped.
    pub skipped: Vec<String>,
}

/// Checks files and the Kustomizations at these paths. Problems with the files themselves are
/// reported to `trouble`.
pub fn check(
    mut files: Vec<File>,
    mut kustomizations: Vec<String>,
    disabled: &[String],
    machine: &Machine<'_>,
    server: &mut Checker,
    trouble: &mut Diagnostics,
) -> Checked {
    for document in files.iter().flat_map(|file| &file.document) {
        define(document, server);
    }
    let mut listings = Listings::new(machine.files);
    let mut builds = Builds::new(machine);
    let mut built = Diagnostics::new();
    let read = kustomizations::check(
        &mut kustomizations,
        &files,
        &mut listings,
        &mut builds,
        server,
        &mut built,
    );
    // The files hold the same objects.
    server.forget_skipped();
    let known: BTreeSet<String> = files.iter().map(|file| join(".", &file.path)).collect();
    let is_yaml = |file: &str| [".yaml", ".yml", ".json"].iter().any(|end| file.ends_with(end));
    for path in read.others.union(&read.composed) {
        if is_yaml(path)
            && !is_kustomization(path)
            && !known.contains(path)
            // A build has read it, so it may be read.
            && let Some(source) = trouble.take(machine.files.source(path, "/"))
        {
            let file = File::parse(path.clone(), source, false);
            if let Ok(document) = &file.document {
                define(document, server);
            }
            files.push(file);
        }
    }
    for file in &mut files {
        file.is_composed = read.composed.contains(&join(".", &file.path));
    }
    let mut check = Check {
        disabled,
        listings,
        checked: Checked::default(),
        others: Vec::new(),
        without_template: Vec::new(),
        has_patches: false,
    };
    for file in files {
        check.file(file, server, trouble);
    }
    check.check_others(&mut builds, machine, server);
    check.count(Kind::Kustomization, kustomizations.len());
    check.add_new(built);
    check.report_missing(trouble);
    let mut checked = check.checked;
    checked.findings.dedup();
    checked.findings.address(Way::Objects);
    checked.not_checked = server.not_checked();
    checked
}

/// A check of several files.
struct Check<'a> {
    disabled: &'a [String],
    listings: Listings<'a>,
    checked: Checked,
    /// Files that may contain objects other than Templates.
    others: Vec<File>,
    /// Named files that do not contain a Template.
    without_template: Vec<String>,
    /// Whether a patch was skipped.
    has_patches: bool,
}

impl Check<'_> {
    /// Checks the Templates in a file.
    fn file(&mut self, file: File, server: &Checker, trouble: &mut Diagnostics) {
        let is_named = file.is_named;
        let Some(checked) = check_one(&file, self.disabled, server) else {
            return;
        };
        let path = file.path.clone();
        if checked.templates == 0 {
            if is_named {
                self.without_template.push(path);
            }
            self.others.push(file);
            return;
        }
        if let Some(kustomization) = self.listings.that_patches_with(&path) {
            let message = format!("`{path}` is a patch listed in `{kustomization}`");
            if !is_named {
                self.checked.skipped.push(format!("{message}, and is skipped"));
                self.has_patches = true;
                return;
            }
            trouble
                .push(Diagnostic::warning(message).hint(
                    "check the Template that it patches; patches in a directory are skipped",
                ));
        }
        self.others.push(file);
        self.count(Kind::Template, checked.templates);
        self.checked.findings.append(checked.findings);
    }

    fn count(&mut self, kind: Kind, count: usize) {
        if count > 0 {
            *self.checked.counts.entry(kind).or_default() += count;
        }
    }

    /// Checks the objects that use the Templates.
    fn check_others(
        &mut self,
        builds: &mut Builds<'_>,
        machine: &Machine<'_>,
        server: &mut Checker,
    ) {
        let mut found = Diagnostics::new();
        let mut checked = BTreeSet::new();
        let counts = related_objects::check(
            &self.others,
            &mut self.listings,
            builds,
            machine,
            server,
            &mut found,
            &mut checked,
        );
        for (kind, count) in counts {
            self.count(kind, count);
        }
        self.without_template.retain(|path| !checked.contains(path));
        self.add_new(found);
    }

    /// Adds findings that are not disabled and not reported yet at the same location.
    fn add_new(&mut self, mut found: Diagnostics) {
        let place = |one: &Diagnostic| {
            let place = one.place.as_ref();
            place.map(|at| format!("{}:{}", join(".", at.source.name()), at.range.start))
        };
        let key = |one: &Diagnostic| format!("{} {}", place(one).unwrap_or_default(), one.message);
        let known = self.checked.findings.iter();
        let mut said: BTreeSet<_> = known.clone().map(key).collect();
        let same = known.filter(|one| one.rule.is_some_and(lint::finds_refusals));
        let same: BTreeSet<_> = same.filter_map(place).collect();
        found.retain(|one| {
            let is_disabled = self.disabled.iter().any(|name| one.rule == Some(name));
            let is_refusal = matches!(one.rule, Some("object-type" | "object-refused"));
            let is_found = is_refusal && place(one).is_some_and(|place| same.contains(&place));
            !is_disabled && !is_found && said.insert(key(one))
        });
        self.checked.findings.append(found);
    }

    /// Reports named files that contain nothing to check.
    fn report_missing(&self, trouble: &mut Diagnostics) {
        for file in &self.without_template {
            let message = format!("`{file}` does not contain a Template");
            trouble.push(Diagnostic::warning(message));
        }
        let is_empty = self.checked.counts.is_empty();
        if is_empty && !trouble.has_errors() {
            let hint = if self.has_patches {
                "patches listed in a kustomization are skipped: check the Templates that they patch"
            } else {
                "a Template has `kind: Template` and the `apiVersion` `template.krm.dev/v1alpha1`, `template.openshift.io/v1` or `v1`"
            };
            trouble.push(Diagnostic::error("found no Template to check").hint(hint));
        }
    }
}

/// The findings in a file; nothing for an unreadable file that need not contain a Template.
fn check_one(file: &File, disabled: &[String], server: &Checker) -> Option<lint::Checked> {
    let error = match &file.document {
        Ok(document) => return Some(lint::check(document, disabled, Some(server))),
        Err(error) => error.as_ref().clone().rule("syntax"),
    };
    let may_hold_template = file.is_named || lint::may_hold_template(file.source.text());
    let is_disabled = disabled.iter().any(|name| error.rule == Some(name));
    // Counts as one Template.
    (may_hold_template && !is_disabled)
        .then(|| lint::Checked { templates: 1, findings: Box::new(error).into() })
}
