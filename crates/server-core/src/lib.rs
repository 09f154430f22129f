//! The parts of the server that its API and the deployments share.
//!
//! Each module uses only the modules below it:
//!
//! | module | purpose |
//! |---|---|
//! | [`aggregation`] | what a server behind a kube-apiserver needs to know of its cluster |
//! | [`auth`] | authentication and authorization |
//! | [`tls`], [`reload`] | certificates; files that are read again when they change |
//! | [`ops`] | limits, audit, logs, metrics, health checks, shutdown |
//! | [`store`] | storage of objects |
//! | [`protobuf`] | the Kubernetes protobuf encoding |
//! | [`status`], [`groups`], [`conditions`] | `Status` objects; the served API groups; conditions |

pub mod aggregation;
pub mod auth;
pub mod conditions;
pub mod groups;
pub mod ops;
pub mod protobuf;
pub mod reload;
pub mod status;
pub mod store;
pub mod tls;
