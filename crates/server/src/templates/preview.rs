//! Previews of an expansion: the objects as one text, and each object in pieces.

use std::sync::Arc;

use krm_template_engine::{Assignment, Format, Object, Printer, Traced, process, trace};
use krm_yaml::Document;
use krm_yaml::diagnostic::Diagnostics;

use super::expand::{Expansion, Given, budget_of_trace};
use super::highlight::{HighlightedObject, Highlighter};
use super::parse;
use super::request::{Request, Text};
use super::source_map::LIMIT;
use krm_template_server_core::{Result, Status};

/// A preview of an expansion.
#[derive(Clone, Debug, Default)]
pub struct Preview {
    /// The objects as one YAML text, with secret values.
    pub yaml: String,
    /// The objects in order. Empty if they are not requested, or too large to be shown.
    pub objects: Vec<HighlightedObject>,
    /// Whether the objects are too large to be shown.
    pub is_too_large: bool,
    /// The message of the Template.
    pub message: Option<String>,
    /// The warnings of the expansion, without values.
    pub warnings: Vec<String>,
    /// Whether secret values are masked.
    pub has_masks: bool,
    /// The number of objects that the expansion created.
    pub created: usize,
}

/// The options of a preview.
#[derive(Clone, Copy)]
pub struct PreviewOptions {
    /// The seed of generated values, which makes them the same each time.
    pub seed: [u8; 32],
    /// How much of the objects to show.
    pub view: View,
}

/// How much of the objects to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Their text only, for a download.
    Download,
    /// The objects with masked secret values.
    WithoutSecrets,
    /// The objects with secret values.
    All,
}

/// Expands a Template in YAML with the `Parameters` in the body of a request, and previews the result.
/// Performs the same checks as [`stored`](super::stored).
///
/// # Errors
/// The same as [`stored`](super::stored).
pub fn preview(
    request: &Request<'_>,
    document: &Arc<Document>,
    parameters: Text<'_>,
    look: PreviewOptions,
) -> Result<Preview> {
    let values = parse::document("Parameters", parameters)?;
    let given = Given::read(request, document, &values)?;
    let request = given.request(request);
    let work = Expansion {
        request: &request,
        document,
        syntax: crate::request::Format::Yaml,
        values: Some(&values),
    };
    let checked = work.run(&given.values, given.found.clone())?;
    let budget = budget_of_trace(&request.limits);
    let options = work.options(&budget, Some(look.seed));
    let mut unheard = Diagnostics::new();
    let failed = || Status::internal("an expansion failed");
    let read = parse::template(document, request.group, false, &mut unheard);
    let template = read.ok_or_else(failed)?;
    let open = shown(&given.values);
    let mut printer = Printer::new(Format::Yaml);
    let mut print = |object: Object<'_>, found: &mut Diagnostics| printer.objects([object], found);
    let message = process(&template, &open, &options, &mut unheard, &mut print);
    work.check_budget(&budget)?;
    if unheard.has_errors() {
        return Err(failed());
    }
    let pieces = printer.finish();
    let yaml = pieces.concat();
    if yaml.len() > request.limits.bytes {
        return Err(work.too_long());
    }
    let mut preview = Preview {
        is_too_large: yaml.len() > LIMIT,
        message,
        warnings: checked.warnings,
        created: checked.objects,
        yaml,
        ..Preview::default()
    };
    if preview.is_too_large {
        // It may contain secrets, which only a trace finds.
        preview.message = None;
    }
    if look.view == View::Download || preview.is_too_large {
        return Ok(preview);
    }
    let budget = budget_of_trace(&request.limits);
    let options = work.options(&budget, Some(look.seed));
    let trace = trace(&template, &open, &options, &mut unheard);
    work.check_budget(&budget)?;
    let trace = trace.ok_or_else(failed)?;
    let shows_secrets = look.view == View::All;
    // Every other piece is a separator.
    let texts: Vec<&str> = pieces.iter().step_by(2).map(String::as_str).collect();
    preview.objects = Highlighter::new(document, &trace, shows_secrets).objects(&texts);
    let is_masked = !shows_secrets && trace.message != preview.message;
    if is_masked {
        preview.message.clone_from(&trace.message);
    }
    let masked = |object: &Traced| object.fields.iter().any(|field| object.is_secret(field));
    preview.has_masks = is_masked || !shows_secrets && trace.objects.iter().any(masked);
    Ok(preview)
}

/// Returns given values that are not secret by themselves. Those of secret parameters stay hidden.
fn shown(given: &[Assignment]) -> Vec<Assignment> {
    let mut open = given.to_vec();
    for one in &mut open {
        one.secret = false;
    }
    open
}
