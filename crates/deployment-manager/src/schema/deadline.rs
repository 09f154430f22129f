//! The time of checking values.

use std::cell::Cell;

use crate::schema::problem::Problem;

/// The steps between two checks of the time. A step is about a comparison.
const STEPS: usize = 64 * 1024;

/// Checks the time every [`STEPS`] steps.
pub(super) struct Deadline<'c> {
    is_late: Option<&'c dyn Fn() -> bool>,
    steps: Cell<usize>,
}

impl<'c> Deadline<'c> {
    /// A deadline that has passed when `is_late` returns true.
    pub(super) const fn new(is_late: Option<&'c dyn Fn() -> bool>) -> Self {
        let steps = Cell::new(0);
        Self { is_late, steps }
    }

    /// Counts steps that are about to be taken, and checks the time.
    ///
    /// # Errors
    /// If it is late.
    pub(super) fn take(&self, steps: usize) -> Result<(), Problem> {
        let steps = self.steps.get().saturating_add(steps);
        self.steps.set(steps % STEPS);
        if steps >= STEPS && self.is_late.is_some_and(|is_late| is_late()) {
            return Err(Problem::Late);
        }
        Ok(())
    }
}
