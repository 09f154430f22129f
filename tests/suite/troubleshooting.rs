//! The messages in `docs/troubleshooting.md` are those that the program prints.
//!
//! A block after a line `<!-- tests/cases/AREA/CASE -->` is the first message that the case prints to
//! standard error.

use std::fs;

use libtest_mimic::{Failed, Trial};

use crate::cases::Case;
use crate::diff::diff;
use crate::markdown;

const PAGE: &str = "docs/troubleshooting.md";
/// The page promises this many messages.
const MESSAGES: usize = 10;

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::test("troubleshooting/messages_are_printed", messages)]
}

fn messages() -> Result<(), Failed> {
    let path = crate::root().join(PAGE);
    let mut page = fs::read_to_string(&path)?;
    let blocks: Vec<(String, String)> = markdown::blocks(&page)
        .iter()
        .filter_map(|block| Some((case(block.before)?.to_owned(), block.text())))
        .collect();
    if blocks.len() < MESSAGES {
        return Err(format!("{PAGE} quotes {} messages of {MESSAGES}", blocks.len()).into());
    }
    for (case, quoted) in blocks {
        let printed = Case::named(&case);
        let printed =
            printed.get("stderr.txt").ok_or_else(|| format!("{case} has no stderr.txt"))?;
        let printed = first_message(&String::from_utf8_lossy(printed));
        let Some(diff) = diff(quoted.as_bytes(), printed.as_bytes()) else {
            continue;
        };
        if !crate::update() {
            return Err(format!("{PAGE}, {case}: {diff}(UPDATE=1 writes it anew)").into());
        }
        page = page.replacen(&quoted, &printed, 1);
        fs::write(&path, &page)?;
    }
    Ok(())
}

/// The name of a case in a comment.
fn case(line: &str) -> Option<&str> {
    line.strip_prefix("<!-- tests/cases/")?.strip_suffix(" -->")
}

/// The lines before the first empty line.
fn first_message(stderr: &str) -> String {
    let lines = stderr.split_inclusive('\n');
    lines.take_while(|line| *line != "\n").collect()
}
