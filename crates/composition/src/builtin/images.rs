//! `ImageTagTransformer`: changes the name, the tag and the digest of images.
//!
//! Source: kustomize 5.8, `plugin/builtin/imagetagtransformer`, `api/filters/imagetag`,
//! `api/internal/image`. Besides the named fields, it changes each `image` in a list `containers`
//! or `initContainers` at any depth, but never in a `CustomResourceDefinition`.

use std::cell::RefCell;
use std::collections::BTreeSet;

use regex_lite::Regex;
use serde::Deserialize;

use crate::engine::step::{Context, Transform};
use crate::fields::field_spec::{FieldSpec, MissingField};
use crate::fields::field_tree::FieldTrees;
use crate::resources::resource::{Resource, changeable};
use crate::values::budget::Budget;
use crate::values::expression;
use krm_core::typed::backticked;
use krm_yaml::diagnostic::Diagnostic;
use krm_yaml::suggest::closest;
use krm_yaml::{FieldPath, Value, ViewMut};

/// The maximum number of images in a message.
const MAX_LISTED: usize = 10;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ImagesConfig {
    image_tag: ImageTag,
    field_specs: Option<Vec<FieldSpec>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ImageTag {
    /// A regular expression for the whole name of images.
    name: String,
    #[serde(default)]
    new_name: String,
    #[serde(default)]
    new_tag: String,
    #[serde(default)]
    tag_suffix: String,
    // Kustomize accepts both, because Go ignores case in JSON.
    #[serde(default, alias = "Digest")]
    digest: String,
}

impl Transform for ImagesConfig {
    fn apply<'d>(&'d mut self, resources: &mut Vec<Resource<'d>>, context: &mut Context<'_>) {
        let image_tag = &self.image_tag;
        let names = match Names::of(&image_tag.name) {
            Ok(names) => names,
            Err(error) => {
                let field = FieldPath::root().key("imageTag").key("name");
                let problem = format!("`{}` is not a regular expression: {error}", image_tag.name);
                let diagnostic = context.transformer.error(&field, problem);
                context.diagnostics.push(diagnostic);
                return;
            }
        };
        let change =
            ImageChange { budget: context.budget, image_tag, names, seen: RefCell::default() };
        let tables = context.tables.fields();
        let mut trees = FieldTrees::default();
        let fields = self.field_specs.as_deref().unwrap_or(&tables.images);
        for resource in changeable(resources) {
            if resource.str_at(&["kind"]) == Some("CustomResourceDefinition") {
                continue;
            }
            change.in_containers(resource.view_mut());
            let tree = trees.of_resource(resource, fields.iter());
            let set = &mut |_, image: ViewMut<'_, '_>| change.set(image);
            let problems = tree.visit(resource.view_mut(), MissingField::Nothing, set);
            context.problems(resource, problems);
        }
        change.warn_of_no_image(context);
    }
}

struct ImageChange<'c> {
    budget: &'c Budget,
    image_tag: &'c ImageTag,
    names: Names,
    seen: RefCell<Seen>,
}

/// The images that were found.
#[derive(Default)]
struct Seen {
    /// Whether one of them matches, or already has the new name, as when a function runs again.
    has_match: bool,
    /// The names of the others, until there is a match.
    names: BTreeSet<String>,
}

/// Selects images by a regular expression for the whole name.
enum Names {
    /// A name in which only dots are special, like nearly all: much faster to match.
    Plain(String),
    Pattern(Regex),
}

impl Names {
    fn of(pattern: &str) -> Result<Self, regex_lite::Error> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "./_-:".contains(c);
        if pattern.chars().all(is_plain) {
            return Ok(Self::Plain(pattern.to_owned()));
        }
        let whole = format!(
            "^(?:{pattern})(:[a-zA-Z0-9_.{{}}-]*)?(@[a-zA-Z][a-zA-Z0-9]*:[a-zA-Z0-9_.{{}}-]*)?$"
        );
        expression::compile(&whole).map(Self::Pattern)
    }

    fn contain(&self, image: &str) -> bool {
        match self {
            Self::Plain(name) => {
                let mut rest = image.chars();
                let mut name = name.chars();
                name.all(|c| {
                    let fits = |found| found == c || (c == '.' && found != '\n');
                    rest.next().is_some_and(fits)
                }) && is_tag_and_digest(rest.as_str())
            }
            Self::Pattern(pattern) => pattern.is_match(image),
        }
    }
}

/// Whether two names of images end with the same part, like `nginx` and `docker.io/library/nginx`.
fn ends_alike(one: &str, other: &str) -> bool {
    let last = |name: &str| name.rsplit('/').next().map(str::to_owned);
    last(one) == last(Parts::of(other).name)
}

/// Whether the rest after a name is a tag, a digest, both or empty.
fn is_tag_and_digest(text: &str) -> bool {
    let is_of = |text: &str, more: &str| {
        let mut all = text.chars();
        all.all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    let (tag, digest) = match text.split_once('@') {
        Some((tag, digest)) => (tag, Some(digest)),
        None => (text, None),
    };
    let is_tag = tag.is_empty() || tag.strip_prefix(':').is_some_and(|tag| is_of(tag, "_.{}-"));
    let is_digest = |digest: &str| {
        digest.split_once(':').is_some_and(|(algorithm, hash)| {
            algorithm.starts_with(|c: char| c.is_ascii_alphabetic())
                && is_of(algorithm, "")
                && is_of(hash, "_.{}-")
        })
    };
    is_tag && digest.is_none_or(is_digest)
}

impl ImageChange<'_> {
    fn in_containers(&self, mut part: ViewMut<'_, '_>) {
        part.reborrow().each_item(|item| self.in_containers(item));
        part.each_collection(|key, mut part| {
            self.in_containers(part.reborrow());
            if matches!(key, "containers" | "initContainers") {
                part.each_item(|container| {
                    if let Some(image) = container.get_mut("image") {
                        self.set_text(image);
                    }
                });
            }
        });
    }

    fn set(&self, image: ViewMut<'_, '_>) -> Result<(), String> {
        if image.view().scalar().is_none() {
            return Err("an image is a string, found a list or mapping".to_owned());
        }
        self.set_text(image);
        Ok(())
    }

    fn set_text(&self, image: ViewMut<'_, '_>) {
        let view = image.view();
        let Some(old) = view.as_str() else { return };
        let is_meant = self.names.contain(&old);
        self.see(&old, is_meant);
        if !is_meant {
            return;
        }
        let new = self.changed(&old);
        if new != old && self.budget.take(new.len()) {
            image.value_mut().set(Value::string(new).data);
        }
    }

    fn see(&self, image: &str, is_meant: bool) {
        let mut seen = self.seen.borrow_mut();
        if seen.has_match {
            return;
        }
        let name = Parts::of(image).name;
        seen.has_match = is_meant || name == self.image_tag.new_name;
        if !seen.has_match && !seen.names.contains(name) {
            seen.names.insert(name.to_owned());
        }
    }

    /// Warns if no image has the name, which mostly is a typing error. Kustomize does not.
    fn warn_of_no_image(&self, context: &mut Context<'_>) {
        let seen = self.seen.borrow();
        if seen.has_match {
            return;
        }
        let name = &self.image_tag.name;
        let known = || seen.names.iter().map(String::as_str);
        let same_end = known().find(|known| ends_alike(known, name));
        let hint = match closest(name, known()).or(same_end) {
            Some(known) => format!("did you mean `{known}`?"),
            None if seen.names.is_empty() => {
                "the resources at this step have no images: move it after the step that adds them"
                    .to_owned()
            }
            None => format!(
                "the images are {}",
                backticked(&known().take(MAX_LISTED).collect::<Vec<_>>())
            ),
        };
        let field = FieldPath::root().key("imageTag").key("name");
        let problem = Diagnostic::warning(format!("no image is named `{name}`")).hint(hint);
        context.warn_of(&field, problem);
    }

    fn changed(&self, image: &str) -> String {
        let wish = self.image_tag;
        let Parts { name, tag, digest } = Parts::of(image);
        let name = if wish.new_name.is_empty() { name } else { &wish.new_name };
        let (tag, digest) = match (wish.new_tag.as_str(), wish.digest.as_str()) {
            // A suffix is added once: an image may be both in the containers and in a named field,
            // and a function may run again on its output. Every tag ends with "".
            ("", "") if tag.ends_with(&wish.tag_suffix) => (tag.to_owned(), digest),
            ("", "") => (format!("{tag}{}", wish.tag_suffix), ""),
            (tag, digest) => (tag.to_owned(), digest),
        };
        let mut image = name.to_owned();
        for (mark, part) in [(":", tag.as_str()), ("@", digest)] {
            if !part.is_empty() {
                image.push_str(mark);
                image.push_str(part);
            }
        }
        image
    }
}

/// The parts of `[HOST[:PORT]/]NAME[:TAG][@DIGEST]`; the host is in the name.
#[derive(Debug, PartialEq, Eq)]
struct Parts<'i> {
    name: &'i str,
    tag: &'i str,
    digest: &'i str,
}

impl<'i> Parts<'i> {
    fn of(image: &'i str) -> Self {
        let (rest, digest) = image.split_once('@').unwrap_or((image, ""));
        // A colon before a slash is that of a port.
        let (name, tag) = match rest.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => (name, tag),
            _ => (rest, ""),
        };
        Self { name, tag, digest }
    }
}

#[cfg(test)]
mod tests {
    use regex_lite::Regex;

    use super::{Names, Parts};

    #[test]
    fn an_image_has_a_name_a_tag_and_a_digest() {
        for (image, name, tag, digest) in [
            ("nginx", "nginx", "", ""),
            ("nginx:1", "nginx", "1", ""),
            ("nginx@sha256:1", "nginx", "", "sha256:1"),
            ("nginx:1@sha256:1", "nginx", "1", "sha256:1"),
            ("host:5000/nginx", "host:5000/nginx", "", ""),
            ("host:5000/a/b:1@sha256:1", "host:5000/a/b", "1", "sha256:1"),
        ] {
            assert_eq!(Parts::of(image), Parts { name, tag, digest }, "{image}");
        }
    }

    #[test]
    fn plain_names_match_like_regular_expressions() {
        let ends = [
            "",
            ":",
            ":1.2",
            ":{}",
            ":a:b",
            ":a/b",
            "@",
            "@sha256:1",
            "@1:1",
            "@sha256",
            ":1@sha256:1",
            "@sha256:1:2",
            "@a:b@c:d",
            "x",
            "\n",
        ];
        for name in ["", "nginx", "host:5000/a.b/c_d", "a.b", "."] {
            for image in ["", "nginx", "host:5000/a.b/c_d", "a.b", "axb", "a\nb", "aéb", "."] {
                for end in ends {
                    let image = format!("{image}{end}");
                    let whole = format!(
                        "^(?:{name})(:[a-zA-Z0-9_.{{}}-]*)?(@[a-zA-Z][a-zA-Z0-9]*:[a-zA-Z0-9_.{{}}-]*)?$"
                    );
                    let names = Names::of(name).unwrap();
                    assert!(matches!(names, Names::Plain(_)));
                    let expected = Regex::new(&whole).unwrap().is_match(&image);
                    assert_eq!(names.contain(&image), expected, "{name} {image}");
                }
            }
        }
    }
}
