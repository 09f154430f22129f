//! The machine that a command line runs on: files, standard streams, messages on them, and other
//! programs.

#[cfg(feature = "deployment-manager")]
pub mod configuration;
pub mod console;
pub mod disk;
mod group;
pub mod interruption;
pub mod io;
pub mod io_error;
#[cfg(feature = "deployment-manager")]
pub mod python;
#[cfg(all(feature = "deployment-manager", target_os = "linux"))]
mod sandbox;
pub mod staged;
pub mod status;
pub mod subprocess;
