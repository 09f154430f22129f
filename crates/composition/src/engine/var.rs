//! A variable of a Kustomization: a value that fields name as `$(NAME)`.

use krm_yaml::diagnostic::Diagnostic;
use krm_yaml::source::Place;

/// A variable of a build.
#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub(crate) name: String,
    /// The kind and name of its object.
    pub(crate) object: String,
    /// The path of the field with its value.
    pub(crate) field: String,
    pub(crate) place: Option<Place>,
    /// The field path in the Kustomization.
    pub(crate) written_as: String,
}

impl Var {
    /// An error about it.
    pub(crate) fn error(&self, problem: String) -> Diagnostic {
        let mut error = Diagnostic::error(problem).field(self.written_as.clone());
        error.place.clone_from(&self.place);
        error
    }
}
