//! Functions that do not end, and their output.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};

use crate::program;

pub(crate) fn trials() -> Vec<Trial> {
    if cfg!(not(unix)) {
        return Vec::new();
    }
    vec![
        Trial::test("functions/all_that_was_started_ends_with_a_timeout", timeout),
        Trial::test("functions/a_closed_output_does_not_end_the_timeout", closed),
        Trial::test("functions/all_that_was_started_ends_with_a_signal", signals),
        Trial::test("functions/signals_that_are_ignored_stay_ignored", ignored),
        Trial::test("functions/only_so_much_output_is_read", much),
        Trial::test("functions/escape_sequences_are_shown_as_text", escapes),
    ]
}

/// A new folder with a Composition that runs `script`.
fn folder(name: &str, script: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("functions").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let composition = "kind: Composition\ntransformers:\n- apiVersion: example.com/v1\n  kind: F\n  \
                       runtime: {exec: {path: sh, args: [script]}}\n";
    fs::write(folder.join("composition.yaml"), composition)?;
    fs::write(folder.join("script"), script)?;
    Ok(folder)
}

/// Runs a line of the shell in `folder`, with `$BUILD` for the command.
fn shell(folder: &Path, line: &str) -> Result<program::Output, String> {
    // `nohup` ignores a signal for all that it starts, which a shell cannot undo.
    let signals: &[&str] =
        if cfg!(target_os = "linux") { &["--default-signal=HUP,TERM"] } else { &[] };
    let mut command = Command::new("env");
    let build = format!("{} build --enable-exec", program::PATH);
    command.current_dir(folder).args(signals).args(["sh", "-c", line]).env("BUILD", build);
    program::run(&mut command, Vec::new())
}

fn says(output: &program::Output, exit: &str, words: &str) -> Result<(), Failed> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.exit == exit && stderr.contains(words) {
        Ok(())
    } else {
        Err(format!("expected {exit} and {words}, found {}\n{stderr}", output.exit).into())
    }
}

/// Fails if a process whose number is in a file of `folder` still exists. One that was killed may take
/// a moment to end on a busy machine.
fn all_gone(folder: &Path) -> Result<(), Failed> {
    let numbers = fs::read_to_string(folder.join("processes"))?;
    let is_alive = |number: &&str| {
        // A process that has ended is listed until its parent reads its exit status.
        let state = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    for _ in 0..200 {
        if !numbers.lines().any(|number| is_alive(&number)) {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Err(format!("still running: {:?}", numbers.lines().find(is_alive)).into())
}

/// The second process does not end when it is asked to.
const STARTS_OTHERS: &str = "echo $$ > processes\nsh -c 'trap \"\" TERM; echo $$ >> processes; sleep 60 & \
                             echo $! >> processes; wait' &\nsleep 60\n";

fn timeout() -> Result<(), Failed> {
    let folder = folder("timeout", STARTS_OTHERS)?;
    let output = shell(&folder, "$BUILD --function-timeout 1")?;
    says(&output, "1", "`sh` ran for more than 1 s and was stopped")?;
    all_gone(&folder)
}

fn closed() -> Result<(), Failed> {
    let folder = folder("closed", "echo $$ > processes\nexec >&-\nsleep 60\n")?;
    let output = shell(&folder, "timeout 20 $BUILD --function-timeout 1")?;
    says(&output, "1", "`sh` ran for more than 1 s and was stopped")?;
    all_gone(&folder)
}

fn signals() -> Result<(), Failed> {
    for (signal, exit) in [("TERM", "143"), ("HUP", "129")] {
        let folder = folder(signal, STARTS_OTHERS)?;
        let line = format!(
            "$BUILD & until [ \"$(wc -l < processes)\" -ge 3 ]; do sleep 0.05; done 2>/dev/null; \
             kill -{signal} $!; wait $!"
        );
        says(&shell(&folder, &line)?, exit, "`sh` was interrupted")?;
        all_gone(&folder)?;
    }
    Ok(())
}

/// As by `nohup`.
fn ignored() -> Result<(), Failed> {
    if !Path::new("/proc/self/status").exists() {
        return Ok(());
    }
    let folder = folder("ignored", "echo $$ > processes; sleep 1; cat\n")?;
    let line =
        "trap '' HUP; $BUILD & until [ -s processes ]; do sleep 0.05; done; kill -HUP $!; wait $!";
    says(&shell(&folder, line)?, "0", "")
}

fn much() -> Result<(), Failed> {
    let folder = folder("much", "echo $$ > processes; head -c 200000000 /dev/zero; sleep 60\n")?;
    let output = shell(&folder, "timeout 50 $BUILD")?;
    says(&output, "1", "`sh` wrote more than 64 MiB to standard output and was stopped")?;
    all_gone(&folder)
}

fn escapes() -> Result<(), Failed> {
    let folder = folder("escapes", "printf '\\033[31mred\\033]0;title\\007\\n' >&2; cat\n")?;
    let output = shell(&folder, "$BUILD")?;
    says(&output, "0", "\\u{1b}[31mred\\u{1b}]0;title\\u{7}")?;
    if output.stderr.contains(&0x1b) {
        return Err("there is an escape sequence".into());
    }
    Ok(())
}
