//! Reads files from allowed hosts over HTTPS, from public IP addresses only.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use bytes::Bytes;
use http::header::{HOST, LOCATION, USER_AGENT};
use http::{Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// The maximum size of a file in bytes.
const MAX_BYTES: usize = 1 << 20;

/// The timeout of one file.
const MAX_TIME: Duration = Duration::from_secs(5);

/// The maximum number of redirects.
const MAX_REDIRECTS: usize = 5;

/// The default port of HTTPS.
const HTTPS: u16 = 443;

/// A host from which files may be fetched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Host {
    name: String,
    port: u16,
}

impl FromStr for Host {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let expected = "expected HOST or HOST:PORT, such as `example.com`";
        let uri: Uri = format!("https://{text}").parse().context(expected)?;
        let host = Self::of(&uri).filter(|_| uri.path() == "/" && uri.query().is_none());
        host.filter(|_| !text.ends_with('/')).context(expected)
    }
}

impl Host {
    /// Returns the host of an HTTPS URL.
    fn of(address: &Uri) -> Option<Self> {
        let authority = address.authority()?;
        if address.scheme_str() != Some("https") || authority.as_str().contains('@') {
            return None;
        }
        let port = match authority.port_u16() {
            Some(port) => port,
            None if authority.as_str() == authority.host() => HTTPS,
            None => return None,
        };
        Some(Self { name: authority.host().to_ascii_lowercase(), port })
    }
}

/// A client for the files of allowed hosts.
pub(super) struct Web {
    hosts: BTreeSet<Host>,
    tls: TlsConnector,
    /// Whether connections to an IP address are allowed.
    is_allowed: fn(IpAddr) -> bool,
}

impl Web {
    /// Creates a client that trusts the system's certificate authorities.
    ///
    /// # Errors
    ///
    /// If the system has no certificate authorities.
    pub(super) fn new(hosts: &[Host]) -> anyhow::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            bail!(
                "--allow-fetch needs certificates of authorities, but this system has none: set the \
                 environment variable SSL_CERT_FILE to a file with them"
            );
        }
        Self::with(hosts, roots, is_public)
    }

    /// Creates a client with other certificate authorities and IP addresses.
    pub(super) fn with(
        hosts: &[Host],
        roots: RootCertStore,
        is_allowed: fn(IpAddr) -> bool,
    ) -> anyhow::Result<Self> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            hosts: hosts.iter().cloned().collect(),
            tls: TlsConnector::from(Arc::new(config)),
            is_allowed,
        })
    }

    /// Returns `true` for an HTTPS URL of an allowed host.
    pub(super) fn allows(&self, address: &str) -> bool {
        let address: Option<Uri> = address.parse().ok();
        let host = address.as_ref().and_then(Host::of);
        host.is_some_and(|host| self.hosts.contains(&host))
    }

    /// Reads the file at a URL. Returns `None` if the host returns 404.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is too large, or takes too long.
    pub(super) async fn read(&self, address: &str) -> anyhow::Result<Option<String>> {
        let read = timeout(MAX_TIME, self.follow(address.parse()?));
        match read.await {
            Ok(read) => read,
            Err(_) => bail!("it takes longer than {} s", MAX_TIME.as_secs()),
        }
    }

    /// Reads a URL, and follows redirects on the same host.
    async fn follow(&self, mut address: Uri) -> anyhow::Result<Option<String>> {
        let allowed = |host: &Host| self.hosts.contains(host);
        let host = Host::of(&address).filter(allowed);
        let host = host.context("its host is not among those of --allow-fetch")?;
        for _ in 0..=MAX_REDIRECTS {
            let response = self.get(&host, &address).await?;
            let status = response.status();
            if status.is_redirection() {
                address = redirected(&host, &response)?;
                continue;
            }
            return match status {
                StatusCode::OK => text(response).await.map(Some),
                StatusCode::NOT_FOUND => Ok(None),
                status => bail!("the host returned the code {}", status.as_u16()),
            };
        }
        bail!("more than {MAX_REDIRECTS} redirects")
    }

    async fn get(&self, host: &Host, address: &Uri) -> anyhow::Result<Response<Incoming>> {
        let name = host.name.trim_start_matches('[').trim_end_matches(']');
        let stream = self.connect(name, host.port).await?;
        let server = ServerName::try_from(name.to_owned())?;
        let stream = self.tls.connect(server, stream).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // The task ends with the sender and the body, which also report its errors.
        tokio::spawn(connection);
        let path = address.path_and_query().map_or("/", |path| path.as_str());
        let host = match host.port {
            HTTPS => host.name.clone(),
            port => format!("{}:{port}", host.name),
        };
        let request = Request::get(path)
            .header(HOST, host)
            .header(USER_AGENT, "krm-template-server")
            .body(Empty::<Bytes>::new())?;
        Ok(sender.send_request(request).await?)
    }

    /// Connects to a public IP address of a host. The name is resolved only once, so it cannot
    /// resolve to another address after the check.
    async fn connect(&self, name: &str, port: u16) -> anyhow::Result<TcpStream> {
        let found = lookup_host((name, port)).await?;
        let allowed: Vec<SocketAddr> =
            found.filter(|address| (self.is_allowed)(address.ip())).collect();
        if allowed.is_empty() {
            bail!("its host has no public address");
        }
        Ok(TcpStream::connect(allowed.as_slice()).await?)
    }
}

/// Returns the target of a redirect, which must be on the same host.
fn redirected(host: &Host, response: &Response<Incoming>) -> anyhow::Result<Uri> {
    let location = response.headers().get(LOCATION);
    let location = location.and_then(|location| location.to_str().ok());
    let location = location.context("a redirect without an address")?;
    let address: Uri = if location.starts_with('/') && !location.starts_with("//") {
        format!("https://{}:{}{location}", host.name, host.port).parse()?
    } else {
        location.parse()?
    };
    if Host::of(&address).as_ref() != Some(host) {
        bail!("it redirects to another host");
    }
    Ok(address)
}

async fn text(response: Response<Incoming>) -> anyhow::Result<String> {
    let body = Limited::new(response.into_body(), MAX_BYTES).collect().await;
    let Ok(body) = body else {
        bail!("it breaks off, or is larger than {MAX_BYTES} bytes");
    };
    String::from_utf8(body.to_bytes().into()).context("it is not UTF-8")
}

/// IPv4 networks that are not public: the address and the prefix length.
const SPECIAL_V4: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    // Multicast, reserved, broadcast.
    ([224, 0, 0, 0], 3),
];

/// IPv6 networks in [`GLOBAL_V6`] that are not public.
const SPECIAL_V6: &[([u16; 2], u32)] = &[
    // Includes Teredo, which embeds IPv4 addresses.
    ([0x2001, 0], 23),
    ([0x2001, 0x0db8], 32),
    // 6to4, which embeds IPv4 addresses.
    ([0x2002, 0], 16),
    ([0x3fff, 0], 20),
];

/// The IPv6 network of global unicast addresses.
const GLOBAL_V6: ([u16; 2], u32) = ([0x2000, 0], 3);

/// Returns `true` if an address is globally reachable.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|&network| has_v4(network, address)),
        IpAddr::V6(address) => {
            has_v6(GLOBAL_V6, address)
                && !SPECIAL_V6.iter().any(|&network| has_v6(network, address))
        }
    }
}

fn has_v4((network, bits): ([u8; 4], u32), address: Ipv4Addr) -> bool {
    let difference = Ipv4Addr::from(network).to_bits() ^ address.to_bits();
    difference.leading_zeros() >= bits
}

fn has_v6(([first, second], bits): ([u16; 2], u32), address: Ipv6Addr) -> bool {
    let network = Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0);
    let difference = network.to_bits() ^ address.to_bits();
    difference.leading_zeros() >= bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(addresses: &[&str], expected: bool) {
        for address in addresses {
            let parsed: IpAddr = address.parse().unwrap();
            assert_eq!(is_public(parsed), expected, "{address}");
        }
    }

    #[test]
    fn addresses_of_the_internet_are_public() {
        check(
            &[
                "1.1.1.1",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "192.0.1.0",
                "198.17.255.255",
                "198.20.0.0",
                "223.255.255.255",
                "2606:4700::1111",
                "2001:4860:4860::8888",
                "2001:db7:ffff::",
            ],
            true,
        );
    }

    #[test]
    fn other_addresses_are_not_public() {
        check(
            &[
                "0.0.0.0",
                "10.1.2.3",
                "100.64.0.1",
                "100.127.255.255",
                "127.0.0.1",
                "169.254.169.254",
                "172.16.0.1",
                "172.31.255.255",
                "192.0.0.8",
                "192.0.2.1",
                "192.88.99.1",
                "192.168.0.1",
                "198.19.255.255",
                "198.51.100.1",
                "203.0.113.1",
                "224.0.0.1",
                "240.0.0.1",
                "255.255.255.255",
                "::",
                "::1",
                "::ffff:1.1.1.1",
                "64:ff9b::1.1.1.1",
                "100::1",
                "2001::1",
                "2001:1ff:ffff::",
                "2001:db8::1",
                "2002:7f00:1::",
                "3fff::1",
                "4000::1",
                "fc00::1",
                "fd12:3456::1",
                "fe80::1",
                "ff02::1",
            ],
            false,
        );
    }
}
