//! Writing a changed value back in its place.
//!
//! [`update`](crate::update) compares a value with the text of a node, and edits the text where the
//! two differ. The new text is read again: the node must have its new value, and every other node its
//! old one.
//!
//! # Comments
//!
//! Comments belong to entries and items as in go-yaml, by their position:
//!
//! - *head*: the comment lines directly above an entry, at its column, without a blank line between;
//! - *line*: the comment on the line the entry is on;
//! - *foot*: the comment lines directly below it, at its column, if a blank line, less indented text
//!   or the end of the text follows (else they are the head of the next entry); and all below it
//!   that are indented deeper.
//!
//! Comments move with their entry or item, and are removed with it. A new entry is inserted after
//! the foot of the entry before it, with a blank line between, or above the head of the first
//! entry. A scalar that is set keeps all three. Comments between blank lines belong to no entry and
//! stay.
//!
//! # Layout
//!
//! New text has the layout of its neighbours: the same columns and line breaks in blocks; in braces
//! and brackets a line of its own if they have one; JSON in JSON. A scalar that is set keeps its
//! quotes or its block if they can hold the new text. `{}`, `[]` and null are filled in place. A
//! value that is read through an alias or a merge key is written out if it changes, and so is an
//! alias of a changed value. An alias of a changed value outside of the edited node is an error.

pub(crate) mod edits;
pub(crate) mod pairing;
pub(crate) mod update;
