//! Storage of objects: in memory, in a file, or in etcd.
//!
//! A store has one revision counter for all its keys, with the semantics of etcd's `mod_revision`.
//!
//! | file | purpose |
//! |---|---|
//! | `dump` | dumping all items of a store, and loading them into another one |
//! | `any` | [`Store`]: one of the three, with the size limit of a value |
//! | `etcd` | etcd v3, for several replicas (feature `etcd`) |
//! | `file` | one file, with `redb` |
//! | `salvage` | checking a file, and recovering undamaged objects |
//! | `disk` | opening, writing and replacing that file |
//! | `contents` | its tables |
//! | `record` | their rows, with checksums |
//! | `guard` | reading a damaged file without panics |
//! | `memory` | memory only |
//! | `objects` | the items of `memory` and `file`, and the rules for writes |
//! | `feed` | the last events, and the watches on them |
//! | `types` | items, pages, events, errors |
//! | `kinds` | the kinds of stored things |
//!
//! Each store compares and swaps, and has a watch from any revision that is still known. One suite
//! of tests runs on all of them.

mod any;
mod contents;
mod disk;
mod dump;
#[cfg(feature = "etcd")]
mod etcd;
mod feed;
mod file;
mod guard;
mod kinds;
mod memory;
mod objects;
mod record;
mod salvage;
mod types;

pub use any::Store;
pub use dump::{dump, dump_head, dump_line, load};
#[cfg(feature = "etcd")]
pub use etcd::EtcdOptions;
pub use feed::Watch;
pub use kinds::{KINDS, is_known};
pub use salvage::{Report, check, compact, salvage};
pub use types::{Error, Event, Item, MAX_VALUE_BYTES, Page, Revision};
