//! Real Templates have forms, and expand to the same objects as with `process`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use krm_template_engine::{Assignment, Format, Generation, Options, Reading, Template, print};
use krm_template_server::request::Format as Syntax;
use krm_template_server::templates;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, SharedNode};

use crate::pages::site::{Site, unescaped};

tests!(; shared data: real_templates_open_as_forms_and_give_the_objects_of_process);

/// Returns the output of `process`, or `None` if it refuses the Template or the values.
fn processed(text: &str, version: &str, given: &[Assignment]) -> Option<String> {
    let document = Arc::new(Document::parse(&Source::new("Template", text)).ok()?);
    let root = SharedNode::roots(&document).next()?;
    let reading = Reading { api_version: Some(version), conceals_values: false };
    let mut found = Diagnostics::new();
    let template = Template::read_as(&root, reading, &mut found)?;
    let options = Options::new(Generation::Once([7; 32].into()));
    let printed = print(&template, given, &options, Format::Yaml, &mut found)?;
    Some(printed.pieces.concat())
}

/// Returns the fields of a form with their initial values, as a browser sends them.
fn first_values(page: &str) -> Vec<(String, String)> {
    let attribute = |tag: &str, name: &str| {
        let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
        Some(unescaped(rest.split_once('"')?.0))
    };
    let (_, form) = page.split_once("<form id=\"form\"").unwrap();
    let (form, _) = form.split_once("<div class=\"actions\">").unwrap();
    let mut values = Vec::new();
    let mut list = None;
    for part in form.split('<') {
        let (tag, rest) = part.split_once('>').unwrap_or((part, ""));
        let name = attribute(tag, "name").filter(|name| name.starts_with("p."));
        let value = attribute(tag, "value").unwrap_or_default();
        let element = tag.split(' ').next().unwrap_or_default();
        match (element, name) {
            ("input", Some(name)) => {
                let is_button = tag.contains("type=\"radio\"");
                if !is_button || tag.ends_with(" checked") {
                    values.push((name, value));
                }
            }
            ("textarea", Some(name)) => {
                let text = rest.strip_prefix('\n').unwrap_or(rest);
                values.push((name, unescaped(text).replace('\n', "\r\n")));
            }
            ("select", name) => list = name,
            ("option", _) if tag.ends_with(" selected") => {
                values.push((list.clone().unwrap(), value));
            }
            _ => {}
        }
    }
    values
}

/// Returns the values of the corpus for a Template.
fn given(folder: &Path, name: &str) -> Vec<(String, String)> {
    let file = folder.join("params").join(format!("{name}.env"));
    // Most Templates need no values.
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[tokio::main(flavor = "current_thread")]
async fn real_templates_open_as_forms_and_give_the_objects_of_process() {
    let folder = PathBuf::from(std::env::var_os("KRM_TEMPLATE_SHARED").unwrap());
    let folder = folder.join("corpus/openshift");
    let site = Site::open().await;
    let table = std::fs::read_to_string(folder.join("index.tsv")).unwrap();
    let mut rows = table.lines().map(|row| row.split('\t').next().unwrap());
    assert_eq!(rows.next(), Some("file"));
    let files: Vec<&str> = rows.collect();
    assert_eq!(files.len(), 579);
    let (mut opened, mut compared) = (0, 0);
    for name in files {
        let text = std::fs::read_to_string(folder.join("templates").join(name)).unwrap();
        let page = site.post("/ui/upload", &[("text", &text)]).await;
        if page.code != 200 {
            assert_eq!(page.code, 422, "{name}: {}", page.text);
            continue;
        }
        opened += 1;
        let given = given(&folder, name);
        let mut fields = first_values(&page.text);
        for (name, value) in &given {
            fields.retain(|(field, _)| field != &format!("p.{name}"));
            fields.push((format!("p.{name}"), value.clone()));
        }
        let seed = "07".repeat(32);
        let mut sent: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        sent.extend([("template", text.as_str()), ("seed", &seed), ("action", "download")]);
        let page = site.post("/ui/upload", &sent).await;
        let given: Vec<Assignment> = given
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| Assignment::text(name, value, "the test"))
            .collect();
        let is_ours = text.contains("template.krm.dev/v1alpha1");
        let version =
            if is_ours { "template.krm.dev/v1alpha1" } else { "template.openshift.io/v1" };
        // The server shows and expands a Template in JSON as YAML.
        let text = readable(&text);
        match processed(text.text(), version, &given) {
            Some(expected) => {
                assert_eq!(page.code, 200, "{name}: {}", page.text);
                assert!(page.text == expected, "{name}: the objects differ");
                compared += 1;
            }
            None => assert_eq!(page.code, 422, "{name}"),
        }
    }
    assert!(opened > 570 && compared > 560, "{opened} {compared}");
}

fn readable(text: &str) -> Arc<Document> {
    let is_json = text.trim_start().starts_with('{');
    let document = Document::parse(&Source::new("Template", text)).unwrap();
    let syntax = if is_json { Syntax::Json } else { Syntax::Yaml };
    templates::readable(document, syntax).unwrap()
}
