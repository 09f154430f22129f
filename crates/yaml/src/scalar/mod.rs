//! One scalar: what its text means to Kubernetes, and how a text must be written to be read back.
//!
//! Kubernetes reads YAML with go-yaml v2 inside `sigs.k8s.io/yaml`; kustomize and kpt read it with
//! go-yaml v3. `resolve` follows the first, `decode` the part they share, and what
//! `write_string` writes is the same text to all of them (`tests/go_oracle.rs` asks them).

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
pub use decode::{DecodeError, decode};
pub(crate) use key::{float_key, integer_key};
pub use pyyaml::resolve_pyyaml;
pub(crate) use resolve::{is_integer, is_short_integer, is_surely_no_word, is_surely_string};
pub use resolve::{is_non_finite, resolve};
pub use timestamp::is_timestamp;
pub(crate) use write::may_be_typed;
pub use write::{Context, key_needs_explicit, write_json_string, write_scalar, write_string};
