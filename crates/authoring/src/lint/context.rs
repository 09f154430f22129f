//! The input of the rules.

use std::collections::BTreeSet;
use std::sync::Arc;

use krm_yaml::View;
use krm_yaml::source::Place;

use crate::lint::references::Reference;
use krm_template_engine::survey::Survey;
use krm_template_engine::{Look, Part, Template, parts};

/// The input of the rules: a Template, its expansion and its references.
pub(super) struct Context<'c> {
    pub(super) template: &'c Template,
    pub(super) survey: &'c Survey<'c>,
    pub(super) references: Vec<Reference>,
    /// The parameters that texts name which look like a reference.
    pub(super) nearly: BTreeSet<&'c str>,
}

impl Context<'_> {
    /// Whether a text is completely known: it contains no reference.
    pub(super) fn is_known(&self, text: &str) -> bool {
        parts(text, self.template.dialect())
            .all(|part| !matches!(part, Part::String { .. } | Part::Raw { .. }))
    }

    /// A text with a letter for each reference. If it is invalid, it is invalid with any value.
    pub(super) fn at_best(&self, text: &str) -> String {
        let part = |part: Part<'_>| match part {
            Part::String { .. } | Part::Raw { .. } => "a".to_owned(),
            _ => part.spelling().to_owned(),
        };
        parts(text, self.template.dialect()).map(part).collect()
    }
}

/// The place of a part of an object; for parts from an alias or a label, the place of the object.
pub(super) fn place(object: &Look<'_>, part: View<'_>) -> Place {
    match part.origin().or(object.view.origin()) {
        Some(node) => object.document.cursor(node).place(),
        None => Place { source: Arc::clone(object.document.source()), range: 0..0 },
    }
}
