//! What `process`, `build` or `--check` refuses of the input of a case, `validate` reports at the same
//! place, and the other way round.

use std::collections::{BTreeMap, BTreeSet};

use libtest_mimic::Failed;

use crate::cases::{self, Case};

/// The cases that differ, each with the reason.
const KNOWN: &[(&str, &[&str])] = &[
    (
        "a function or `build` may give a Composition objects, and its user may allow programs, so `validate` reports only what an API server refuses of it",
        &[
            "build/a-composition-within-itself",
            "build/a-container-must-be-allowed",
            "build/a-cycle-of-builds-is-shown",
            "build/a-cycle-through-the-file-of-a-composition",
            "build/a-mistake-in-an-inline-patch-is-placed-in-its-file",
            "build/a-mistake-in-an-override-is-placed-there",
            "build/a-patch-is-not-fetched",
            "build/a-program-must-be-allowed",
            "build/a-source-must-be-one-object",
            "build/a-template-export-needs-resources",
            "build/a-template-in-a-composition-lacks-a-value",
            "build/a-transformer-must-leave-an-object",
            "build/an-operation-needs-its-value",
            "build/an-override-of-a-kustomization-reads-no-files-outside",
            "build/dots-and-slashes",
            "build/errors-of-a-kustomization-name-the-users-files",
            "build/files-outside-of-the-directory-are-not-read",
            "build/helm-must-be-allowed",
            "build/json-pointers-of-other-tools",
            "build/names-are-strings",
            "build/paths-without-objects",
            "build/programs-and-containers-are-checked-before-anything-runs",
            "build/resources-are-not-added-twice",
        ],
    ),
    (
        "an object of a Template may complete one that exists",
        &["build/a-template-updates-resources-that-have-changed"],
    ),
    (
        "`validate` does not run git, and what an option allows is no error",
        &["build/what-a-kustomization-names-must-be-there"],
    ),
    ("only written files have names", &["build/a-directory-gets-resources-only"]),
    (
        "the same mistake, at another one of its places",
        &[
            "build/a-cycle-of-imports-is-shown",
            "build/a-deployment-configuration-runs-no-python",
            "labels/an-empty-pod-selector-still-means-all-pods",
            "labels/go-on-pod-templates-without-labels",
            "openshift/labels-are-always-strings",
            "openshift/raw-references-are-typed-as-json",
            "proposal/an-undeclared-reference-in-the-templates-labels-fails",
            "proposal/braces-around-a-declared-name-fail",
            "proposal/raw-reference-to-a-structure-is-the-structure",
        ],
    ),
    (
        "a value may be given that is right: `validate` has only those of the Template",
        &[
            "errors/an-empty-value-of-a-required-parameter",
            "openshift/a-key-may-become-empty",
            "openshift/optional-fields-are-left-out",
            "openshift/the-value-of-a-raw-reference-is-not-scanned-again",
            "parameters/a-later-yaml-file-beats-an-earlier-one-key-by-key",
            "parameters/values-that-fit-their-types",
            "proposal/a-value-of-several-lines",
            "proposal/a-variable-of-the-container-is-left-to-the-kubelet",
            "proposal/with-env-from-an-unknown-variable-is-left-to-the-kubelet",
        ],
    ),
    (
        "`validate` reads all kinds",
        &[
            "errors/build-of-a-template",
            "errors/build-of-another-object",
            "errors/process-of-another-kind",
            "errors/values-in-place-of-a-template",
            "process/a-kustomization-is-no-template",
        ],
    ),
    (
        "a warning: the Template may be elsewhere",
        &[
            "errors/an-instance-whose-files-are-not-given",
            "parameters/parameter-values-for-another-template-fail",
        ],
    ),
    (
        "`process` warns, as `oc` does",
        &[
            "labels/that-kubernetes-refuses-are-warnings",
            "openshift/legacy-kinds-get-their-group",
            "openshift/objects-that-are-created-twice-warn",
            "process/in-openshift-an-object-without-a-name-warns",
            "process/names-with-control-characters",
            "proposal/a-variable-behind-a-dollar-is-for-kubernetes",
            "proposal/an-undeclared-reference-warns-and-stays",
        ],
    ),
    (
        "`validate` reads values as objects: each document, and no lines with `NAME=VALUE`",
        &[
            "parameters/a-parameter-file-of-two-documents-fails",
            "process/a-values-file-has-a-wrong-line",
        ],
    ),
];

/// How many cases must be compared at least, and how many with an error.
const LEAST: (usize, usize) = (300, 100);

/// Options without a value that change nothing of the input.
const FLAGS: [&str; 3] = ["--raw", "--local", "--stats"];

/// The commands agree about all cases but those that are known to differ.
pub(super) fn agree() -> Result<(), Failed> {
    let known = KNOWN.iter().flat_map(|(_, cases)| *cases).copied();
    let mut known: BTreeSet<&str> = known.collect();
    let (mut compared, mut refused) = (0, 0);
    let mut problems = Vec::new();
    for case in cases::all().iter().filter(|case| case.can_run()) {
        let Some(differences) = differences(case)? else {
            continue;
        };
        compared += 1;
        refused += usize::from(differences.is_refused);
        let is_known = known.remove(case.name.as_str());
        if !differences.found.is_empty() && !is_known {
            problems.push(format!("{}:\n  {}", case.name, differences.found.join("\n  ")));
        }
        if differences.found.is_empty() && is_known {
            problems.push(format!("{}: there is no difference any more", case.name));
        }
    }
    problems.extend(known.iter().map(|name| format!("{name}: there is no such case")));
    if compared < LEAST.0 || refused < LEAST.1 {
        problems.push(format!("only {compared} cases were compared, {refused} with errors"));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

struct Differences {
    is_refused: bool,
    found: Vec<String>,
}

/// The differences of a case; none if its command reads more than files.
fn differences(case: &Case) -> Result<Option<Differences>, String> {
    let arguments = case.arguments()?;
    let Some(files) = files(&arguments) else {
        return Ok(None);
    };
    let validate = ["validate".to_owned()].into_iter().chain(files).collect::<Vec<_>>();
    let check = [arguments.as_slice(), &["--check".to_owned()]].concat();
    let refused = errors(case, "made", &arguments)?;
    let mut others = errors(case, "checked", &check)?;
    others.extend(refused.clone());
    let found = errors(case, "validated", &validate)?;
    let mut differences = Vec::new();
    for (place, message) in &others {
        if place.is_some() && !found.contains_key(place) {
            differences.push(format!("validate does not report {place:?} {message}"));
        }
    }
    for (place, message) in &found {
        // A command may stop at an error before it comes to another one.
        if refused.is_empty() && !others.contains_key(place) {
            differences.push(format!("only validate reports {place:?} {message}"));
        }
    }
    Ok(Some(Differences { is_refused: !others.is_empty(), found: differences }))
}

/// What `validate` reads for a command; none if values or objects come from elsewhere.
fn files(arguments: &[String]) -> Option<Vec<String>> {
    let (command, words) = arguments.split_first()?;
    let (mut files, mut paths) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match (command.as_str(), word.as_str()) {
            ("process", "-f") => files.push(words.next()?.clone()),
            ("process", "-P" | "--values") => {
                files.extend(["-P".to_owned(), words.next()?.clone()]);
            }
            (_, "-o" | "--style") => drop(words.next()?),
            (_, flag) if FLAGS.contains(&flag) => {}
            ("build", path) if !path.starts_with('-') => paths.push(path.to_owned()),
            _ => return None,
        }
    }
    match (command.as_str(), paths.as_slice()) {
        ("process", []) => Some(files),
        ("build", []) => Some(vec![".".to_owned()]),
        ("build", [_]) => Some(paths),
        _ => None,
    }
}

/// The errors of a command: the file and the line, if it has a place, and one message at each.
type Errors = BTreeMap<Option<(String, String)>, String>;

fn errors(case: &Case, name: &str, arguments: &[String]) -> Result<Errors, String> {
    let (output, _) = case.asking(&format!("agreement/{name}"), arguments)?.output()?;
    let text = [output.stderr, output.stdout].concat();
    let text = String::from_utf8_lossy(&text);
    let mut errors = Errors::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_error = line.starts_with("error: ") || line.starts_with("error[");
        let Some((_, message)) = line.split_once(": ").filter(|_| is_error) else {
            continue;
        };
        let place = lines.peek().and_then(|next| next.trim_start().strip_prefix("--> "));
        let place = place.and_then(|place| {
            let mut parts = place.rsplitn(3, ':').skip(1);
            let (line, file) = (parts.next()?, parts.next()?);
            Some((file.trim_start_matches("./").to_owned(), line.to_owned()))
        });
        errors.entry(place).or_insert_with(|| message.to_owned());
    }
    Ok(errors)
}
