//! The YAML test suite: valid cases print back and have the events of the suite, the others are
//! errors.

use std::path::{Path, PathBuf};

use super::corpus::{documented, printed, shared_folder};
use crate::read::document::{Cursor, Document};
use crate::scalar::Style;
use crate::source::Source;
use crate::table::{Flags, KeyKind, Kind, Span};

/// The cases with another result than in the suite, and the reason. `docs/yaml.md` has the same
/// table.
const EXCEPTIONS: &[(&[&str], &str)] = &[
    (
        &["2JQS", "6M2F", "CFD4", "NHX8", "NKF9", "S3PD", "SM9W/01", "UKK6/00"],
        "refused: go-yaml does not allow a colon without a key before it",
    ),
    (
        &["2SXE", "8XYN", "W5VH", "Y2GN"],
        "refused: go-yaml allows only letters, digits, `-` and `_` in an anchor's name",
    ),
    (
        &["4ABK", "FRK4"],
        "refused: in braces, go-yaml reads a colon without a space as part of the key",
    ),
    (
        &["58MP", "5T43", "652Z", "DBG4", "HM87/00", "HM87/01", "JR7V"],
        "refused: in braces and brackets, go-yaml does not read a `?` anywhere, or a `:` at the start, as text",
    ),
    (
        &["6BCT", "A2M4", "DK95/00", "DK95/03", "DK95/04", "DK95/07", "Y79Y/010"],
        "refused: go-yaml does not allow a tab where a key could begin",
    ),
    (
        &["96NN/00", "96NN/01", "R4YG", "Y79Y/001"],
        "refused: go-yaml does not allow a tab in the indentation of a block scalar",
    ),
    (
        &["DK3J", "FP8R", "M7A3", "W4TN"],
        "refused: go-yaml does not read text that is not indented as part of a block scalar",
    ),
    (&["WZ62"], "refused: go-yaml reads a tag up to the next white space"),
    (
        &["9JBA", "CVW2", "SU5Z", "X4QW"],
        "read, though not valid: go-yaml allows a comment directly after a quote, bracket, comma or `>`",
    ),
    (
        &["G5U8", "YJV2"],
        "read, though not valid: in brackets, go-yaml reads a dash before a comma or bracket as text",
    ),
    (&["HRE5"], "read, though not valid: go-yaml allows the escape `\\'`"),
    (&["9C9N"], "read, though not valid: go-yaml reads lines in brackets that are not indented"),
    (
        &["DK95/01", "QB6E"],
        "read, though not valid: go-yaml reads lines of quoted text that are not indented, or indented with a tab",
    ),
];

struct Case {
    name: String,
    text: String,
    /// `None` if the text must be refused.
    events: Option<String>,
}

/// Every folder with an `in.yaml`, by its name.
fn cases(root: &Path) -> Vec<Case> {
    let mut folders = vec![root.to_owned()];
    let mut cases = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).unwrap();
        let entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        folders.extend(entries.iter().filter(|path| path.is_dir()).cloned());
        let input = folder.join("in.yaml");
        if !entries.contains(&input) {
            continue;
        }
        let is_valid = !entries.contains(&folder.join("error"));
        cases.push(Case {
            name: folder.strip_prefix(root).unwrap().display().to_string(),
            text: read(&input),
            events: is_valid.then(|| read(&folder.join("test.event"))),
        });
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

#[expect(clippy::disallowed_methods, reason = "tests have no `files::Files`")]
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// The problem of a case, if there is one.
fn judge(case: &Case) -> Result<(), String> {
    let read = read_events(&case.text);
    let Some(events) = &case.events else {
        return match read {
            Ok(_) => Err("is not valid, but is read".to_owned()),
            Err(_) => Ok(()),
        };
    };
    let read = read.map_err(|error| format!("is valid, but is refused: {error}"))?;
    let expected = expected(events);
    if read != expected {
        let (read, expected) = (read.join("\n"), expected.join("\n"));
        return Err(format!("reads as\n{read}\ninstead of\n{expected}"));
    }
    if printed(&case.text)? != case.text {
        return Err("does not print back".to_owned());
    }
    Ok(())
}

/// The events of a text by our table of spans, without those of empty documents.
fn read_events(text: &str) -> Result<Vec<String>, String> {
    let document = Document::parse(&Source::new("test", text)).map_err(|error| error.message)?;
    let mut events = vec!["+STR".to_owned()];
    let mut end = 0;
    for root in document.roots() {
        // A directive is for one document.
        let tags = Tags::declared(document.slice(end..root.start()));
        end = root.end();
        events.push("+DOC".to_owned());
        value(root, &tags, &mut events)?;
        events.push("-DOC".to_owned());
    }
    events.push("-STR".to_owned());
    Ok(events)
}

fn value(cursor: Cursor<'_>, tags: &Tags, events: &mut Vec<String>) -> Result<(), String> {
    let (document, node) = (cursor.document(), *cursor.node());
    let props = tags.props(document.slice(node.props as usize..node.value.start as usize));
    let flow = node.has(Flags::FLOW);
    match node.kind {
        Kind::Scalar(style) => {
            events.push(scalar(cursor, node.value, style, &props)?);
        }
        Kind::Alias => events.push(format!("=ALI {}", cursor.raw())),
        Kind::Deferred => return Err("an item was deferred".to_owned()),
        Kind::Sequence => {
            let brackets = if flow { " []" } else { "" };
            events.push(format!("+SEQ{brackets}{props}").trim_end().to_owned());
            for item in cursor.children() {
                value(item, tags, events)?;
            }
            events.push("-SEQ".to_owned());
        }
        Kind::Mapping => {
            let braces = if flow { " {}" } else { "" };
            events.push(format!("+MAP{braces}{props}").trim_end().to_owned());
            for entry in cursor.children() {
                key(entry, tags, events)?;
                value(entry, tags, events)?;
            }
            events.push("-MAP".to_owned());
        }
    }
    Ok(())
}

fn key(entry: Cursor<'_>, tags: &Tags, events: &mut Vec<String>) -> Result<(), String> {
    let node = *entry.node();
    let text = entry.document().slice(node.key.range());
    let between = node.entry as usize..node.key.start as usize;
    let props = tags.props(entry.document().slice(between));
    events.push(match node.key_kind {
        KeyKind::None => return Err("an entry without a key".to_owned()),
        KeyKind::Scalar(style) => scalar(entry, node.key, style, &props)?,
        KeyKind::Alias => format!("=ALI {text}"),
        KeyKind::Complex => COLLECTION_KEY.to_owned(),
    });
    Ok(())
}

/// Stands for all events of a collection that is a key: only its extent is in the table.
const COLLECTION_KEY: &str = "=KEY";

fn scalar(cursor: Cursor<'_>, span: Span, style: Style, props: &str) -> Result<String, String> {
    let raw = cursor.document().slice(span.range());
    let text = cursor.decode(raw, style, span.start);
    let text = text.map_err(|error| error.message.clone())?;
    let mark = match style {
        Style::Plain => ':',
        Style::SingleQuoted => '\'',
        Style::DoubleQuoted => '"',
        Style::Literal => '|',
        Style::Folded => '>',
    };
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\t' => escaped.push_str("\\t"),
            '\r' => escaped.push_str("\\r"),
            '\u{8}' => escaped.push_str("\\b"),
            '\0' => escaped.push_str("\\0"),
            c => escaped.push(c),
        }
    }
    Ok(format!("=VAL{props} {mark}{escaped}"))
}

/// The prefixes that `%TAG` directives of the text declare.
struct Tags(Vec<(String, String)>);

impl Tags {
    fn declared(text: &str) -> Self {
        let directives = text.lines().filter_map(|line| line.strip_prefix("%TAG "));
        let words = directives.map(|line| line.split_whitespace().map(str::to_owned));
        let pairs = words.filter_map(|mut words| Some((words.next()?, words.next()?)));
        Self(pairs.collect())
    }

    /// The anchor and tag in a text, as events have them.
    fn props(&self, text: &str) -> String {
        let (mut anchor, mut tag) = (String::new(), String::new());
        for line in text.lines() {
            for word in line.split_whitespace().take_while(|word| !word.starts_with('#')) {
                if word.starts_with('&') {
                    anchor = format!(" {word}");
                } else if word.starts_with('!') {
                    tag = format!(" <{}>", self.full(word));
                }
            }
        }
        anchor + &tag
    }

    fn full(&self, tag: &str) -> String {
        let tag = tag.replace("%21", "!");
        if let Some(verbatim) = tag.strip_prefix("!<") {
            return verbatim.trim_end_matches('>').to_owned();
        }
        let end = tag.get(1..).and_then(|rest| rest.find('!')).map_or(1, |at| at + 2);
        let (handle, suffix) = tag.split_at(end);
        let declared = self.0.iter().find(|(name, _)| name == handle);
        let prefix = match declared {
            Some((_, prefix)) => prefix,
            None if handle == "!!" => "tag:yaml.org,2002:",
            None => handle,
        };
        format!("{prefix}{suffix}")
    }
}

/// The events of a file without those that the table does not have: of `---` and `...`, empty
/// documents, and the inside of collections that are keys.
fn expected(file: &str) -> Vec<String> {
    let mut events: Vec<String> = Vec::new();
    // For each collection around: whether it is a mapping, and whether its key is next.
    let mut around: Vec<(bool, bool)> = Vec::new();
    let mut inside_key = 0;
    for line in file.lines() {
        let opens = line.starts_with("+MAP") || line.starts_with("+SEQ");
        let closes = line.starts_with("-MAP") || line.starts_with("-SEQ");
        let is_node = opens || line.starts_with('=');
        if inside_key > 0 {
            inside_key += usize::from(opens);
            inside_key -= usize::from(closes);
            continue;
        }
        if closes {
            around.pop();
        }
        let is_key = is_node && around.last() == Some(&(true, true));
        if is_node && let Some((true, key_next)) = around.last_mut() {
            *key_next = !*key_next;
        }
        if is_key && opens {
            events.push(COLLECTION_KEY.to_owned());
            inside_key = 1;
            continue;
        }
        if opens {
            around.push((line.starts_with("+MAP"), true));
        }
        match line.split(' ').next() {
            Some("+DOC") => events.push("+DOC".to_owned()),
            Some("-DOC") if events.ends_with(&["+DOC".to_owned(), "=VAL :".to_owned()]) => {
                events.truncate(events.len() - 2);
            }
            Some("-DOC") => events.push("-DOC".to_owned()),
            _ => events.push(line.to_owned()),
        }
    }
    events
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn the_suite_comes_out_as_it_says() {
    let cases = cases(&shared_folder().join("yaml/test-suite"));
    assert!(cases.len() > 400, "only {} cases", cases.len());
    let is_exception = |name: &str| EXCEPTIONS.iter().any(|(names, _)| names.contains(&name));
    let mut complaints = Vec::new();
    for case in &cases {
        match (judge(case), is_exception(&case.name)) {
            (Err(what), false) => {
                complaints.push(format!("{} {what}\n{:?}\n", case.name, case.text));
            }
            (Ok(()), true) => complaints.push(format!("{} is not an exception", case.name)),
            _ => {}
        }
    }
    let names = EXCEPTIONS.iter().flat_map(|(names, _)| *names);
    for name in names.filter(|name| cases.iter().all(|case| case.name != **name)) {
        complaints.push(format!("{name} is not a case"));
    }
    let count = complaints.len();
    assert!(count == 0, "{count} complaints\n{}", complaints.join("\n"));
}

#[test]
fn exceptions_are_documented() {
    for (names, reason) in EXCEPTIONS {
        documented(&format!("| {} | {reason} |", names.join(", ")));
    }
}
