//! The API of the Kubernetes Templates proposal and of OpenShift's Templates, served over HTTP.
//!
//! Each module uses only the modules below it:
//!
//! | module | purpose |
//! |---|---|
//! | `serve` | HTTP: from the request line to the response |
//! | [`deployments`] | Deployment Manager as a service |
//! | [`apply`] | changes to a cluster, with the permissions of the caller |
//! | `auth` | authentication and authorization |
//! | [`pages`] | HTML pages, rendered from plain data |
//! | [`process`] | expansion of Templates |
//! | `patch` | the four patch types, and managed fields |
//! | `object` | Templates as API objects: decoding, validation, system fields, tables |
//! | [`ops`] | limits, audit, logs, metrics, health checks, shutdown |
//! | `wire` | paths, queries, `Accept`, selectors |
//! | [`store`] | storage of objects |
//! | [`status`], [`groups`] | `Status` objects; the served API groups |
//! | [`client`] | the command-line client for deployments |

pub mod apply;
pub mod auth;
pub mod client;
pub mod deployments;
pub mod groups;
pub mod object;
pub mod ops;
pub mod pages;
pub mod patch;
pub mod process;
pub mod protobuf;
pub mod reload;
pub mod serve;
pub mod status;
pub mod store;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod testing;
pub mod tls;
pub mod wire;
