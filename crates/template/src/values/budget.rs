//! The limits of one expansion: objects, bytes and time.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use krm_yaml::diagnostic::Diagnostic;

/// The limits of one expansion. The bytes are counted before memory is asked for: those of values
/// each time one is put in place of a reference, of labels each time they are set, and of messages.
///
/// An expansion that exceeds one ends with an error, and [`overrun`](Self::overrun) says which.
pub struct Budget<'b> {
    objects: Counter,
    bytes: Counter,
    is_late: &'b (dyn Fn() -> bool + Sync),
    steps: AtomicUsize,
    overrun: OnceLock<Overrun>,
}

/// The maximum number of bytes of an expansion without limits of its own.
pub const MAX_BYTES: usize = 512 * 1024 * 1024;
/// After so many steps, the time is looked at. A step is about a byte or a comparison.
const STEPS: usize = 64 * 1024;

/// The limit that an expansion exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overrun {
    /// Objects; with how many there may be.
    Objects(usize),
    /// Bytes; with how many there may be.
    Bytes(usize),
    /// Time; how much of it, the caller knows.
    Time,
}

struct Counter {
    left: AtomicUsize,
    most: usize,
}

impl Counter {
    const fn new(most: usize) -> Self {
        Self { left: AtomicUsize::new(most), most }
    }

    fn take(&self, count: usize) -> bool {
        let less = |left: usize| left.checked_sub(count);
        self.left.fetch_update(Relaxed, Relaxed, less).is_ok()
    }
}

impl<'b> Budget<'b> {
    /// A budget for one expansion. `is_late` is asked once for each object, parameter, label and
    /// message, and after each 64 KiB of other work.
    #[must_use]
    pub const fn new(objects: usize, bytes: usize, is_late: &'b (dyn Fn() -> bool + Sync)) -> Self {
        Self {
            objects: Counter::new(objects),
            bytes: Counter::new(bytes),
            is_late,
            steps: AtomicUsize::new(0),
            overrun: OnceLock::new(),
        }
    }

    /// The limit that the expansion exceeded, if it did.
    pub fn overrun(&self) -> Option<Overrun> {
        self.overrun.get().copied()
    }

    /// How many objects were created.
    pub fn created(&self) -> usize {
        self.objects.most - self.objects.left.load(Relaxed)
    }

    /// Whether there are bytes and time left.
    pub(crate) fn goes_on(&self) -> bool {
        if self.overrun.get().is_none() && (self.is_late)() {
            self.overrun.get_or_init(|| Overrun::Time);
        }
        self.overrun.get().is_none()
    }

    /// Counts steps that are about to be taken. Returns whether there are bytes and time left, as
    /// far as this is known.
    pub(crate) fn works(&self, steps: usize) -> bool {
        let before = self.steps.fetch_add(steps, Relaxed);
        if before / STEPS == before.wrapping_add(steps) / STEPS {
            return self.overrun.get().is_none();
        }
        self.goes_on()
    }

    /// Counts an object. Returns whether there may be so many.
    pub(crate) fn take_object(&self) -> bool {
        let fits = self.goes_on() && self.objects.take(1);
        if !fits {
            self.overrun.get_or_init(|| Overrun::Objects(self.objects.most));
        }
        fits
    }

    /// Counts bytes. Returns whether there may be so many.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        let fits = self.overrun.get().is_none() && self.bytes.take(bytes);
        if !fits {
            self.overrun.get_or_init(|| Overrun::Bytes(self.bytes.most));
        }
        fits
    }
}

impl fmt::Debug for Budget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("objects", &self.objects.left)
            .field("bytes", &self.bytes.left)
            .field("overrun", &self.overrun)
            .finish_non_exhaustive()
    }
}

impl Overrun {
    /// The error of an expansion that ended early.
    pub(crate) fn diagnostic(self) -> Diagnostic {
        match self {
            Self::Objects(most) => {
                Diagnostic::error(format!("the Template creates more than {most} objects"))
                    .field("objects")
                    .hint("split the Template")
            }
            Self::Bytes(most) => {
                Diagnostic::error(format!("the values in the objects take more than {most} bytes"))
                    .field("objects")
                    .hint("use shorter values, or refer to long ones less often")
            }
            Self::Time => Diagnostic::error("the expansion takes too long").field("objects"),
        }
    }
}

/// Whether there are bytes and time left, if there is a budget.
pub(crate) fn goes_on(budget: Option<&Budget<'_>>) -> bool {
    budget.is_none_or(Budget::goes_on)
}

/// Counts steps if there is a budget. Returns whether to go on.
pub(crate) fn works(budget: Option<&Budget<'_>>, steps: usize) -> bool {
    budget.is_none_or(|budget| budget.works(steps))
}

/// Counts bytes if there is a budget. Returns whether there may be so many.
pub(crate) fn take(budget: Option<&Budget<'_>>, bytes: usize) -> bool {
    budget.is_none_or(|budget| budget.take(bytes))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;

    use super::{Budget, Overrun, STEPS};

    #[test]
    fn the_first_overrun_counts_and_ends_all() {
        let budget = Budget::new(1, 10, &|| false);
        assert!(budget.take(10) && budget.take_object() && budget.goes_on());
        assert!(!budget.take(1));
        assert!(!budget.take_object() && !budget.take(0) && !budget.goes_on());
        assert_eq!(budget.overrun(), Some(Overrun::Bytes(10)));
    }

    #[test]
    fn the_time_is_looked_at_after_so_many_steps() {
        let asked = AtomicUsize::new(0);
        let is_late = || asked.fetch_add(1, Relaxed) >= 2;
        let budget = Budget::new(1, 10, &is_late);
        let took = (0..1_000).take_while(|_| budget.works(1_000)).count();
        assert_eq!((took, asked.load(Relaxed)), (3 * STEPS / 1_000, 3));
        assert!(!budget.works(1));
        let budget = Budget::new(1, 10, &|| true);
        assert!(budget.works(STEPS - 1) && !budget.works(10 * STEPS));
    }

    #[test]
    fn objects_and_time_are_counted() {
        let budget = Budget::new(1, 10, &|| false);
        assert!(budget.take_object() && !budget.take_object());
        assert_eq!(budget.overrun(), Some(Overrun::Objects(1)));
        let budget = Budget::new(1, 10, &|| true);
        assert!(!budget.goes_on());
        assert_eq!(budget.overrun(), Some(Overrun::Time));
    }
}
