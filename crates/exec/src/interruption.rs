//! Signals that ask this program to end while another one runs for it, or has left files.

use std::path::Path;
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
#[cfg(unix)]
use std::sync::{Arc, Mutex};

/// The interval between looks for signals.
#[cfg(unix)]
const LISTEN: std::time::Duration = std::time::Duration::from_millis(20);

/// Holds back signals until the other program is stopped. At other times they end this program, after
/// its temporary folders.
#[cfg(unix)]
#[derive(Clone, Debug)]
pub struct Interruption {
    /// Whether no other program runs.
    idle: Arc<AtomicBool>,
    /// The temporary folders, also those that are gone.
    folders: Arc<Mutex<Vec<std::path::PathBuf>>>,
    /// The number of the received signal; 0 if there was none.
    pending: Arc<AtomicUsize>,
    /// The number of the signal that a program was stopped for.
    taken: Arc<AtomicUsize>,
}

#[cfg(unix)]
impl Interruption {
    /// Listens to the signals of Ctrl-C, of Ctrl-\\, of `kill`, and of a terminal that goes away.
    #[must_use]
    pub fn listen() -> Self {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
        let new = Self::never();
        let ignored = ignored();
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            let Ok(number) = usize::try_from(signal) else {
                continue;
            };
            // As by `nohup`.
            if ignored >> (number - 1) & 1 == 1 {
                continue;
            }
            // Where signals cannot be kept, they end this program alone, as before.
            let _ = signal_hook::flag::register_usize(signal, Arc::clone(&new.pending), number);
        }
        let this = new.clone();
        std::thread::spawn(move || this.end());
        new
    }

    /// Ends this program at a signal while no other one runs.
    fn end(&self) {
        loop {
            std::thread::sleep(LISTEN);
            if self.idle.load(Ordering::SeqCst) && self.take() {
                for folder in self.folders.lock().iter().flat_map(|all| all.iter()) {
                    let _ = std::fs::remove_dir_all(folder);
                }
                self.obey();
            }
        }
    }

    /// Has a signal remove a folder.
    pub(crate) fn guard(&self, folder: &Path) {
        let folders = self.folders.lock();
        let _ = folders.map(|mut all| all.push(folder.to_owned()));
    }

    /// Listens to no signals: the program handles them itself.
    #[must_use]
    pub fn never() -> Self {
        Self {
            idle: Arc::new(AtomicBool::new(true)),
            folders: Arc::default(),
            pending: Arc::default(),
            taken: Arc::default(),
        }
    }

    /// Keeps signals from now on, or no longer.
    pub fn keep(&self, keeps: bool) {
        self.idle.store(!keeps, Ordering::SeqCst);
    }

    /// Whether a signal has come since this was asked last.
    pub fn take(&self) -> bool {
        let signal = self.pending.swap(0, Ordering::SeqCst);
        if signal != 0 {
            self.taken.store(signal, Ordering::SeqCst);
        }
        signal != 0
    }

    /// Ends this program by the signal that another one was stopped for, if there was one.
    pub fn obey(&self) {
        if let Ok(signal @ 1..) = i32::try_from(self.taken.load(Ordering::SeqCst)) {
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    }
}

/// The signals that this program was started to ignore, a bit each; none where that is unknown.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "this is the command line")]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// On other systems, signals end the process directly.
#[cfg(not(unix))]
#[derive(Clone, Debug)]
pub struct Interruption;

#[cfg(not(unix))]
#[expect(clippy::unused_self, reason = "it has a meaning on Unix")]
impl Interruption {
    pub const fn listen() -> Self {
        Self
    }

    pub const fn never() -> Self {
        Self
    }

    pub const fn keep(&self, _: bool) {}

    pub(crate) const fn guard(&self, _: &Path) {}

    pub const fn take(&self) -> bool {
        false
    }

    pub const fn obey(&self) {}
}
