//! Timeouts of connections that are idle, send a request too slowly, or do not read the response.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body::{Body, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::request_body::Kept;

/// The activity of a connection.
///
/// hyper has one timeout for waiting for a request and reading its headers. Here, they are two.
#[derive(Debug)]
pub(crate) struct Activity {
    opened: Instant,
    in_flight: AtomicUsize,
    /// When the last response ended, in milliseconds since `opened`.
    idle_since: AtomicU64,
    /// When the first byte after the last response arrived, in milliseconds since `opened`; zero if
    /// none has arrived.
    reading_since: AtomicU64,
    /// When writing to the client began to block, in milliseconds since `opened`; zero if it does
    /// not block.
    stalled_since: AtomicU64,
    /// For each body in several frames: when the last frame was taken, in milliseconds since
    /// `opened`; zero if the next one is asked for. With HTTP/2, a client can stop one body without
    /// blocking the connection.
    bodies: Mutex<Vec<Weak<AtomicU64>>>,
    /// Whether the connection must close to make room for another one.
    evicted: Notify,
}

/// The timeouts of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// The time to receive the headers of a request.
    pub(crate) reading: Duration,
    /// The time without a request in flight.
    pub(crate) idle: Duration,
    /// The time that writing a response may block.
    pub(crate) stalled: Duration,
}

/// A guard for a request in flight.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<Activity>);

impl Activity {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            opened: Instant::now(),
            in_flight: AtomicUsize::new(0),
            idle_since: AtomicU64::new(0),
            reading_since: AtomicU64::new(0),
            stalled_since: AtomicU64::new(0),
            bodies: Mutex::default(),
            evicted: Notify::new(),
        })
    }

    /// Returns since when the connection has been without a request; `None` if it has one.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let is_idle = self.in_flight.load(Ordering::Acquire) == 0;
        let since = Duration::from_millis(self.idle_since.load(Ordering::Acquire));
        is_idle.then(|| self.opened + since)
    }

    /// Closes the connection.
    pub(crate) fn evict(&self) {
        self.evicted.notify_one();
    }

    /// Waits until the connection must close.
    pub(crate) async fn evicted(&self) {
        self.evicted.notified().await;
    }

    /// Counts a request as in flight until the guard is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> InFlight {
        self.in_flight.fetch_add(1, Ordering::AcqRel);
        self.reading_since.store(0, Ordering::Release);
        InFlight(Arc::clone(self))
    }

    /// Waits until the connection exceeds a timeout.
    pub(crate) async fn exceeds(&self, timeouts: Timeouts) {
        let pause = timeouts.reading.min(timeouts.idle).min(timeouts.stalled) / 4;
        loop {
            tokio::time::sleep(pause).await;
            let now = self.milliseconds();
            let exceeds = |since: &AtomicU64, limit: Duration| {
                let since = since.load(Ordering::Acquire);
                Duration::from_millis(now.saturating_sub(since)) > limit
            };
            let is_set = |since: &AtomicU64| since.load(Ordering::Acquire) > 0;
            if is_set(&self.stalled_since) && exceeds(&self.stalled_since, timeouts.stalled) {
                return;
            }
            let mut bodies = self.bodies.lock().unwrap_or_else(PoisonError::into_inner);
            bodies.retain(|body| body.strong_count() > 0);
            let mut bodies = bodies.iter().filter_map(Weak::upgrade);
            if bodies.any(|body| is_set(&body) && exceeds(&body, timeouts.stalled)) {
                return;
            }
            if self.in_flight.load(Ordering::Acquire) > 0 {
                continue;
            }
            if (is_set(&self.reading_since) && exceeds(&self.reading_since, timeouts.reading))
                || exceeds(&self.idle_since, timeouts.idle)
            {
                return;
            }
        }
    }

    /// Returns the time at which a frame of a body was taken, to be kept by the body.
    fn follow(&self) -> Arc<AtomicU64> {
        let taken = Arc::new(AtomicU64::new(0));
        let mut bodies = self.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        bodies.push(Arc::downgrade(&taken));
        taken
    }

    fn read(&self) {
        if self.in_flight.load(Ordering::Acquire) == 0
            && self.reading_since.load(Ordering::Acquire) == 0
        {
            self.reading_since.store(self.milliseconds().max(1), Ordering::Release);
        }
    }

    /// Records whether writing to the client blocks.
    fn wrote<T>(&self, written: &Poll<T>) {
        if written.is_ready() {
            self.stalled_since.store(0, Ordering::Release);
        } else if self.stalled_since.load(Ordering::Acquire) == 0 {
            self.stalled_since.store(self.milliseconds().max(1), Ordering::Release);
        }
    }

    fn milliseconds(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.idle_since.store(self.0.milliseconds(), Ordering::Release);
        self.0.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A stream that reports received bytes and blocked writes to its [`Activity`].
#[derive(Debug)]
pub(crate) struct Observed<S> {
    stream: S,
    activity: Arc<Activity>,
}

impl<S> Observed<S> {
    pub(crate) fn new(stream: S, activity: Arc<Activity>) -> Self {
        Self { stream, activity }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Observed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        if buffer.filled().len() > before {
            self.activity.read();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Observed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.activity.wrote(&written);
        written
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.activity.wrote(&flushed);
        flushed
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.activity.wrote(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// A response body that keeps its request in flight, and what is left of its body, until it is
/// dropped.
#[derive(Debug)]
pub(crate) struct Guarded<B> {
    body: B,
    in_flight: InFlight,
    /// When the last frame was taken, unless it was the only one.
    taken: Option<Arc<AtomicU64>>,
    _request: Option<Kept>,
}

impl<B> Guarded<B> {
    pub(crate) fn new(body: B, in_flight: InFlight, request: Option<Kept>) -> Self {
        Self { body, in_flight, taken: None, _request: request }
    }
}

impl<B: Body + Unpin> Body for Guarded<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        if let Some(taken) = &self.taken {
            taken.store(0, Ordering::Release);
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if matches!(frame, Some(Ok(_))) && !self.body.is_end_stream() {
            let Self { in_flight, taken, .. } = &mut *self;
            let activity = &in_flight.0;
            let taken = taken.get_or_insert_with(|| activity.follow());
            taken.store(activity.milliseconds().max(1), Ordering::Release);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUTS: Timeouts = Timeouts {
        reading: Duration::from_secs(10),
        idle: Duration::from_mins(2),
        stalled: Duration::from_mins(1),
    };

    /// Returns the seconds after which a connection without further activity exceeds a timeout.
    async fn lives(activity: &Activity) -> u64 {
        let before = Instant::now();
        activity.exceeds(TIMEOUTS).await;
        before.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_lives_longer_than_half_a_request() {
        let activity = Activity::new();
        assert!((120..125).contains(&lives(&activity).await));

        let activity = Activity::new();
        tokio::time::sleep(Duration::from_secs(100)).await;
        activity.read();
        assert!((10..15).contains(&lives(&activity).await));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_in_flight_keeps_the_connection() {
        let activity = Activity::new();
        let in_flight = activity.begin();
        let dropped = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_hours(1)).await;
            drop(in_flight);
        });
        assert!((3720..3725).contains(&lives(&activity).await));
        dropped.await.expect("the task ends");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_of_its_answer_is_left() {
        let activity = Activity::new();
        let _in_flight = activity.begin();
        let (server, _client) = tokio::io::duplex(4);
        let mut stream = Observed::new(server, Arc::clone(&activity));
        let answer = tokio::spawn(async move {
            tokio::io::AsyncWriteExt::write_all(&mut stream, b"an answer").await
        });
        assert!((60..65).contains(&lives(&activity).await));
        answer.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_one_frame_of_a_body_is_left() {
        let activity = Activity::new();
        let frames =
            ["one", "two"].map(|text| Ok::<_, std::io::Error>(Frame::data(text.as_bytes())));
        let body = http_body_util::StreamBody::new(futures_util::stream::iter(frames));
        let mut body = Guarded::new(body, activity.begin(), None);
        http_body_util::BodyExt::frame(&mut body).await;
        assert!((60..65).contains(&lives(&activity).await));
        while http_body_util::BodyExt::frame(&mut body).await.is_some() {}
        let dropped = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_hours(1)).await;
            drop(body);
        });
        assert!((3720..3725).contains(&lives(&activity).await));
        dropped.await.expect("the task ends");
    }
}
