//! The shared folder's tricky files: what go-yaml reads is read and prints back, what it refuses is
//! an error at a place.

use std::path::{Path, PathBuf};

use super::corpus::{documented, printed, shared_folder};
use crate::diagnostic::Diagnostics;
use crate::{Document, DuplicateKeys};

/// Files that we read and go-yaml does not, with the reason. `docs/yaml.md` has the same table.
const READ: &[(&str, &str)] = &[
    (
        "f09-yaml-1.2-directive.yaml",
        "go-yaml refuses only the version number: the text means the same",
    ),
    ("g01-json.yaml", "JSON allows surrogate pairs in escapes, and kubectl reads the file as JSON"),
    (
        "g04-json-lone-surrogate.yaml",
        "JSON allows half a surrogate pair in escapes, which kubectl reads as U+FFFD",
    ),
    (
        "h08-dquote-escapes.yaml",
        "JSON allows the escape `\\/`; it means the same to every reader that allows it",
    ),
];

/// Files that go-yaml v3 reads into nodes and we do not, with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("c07-utf16le.yaml", "UTF-16, which a clear error names"),
    ("d06-alias-self.yaml", "an alias of itself has no value: sigs.k8s.io/yaml refuses it"),
    ("d09-billion-laughs.yaml", "beyond the limits of aliases; go-yaml refuses to decode it"),
    ("d10-quadratic-alias.yaml", "beyond the limits of aliases"),
    ("e05-nonstring-keys.yaml", "an object cannot have null as a key: sigs.k8s.io/yaml refuses it"),
    (
        "h12-flow-adjacent.yaml",
        "go-yaml reads the colon of `{b:}` as part of the key, YAML does not",
    ),
    ("j01-deep-flow-10000.yaml", "beyond the limit of nesting"),
    ("j04-deep-block-5000.yaml", "beyond the limit of nesting"),
    ("j05-deep-dash-10000.yaml", "beyond the limit of nesting"),
    (
        "k01-octal-etc.yaml",
        "sigs.k8s.io/yaml reads both of its keys `off` and `n` as `false`, and refuses it",
    ),
];

/// Files that are too large to keep, and are made here.
fn made(name: &str) -> Option<String> {
    match name {
        "j04-deep-block-5000.yaml" => {
            let line = |level: usize| " ".repeat(level) + "a:\n";
            Some((0..5_000).map(line).collect())
        }
        "k08-huge-scalar.yaml" => Some(format!("a: {}\n", "x".repeat(10 << 20))),
        _ => None,
    }
}

/// Reads a file with all that is in it. The error is with its line and column.
fn read(path: &Path) -> Result<String, String> {
    let name = path.file_name().unwrap().to_string_lossy();
    let bytes = made(&name).map_or_else(|| bytes(path), String::into_bytes);
    let mut diagnostics = Diagnostics::new();
    let source = diagnostics.take(crate::decode("input", bytes));
    let document = source.and_then(|source| diagnostics.take(Document::parse(&source)));
    for root in document.iter().flat_map(Document::roots) {
        let _ = root.value(DuplicateKeys::Refuse, &mut diagnostics);
    }
    if diagnostics.has_errors() {
        let first = diagnostics.iter().next().unwrap();
        // Line, column and an excerpt are drawn from the place.
        let place = first.place.as_ref().expect(&first.message);
        let (line, column) = place.line_column();
        let length = place.source.text().len();
        assert!(line > 0 && column > 0 && place.range.start <= length);
        return Err(format!("{line}:{column}: {}", first.message));
    }
    Ok(document.unwrap().text().to_owned())
}

#[expect(clippy::disallowed_methods, reason = "tests have no `files::Files`")]
fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

fn is_yaml(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "yaml")
}

/// The rows of the table with the result of go-yaml for each file.
fn judgements(folder: &Path) -> Vec<(PathBuf, bool)> {
    let table = String::from_utf8(bytes(&folder.join("MATRIX.md"))).unwrap();
    let rows = table.lines().filter_map(|line| {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let name = cells.next().filter(|name| is_yaml(name))?;
        Some((folder.join(name), cells.next() == Some("ok")))
    });
    rows.collect()
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn tricky_files_are_read_or_refused_as_go_yaml_does() {
    let files = judgements(&shared_folder().join("yaml/tricky"));
    assert!(files.len() > 120, "only {} files", files.len());
    let has = |list: &[(&str, &str)], name: &str| list.iter().any(|(file, _)| *file == name);
    let mut complaints = Vec::new();
    for (path, go_reads) in &files {
        let name = path.file_name().unwrap().to_string_lossy();
        let read = read(path);
        let expected = (*go_reads || has(READ, &name)) && !has(REFUSED, &name);
        if *go_reads && has(READ, &name) || !*go_reads && has(REFUSED, &name) {
            complaints.push(format!("{name} is not an exception"));
        }
        match &read {
            Ok(_) if !expected => complaints.push(format!("{name} is read")),
            Err(error) if expected => complaints.push(format!("{name} is refused:\n{error}")),
            Ok(text) if printed(text).as_ref() != Ok(text) => {
                complaints.push(format!("{name} does not print back"));
            }
            _ => {}
        }
    }
    for (name, _) in READ.iter().chain(REFUSED) {
        if !files.iter().any(|(path, _)| path.ends_with(name)) {
            complaints.push(format!("{name} is not a file"));
        }
    }
    let count = complaints.len();
    assert!(count == 0, "{count} complaints\n{}", complaints.join("\n"));
}

#[test]
fn exceptions_are_documented() {
    for (name, reason) in READ.iter().chain(REFUSED) {
        documented(&format!("| `{name}` | {reason} |"));
    }
}

/// The message and hints of the error that reading a text ends with.
fn refusal(text: &str) -> String {
    let source = crate::source::Source::new("test", text);
    let error = Document::parse(&source).expect_err(text);
    assert!(error.place.is_some(), "{text:?}");
    format!("{}; {}", error.message, error.hints.join("; "))
}

fn refused(hint: &str, texts: &[&str]) {
    for text in texts {
        let refusal = refusal(text);
        assert!(refusal.contains(hint) || refusal.contains("BOM"), "{text:?}: {refusal}");
    }
}

#[test]
fn texts_that_go_yaml_reads_differently_are_refused_with_a_hint() {
    for (hint, texts) in [
        (
            "put it in quotes",
            &["a: [?x]\n", "a: {k: :x}\n", "a: {k?: 1}\n", "[x?, y]\n", "[http://x/?q]\n"][..],
        ),
        ("space after the colon", &["a: {b:}\n", "a: {b:, c: d}\n", "{a :}\n", "[fd00::, {b:}]\n"]),
        ("write `\"\":`", &[": a\n", "a: b\n: c\n", "[: a]\n", "{: a}\n", "- :\n"]),
        ("letters, digits", &["a: &x.y b\n", "&é a\n", "a: &x/y b\n", "[&x[]]\n"]),
        ("space after it", &["a: !t#c\n", "[!a, b]\n"]),
        (
            "indent with spaces",
            &[
                "-\tx\n",
                "- \tx\n",
                "a: b\n\t\nc: d\n",
                "a:\n  \t\n  b: c\n",
                "\ta: b\n",
                "?\ta\n",
                "a:\n  - b\n\t# c\n",
                "a: 'b'\n  \t\nc: d\n",
            ],
        ),
    ] {
        refused(hint, texts);
    }
}

#[test]
fn characters_that_go_yaml_reads_differently_are_refused_with_a_hint() {
    for (hint, texts) in [
        ("`\\N`", &["a: b\u{85}c\n", "# a\u{85}b: c\n", "a: | # b\u{85}\n  c\n"][..]),
        ("`\\L`", &["a: b\u{2028}\n", "a:\u{2028} b\n"]),
        ("`\\P`", &["a: [b\u{2029}c]\n", "b\u{2029}c: a\n"]),
        ("`\\x9F`", &["a: \u{9f}\n", "{\"a\": \"\u{9f}\", b: c}\n", "# \u{9f}\n"]),
        ("`\\uFFFE`", &["a: \"\u{fffe}\"\n"]),
        ("`\\uFFFF`", &["a: '\u{ffff}'\n"]),
        ("`\\x7F`", &["a: \u{7f}\n"]),
        ("remove it", &["a: b\n\u{feff}c: d\n"]),
    ] {
        refused(hint, texts);
    }
}

#[test]
fn texts_that_go_yaml_reads_the_same_are_read() {
    for text in [
        "a: [b, x:y, http://x/y#z]\n",
        "{\"b\":c, 'd':e}\n",
        "? \n: a\n",
        "!!null : a\n",
        "&x : a\n",
        "{? a : b, ?\n}\n",
        "a:\tb\t# c\n",
        "a: b\n \t\n\n  c\n",
        "--- \t# c\na: b\n",
        "a: |\t\n  b\n",
        "a: |\n  b\n   \tc\n",
        "a: \"b\n \tc\"\n",
        "a: \"\u{2028}b\u{85}c\"\n",
        "a: |\n  b\u{2028}  c\n",
        "a: b\u{feff}c\n",
        "&x-1_A a: *x-1_A\n",
        "a: ?b\n-c: :d\n",
        "a: \u{a0}\u{e000}\u{fffd}\u{10ffff}\n",
    ] {
        let text = text.replace("&x-1_A a: *x-1_A", "a: &x-1_A b\nc: *x-1_A");
        assert_eq!(printed(&text).as_ref(), Ok(&text));
    }
}

#[test]
fn lone_returns_are_line_breaks() {
    let source = crate::source::Source::new("test", "# c\ra: |\r  b\r  c\rd:\r- e # f\r- g\r");
    let document = Document::parse(&source).unwrap();
    let value = document.roots().next().unwrap();
    let value = value.value(DuplicateKeys::Refuse, &mut Diagnostics::new()).unwrap();
    assert_eq!(value.str_at(&["a"]), Some("b\nc\n"));
    assert_eq!(document.column(document.text().find("- g").unwrap()), 0);
    assert_eq!(printed(source.text()).as_deref(), Ok(source.text()));
}

#[test]
fn anchors_and_tags_of_keys_belong_to_them() {
    for (text, keys) in [
        ("&m\n&k [a]: b\n", &["&k [a]"][..]),
        ("!!null : a\n&x : b\n", &["!!null", "&x"]),
        ("{a: b, ? c : d}\n", &["a", "? c"]),
        ("? \n: >\n\n...\n", &["?"]),
    ] {
        let source = crate::source::Source::new("test", text);
        let document = Document::parse(&source).unwrap();
        let root = document.roots().next().unwrap();
        let found = root.children().map(|entry| {
            let node = entry.node();
            document.slice(node.entry as usize..node.key.end as usize)
        });
        assert_eq!(found.collect::<Vec<_>>(), keys, "{text:?}");
    }
}
