//! Limits of the texts that are read. A text beyond a limit is an error that names it.

/// The longest text that is read, in bytes: offsets must fit 32 bits.
pub const MAX_LENGTH: usize = u32::MAX as usize - 1;

/// How deep collections may be nested in one another.
pub const MAX_DEPTH: usize = 1_000;

/// The longest key without a `?` before it, in characters: readers look for its colon only so far.
pub const MAX_KEY_LENGTH: usize = 1_024;

/// How many nodes the aliases in one value may expand to.
pub const MAX_ALIASED_NODES: usize = 100_000;

/// How many bytes of scalars the aliases in one value may expand to.
pub const MAX_ALIASED_BYTES: usize = 16 * 1024 * 1024;

/// The beginning of the message about aliases that expand to more.
pub const ALIASES_EXPAND: &str = "aliases expand to more than";

/// How many merge keys may refer to one another.
pub const MERGE_DEPTH: usize = 16;
