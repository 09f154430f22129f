//! Comments of a stream that do not belong to an object, such as a licence at the top.

use std::ops::Range;

use krm_yaml::{Document, lines_of_root};

/// The comments around an object that belong to the stream: whole lines, with the blank lines
/// between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StreamComments {
    above: String,
    below: String,
}

impl StreamComments {
    /// Splits the comments for the first and the last object of a list: those above, and those
    /// below.
    pub(crate) fn split(self) -> [Option<Self>; 2] {
        let (above, below) = (self.above, self.below);
        let above = Self { above, ..Self::default() };
        let below = Self { below, ..Self::default() };
        [above, below].map(|apart| Some(apart).filter(|apart| *apart != Self::default()))
    }

    /// Adds the comments to the text of an object.
    pub(crate) fn around(&self, text: &str) -> String {
        [self.above.as_str(), text, &self.below].concat()
    }
}

/// The comments around each root of a stream. Comments after a `---` belong to the object below,
/// those before it to the object above. The first object gets all comments above it.
pub(crate) fn of_roots(document: &Document) -> Vec<Option<StreamComments>> {
    let roots: Vec<_> = document.roots().map(lines_of_root).collect();
    let text = |range: Range<usize>| document.text().get(range).unwrap_or_default();
    let mut all = Vec::with_capacity(roots.len());
    for (index, own) in roots.iter().enumerate() {
        let above = match index.checked_sub(1).and_then(|before| roots.get(before)) {
            Some(before) => split(text(before.end..own.start)).1,
            None => text(0..own.start),
        };
        let next = roots.get(index + 1);
        let next = next.map_or(document.text().len(), |next| next.start);
        let apart = StreamComments {
            above: comments(above.trim_start_matches(['\u{feff}', '\r', '\n'])),
            below: comments(split(text(own.end..next)).0.trim_end()),
        };
        all.push((apart != StreamComments::default()).then_some(apart));
    }
    all
}

/// Splits a text before the line that begins another document.
fn split(text: &str) -> (&str, &str) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("---") || line.starts_with("...") {
            return text.split_at(at);
        }
        at += line.len();
    }
    (text, "")
}

/// The comment lines, with the blank lines around them.
fn comments(text: &str) -> String {
    let lines = text.split_inclusive('\n');
    let lines = lines.filter(|line| line.trim().is_empty() || line.trim().starts_with('#'));
    let mut lines: String = lines.collect();
    if lines.trim().is_empty() {
        return String::new();
    }
    if !lines.ends_with('\n') {
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{StreamComments, of_roots};
    use krm_yaml::Document;
    use krm_yaml::source::Source;

    #[test]
    fn a_comment_between_objects_belongs_to_one_of_them() {
        let text = "# licence\n---\n# more\n\n# own\na: 1 # x\n  # deep\n\n# below a\n---\n\n\
                    # above b\n\nb:\n- 2\n# below b\n--- # three\nc: |+\n  x\n\n# end";
        let document = Document::parse(&Source::new("test", text)).unwrap();
        let apart = |above: &str, below: &str| {
            let (above, below) = (above.to_owned(), below.to_owned());
            Some(StreamComments { above, below })
        };
        assert_eq!(
            of_roots(&document),
            [
                apart("# licence\n# more\n\n", "\n# below a\n"),
                apart("\n# above b\n\n", "# below b\n"),
                apart("", "# end\n"),
            ]
        );
        for text in ["", "# only\n", "a: b\n", "\n\na: b\n\n\n"] {
            let document = Document::parse(&Source::new("test", text)).unwrap();
            let found = of_roots(&document);
            assert!(found.iter().all(Option::is_none), "{text:?}: {found:?}");
        }
    }
}
