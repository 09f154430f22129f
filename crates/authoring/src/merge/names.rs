//! The new names of parameters, as the options `--prefix`, `--rename` and `--share` ask for them.

use std::collections::{BTreeMap, BTreeSet};

use crate::merge::options::Options;
use crate::merge::part::Part;
use krm_template_engine::Dialect;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::suggest::closest;

/// Finds the new names; the Templates still have the old ones.
pub(super) fn rename(parts: &mut [Part<'_>], options: &Options, found: &mut Diagnostics) {
    for one in &options.prefixes {
        let Some(part) = find(parts, &one.template, "--prefix", found) else {
            continue;
        };
        let names = part.template.parameters().iter();
        let names: Vec<String> = names.map(|one| one.name.clone()).collect();
        for name in names {
            let new = format!("{}{name}", one.prefix);
            part.renames.insert(name, new);
        }
    }
    for one in &options.renames {
        let Some(part) = find(parts, &one.template, "--rename", found) else {
            continue;
        };
        if part.template.parameters().iter().all(|known| known.name != one.from) {
            found.push(unknown_parameter(part, &one.from));
            continue;
        }
        part.renames.insert(one.from.clone(), one.to.clone());
    }
    for part in parts.iter() {
        check(part, found);
    }
    if !found.has_errors() {
        check_shared(parts, options, found);
    }
}

/// The Template that an option names, by its name or by its file.
fn find<'p, 'd>(
    parts: &'p mut [Part<'d>],
    word: &str,
    option: &str,
    found: &mut Diagnostics,
) -> Option<&'p mut Part<'d>> {
    let by_name = parts.iter().filter(|part| part.name == word).count();
    let by_file = parts.iter().filter(|part| part.is_of_file(word)).count();
    let diagnostic = match (by_name, by_file) {
        (1, _) => return parts.iter_mut().find(|part| part.name == word),
        (_, 1) => return parts.iter_mut().find(|part| part.is_of_file(word)),
        (0, 0) => {
            let labels = parts.iter().map(|part| part.label.as_str());
            let meant = closest(word, labels.clone());
            let hint = meant.map_or_else(
                || {
                    let labels: Vec<String> = labels.map(|label| format!("`{label}`")).collect();
                    format!("the Templates are {}", labels.join(", "))
                },
                |meant| format!("did you mean `{meant}`?"),
            );
            Diagnostic::error(format!("`{option}` names the unknown Template `{word}`")).hint(hint)
        }
        _ => Diagnostic::error(format!(
            "`{option}` names the Template `{word}`, but several Templates have this name"
        ))
        .hint("use the name of its file, or rename one of the Templates"),
    };
    found.push(diagnostic);
    None
}

fn unknown_parameter(part: &Part<'_>, name: &str) -> Diagnostic {
    let known = part.template.parameters().iter();
    let meant = closest(name, known.map(|parameter| parameter.name.as_ref()));
    let hint = match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("to list its parameters, run `krm-template parameters -f {}`", part.file()),
    };
    let message = format!(
        "`--rename` names the parameter `{name}`, which Template `{}` does not declare",
        part.label
    );
    Diagnostic::error(message).hint(hint)
}

/// Reports new names to which nothing can refer, and two parameters that get one name.
fn check(part: &Part<'_>, found: &mut Diagnostics) {
    let mut taken: BTreeMap<&str, &str> = BTreeMap::new();
    for parameter in part.template.parameters() {
        let old = parameter.name.as_ref();
        let new = part.renamed(old);
        if old != new && !is_name(new, part.template.dialect()) {
            let hint = match part.template.dialect() {
                Dialect::Proposal => {
                    "begin with a letter or `_`, and use letters, digits, `_`, `.` and `-`"
                }
                Dialect::OpenShift => "use letters, digits and `_`",
            };
            let message = format!("`{new}` is not a parameter name that references can use");
            found.push(Diagnostic::error(message).hint(hint));
        }
        let Some(other) = taken.insert(new, old).filter(|other| *other != old) else {
            continue;
        };
        let message = format!(
            "the parameters `{other}` and `{old}` of Template `{}` both become `{new}`",
            part.label
        );
        found.push(part.error(message, None).hint("use another name in `--rename` or `--prefix`"));
    }
}

fn is_name(name: &str, dialect: Dialect) -> bool {
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let may_follow = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    match dialect {
        Dialect::OpenShift => !name.is_empty() && name.bytes().all(may_follow),
        Dialect::Proposal => {
            starts && name.bytes().all(|byte| may_follow(byte) || b".-".contains(&byte))
        }
    }
}

/// Each shared parameter must be in two Templates.
fn check_shared(parts: &[Part<'_>], options: &Options, found: &mut Diagnostics) {
    let names: Vec<BTreeSet<String>> = parts.iter().map(Part::new_names).collect();
    for shared in &options.shared {
        let declared = names.iter().filter(|names| names.contains(shared)).count();
        if declared > 1 {
            continue;
        }
        let all = names.iter().flatten().map(String::as_str);
        let message = match declared {
            0 => format!("`--share` names the parameter `{shared}`, which no Template declares"),
            _ => format!(
                "`--share` names the parameter `{shared}`, which only one Template declares"
            ),
        };
        let meant = closest(shared, all).filter(|_| declared == 0);
        found.push(
            Diagnostic::error(message)
                .maybe_hint(meant.map(|meant| format!("did you mean `{meant}`?")))
                .hint("to give parameters one name, add `--rename TEMPLATE:OLD=NEW`"),
        );
    }
}
