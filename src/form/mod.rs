//! Forms for the values of a Template, as HTML: the fields that the server's pages have too, and a
//! file of its own without a server.
//!
//! All texts of a Template are escaped by one writer. No secret is in a form.

mod conditions;
mod controls;
mod fields;
mod file;
mod html;
mod model;
mod pattern;
#[cfg(test)]
mod tests;

pub use controls::{Checks, Filled};
pub use file::{STYLE, file};
pub use html::{escape, escaped, id, marked};
pub use model::{Choice, Control, Field, Form, Group, Lacking};
