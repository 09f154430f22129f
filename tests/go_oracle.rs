//! Compares reading and writing with go-yaml and `sigs.k8s.io/yaml`.
//!
//! A test is ignored where a variable that it needs is not set: `KRM_TEMPLATE_GO_ORACLE` is the program that `go-oracle/README.md` says how to build, and
//! `KRM_TEMPLATE_SHARED` a folder with `yaml/tricky/` and `corpus/openshift/`.

#![cfg(test)]

#[path = "go-oracle/go.rs"]
mod go;
#[path = "go-oracle/quoted.rs"]
mod quoted;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = [writing::trials(), reading::trials(), expanding::trials()];
    let mut trials: Vec<Trial> = trials.into_iter().flatten().collect();
    trials.push(Trial::test("every_test_is_listed", every_test_is_listed));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Functions marked `#[test]` do not run here: `go::trial` creates the tests.
fn every_test_is_listed() -> Result<(), Failed> {
    let is_mark = |line: &str| line.trim() == "#[test]";
    let files = [include_str!("go_oracle.rs"), include_str!("go-oracle/quoted.rs")];
    if files.iter().any(|file| file.lines().any(is_mark)) {
        return Err("`#[test]` has no effect here: add the test to `trials`".into());
    }
    Ok(())
}

mod writing {
    //! A written string is read back as it was.

    use krm_yaml::scalar::{Context, Style, key_needs_explicit, write_json_string, write_string};
    use libtest_mimic::Trial;
    use serde_json::{Value, json};

    use crate::go::{ORACLE, Oracle, Random, SHARED, nasty, shared, trial};

    pub(super) fn trials() -> Vec<Trial> {
        vec![
            trial("writing/random_strings_are_read_back", &[ORACLE], random_strings_are_read_back),
            trial(
                "writing/tricky_strings_are_read_back",
                &[ORACLE, SHARED],
                tricky_strings_are_read_back,
            ),
        ]
    }

    /// A document around a scalar, and its meaning.
    struct Frame {
        before: &'static str,
        after: &'static str,
        context: Context,
        body_indent: usize,
        eol: &'static str,
        want: fn(&str) -> Value,
    }

    const FRAMES: [Frame; 8] = [
        Frame::block("k: ", "\nz: 1\n", 2, |text| json!({"k": text, "z": 1})),
        Frame::block("z: 1\nk: ", "\n", 1, |text| json!({"k": text, "z": 1})),
        Frame::block("a:\n  - ", "\n  - z\n", 4, |text| json!({"a": [text, "z"]})),
        Frame {
            eol: "\r\n",
            ..Frame::block("k: ", "\r\nz: 1\r\n", 3, |text| json!({"k": text, "z": 1}))
        },
        Frame::other("k: [", ", z]\n", Context::FlowValue, |text| json!({"k": [text, "z"]})),
        Frame::other("k: {q: ", "}\n", Context::FlowValue, |text| json!({"k": {"q": text}})),
        Frame::other("k:\n  ", ": v\n", Context::Key, |text| json!({"k": {text: "v"}})),
        Frame::other("k: {", ": v}\n", Context::FlowKey, |text| json!({"k": {text: "v"}})),
    ];

    impl Frame {
        const fn block(
            before: &'static str,
            after: &'static str,
            body_indent: usize,
            want: fn(&str) -> Value,
        ) -> Self {
            Self { before, after, context: Context::BlockValue, body_indent, eol: "\n", want }
        }

        const fn other(
            before: &'static str,
            after: &'static str,
            context: Context,
            want: fn(&str) -> Value,
        ) -> Self {
            Self { before, after, context, body_indent: 2, eol: "\n", want }
        }

        fn document(&self, text: &str, keep: Option<Style>) -> String {
            let mut yaml = self.before.to_owned();
            let is_explicit =
                matches!(self.context, Context::Key | Context::FlowKey) && key_needs_explicit(text);
            if is_explicit {
                yaml.push_str("? ");
            }
            write_string(&mut yaml, text, self.context, keep, self.body_indent, self.eol);
            if is_explicit {
                yaml.push_str("\n  ");
            }
            yaml + self.after
        }
    }

    const KEPT: [Option<Style>; 6] = [
        None,
        Some(Style::Plain),
        Some(Style::SingleQuoted),
        Some(Style::DoubleQuoted),
        Some(Style::Literal),
        Some(Style::Folded),
    ];

    fn random_strings_are_read_back() {
        let mut random = Random::new(0x6b72_6d74_656d_706c);
        are_read_back((0..100_000).map(|_| nasty(&mut random)));
    }

    fn tricky_strings_are_read_back() {
        let file = std::fs::File::open(shared().join("yaml/tricky/strings.json")).unwrap();
        let strings: Vec<String> = serde_json::from_reader(file).unwrap();
        assert!(!strings.is_empty(), "there are no strings");
        are_read_back(strings);
    }

    fn are_read_back(texts: impl IntoIterator<Item = String>) {
        let mut oracle = Oracle::start();
        for text in texts {
            let mut json_document = "{\"k\": ".to_owned();
            write_json_string(&mut json_document, &text);
            oracle.ask(&(json_document + "}\n"), &json!({"k": text}));
            for frame in &FRAMES {
                let mut documents: Vec<String> =
                    KEPT.iter().map(|keep| frame.document(&text, *keep)).collect();
                documents.sort_unstable();
                documents.dedup();
                for document in documents {
                    oracle.ask(&document, &(frame.want)(&text));
                }
            }
        }
        oracle.finish("written strings");
    }
}

mod reading {
    //! A scalar has the same meaning as in Go.

    use std::io::Read;

    use krm_yaml::diagnostic::Diagnostics;
    use krm_yaml::scalar::{Style, decode, is_non_finite, resolve};
    use krm_yaml::source::Source;
    use krm_yaml::{Document, DuplicateKeys, Scalar};
    use libtest_mimic::Trial;
    use serde_json::{Value, json};

    use crate::go::{ORACLE, Oracle, Random, SHARED, shared, trial};
    use crate::quoted::go_reads_lines_of_quoted_text_the_same;

    pub(super) fn trials() -> Vec<Trial> {
        vec![
            trial(
                "reading/plain_scalars_mean_what_the_table_of_go_says",
                &[SHARED],
                plain_scalars_mean_what_the_table_of_go_says,
            ),
            trial(
                "reading/go_resolves_plain_scalars_the_same",
                &[ORACLE],
                go_resolves_plain_scalars_the_same,
            ),
            trial("reading/go_decodes_scalars_the_same", &[ORACLE], go_decodes_scalars_the_same),
            trial(
                "reading/go_reads_keys_and_tags_the_same",
                &[ORACLE],
                go_reads_keys_and_tags_the_same,
            ),
            trial(
                "reading/go_reads_lines_of_quoted_text_the_same",
                &[ORACLE],
                go_reads_lines_of_quoted_text_the_same,
            ),
        ]
    }

    fn to_json(scalar: &Scalar<'_>) -> Value {
        match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(value) => json!(value),
            Scalar::Number(digits) => serde_json::from_str(digits).unwrap(),
            Scalar::String(text) => json!(text),
        }
    }

    /// The rows of `go-resolve.tsv` that are not plain scalars and so are never resolved.
    fn is_plain(text: &str) -> bool {
        !text.starts_with([
            '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', ',', '[', ']', '{', '}',
        ]) && !["-", "?", ":", "a:", "a: b", "a #b"].contains(&text)
    }

    fn plain_scalars_mean_what_the_table_of_go_says() {
        let mut table = String::new();
        std::fs::File::open(shared().join("yaml/tricky/go-resolve.tsv"))
            .unwrap()
            .read_to_string(&mut table)
            .unwrap();
        let mut checked = 0;
        for row in table.lines() {
            let columns: Vec<&str> = row.split('\t').collect();
            let (plain, expected) = (columns[0], columns[3]);
            if !is_plain(plain) {
                continue;
            }
            checked += 1;
            if expected == "ERR" {
                assert!(is_non_finite(plain), "`{plain}`");
                assert_eq!(resolve(plain), Scalar::Number(plain.into()));
                continue;
            }
            let expected: Value = serde_json::from_str(expected).unwrap();
            let (found, expected) = (to_json(&resolve(plain)), &expected["k"]);
            if found.is_number() && expected.is_number() {
                assert_eq!(
                    found.as_f64().unwrap().to_bits() << 1,
                    expected.as_f64().unwrap().to_bits() << 1,
                    "`{plain}`"
                );
            } else {
                assert_eq!(&found, expected, "`{plain}`");
            }
        }
        println!("{checked} plain scalars of {} rows", table.lines().count());
        assert!(checked > 150);
    }

    fn go_resolves_plain_scalars_the_same() {
        #[rustfmt::skip]
        const PARTS: &[&str] = &[
            "0", "1", "7", "8", "9", "12", "0", "x", "o", "b", "X", "O", "B", "e", "E", "+", "-",
            ".", "_", ":", "a", "f", "F", "n", "N", "y", "o", "t", "inf", "Inf", "nan", "null",
            "true", "True", "yes", "OFF", "~", "0x", "0b", "0o", "e40", "99999999999999999",
            "FFFFFFFFFFFFFFFF", "7777777777777777777", "1111111111111111111111111111111", "2001-",
            "<<",
        ];
        let mut oracle = Oracle::start();
        let mut random = Random::new(0x7265_736f_6c76_6500);
        for _ in 0..300_000 {
            let plain = random.text(PARTS, 6);
            if is_non_finite(&plain) || plain.ends_with(':') || ["-", "?"].contains(&plain.as_str())
            {
                continue;
            }
            oracle.ask_lenient(
                &format!("k: {plain}\n"),
                &json!({"k": to_json(&resolve(&plain))}),
                &["v2", "sigs"],
            );
        }
        oracle.finish("resolved plain scalars");
    }

    /// The first document of a text; none if it is refused.
    fn read(text: &str) -> Option<Value> {
        let document = Document::parse(&Source::new("test", text)).ok()?;
        let root = document.roots().next()?;
        let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new())?;
        serde_json::from_str(&value.to_json()).ok()
    }

    fn go_reads_keys_and_tags_the_same() {
        #[rustfmt::skip]
        const PARTS: &[&str] = &[
            "0", "1", "7", "9", "12", "345", "6789012", "0x", "0o", "e", "e-", "e1", "e2", "+", "-",
            ".", ".", "_", ":", "a", "yes", "no", "null", "~", "true", "2001-", "1-", "-02", "T01:",
            "02:03", "Z", " ", ".inf", ".NaN", "99999999999999999",
        ];
        #[rustfmt::skip]
        const TAGS: &[&str] = &[
            "", "!!str ", "!!int ", "!!float ", "!!bool ", "!!null ", "!!timestamp ", "!foo ",
        ];
        let mut oracle = Oracle::start();
        let mut random = Random::new(0x6b65_7973_0000_0000);
        for _ in 0..200_000 {
            let (plain, tag) = (random.text(PARTS, 5), random.pick(TAGS));
            let quote = random.pick(&["", "", "", "'"]);
            let scalar = format!("{tag}{quote}{}{quote}", plain.trim());
            for text in [format!("{scalar}: x\n"), format!("k: {scalar}\n")] {
                match read(&text) {
                    Some(value) => oracle.ask_lenient(&text, &value, &["sigs"]),
                    // Not JSON, so it must not be read by sigs.k8s.io/yaml either.
                    None if tag.is_empty() => {}
                    None => oracle.ask_refused(&text, &["sigs"]),
                }
            }
            for text in [format!("k: [{scalar}, x]\n"), format!("k: {{l: {scalar}}}\n")] {
                if let Some(value) = read(&text) {
                    oracle.ask_lenient(&text, &value, &["sigs"]);
                }
            }
        }
        oracle.finish("keys and tags");
    }

    #[rustfmt::skip]
    const LINE_BREAKS: &[&str] = &[
        "\n", "\n", "\n", "\r\n", "\r", "\u{85}", "\u{2028}", "\u{2029}",
    ];

    fn flow_scalar(random: &mut Random, style: Style) -> String {
        #[rustfmt::skip]
        const COMMON: &[&str] = &[
            "a", "b", "é", " ", "  ", "\t", "\n", "\n ", "\n  ", " \n\n  ", "\r\n ", "x-", "1", "😀",
        ];
        const SINGLE: &[&str] = &["''", "\\", "\"", "\\n", ": ", "#", " #"];
        #[rustfmt::skip]
        const DOUBLE: &[&str] = &[
            "\\n", "\\\n", "\\\n  ", "\\ ", "\\\t", "\\\\", "\\\"", "\\x41", "\\u00e9",
            "\\U0001F600", "\\N", "\\_", "\\L", "'", "\\e", "\\0",
        ];
        let (quote, parts): (_, &[&str]) = match style {
            Style::SingleQuoted => ("'", SINGLE),
            Style::DoubleQuoted => ("\"", DOUBLE),
            _ => ("", &["word"]),
        };
        let mut text = String::new();
        for _ in 0..=random.below(10) {
            match random.below(12) {
                0 => {
                    text.push_str(random.pick(LINE_BREAKS));
                    text.push(' ');
                }
                1..=4 => text.push_str(random.pick(parts)),
                _ => text.push_str(random.pick(COMMON)),
            }
        }
        if style == Style::Plain {
            format!("w{}", text.trim_end())
        } else {
            format!("{quote}{text}{quote}")
        }
    }

    fn block_scalar(random: &mut Random, style: Style) -> String {
        #[rustfmt::skip]
        const HEADERS: &[&str] = &[
            "", "-", "+", "-", "+", "2", "1-", "+3", "2+", " ", "- # c", "+ \t", "2 # c",
        ];
        #[rustfmt::skip]
        const CONTENTS: &[&str] = &[
            "a", "b c", "", "", "# no", "---", "a ", "a\t", "\ta", " ", ": x", "é", "- k: v",
        ];
        let mut text = if style == Style::Folded { ">" } else { "|" }.to_owned();
        text.push_str(random.pick(HEADERS));
        let indentation = 1 + random.below(6);
        for _ in 0..=random.below(7) {
            text.push_str(if random.below(6) == 0 { random.pick(LINE_BREAKS) } else { "\n" });
            let depth = match random.below(8) {
                0 => 1 + random.below(8),
                1 => indentation + 1 + random.below(3),
                _ => indentation,
            };
            text.extend(std::iter::repeat_n(' ', depth));
            text.push_str(random.pick(CONTENTS));
        }
        text
    }

    fn go_decodes_scalars_the_same() {
        let mut oracle = Oracle::start();
        let mut random = Random::new(0x6465_636f_6465_0000);
        let styles =
            [Style::Plain, Style::SingleQuoted, Style::DoubleQuoted, Style::Literal, Style::Folded];
        for _ in 0..400_000 {
            let style = random.pick(&styles);
            let is_block = matches!(style, Style::Literal | Style::Folded);
            let raw = if is_block {
                block_scalar(&mut random, style)
            } else {
                flow_scalar(&mut random, style)
            };
            let decoded = |raw: &str, column| {
                decode(raw, style, Some(column)).map(std::borrow::Cow::into_owned)
            };
            if let Ok(text) = decoded(&raw, 0) {
                // As kubectl does before it parses.
                let is_closed = raw.ends_with(|c| LINE_BREAKS.iter().any(|ends| ends.contains(c)));
                let closing = if is_closed { "" } else { "\n" };
                oracle.ask_lenient(
                    &format!("z: 1\nk: {raw}{closing}"),
                    &json!({"k": text, "z": 1}),
                    &[],
                );
            }
            let ended = if is_block { raw + "\n" } else { raw };
            let line_end = if is_block { "" } else { "\n" };
            if let Ok(text) = decoded(&ended, 0) {
                oracle.ask_lenient(
                    &format!("k: {ended}{line_end}z: 1\n"),
                    &json!({"k": text, "z": 1}),
                    &[],
                );
                oracle.ask_lenient(&format!("- {ended}{line_end}- 1\n"), &json!([text, 1]), &[]);
            }
            if let Ok(text) = decoded(&ended, 2) {
                oracle.ask_lenient(
                    &format!("k:\n- m: {ended}{line_end}  z: 1\n"),
                    &json!({"k": [{"m": text, "z": 1}]}),
                    &[],
                );
            }
        }
        oracle.finish("decoded scalars");
    }
}

#[expect(clippy::disallowed_methods, reason = "tests read the Templates they expand")]
mod expanding {
    //! What Templates become means the same to Go, whichever way it is printed.

    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use krm_template::function::{self, Environment};
    use krm_template::template::{self, Assignment, Generation, Options, Template, env_file};
    use krm_yaml::diagnostic::Diagnostics;
    use krm_yaml::source::Source;
    use krm_yaml::{Document, Position, SharedNode, render};
    use libtest_mimic::Trial;
    use serde_json::{Value, json};
    use yaml_rust2::YamlLoader;

    use crate::go::{ORACLE, Oracle, SHARED, shared, trial};

    pub(super) fn trials() -> Vec<Trial> {
        vec![
            trial(
                "expanding/go_reads_openshift_templates_as_their_json",
                &[ORACLE, SHARED],
                go_reads_openshift_templates_as_their_json,
            ),
            trial(
                "expanding/go_reads_the_examples_as_they_are_meant",
                &[ORACLE],
                go_reads_the_examples_as_they_are_meant,
            ),
        ]
    }

    /// Asks the oracle for the meaning of a text, and an independent reader whether it is YAML.
    fn ask(oracle: &mut Oracle, yaml: &str, want: &Value) {
        let read = YamlLoader::load_from_str(yaml);
        assert!(read.is_ok(), "{:?}\n{yaml}", read.err());
        oracle.ask(yaml, want);
    }

    /// The given values of a `--param-file`.
    fn values(path: &Path) -> Vec<Assignment> {
        let Ok(text) = std::fs::read_to_string(path) else {
            return Vec::new();
        };
        let assignments = env_file::parse(&text).unwrap();
        let given =
            |one: env_file::Assignment| Assignment::text(one.name, one.value, "--param-file");
        assignments.into_iter().map(given).collect()
    }

    /// How the Templates are expanded: the same way each time.
    fn options() -> Options<'static> {
        Options {
            labels: vec![("added".to_owned(), "yes".to_owned()).into()],
            ..Options::new(Generation::Reproducible {
                seed: Some(b"a seed for tests".to_vec()),
                scope: String::new(),
                instance: String::new(),
                earlier: &(),
            })
        }
    }

    /// Expands a Template and asks for the meaning of each object, as a document and as an item. Returns
    /// how many there are, or none if the Template is refused.
    fn expand(oracle: &mut Oracle, path: &Path, given: &[Assignment]) -> Option<usize> {
        let text = std::fs::read_to_string(path).unwrap();
        let source = Source::new(path.display().to_string(), text);
        let document = Arc::new(Document::parse(&source).ok()?);
        let mut diagnostics = Diagnostics::new();
        let template = Template::read(&SharedNode::roots(&document).next()?, &mut diagnostics)?;
        let options = options();
        let mut texts: Vec<(Vec<String>, Value)> = Vec::new();
        template::process(
            &template,
            given,
            &options,
            &mut diagnostics,
            &mut |object, diagnostics| {
                let want: Value = serde_json::from_str(&object.value.to_json()).unwrap();
                let positions = [0, 2].map(|column| Position::Item { column });
                let yaml =
                    positions.into_iter().chain([Position::Document]).filter_map(|position| {
                        diagnostics.take(render(object.document, &object.value, position))
                    });
                texts.push((yaml.collect(), want));
            },
        );
        let internal = |message: &str| message.contains("internal error");
        let mut messages = diagnostics.iter().map(|found| found.message.as_str());
        assert!(!messages.any(internal), "{}: {diagnostics:?}", path.display());
        if diagnostics.has_errors() {
            return None;
        }
        for (yaml, want) in &texts {
            let [item, indented, whole] = yaml.as_slice() else {
                panic!("{} cannot be printed", path.display());
            };
            ask(oracle, whole, want);
            ask(oracle, item, &json!([want]));
            ask(
                oracle,
                &format!("items:\n{indented}{indented}more: true\n"),
                &json!({"items": [want, want], "more": true}),
            );
        }
        Some(texts.len())
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files.extend(self::files(&path));
            } else {
                files.push(path);
            }
        }
        files.sort();
        files
    }

    /// The numbers of expanded Templates, of refused Templates, and of objects.
    #[derive(Debug, Default)]
    struct Count {
        expanded: usize,
        refused: usize,
        objects: usize,
    }

    impl Count {
        fn add(&mut self, objects: Option<usize>) {
            match objects {
                Some(objects) => {
                    self.expanded += 1;
                    self.objects += objects;
                }
                None => self.refused += 1,
            }
        }
    }

    fn go_reads_openshift_templates_as_their_json() {
        let mut oracle = Oracle::start();
        let corpus = shared().join("corpus/openshift");
        let (templates, parameters) = (corpus.join("templates"), corpus.join("params"));
        let mut count = Count::default();
        for path in files(&templates) {
            let name = path.strip_prefix(&templates).unwrap().display();
            let given = values(&parameters.join(format!("{name}.env")));
            count.add(expand(&mut oracle, &path, &given));
        }
        println!("{count:?}");
        assert!(count.expanded > 500 && count.objects > 2_000, "{count:?}");
        oracle.finish("expanded OpenShift templates");
    }

    fn go_reads_the_examples_as_they_are_meant() {
        let mut oracle = Oracle::start();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut count = Count::default();
        let mut paths = files(&root.join("examples"));
        paths.extend(files(&root.join("functionconfig")));
        paths.retain(|path| path.extension().is_some_and(|end| end == "yaml" || end == "json"));
        for path in paths {
            let given = [Assignment::text("MONGODB_PASSWORD", "0644", "-p")];
            let given = if path.ends_with("mongodb/template.yaml") { &given[..] } else { &[] };
            count.add(expand(&mut oracle, &path, given));
        }
        println!("{count:?}");
        assert!(count.objects > 10, "{count:?}");

        let list = std::fs::read_to_string(root.join("examples/mongodb/resource-list.yaml"));
        let environment =
            Environment { seed: Some(b"a seed for tests".to_vec()), ..Environment::default() };
        let output = function::run(&Source::new("stdin", list.unwrap()), &environment);
        assert!(!output.diagnostics.has_errors());
        let read = YamlLoader::load_from_str(&output.text());
        assert!(read.is_ok(), "{:?}", read.err());
        oracle.finish("expanded examples");
    }
}
