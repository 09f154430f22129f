//! Authentication and authorization.
//!
//! | module | purpose |
//! |---|---|
//! | [`start`](mod@start) | setup from the arguments |
//! | `args` | arguments, and their valid combinations |
//! | [`reviews`] | the self subject reviews of `kubectl auth` |
//! | [`authenticator`], [`authorizer`] | authentication and authorization of a request |
//! | [`cluster`], `delegated` | delegation to a cluster, and its front proxy settings |
//! | [`front_proxy`], [`tokens`], [`rbac`] | front proxy headers, token files, RBAC files |
//! | [`site`] | requests that pages of other sites send |
//! | [`sessions`], `throttle` | logins in a browser; slowing down wrong tokens |
//! | `cache` | a cache with a bounded size and lifetime |
//! | [`request`] | users, and the attributes of requests |

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
pub mod sessions;
pub mod site;
pub mod start;
mod throttle;
pub mod tokens;

pub use args::{Args, AuthenticationMethod};
pub use authenticator::Authenticator;
pub use authorizer::Authorizer;
pub use request::{Attributes, Decision, User, is_health};
pub use sessions::Sessions;
pub use site::RequestOrigin;
pub use start::{Auth, start};
