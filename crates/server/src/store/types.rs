//! What every store speaks of: items, pages, events and errors.

use std::fmt;

use bytes::Bytes;

/// The number of a change; the changes of a store are counted together. Zero is before the first.
pub type Revision = u64;

/// A value with its key and the revision that wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The key, such as `/template.krm.dev/templates/shop/web`.
    pub key: String,
    /// What was written.
    pub value: Bytes,
    /// The revision that wrote the value.
    pub revision: Revision,
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The items, in the order of their keys.
    pub items: Vec<Item>,
    /// The revision of the store that the list shows.
    pub revision: Revision,
    /// How many items with the prefix follow.
    pub remaining: u64,
}

/// A change under the prefix of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An item was created or changed; with the value before it, if there was one.
    Put(Item, Option<Bytes>),
    /// An item was deleted: its key, its last value, and the revision of the deletion.
    Delete(Item),
    /// Nothing up to this revision is missing.
    Progress(Revision),
}

/// Why a store did not do what it was asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The key of a create exists.
    Exists,
    /// The key of an update or delete does not exist.
    Missing,
    /// The item has another revision than the caller expects.
    Stale(Item),
    /// The revision was compacted. Holds the newest one.
    Compacted(Revision),
    /// The revision lies in the future; the newest one is given.
    Future(Revision),
    /// The value is larger than [`MAX_VALUE_BYTES`].
    TooLarge,
    /// The store cannot be asked now. The outcome of a write is unknown.
    Unavailable(String),
}

/// The most bytes of a value.
pub const MAX_VALUE_BYTES: usize = 1 << 20;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists => f.write_str("the key exists"),
            Self::Missing => f.write_str("the key does not exist"),
            Self::Stale(_) => f.write_str("the item has changed"),
            Self::Compacted(_) => f.write_str("the revision has been compacted"),
            Self::Future(_) => f.write_str("the revision lies in the future"),
            Self::TooLarge => write!(f, "the value is larger than {MAX_VALUE_BYTES} bytes"),
            Self::Unavailable(why) => write!(f, "the store is unavailable: {why}"),
        }
    }
}

impl std::error::Error for Error {}
