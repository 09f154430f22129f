//! Makes the same changes with krm-yaml and with other crates.
//!
//! usage: krm-yaml-peers cases            prints a table: which cases each crate does as a person would
//!        krm-yaml-peers outputs CRATE    prints what a crate makes of each case
//!        krm-yaml-peers CRATE one FILE   sets `spec.replicas` in one item of a List
//!        krm-yaml-peers CRATE each FILE  sets it in each document
//!
//! `one` and `each` print how many lines changed (all, if they became more or fewer); with `--quiet`,
//! nothing.

mod cases;
mod peers;

use std::process::ExitCode;

use cases::CASES;
use peers::{Change, New, Peer};

/// The number of replicas that no Deployment of the input has.
const REPLICAS: New = New::Number(50);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["cases"] => {
            table();
            Ok(())
        }
        ["outputs", peer] => Peer::named(peer).map(outputs),
        [peer, work, file] => Peer::named(peer).and_then(|peer| {
            let (old, new) = change(peer, work, file)?;
            println!("{}", changed_lines(&old, &new));
            Ok(())
        }),
        [peer, work, file, "--quiet"] => {
            Peer::named(peer).and_then(|peer| change(peer, work, file).map(drop))
        }
        _ => Err("usage: krm-yaml-peers cases | outputs CRATE | CRATE one|each FILE".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a row for each case.
fn table() {
    let names: Vec<&str> = Peer::ALL.iter().map(|peer| peer.name()).collect();
    println!("| case | {} |", names.join(" | "));
    println!("|---|{}", "---|".repeat(names.len()));
    for case in CASES {
        let cells = Peer::ALL.iter().map(|peer| match case.run(*peer) {
            result if case.is_met_by(&result) => "yes",
            Ok(_) => "other",
            Err(_) => "error",
        });
        println!("| {} | {} |", case.name, cells.collect::<Vec<_>>().join(" | "));
    }
}

fn outputs(peer: Peer) {
    for case in CASES {
        let result = match case.run(peer) {
            result if case.is_met_by(&result) => continue,
            Ok(text) => text,
            Err(message) => format!("error: {message}\n"),
        };
        println!("== {}\n{result:?}\n   expected: {:?}", case.name, case.expected);
    }
}

/// The text of a file, and the text with the changes of a work.
fn change(peer: Peer, work: &str, file: &str) -> Result<(String, String), String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let replicas = |document, path: String| {
        let path = path.parse().map_err(|error| format!("{error}"))?;
        Ok(Change::set(document, path, REPLICAS))
    };
    let changes: Result<Vec<Change>, String> = match work {
        "one" => {
            let items = text.matches("\n- apiVersion:").count();
            [replicas(0, format!("items[{}].spec.replicas", items / 2))].into_iter().collect()
        }
        "each" => {
            let documents = text.matches("\napiVersion:").count();
            (0..documents).map(|at| replicas(at, "spec.replicas".to_owned())).collect()
        }
        _ => Err(format!("unknown work `{work}`")),
    };
    let new = peer.edit(&text, &changes?)?;
    Ok((text, new))
}

/// The number of lines that differ; of all lines, if they are more or fewer than before.
fn changed_lines(old: &str, new: &str) -> usize {
    if old.lines().count() != new.lines().count() {
        return old.lines().count();
    }
    let changed = old.lines().zip(new.lines());
    changed.filter(|(old, new)| old != new).count()
}
