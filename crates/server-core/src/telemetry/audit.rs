//! The audit log: a JSON line for each request, to standard output or a file.
//!
//! A dedicated thread writes the lines from a queue, so a slow disk does not delay requests. If the
//! queue is full or a write fails, the lines are dropped and counted in
//! `krm_template_audit_dropped_total`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use jiff::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use super::metrics::Metrics;

/// The maximum number of lines in the queue.
const QUEUE: usize = 8_192;

/// The maximum length of a user agent in a line, in characters.
const MAX_USER_AGENT: usize = 256;

/// How long the shutdown waits for space in the queue, and then for the lines to be written.
const END: Duration = Duration::from_secs(5);

/// The interval between attempts to send to a full queue.
const PAUSE: Duration = Duration::from_millis(10);

/// The arguments of the audit log.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Logs")]
pub struct Args {
    /// The audit log file, reopened on SIGHUP [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub audit: Option<PathBuf>,
}

/// A request and its response, without bodies, values, credentials and the query of the URL.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry<'a> {
    /// The start time of the request.
    #[serde(serialize_with = "time")]
    pub time: Timestamp,
    /// The identifier, sent in the response header `Audit-Id`.
    #[serde(serialize_with = "text")]
    pub id: Uuid,
    /// The name of the user; empty if the request was not authenticated.
    pub user: &'a str,
    /// The groups of the user.
    pub groups: &'a [String],
    /// The Kubernetes verb; for other paths, the HTTP method in lower case.
    pub verb: &'a str,
    /// The path without its query; empty for a resource.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub path: &'a str,
    /// The API group; left out for the core group.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub group: &'a str,
    /// The plural name of the resource.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub resource: &'a str,
    /// The namespace; left out if there is none.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub namespace: &'a str,
    /// The name of the object.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub name: &'a str,
    /// The subresource; left out if there is none.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub subresource: &'a str,
    /// Whether the request was a dry run.
    pub dry_run: bool,
    /// The HTTP status code; 499 if the client left.
    pub code: u16,
    /// The size of the request body, in bytes.
    pub bytes_in: u64,
    /// The size of the response body, in bytes.
    pub bytes_out: u64,
    /// How long the request took, in milliseconds.
    #[serde(serialize_with = "milliseconds", rename = "milliseconds")]
    pub elapsed: Duration,
    /// The address of the client.
    pub address: &'a str,
    /// The `User-Agent`, cut to 256 characters.
    #[serde(serialize_with = "shortened")]
    pub user_agent: &'a str,
}

/// Generates the identifier of a request.
pub fn new_id() -> Uuid {
    Uuid::new_v4()
}

/// The audit log, written by a thread of its own.
#[derive(Debug)]
pub struct Audit {
    queue: SyncSender<Message>,
    stale: Arc<AtomicBool>,
    metrics: Arc<Metrics>,
}

#[derive(Debug)]
enum Message {
    Line(Vec<u8>),
    End(SyncSender<()>),
}

impl Audit {
    /// Opens the log and starts its thread.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be opened, or the thread cannot be started.
    pub fn start(args: &Args, metrics: Arc<Metrics>) -> anyhow::Result<Self> {
        let to: Box<dyn Write + Send> = match &args.audit {
            Some(path) => Box::new(open(path)?),
            None => Box::new(io::stdout()),
        };
        Self::with(Output { to, path: args.audit.clone() }, metrics)
    }

    fn with(output: Output, metrics: Arc<Metrics>) -> anyhow::Result<Self> {
        let (queue, messages) = sync_channel(QUEUE);
        let audit = Self { queue, stale: Arc::new(AtomicBool::new(false)), metrics };
        let (stale, metrics) = (Arc::clone(&audit.stale), Arc::clone(&audit.metrics));
        thread::Builder::new()
            .name("audit".to_owned())
            .spawn(move || write_all(output, &messages, &stale, &metrics))
            .context("cannot start the thread of the audit log")?;
        Ok(audit)
    }

    /// Queues a line, or drops it if the queue is full.
    pub fn record(&self, entry: &Entry<'_>) {
        let Ok(mut line) = serde_json::to_vec(entry) else {
            self.metrics.count_dropped_audit();
            return;
        };
        line.push(b'\n');
        if self.queue.try_send(Message::Line(line)).is_err() {
            self.metrics.count_dropped_audit();
        }
    }

    /// Reopens the file before the next line, after another program has renamed it.
    pub fn reopen(&self) {
        self.stale.store(true, Ordering::Release);
    }

    /// Writes the lines in the queue. Blocks for at most ten seconds.
    pub fn end(&self) {
        let (done, ended) = sync_channel(1);
        if !self.send_end(done) || ended.recv_timeout(END).is_err() {
            tracing::warn!("the audit log is not complete: its output is too slow");
        }
    }

    fn send_end(&self, done: SyncSender<()>) -> bool {
        let mut message = Message::End(done);
        for _ in 0..END.as_millis() / PAUSE.as_millis() {
            match self.queue.try_send(message) {
                Ok(()) => return true,
                Err(TrySendError::Disconnected(_)) => return false,
                Err(TrySendError::Full(returned)) => message = returned,
            }
            thread::sleep(PAUSE);
        }
        false
    }
}

/// The output of the lines.
struct Output {
    to: Box<dyn Write + Send>,
    /// The file; `None` for an output that is never reopened.
    path: Option<PathBuf>,
}

fn open(path: &Path) -> anyhow::Result<File> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("cannot open the audit log `{}`", path.display()))
}

/// Writes lines until `Message::End`. Queued lines are written together.
fn write_all(
    mut output: Output,
    messages: &Receiver<Message>,
    stale: &AtomicBool,
    metrics: &Metrics,
) {
    const BATCH: usize = 64 << 10;
    let mut failing = false;
    while let Ok(first) = messages.recv() {
        let (mut lines, mut count, mut next) = (Vec::new(), 0_u64, Some(first));
        while let Some(Message::Line(line)) = next {
            lines.extend_from_slice(&line);
            count += 1;
            next = if lines.len() < BATCH { messages.try_recv().ok() } else { None };
        }
        if let Some(path) = output.path.as_ref().filter(|_| stale.swap(false, Ordering::AcqRel)) {
            match open(path) {
                Ok(file) => output.to = Box::new(file),
                Err(error) => tracing::error!("{error:#}"),
            }
        }
        let written = output.to.write_all(&lines).and_then(|()| output.to.flush());
        match (&written, failing) {
            (Err(error), false) => tracing::error!("cannot write the audit log: {error}"),
            (Ok(()), true) => tracing::info!("the audit log is written again"),
            _ => {}
        }
        failing = written.is_err();
        if failing {
            (0..count).for_each(|_| metrics.count_dropped_audit());
        }
        if let Some(Message::End(done)) = next {
            // The other end may have given up.
            let _ = done.send(());
            return;
        }
    }
}

fn time<S: serde::Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("{time:.6}"))
}

fn text<S: serde::Serializer>(id: &Uuid, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(id)
}

fn milliseconds<S: serde::Serializer>(elapsed: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((elapsed.as_secs_f64() * 1e6).round() / 1e3)
}

fn shortened<S: serde::Serializer>(text: &str, to: S) -> Result<S::Ok, S::Error> {
    let end = text.char_indices().nth(MAX_USER_AGENT).map(|(at, _)| at);
    to.serialize_str(end.and_then(|end| text.get(..end)).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, Sender, channel};

    use serde_json::{Value, json};

    use super::*;
    use crate::flow_control::admission::Admission;
    use crate::flow_control::limits::tests::limits;

    fn metrics() -> Arc<Metrics> {
        let admission = Admission::new(&limits(&[]).unwrap());
        Arc::new(Metrics::new(admission, "0.1.0", ""))
    }

    fn dropped(metrics: &Metrics) -> u64 {
        let text = metrics.text().unwrap();
        let name = "krm_template_audit_dropped_total ";
        text.lines().find_map(|line| line.strip_prefix(name)).unwrap().parse().unwrap()
    }

    fn entry<'a>(name: &'a str, user_agent: &'a str) -> Entry<'a> {
        Entry {
            time: "2026-11-22T03:00:00.123456789Z".parse().unwrap(),
            id: Uuid::nil(),
            user: "jane",
            groups: &[],
            verb: "get",
            path: "",
            group: "template.krm.dev",
            resource: "templates",
            namespace: "shop",
            name,
            subresource: "",
            dry_run: false,
            code: 200,
            bytes_in: 0,
            bytes_out: 17,
            elapsed: Duration::from_micros(1_500),
            address: "127.0.0.1:5000",
            user_agent,
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a test reads what was written")]
    fn names(path: &Path) -> Vec<String> {
        fs::read_to_string(path)
            .unwrap()
            .lines()
            .map(|line| {
                serde_json::from_str::<Value>(line).unwrap()["name"].as_str().unwrap().into()
            })
            .collect()
    }

    /// An output that blocks each write until it is released.
    struct Held {
        begun: Sender<()>,
        go: Receiver<io::Result<()>>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Held {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.begun.send(());
            self.go.recv().unwrap_or(Ok(()))?;
            self.written.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_has_what_the_documentation_says() {
        let line = serde_json::to_value(entry("web", "kubectl/v1.33.0")).unwrap();
        let expected = json!({
            "time": "2026-11-22T03:00:00.123456Z",
            "id": "00000000-0000-0000-0000-000000000000",
            "user": "jane",
            "groups": [],
            "verb": "get",
            "group": "template.krm.dev",
            "resource": "templates",
            "namespace": "shop",
            "name": "web",
            "dryRun": false,
            "code": 200,
            "bytesIn": 0,
            "bytesOut": 17,
            "milliseconds": 1.5,
            "address": "127.0.0.1:5000",
            "userAgent": "kubectl/v1.33.0",
        });
        assert_eq!(line, expected);
    }

    #[test]
    fn long_user_agents_are_cut_between_characters() {
        let long = "ü".repeat(300);
        let line = serde_json::to_value(entry("web", &long)).unwrap();
        assert_eq!(line["userAgent"], "ü".repeat(256));
    }

    #[test]
    fn a_renamed_file_is_opened_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (path, old) = (folder.path().join("audit"), folder.path().join("audit.1"));
        let audit = Audit::start(&Args { audit: Some(path.clone()) }, metrics()).unwrap();
        audit.record(&entry("a\nb", ""));
        audit.record(&entry("second", ""));
        while names_or_none(&path).len() < 2 {
            thread::yield_now();
        }
        fs::rename(&path, &old).unwrap();
        audit.reopen();
        audit.record(&entry("third", ""));
        audit.end();
        assert_eq!(names(&old), ["a\nb", "second"]);
        assert_eq!(names(&path), ["third"]);
    }

    fn names_or_none(path: &Path) -> Vec<String> {
        if path.exists() { names(path) } else { Vec::new() }
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let args = Args { audit: Some(folder.path().join("none/audit")) };
        let error = Audit::start(&args, metrics()).unwrap_err().to_string();
        assert!(error.starts_with("cannot open the audit log `"), "{error}");
    }

    #[test]
    fn a_slow_output_drops_lines_and_delays_nobody() {
        let (begun, started) = channel();
        let (let_go, go) = channel();
        let written = Arc::new(Mutex::new(Vec::new()));
        let metrics = metrics();
        let held = Held { begun, go, written: Arc::clone(&written) };
        let audit =
            Audit::with(Output { to: Box::new(held), path: None }, Arc::clone(&metrics)).unwrap();
        audit.record(&entry("first", ""));
        started.recv().unwrap();
        for _ in 0..QUEUE + 3 {
            audit.record(&entry("more", ""));
        }
        assert_eq!(dropped(&metrics), 3);
        drop(let_go);
        audit.end();
        let written = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        assert_eq!(written.lines().count(), QUEUE + 1);
    }

    #[test]
    fn lines_that_cannot_be_written_are_counted() {
        let (begun, _started) = channel();
        let (let_go, go) = channel();
        let metrics = metrics();
        let held = Held { begun, go, written: Arc::default() };
        let audit =
            Audit::with(Output { to: Box::new(held), path: None }, Arc::clone(&metrics)).unwrap();
        let_go.send(Err(io::ErrorKind::StorageFull.into())).unwrap();
        audit.record(&entry("web", ""));
        audit.end();
        assert_eq!(dropped(&metrics), 1);
    }
}
