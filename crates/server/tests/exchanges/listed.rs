//! The list of differences. Each line is `NUMBERS<tab>STATUS<tab>REASON` or a comment.
//!
//! NUMBERS are numbers of exchanges, such as `012 014-016`. STATUS is the code of our response,
//! `same` for the recorded code, or `unsent` for a request that the replay cannot make.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use libtest_mimic::Failed;

use crate::exchanges::recording::{Exchange, number};

/// The expected status of a response that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Same,
    Code(u16),
    Unsent,
}

pub(crate) struct Listed(BTreeMap<u32, Expected>);

impl Listed {
    pub(crate) fn is_unsent(&self, number: u32) -> bool {
        self.0.get(&number) == Some(&Expected::Unsent)
    }
}

/// Reads the list.
pub(crate) fn read(path: &Path) -> Result<Listed, Failed> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&text).map_err(|error| format!("{}: {error}", path.display()).into())
}

pub(crate) fn parse(text: &str) -> Result<Listed, String> {
    let mut listed = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [numbers, status, reason] = fields.as_slice() else {
            return Err(format!("not three fields: {line}"));
        };
        if reason.trim().is_empty() {
            return Err(format!("no reason: {line}"));
        }
        let status = match *status {
            "same" => Expected::Same,
            "unsent" => Expected::Unsent,
            code => Expected::Code(code.parse().map_err(|_| format!("no status: {line}"))?),
        };
        for range in numbers.split(' ') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let bound = |text: &str| text.parse::<u32>().map_err(|_| format!("no number: {line}"));
            for number in bound(first)?..=bound(last)? {
                if listed.insert(number, status).is_some() {
                    return Err(format!("{number} is listed twice"));
                }
            }
        }
    }
    Ok(Listed(listed))
}

/// The outcome of an exchange.
pub(crate) struct Outcome {
    pub(crate) file: String,
    recorded: u16,
    /// `None` if the request was not sent.
    status: Option<u16>,
    differences: Vec<String>,
    /// The faults of the response by itself.
    faults: Vec<String>,
}

impl Outcome {
    pub(crate) fn new(
        exchange: &Exchange,
        status: u16,
        differences: Vec<String>,
        faults: Vec<String>,
    ) -> Self {
        let recorded = exchange.response.status;
        Self { file: exchange.file.clone(), recorded, status: Some(status), differences, faults }
    }

    pub(crate) fn unsent(exchange: &Exchange) -> Self {
        Self { status: None, ..Self::new(exchange, 0, Vec::new(), Vec::new()) }
    }

    /// Returns the errors in the outcome, according to the list.
    pub(crate) fn verdict(&self, listed: &Listed) -> Vec<String> {
        let mut wrong = self.faults.clone();
        match (listed.0.get(&number(&self.file)), self.status) {
            (None, _) => wrong.extend(self.differences.clone()),
            (Some(Expected::Unsent), _) | (_, None) => {}
            (Some(_), Some(_)) if self.differences.is_empty() => {
                wrong.push("listed as a difference, but equal".to_owned());
            }
            (Some(Expected::Same), Some(status)) if status != self.recorded => {
                wrong.push(format!("listed as {}, but {status}", self.recorded));
                wrong.extend(self.differences.clone());
            }
            (Some(Expected::Code(code)), Some(status)) if status != *code => {
                wrong.push(format!("listed as {code}, but {status}"));
                wrong.extend(self.differences.clone());
            }
            _ => {}
        }
        wrong
    }
}

/// Returns a text for each exchange with an unexpected outcome.
pub(crate) fn wrong(outcomes: &[Outcome], listed: &Listed) -> Vec<String> {
    let mut texts: Vec<String> = outcomes
        .iter()
        .filter_map(|outcome| {
            let wrong = outcome.verdict(listed);
            (!wrong.is_empty()).then(|| entry(&outcome.file, &wrong))
        })
        .collect();
    let known = |number| {
        outcomes.iter().any(|outcome| crate::exchanges::recording::number(&outcome.file) == number)
    };
    texts.extend(
        listed
            .0
            .keys()
            .filter(|number| !known(**number))
            .map(|number| format!("{number}: not recorded")),
    );
    texts
}

/// Formats all differences, listed or not.
pub(crate) fn report(outcomes: &[Outcome]) -> String {
    let mut report = String::new();
    let equal = outcomes.iter().filter(|outcome| outcome.differences.is_empty()).count();
    let _ = writeln!(report, "{equal} of {} equal", outcomes.len());
    for outcome in outcomes {
        let all: Vec<String> = outcome.faults.iter().chain(&outcome.differences).cloned().collect();
        if !all.is_empty() {
            report.push_str(&entry(&outcome.file, &all));
            report.push('\n');
        }
    }
    report
}

fn entry(file: &str, lines: &[String]) -> String {
    let mut text = file.to_owned();
    for line in lines.iter().take(8) {
        let _ = write!(text, "\n    {line}");
    }
    if lines.len() > 8 {
        let _ = write!(text, "\n    … {} more", lines.len() - 8);
    }
    text
}
