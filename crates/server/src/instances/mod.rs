//! The controllers of TemplateInstances, which install Templates as applications.
//!
//! An instance is worked on when it changes, when its objects may have become ready, and again
//! after `--resync`, so that missing objects return. Everything is done with the permissions of its
//! requester. What will be created, and the generated values, are recorded before the first request,
//! so that a server that ends at any moment neither loses an object nor changes a password. Without
//! a cluster, an instance is only expanded.
//!
//! | module | purpose |
//! |---|---|
//! | `controller`, `work_queue` | who works on instances; the order in which they are due |
//! | `reconcile`, `reconcile_openshift` | one step of an instance of our group, and of OpenShift's |
//! | `objects`, `journal`, `events` | objects, steps, failures and events of an instance |
//! | `standing` | whether the groups of recorded users still count |
//! | `kept_values` | generated values that are kept |
//! | `chain` | instances that instances create |
//! | `deleter` | the user who deletes an instance |
//! | `preview` | what a change of an instance would do |
//! | `finalize` | the deletion of an instance and its objects |
//! | `validated` | instances of a server without a cluster |
//! | `expansion` | the objects of an instance |
//! | `used_templates`, `authors` | the Templates that an instance uses; who has changed them |
//! | `status` | conditions and objects in the status |
//! | `store` | what is stored about an instance |
//! | `revisions` | earlier versions of an instance |
//! | `orphans` | records of instances that are gone |
//! | `leader` | one of several servers at a time |

pub(crate) mod authors;
mod chain;
mod controller;
pub(crate) mod deleter;
mod events;
pub(crate) mod expansion;
mod finalize;
mod journal;
mod kept_values;
mod leader;
mod objects;
mod orphans;
pub(crate) mod preview;
mod reconcile;
mod reconcile_openshift;
pub(crate) mod revisions;
mod standing;
mod status;
mod store;
mod used_templates;
mod validated;
mod work_queue;

pub use controller::{Options, run};
