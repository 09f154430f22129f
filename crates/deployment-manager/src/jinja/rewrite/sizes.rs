//! Refuses what would exhaust the stack of the engine, which reads operators and conditions in a row
//! as levels of a tree.

use std::ops::Range;

use super::tags::Tag;
use super::tokens::{Kind, Tokens};

/// The most words and signs between two commas, with those of the brackets around.
const MAX_WORDS: usize = 1_000;

/// The most `elif` of an `if`, with those of the `if`s around.
const MAX_CONDITIONS: usize = 500;

/// A tag that is too large: a message, a hint, and where it becomes too large.
type TooLarge = (String, &'static str, Range<usize>);

/// The `if`s around the next tag.
#[derive(Default)]
pub(super) struct Sizes {
    /// The number of `elif` of each.
    conditions: Vec<usize>,
    /// The number of all of them.
    total: usize,
}

impl Sizes {
    /// What is too large in the next tag.
    pub(super) fn check(&mut self, tokens: &Tokens<'_>, tag: &Tag) -> Option<TooLarge> {
        if tag.is_statement {
            match tokens.name().map(|name| name.text) {
                Some("if") => self.conditions.push(0),
                Some("elif") => {
                    if let Some(count) = self.conditions.last_mut() {
                        *count += 1;
                        self.total += 1;
                    }
                }
                Some("endif") => {
                    self.total -= self.conditions.pop().unwrap_or_default();
                }
                _ => {}
            }
        }
        if self.total > MAX_CONDITIONS {
            let message = format!("more than {MAX_CONDITIONS} `elif` in a row");
            return Some((
                message,
                "look the value up in a mapping",
                tag.start..tag.end,
            ));
        }
        let at = tag.start + long(tokens)?;
        let message = format!("an expression has more than {MAX_WORDS} words and signs");
        Some((message, "split it with `{% set %}`", at..at))
    }
}

/// Where an expression becomes too long.
fn long(tokens: &Tokens<'_>) -> Option<usize> {
    let mut around = Vec::new();
    let (mut outside, mut count) = (0, 0);
    for token in &tokens.list {
        match (token.kind, token.text) {
            (Kind::Sign, "(" | "[" | "{") => {
                around.push(count + 1);
                outside += count + 1;
                count = 0;
            }
            (Kind::Sign, ")" | "]" | "}") => {
                count = around.pop().unwrap_or_default();
                outside -= count;
            }
            (Kind::Sign, ",") => count = 0,
            _ => count += 1,
        }
        if outside + count > MAX_WORDS {
            return Some(token.start);
        }
    }
    None
}
