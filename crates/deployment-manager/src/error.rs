//! Errors of an expansion.

use krm_yaml::diagnostic::{Diagnostic, Diagnostics};

/// The errors of an expansion that failed.
#[derive(Clone, Debug)]
pub struct ExpandError {
    /// The limit that stopped it.
    pub overrun: Option<Overrun>,
    /// All errors and the warnings.
    pub diagnostics: Diagnostics,
}

/// The limit that an expansion exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overrun {
    /// It makes more resources than these.
    Resources(usize),
    /// It makes more bytes than these.
    Bytes(usize),
    /// It takes longer than allowed.
    Time,
}

impl std::fmt::Display for Overrun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Resources(most) => write!(f, "the expansion has more than {most} resources"),
            Self::Bytes(most) => write!(f, "the expansion is larger than {most} bytes"),
            Self::Time => f.write_str("the expansion takes too long"),
        }
    }
}

/// An error that ends the expansion of a resource.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The whole expansion ends.
    Limit(Overrun),
    /// Something is wrong.
    Wrong(Box<Diagnostic>),
}

impl From<Overrun> for Failure {
    fn from(overrun: Overrun) -> Self {
        Self::Limit(overrun)
    }
}

impl From<Diagnostic> for Failure {
    fn from(error: Diagnostic) -> Self {
        Self::Wrong(error.into())
    }
}

impl From<Box<Diagnostic>> for Failure {
    fn from(error: Box<Diagnostic>) -> Self {
        Self::Wrong(error)
    }
}

impl From<Diagnostic> for ExpandError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { overrun: None, diagnostics: diagnostic.into() }
    }
}
