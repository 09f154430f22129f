//! The program in `go-oracle/`, and the random texts it is asked about.

use std::io::{BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::JoinHandle;

use libtest_mimic::Trial;
use serde_json::{Value, json};

/// The variable with the path of the oracle.
pub(super) const ORACLE: &str = "KRM_TEMPLATE_GO_ORACLE";
/// The variable with the path of the shared data.
pub(super) const SHARED: &str = "KRM_TEMPLATE_SHARED";

fn setting(name: &str) -> Option<PathBuf> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

/// The folder with the shared data.
pub(super) fn shared() -> PathBuf {
    setting(SHARED).expect("a test that needs it is ignored without it")
}

/// A test that is ignored unless all variables that it needs are set.
pub(super) fn trial(name: &str, needs: &[&str], test: fn()) -> Trial {
    let missing: Vec<&str> = needs.iter().copied().filter(|name| setting(name).is_none()).collect();
    let trial = Trial::test(name, move || {
        test();
        Ok(())
    });
    if missing.is_empty() {
        return trial;
    }
    let reason = format!("needs {}", missing.join(", "));
    trial.with_kind(reason).with_ignored_flag(true)
}

pub(super) struct Oracle {
    program: Child,
    questions: BufWriter<ChildStdin>,
    answers: JoinHandle<String>,
    asked: usize,
}

impl Oracle {
    pub(super) fn start() -> Self {
        let path = setting(ORACLE).expect("a test that needs it is ignored without it");
        let mut program = Command::new(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", path.display()));
        let questions = BufWriter::new(program.stdin.take().unwrap());
        let mut output = program.stdout.take().unwrap();
        let answers = std::thread::spawn(move || {
            let mut text = String::new();
            output.read_to_string(&mut text).unwrap();
            text
        });
        Self { program, questions, answers, asked: 0 }
    }

    /// Asks whether all readers take `yaml` for `want`.
    pub(super) fn ask(&mut self, yaml: &str, want: &Value) {
        self.send(&json!({"yaml": yaml, "want": want}));
    }

    /// The same, but a reader may refuse the document.
    pub(super) fn ask_lenient(&mut self, yaml: &str, want: &Value, readers: &[&str]) {
        self.send(&json!({"yaml": yaml, "want": want, "lenient": true, "readers": readers}));
    }

    /// Asks whether all readers refuse the document: no text means `refused` here.
    pub(super) fn ask_refused(&mut self, yaml: &str, readers: &[&str]) {
        self.ask_lenient(yaml, &json!({"refused": null}), readers);
    }

    fn send(&mut self, question: &Value) {
        writeln!(self.questions, "{question}").unwrap();
        self.asked += 1;
    }

    /// Checks that the answers hold no difference.
    #[track_caller]
    pub(super) fn finish(mut self, what: &str) {
        drop(self.questions);
        let answers = self.answers.join().unwrap();
        let status = self.program.wait().unwrap();
        let shown: Vec<&str> = answers.lines().take(20).collect();
        assert!(status.success(), "{what}, some of the differences:\n{}", shown.join("\n"));
        let summary = answers.lines().last().unwrap();
        assert!(summary.contains(&format!("\"documents\":{},", self.asked)), "{summary}");
        println!("{what}: {summary}");
    }
}

/// A generator of the same numbers on every run (xorshift64*).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(number).unwrap() % limit
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub(super) fn text(&mut self, alphabet: &[&str], longest: usize) -> String {
        (0..=self.below(longest)).map(|_| self.pick(alphabet)).collect()
    }
}

#[rustfmt::skip]
const TYPED: &[&str] = &[
    "0", "1", "7", "8", "9", "0", "x", "o", "b", "X", "B", "e", "E", "+", "-", ".", "_", ":",
    "a", "F", "n", "N", "inf", "nan", "null", "true", "yes", "off", "y", "~", "T", "Z", " ",
    "2001-", "12:30", "<<", "=", "0x", "0b", "0o",
];
#[rustfmt::skip]
const INDICATORS: &[&str] = &[
    "-", "?", ":", ",", "[", "]", "{", "}", "#", "&", "*", "!", "|", ">", "'", "\"", "%", "@",
    "`", " ", "a", "b", "\\", "=", "<", "$(A)", "${A}", "~", "/", "1",
];
#[rustfmt::skip]
const LINES: &[&str] = &[
    "\n", "\n", "\n\n", " ", "  ", "\t", "a", "b", "#", "- ", "---", "...", "|", ">", ": ",
    "\r", "\r\n", "word", "'", "\"",
];
#[rustfmt::skip]
const CHARACTERS: &[&str] = &[
    "\0", "\u{7}", "\u{b}", "\u{1b}", "\u{7f}", "\u{80}", "\u{85}", "\u{9f}", "\u{a0}",
    "\u{ad}", "\u{61c}", "\u{200b}", "\u{2028}", "\u{2029}", "\u{202e}", "\u{2066}",
    "\u{d7ff}", "\u{e000}", "\u{f8ff}", "\u{feff}", "\u{fffd}", "\u{fffe}", "\u{ffff}",
    "\u{1f600}", "\u{1fffe}", "\u{10ffff}", "é", "日", "٣", "\u{301}", " ", "\n", "\t", "a",
    "'", "\"",
];
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "yes", "No", "null", "key", "word", " ", " ", "\n", ": ", " #", "http://", "a,b", "0644",
    "1.10", "-", "it's", "\"q\"", "\\n", "\n  ", "${NAME}", "$(NAME)", "---\n", "# c\n",
];
/// Few, so that every short spelling of a number comes up.
const NUMBERS: &[&str] = &["0", "1", "9", "0b", "0o", "0x", "+", "-", "_", ".", "e", ":"];
const ALPHABETS: [&[&str]; 6] = [TYPED, INDICATORS, LINES, CHARACTERS, WORDS, NUMBERS];

/// A text that a careless writer would spoil.
pub(super) fn nasty(random: &mut Random) -> String {
    let mixed: Vec<&str> = ALPHABETS.concat();
    let alphabet = match random.below(8) {
        chosen @ 0..6 => ALPHABETS[chosen],
        6 => NUMBERS,
        _ => &mixed,
    };
    let longest = if random.below(10) == 0 { 40 } else { 8 };
    let text = random.text(alphabet, longest);
    // Now and then a key that is too long for `key: value`.
    if random.below(400) == 0 { text.repeat(1 + 1_200 / text.len()) } else { text }
}
