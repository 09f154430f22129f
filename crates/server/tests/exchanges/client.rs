//! One HTTP request and its response.

use std::net::SocketAddr;
use std::time::Duration;

use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

type Error = Box<dyn std::error::Error + Send + Sync>;

/// The timeout of a complete response.
const LIMIT: Duration = Duration::from_secs(15);

/// A request.
#[derive(Clone)]
pub(crate) struct Sent {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<Vec<u8>>,
}

/// A response.
pub(crate) struct Answer {
    /// 0 if the connection was closed without a response.
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Vec<String> {
        let values = self.headers.get_all(name);
        values.iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
    }

    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

/// Sends a request and reads the whole response. If the connection is closed early or the response
/// takes too long, the status is 0 and the body is the error.
pub(crate) async fn send(address: SocketAddr, sent: Sent) -> Answer {
    let taken = tokio::time::timeout(LIMIT, async { finish(begin(address, sent).await?).await });
    let error = match taken.await {
        Ok(Ok(answer)) => return answer,
        Ok(Err(error)) => error.to_string(),
        Err(late) => late.to_string(),
    };
    Answer { status: 0, headers: HeaderMap::new(), body: error.into_bytes() }
}

/// Sends a request and reads the status and headers of the response.
pub(crate) async fn begin(address: SocketAddr, sent: Sent) -> Result<Response<Incoming>, Error> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let mut request = Request::builder().method(sent.method.as_str()).uri(&sent.path);
    request = request.header("Host", address.to_string());
    for (name, value) in &sent.headers {
        request = request.header(name, value);
    }
    // Other requests need what these create. Without a type, only those of kubectl are accepted.
    if !sent.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        request = request.header("Kubectl-Command", "kubectl create");
    }
    let request = request.body(Full::<Bytes>::from(sent.body.unwrap_or_default()))?;
    Ok(sender.send_request(request).await?)
}

/// Reads the body of a response.
pub(crate) async fn finish(response: Response<Incoming>) -> Result<Answer, Error> {
    let (head, body) = response.into_parts();
    let body = body.collect().await?.to_bytes().to_vec();
    Ok(Answer { status: head.status.as_u16(), headers: head.headers, body })
}
