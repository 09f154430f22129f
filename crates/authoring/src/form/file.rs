//! The form of a Template as a standalone file, which needs no server.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::form::controls::{Checks, Filled};
use crate::form::html::{escape, escaped};
use crate::form::links::linked;
use crate::form::model::Form;
use krm_template_engine::Template;

/// The style sheet for pages with the fields.
pub const STYLE: &str = include_str!("style.css");

/// The script for pages with the fields.
pub const CONTROLS: &str = include_str!("controls.js");

/// The only script in the file: that of the fields, and the one that generates the outputs.
const SCRIPT: &str = concat!(include_str!("controls.js"), include_str!("form.js"));

/// The ids and titles of the outputs.
const OUTPUTS: [(&str, &str); 3] =
    [("command", "Command"), ("values", "Values file"), ("instance", "TemplateInstance")];

/// Renders the form of a Template as an HTML file. `name` is the name of the Template's file.
///
/// The script in it generates a command line, a values file and a `TemplateInstance`.
pub fn file(template: &Template, name: &str) -> String {
    let (title, description) = template.title();
    let title = match (&title, template.name()) {
        (Some(title), _) if !title.trim().is_empty() => title.trim(),
        (_, "") => "Template",
        (_, name) => name,
    };
    let mut out = head(title);
    out.push_str("<div class=\"title\"><h1>");
    escape(title, &mut out);
    out.push_str("</h1>\n<p class=\"meta\"><code>");
    escape(name, &mut out);
    out.push_str("</code></p>\n");
    if let Some(description) = description {
        out.push_str("<p class=\"description\">");
        out.push_str(&linked(description.trim()));
        out.push_str("</p>\n");
    }
    out.push_str(
        "</div>\n<noscript><p>This file needs JavaScript to make the outputs.</p></noscript>\n",
    );
    out.push_str("<div class=\"work\">\n<form id=\"form\" class=\"form\"");
    let data =
        [("template", template.name()), ("api-version", template.api_version()), ("file", name)];
    for (key, value) in data {
        // Writing to a string cannot fail.
        let _ = write!(out, " data-{key}=\"{}\"", escaped(value));
    }
    out.push_str(">\n");
    let form = Form::of(template);
    if form.groups.is_empty() {
        out.push_str("<p class=\"nothing\">This Template has no parameters.</p>\n");
    }
    out.push_str(&form.html(Checks::Browser, &Filled::default()));
    out.push_str("<div class=\"actions\"><p id=\"status\" role=\"status\"></p></div>\n</form>\n");
    out.push_str("<div class=\"output\" id=\"output\">\n");
    out.push_str("<section id=\"use\" class=\"use\"><h2>Use it</h2>\n<div class=\"tabs\">\n");
    for (index, (id, title)) in OUTPUTS.iter().enumerate() {
        let open = if index == 0 { " open" } else { "" };
        let _ = write!(
            out,
            "<details class=\"tab\" name=\"use\"{open}><summary>{title}</summary>\n\
             <div class=\"copied\"><pre id=\"use-{id}\" tabindex=\"0\"></pre>\n\
             <button type=\"button\" class=\"copy\" data-copy=\"use-{id}\" hidden>Copy</button></div></details>\n"
        );
    }
    out.push_str("</div></section>\n</div>\n</div>\n</main>\n<script>");
    out.push_str(SCRIPT);
    out.push_str("</script>\n</body>\n</html>\n");
    out
}

fn head(title: &str) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; \
         base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    );
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body data-page=\"file\">\n\
         <a class=\"skip\" href=\"#main\">Skip to the form</a>\n<main id=\"main\">\n",
        escaped(title)
    )
}
