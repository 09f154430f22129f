//! A program together with its child processes.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::Duration;

/// The time that a program has to clean up after a request to end.
const GRACE: Duration = Duration::from_secs(1);
/// The interval between checks whether it has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// The variable with the seed of generated values. No other program gets it.
pub const SEED: &str = "KRM_TEMPLATE_SEED";

/// A program that leads its own process group.
pub(crate) struct Group {
    pub(crate) child: Child,
}

impl Group {
    /// Starts a program as the leader of its group. All programs are started here, without secrets of
    /// this one.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        command.env_remove(SEED);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let child = command.spawn()?;
        Ok(Self { child })
    }

    /// Whether the program has ended. It is not reaped yet, so no other group gets its number.
    #[cfg(unix)]
    pub(crate) fn has_ended(&mut self) -> io::Result<bool> {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let child = rustix::process::Pid::from_child(&self.child);
        Ok(waitid(WaitId::Pid(child), options)?.is_some())
    }

    #[cfg(not(unix))]
    pub(crate) fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// The exit status of a program that has ended.
    pub(crate) fn status(mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }

    /// Stops the program and its child processes, after a request to end.
    pub(crate) fn stop(mut self) -> io::Result<ExitStatus> {
        self.signal(false);
        let mut waited = Duration::ZERO;
        while waited < GRACE && matches!(self.has_ended(), Ok(false)) {
            thread::sleep(PAUSE);
            waited += PAUSE;
        }
        self.signal(true);
        self.child.wait()
    }

    /// Asks the group to end, or ends it.
    #[cfg(unix)]
    fn signal(&mut self, is_last: bool) {
        use rustix::process::{Pid, Signal, kill_process_group};
        let signal = if is_last { Signal::KILL } else { Signal::TERM };
        let _ = kill_process_group(Pid::from_child(&self.child), signal);
    }

    #[cfg(not(unix))]
    fn signal(&mut self, _: bool) {
        let _ = self.child.kill();
    }
}
