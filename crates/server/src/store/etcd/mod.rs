//! A store in etcd v3, for several replicas.
//!
//! | file | purpose |
//! |---|---|
//! | `cluster` | the store: reads, writes, and watches that share what `follow` sees |
//! | `follow` | one watch of all keys, which resumes wherever it ended |
//! | `members` | the connection to one member of the cluster at a time |
//! | `answers` | what an error of etcd says of a request |

mod answers;
mod cluster;
mod follow;
mod members;

pub(super) use cluster::Etcd;
pub use members::EtcdOptions;
