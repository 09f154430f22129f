//! The API of the Kubernetes Templates proposal and of OpenShift's Templates, served over HTTP.
//!
//! Each module uses only the modules below it:
//!
//! | module | purpose |
//! |---|---|
//! | `serve` | HTTP: from the request line to the response |
//! | [`pages`] | HTML pages, rendered from plain data |
//! | [`process`] | expansion of Templates |
//! | `patch` | the four patch types, and managed fields |
//! | `object` | Templates as API objects: decoding, validation, system fields, tables |
//! | `wire` | paths, queries, `Accept`, selectors |

pub mod object;
pub mod pages;
pub mod patch;
pub mod process;
pub mod serve;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod testing;
pub mod wire;
