//! Misleading documents: the full path reads the same from those that the fast paths accept.

use proptest::prelude::*;

use super::{compare, compare_variants};

const TOKENS: &[&str] = &[
    " ",
    "  ",
    "\n",
    "\n",
    "\n  ",
    "\n    ",
    "- ",
    "-",
    ": ",
    ":",
    "# c",
    " # c",
    "#",
    "\"",
    "'",
    "\"a b\"",
    "'it''s'",
    "\"\\n\\u00e9\"",
    "|",
    ">-",
    "|+",
    "|2",
    ">",
    "{",
    "}",
    "[",
    "]",
    ",",
    ", ",
    "{}",
    "[]",
    "{a: b}",
    "{\"a\":1}",
    "[a, 'b']",
    "a",
    "b",
    "word",
    "two words",
    "1",
    "0644",
    "~",
    "true",
    "?",
    "? ",
    "&a ",
    "*a",
    "!t ",
    "@",
    "`",
    "%",
    "---",
    "...",
    "\t",
    "\r\n",
    "\r",
    "key: ",
    "key:",
    "- k: v\n",
    "é",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "=",
    "<<",
    "http://x:80/?q#f",
    "a:b",
    "-x",
    "--y",
    "\\",
    "$",
    "${A}",
    "{{b}}",
    "$(C)",
];

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(TOKENS), 0..24).prop_map(|tokens| tokens.concat())
}

/// Lines that are valid YAML each, but not always together.
#[expect(clippy::too_many_lines, reason = "a table of lines")]
fn lines() -> impl Strategy<Value = String> {
    const LINES: &[&str] = &[
        "a: b",
        "b:",
        "c: 'x' # c",
        "- d",
        "- e: f",
        "-",
        "- - g",
        "- h:",
        "# c",
        "",
        "   ",
        "i: |",
        "j: >-",
        "k: |+",
        "- |",
        "- >2",
        "l: |1-",
        "text",
        "  more text",
        "m: {n: o}",
        "- [p, \"q\"]",
        "\"r\": s",
        "- 't': u",
        "v: w x # y",
        "z: []",
        "-   aa: bb",
        "- - - cc: dd",
        "- # c",
        "ee: # c",
        "ff: |2 # c",
        "\"gg\"",
        "{hh: ii}",
        "jj : kk",
        "---",
        "word: a\tb",
        "...",
        "ll: \"\\x41\\\"\"",
        "mm: {nn: {oo: [pp, {}]}, 'qq': \"rr\"}",
        "- ss: - tt",
        "uu: &vv ww",
        "xx: -",
        "yy: a: b",
        "zz: a:",
        "ab: a #b",
        "ac: a#b",
        "- ad:\tae",
        "\taf: b",
        "- -",
        "- - ",
        "ag: [ah, ai: aj]",
        "ak: \"al",
        "am: [an",
        "- ? ao",
        "ap: 'aq' ar",
        "as: {at: , au: v}",
    ];
    let line = (0usize..8, prop::sample::select(LINES), 0u8..40).prop_map(|(indent, line, end)| {
        let end = match end {
            0 => "\r\n",
            1 => " \n",
            2 => " # c\n",
            3 => "\n\n",
            _ => "\n",
        };
        format!("{}{line}{end}", " ".repeat(indent.saturating_sub(1)))
    });
    prop::collection::vec(line, 0..9).prop_map(|lines| lines.concat())
}

/// A valid document: it uses the choices of the list, one after the other.
fn document() -> impl Strategy<Value = String> {
    prop::collection::vec(any::<u8>(), 0..120).prop_map(|choices| {
        let mut writer = Writer { choices: choices.into_iter(), out: String::new() };
        writer.collection(0, 0);
        writer.out
    })
}

struct Writer {
    choices: std::vec::IntoIter<u8>,
    out: String,
}

impl Writer {
    fn choose(&mut self, count: u8) -> u8 {
        self.choices.next().unwrap_or(0) % count
    }

    fn pick(&mut self, of: &[&'static str]) -> &'static str {
        of[usize::from(self.choose(u8::try_from(of.len()).unwrap()))]
    }

    fn line(&mut self) {
        let end =
            self.pick(&["\n", "\n", "\n", "\n", " # c\n", " \n", "\n\n", "\n # c\n", "\n      \n"]);
        self.out.push_str(end);
    }

    fn indent(&mut self, column: usize) {
        self.out.push_str(&" ".repeat(column));
    }

    /// A mapping or list whose first line is already indented.
    fn collection(&mut self, column: usize, depth: usize) {
        let list = self.choose(3) == 0;
        for index in 0..=self.choose(3) {
            if index > 0 {
                self.indent(column);
            }
            if list {
                self.item(column, depth);
            } else {
                self.entry(column, depth);
            }
        }
    }

    fn item(&mut self, column: usize, depth: usize) {
        self.out.push('-');
        if depth < 5 && self.choose(2) == 0 {
            let spaces = usize::from(self.choose(3)) + 1;
            self.indent(spaces);
            return self.collection(column + 1 + spaces, depth + 1);
        }
        self.value(column, depth);
    }

    fn entry(&mut self, column: usize, depth: usize) {
        let key = self
            .pick(&["a", "b c", "\"d\"", "'e'", "f.g/h", "-i", "j:k", "l ", "\"m\" ", "${N}", "é"]);
        self.out.push_str(key);
        self.out.push(':');
        if depth < 5 && self.choose(3) == 0 {
            self.line();
            self.indent(column);
            self.out.push('-');
            return self.value(column, depth);
        }
        self.value(column, depth);
    }

    #[expect(clippy::too_many_lines, reason = "one match over what a value may be")]
    fn value(&mut self, column: usize, depth: usize) {
        match self.choose(8) {
            0 => self.line(),
            1 | 2 if depth < 5 => {
                self.line();
                let column = column + 1 + usize::from(self.choose(3));
                self.indent(column);
                self.collection(column, depth + 1);
            }
            3 => self.block(column),
            4 => {
                self.out.push(' ');
                let flow = self.pick(&[
                    "{}",
                    "[]",
                    "{a: b}",
                    "[a, \"b\"]",
                    "{\"a\":1, 'b': [c,d]}",
                    "[[], {}]",
                    "[ {a: {b: c} }, x ]",
                    "{ a: -1, b: nginx:1.2 }",
                    "[--port=1, http://x:2/#y]",
                    "{a: }",
                    "[a,]",
                    "{a, b: c}",
                    "[a: b]",
                    "[a?b]",
                    "[{a: b}, [c]]",
                    "{a: \"b\" }",
                ]);
                self.out.push_str(flow);
                self.line();
            }
            5 if self.choose(2) == 0 => self.quoted(column),
            5 => {
                self.out.push(' ');
                let text = self.pick(&[
                    "\"b\"",
                    "''",
                    "'it''s'",
                    "\"\\\"\\\\\"",
                    "\"a # b: c\"",
                    "'- x'",
                    "\"\\/\"",
                    "\"\\'\"",
                    "\"\\u00e9\"",
                    "\"\\ud800\"",
                ]);
                self.out.push_str(text);
                self.line();
            }
            6 => {
                let text = self.pick(&[" x", " x y", "   x"]);
                self.out.push_str(text);
                for _ in 0..=self.choose(3) {
                    let broken = self.pick(&["\n", "\n\n", " \n", "\r\n"]);
                    self.out.push_str(broken);
                    let spaces = column + 1 + usize::from(self.choose(3));
                    self.indent(spaces);
                    let text = self.pick(&[
                        "more", "- more", "\"more", "[more", "? more", "&more", "a#b", "x:y", "|",
                        "%", "! ", "--- x", "word # c", "a: b",
                    ]);
                    self.out.push_str(text);
                }
                self.line();
            }
            _ => {
                let text = self.pick(&[
                    " x", " x y", "   0644", " x#y", " x:y", " -1", " --x", " a'b\"", " 12:30",
                    " ~", " \"a\"", " é", " =", " $(X)", " ${Y}z", " a,b]",
                ]);
                self.out.push_str(text);
                self.line();
            }
        }
    }

    fn quoted(&mut self, column: usize) {
        let quote = self.pick(&[" \"", " '"]);
        self.out.push_str(quote);
        for _ in 0..=self.choose(3) {
            let text = self.pick(&[
                "text", "", " ", "- x", "a: b", "# c", "''", "\\\\", "\\", "[", "\\n", "a\tb",
                "\t", "\\\"", "---",
            ]);
            self.out.push_str(text);
            let broken = self.pick(&["\n", "\n\n", " \n", "\n   \n", "\r\n"]);
            self.out.push_str(broken);
            let spaces = column + usize::from(self.choose(3));
            self.indent(spaces);
        }
        self.out.push_str(quote.trim());
        self.line();
    }

    fn block(&mut self, column: usize) {
        let header =
            self.pick(&[" |", " >", " |-", " >+", " |+", " |2", " >-1", " |1+", " | # c", "  >- "]);
        self.out.push_str(header);
        self.out.push('\n');
        for _ in 0..self.choose(5) {
            let spaces = match self.choose(4) {
                0 => column + 1,
                1 => column + 3,
                _ => column + 2,
            };
            self.indent(spaces);
            let text = self.pick(&[
                "text",
                "",
                "- x",
                "a: b",
                "# no comment",
                "\"",
                "text ",
                "'",
                "{",
                "---",
                "\ta",
                "é\n\n",
                "\r",
                " ",
            ]);
            self.out.push_str(text);
            self.out.push('\n');
        }
    }
}

/// A good document with a token put into it.
fn damaged() -> impl Strategy<Value = String> {
    (document(), any::<prop::sample::Index>(), prop::sample::select(TOKENS), 0usize..3).prop_map(
        |(text, index, token, length)| {
            let mut places = text.char_indices().map(|(at, _)| at).collect::<Vec<_>>();
            places.push(text.len());
            let from = index.index(places.len());
            let to = (from + length).min(places.len() - 1);
            let (before, after) = text.split_at(places[from]);
            let (_, after) = after.split_at(places[to] - places[from]);
            format!("{before}{token}{after}")
        },
    )
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(
        &[
            "1",
            "-0.5e+10",
            "01",
            "true",
            "null",
            "\"a\"",
            "\"\\ud83d\\ude00\"",
            "\"\\/\\n\"",
            "word",
            "\"\t\"",
            "\"é\"",
            "{}",
            "[ ]",
            "\"a:b\"",
            "-",
            "",
        ][..],
    )
    .prop_map(str::to_owned);
    let space = prop::sample::select(&["", "", "", " ", "\n", "\t", "\r\n", "\n  ", "#", ","][..]);
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let key = prop::sample::select(&["\"a\"", "\"b c\"", "\"\\u0041\"", "k", "\"\""][..]);
        let entry = (key, space.clone(), space.clone(), inner.clone())
            .prop_map(|(key, a, b, value)| format!("{key}{a}:{b}{value}"));
        let list = |open: char,
                    close: char,
                    of: BoxedStrategy<String>,
                    space: BoxedStrategy<&'static str>| {
            (prop::collection::vec(of, 0..4), space.clone(), space).prop_map(
                move |(items, a, b)| {
                    format!("{open}{a}{}{b}{close}", items.join(&format!("{b},{a}")))
                },
            )
        };
        prop_oneof![
            list('[', ']', inner.boxed(), space.clone().boxed()),
            list('{', '}', entry.boxed(), space.clone().boxed()),
        ]
    })
}

/// `PROPTEST_CASES` sets their number; without it there are few, for a short test.
fn cases() -> u32 {
    let cases = std::env::var_os("PROPTEST_CASES");
    let cases = cases.and_then(|cases| cases.to_str()?.parse().ok());
    cases.unwrap_or(2_000)
}

fn check(text: &str) -> Result<(), TestCaseError> {
    compare(text).map_err(TestCaseError::fail)?;
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn soups(text in soup()) {
        check(&text)?;
    }

    #[test]
    fn lines_together(text in lines()) {
        check(&text)?;
    }

    #[test]
    fn documents(text in document()) {
        compare_variants(&text).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn damaged_documents(text in damaged()) {
        check(&text)?;
    }

    #[test]
    fn json_texts(text in json()) {
        check(&text)?;
    }
}
