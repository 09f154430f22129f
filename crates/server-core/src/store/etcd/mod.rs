//! A store in etcd v3, for several replicas.
//!
//! | file | purpose |
//! |---|---|
//! | `cluster` | the store: reads, writes, and watches that share the feeds of `follow` |
//! | `follow` | one watch of all keys, which resumes where it ended |
//! | `members` | the connection to one member of the cluster at a time |
//! | `answers` | the classification of etcd errors |

mod answers;
mod cluster;
mod follow;
mod members;

pub(super) use cluster::Etcd;
pub use members::EtcdOptions;
