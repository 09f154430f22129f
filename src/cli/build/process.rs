//! Runs another program: a text in, a text out, and not for ever.

use std::io::{ErrorKind, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// How often a program that has closed its output is asked whether it has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// How long the last words of a program are waited for that was stopped.
const GRACE: Duration = Duration::from_secs(1);

/// What a program left behind.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Why a program did not end by itself.
pub(super) enum Failure {
    /// There is no such program.
    Missing,
    /// It ran for too long, and said this on standard error.
    TimedOut(Vec<u8>),
    /// The system would not run it.
    System(std::io::Error),
}

/// Runs a program with `input`, for `limit` at most.
pub(super) fn run(command: &mut Command, input: String, limit: Duration) -> Result<Ended, Failure> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::Missing,
        _ => Failure::System(error),
    })?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ends without reading everything breaks the pipe; that is its right.
        thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    }
    let stdout = in_background(child.stdout.take());
    let stderr = in_background(child.stderr.take());
    let out = stdout.recv_timeout(limit);
    let Ok(stdout) = out else {
        let _ = child.kill();
        let _ = child.wait();
        let stderr = stderr.recv_timeout(GRACE).unwrap_or_default();
        return Err(Failure::TimedOut(stderr));
    };
    // What it started itself may keep standard error open.
    let mut waited = Duration::ZERO;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                let stderr = stderr.recv_timeout(limit).unwrap_or_default();
                return Ok(Ended {
                    status,
                    stdout,
                    stderr,
                });
            }
            Ok(None) if waited < limit => {
                thread::sleep(PAUSE);
                waited += PAUSE;
            }
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(Failure::TimedOut(Vec::new()));
            }
            Err(error) => return Err(Failure::System(error)),
        }
    }
}

/// Reads a stream to its end, while others go on.
fn in_background(stream: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What was read before an error counts.
            let _ = stream.read_to_end(&mut bytes);
        }
        // Nobody may be waiting any more.
        let _ = sender.send(bytes);
    });
    receiver
}
