//! An image, taken apart.

/// An image as its parameters need it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Image {
    /// The registry, if it is named.
    pub(super) registry: Option<String>,
    /// The repository; with a digest if there is one.
    pub(super) repository: String,
    pub(super) tag: Option<String>,
}

impl Image {
    /// Reads an image; `None` if it is empty, or contains text that looks like a reference.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.trim().is_empty() || text.contains('$') {
            return None;
        }
        let (registry, rest) = match text.split_once('/') {
            Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => {
                (Some(first.to_owned()), rest)
            }
            _ => (None, text),
        };
        let (repository, tag) = if rest.contains('@') {
            (rest, None)
        } else {
            match rest.rsplit_once(':') {
                Some((repository, tag)) if !tag.contains('/') => (repository, Some(tag.to_owned())),
                _ => (rest, None),
            }
        };
        Some(Self {
            registry,
            repository: repository.to_owned(),
            tag,
        })
    }
}

/// The registry that all images share, if there are several.
pub(crate) fn shared_registry<'i>(images: impl Iterator<Item = &'i Image>) -> Option<String> {
    let mut images = images.peekable();
    let first = images.next()?.registry.clone()?;
    images.peek()?;
    let all = images.all(|image| image.registry.as_ref() == Some(&first));
    all.then_some(first)
}

#[cfg(test)]
mod tests {
    use super::{Image, shared_registry};

    #[track_caller]
    fn check(text: &str, expected: (Option<&str>, &str, Option<&str>)) {
        let image = Image::parse(text).unwrap();
        let found = (
            image.registry.as_deref(),
            image.repository.as_str(),
            image.tag.as_deref(),
        );
        assert_eq!(found, expected);
    }

    #[test]
    fn an_image_has_a_registry_a_repository_and_a_tag() {
        check("nginx", (None, "nginx", None));
        check("library/nginx:1.25", (None, "library/nginx", Some("1.25")));
        check(
            "example.org:5000/a/b",
            (Some("example.org:5000"), "a/b", None),
        );
        check("localhost/a:b", (Some("localhost"), "a", Some("b")));
        check(
            "example.org/a:1@sha256:00",
            (Some("example.org"), "a:1@sha256:00", None),
        );
        assert_eq!(Image::parse(" "), None);
        assert_eq!(Image::parse("$(IMAGE)"), None);
    }

    #[test]
    fn a_registry_is_shared_by_several_images() {
        let shared = |images: &[&str]| {
            let images: Vec<Image> = images.iter().filter_map(|one| Image::parse(one)).collect();
            shared_registry(images.iter())
        };
        assert_eq!(shared(&["r.io/a:1"]), None);
        assert_eq!(shared(&["r.io/a:1", "r.io/b"]).as_deref(), Some("r.io"));
        assert_eq!(shared(&["r.io/a", "b"]), None);
        assert_eq!(shared(&["a", "b"]), None);
    }
}
