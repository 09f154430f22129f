//! The types of all stores: items, pages, events and errors.

use std::fmt;

use bytes::Bytes;

/// The number of a change, counted over all keys of a store. Zero is before the first change.
pub type Revision = u64;

/// A value with its key and the revision that wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The key, such as `/template.krm.dev/templates/shop/web`.
    pub key: String,
    /// The value, of at most [`MAX_VALUE_BYTES`].
    pub value: Bytes,
    /// The revision that wrote the value.
    pub revision: Revision,
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The items, in the order of their keys.
    pub items: Vec<Item>,
    /// The keys of the damaged items among them, which are left out.
    pub damaged: Vec<String>,
    /// The revision of the list.
    pub revision: Revision,
    /// The number of items with the prefix that follow.
    pub remaining: u64,
}

/// A change under the prefix of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An item was created or updated. Holds the previous value, if any.
    Put(Item, Option<Bytes>),
    /// An item was deleted. Holds its last value, and the revision of the deletion.
    Delete(Item),
    /// No change up to this revision is missing.
    Progress(Revision),
}

/// An error of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The key to create already exists.
    Exists,
    /// The key to update or delete does not exist.
    Missing,
    /// The item does not have the expected revision. Holds the current item.
    Stale(Item),
    /// The revision was compacted. Holds the newest revision.
    Compacted(Revision),
    /// The revision is in the future. Holds the newest revision.
    Future(Revision),
    /// The value is larger than [`MAX_VALUE_BYTES`].
    TooLarge,
    /// The stored value is damaged. The item can be deleted with its revision.
    Damaged {
        /// The key of the item.
        key: String,
        /// The revision of the item.
        revision: Revision,
    },
    /// The store is unavailable. The outcome of a write is unknown.
    Unavailable(String),
}

/// The maximum size of a value, in bytes.
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
            Self::Damaged { key, .. } => write!(f, "the value of `{key}` is damaged in the store"),
            Self::Unavailable(why) => write!(f, "the store is unavailable: {why}"),
        }
    }
}

impl std::error::Error for Error {}
