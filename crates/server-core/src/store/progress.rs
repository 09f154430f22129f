//! A line in the log while opening a file takes long.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use tokio::time::Instant;

/// The time without a line.
const FIRST: Duration = Duration::from_secs(1);
/// The time between lines.
const NEXT: Duration = Duration::from_secs(10);

/// Logs that a file is checked, until it is dropped.
pub(super) struct Progress {
    _end: mpsc::Sender<()>,
}

impl Progress {
    pub(super) fn of(path: &Path) -> Self {
        let (end, ended) = mpsc::channel();
        let path = path.to_owned();
        // Without a thread, there is no line.
        let _ = thread::Builder::new()
            .name("store-progress".to_owned())
            .spawn(move || run(&path, &ended));
        Self { _end: end }
    }
}

fn run(path: &Path, ended: &mpsc::Receiver<()>) {
    let begin = Instant::now();
    let mut pause = FIRST;
    while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        tracing::info!(
            path = %path.display(),
            bytes,
            seconds = begin.elapsed().as_secs(),
            "checking the store; --skip-store-check skips this"
        );
        pause = NEXT;
    }
}
