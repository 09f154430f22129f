//! The pages for people, from plain data to HTML.
//!
//! | file | purpose |
//! |---|---|
//! | `render` | the templates of the pages, and their data |
//! | `usage` | the same expansion elsewhere: commands and files, without secrets |
//! | `code` | texts in YAML with colours |
//! | `assets` | styles and the script |

mod assets;
mod code;
mod render;
mod usage;

pub use assets::{Asset, asset, hex};
pub use code::{object, text};
pub use render::{
    FormPage, Frame, Html, Link, List, LoginPage, MessagePage, ObjectView, Output, ResultView, Row,
    TONES, Tag, UploadPage, form, hashes, list, login, message, output, summary, upload,
};
pub use usage::{Usage, Use, quoted};
