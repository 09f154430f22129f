//! Who sends a request, and whether they may.
//!
//! | module | purpose |
//! |---|---|
//! | [`start`](mod@start) | everything as the arguments want it |
//! | `args` | arguments, and which of them go together |
//! | [`reviews`] | answers to `kubectl auth` |
//! | [`authenticator`], [`authorizer`] | the two questions |
//! | [`cluster`], `delegated` | a cluster that answers them, and its settings for front proxies |
//! | [`front_proxy`], [`tokens`], [`rbac`] | answers from headers and files |
//! | `cache` | answers that are remembered for a while |
//! | [`request`] | users, and what they want |

mod args;
pub mod authenticator;
pub mod authorizer;
mod cache;
pub mod cluster;
mod delegated;
pub mod front_proxy;
pub mod rbac;
pub mod request;
pub mod reviews;
pub mod start;
pub mod tokens;

pub use args::{Args, Way};
pub use authenticator::Authenticator;
pub use authorizer::Authorizer;
pub use request::{Attributes, Decision, User, is_health};
pub use start::{Auth, start};
