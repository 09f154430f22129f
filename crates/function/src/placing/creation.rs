//! Places what a functionConfig creates among the objects that are there.

use crate::input::config_place::ConfigPlace;
use crate::input::items::Items;
use crate::input::objects::{Decision, Objects};
use crate::ownership::Ownership;
use crate::ownership::matching::Matching;
use crate::placing::{PlacementContext, Placing};
use crate::plan::Plan;
use crate::update::rules::Rules;
use krm_core::files::{Entry, Files};
use krm_yaml::Cursor;
use krm_yaml::diagnostic::Diagnostics;

/// Whether there is a file on this machine that orchestrators do not send.
pub(crate) fn is_hidden(files: Option<&dyn Files>, file: &str) -> bool {
    let files = files.filter(|_| file.starts_with('/'));
    files.is_some_and(|files| files.entry(file) == Some(Entry::File))
}

/// The inputs of one functionConfig.
pub(crate) struct Run<'r, O> {
    pub(crate) objects: &'r O,
    pub(crate) items: &'r Items,
    pub(crate) place: &'r ConfigPlace,
    pub(crate) config: Cursor<'r>,
    /// The files of this machine.
    pub(crate) files: Option<&'r dyn Files>,
    /// Whether objects get marks; those in a Composition get them from it.
    pub(crate) writes_marks: bool,
}

impl<O: Objects> Run<'_, O> {
    /// The rules of the functionConfig for existing objects.
    pub(crate) fn rules(&self, diagnostics: &mut Diagnostics) -> Rules {
        let are_kept = self.items.storage.are_kept;
        let rules = Rules::read(self.config, are_kept, diagnostics);
        Rules { owned: rules.owned && self.writes_marks, ..rules }
    }

    /// Places the objects that `create` creates. What is found may depend on what is created: then
    /// they are created twice, the second time with this knowledge.
    pub(crate) fn placed(
        &self,
        plan: &Plan,
        rules: &Rules,
        diagnostics: &mut Diagnostics,
        create: impl Fn(&mut Placing<'_, O>, &Matching<'_>, &mut Diagnostics),
    ) -> Decision<O::ItemChange, O::New> {
        if diagnostics.has_errors() {
            return Decision::default();
        }
        let ownership = Ownership::new(self.objects, self.items, self.place, &plan.owns);
        let matching = Matching::new(self.items, &ownership);
        let mut is_second = false;
        loop {
            let mut found = Diagnostics::new();
            let context = PlacementContext {
                items: self.items,
                ownership: &ownership,
                matching: &matching,
                plan,
                rules,
                is_followed: self.place.is_followed,
                is_unnamed_of_several: self.place.is_unnamed_of_several,
                is_hidden: &|file| self.is_hidden(file),
            };
            let mut placing = Placing::new(self.objects, context);
            create(&mut placing, &matching, &mut found);
            if is_second || !matching.has_guessed() {
                let mut all = std::mem::take(diagnostics);
                all.append(found);
                let decision = placing.finish(&mut all);
                *diagnostics = all;
                return decision;
            }
            is_second = true;
            let created = placing.created();
            drop(placing);
            matching.learn(created);
        }
    }

    /// Whether there is a file on this machine that orchestrators do not send.
    fn is_hidden(&self, file: &str) -> bool {
        is_hidden(self.files, file)
    }
}
