//! Two Templates, separated by a NUL, merged: the text is a Template that expands if both did.

use std::sync::Arc;

use crate::merge::{Format, Options, Prefer, Prefix, merge};
use crate::report;
use crate::template::{self, Generation, Template};
use crate::testing::has_internal_error;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, SharedNode};

use super::reading::read;

/// Holds the property for an input.
///
/// # Panics
/// If it does not hold.
pub fn check(text: &str) {
    let (first, second) = text.split_once('\0').unwrap_or((text, text));
    let roots = [root("a.yaml", first), root("b.yaml", second)];
    let [Some(a), Some(b)] = roots else { return };
    let prefix = Prefix { template: "b.yaml".to_owned(), prefix: "B_".to_owned() };
    for (format, prefer, prefixes) in [
        (None, None, vec![]),
        (Some(Format::Yaml), Some(Prefer::Last), vec![]),
        (Some(Format::Json), Some(Prefer::First), vec![prefix]),
    ] {
        let options =
            Options { name: "merged".to_owned(), format, prefer, prefixes, ..Options::default() };
        let mut diagnostics = Diagnostics::new();
        let merged = merge(&[a.clone(), b.clone()], &options, &mut diagnostics);
        let said = report::text(&diagnostics, false);
        assert!(!has_internal_error(&diagnostics), "{text:?}\n{said}");
        let Some(merged) = merged else {
            assert!(diagnostics.has_errors(), "{text:?} gives nothing");
            continue;
        };
        assert_eq!(read(&merged).len(), 1, "{text:?} gives\n{merged:?}");
        // Objects that become one by their defaults, and other changes of meaning, have a warning.
        if said.is_empty() && expands(&a).is_ok() && expands(&b).is_ok() {
            let root = root("merged", &merged).expect("it is read already");
            let expanded = expands(&root);
            assert!(expanded.is_ok(), "{text:?} gives\n{merged:?}\n{expanded:?}");
        }
    }
}

/// The only document of a text.
fn root(name: &str, text: &str) -> Option<SharedNode> {
    let document = Arc::new(Document::parse(&Source::new(name, text)).ok()?);
    let mut roots = SharedNode::roots(&document);
    roots.next().filter(|_| roots.next().is_none())
}

/// Whether a Template can be expanded without values; otherwise why not.
fn expands(root: &SharedNode) -> Result<(), String> {
    let mut diagnostics = Diagnostics::new();
    let options = template::Options::new(Generation::Reproducible {
        seed: Some(b"a seed for tests".to_vec()),
        scope: String::new(),
        instance: String::new(),
        earlier: &(),
    });
    let template = Template::read(root, &mut diagnostics);
    let printed = template.and_then(|template| {
        let format = template::Format::Yaml;
        template::print(&template, &[], &options, format, &mut diagnostics)
    });
    match printed {
        Some(_) if !diagnostics.has_errors() => Ok(()),
        _ => Err(report::text(&diagnostics, false)),
    }
}
