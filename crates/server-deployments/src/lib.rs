//! Deployments of the server.
//!
//! Each module uses only the modules below it:
//!
//! | module | purpose |
//! |---|---|
//! | [`client`] | the command-line client for deployments |
//! | [`deployments`] | Deployment Manager as a service |
//! | [`apply`] | changes to a cluster, with the permissions of the caller |

pub mod apply;
pub mod client;
pub mod deployments;
