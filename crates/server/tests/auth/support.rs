//! Certificates, connections, and a fake cluster.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use krm_template_server_core::Peer;
use krm_template_server_core::auth::{Args, AuthenticationMethod};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, date_time_ymd,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// The name of the test server.
pub(crate) const SERVER: &str = "server.test";

/// A certificate authority.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>, String);

/// The purpose of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum For {
    Client,
    Server,
    /// A client, but expired.
    FormerClient,
    /// A client, which expires in two seconds.
    LeavingClient,
}

/// A certificate and its key, in PEM.
#[derive(Clone, Debug)]
pub(crate) struct Issued {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let pem = key.serialize_pem();
        Self(CertifiedIssuer::self_signed(ca(name), key).unwrap(), pem)
    }

    /// Creates an authority whose certificate this one issues.
    pub(crate) fn below(&self, name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let pem = key.serialize_pem();
        Self(CertifiedIssuer::signed_by(ca(name), key, &self.0).unwrap(), pem)
    }

    /// Returns another certificate for the same key, in PEM.
    pub(crate) fn renewed(&self, name: &str) -> String {
        let key = KeyPair::from_pem(&self.1).unwrap();
        ca(name).self_signed(&key).unwrap().pem()
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    pub(crate) fn issue(&self, name: &str, organizations: &[&str], purpose: For) -> Issued {
        let mut params = CertificateParams::new(vec![SERVER.to_owned()]).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        if !name.is_empty() {
            params.distinguished_name.push(DnType::CommonName, name);
        }
        // rcgen keeps one name of each type; it takes the custom type for another one.
        let types = [DnType::OrganizationName, DnType::CustomDnType(vec![2, 5, 4, 10])];
        for (kind, organization) in types.into_iter().zip(organizations) {
            params.distinguished_name.push(kind, *organization);
        }
        params.extended_key_usages = match purpose {
            For::Server => vec![ExtendedKeyUsagePurpose::ServerAuth],
            For::Client | For::FormerClient | For::LeavingClient => {
                vec![ExtendedKeyUsagePurpose::ClientAuth]
            }
        };
        if purpose == For::FormerClient {
            params.not_before = date_time_ymd(2001, 1, 1);
            params.not_after = date_time_ymd(2002, 1, 1);
        }
        if purpose == For::LeavingClient {
            params.not_after = (SystemTime::now() + Duration::from_secs(2)).into();
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        Issued { certificate: certificate.pem(), key: key.serialize_pem() }
    }
}

/// Returns the parameters of the certificate of an authority.
fn ca(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

/// The result of a handshake.
pub(crate) struct Connected {
    pub(crate) peer: Peer,
    pub(crate) protocol: Option<Vec<u8>>,
    /// The certificate of the server.
    pub(crate) server: CertificateDer<'static>,
}

/// Connects to `acceptor` in memory, with the client's certificate if there is one.
pub(crate) async fn connect(
    acceptor: &TlsAcceptor,
    authority: &Authority,
    client: Option<&Issued>,
) -> Connected {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap()).unwrap();
    let builder = ClientConfig::builder().with_root_certificates(roots);
    let mut config = match client {
        Some(Issued { certificate, key }) => {
            let chain = CertificateDer::pem_slice_iter(certificate.as_bytes());
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
            builder.with_client_auth_cert(chain.map(Result::unwrap).collect(), key).unwrap()
        }
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    let (near, far) = tokio::io::duplex(1 << 16);
    let name = ServerName::try_from(SERVER).unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    let (client, server) = tokio::join!(connector.connect(name, near), acceptor.accept(far));
    let (client, server) = (client.unwrap(), server.unwrap());
    let (_, client) = client.get_ref();
    let (_, server) = server.get_ref();
    Connected {
        peer: Peer::of(address(), server),
        protocol: server.alpn_protocol().map(<[u8]>::to_vec),
        server: client.peer_certificates().unwrap()[0].clone().into_owned(),
    }
}

pub(crate) fn address() -> SocketAddr {
    "127.0.0.1:40000".parse().unwrap()
}

pub(crate) fn headers(list: &[(&str, &str)]) -> HeaderMap {
    let pairs = list.iter().map(|(name, value)| {
        (name.parse::<HeaderName>().unwrap(), value.parse::<http::HeaderValue>().unwrap())
    });
    pairs.collect()
}

/// Writes a file and returns its path.
pub(crate) fn write(folder: &Path, name: &str, content: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// Returns the arguments of a server whose certificate `server` issues into `folder`.
pub(crate) fn arguments(
    folder: &Path,
    server: &Authority,
    auth: Vec<AuthenticationMethod>,
) -> Args {
    let issued = server.issue("server", &[], For::Server);
    Args {
        auth,
        tls_cert: Some(write(folder, "tls.crt", &issued.certificate)),
        tls_key: Some(write(folder, "tls.key", &issued.key)),
        ..Args::default()
    }
}

/// A function that returns the status, the body and the delay of a response.
type Answers = dyn Fn(&str, &Value) -> (u16, Value, Duration) + Send + Sync;

/// A fake kube-apiserver.
pub(crate) struct Fake {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Fake {
    /// Starts the server. `answers` gets the path and the body of a request.
    pub(crate) async fn start(
        answers: impl Fn(&str, &Value) -> (u16, Value, Duration) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answers, log): (Arc<Answers>, _) = (Arc::new(answers), Arc::clone(&asked));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (answers, log) = (Arc::clone(&answers), Arc::clone(&log));
                let service = hyper::service::service_fn(move |request: Request<Incoming>| {
                    let (answers, log) = (Arc::clone(&answers), Arc::clone(&log));
                    async move {
                        let path = request.uri().path().to_owned();
                        let body = request.into_body().collect().await.unwrap().to_bytes();
                        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
                        let (status, answer, delay) = answers(&path, &body);
                        log.lock().unwrap().push((path, body));
                        tokio::time::sleep(delay).await;
                        let answer = Full::new(Bytes::from(answer.to_string()));
                        let response = Response::builder()
                            .status(status)
                            .header("content-type", "application/json");
                        Ok::<_, Infallible>(response.body(answer).unwrap())
                    }
                });
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        Self { address, asked }
    }

    /// Writes a kubeconfig for this cluster.
    pub(crate) fn kubeconfig(&self, folder: &Path) -> PathBuf {
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "fake",
            "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "fake"}}],
            "clusters": [{"name": "fake", "cluster": {"server": format!("http://{}", self.address)}}],
            "users": [{"name": "fake", "user": {}}],
        });
        write(folder, "kubeconfig", &config.to_string())
    }

    /// Returns a client of this cluster.
    pub(crate) fn client(&self) -> kube::Client {
        let config = kube::Config::new(format!("http://{}", self.address).parse().unwrap());
        kube::Client::try_from(config).unwrap()
    }

    /// Returns all requests until now.
    pub(crate) fn asked(&self) -> Vec<(String, Value)> {
        self.asked.lock().unwrap().clone()
    }
}
