//! Counts work that minijinja does not charge, such as comparisons of lists and mappings.
//!
//! A list may contain another one twice, and this one a third one twice, and so on. Comparing two
//! such lists takes time that doubles with each level.

use std::cell::Cell;

use minijinja::{Error, ErrorKind, State};

/// How many items of lists and mappings one template may compare.
const MAX_COMPARED: usize = 2_000_000;

/// How much one template may put into lists, mappings and variables: 16 bytes of text are one.
const MAX_VISITED: usize = 20_000_000;

thread_local! {
    static VISITED: Cell<usize> = const { Cell::new(0) };
    static COMPARED: Cell<usize> = const { Cell::new(0) };
}

/// Charges for work that minijinja does not see.
pub(super) fn charge(state: &State<'_, '_>, work: usize) -> Result<(), Error> {
    state.consume_fuel(u64::try_from(work).unwrap_or(u64::MAX))
}

/// Starts to count.
pub(super) fn start() {
    VISITED.set(0);
    COMPARED.set(0);
}

/// Counts what is put into another value. It bounds the memory that values take.
pub(super) fn visit(count: usize) -> Result<(), Error> {
    let visited = VISITED.get().saturating_add(count);
    VISITED.set(visited);
    if visited > MAX_VISITED {
        return Err(Error::from(ErrorKind::OutOfFuel));
    }
    Ok(())
}

/// Counts a comparison of so many items. False if there were too many.
pub(super) fn compare(items: usize) -> bool {
    let compared = COMPARED.get().saturating_add(items).saturating_add(1);
    COMPARED.set(compared);
    compared <= MAX_COMPARED
}

/// Fails if there were too many comparisons.
pub(super) fn check() -> Result<(), Error> {
    if COMPARED.get() > MAX_COMPARED {
        return Err(Error::from(ErrorKind::OutOfFuel));
    }
    Ok(())
}
