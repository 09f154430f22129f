//! The API of the Kubernetes Templates proposal and of OpenShift's Templates, served over HTTP.
//!
//! Each module uses only the modules below it:
//!
//! | module | purpose |
//! |---|---|
//! | `serve` | HTTP: the way of a request from its line to its answer |
//! | [`deployments`] | Deployment Manager as a service |
//! | [`apply`] | changes to a cluster, with the rights of the caller |
//! | `auth` | who sends a request, and whether they may |
//! | [`pages`] | pages for people, from plain data to HTML |
//! | [`process`] | expanding Templates |
//! | `patch` | the four kinds of patches, and the owners of fields |
//! | `object` | Templates as objects of an API: reading, checking, system fields, tables |
//! | [`ops`] | limits, audit, logs, metrics, health checks, the end of the process |
//! | `wire` | paths, queries, `Accept`, selectors |
//! | [`store`] | where objects are kept |
//! | [`status`], [`groups`] | errors as a client sees them; the groups that are served |
//! | [`client`] | the command line client of deployments |

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
pub mod tls;
pub mod wire;
