//! The verbs of stored objects, and the expansion of Templates.
//!
//! An expansion runs on a thread for blocking work, a short one in OpenShift's group on the thread
//! of its request, with a permit of `flow_control::admission`: as many at once as there are processors, some
//! more in a queue, the others refused.

pub(crate) mod delete;
pub(crate) mod list;
pub(crate) mod objects;
pub(crate) mod process;
mod requester;
pub(crate) mod watch;
