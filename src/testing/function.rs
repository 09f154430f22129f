//! The function, from bytes to text: after an error, its input with results; run again, the same. What
//! a Composition makes is its input again the next time, so there only the same input gives the same.

use crate::function::{Environment, Output, run};
use crate::report;
use krm_yaml::diagnostic::Severity;
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document};

/// Holds the property for an input.
///
/// # Panics
/// If it does not hold.
pub fn check(bytes: &[u8]) {
    let source = match krm_yaml::decode("stdin", bytes.to_vec()) {
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
    if is_composition(source.text()) {
        assert_eq!(text, function(source.text()).text());
        return;
    }
    let again = function(&text);
    // What changed the first time is told as information.
    let severities = |output: &Output| -> Vec<Severity> {
        let found = output.diagnostics.iter().map(|found| found.severity);
        found.filter(|severity| *severity > Severity::Info).collect()
    };
    assert_eq!(severities(&output), severities(&again), "{:?} gives {text:?}", source.text());
    let has_news = output.diagnostics.iter().any(|found| found.severity == Severity::Info);
    let again = again.text();
    let (text, again) = if has_news {
        (without_results(&text), without_results(&again))
    } else {
        (text.as_str(), again.as_str())
    };
    // Results name lines, which may be others the second time.
    assert_eq!(without_places(text), without_places(again), "of {:?}", source.text());
}

fn is_composition(text: &str) -> bool {
    let document = Document::parse(&Source::new("stdin", text)).expect("it was read before");
    let root = document.roots().next();
    let config = root.and_then(|root| root.get("functionConfig"));
    config.is_some_and(|config| config.text_at(["kind"]).as_deref() == Some("Composition"))
}

/// The text before the last `results`, which tell of changes the first time only.
fn without_results(text: &str) -> &str {
    text.rfind("results").map_or(text, |at| &text[..at])
}

/// Leaves out the line and column in `stdin:1:2`.
fn without_places(text: &str) -> String {
    let mut parts = text.split("stdin:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("stdin:");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':'));
    }
    out
}

fn function(text: &str) -> Output {
    let seed = Some(b"a seed for tests".to_vec());
    let environment = Environment { seed, ..Environment::default() };
    run(&Source::new("stdin", text), &environment)
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
        let line = input[old.end..].find(['\n', '\r']);
        let line_end = line.map_or(input.len(), |length| old.end + length);
        key.end <= start && input.len() - end <= line_end.max(key.end + 1)
    })
}
