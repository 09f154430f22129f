//! Compares the fast paths with the full path, node for node, on all available texts.

mod commented;
mod corpus;
mod decoded;
mod deferred;
mod edit;
mod fuzzed;
mod hostile;
mod limits;
mod meaning;
mod moved;
mod patched;
mod pyyaml;
mod quoted;
mod seeds;
mod test_suite;
mod tricky;
mod unchanged;
mod updated;

use std::path::PathBuf;

use crate::read::characters::Characters;
use crate::read::text::fast;
use crate::testing::compare;

/// Compares the text itself, with CRLF, shifted, and as an item of a ResourceList. Returns how many
/// of them took the fast path.
fn compare_variants(text: &str) -> Result<usize, String> {
    /// Of larger texts, only the text itself is compared: the others would take too long.
    const SMALL: usize = 20_000;
    if text.len() > SMALL {
        return compare(text).map(usize::from);
    }
    let mut taken = 0;
    for variant in variants(text) {
        taken += usize::from(compare(&variant)?);
    }
    Ok(taken)
}

fn variants(text: &str) -> Vec<String> {
    let shifted = |columns: usize, first: &str| {
        let mut out = String::new();
        for (index, line) in text.split_inclusive('\n').enumerate() {
            if index == 0 {
                out.push_str(first);
            } else if line.trim().is_empty() {
            } else {
                out.push_str(&" ".repeat(columns));
            }
            out.push_str(line);
        }
        out
    };
    let item = shifted(2, "- ");
    let wide = shifted(6, "  -   ");
    vec![
        text.to_owned(),
        text.replace('\n', "\r\n"),
        text.trim_end().to_owned(),
        format!("---\n{text}"),
        format!("{text}\n---\n{text}"),
        format!("\u{feff}{text}"),
        shifted(3, "   "),
        item.clone(),
        format!("kind: ResourceList\nitems:\n{item}\n{item}\nfunctionConfig:\n  kind: X\n"),
        format!("items:\n  # head\n{wide}\n  # foot\nresults: []\n"),
        format!("key:\n{}", shifted(1, " ")),
    ]
}

#[test]
fn every_file_gets_the_same_table_from_both_paths() {
    all_get_the_same_table(corpus::repository());
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn shared_texts_get_the_same_table_from_both_paths() {
    all_get_the_same_table(corpus::shared());
}

#[track_caller]
fn all_get_the_same_table(files: Vec<(PathBuf, String)>) {
    let mut failures = Vec::new();
    for (path, text) in files {
        if let Err(report) = compare_variants(&text) {
            failures.push(format!("{}: {report}", path.display()));
        }
    }
    let count = failures.len();
    failures.truncate(20);
    assert!(count == 0, "{count} files differ\n{}", failures.join("\n"));
}

#[test]
fn examples_take_the_fast_path() {
    for (path, text) in corpus::repository() {
        let name = path.display().to_string();
        // Some of the test cases are odd on purpose.
        let is_example = name.contains("/examples/") || name.contains("/functionconfig/");
        let extension = path.extension().and_then(|extension| extension.to_str());
        let is_data = is_example && matches!(extension, Some("yaml" | "json"));
        assert!(!is_data || fast(&text, Characters::Any).is_some(), "{name}");
    }
}
