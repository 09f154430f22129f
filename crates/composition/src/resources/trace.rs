//! Where an object comes from, and what changed it, for annotations.

/// The history of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trace {
    /// The file or the generator that it comes from.
    pub(crate) origin: String,
    /// The transformers that it passed, as the items of a list.
    pub(crate) transformations: String,
}

/// The traces that a build of a Kustomization keeps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracing {
    pub(crate) origins: bool,
    pub(crate) transformations: bool,
    /// The directory of the root.
    pub(crate) root: String,
    /// The file with the plugins that are written in it.
    pub(crate) file: String,
}

impl Tracing {
    /// A path relative to the root.
    pub(crate) fn relative(&self, path: &str) -> String {
        let names = |path: &str| -> Vec<String> {
            let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
            parts.map(str::to_owned).collect()
        };
        let (root, path) = (names(&self.root), names(path));
        let same = root
            .iter()
            .zip(&path)
            .take_while(|(one, other)| one == other);
        let same = same.count();
        let up = root.iter().skip(same).map(|_| "..");
        let down = path.iter().skip(same).map(String::as_str);
        up.chain(down).collect::<Vec<_>>().join("/")
    }
}
