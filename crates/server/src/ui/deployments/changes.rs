//! The differences between two manifests, as unified diffs.

use minijinja::context;
use std::collections::BTreeSet;

use krm_core::report::unified;
use krm_core::visible::counted;
use krm_yaml::Value;

use super::address::Address;
use crate::http::Answer;
use crate::ui::pages::{self, ChangedText};
use crate::ui::visit::{Visit, html};
use krm_template_server_core::{Result, Status, panics};
use krm_template_server_deployments::Manifest;

/// The maximum number of lines on a page.
const MAX_LINES: usize = 5_000;

/// Shows the differences between two manifests, by default the latest one and the previous one.
pub(super) async fn page(visit: &Visit<'_>, address: &Address) -> Result<Answer> {
    let service = &visit.state.deployments;
    let query = &visit.incoming.query;
    let manifests = if address.allows_manifests(visit, "list").await? {
        service.manifests(&address.target).await?
    } else {
        Vec::new()
    };
    let (from, to) = chosen(&manifests, query.text("from"), query.text("to"))?;
    let older = service.manifest(&address.target, &from).await?;
    let newer = service.manifest(&address.target, &to).await?;
    let turn = visit.state.admission.expansion().await?;
    let limit = visit.state.limits.expansion_timeout;
    let compared = panics::limited(&visit.state.metrics, limit, move |is_late| {
        let _turn = turn;
        let read = |manifest: &[u8]| {
            if is_late() {
                return Err(late());
            }
            Manifest::read(manifest)
        };
        compare(&read(&older)?, &read(&newer)?, is_late)
    });
    let (texts, is_cut) = compared.await?;
    let sum = |count: fn(&ChangedText) -> usize| texts.iter().map(count).sum();
    let page = context! {
        list => address.list(),
        deployment => address.deployment(),
        from => address.manifest(&from),
        to => address.manifest(&to),
        manifests,
        action => address.choice(),
        count => format!(
            "{} added, {} removed",
            counted(sum(|text| text.added), "line"),
            sum(|text| text.removed)
        ),
        texts => pages::data(&texts),
        is_cut,
    };
    let title = format!("Changes of {}", address.target.name);
    let frame = visit.frame("changes", &title, &address.target.namespace);
    Ok(html(200, pages::render("deployment-changes.html", &frame, page)?))
}

/// Returns the manifests to compare.
///
/// # Errors
/// 400 if a manifest is neither given nor has a default.
fn chosen(manifests: &[String], from: &str, to: &str) -> Result<(String, String)> {
    let to = match to {
        "" => manifests.last().map(String::as_str),
        to => Some(to),
    };
    let from = match from {
        "" => {
            let at = manifests.iter().position(|one| Some(one.as_str()) == to);
            let before = at.and_then(|at| manifests.get(at.saturating_sub(1)));
            before.map(String::as_str)
        }
        from => Some(from),
    };
    match (from, to) {
        (Some(from), Some(to)) => Ok((from.to_owned(), to.to_owned())),
        _ => Err(Status::bad_request("from and to must name the manifests to compare")),
    }
}

/// Returns the texts that differ, and whether lines are left out.
///
/// # Errors
/// 504 if the time is up.
fn compare(
    older: &Manifest,
    newer: &Manifest,
    is_late: &dyn Fn() -> bool,
) -> Result<(Vec<ChangedText>, bool)> {
    let mut texts = Vec::new();
    let mut add = |title: &str, older: &str, newer: &str| {
        if is_late() {
            return Err(late());
        }
        let diff = unified(older, newer, "", "");
        // Its header has names of files.
        let text = changed(title, diff.lines().skip(2));
        texts.extend((!text.lines.is_empty()).then_some(text));
        Ok(())
    };
    add("Configuration", &older.configuration, &newer.configuration)?;
    let imports = older.imports.iter().chain(&newer.imports);
    let names: BTreeSet<&str> = imports.map(|import| import.name.as_str()).collect();
    for name in names {
        let content = |manifest: &Manifest| {
            let import = manifest.import(name);
            import.map_or_else(String::new, |import| import.content.clone())
        };
        add(name, &content(older), &content(newer))?;
    }
    let expanded = |manifest: &Manifest| {
        let resources = manifest.resources.clone();
        krm_yaml::to_string(&Value::mapping(vec![("resources".into(), Value::sequence(resources))]))
    };
    add("Expanded configuration", &expanded(older), &expanded(newer))?;
    let mut left = MAX_LINES;
    let mut is_cut = false;
    for text in &mut texts {
        is_cut |= text.lines.len() > left;
        text.lines.truncate(left);
        left -= text.lines.len();
    }
    texts.retain(|text| !text.lines.is_empty());
    Ok((texts, is_cut))
}

fn late() -> Box<Status> {
    Status::new(504, "Timeout", "the manifests take too long to compare")
}

/// Returns the lines of a unified diff without a header.
pub(in crate::ui) fn changed<'d>(title: &str, diff: impl Iterator<Item = &'d str>) -> ChangedText {
    let mut text = ChangedText { title: title.to_owned(), ..ChangedText::default() };
    for line in diff {
        let element = match line.as_bytes() {
            [b'+', ..] => {
                text.added += 1;
                "ins"
            }
            [b'-', ..] => {
                text.removed += 1;
                "del"
            }
            [b' ', ..] => "span",
            _ => "b",
        };
        text.lines.push(context! { element, text => line.to_owned() });
    }
    text
}
