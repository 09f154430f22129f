//! Runs another program with a text as input and output, within limits.

use std::io::{ErrorKind, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::group::Group;
pub use crate::group::SEED;
use crate::interruption::Interruption;
use krm_yaml::diagnostic::Diagnostic;
#[cfg(unix)]
use rustix::{fs::Mode, process::umask};
use tempfile::TempDir;

/// How many bytes of the end of standard error are kept, or twice as many.
const KEPT_WORDS: usize = 64 << 10;

/// The interval between checks whether a program that has closed its output has ended.
pub(crate) const PAUSE: Duration = Duration::from_millis(2);
/// The interval between checks for signals while a program runs.
pub(crate) const LISTEN: Duration = Duration::from_millis(50);
/// How long to wait for a program that has closed its output, and for its standard error.
pub(crate) const GRACE: Duration = Duration::from_secs(1);
/// The maximum number of lines shown of standard error.
const SHOWN_LINES: usize = 20;

/// The limits for a program.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long it may run.
    pub time: Duration,
    /// How many bytes it may write to its standard output.
    pub output: u64,
}

/// The result of a program.
pub struct Ended {
    /// The status with which it ended by itself.
    pub status: ExitStatus,
    /// All of its standard output.
    pub stdout: Vec<u8>,
    /// The end of what it wrote to standard error.
    pub stderr: Vec<u8>,
}

/// Why a program did not end by itself.
pub enum Failure {
    /// The program was not found.
    Missing,
    /// It exceeded the time limit, and wrote this to standard error.
    TimedOut(Vec<u8>),
    /// It wrote more than it may.
    TooMuch,
    /// This program was asked to end.
    Interrupted,
    /// The system could not run it.
    System(std::io::Error),
}

impl Failure {
    /// Whether the program ran and was stopped.
    pub const fn is_a_stop(&self) -> bool {
        matches!(self, Self::TimedOut(_) | Self::TooMuch | Self::Interrupted)
    }

    /// The error for a program that had these limits.
    pub fn diagnostic(&self, name: &str, limits: Limits) -> Diagnostic {
        match self {
            Self::Missing => Diagnostic::error(format!("program `{name}` not found")),
            Self::System(error) => Diagnostic::error(format!("`{name}` cannot be run: {error}")),
            Self::TimedOut(stderr) => Diagnostic::error(format!(
                "`{name}` ran for more than {} s and was stopped",
                limits.time.as_secs()
            ))
            .maybe_hint(said(stderr)),
            Self::TooMuch => Diagnostic::error(format!(
                "`{name}` wrote more than {} MiB to standard output and was stopped",
                limits.output >> 20
            )),
            Self::Interrupted => Diagnostic::error(format!("`{name}` was interrupted")),
        }
    }
}

/// The error for a program that ended with an error of its own.
pub fn unsuccessful(name: &str, ended: &Ended) -> Diagnostic {
    let how = match ended.status.code() {
        Some(code) => format!("exit status {code}"),
        None => ended.status.to_string(),
    };
    Diagnostic::error(format!("`{name}` failed: {how}")).maybe_hint(said(&ended.stderr))
}

/// The last lines that a program wrote to standard error.
pub fn said(stderr: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    let text = without_klog(&text);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let first = lines.len().saturating_sub(SHOWN_LINES);
    let lines = lines.get(first..).unwrap_or_default();
    (!lines.is_empty()).then(|| format!("it wrote to standard error:\n{}", lines.join("\n")))
}

/// A message of kubectl without the log prefix.
fn without_klog(text: &str) -> &str {
    match text.split_once("] \"command failed\" err=") {
        Some((before, problem)) if !before.contains('\n') => {
            problem.trim_matches(|c: char| c.is_whitespace() || "<>\"".contains(c))
        }
        _ => text,
    }
}

/// The streams of a program.
enum Event {
    /// Its whole standard output; `None` if it exceeds the limit.
    Output(Option<Vec<u8>>),
    /// The end of what it wrote to standard error.
    Words(Vec<u8>),
}

/// Runs a program with `input`. If it exceeds a limit, it is stopped together with all processes
/// that it has started.
///
/// # Errors
/// If the program did not end by itself.
pub fn run(
    command: &mut Command,
    input: String,
    limits: Limits,
    interruption: &Interruption,
) -> Result<Ended, Failure> {
    interruption.keep(true);
    let ended = start(command, input, limits.output)
        .and_then(|running| running.finish(limits.time, interruption));
    interruption.keep(false);
    ended
}

/// A temporary folder for other programs, which only this user can read and a signal removes.
///
/// # Errors
/// If the system does not make it.
pub fn folder(prefix: &str, interruption: &Interruption) -> std::io::Result<TempDir> {
    let folder = private(|| TempDir::with_prefix(prefix))?;
    interruption.guard(folder.path());
    Ok(folder)
}

/// Does work whose new files and folders only this user can read, also those of programs that it
/// runs.
pub fn private<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(unix)]
    let before = umask(Mode::RWXG | Mode::RWXO);
    let done = work();
    #[cfg(unix)]
    umask(before);
    done
}

/// A running program and the threads that read its streams.
struct Running {
    group: Group,
    events: Receiver<Event>,
    /// Keeps the channel open when both streams have ended.
    _sender: Sender<Event>,
    output: Option<Vec<u8>>,
    words: Option<Vec<u8>>,
}

/// Starts a program whose streams this program reads and writes.
pub(crate) fn with_streams(command: &mut Command) -> Result<Group, Failure> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Group::start(command).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::Missing,
        _ => Failure::System(error),
    })
}

fn start(command: &mut Command, input: String, most: u64) -> Result<Running, Failure> {
    let mut group = with_streams(command)?;
    if let Some(mut stdin) = group.child.stdin.take() {
        // A program may end without reading all its input, which breaks the pipe.
        thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    }
    let (sender, events) = channel();
    in_background(group.child.stdout.take(), &sender, move |stream| {
        Event::Output(whole(stream, most))
    });
    in_background(group.child.stderr.take(), &sender, |stream| {
        Event::Words(end(stream, KEPT_WORDS))
    });
    Ok(Running { group, events, _sender: sender, output: None, words: None })
}

impl Running {
    fn finish(mut self, limit: Duration, interruption: &Interruption) -> Result<Ended, Failure> {
        let deadline = now() + limit;
        while self.output.is_none() || !self.group.has_ended().map_err(Failure::System)? {
            if interruption.take() {
                let _ = self.group.stop();
                return Err(Failure::Interrupted);
            }
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() {
                let _ = self.group.stop();
                let words = last_words(self.words, &self.events);
                return Err(Failure::TimedOut(words));
            }
            let pause = if self.output.is_none() { LISTEN } else { PAUSE };
            match self.events.recv_timeout(pause.min(left)) {
                Ok(Event::Output(Some(bytes))) => self.output = Some(bytes),
                Ok(Event::Output(None)) => {
                    let _ = self.group.stop();
                    return Err(Failure::TooMuch);
                }
                Ok(Event::Words(words)) => self.words = Some(words),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
        Ok(Ended {
            status: self.group.status().map_err(Failure::System)?,
            stdout: self.output.unwrap_or_default(),
            stderr: last_words(self.words, &self.events),
        })
    }
}

/// The standard error of a program that has ended. Its child processes may keep the stream open.
fn last_words(words: Option<Vec<u8>>, events: &Receiver<Event>) -> Vec<u8> {
    if let Some(words) = words {
        return words;
    }
    let deadline = now() + GRACE;
    loop {
        // The end of standard output may be reported first.
        match events.recv_timeout(deadline.saturating_duration_since(now())) {
            Ok(Event::Words(words)) => return words,
            Ok(Event::Output(_)) => {}
            Err(_) => return Vec::new(),
        }
    }
}

/// Reads a stream to its end, while others go on.
fn in_background<S: Read + Send + 'static>(
    stream: Option<S>,
    sender: &Sender<Event>,
    read: impl Fn(S) -> Event + Send + 'static,
) {
    let sender = sender.clone();
    thread::spawn(move || {
        // The receiver may be gone.
        stream.map(|stream| sender.send(read(stream)))
    });
}

/// The content of a stream; `None` if it has more than `most` bytes.
fn whole(stream: impl Read, most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    // Bytes read before an error count.
    let _ = stream.take(most + 1).read_to_end(&mut bytes);
    (bytes.len() as u64 <= most).then_some(bytes)
}

/// At least the last `kept` bytes of a stream, from the beginning of a line if more was dropped.
fn end(mut stream: impl Read, kept: usize) -> Vec<u8> {
    let (mut words, mut piece) = (Vec::new(), [0; 8 << 10]);
    let mut is_cut = false;
    while let Ok(length @ 1..) = stream.read(&mut piece) {
        words.extend(piece.iter().take(length));
        if words.len() > 2 * kept {
            words.drain(..words.len() - kept);
            is_cut = true;
        }
    }
    let line = words.iter().position(|byte| *byte == b'\n');
    if let Some(line) = line.filter(|_| is_cut) {
        words.drain(..=line);
    }
    words
}

#[expect(clippy::disallowed_methods, reason = "no output depends on when a program is stopped")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The numbers of the current user and group, `UID:GID`, where there are such.
#[must_use]
#[cfg_attr(not(unix), expect(clippy::missing_const_for_fn, reason = "it is one only there"))]
pub fn current_user() -> Option<String> {
    #[cfg(unix)]
    {
        use rustix::process::{getgid, getuid};
        Some(format!("{}:{}", getuid().as_raw(), getgid().as_raw()))
    }
    #[cfg(not(unix))]
    None
}

#[cfg(test)]
mod tests {
    use super::{end, whole};

    #[test]
    fn a_stream_is_read_whole_or_not_at_all() {
        assert_eq!(whole(&b"abc"[..], 3).as_deref(), Some(&b"abc"[..]));
        assert_eq!(whole(&b"abcd"[..], 3), None);
        assert_eq!(whole(std::io::repeat(0), 1_000), None);
    }

    #[test]
    fn of_many_words_the_last_are_kept() {
        assert_eq!(end(&b"a\nb\n"[..], 10), b"a\nb\n");
        let many: Vec<String> = (0..10_000).map(|line| format!("line {line}\n")).collect();
        let kept = end(many.concat().as_bytes(), 100);
        let kept = String::from_utf8(kept).unwrap();
        assert!(kept.starts_with("line ") && kept.ends_with("line 9999\n"), "{kept}");
        assert!(kept.len() <= 200);
    }
}
