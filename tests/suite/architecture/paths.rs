//! The paths that a source file names.

use std::str::FromStr;

use libtest_mimic::Failed;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// A path as a `use` or an expression names it, with the groups of a `use` spelled out.
pub(super) struct UsedPath {
    pub(super) parts: Vec<String>,
    pub(super) line: usize,
    /// Whether it is inside a `#[cfg(test)] mod`.
    pub(super) is_test: bool,
}

/// Every path in the source `text` of more than one part, and each name that a `use` brings.
pub(super) fn paths(text: &str) -> Result<Vec<UsedPath>, Failed> {
    let stream = TokenStream::from_str(text).map_err(|error| format!("no Rust: {error}"))?;
    let mut paths = Vec::new();
    collect(stream, false, &mut paths);
    Ok(paths)
}

fn collect(stream: TokenStream, is_test: bool, paths: &mut Vec<UsedPath>) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let is_start = matches!(token, TokenTree::Ident(_)) && !ends_in_colons(&tokens, at);
        if is_start && has_colons(&tokens, at + 1) {
            at = tree(&tokens, at, &[], is_test, paths);
            continue;
        }
        if let TokenTree::Group(group) = token
            && !is_visibility(group)
        {
            let is_test = is_test || opens_test_module(&tokens, at);
            collect(group.stream(), is_test, paths);
        }
        at += 1;
    }
}

/// Whether the group is that of a `pub(in path)`.
fn is_visibility(group: &Group) -> bool {
    let first = group.stream().into_iter().next();
    matches!(first, Some(TokenTree::Ident(word)) if word == "in")
}

/// Takes one tree of a `use` (`a::b`, `a::{b, c::d}`) at `at`, and returns where it ends.
fn tree(
    tokens: &[TokenTree],
    mut at: usize,
    before: &[String],
    is_test: bool,
    paths: &mut Vec<UsedPath>,
) -> usize {
    let mut parts = before.to_vec();
    let mut line = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            TokenTree::Ident(word) => {
                parts.push(word.to_string());
                line = word.span().start().line;
                at += 1;
                if !has_colons(tokens, at) {
                    break;
                }
                at += 2;
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && line > 0 => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let mut next = 0;
                while next < inner.len() {
                    next = match inner.get(next) {
                        Some(TokenTree::Ident(_)) => tree(&inner, next, &parts, is_test, paths),
                        _ => next + 1,
                    };
                }
                return at + 1;
            }
            _ => break,
        }
    }
    paths.push(UsedPath { parts, line, is_test });
    at
}

fn has_colons(tokens: &[TokenTree], at: usize) -> bool {
    let is_colon = |at| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
    is_colon(at) && is_colon(at + 1)
}

fn ends_in_colons(tokens: &[TokenTree], at: usize) -> bool {
    at >= 2 && has_colons(tokens, at - 2)
}

/// Whether the group at `at` is the body of a `#[cfg(test)] mod name`.
fn opens_test_module(tokens: &[TokenTree], at: usize) -> bool {
    let before = tokens.get(..at).unwrap_or_default();
    let is_item_end = |token: &&TokenTree| match token {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    let item: Vec<String> = before
        .iter()
        .rev()
        .take_while(|token| !is_item_end(token))
        .map(ToString::to_string)
        .collect();
    let is_module = item.get(1).is_some_and(|word| word == "mod");
    is_module && item.iter().any(|token| token.replace(' ', "") == "[cfg(test)]")
}
