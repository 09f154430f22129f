//! Edits of a text, applied when it is printed.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Result};
use crate::lines::ends_line;
use crate::read::document::Document;
use crate::source::Source;

/// A byte range of a text and what replaces it.
///
/// ```
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, Edit, Edited};
///
/// let document = Document::parse(&Source::new("a.yaml", "kind: Pod\n"))?;
/// let licence = Edit::insert(0, "# Apache-2.0\n".to_owned());
/// assert_eq!(Edited::new(&document, vec![licence])?.to_string(), "# Apache-2.0\nkind: Pod\n");
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Edit {
    /// Where the range begins, in bytes.
    pub start: usize,
    /// Where it ends, in bytes, exclusive.
    pub end: usize,
    /// The text in its place.
    pub text: String,
}

impl Edit {
    /// Puts `text` at an offset.
    #[must_use]
    pub const fn insert(at: usize, text: String) -> Self {
        Self { start: at, end: at, text }
    }
}

/// A text with edits. The text between the edits is not copied until it is printed.
///
/// ```
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, Edited, ItemKeys, update};
///
/// let document = Document::parse(&Source::new("a.yaml", "kind: Pod # one\n"))?;
/// let kind = document.roots().next().and_then(|root| root.get("kind")).expect("a kind");
/// let edited = Edited::new(&document, update(kind, "Job".into(), &ItemKeys::NONE)?)?;
/// assert!(edited.is_changed());
/// assert_eq!(edited.pieces().collect::<String>(), "kind: Job # one\n");
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Debug)]
pub struct Edited {
    source: Arc<Source>,
    edits: Vec<Edit>,
}

impl Edited {
    /// The text of `document` after `edits`.
    ///
    /// # Errors
    /// If the text is no longer valid YAML: an edit may remove the anchor of an alias.
    pub fn new(document: &Document, edits: Vec<Edit>) -> Result<Self> {
        let edited = Self::unchecked(document, edits)?;
        if document.has_anchors && !edited.edits.is_empty() {
            let source = Source::new("output", edited.to_string());
            Document::parse(&source)?;
        }
        Ok(edited)
    }

    /// The text of `document` after `edits`; the caller must read it again.
    pub(crate) fn unchecked(document: &Document, mut edits: Vec<Edit>) -> Result<Self> {
        edits.sort_by_key(|edit| (edit.start, edit.end));
        let ends = edits.iter().map(|edit| edit.end);
        let overlap = ends.zip(edits.iter().skip(1)).find(|(end, next)| next.start < *end);
        if let Some((end, next)) = overlap {
            return Err(Diagnostic::error("internal error: two edits overlap")
                .at(document.place(next.start..end))
                .hint("please report this: nothing was written")
                .into());
        }
        Ok(Self { source: Arc::clone(&document.source), edits })
    }

    /// Whether there are any edits.
    pub const fn is_changed(&self) -> bool {
        !self.edits.is_empty()
    }

    /// The text in pieces, in order.
    pub fn pieces(&self) -> impl Iterator<Item = &str> {
        let text = self.source.text();
        let starts = std::iter::once(0).chain(self.edits.iter().map(|edit| edit.end));
        let ends = self.edits.iter().map(|edit| edit.start).chain([text.len()]);
        let gaps = starts.zip(ends).map(|(start, end)| text.get(start..end).unwrap_or_default());
        let texts = self.edits.iter().map(|edit| edit.text.as_str()).chain([""]);
        gaps.zip(texts).flat_map(|(gap, text)| [gap, text])
    }
}

impl fmt::Display for Edited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces().try_for_each(|piece| f.write_str(piece))
    }
}

/// Copies `range` of `text`, with the edits in it made. Edits must not overlap.
pub(crate) fn apply(text: &str, range: Range<usize>, edits: &mut [Edit]) -> String {
    edits.sort_by_key(|edit| (edit.start, edit.end));
    let mut out = String::with_capacity(range.len() + 64);
    let mut at = range.start;
    for edit in edits.iter() {
        out.push_str(text.get(at..edit.start).unwrap_or_default());
        out.push_str(&edit.text);
        at = edit.end;
    }
    out.push_str(text.get(at..range.end).unwrap_or_default());
    out
}

/// Puts a space before comments that have none, if an edit ends before them: `[a]#comment` may
/// become `a #comment`.
pub(crate) fn space_comments(document: &Document, edits: &mut [Edit]) {
    let text = document.text();
    for edit in edits {
        if !text.get(edit.end..).is_some_and(|rest| rest.starts_with('#')) {
            continue;
        }
        let line = document.line_start(edit.start);
        let before = text.get(line..edit.start).unwrap_or_default();
        let before = if edit.text.is_empty() { before } else { edit.text.as_str() };
        if !before.is_empty() && !before.ends_with(|c: char| c.is_ascii_whitespace()) {
            edit.text.push(' ');
        }
    }
}

/// Adjusts edits at the end of a text without a final line break: if its last line is removed, the
/// line break before it is already there.
pub fn close_text(document: &Document, edits: &mut [Edit]) {
    let length = document.text().len();
    let takes_out_last = edits.iter().any(|edit| {
        let is_removal = edit.end == length && edit.start < length && edit.text.is_empty();
        is_removal && ends_line(document.text(), edit.start)
    });
    let is_after = |edit: &&mut Edit| edit.start == length && !edit.text.is_empty();
    if takes_out_last
        && let Some(after) = edits.iter_mut().find(is_after)
        && let Some(rest) = after.text.strip_prefix(document.eol())
    {
        after.text = rest.to_owned();
    }
}
