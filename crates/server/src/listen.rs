//! Connections: accept, TLS, timeouts, graceful shutdown.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::app::App;
use crate::http::connections::{Connected, Connections};
use crate::http::request_body::Request;
use crate::http::timeouts::{Activity, Guarded, InFlight, Observed, Timeouts};
use crate::http::{Body, compression, response, websocket::Handshake};
use crate::request::Format;
use krm_template_server_core::{
    Class, Peer, Phase, Shutdown, auth::is_health, flow_control::admission,
};

/// The timeout of a TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The pause after a failed `accept`, for example without a free file descriptor.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves connections until the shutdown closes them, then waits for the requests in flight.
pub async fn serve(listener: TcpListener, tls: Option<TlsAcceptor>, app: App, shutdown: Shutdown) {
    let graceful = GracefulShutdown::new();
    let connections = Connections::new(&app.state().limits);
    loop {
        let accepted = tokio::select! {
            () = shutdown.reached(Phase::Closing) => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let activity = Activity::new();
        let Some(connected) = connections.add(address.ip(), &activity) else {
            continue;
        };
        let connection = Connection {
            tls: tls.clone(),
            app: app.clone(),
            watcher: graceful.watcher(),
            open: graceful.watcher(),
            activity: Arc::clone(&activity),
            connected: Arc::new(connected),
        };
        let counted = app.state().admission.enter(Class::Connection);
        tokio::spawn(async move {
            let _counted = counted;
            tokio::select! {
                biased;
                () = connection.run(stream, address) => {}
                () = activity.evicted() => {}
            }
        });
    }
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = shutdown.reached(Phase::Ended) => {}
    }
}

/// The context of a connection.
struct Connection {
    tls: Option<TlsAcceptor>,
    app: App,
    watcher: Watcher,
    /// Lets a shutdown wait for a connection that is upgraded, which `watcher` has left.
    open: Watcher,
    activity: Arc<Activity>,
    connected: Arc<Connected>,
}

impl Connection {
    async fn run(self, stream: TcpStream, address: SocketAddr) {
        // A failure only costs some latency.
        let _ = stream.set_nodelay(true);
        let Some(tls) = &self.tls else {
            return self.requests(stream, Peer::new(address)).await;
        };
        match tokio::time::timeout(HANDSHAKE, tls.accept(stream)).await {
            Ok(Ok(stream)) => {
                let peer = Peer::of(address, stream.get_ref().1);
                self.requests(stream, peer).await;
            }
            Ok(Err(error)) => tracing::debug!(%address, %error, "TLS handshake failed"),
            Err(_) => tracing::debug!(%address, "TLS handshake timed out"),
        }
    }

    async fn requests<S>(self, stream: S, peer: Peer)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let Self { app, watcher, activity, connected, open: _open, .. } = self;
        let stream = TokioIo::new(Observed::new(stream, Arc::clone(&activity)));
        let limits = &app.state().limits;
        let timeouts = Timeouts {
            reading: limits.read_timeout,
            idle: limits.idle_timeout,
            stalled: limits.request_timeout,
        };
        let builder = limits.connections();
        let requests = Arc::new(Requests {
            app,
            peer: Arc::new(peer),
            activity: Arc::clone(&activity),
            connected,
            upgraded: Mutex::default(),
        });
        let service = service_fn({
            let requests = Arc::clone(&requests);
            move |request| {
                // Before the first wait, so that the connection is not idle.
                let in_flight = requests.activity.begin();
                let requests = Arc::clone(&requests);
                async move { Ok::<_, Infallible>(requests.answer(request, in_flight).await) }
            }
        });
        let connection = builder.serve_connection_with_upgrades(stream, service);
        let connection = watcher.watch(connection.into_owned());
        let served = async {
            if let Err(error) = connection.await {
                tracing::debug!(error, "a connection broke");
            }
            let sending = requests.upgraded().take();
            if let Some(sending) = sending {
                sending.await;
            }
        };
        tokio::select! {
            () = served => {}
            () = activity.exceeds(timeouts) => {}
        }
    }
}

/// The requests of a connection.
struct Requests {
    app: App,
    peer: Arc<Peer>,
    activity: Arc<Activity>,
    connected: Arc<Connected>,
    /// The work of the connection after its last request.
    upgraded: Mutex<Option<Sending>>,
}

/// The sending of a watch over WebSocket.
type Sending = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Requests {
    async fn answer(
        &self,
        mut request: http::Request<Incoming>,
        in_flight: InFlight,
    ) -> http::Response<Guarded<Body>> {
        let is_refused = self.connected.is_reserved() && !is_vital(request.uri().path());
        let is_head = request.method() == http::Method::HEAD;
        let is_two = request.version() == http::Version::HTTP_2;
        let wants_gzip = compression::is_accepted(request.headers());
        let handshake = Handshake::of(&mut request);
        let (parts, body) = request.into_parts();
        // Over HTTP/2, dropping the rest of a request before its response is sent would cancel both.
        let (body, kept) = Request::new(body, is_two);
        let request = http::Request::from_parts(parts, body);
        let answer = if is_refused {
            let status = admission::too_many_requests();
            response::status(&status, Some(Format::Json), false)
        } else {
            self.app.answer(request, &self.peer).await
        };
        let mut answer = compression::compressed(answer, wants_gzip);
        if is_head {
            answer = response::without_body(answer);
        }
        if let Some(handshake) = handshake.filter(|_| compression::is_watch(&answer)) {
            let response = handshake.response();
            let sent = handshake.send(Guarded::new(answer.into_body(), in_flight, None));
            *self.upgraded() = Some(Box::pin(sent));
            let in_flight = self.activity.begin();
            return response.map(|body| Guarded::new(body, in_flight, None));
        }
        answer.map(|body| Guarded::new(body, in_flight, kept))
    }

    fn upgraded(&self) -> MutexGuard<'_, Option<Sending>> {
        self.upgraded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns `true` for the paths that are answered in a reserved connection.
fn is_vital(path: &str) -> bool {
    is_health(path) || path == "/metrics"
}
