//! Files that may change while the program runs: certificates, tokens, roles.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, bail};
use arc_swap::ArcSwap;
use sha2::{Digest, Sha256};
use tokio::time::{MissedTickBehavior, interval};

use crate::ops::shutdown::Reload as Requests;

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
    /// Reloads the value if its source changed. On an error, it logs the error and keeps the old
    /// value.
    fn reload(&self);
}

type Parse<T> = dyn Fn(&[Content]) -> anyhow::Result<T> + Send + Sync;

/// A value parsed from files, and parsed again when they change.
pub struct Watched<T> {
    value: ArcSwap<T>,
    paths: Vec<PathBuf>,
    parse: Box<Parse<T>>,
    seen: Mutex<Seen>,
}

/// The last observed state of the files, valid or not.
enum Seen {
    Read([u8; 32]),
    Unreadable(String),
}

impl<T> Watched<T> {
    /// Reads and parses `paths`.
    ///
    /// In a folder, it reads the files with the extension `.json`, `.yaml` or `.yml` in the order
    /// of their names. It skips hidden files and subfolders.
    ///
    /// # Errors
    /// If a file cannot be read, if the files are too large, or if `parse` fails.
    pub fn open(
        paths: Vec<PathBuf>,
        parse: impl Fn(&[Content]) -> anyhow::Result<T> + Send + Sync + 'static,
    ) -> anyhow::Result<Arc<Self>> {
        let contents = read(&paths)?;
        let digest = digest(&contents);
        let value = ArcSwap::from_pointee(parse(&contents)?);
        let seen = Mutex::new(Seen::Read(digest));
        Ok(Arc::new(Self {
            value,
            paths,
            parse: Box::new(parse),
            seen,
        }))
    }

    /// Returns the value of the newest valid content.
    #[must_use]
    pub fn get(&self) -> Arc<T> {
        self.value.load_full()
    }

    fn try_reload(&self, seen: &mut Seen) -> anyhow::Result<bool> {
        let contents = match read(&self.paths) {
            Ok(contents) => contents,
            Err(error) => {
                let text = format!("{error:#}");
                let is_known = matches!(seen, Seen::Unreadable(old) if *old == text);
                *seen = Seen::Unreadable(text);
                return if is_known { Ok(false) } else { Err(error) };
            }
        };
        let digest = digest(&contents);
        if matches!(seen, Seen::Read(old) if *old == digest) {
            return Ok(false);
        }
        *seen = Seen::Read(digest);
        self.value.store(Arc::new((self.parse)(&contents)?));
        Ok(true)
    }
}

impl<T: Send + Sync> Reload for Watched<T> {
    fn reload(&self) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let files = Names(&self.paths);
        match self.try_reload(&mut seen) {
            Ok(true) => tracing::info!(%files, "read changed files"),
            Ok(false) => {}
            Err(error) => {
                tracing::error!(%files, "cannot use changed files, keeping the old content: {error:#}");
            }
        }
    }
}

impl<T> fmt::Debug for Watched<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched")
            .field("paths", &self.paths)
            .finish_non_exhaustive()
    }
}

/// Reloads `sources` after each `period` and on each request, forever.
pub async fn follow(sources: Vec<Arc<dyn Reload>>, period: Duration, mut requests: Requests) {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let sources: Arc<[_]> = sources.into();
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = requests.requested() => {}
        }
        let sources = Arc::clone(&sources);
        let reading = tokio::task::spawn_blocking(move || {
            for source in sources.iter() {
                source.reload();
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

fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<Content>> {
    let mut contents = Vec::new();
    let mut left = MAX_BYTES;
    for path in paths {
        let about = || format!("cannot read {}", path.display());
        let is_folder = path.metadata().with_context(about)?.is_dir();
        let files = if is_folder {
            files_in(path).with_context(about)?
        } else {
            vec![path.clone()]
        };
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
        let is_hidden = path
            .file_name()
            .is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        let is_known = path
            .extension()
            .is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known));
        if is_hidden || !is_known || !path.metadata().is_ok_and(|metadata| is_readable(&metadata)) {
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
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .with_context(about)?;
    if bytes.len() as u64 > limit {
        bail!(
            "cannot read {}: more than {MAX_BYTES} bytes",
            path.display()
        );
    }
    Ok(bytes)
}
