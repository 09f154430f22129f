//! Merges several Templates into one, whose parameters and objects keep their text.
//!
//! Reading finds the Templates and the new names of their parameters. Then every rule compares the
//! Templates as plain data, changes the data, and reports all conflicts. Writing edits the texts.
//!
//! References are renamed by position in the text, which changes no node, so the changed data still
//! fits. The lines of the other lists are copied into the first text, and the result is read again
//! and compared with the data.

mod crossings;
mod fields;
mod labels;
mod message;
mod metadata;
mod names;
mod objects;
mod options;
mod parameters;
mod part;
mod references;
mod splice;
mod values;
mod write;

pub use self::options::{Format, Options, Prefer, Prefix, Rename};

use self::part::Part;
use krm_yaml::SharedNode;
use krm_yaml::diagnostic::Diagnostics;

/// Merges the Templates under these nodes, in this order. Returns the text of the merged Template.
/// All errors and warnings go to `diagnostics`; after an error there is no text.
pub fn merge(
    roots: &[SharedNode],
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let mut parts = Part::read_all(roots, diagnostics)?;
    let mut found = Diagnostics::new();
    fields::check_dialects(&parts, &mut found);
    names::rename(&mut parts, options, &mut found);
    if !found.has_errors() {
        decide(&mut parts, options, &mut found);
    }
    let text = if found.has_errors() {
        None
    } else {
        write::keep_texts(&mut parts, options.format);
        found.take(write::text(&parts, options.format))
    };
    let text = text.filter(|text| write::check_dialect(text, &parts, &mut found));
    let secrets = parts.iter().flat_map(|part| part.template.secrets(&[]));
    found.conceal(&secrets.collect::<Vec<_>>());
    diagnostics.append(found);
    text
}

/// Applies every rule to the data of the Templates, of which the first becomes the merged one.
fn decide(parts: &mut [Part<'_>], options: &Options, found: &mut Diagnostics) {
    fields::join_api_versions(parts);
    references::rename(parts, found);
    values::unify(parts, options, found);
    parameters::unify(parts, options, found);
    labels::unify(parts, options, found);
    objects::unify(parts, found);
    crossings::warn(parts, found);
    message::join(parts);
    metadata::join(parts, options, found);
    fields::warn_of_left_out(parts, found);
}
