//! The parts of the server that its API and the deployments share.
//!
//! Each module uses only the modules below it:
//!
//! | module | purpose |
//! |---|---|
//! | [`aggregation`] | what a server behind a kube-apiserver needs to know of its cluster |
//! | [`auth`] | authentication and authorization |
//! | [`tls`], [`reload`] | certificates; files that are read again when they change |
//! | [`panics`], [`lease`] | panics of requests; work of one server at a time |
//! | [`telemetry`] | audit, logs, metrics, health checks |
//! | [`flow_control`] | limits, permits, shutdown |
//! | [`store`] | storage of objects |
//! | [`protobuf`], [`units`] | the Kubernetes protobuf encoding; durations, sizes and times as texts |
//! | [`status`], [`groups`], [`conditions`] | `Status` objects; the served API groups; conditions |

pub mod aggregation;
pub mod auth;
pub mod conditions;
pub mod flow_control;
pub mod groups;
pub mod lease;
pub mod panics;
pub mod protobuf;
pub mod reload;
pub mod status;
pub mod store;
pub mod telemetry;
pub mod tls;
pub mod units;

pub use auth::{Attributes, User};
pub use flow_control::admission::{Admission, Class, Permit};
pub use flow_control::limits::Limits;
pub use flow_control::shutdown::{Phase, Shutdown};
pub use groups::{Group, Kind};
pub use status::{Cause, Details, Result, Status};
pub use store::{Item, Revision, Store};
pub use telemetry::measured_store::Measured;
pub use telemetry::metrics::Metrics;
pub use tls::Peer;
pub use units::rfc3339;
