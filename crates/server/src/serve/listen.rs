//! Connections: accept, TLS, timeouts, graceful shutdown.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::activity::{Activity, Guarded, Observed, Timeouts};
use super::answer;
use super::app::App;
use super::compression;
use super::connections::{Connected, Connections};
use crate::wire::content::Format;
use krm_template_server_core::auth::is_health;
use krm_template_server_core::ops::admission::{self, Class};
use krm_template_server_core::ops::shutdown::{Phase, Shutdown};
use krm_template_server_core::tls::Peer;

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
        let Self {
            app,
            watcher,
            activity,
            connected,
            ..
        } = self;
        let stream = TokioIo::new(Observed::new(stream, Arc::clone(&activity)));
        let peer = Arc::new(peer);
        let limits = &app.state().limits;
        let timeouts = Timeouts {
            reading: limits.read_timeout,
            idle: limits.idle_timeout,
            stalled: limits.request_timeout,
        };
        let builder = limits.connections();
        let service = service_fn({
            let (app, activity) = (app.clone(), Arc::clone(&activity));
            move |request: http::Request<Incoming>| {
                let in_flight = activity.begin();
                let (app, peer) = (app.clone(), Arc::clone(&peer));
                let is_refused = connected.is_reserved() && !is_vital(request.uri().path());
                async move {
                    let wants_gzip = compression::is_accepted(request.headers());
                    let answer = if is_refused {
                        let status = admission::too_many_requests();
                        answer::status(&status, Some(Format::Json), false)
                    } else {
                        app.answer(request, &peer).await
                    };
                    let answer = compression::compressed(answer, wants_gzip);
                    Ok::<_, Infallible>(answer.map(|body| Guarded::new(body, in_flight)))
                }
            }
        });
        let connection = builder.serve_connection(stream, service).into_owned();
        tokio::select! {
            ended = watcher.watch(connection) => {
                if let Err(error) = ended {
                    tracing::debug!(error, "a connection broke");
                }
            }
            () = activity.exceeds(timeouts) => {}
        }
    }
}

/// Returns `true` for the paths that are answered in a reserved connection.
fn is_vital(path: &str) -> bool {
    is_health(path) || path == "/metrics"
}
