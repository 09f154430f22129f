//! Editing by field path: set, put, replace, insert, remove, rename, push, append.
//!
//! An [`Editor`] holds the value of one node, and its operations change that value in order, as
//! they are called: each sees what those before it have done. Only when all are done is the value
//! compared with the text it was read from, and the text edited where the two differ. So all
//! operations compose, and what cannot be done is an [error](crate::diagnostic::Diagnostic) that
//! names the path. [`Edits`] brings editors of several nodes of a document together, and appends.
//!
//! What was written is read again, as a whole: every node edited must hold its new value and every
//! other what it held before.
//!
//! # Comments
//!
//! Comments belong to entries and items as go-yaml has it, by what they stand beside:
//!
//! - *head*: the comment lines directly above an entry, at its column, without a blank line between;
//! - *line*: the comment on the line the entry is on;
//! - *foot*: the comment lines directly below it, at its column, if a blank line, less indented text
//!   or the end of the text follows (else they are the head of the next entry); and all below it
//!   that are indented deeper.
//!
//! They go where their entry goes, also an item that changes its place: who removes it removes
//! them; what is inserted stands behind the foot of the entry before it, with a blank line between,
//! or above the head of the one that was first. A scalar that is set
//! keeps all three. Comments between blank lines belong to no entry and stay.
//!
//! # Layout
//!
//! New text is laid out as its neighbours are: the same columns and line breaks in blocks; in
//! braces and brackets on lines of its own where they are; as JSON among JSON. A set scalar keeps
//! its quotes or its block where they can hold the new text. `{}`, `[]` and null are filled in
//! place. What is read by an alias or a merge key is written out where it is changed, and so is an
//! alias of something that is changed. If that alias stands outside of the edited node, it is an
//! error.

pub(crate) mod editor;
pub(crate) mod edits;
pub(crate) mod pairing;
pub(crate) mod update;

pub use editor::{Editor, Spot};
pub use edits::Edits;
