//! The fields that are stripped from the objects of a kind.

use crate::fields::kinds::{
    CONTAINER_DEFAULTS, DEFAULTS, POD_DEFAULTS, POD_ROWS, PROBE_DEFAULTS, PROBES, ROWS, Row, When,
};
use crate::fields::system::FIELDS;
use crate::options::Options;
use crate::strip::system;
use crate::visit::{CONTAINERS, Tree};
use krm_core::identity::is_built_in;
use krm_core::{label_fields, pods};

/// How a field is stripped.
pub(super) enum Action {
    Drop,
    /// It is dropped if the row says so.
    Row(&'static Row),
    /// Labels of pods, or by which the object selects them.
    PodLabels,
    PodAnnotations,
    /// The labels by which a Job selects its pods.
    JobLabels,
}

/// The fields of a kind.
pub(super) struct Table {
    pub(super) fields: Tree<Action>,
    /// The conditions of its rows.
    conditions: Vec<When>,
}

impl Table {
    /// The table for a kind, without fields that `--keep` names.
    pub(super) fn of((group, kind): (&str, &str), options: &Options) -> Self {
        let mut table = Self { fields: Tree::of(std::iter::empty()), conditions: Vec::new() };
        for path in FIELDS.iter().filter(|path| !options.keeps(&[], path)) {
            table.fields.add(path, Action::Drop);
        }
        let template = |path: &[&str], key| [&path.join("/"), "/template/metadata/", key].concat();
        if let Some(maker) = pods::maker(kind) {
            let path = template(maker, "annotations");
            table.fields.add(&path, Action::PodAnnotations);
        }
        for path in label_fields::paths(group, kind) {
            table.fields.add(&path, Action::PodLabels);
        }
        if let Some(job) = system::job(kind) {
            table.fields.add(&template(job, "labels"), Action::JobLabels);
        }
        if !options.exact && is_built_in(group) {
            table.rows(kind, options);
        }
        table
    }

    fn rows(&mut self, kind: &str, options: &Options) {
        let mut add = |rows: &'static [Row], path: &[&str], kept: &[&str]| {
            let own = |row: &&Row| row.kinds.is_empty() || row.kinds.contains(&kind);
            let rows = rows.iter().filter(own);
            for row in rows.filter(|row| !options.keeps(kept, row.path)) {
                let keys = path.iter().copied().chain([row.path]);
                let path = keys.collect::<Vec<_>>().join("/");
                self.fields.add(&path, Action::Row(row));
                self.conditions.push(row.when);
            }
        };
        let pod = pods::spec(kind);
        add(ROWS, &[], &[]);
        if let Some(spec) = pod {
            add(POD_ROWS, spec, spec);
        }
        if options.keeps_defaults {
            return;
        }
        add(DEFAULTS, &[], &[]);
        let Some(spec) = pod else { return };
        add(POD_DEFAULTS, spec, spec);
        // Fields kept in `containers` are kept in all lists of containers.
        let kept = [spec, &["containers"]].concat();
        for list in CONTAINERS {
            let path = [spec, &[list]].concat();
            add(CONTAINER_DEFAULTS, &path, &kept);
            for probe in PROBES {
                let below = |path: &[&'static str]| [path, &[*probe]].concat();
                add(PROBE_DEFAULTS, &below(&path), &below(&kept));
            }
        }
    }

    /// Whether a row has such a condition.
    pub(super) fn asks(&self, is_such: impl Fn(When) -> bool) -> bool {
        self.conditions.iter().any(|when| is_such(*when))
    }
}
