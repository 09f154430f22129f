//! `docs/rules.md` has a section for every rule of `validate`, which begins with its severity and
//! summary. The example of a rule is a diff in `tests/rules`, of which the document shows the
//! essential lines. The old side breaks that rule and no other, the new side breaks none.

use std::fs;

use krm_template::lint::{RULES, Rule};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::markdown;
use crate::needs;
use crate::program;

const DOCS: &str = "docs/rules.md";
const EXAMPLES: &str = "tests/rules";

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test("rules/each_has_a_section", sections)];
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

fn sections() -> Result<(), Failed> {
    let docs = docs()?;
    let sections: Vec<&str> = docs.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
    if sections != names {
        return Err(format!("{DOCS} should have the sections {names:?}").into());
    }
    Ok(())
}

/// The example of a rule is a diff: without its `+` lines it breaks the rule, without its `-` lines
/// it breaks none. The section shows all changed lines, and some of the others.
fn section_holds(rule: &Rule) -> Result<(), Failed> {
    let docs = docs()?;
    let section = docs
        .split("\n## ")
        .find_map(|section| section.strip_prefix(&format!("{}\n", rule.name)))
        .ok_or("it has no section")?;
    let Rule { severity, summary, .. } = rule;
    let beginning = format!("{}: {summary}.", severity.as_str());
    let begins = section.trim_start().get(..beginning.len());
    if !begins.is_some_and(|begins| begins.eq_ignore_ascii_case(&beginning)) {
        return Err(format!("the section should begin with `{beginning}`").into());
    }
    let blocks = markdown::blocks(section);
    let block = blocks.iter().find(|block| block.language == "diff");
    let shown = &block.ok_or("it has no example")?.lines;
    let path = crate::root().join(format!("{EXAMPLES}/{}.diff", rule.name));
    let example =
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    is_excerpt(shown, &example)?;
    let bad = findings(&without(&example, '+'))?;
    let is_meant = |finding: &Value| {
        finding["rule"] == rule.name && finding["severity"] == rule.severity.as_str()
    };
    if bad.is_empty() || !bad.iter().all(is_meant) {
        return Err(format!("the bad example should break this rule only: {bad:#?}").into());
    }
    let good = findings(&without(&example, '-'))?;
    if !good.is_empty() {
        return Err(format!("the good example breaks a rule: {good:#?}").into());
    }
    Ok(())
}

/// Fails unless the lines are those of the example in their order, with all that are changed.
fn is_excerpt(shown: &[&str], example: &str) -> Result<(), Failed> {
    let mut shown = shown.iter().peekable();
    for line in example.lines() {
        if shown.next_if(|next| **next == line).is_none() && !line.starts_with(' ') {
            return Err(format!("{DOCS} does not show the line `{line}`").into());
        }
    }
    match shown.next() {
        Some(line) => Err(format!("the example does not have the line `{line}`").into()),
        None => Ok(()),
    }
}

/// One side of a diff.
fn without(diff: &str, sign: char) -> String {
    let lines = diff.lines().filter(|line| !line.starts_with(sign));
    let texts = lines.filter_map(|line| line.get(1..));
    texts.flat_map(|text| [text, "\n"]).collect()
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
