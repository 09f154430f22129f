//! Forms for the values of a Template, as HTML: the fields, which the server's pages share, and a
//! standalone file.
//!
//! One writer escapes all texts of a Template. Forms contain no secrets.
//!
//! The fields are written without a template engine, so that the function does not contain one for
//! them. The other parts of the server's pages are templates of minijinja, which escapes as well.

mod conditions;
mod controls;
mod fields;
mod file;
mod html;
mod lines;
mod links;
mod model;
mod pattern;
#[cfg(test)]
mod tests;

pub use controls::{Checks, Filled};
pub use file::{CONTROLS, STYLE, file};
pub use html::{escape, escaped, id, marked};
pub use links::linked;
pub use model::{Choice, Control, Field, Form, Group, Lacking};
