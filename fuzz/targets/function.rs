//! The function, from bytes to text: after an error, its input with results; run again, the same.

#![no_main]

use krm_template::diagnostic::Severity;
use krm_template::function::{Environment, Output, run};
use krm_template::source::Source;
use krm_template::yaml::{Cursor, Document};
use krm_template::{files, report};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let source = match files::source("stdin", bytes.to_vec()) {
        Ok(source) => source,
        Err(error) => {
            let _ = report::text(&(*error).into(), true);
            return;
        }
    };
    let output = function(source.text());
    let _ = report::text(&output.diagnostics, true);
    if output.list.is_none() {
        assert!(output.diagnostics.has_errors());
        return;
    }
    let text = output.text();
    if output.diagnostics.has_errors() && source.text().ends_with('\n') {
        assert!(
            is_input_with_results(source.text(), &text),
            "{:?} fails as\n{text:?}",
            source.text()
        );
    }
    let again = function(&text);
    let severities = |output: &Output| -> Vec<Severity> {
        output
            .diagnostics
            .iter()
            .map(|found| found.severity)
            .collect()
    };
    assert_eq!(
        severities(&output),
        severities(&again),
        "{:?} gives {text:?}",
        source.text()
    );
    // Results name lines, which are others the second time.
    let (text, again) = (without_results(&text), without_results(&again.text()));
    assert_eq!(text, again, "of {:?}", source.text());
});

fn without_results(text: &str) -> String {
    let document = Document::parse(&Source::new("stdin", text)).expect("it is read by others");
    let results = document.roots().next().and_then(|root| root.get("results"));
    let range = results.map_or(0..0, |results| {
        let start = results.key_place().range.start;
        start..results.place().range.end.max(start)
    });
    let (before, behind) = (&text[..range.start], &text[range.end..]);
    format!("{}\n{}", before.trim_end(), behind.trim())
}

fn function(text: &str) -> Output {
    let seed = Some(b"seed".to_vec());
    run(&Source::new("stdin", text), &Environment { seed })
}

/// Whether nothing of `input` is missing in `output` but what stood under `results`, and no `items`
/// became `[]`.
fn is_input_with_results(input: &str, output: &str) -> bool {
    let equal =
        |pairs: &mut dyn Iterator<Item = (u8, u8)>| pairs.take_while(|(a, b)| a == b).count();
    let start = equal(&mut input.bytes().zip(output.bytes()));
    let end = equal(&mut input.bytes().rev().zip(output.bytes().rev()));
    if start + end >= input.len() {
        return true;
    }
    let document = Document::parse(&Source::new("stdin", input)).expect("it was read before");
    let root = document.roots().next().expect("it was read before");
    if root.get("items").is_none_or(Cursor::is_null) {
        return true;
    }
    root.get("results").is_some_and(|results| {
        let (key, old) = (results.key_place().range, results.place().range);
        key.end <= start && input.len() - end <= old.end.max(key.end + 1)
    })
}
