//! A scalar, and how it is spelled.

use std::borrow::Cow;

/// A scalar as Kubernetes reads it.
///
/// ```
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, Scalar};
///
/// let document = Document::parse(&Source::new("web.yaml", "spec: {replicas: 2, paused: no}\n"))?;
/// let root = document.roots().next().expect("not empty");
/// let spec = root.get("spec").expect("a spec");
/// let [replicas, paused] = spec.get_all(["replicas", "paused"]).map(Option::unwrap);
/// assert_eq!(replicas.scalar()?, Some(Scalar::Number("2".into())));
/// assert_eq!(paused.scalar()?, Some(Scalar::Bool(false)));
/// assert_eq!(spec.scalar()?, None);
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scalar<'s> {
    /// Null: `null`, `~` or an empty value.
    Null,
    /// A bool; the spellings of YAML 1.1 count as well.
    Bool(bool),
    /// A number, spelled as JSON spells numbers and with the digits it was written with.
    Number(Cow<'s, str>),
    /// A string, with escapes and line folding resolved.
    String(Cow<'s, str>),
}

impl Scalar<'_> {
    pub(crate) const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub(crate) const fn is_bool(&self) -> bool {
        matches!(self, Self::Bool(_))
    }

    pub(crate) const fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    pub(crate) fn into_owned(self) -> Scalar<'static> {
        match self {
            Self::Null => Scalar::Null,
            Self::Bool(flag) => Scalar::Bool(flag),
            Self::Number(digits) => Scalar::Number(Cow::Owned(digits.into_owned())),
            Self::String(text) => Scalar::String(Cow::Owned(text.into_owned())),
        }
    }
}

/// How a scalar is spelled.
///
/// ```
/// use krm_yaml::scalar::Style;
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, Kind};
///
/// let document = Document::parse(&Source::new("web.yaml", "image: 'web:1'\n"))?;
/// let image = document.roots().next().and_then(|root| root.get("image")).expect("an image");
/// assert_eq!(image.kind(), Kind::Scalar(Style::SingleQuoted));
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes, on one line or several.
    Plain,
    /// In single quotes: `'…'`.
    SingleQuoted,
    /// In double quotes, with escapes: `"…"`.
    DoubleQuoted,
    /// A block after `|` that keeps its line breaks.
    Literal,
    /// A block after `>` whose line breaks are folded.
    Folded,
}
