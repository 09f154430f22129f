//! Unified diffs, as `git diff` and `diff -u` print them.

use std::fmt::Write as _;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};

/// Equal lines shown around a change.
const CONTEXT: usize = 3;

/// The unified diff of two texts: empty if they are equal.
pub fn unified(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    let input = InternedInput::new(old, new);
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    let changes: Vec<ReplacedLines> = diff.hunks().map(ReplacedLines::from).collect();
    if changes.is_empty() {
        return String::new();
    }
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut text = format!("--- {old_name}\n+++ {new_name}\n");
    for near in changes.chunk_by(|change, next| next.old.start - change.old.end <= 2 * CONTEXT) {
        push_hunk(&mut text, near, &old, &new);
    }
    text
}

/// Lines of the old text that lines of the new text replace.
struct ReplacedLines {
    old: Range<usize>,
    new: Range<usize>,
}

impl From<Hunk> for ReplacedLines {
    fn from(Hunk { before, after }: Hunk) -> Self {
        Self {
            old: before.start as usize..before.end as usize,
            new: after.start as usize..after.end as usize,
        }
    }
}

/// Prints changes near one another, with the lines between and around them.
fn push_hunk(text: &mut String, changes: &[ReplacedLines], old: &[&str], new: &[&str]) {
    let ([first, ..], [.., last]) = (changes, changes) else {
        return;
    };
    let above = CONTEXT.min(first.old.start);
    let below = CONTEXT.min(old.len() - last.old.end);
    let old_lines = first.old.start - above..last.old.end + below;
    let new_lines = first.new.start - above..last.new.end + below;
    let _ = writeln!(text, "@@ -{} +{} @@", extent(&old_lines), extent(&new_lines));

    let mut equal = old_lines.start;
    for change in changes {
        push_lines(text, ' ', old, equal..change.old.start);
        push_lines(text, '-', old, change.old.clone());
        push_lines(text, '+', new, change.new.clone());
        equal = change.old.end;
    }
    push_lines(text, ' ', old, equal..old_lines.end);
}

/// The first line and the number of lines. A range without lines is named by the line above it.
fn extent(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        length => format!("{},{length}", lines.start + 1),
    }
}

fn push_lines(text: &mut String, sign: char, lines: &[&str], range: Range<usize>) {
    for line in lines.get(range).unwrap_or_default() {
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::unified;

    /// `expected` is what GNU `diff -u --label a --label b` prints.
    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        assert_eq!(unified(old, new, "a", "b"), expected);
    }

    /// The numbers from 1 to `last`, a line each, some of them replaced.
    fn numbers(last: usize, replaced: &[(usize, &str)]) -> String {
        let line = |number: usize| {
            let with = replaced.iter().find(|(replaced, _)| *replaced == number);
            with.map_or_else(|| format!("{number}\n"), |(_, with)| (*with).to_owned())
        };
        (1..=last).map(line).collect()
    }

    #[test]
    fn equal_texts_have_no_diff() {
        check("a: 1\n", "a: 1\n", "");
        check("", "", "");
    }

    #[test]
    fn a_new_text() {
        check("", "a: 1\nb: 2\nc: 3\n", "--- a\n+++ b\n@@ -0,0 +1,3 @@\n+a: 1\n+b: 2\n+c: 3\n");
    }

    #[test]
    fn a_text_that_is_now_empty() {
        check("a: 1\nb: 2\n", "", "--- a\n+++ b\n@@ -1,2 +0,0 @@\n-a: 1\n-b: 2\n");
    }

    #[test]
    fn the_length_of_one_line_is_omitted() {
        check("a: 1\n", "a: 2\n", "--- a\n+++ b\n@@ -1 +1 @@\n-a: 1\n+a: 2\n");
    }

    #[test]
    fn no_newline_at_the_end() {
        check(
            "a: 1\nb: 2",
            "a: 1\nb: 2\n",
            "--- a\n+++ b\n@@ -1,2 +1,2 @@\n a: 1\n-b: 2\n\\ No newline at end of file\n+b: 2\n",
        );
        check(
            "a: 1\nb: 2\n",
            "a: 1\nb: 2",
            "--- a\n+++ b\n@@ -1,2 +1,2 @@\n a: 1\n-b: 2\n+b: 2\n\\ No newline at end of file\n",
        );
        check(
            "a: 1\nb: 2",
            "a: 1\nb: 3",
            "--- a\n+++ b\n@@ -1,2 +1,2 @@\n a: 1\n-b: 2\n\\ No newline at end of file\n+b: 3\n\
             \\ No newline at end of file\n",
        );
        check(
            "a: 1\nb: 2",
            "a: 2\nb: 2",
            "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-a: 1\n+a: 2\n b: 2\n\\ No newline at end of file\n",
        );
    }

    #[test]
    fn distant_changes_have_hunks_of_their_own() {
        check(
            &numbers(16, &[]),
            &numbers(16, &[(2, "two\n"), (14, "fourteen\n")]),
            "--- a\n+++ b\n\
             @@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n\
             @@ -11,6 +11,6 @@\n 11\n 12\n 13\n-14\n+fourteen\n 15\n 16\n",
        );
    }

    #[test]
    fn changes_share_a_hunk_if_there_are_six_lines_between_them() {
        check(
            &numbers(12, &[]),
            &numbers(12, &[(2, "two\n"), (9, "nine\n")]),
            "--- a\n+++ b\n@@ -1,12 +1,12 @@\n \
             1\n-2\n+two\n 3\n 4\n 5\n 6\n 7\n 8\n-9\n+nine\n 10\n 11\n 12\n",
        );
        check(
            &numbers(12, &[]),
            &numbers(12, &[(2, "two\n"), (10, "ten\n")]),
            "--- a\n+++ b\n\
             @@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n\
             @@ -7,6 +7,6 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n",
        );
    }

    #[test]
    fn lines_are_added_and_removed() {
        check(
            &numbers(9, &[]),
            &numbers(9, &[(2, "2\nnew\n"), (8, "")]),
            "--- a\n+++ b\n@@ -1,9 +1,9 @@\n 1\n 2\n+new\n 3\n 4\n 5\n 6\n 7\n-8\n 9\n",
        );
    }

    #[test]
    fn a_line_may_end_in_crlf() {
        check(
            "1\r\n2\r\n3\r\n4\r\n",
            "1\r\n2\r\nthree\r\n4\r\n",
            "--- a\n+++ b\n@@ -1,4 +1,4 @@\n 1\r\n 2\r\n-3\r\n+three\r\n 4\r\n",
        );
        check(
            "a: 1\r\nb: 2\r\n",
            "a: 1\nb: 2\n",
            "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-a: 1\r\n-b: 2\r\n+a: 1\n+b: 2\n",
        );
    }

    /// Takes the diff back: the old text, made from the new text.
    fn reverted(diff: &str, new: &str) -> String {
        let mut rest = new.split_inclusive('\n');
        let mut line_number = 1;
        let mut old = String::new();
        let mut lines = diff.split_inclusive('\n').skip(2).peekable();
        while let Some(line) = lines.next() {
            let (sign, line) = line.split_at(1);
            let ends = lines.next_if(|next| next.starts_with('\\')).is_none();
            let line = if ends { line } else { line.trim_end_matches('\n') };
            match sign {
                "@" => {
                    let (_, extent) = line.split_once('+').expect("the new lines");
                    let (start, length) = extent
                        .trim_end_matches(" @@\n")
                        .split_once(',')
                        .unwrap_or((extent.trim_end_matches(" @@\n"), "1"));
                    let start: usize = start.parse().expect("a number");
                    let start = start + usize::from(length == "0");
                    old.extend(rest.by_ref().take(start - line_number));
                    line_number = start;
                }
                "-" => old.push_str(line),
                _ => {
                    assert_eq!(rest.next(), Some(line));
                    line_number += 1;
                    if sign == " " {
                        old.push_str(line);
                    }
                }
            }
        }
        old.extend(rest);
        old
    }

    /// Texts with many equal lines, indented or blank, perhaps without a newline at the end.
    fn text() -> impl Strategy<Value = String> {
        let line = prop_oneof![Just("a"), Just("  a"), Just("b"), Just("    b"), Just("")];
        (prop::collection::vec(line, 0..40), any::<bool>()).prop_map(|(lines, ends)| {
            let text = lines.join("\n");
            if ends { text + "\n" } else { text }
        })
    }

    proptest! {
        #[test]
        fn the_old_text_follows_from_the_diff_and_the_new_text(old in text(), new in text()) {
            let diff = unified(&old, &new, "a", "b");
            prop_assert_eq!(diff.is_empty(), old == new);
            prop_assert_eq!(reverted(&diff, &new), old);
        }
    }
}
