//! Graceful shutdown, and requests to reload files.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::time;

use crate::units::duration;

/// The arguments of the shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Shutdown")]
pub struct Args {
    /// How long to accept new connections after SIGTERM, while /readyz already fails
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration)]
    pub shutdown_delay: Duration,

    /// How long requests may take to finish after that
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = duration)]
    pub shutdown_timeout: Duration,
}

/// A phase of the shutdown. The phases are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The server accepts and answers requests.
    Running,
    /// `/readyz` fails; requests are answered as before.
    Leaving,
    /// No new connections; watches end; other requests go on.
    Closing,
    /// All requests are aborted, and the process ends.
    Ended,
}

/// A signal to the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    /// SIGTERM or SIGINT: begins the shutdown.
    End,
    /// SIGHUP: rereads files and reopens the audit log.
    Reload,
}

/// The phase of the shutdown, shared by all clones.
#[derive(Clone, Debug)]
pub struct Shutdown(watch::Receiver<Phase>);

/// A receiver of reload requests. Each clone receives each SIGHUP; signals between two calls of
/// [`requested`](Self::requested) count as one.
#[derive(Clone, Debug)]
pub struct Reload(watch::Receiver<()>);

impl Shutdown {
    /// Returns the phase at this moment.
    pub fn phase(&self) -> Phase {
        *self.0.borrow()
    }

    /// Waits until `phase` or a later one has begun.
    pub async fn reached(&self, phase: Phase) {
        // The sender lives until the last phase, and a closed channel means the end, too.
        let _ = self.0.clone().wait_for(|&current| current >= phase).await;
    }
}

impl Reload {
    /// Waits for the next reload request. It never returns once the shutdown has begun.
    pub async fn requested(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Starts handling SIGTERM, SIGINT and SIGHUP.
///
/// # Errors
///
/// Fails if the signals cannot be handled.
pub fn listen(args: Args) -> io::Result<(Shutdown, Reload)> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            let signal = tokio::select! {
                _ = terminate.recv() => Signal::End,
                _ = interrupt.recv() => Signal::End,
                _ = hangup.recv() => Signal::Reload,
            };
            if sender.send(signal).await.is_err() {
                return;
            }
        }
    });
    Ok(follow(args, receiver))
}

/// Starts the task that handles the signals.
fn follow(args: Args, mut signals: mpsc::Receiver<Signal>) -> (Shutdown, Reload) {
    let (phase, phases) = watch::channel(Phase::Running);
    let (reload, reloads) = watch::channel(());
    tokio::spawn(async move {
        while signals.recv().await == Some(Signal::Reload) {
            reload.send_replace(());
        }
        for (next, wait) in
            [(Phase::Leaving, args.shutdown_delay), (Phase::Closing, args.shutdown_timeout)]
        {
            phase.send_replace(next);
            if interrupted(&mut signals, wait).await {
                break;
            }
        }
        phase.send_replace(Phase::Ended);
        // Otherwise a third signal would have no receiver.
        while signals.recv().await.is_some() {}
    });
    (Shutdown(phases), Reload(reloads))
}

/// Waits, and returns `true` early if a second signal to end arrives.
async fn interrupted(signals: &mut mpsc::Receiver<Signal>, wait: Duration) -> bool {
    let second = async {
        while let Some(signal) = signals.recv().await {
            if signal == Signal::End {
                return;
            }
        }
        std::future::pending::<()>().await;
    };
    time::timeout(wait, second).await.is_ok()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    const NEVER: Duration = Duration::from_hours(1);

    fn started(delay: Duration, limit: Duration) -> (mpsc::Sender<Signal>, Shutdown, Reload) {
        let (sender, receiver) = mpsc::channel(1);
        let args = Args { shutdown_delay: delay, shutdown_timeout: limit };
        let (shutdown, reload) = follow(args, receiver);
        (sender, shutdown, reload)
    }

    #[test]
    fn the_defaults_are_those_of_the_documentation() {
        #[derive(Parser)]
        struct Program {
            #[command(flatten)]
            args: Args,
        }
        let expected = Args {
            shutdown_delay: Duration::from_secs(5),
            shutdown_timeout: Duration::from_mins(1),
        };
        assert_eq!(Program::parse_from(["server"]).args, expected);
    }

    #[tokio::test]
    async fn the_end_begins_with_leaving() {
        let (signals, shutdown, _) = started(NEVER, NEVER);
        assert_eq!(shutdown.phase(), Phase::Running);
        signals.send(Signal::End).await.unwrap();
        shutdown.reached(Phase::Leaving).await;
        assert_eq!(shutdown.phase(), Phase::Leaving);
    }

    #[tokio::test]
    async fn after_the_delay_connections_are_closed() {
        let (signals, shutdown, _) = started(Duration::ZERO, NEVER);
        signals.send(Signal::End).await.unwrap();
        shutdown.reached(Phase::Closing).await;
        assert_eq!(shutdown.phase(), Phase::Closing);
    }

    #[tokio::test]
    async fn requests_do_not_delay_the_end_for_ever() {
        let (signals, shutdown, _) = started(Duration::ZERO, Duration::ZERO);
        signals.send(Signal::End).await.unwrap();
        shutdown.reached(Phase::Ended).await;
    }

    #[tokio::test]
    async fn a_second_signal_ends_at_once() {
        for delay in [NEVER, Duration::ZERO] {
            let (signals, shutdown, _) = started(delay, NEVER);
            signals.send(Signal::End).await.unwrap();
            shutdown.reached(Phase::Leaving).await;
            signals.send(Signal::Reload).await.unwrap();
            signals.send(Signal::End).await.unwrap();
            shutdown.reached(Phase::Ended).await;
            assert_eq!(shutdown.phase(), Phase::Ended);
        }
    }

    #[tokio::test]
    async fn everybody_is_told_to_read_files_again() {
        let (signals, shutdown, mut reload) = started(NEVER, NEVER);
        let mut other = reload.clone();
        for _ in 0..2 {
            signals.send(Signal::Reload).await.unwrap();
            reload.requested().await;
            other.requested().await;
        }
        assert_eq!(shutdown.phase(), Phase::Running);
    }
}
