//! HTTP/2, with prior knowledge and by ALPN.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio_rustls::TlsConnector;

use crate::http::program::{Program, TEMPLATES};

tests!(
    requests_share_a_connection,
    head_has_no_body,
    a_large_body_without_a_valid_user_gets_its_response,
    watches_are_bounded_and_end_with_the_server
);

pub(crate) type Sender = SendRequest<Empty<Bytes>>;

/// The number of watches that clients request, and the number of their connections.
const WATCHES: usize = 10_000;
const CONNECTIONS: usize = 40;

/// The number of watches that the server allows.
const MAX_WATCHES: usize = 1_000;

/// The maximum memory of the server for these watches. A debug build needs more than a release
/// build.
const MEMORY: u64 = 160 << 20;

pub(crate) async fn over(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Sender {
    let (sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

pub(crate) async fn get(sender: &mut Sender, path: &str, bearer: &str) -> Response<Incoming> {
    sender.ready().await.unwrap();
    let request = Request::get(format!("http://localhost{path}"))
        .header("Authorization", format!("Bearer {bearer}"))
        .body(Empty::new())
        .unwrap();
    sender.send_request(request).await.unwrap()
}

/// Writes a certificate for `localhost` and its key into a folder, and returns the certificate.
pub(crate) fn certificate(folder: &Path) -> String {
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let pem = issued.cert.pem();
    std::fs::write(folder.join("tls.crt"), &pem).unwrap();
    std::fs::write(folder.join("tls.key"), issued.signing_key.serialize_pem()).unwrap();
    pem
}

/// Opens an HTTP/2 connection over TLS, and checks that the server selects it by ALPN.
pub(crate) async fn over_tls(address: SocketAddr, certificate: &str) -> Sender {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()).unwrap();
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    over(stream).await
}

fn requests_share_a_connection() {
    let folder = tempfile::tempdir().unwrap();
    let certificate = certificate(folder.path());
    let tls = ["--tls-cert", "tls.crt", "--tls-key", "tls.key"];
    let encrypted = Program::start_in(folder, &tls);
    let plain = Program::start(&[]);
    Runtime::new().unwrap().block_on(async {
        let plain = over(TcpStream::connect(plain.address()).await.unwrap()).await;
        for sender in [plain, over_tls(encrypted.address(), &certificate).await] {
            let requests = (0..50).map(|_| {
                let mut sender = sender.clone();
                async move {
                    let answer = get(&mut sender, "/version", "").await;
                    assert_eq!(answer.status(), 200);
                    let body = answer.into_body().collect().await.unwrap().to_bytes();
                    let version: serde_json::Value = serde_json::from_slice(&body).unwrap();
                    assert_eq!(version.get("major"), Some(&"1".into()));
                }
            });
            futures_util::future::join_all(requests).await;
        }
    });
}

fn head_has_no_body() {
    let program = Program::start(&[]);
    Runtime::new().unwrap().block_on(async {
        let mut sender = over(TcpStream::connect(program.address()).await.unwrap()).await;
        for path in ["/livez", "/version", "/openapi/v2", "/deployments", "/nowhere"] {
            let got = get(&mut sender, path, "").await;
            let (head, body) = got.into_parts();
            let expected = body.collect().await.unwrap().to_bytes().len();
            sender.ready().await.unwrap();
            let request = Request::head(format!("http://localhost{path}"));
            let request = request.body(Empty::new()).unwrap();
            let answer = sender.send_request(request).await.unwrap();
            assert_eq!(answer.status(), head.status, "{path}");
            let length = answer.headers()["content-length"].to_str().unwrap();
            assert_eq!(length, expected.to_string(), "{path}");
            // A body would be an error of the protocol.
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            assert!(body.is_empty(), "{path}");
        }
    });
}

fn a_large_body_without_a_valid_user_gets_its_response() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tokens"), "secret,ada,1\n").unwrap();
    let program = Program::start_in(folder, &["--auth", "tokens=tokens"]);
    Runtime::new().unwrap().block_on(async {
        let stream = TcpStream::connect(program.address()).await.unwrap();
        let (mut sender, connection) =
            http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        for bearer in ["Bearer wrong", ""] {
            sender.ready().await.unwrap();
            let body = http_body_util::Full::new(Bytes::from(vec![b' '; 3 << 20]));
            let request = Request::post(format!("http://localhost{TEMPLATES}"))
                .header("content-type", "application/json")
                .header("authorization", bearer);
            let answer = sender.send_request(request.body(body).unwrap()).await;
            let answer = answer.unwrap();
            assert_eq!(answer.status(), 401);
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            assert!(String::from_utf8_lossy(&body).contains("Unauthorized"));
        }
    });
}

fn watches_are_bounded_and_end_with_the_server() {
    let program = Program::start(&["--shutdown-delay", "0s"]);
    let runtime = Runtime::new().unwrap();
    let address = program.address();
    let (open, refused) = runtime.block_on(async {
        let connections = (0..CONNECTIONS).map(|_| {
            tokio::spawn(async move {
                let mut sender = over(TcpStream::connect(address).await.unwrap()).await;
                let (mut open, mut refused) = (Vec::new(), 0);
                for _ in 0..WATCHES / CONNECTIONS {
                    let path = format!("{TEMPLATES}?watch=true");
                    let answer = get(&mut sender, &path, "").await;
                    if answer.status() == 200 {
                        open.push(answer);
                    } else {
                        assert_eq!(answer.status(), 429);
                        assert_eq!(answer.headers().get("retry-after").unwrap(), "1");
                        refused += 1;
                    }
                }
                (open, refused)
            })
        });
        let (mut open, mut refused) = (Vec::new(), 0);
        for connection in connections.collect::<Vec<_>>() {
            let (one, other) = connection.await.unwrap();
            open.extend(one);
            refused += other;
        }
        (open, refused)
    });
    assert_eq!((open.len(), refused), (MAX_WATCHES, WATCHES - MAX_WATCHES));
    let metrics = String::from_utf8(program.get("/metrics").body).unwrap();
    assert!(metrics.contains("krm_template_watches 1000\n"), "{metrics}");
    assert!(program.memory() < MEMORY, "{} bytes", program.memory());
    // Closed watches make room for others.
    let mut open = open;
    drop(open.split_off(MAX_WATCHES / 2));
    program.until_measured("krm_template_watches 500");
    program.signal("TERM");
    runtime.block_on(async {
        for watch in open {
            assert!(watch.into_body().collect().await.is_ok(), "a regular end");
        }
    });
    assert!(program.end().0.success());
}
