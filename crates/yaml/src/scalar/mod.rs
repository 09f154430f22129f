//! One scalar: what its text means to Kubernetes, and how a text must be written to be read back.
//!
//! Kubernetes reads YAML with go-yaml v2 inside `sigs.k8s.io/yaml`; kustomize and kpt read it with
//! go-yaml v3. [`resolve`] follows the first, and what [`write_string`] writes is the same text to all of
//! them: tests ask them.

pub(crate) mod data;
mod decimal;
mod decode;
mod key;
mod pyyaml;
mod resolve;
mod timestamp;
mod write;

pub use data::{Scalar, Style};
pub(crate) use decode::decode_json;
pub(crate) use key::{float_key, integer_key};
pub(crate) use pyyaml::resolve_pyyaml;
pub use resolve::resolve;
pub(crate) use resolve::{is_integer, is_short_integer, is_surely_no_word, is_surely_string};
pub use write::{Context, write_string};
pub(crate) use write::{may_be_typed, write_scalar};

#[doc(hidden)]
pub use self::{
    decode::{DecodeError, decode},
    resolve::is_non_finite,
    timestamp::is_timestamp,
    write::{key_needs_explicit, write_json_string},
};
