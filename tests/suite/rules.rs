//! `docs/rules.md` describes every rule of `validate`: the table at its top is the program's, the
//! bad example of a rule breaks that rule and no other, and the good one breaks none.

use std::fs;

use krm_template::lint::{RULES, Rule};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::needs;
use crate::program;

const DOCS: &str = "docs/rules.md";

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test("rules/the_table_is_complete", table)];
    trials.extend(RULES.iter().map(|rule| {
        let name = format!("rules/{}", rule.name);
        let trial = Trial::test(name, move || section_holds(rule));
        let reason =
            program::needs(program::DEPLOYMENT_MANAGER).filter(|_| rule.name.starts_with("dm-"));
        needs::ignored(trial, reason)
    }));
    trials
}

fn docs() -> Result<String, Failed> {
    Ok(fs::read_to_string(crate::root().join(DOCS))?)
}

fn table() -> Result<(), Failed> {
    let docs = docs()?;
    let rows: Vec<&str> = docs
        .lines()
        .filter(|line| line.starts_with("| ["))
        .collect();
    let expected: Vec<String> = RULES
        .iter()
        .map(|rule| {
            let Rule { name, summary, .. } = rule;
            format!(
                "| [`{name}`](#{name}) | {} | {summary} |",
                rule.severity.as_str()
            )
        })
        .collect();
    let sections: Vec<&str> = docs
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    let names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
    if rows != expected || sections != names {
        return Err(format!(
            "{DOCS} should have the sections {names:?} and the rows\n{}",
            expected.join("\n")
        )
        .into());
    }
    Ok(())
}

fn section_holds(rule: &Rule) -> Result<(), Failed> {
    let docs = docs()?;
    let section = docs
        .split("\n## ")
        .find_map(|section| section.strip_prefix(&format!("{}\n", rule.name)))
        .ok_or("it has no section")?;
    let example = |label: &str| {
        let (_, text) = section.split_once(&format!("\n{label}:\n```yaml\n"))?;
        Some(text.split_once("```")?.0)
    };
    let bad = findings(example("Bad").ok_or("it has no bad example")?)?;
    let is_meant = |finding: &Value| {
        finding["rule"] == rule.name && finding["severity"] == rule.severity.as_str()
    };
    if bad.is_empty() || !bad.iter().all(is_meant) {
        return Err(format!("the bad example should break this rule only: {bad:#?}").into());
    }
    let good = findings(example("Good").ok_or("it has no good example")?)?;
    if !good.is_empty() {
        return Err(format!("the good example breaks a rule: {good:#?}").into());
    }
    Ok(())
}

fn findings(template: &str) -> Result<Vec<Value>, Failed> {
    let mut command = program::command(crate::root());
    command.args(["validate", "-o", "json", "-"]);
    let output = program::run(&mut command, template.into())?;
    if !output.stderr.is_empty() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
