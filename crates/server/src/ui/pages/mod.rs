//! The web pages, from plain data to HTML.
//!
//! | file | purpose |
//! |---|---|
//! | `render` | the templates of the pages, and their data |
//! | `usage` | commands and files for the same expansion elsewhere, without secrets |
//! | `code` | YAML with syntax highlighting |
//! | `assets` | style sheets and the script |

mod assets;
mod code;
mod render;
mod usage;

pub(crate) use assets::asset;
pub(crate) use code::{object, text};
pub(crate) use render::{
    Branch, ChangedText, Data, Frame, TONES, data, hashes, render, rendered, summary,
};
pub(crate) use usage::{Usage, quoted};
