//! Holds the layers: which module may use which, and that only `cli` touches the machine.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

/// From the bottom up. A module uses those of lower layers, never those of its own.
const LAYERS: &[&[&str]] = &[
    &["source"],
    &["diagnostic"],
    &["files", "suggest", "threads"],
    &["yaml"],
    &["krm"],
    &["template", "composition", "deployment_manager", "report"],
    &["function", "lint", "schema"],
    &["serve"],
    &["cli"],
];

/// What only `cli` may use.
const MACHINE: &[&[&str]] = &[
    &["clap"],
    &["walkdir"],
    &["std", "env"],
    &["std", "fs"],
    &["std", "io", "stdin"],
    &["std", "io", "stdout"],
    &["std", "io", "stderr"],
    &["std", "io", "Stdin"],
    &["std", "io", "Stdout"],
    &["std", "io", "Stderr"],
];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("architecture/sources_keep_the_layers", sources),
        Trial::test("architecture/breaches_are_found", breaches_are_found),
    ]
}

fn sources() -> Result<(), Failed> {
    let mut breaches = Vec::new();
    let mut files = Vec::new();
    list(&crate::root().join("src"), &mut files)?;
    for path in &files {
        let text = fs::read_to_string(path)?;
        let name = path.strip_prefix(crate::root())?;
        breaches.extend(check(name, &text));
    }
    if files.is_empty() {
        return Err("there are no sources".into());
    }
    match breaches.as_slice() {
        [] => Ok(()),
        breaches => Err(breaches.join("\n").into()),
    }
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failed> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() {
            list(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// What is wrong with the source file `path`, as `path:line: what`.
fn check(path: &Path, text: &str) -> Vec<String> {
    let mut breaches = Vec::new();
    let mut report = |line, what: String| {
        breaches.push(format!("{}:{line}: {what}", path.display()));
    };
    if !text.starts_with("//!") {
        report(1, "a file opens with `//!` and what it is for".to_owned());
    }
    let module = module_path(path);
    let top = module.first().map_or("lib", String::as_str);
    if !["lib", "main"].contains(&top) && layer(top).is_none() {
        report(
            1,
            format!("module `{top}` has no layer; give it one in {}", file!()),
        );
    }
    for path in paths(&tokens(text)) {
        if let Some(used) = path.top_module(&module)
            && !may_use(top, used)
        {
            report(path.line, format!("`{top}` must not use `{used}`"));
        }
        if top != "cli" && !path.is_test && !is_test_file(&module) && path.touches_machine() {
            report(
                path.line,
                format!("only `cli` uses `{}`", path.parts.join("::")),
            );
        }
    }
    breaches
}

/// `yaml`, `scan` for `src/yaml/scan.rs`; `yaml` for `src/yaml/mod.rs`; nothing for `src/lib.rs`.
fn module_path(path: &Path) -> Vec<String> {
    let path = path.strip_prefix("src").unwrap_or(path).with_extension("");
    let mut parts: Vec<String> = path
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if parts.last().is_some_and(|part| part == "mod") || parts == ["lib"] {
        parts.pop();
    }
    parts
}

fn is_test_file(module: &[String]) -> bool {
    module.iter().any(|name| name == "tests")
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

fn may_use(module: &str, used: &str) -> bool {
    match module {
        // Declares and re-exports all of them.
        "lib" => true,
        "main" => used == "cli",
        _ => module == used || layer(used) < layer(module),
    }
}

/// A path as `use` or an expression names it, with the groups of a `use` spelled out.
struct UsedPath<'t> {
    parts: Vec<&'t str>,
    line: usize,
    is_test: bool,
}

impl UsedPath<'_> {
    /// The module of the crate that the path leads to from inside `module`.
    fn top_module(&self, module: &[String]) -> Option<&str> {
        let used = match *self.parts.first()? {
            "crate" | "krm_template" => self.parts.get(1),
            // In a test module written in place `super` is the module of the file.
            "super" if !self.is_test => {
                let up = self.parts.iter().take_while(|part| **part == "super");
                let up = up.count();
                self.parts.get(up).filter(|_| up >= module.len())
            }
            _ => None,
        };
        // Items at the crate's root belong to no layer.
        used.copied().filter(|used| layer(used).is_some())
    }

    fn touches_machine(&self) -> bool {
        let mut parts = self.parts.clone();
        if parts.first() == Some(&"io") {
            parts.insert(0, "std");
        }
        MACHINE.iter().any(|machine| parts.starts_with(machine))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Token<'t> {
    Word(&'t str),
    /// `::`
    Colons,
    Sign(char),
}

#[derive(Clone, Copy)]
struct Spanned<'t> {
    token: Token<'t>,
    line: usize,
    is_test: bool,
}

/// Every path in `tokens` of more than one part.
fn paths<'t>(tokens: &[Spanned<'t>]) -> Vec<UsedPath<'t>> {
    let mut paths = Vec::new();
    let mut rest = tokens;
    let mut after_colons = false;
    while let Some((first, others)) = rest.split_first() {
        let starts = matches!(first.token, Token::Word(_)) && !after_colons;
        if starts
            && others
                .first()
                .is_some_and(|next| next.token == Token::Colons)
        {
            rest = tree(rest, &[], &mut paths);
            after_colons = false;
        } else {
            after_colons = first.token == Token::Colons;
            rest = others;
        }
    }
    paths
}

/// Takes one tree of a `use` (`a::b`, `a::{b, c::d}`) from the front of `tokens`, and gives back
/// what is after it.
fn tree<'t, 's>(
    tokens: &'s [Spanned<'t>],
    before: &[&'t str],
    paths: &mut Vec<UsedPath<'t>>,
) -> &'s [Spanned<'t>] {
    let mut parts = before.to_vec();
    let mut rest = tokens;
    let (mut line, mut is_test) = (0, false);
    while let Some((first, others)) = rest.split_first() {
        match first.token {
            Token::Word(word) => {
                parts.push(word);
                (line, is_test) = (first.line, first.is_test);
                rest = others;
                match others.split_first() {
                    Some((next, others)) if next.token == Token::Colons => rest = others,
                    _ => break,
                }
            }
            Token::Sign('{') if !parts.is_empty() => return group(others, &parts, paths),
            _ => break,
        }
    }
    if line > 0 {
        paths.push(UsedPath {
            parts,
            line,
            is_test,
        });
    }
    rest
}

/// Takes the rest of a group, after its `{`.
fn group<'t, 's>(
    tokens: &'s [Spanned<'t>],
    before: &[&'t str],
    paths: &mut Vec<UsedPath<'t>>,
) -> &'s [Spanned<'t>] {
    let mut rest = tokens;
    while let Some((first, others)) = rest.split_first() {
        rest = match first.token {
            Token::Sign('}') => return others,
            Token::Word(_) => tree(rest, before, paths),
            // `,`, `*`, and whatever cannot be there.
            _ => others,
        };
    }
    rest
}

/// The words and signs of `text`, without comments and literals, each with its line and whether it
/// is inside a `#[cfg(test)] mod`.
fn tokens(text: &str) -> Vec<Spanned<'_>> {
    let mut tokens: Vec<Spanned<'_>> = Vec::new();
    let mut rest = text;
    let mut line = 1;
    // The depth of braces, and the one that ends a test module.
    let (mut depth, mut test_depth) = (0, None);
    while let Some(first) = rest.chars().next() {
        let (length, token) = next_token(rest, first);
        let (part, others) = rest.split_at(length);
        if let Some(token) = token {
            if token == Token::Sign('{') {
                if test_depth.is_none() && opens_test_module(&tokens) {
                    test_depth = Some(depth);
                }
                depth += 1;
            }
            tokens.push(Spanned {
                token,
                line,
                is_test: test_depth.is_some(),
            });
            if token == Token::Sign('}') {
                depth -= 1;
                test_depth = test_depth.filter(|test_depth| *test_depth < depth);
            }
        }
        line += part.matches('\n').count();
        rest = others;
    }
    tokens
}

/// Whether `tokens` end with `#[cfg(test)] mod name`, perhaps with further attributes between.
fn opens_test_module(tokens: &[Spanned<'_>]) -> bool {
    let [.., keyword, _] = tokens else {
        return false;
    };
    let is_item_end = |token: &&Spanned<'_>| !matches!(token.token, Token::Sign(';' | '{' | '}'));
    let words: Vec<_> = tokens
        .iter()
        .rev()
        .take_while(is_item_end)
        .filter_map(|token| match token.token {
            Token::Word(word) => Some(word),
            _ => None,
        })
        .collect();
    keyword.token == Token::Word("mod") && words.windows(2).any(|pair| pair == ["test", "cfg"])
}

/// How many bytes the token at the start of `text` has, and what it is unless it is to be ignored.
fn next_token(text: &str, first: char) -> (usize, Option<Token<'_>>) {
    if text.starts_with("//") {
        return (text.find('\n').unwrap_or(text.len()), None);
    }
    if text.starts_with("/*") {
        return (block_comment(text), None);
    }
    if text.starts_with("::") {
        return (2, Some(Token::Colons));
    }
    if let Some(length) = raw_string(text) {
        return (length, None);
    }
    if first == '"' {
        return (quoted(text, '"'), None);
    }
    if first == '\'' {
        return (character_or_lifetime(text), None);
    }
    let word = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    match word.unwrap_or(text.len()) {
        0 if first.is_whitespace() => (first.len_utf8(), None),
        0 => (first.len_utf8(), Some(Token::Sign(first))),
        length => (length, text.get(..length).map(Token::Word)),
    }
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// The length of the raw string that `text` begins with.
fn raw_string(text: &str) -> Option<usize> {
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| {
        text.starts_with(&format!("{prefix}\"")) || text.starts_with(&format!("{prefix}#"))
    })?;
    let rest = text.strip_prefix(prefix)?;
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let body = rest.trim_start_matches('#').strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let end = body.find(&close).map_or(body.len(), |at| at + close.len());
    Some(prefix.len() + hashes + 1 + end)
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at + 1;
        }
    }
    text.len()
}

/// `'a'` and `'\n'` whole, of `'a` the quote only.
fn character_or_lifetime(text: &str) -> usize {
    let mut chars = text.chars().skip(1);
    let (first, second) = (chars.next(), chars.next());
    if first == Some('\\') || second == Some('\'') {
        quoted(text, '\'')
    } else {
        1
    }
}

/// The check itself, on texts made for it.
fn breaches_are_found() -> Result<(), Failed> {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "src/yaml/scan.rs",
            "//! A.\nuse krm_yaml::source::Place;\nuse super::node;\n",
            &[],
        ),
        (
            "src/yaml/scan.rs",
            "use krm_yaml::source::Place;\n",
            &["1: a file opens with `//!` and what it is for"],
        ),
        (
            "src/yaml/scan.rs",
            "//! A.\nuse crate::krm::Item;\n",
            &["2: `yaml` must not use `krm`"],
        ),
        (
            "src/yaml/scan.rs",
            "//! A.\nuse crate::{\n    diagnostic::{self, Result},\n    template::model::{A, B},\n};\n",
            &[
                "4: `yaml` must not use `template`",
                "4: `yaml` must not use `template`",
            ],
        ),
        (
            "src/yaml/mod.rs",
            "//! A.\nuse super::report;\n",
            &["2: `yaml` must not use `report`"],
        ),
        (
            "src/yaml/a/b.rs",
            "//! A.\nuse super::super::super::cli;\n",
            &["2: `yaml` must not use `cli`"],
        ),
        (
            "src/template/a.rs",
            "//! A.\nfn f() { crate::composition::g() }\n",
            &["2: `template` must not use `composition`"],
        ),
        (
            "src/report/mod.rs",
            "//! A.\nuse crate::krm::Item;\nuse crate::template::T;\n",
            &["3: `report` must not use `template`"],
        ),
        (
            "src/main.rs",
            "//! A.\nuse krm_template::{cli, function};\n",
            &["2: `main` must not use `function`"],
        ),
        (
            "src/odd.rs",
            "//! A.\n",
            &["1: module `odd` has no layer; give it one in tests/suite/architecture.rs"],
        ),
        (
            "src/krm/a.rs",
            "//! A.\nuse std::{fmt, fs::File, io};\n",
            &["2: only `cli` uses `std::fs::File`"],
        ),
        (
            "src/krm/a.rs",
            "//! A.\nuse std::io;\nfn f() { io::stdout(); }\n",
            &["3: only `cli` uses `io::stdout`"],
        ),
        (
            "src/main.rs",
            "//! A.\nuse clap::Parser;\n",
            &["2: only `cli` uses `clap::Parser`"],
        ),
        (
            "src/cli/mod.rs",
            "//! A.\nuse clap::Parser;\nuse std::env;\nuse crate::function;\n",
            &[],
        ),
        (
            "src/krm/a.rs",
            "//! A. crate::cli\n/* /* */ crate::cli */\nconst A: &str = \"crate::cli\"; const B: &str = r#\"\" crate::cli\"#;\n\
             fn f<'a>(c: char) -> bool { c == '\"' || c == '\\'' }\nuse std::fs;\n",
            &["5: only `cli` uses `std::fs`"],
        ),
        (
            "src/krm/a.rs",
            "//! A.\n#[cfg(test)]\nmod tests {\n    use super::cli;\n    fn f() { std::fs::read(); }\n    use crate::cli;\n}\nuse std::fs;\n",
            &[
                "6: `krm` must not use `cli`",
                "8: only `cli` uses `std::fs`",
            ],
        ),
    ];
    for (path, text, expected) in cases {
        let expected: Vec<_> = expected.iter().map(|e| format!("{path}:{e}")).collect();
        let found = check(Path::new(path), text);
        if found != expected {
            return Err(format!("{text}\nexpected {expected:#?}\nfound {found:#?}").into());
        }
    }
    Ok(())
}
