//! The full path: reads any YAML with granit-parser.

use std::sync::Arc;

use granit_parser::{Event, Parser, options};

use crate::diagnostic::{Diagnostic, Result};
use crate::limits::{MAX_DEPTH, MAX_KEY_LENGTH};
use crate::read::characters::Characters;
use crate::read::document::{Deferred, Document};
use crate::read::events::Builder;
use crate::read::go_compat::Respelled;
use crate::read::merges::check_merges;
use crate::read::strict;
use crate::read::syntax::{syntax_error, too_deep};
use crate::read::text::{check_text, fast};
use crate::source::Source;
use crate::table::Node;

impl Document {
    /// Reads a YAML stream or a JSON text.
    ///
    /// # Errors
    /// If the text is not YAML; at the place where reading stopped.
    pub fn parse(source: &Arc<Source>) -> Result<Self> {
        if let Some(table) = source.table() {
            return Ok(Self::new(source, table.clone()));
        }
        let characters = check_text(source)?;
        Self::parse_checked(source, characters)
    }

    /// As [`parse`](Self::parse), of a text that nobody reads again.
    pub(crate) fn parse_once(source: &Arc<Source>) -> Result<Self> {
        match fast(source.text(), check_text(source)?) {
            Some(table) => Ok(Self::new(source, table)),
            None => Self::parse_fully(source),
        }
    }

    /// As [`parse`](Self::parse), of a text that has these characters.
    pub(super) fn parse_checked(source: &Arc<Source>, characters: Characters) -> Result<Self> {
        match fast(source.text(), characters) {
            Some(table) => {
                source.keep(&table);
                Ok(Self::new(source, table))
            }
            None => Self::parse_fully(source),
        }
    }

    /// Reads a text that the fast paths do not read.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub(crate) fn parse_fully(source: &Arc<Source>) -> Result<Self> {
        strict::check_characters(source)?;
        let error = match Self::parse_as(source, source.text()) {
            Ok(document) => return Ok(document),
            Err(error) => error,
        };
        let Some(respelled) = Respelled::new(source) else {
            return Err(error);
        };
        match Self::parse_as(source, &respelled.text) {
            Ok(document) if respelled.is_confirmed(&document) => Ok(document),
            // The real error is further down.
            Err(other) if start_of(&other) > start_of(&error) => Err(other),
            _ => Err(error),
        }
    }

    /// Reads `text`, in which some of the source may be spelled otherwise.
    fn parse_as(source: &Arc<Source>, text: &str) -> Result<Self> {
        let options = options! {
            emit_anchor_events: true,
            emit_comments: false,
            flow_nesting_limit: MAX_DEPTH,
            block_nesting_limit: MAX_DEPTH,
            simple_key_max_lookahead: MAX_KEY_LENGTH,
        };
        let mut builder = Builder::new(text);
        for event in Parser::new_from_str_with_options(text, options) {
            let (event, span) = event.map_err(|error| syntax_error(source, &error))?;
            builder.event(&event, &span);
            if let (Event::Anchor(..) | Event::Alias(_), Some(range)) = (&event, span.byte_range())
            {
                strict::check_name(source, range)?;
            }
            if let Some(tag) = span.tag_span().and_then(|tag| tag.byte_range()) {
                strict::check_tag(source, tag)?;
            }
            // The parser's own limits are one for braces and one for blocks.
            if builder.depth() > MAX_DEPTH {
                let at = span.byte_range().unwrap_or_default().start;
                return Err(too_deep(source, at));
            }
        }
        let has_anchors = builder.nodes.iter().any(Node::is_anchored);
        let referred = builder.referred();
        let document = Self {
            source: Arc::clone(source),
            is_json: false,
            has_anchors,
            is_simple: false,
            deferred: Deferred::default(),
            nodes: builder.nodes,
            roots: builder.roots,
            referred,
            key_targets: builder.key_targets,
            has_tag_directives: memchr::memmem::find(text.as_bytes(), b"%TAG").is_some(),
        };
        strict::check(&document)?;
        check_merges(&document)?;
        Ok(document)
    }
}

fn start_of(error: &Diagnostic) -> Option<usize> {
    error.place.as_ref().map(|place| place.range.start)
}
