//! Any piece of text costs about twice the work if it occurs twice as often: to read it, to report
//! what is wrong in it, and to run the function on lists of it. Counted by callgrind, as in `cost`.
//!
//! The program of the tests does the work itself, in a process of its own; callgrind writes a part
//! for each call of a function called `counted_…`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use krm_template::function::{self, Environment};
use krm_template::krm::long_lists::LONG_LISTS;
use krm_template::report;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys};
use libtest_mimic::{Failed, Trial};

use crate::cost::{MOST, has_no_valgrind};
use crate::needs;

/// The variable with the folder of texts that this process only works on.
const FOLDER: &str = "KRM_TEMPLATE_REPETITIONS";

/// The variable with the number of random pieces.
const COUNT: &str = "KRM_TEMPLATE_PIECES";

/// The functions whose calls are counted.
const CALLS: [&str; 3] = ["counted_reading", "counted_function", "counted_reports"];

/// So few instructions are not judged.
const FEW: u64 = 1_000_000;

/// Texts of at least this many bytes show how reading grows: lines are searched many bytes at a time.
const LONG: usize = 40_000;

/// Text before a piece, and the piece.
type Repeated = (&'static str, &'static str);

/// Texts that took quadratic time, and their kind.
const PIECES: &[Repeated] = &[
    ("", "- "),
    ("", "? "),
    ("", ": "),
    ("", "- ? "),
    ("", "- a: "),
    ("", "a: a: a"),
    ("", "{a: {a: "),
    ("", "[-"),
    ("", "[a, "),
    ("", "|: "),
    ("", "||"),
    ("[", "a\t, "),
    ("{", "\"a\":1,"),
    ("", "a: b\n"),
    ("", "--- &a b\n"),
    ("- &a b\n", "- *a : b\n"),
    ("- &a {c: d}\n-\n", "  <<: *a\n"),
    ("- |\n  a #", "\u{2028}"),
];

/// Pieces of which random ones are made.
const SIGNS: &[&str] = &[
    "-", "?", ":", ",", "[", "]", "{", "}", "#", "&", "*", "!", "|", ">", "'", "\"", "%", "@", "`",
    "a", "0", " ", "\n", "\t", "\\", "~", "<<", "é", "\r", "---", "- ", "? ", ": ", "a: ", "&a ",
    "*a ", "\"a\"", "{}", "[]", "- a\n", "a: b\n",
];

pub(crate) fn trials() -> Vec<Trial> {
    let reason = has_no_valgrind().then(|| "needs valgrind".to_owned());
    let trial = |name: &str, test: fn() -> Result<(), Failed>| {
        let name = format!("repetition/{name}");
        needs::ignored(Trial::test(name, test), reason.clone())
    };
    vec![
        trial("of_pieces_costs_in_proportion", || {
            let texts = |&(before, piece): &Repeated| texts("reading", before, piece, LONG);
            compare("pieces", &PIECES.iter().map(texts).collect::<Vec<_>>())
        }),
        trial("of_random_pieces_costs_in_proportion", || {
            let pieces = random_pieces().into_iter();
            let texts = pieces.map(|piece| texts("reading", "", &piece, LONG));
            compare("random", &texts.collect::<Vec<_>>())
        }),
        trial("of_items_costs_in_proportion", || compare("items", &lists())),
    ]
}

/// A name and a kind of work, with a text and one of twice the length.
struct Texts {
    work: &'static str,
    piece: String,
    both: [String; 2],
}

fn texts(work: &'static str, before: &str, piece: &str, length: usize) -> Texts {
    let count = length / piece.len();
    Texts {
        work,
        piece: format!("{before}{piece}"),
        both: [count, 2 * count].map(|count| format!("{before}{}", piece.repeat(count))),
    }
}

/// Short texts, the same in each run of as many.
fn random_pieces() -> Vec<String> {
    let count = std::env::var(COUNT).ok().and_then(|count| count.parse().ok());
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % limit as u64).unwrap_or_default()
    };
    let piece = |_| {
        let length = 1 + below(12);
        let mut piece = String::new();
        while piece.len() < length {
            piece.push_str(SIGNS.get(below(SIGNS.len())).copied().unwrap_or_default());
        }
        piece
    };
    (0..count.unwrap_or(24)).map(piece).collect()
}

/// Lists of each kind, with items that are right and wrong.
fn lists() -> Vec<Texts> {
    /// Enough items for what is done for each of them to count.
    const LENGTH: usize = 3_000;
    const LIST: &str = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n";
    const TEMPLATE: &str =
        "  apiVersion: template.krm.dev/v1alpha1\n  kind: Template\n  metadata: {name: t}\n";
    let config = |kind: &str, fields: &str| {
        let (group, kind) = kind.split_once(' ').unwrap_or_default();
        format!(
            "{LIST}items: []\nfunctionConfig:\n  apiVersion: {group}\n  kind: {kind}\n  metadata: {{name: t}}\n{fields}"
        )
    };
    let template = |fields: &str| config("template.krm.dev/v1alpha1 Template", fields);
    let composition = |fields| config("kustomize.config.k8s.io/v1alpha1 Composition", fields);
    let instance = config(
        "template.krm.dev/v1alpha1 TemplateInstance",
        "  spec:\n    templateRef: {name: t}\n    instances:\n",
    );
    let items = format!("{LIST}functionConfig:\n{TEMPLATE}  objects: []\nitems:\n");
    let object = "- apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: c}\n";
    let mut all = Vec::new();
    let mut add = |before: &str, pieces: &[&str]| {
        for piece in pieces {
            all.push(texts("function", before, piece, LENGTH));
        }
    };
    add(
        &items,
        &["- {}\n", "- a\n", "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c}\n"],
    );
    add(&template("  objects: []\n"), &["  x: 1\n"]);
    add(
        &template("  objects: []\n  parameters:\n"),
        &["  - {}\n", "  - a\n", "  - name: P\n", "  - name: P\n    value: $(Q)\n", "  - nam: P\n"],
    );
    add(&template("  objects: []\n  labels:\n"), &["    a: 1\n"]);
    add(&template("  objects:\n"), &["  - {}\n", "  - a: $(P)\n", &format!("  {object}")]);
    add(&instance, &["    - {}\n", "    - name: a\n", "    - name: a\n      parameters: {A: b}\n"]);
    add(
        &composition("  transformers:\n"),
        &["  - {}\n", "  - kind: AnnotationsTransformer\n    metadata: {name: a}\n"],
    );
    add(&composition("  transformersFrom:\n"), &["  - path: c.yaml\n", "  - {}\n"]);
    all
}

/// Has the work on all texts counted, and compares each with that on the longer one.
fn compare(name: &str, all: &[Texts]) -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("repetition").join(name);
    // Files of an earlier run.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    for (index, Texts { work, both, .. }) in all.iter().enumerate() {
        for (length, text) in both.iter().enumerate() {
            fs::write(folder.join(format!("{index:04}-{length}-{work}")), text)?;
        }
    }
    let counts = counts(&folder)?;
    let parts = counts.len() / all.len().max(1) / 2;
    if parts == 0 || counts.len() != 2 * parts * all.len() {
        return Err(format!("{} parts for {} texts", counts.len(), 2 * all.len()).into());
    }
    let mut wrong = String::new();
    for (Texts { piece, .. }, counts) in all.iter().zip(counts.chunks(2 * parts)) {
        let (short, long) = counts.split_at(parts);
        for (part, (short, long)) in short.iter().zip(long).enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "far fewer than a float can count")]
            let ratio = *long as f64 / *short as f64;
            if *long > FEW && ratio > MOST {
                let _ = writeln!(
                    wrong,
                    "{piece:?}, part {part}: {short} and {long}, {ratio:.2} times as many"
                );
            }
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{MOST} times as many instructions at most are expected:\n{wrong}").into())
}

/// The instructions of each counted call, in order.
fn counts(folder: &Path) -> Result<Vec<u64>, Failed> {
    let output = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--callgrind-out-file=callgrind.out",
            "--main-stacksize=64000000",
        ])
        // Without their closures, which have longer names.
        .args(CALLS.map(|call| format!("--zero-before=*::{call}")))
        .args(CALLS.map(|call| format!("--dump-after=*::{call}")))
        .arg(std::env::current_exe()?)
        .env(FOLDER, folder)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let mut counts = Vec::new();
    for part in 1.. {
        let Ok(text) = fs::read_to_string(folder.join(format!("callgrind.out.{part}"))) else {
            break;
        };
        let total = text.lines().find_map(|line| line.strip_prefix("summary: "));
        let trigger = text.contains("Trigger: --dump-after");
        if let Some(total) = total.filter(|_| trigger) {
            counts.push(total.trim().parse()?);
        }
    }
    Ok(counts)
}

/// Does the work on the texts in the folder, if one is given. Returns whether it is.
pub(crate) fn works() -> bool {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return false;
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.sort();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        let source = Source::new("text", text);
        if name.ends_with("-reading") {
            counted_reading(&source);
        } else if name.ends_with("-function") {
            let diagnostics = counted_function(&source);
            counted_reports(&diagnostics);
        }
    }
    true
}

#[inline(never)]
fn counted_reading(source: &Arc<Source>) {
    let mut diagnostics = Diagnostics::new();
    if let Ok(document) = Document::open(source, LONG_LISTS) {
        let _ = document.is_sound();
    }
    if let Some(document) = diagnostics.take(Document::parse(source)) {
        for root in document.roots() {
            let value = root.value(DuplicateKeys::LastWins, &mut diagnostics);
            let _ = value.map(|value| value.to_json());
        }
    }
    for diagnostic in &diagnostics {
        let places = diagnostic.related.iter().map(|(place, _)| place);
        for place in places.chain(&diagnostic.place) {
            let _ = place.to_text();
        }
    }
}

#[inline(never)]
fn counted_function(source: &Arc<Source>) -> Diagnostics {
    let output = function::run(source, &Environment::default());
    let _ = output.text();
    output.diagnostics
}

#[inline(never)]
fn counted_reports(diagnostics: &Diagnostics) {
    let _ = report::text(diagnostics, true);
    let _ = report::findings_text(diagnostics, false);
    let _ = report::results(diagnostics);
    let _ = report::findings(diagnostics);
    let _ = report::sarif(diagnostics, &[]);
}
