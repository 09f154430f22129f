//! Watches over WebSocket (RFC 6455), for clients such as web consoles: one text message for each
//! event, without channels, as kube-apiserver sends them.
//!
//! Source: `HandleWS` of `k8s.io/apiserver/pkg/endpoints/handlers/watch.go`.

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use http::header::{
    CONNECTION, HeaderMap, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{Method, Request, Response, StatusCode};
use http_body::Body as HttpBody;
use http_body_util::BodyExt as _;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::response::{self, Answer};

/// The maximum size of a message of the client, which is ignored.
const MAX_MESSAGE: usize = 64 << 10;

/// A WebSocket upgrade request.
pub(crate) struct Handshake {
    upgrade: OnUpgrade,
    accept: String,
    protocol: Option<HeaderValue>,
}

impl Handshake {
    /// Detects an upgrade request.
    pub(crate) fn of<B>(request: &mut Request<B>) -> Option<Self> {
        let headers = request.headers();
        let is_handshake = request.method() == Method::GET
            && has(headers, &CONNECTION, "upgrade")
            && has(headers, &UPGRADE, "websocket")
            && has(headers, &SEC_WEBSOCKET_VERSION, "13");
        let key = headers.get(SEC_WEBSOCKET_KEY).filter(|_| is_handshake)?;
        let accept = derive_accept_key(key.as_bytes());
        let protocol = headers.get(SEC_WEBSOCKET_PROTOCOL).and_then(first);
        Some(Self { upgrade: hyper::upgrade::on(request), accept, protocol })
    }

    /// Returns the response that accepts it.
    pub(crate) fn response(&self) -> Answer {
        let mut response: Answer = Response::new(response::full(Bytes::new()));
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        if let Ok(accept) = HeaderValue::from_str(&self.accept) {
            headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
        }
        if let Some(protocol) = &self.protocol {
            headers.insert(SEC_WEBSOCKET_PROTOCOL, protocol.clone());
        }
        response
    }

    /// Sends each frame of a body as a message, until its end or that of the connection.
    pub(crate) async fn send<B>(self, mut body: B)
    where
        B: HttpBody<Data = Bytes> + Unpin,
    {
        let Ok(upgraded) = self.upgrade.await else {
            return;
        };
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE));
        let stream = TokioIo::new(upgraded);
        let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
        loop {
            let frame = tokio::select! {
                frame = body.frame() => frame,
                message = socket.next() => match message {
                    Some(Ok(_)) => continue,
                    Some(Err(_)) | None => return,
                },
            };
            let Some(Ok(frame)) = frame else { break };
            let Ok(line) = frame.into_data() else {
                continue;
            };
            let Ok(text) = line.try_into() else { break };
            if socket.send(Message::Text(text)).await.is_err() {
                return;
            }
        }
        // The client may have left.
        let _ = socket.close(None).await;
    }
}

/// Returns `true` if a header has a word in its list.
fn has(headers: &HeaderMap, name: &http::HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|one| one.trim().eq_ignore_ascii_case(word))
}

/// Returns the first of the protocols that a client offers.
fn first(offered: &HeaderValue) -> Option<HeaderValue> {
    let first = offered.to_str().ok()?.split(',').next()?.trim();
    HeaderValue::from_str(first).ok()
}
