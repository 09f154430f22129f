//! Files that may change while the program runs: certificates, tokens, roles.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, bail};
use arc_swap::ArcSwapOption;
use sha2::{Digest, Sha256};
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::flow_control::shutdown::Reload as Requests;

/// The maximum total size of the files of one input, in bytes.
pub const MAX_BYTES: u64 = 16 << 20;

/// The maximum number of files in a folder.
pub const MAX_FILES: usize = 1_000;

/// The extensions of the files that are read in a folder.
const EXTENSIONS: [&str; 3] = ["json", "yaml", "yml"];

/// The content of a file.
pub struct Content {
    /// The path of the file.
    pub path: PathBuf,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
}

/// A value that can be reloaded.
pub trait Reload: Send + Sync {
    /// Reloads the value if its source changed. On an error, it logs the error, and keeps the old
    /// value for `grace` since the first one.
    fn reload(&self, grace: Duration);

    /// Returns the option that names the source, and whether the source cannot be used.
    fn state(&self) -> (&'static str, bool);
}

/// Checks that all sources can be used.
///
/// # Errors
/// If one cannot. The message has the options.
pub fn ready(sources: &[Arc<dyn Reload>]) -> Result<(), String> {
    let states = sources.iter().map(|source| source.state());
    let failing: Vec<&str> =
        states.filter_map(|(option, is_failing)| is_failing.then_some(option)).collect();
    if failing.is_empty() {
        return Ok(());
    }
    Err(format!("the files of {} cannot be used", failing.join(", ")))
}

type Parse<T> = dyn Fn(&[Content]) -> anyhow::Result<T> + Send + Sync;

/// A value parsed from files, and parsed again when they change.
pub struct Watched<T> {
    /// The newest valid value; `None` if the files could not be used for too long.
    value: ArcSwapOption<T>,
    option: &'static str,
    paths: Vec<PathBuf>,
    parse: Box<Parse<T>>,
    seen: Mutex<Seen>,
}

/// The last observed state of the files.
struct Seen {
    /// The digest of their content, valid or not; `None` if they could not be read.
    digest: Option<[u8; 32]>,
    /// When they failed for the first time, and the last error.
    failed: Option<(Instant, String)>,
}

impl<T> Watched<T> {
    /// Reads and parses `paths`, which `option` names.
    ///
    /// In a folder, it reads the files with the extension `.json`, `.yaml` or `.yml` in the order
    /// of their names. It skips hidden files and subfolders.
    ///
    /// # Errors
    /// If a file cannot be read, if the files are too large, or if `parse` fails.
    pub fn open(
        option: &'static str,
        paths: Vec<PathBuf>,
        parse: impl Fn(&[Content]) -> anyhow::Result<T> + Send + Sync + 'static,
    ) -> anyhow::Result<Arc<Self>> {
        let contents = read(&paths).context(option)?;
        let value = ArcSwapOption::from_pointee(parse(&contents).context(option)?);
        let seen = Mutex::new(Seen { digest: Some(digest(&contents)), failed: None });
        Ok(Arc::new(Self { value, option, paths, parse: Box::new(parse), seen }))
    }

    /// Returns the value of the newest valid content, or `None` if the files could not be used for
    /// too long.
    pub fn get(&self) -> Option<Arc<T>> {
        self.value.load_full()
    }

    /// Takes changed content. Returns `None` if it has not changed.
    fn take(&self, seen: &mut Seen) -> Option<anyhow::Result<()>> {
        let contents = match read(&self.paths) {
            Ok(contents) => contents,
            Err(error) => {
                seen.digest = None;
                return Some(Err(error));
            }
        };
        let digest = Some(digest(&contents));
        if seen.digest == digest {
            return None;
        }
        seen.digest = digest;
        let taken = (self.parse)(&contents).and_then(|value| {
            self.value.store(Some(Arc::new(value)));
            // Valid for some, and so taken, but hardly on purpose.
            if contents.iter().all(|content| content.bytes.is_empty()) {
                bail!("{} is empty", Names(&self.paths));
            }
            Ok(())
        });
        Some(taken)
    }
}

impl<T: Send + Sync> Reload for Watched<T> {
    fn reload(&self, grace: Duration) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let files = Names(&self.paths);
        match self.take(&mut seen) {
            None => {}
            Some(Ok(())) => {
                seen.failed = None;
                tracing::info!(%files, "read changed files");
            }
            Some(Err(error)) => {
                let text = format!("{error:#}");
                let known = seen.failed.take();
                if known.as_ref().is_none_or(|(_, known)| *known != text) {
                    tracing::error!(%files, "cannot use changed files: {text}");
                }
                let since = known.map_or_else(Instant::now, |(since, _)| since);
                seen.failed = Some((since, text));
            }
        }
        let is_over = |(since, _): &(Instant, String)| since.elapsed() >= grace;
        if seen.failed.as_ref().is_some_and(is_over) && self.value.swap(None).is_some() {
            tracing::error!(%files, "the old content counts no more");
        }
    }

    fn state(&self) -> (&'static str, bool) {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        (self.option, seen.failed.is_some())
    }
}

impl<T> fmt::Debug for Watched<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").field("paths", &self.paths).finish_non_exhaustive()
    }
}

/// Reloads `sources` after each `period` and on each request, forever. What fails counts for `grace`.
pub async fn follow(
    sources: Arc<[Arc<dyn Reload>]>,
    period: Duration,
    grace: Duration,
    mut requests: Requests,
) {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = requests.requested() => {}
        }
        let sources = Arc::clone(&sources);
        let reading = tokio::task::spawn_blocking(move || {
            for source in sources.iter() {
                source.reload(grace);
            }
        });
        if reading.await.is_err() {
            tracing::error!("reading changed files failed");
        }
    }
}

/// The paths in a message, separated by commas.
struct Names<'a>(&'a [PathBuf]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, path) in self.0.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{}", path.display())?;
        }
        Ok(())
    }
}

fn digest(contents: &[Content]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for content in contents {
        for part in [content.path.as_os_str().as_encoded_bytes(), &content.bytes] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hash.finalize().into()
}

/// Reads files, and those of folders.
pub(crate) fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<Content>> {
    let mut contents = Vec::new();
    let mut left = MAX_BYTES;
    for path in paths {
        let about = || format!("cannot read {}", path.display());
        let is_folder = path.metadata().with_context(about)?.is_dir();
        let files =
            if is_folder { files_in(path).with_context(about)? } else { vec![path.clone()] };
        for path in files {
            let bytes = read_file(&path, left)?;
            left = left.saturating_sub(bytes.len() as u64);
            contents.push(Content { path, bytes });
        }
    }
    Ok(contents)
}

fn files_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in folder.read_dir()? {
        let path = entry?.path();
        let is_hidden =
            path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        let is_known = path
            .extension()
            .is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known));
        // A link to nothing is a file that cannot be read, and not one that was removed.
        if is_hidden || !is_known || !is_readable(&path.metadata()?) {
            continue;
        }
        files.push(path);
        if files.len() > MAX_FILES {
            bail!("the folder has more than {MAX_FILES} files");
        }
    }
    files.sort();
    Ok(files)
}

/// Returns `true` for a regular file: reading a pipe or socket may never end.
fn is_readable(metadata: &Metadata) -> bool {
    metadata.is_file()
}

fn read_file(path: &Path, limit: u64) -> anyhow::Result<Vec<u8>> {
    let about = || format!("cannot read {}", path.display());
    if !is_readable(&path.metadata().with_context(about)?) {
        bail!("cannot read {}: not a file", path.display());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).with_context(about)?;
    file.take(limit + 1).read_to_end(&mut bytes).with_context(about)?;
    if bytes.len() as u64 > limit {
        bail!("cannot read {}: more than {MAX_BYTES} bytes", path.display());
    }
    Ok(bytes)
}
