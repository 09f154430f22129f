//! TLS: the server's certificate, and the certificates of clients.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, bail};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::version::{TLS12, TLS13};
use rustls::{
    DigitallySignedStruct, DistinguishedName, RootCertStore, ServerConfig, ServerConnection,
    SignatureScheme, client::danger::HandshakeSignatureValid,
};
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::reload::{Content, Watched};

/// How long the result of verifying a client certificate is cached.
const RECHECK: Duration = Duration::from_secs(10);

/// The maximum number of CAs whose results a connection caches.
const MAX_ANSWERS: usize = 4;

/// The handling of client certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientCertificates {
    /// They are requested, but clients may connect without one.
    Asked,
    /// They are not requested from clients.
    Ignored,
}

/// Opens the PEM files of the server's certificate chain and private key, which are reread when
/// they change.
///
/// # Errors
/// If a file cannot be read or has no certificate or key, or if the key does not match the
/// certificate.
pub fn identity(certificate: &Path, key: &Path) -> anyhow::Result<Arc<Watched<CertifiedKey>>> {
    let paths = vec![certificate.to_owned(), key.to_owned()];
    Watched::open("--tls-cert and --tls-key", paths, certified_key)
}

/// Creates an acceptor of TLS 1.2 and 1.3 with HTTP/2 and HTTP/1.1. Each connection gets the newest
/// certificate of `identity`.
///
/// The handshake proves that a client has the private key of its certificate. [`Peer::names`]
/// verifies the certificate later, because clients and front proxies have different CAs.
///
/// # Errors
/// If TLS cannot be set up.
pub fn acceptor(
    identity: Arc<Watched<CertifiedKey>>,
    clients: ClientCertificates,
) -> anyhow::Result<TlsAcceptor> {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS13, &TLS12])
        .context("cannot set up TLS")?;
    let builder = match clients {
        ClientCertificates::Asked => {
            builder.with_client_cert_verifier(Arc::new(AnyChain(provider)))
        }
        ClientCertificates::Ignored => builder.with_no_client_auth(),
    };
    let mut config = builder.with_cert_resolver(Arc::new(Newest(identity)));
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn certified_key(contents: &[Content]) -> anyhow::Result<CertifiedKey> {
    let [certificate, key] = contents else {
        bail!("expected a file with the certificate and one with its key");
    };
    let about = |content: &Content| format!("cannot use {}", content.path.display());
    let chain = CertificateDer::pem_slice_iter(&certificate.bytes)
        .collect::<Result<Vec<_>, _>>()
        .with_context(|| about(certificate))?;
    if chain.is_empty() {
        bail!("{} has no certificate in PEM", certificate.path.display());
    }
    let private = PrivateKeyDer::from_pem_slice(&key.bytes).with_context(|| about(key))?;
    CertifiedKey::from_der(chain, private, &ring::default_provider()).with_context(|| {
        format!("cannot use {} with {}", certificate.path.display(), key.path.display())
    })
}

/// A resolver that returns the newest certificate.
#[derive(Debug)]
struct Newest(Arc<Watched<CertifiedKey>>);

impl ResolvesServerCert for Newest {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.get()
    }
}

/// A verifier that accepts any certificate chain if the client has the private key.
#[derive(Debug)]
struct AnyChain(Arc<CryptoProvider>);

impl ClientCertVerifier for AnyChain {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Returns the certificates in a PEM text.
pub(crate) fn certificates(pem: &[u8]) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem).flatten().collect()
}

/// The certificate authorities (CAs) that sign client certificates.
#[derive(Debug)]
pub struct ClientCa {
    verifier: Arc<dyn ClientCertVerifier>,
    certificates: Vec<CertificateDer<'static>>,
}

impl ClientCa {
    /// Parses a PEM bundle of CA certificates.
    ///
    /// # Errors
    /// If the bundle is malformed or has no usable certificate.
    pub fn from_pem(pem: &[u8]) -> anyhow::Result<Self> {
        let certificates = CertificateDer::pem_slice_iter(pem)
            .collect::<Result<Vec<_>, _>>()
            .context("not a bundle of certificates in PEM")?;
        let mut roots = RootCertStore::empty();
        if let (0, _) = roots.add_parsable_certificates(certificates.iter().cloned()) {
            bail!("no usable certificate in PEM");
        }
        let provider = Arc::new(ring::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .context("the certificates cannot be used")?;
        Ok(Self { verifier, certificates })
    }

    /// Returns `true` if a certificate has the key of one of these CAs, or if one has issued the
    /// other. The names decide, so one that cannot be parsed counts, too.
    pub(crate) fn is_related_to(&self, others: &[CertificateDer<'_>]) -> bool {
        let is_related = |own: &CertificateDer<'_>, other: &CertificateDer<'_>| {
            let parsed = X509Certificate::from_der(own).and_then(|(_, own)| {
                let (_, other) = X509Certificate::from_der(other)?;
                Ok(own.public_key().raw == other.public_key().raw
                    || own.subject().as_raw() == other.issuer().as_raw()
                    || own.issuer().as_raw() == other.subject().as_raw())
            });
            parsed.unwrap_or(true)
        };
        let mut own = self.certificates.iter();
        own.any(|own| others.iter().any(|other| is_related(own, other)))
    }

    /// Opens a PEM file of CA certificates, which is reread when it changes.
    ///
    /// # Errors
    /// The same as [`from_pem`](Self::from_pem), and if the file cannot be read.
    pub fn open(path: &Path) -> anyhow::Result<Arc<Watched<Arc<Self>>>> {
        let option = "--auth client-certificates";
        Watched::open(option, vec![path.to_owned()], |contents| {
            let [content] = contents else { bail!("expected one file") };
            let ca = Self::from_pem(&content.bytes);
            Ok(Arc::new(ca.with_context(|| content.path.display().to_string())?))
        })
    }

    /// Returns the subject of the first certificate, if the chain is currently valid for a client.
    fn verify(&self, chain: &[CertificateDer<'_>]) -> Option<Names> {
        let (first, intermediates) = chain.split_first()?;
        self.verifier.verify_client_cert(first, intermediates, UnixTime::now()).ok()?;
        Names::of(first)
    }
}

/// The subject of a client certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The common name (CN), not empty; the last one if there are several.
    pub common_name: String,
    /// The organizations (O), in the order of the certificate.
    pub organizations: Vec<String>,
}

impl Names {
    /// Returns the subject of a certificate, or `None` if it has no common name or a name is not a
    /// string.
    fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
        let subject = certificate.subject();
        let common_name = subject.iter_common_name().last()?.as_str().ok()?.to_owned();
        let organizations = subject
            .iter_organization()
            .map(|organization| organization.as_str().map(str::to_owned))
            .collect::<Result<_, _>>()
            .ok()?;
        (!common_name.is_empty()).then_some(Self { common_name, organizations })
    }
}

/// The peer of a connection.
pub struct Peer {
    address: SocketAddr,
    is_encrypted: bool,
    chain: Vec<CertificateDer<'static>>,
    answers: Mutex<Vec<Answer>>,
}

/// The cached result of a CA for the peer's certificate.
struct Answer {
    ca: Arc<ClientCa>,
    at: Instant,
    names: Option<Arc<Names>>,
}

impl Peer {
    /// Creates a peer without a certificate.
    #[must_use]
    pub const fn new(address: SocketAddr) -> Self {
        Self { address, is_encrypted: false, chain: Vec::new(), answers: Mutex::new(Vec::new()) }
    }

    /// Creates the peer of a TLS connection after its handshake.
    #[must_use]
    pub fn of(address: SocketAddr, connection: &ServerConnection) -> Self {
        let chain = connection.peer_certificates().unwrap_or_default();
        let chain = chain.iter().map(|certificate| certificate.clone().into_owned()).collect();
        Self { chain, is_encrypted: true, ..Self::new(address) }
    }

    /// Returns the address of the peer.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns `true` if the connection uses TLS.
    pub const fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// Returns the subject of the peer's certificate, if `ca` accepts it. The result is cached for
    /// ten seconds only: a certificate may expire while its connection is open.
    pub fn names(&self, ca: &Arc<ClientCa>) -> Option<Arc<Names>> {
        if self.chain.is_empty() {
            return None;
        }
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.retain(|answer| answer.at.elapsed() < RECHECK);
        if let Some(known) = answers.iter().find(|answer| Arc::ptr_eq(&answer.ca, ca)) {
            return known.names.clone();
        }
        let names = ca.verify(&self.chain).map(Arc::new);
        if answers.len() >= MAX_ANSWERS {
            answers.remove(0);
        }
        answers.push(Answer { ca: Arc::clone(ca), at: Instant::now(), names: names.clone() });
        names
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").field("address", &self.address).finish_non_exhaustive()
    }
}
