//! Where an object comes from, and what changed it, for annotations.

use krm_core::files::{Checkout, is_below};

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
    /// The copies of repositories that files are in.
    pub(crate) checkouts: Vec<Checkout>,
}

impl Tracing {
    /// Notes a copy of a repository.
    pub(crate) fn add(&mut self, checkout: Checkout) {
        if !self.checkouts.contains(&checkout) {
            self.checkouts.push(checkout);
        }
    }

    /// The lines for the repository of a file, if it is in one, and its path there; else that
    /// relative to the root.
    pub(crate) fn of_file(&self, path: &str) -> (String, String) {
        let inside = |one: &&Checkout| {
            is_below(&one.directory, path) && !is_below(&one.directory, &self.root)
        };
        let Some(checkout) = self.checkouts.iter().find(inside) else {
            return (String::new(), self.relative(path));
        };
        let inner = path.get(checkout.directory.len()..).unwrap_or_default();
        let mut lines = format!("repo: {}\n", checkout.repository);
        if !checkout.reference.is_empty() {
            lines.extend(["ref: ", &checkout.reference, "\n"]);
        }
        (lines, inner.trim_start_matches('/').to_owned())
    }

    /// A path relative to the root.
    fn relative(&self, path: &str) -> String {
        let names = |path: &str| -> Vec<String> {
            let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
            parts.map(str::to_owned).collect()
        };
        let (root, path) = (names(&self.root), names(path));
        let same = root.iter().zip(&path).take_while(|(one, other)| one == other);
        let same = same.count();
        let up = root.iter().skip(same).map(|_| "..");
        let down = path.iter().skip(same).map(String::as_str);
        up.chain(down).collect::<Vec<_>>().join("/")
    }
}
