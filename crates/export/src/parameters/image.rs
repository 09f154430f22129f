//! An image, taken apart.

/// An image as its parameters need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Image<'t> {
    /// The registry, if it is named.
    pub(super) registry: Option<&'t str>,
    /// The repository; with a digest if there is one.
    pub(super) repository: &'t str,
    pub(super) tag: Option<&'t str>,
}

impl<'t> Image<'t> {
    /// Reads an image; `None` if it is empty, or contains text that looks like a reference.
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        if text.trim().is_empty() || memchr::memchr(b'$', text.as_bytes()).is_some() {
            return None;
        }
        let is_host = |first: &str| {
            memchr::memchr2(b'.', b':', first.as_bytes()).is_some() || first == "localhost"
        };
        let (registry, rest) = match split(text, memchr::memchr(b'/', text.as_bytes())) {
            Some((first, rest)) if is_host(first) => (Some(first), rest),
            _ => (None, text),
        };
        let (repository, tag) = if memchr::memchr(b'@', rest.as_bytes()).is_some() {
            (rest, None)
        } else {
            match split(rest, memchr::memrchr(b':', rest.as_bytes())) {
                Some((repository, tag)) if !tag.contains('/') => (repository, Some(tag)),
                _ => (rest, None),
            }
        };
        Some(Self { registry, repository, tag })
    }
}

/// The text before and after a byte.
fn split(text: &str, at: Option<usize>) -> Option<(&str, &str)> {
    let (before, rest) = text.split_at_checked(at?)?;
    Some((before, rest.get(1..)?))
}

/// The search for a registry that several images share.
#[derive(Debug, Default)]
pub(crate) struct Images {
    first: Option<String>,
    has_others: bool,
    /// The registry of all of them.
    registry: Option<String>,
}

impl Images {
    /// Adds an image as it is written.
    pub(crate) fn add(&mut self, text: &str) {
        let Some(Image { registry, .. }) = Image::parse(text) else {
            return;
        };
        match &self.first {
            None => {
                self.first = Some(text.to_owned());
                self.registry = registry.map(str::to_owned);
            }
            Some(first) => {
                self.has_others = self.has_others || first != text;
                if self.registry.as_deref() != registry {
                    self.registry = None;
                }
            }
        }
    }

    /// The registry that all images share, if there are several.
    pub(crate) fn shared_registry(&self) -> Option<&str> {
        self.registry.as_deref().filter(|_| self.has_others)
    }
}

#[cfg(test)]
mod tests {
    use super::{Image, Images};

    #[track_caller]
    fn check(text: &str, expected: (Option<&str>, &str, Option<&str>)) {
        let image = Image::parse(text).unwrap();
        let found = (image.registry, image.repository, image.tag);
        assert_eq!(found, expected);
    }

    #[test]
    fn an_image_has_a_registry_a_repository_and_a_tag() {
        check("nginx", (None, "nginx", None));
        check("library/nginx:1.25", (None, "library/nginx", Some("1.25")));
        check("example.org:5000/a/b", (Some("example.org:5000"), "a/b", None));
        check("localhost/a:b", (Some("localhost"), "a", Some("b")));
        check("example.org/a:1@sha256:00", (Some("example.org"), "a:1@sha256:00", None));
        assert_eq!(Image::parse(" "), None);
        assert_eq!(Image::parse("$(IMAGE)"), None);
    }

    #[test]
    fn a_registry_is_shared_by_several_images() {
        let shared = |texts: &[&str]| {
            let mut images = Images::default();
            for text in texts {
                images.add(text);
            }
            images.shared_registry().map(str::to_owned)
        };
        assert_eq!(shared(&["r.io/a:1"]), None);
        assert_eq!(shared(&["r.io/a:1", "r.io/b"]).as_deref(), Some("r.io"));
        assert_eq!(shared(&["r.io/a:1", "r.io/a:1"]), None);
        assert_eq!(shared(&["r.io/a", "b"]), None);
        assert_eq!(shared(&["a", "r.io/b", "r.io/c"]), None);
        assert_eq!(shared(&["a", "b"]), None);
    }
}
