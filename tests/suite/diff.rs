//! Shows the difference between the expected output and the output.

use std::fmt::Write as _;

/// Equal lines shown around the differing ones.
const CONTEXT: usize = 3;
/// Differing lines shown of each side.
const SHOWN: usize = 40;

/// Nothing if both are the same bytes, else the lines in which they differ.
pub(crate) fn diff(expected: &[u8], actual: &[u8]) -> Option<String> {
    if expected == actual {
        return None;
    }
    let (old, new) = (lines(expected), lines(actual));
    let same = |pairs: &mut dyn Iterator<Item = (&String, &String)>| {
        pairs.take_while(|(old, new)| old == new).count()
    };
    let before = same(&mut old.iter().zip(&new));
    let after = same(&mut old.iter().rev().zip(new.iter().rev()))
        .min(old.len() - before)
        .min(new.len() - before);

    let mut text = format!("@@ line {} @@\n", before + 1);
    let first = before.saturating_sub(CONTEXT);
    push(&mut text, ' ', old.iter().take(before).skip(first));
    let middle = |lines: usize| lines - before - after;
    push(&mut text, '-', old.iter().skip(before).take(middle(old.len())));
    push(&mut text, '+', new.iter().skip(before).take(middle(new.len())));
    push(&mut text, ' ', old.iter().skip(old.len() - after).take(CONTEXT));
    Some(text)
}

fn push<'l>(text: &mut String, sign: char, lines: impl Iterator<Item = &'l String>) {
    let mut left_out = 0;
    for (index, line) in lines.enumerate() {
        if index < SHOWN {
            let _ = writeln!(text, "{sign}{line}");
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        let _ = writeln!(text, "{sign}… {left_out} more");
    }
}

/// The lines of `bytes`, with invisible characters made visible.
fn lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    text.split_inclusive('\n').map(visible).collect()
}

fn visible(line: &str) -> String {
    let (text, end) = match line.strip_suffix('\n') {
        Some(text) => (text, ""),
        None => (line, " ← no newline"),
    };
    let trimmed = text.trim_end_matches(' ');
    let spaces = "·".repeat(text.len() - trimmed.len());
    let trimmed = trimmed.replace('\r', "␍").replace('\t', "→");
    format!("{trimmed}{spaces}{end}")
}
