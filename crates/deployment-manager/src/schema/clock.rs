//! The time of checking values.

use std::cell::Cell;

use crate::schema::problem::Problem;

/// After so many steps, the time is looked at. A step is about a comparison.
const STEPS: usize = 64 * 1024;

/// Looks at the time now and then.
pub(super) struct Clock<'c> {
    is_late: Option<&'c dyn Fn() -> bool>,
    steps: Cell<usize>,
}

impl<'c> Clock<'c> {
    /// A clock that may tell when it is late.
    pub(super) const fn new(is_late: Option<&'c dyn Fn() -> bool>) -> Self {
        let steps = Cell::new(0);
        Self { is_late, steps }
    }

    /// Counts steps that are about to be taken.
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
