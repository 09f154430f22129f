//! Fetching from a small HTTPS server on the loopback address.

use std::net::IpAddr;
use std::sync::Arc;

use krm_template_deployment_manager::model::{Config, Imports, Options, Request};
use krm_yaml::source::Source;
use rcgen::{CertificateParams, KeyPair};
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::fetch::Fetcher;
use super::web::{Host, Web, is_public};

/// A site that answers each path with a status, a header and a body.
struct Site {
    host: String,
    roots: RootCertStore,
}

type Pages = fn(&str) -> (u16, String, Vec<u8>);

impl Site {
    async fn start(pages: Pages) -> Self {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(certificate.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = key.serialize_der().try_into().unwrap();
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = format!("localhost:{}", listener.local_addr().unwrap().port());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    // A client may disconnect at any time.
                    let Ok(mut stream) = acceptor.accept(stream).await else {
                        return;
                    };
                    let mut request = vec![0; 4096];
                    let length = stream.read(&mut request).await.unwrap_or_default();
                    let request = String::from_utf8_lossy(&request[..length]).into_owned();
                    let path = request.split(' ').nth(1).unwrap_or_default();
                    let (code, header, body) = pages(path);
                    let head = format!(
                        "HTTP/1.1 {code} X\r\nContent-Length: {}\r\n{header}\r\n",
                        body.len()
                    );
                    let answer = [head.into_bytes(), body].concat();
                    let _ = stream.write_all(&answer).await;
                    let _ = stream.shutdown().await;
                });
            }
        });
        Self { host, roots }
    }

    fn address(&self, path: &str) -> String {
        format!("https://{}{path}", self.host)
    }

    fn web(&self, is_allowed: fn(IpAddr) -> bool) -> Web {
        let host: Host = self.host.parse().unwrap();
        Web::with(&[host], self.roots.clone(), is_allowed).unwrap()
    }

    async fn read(&self, path: &str) -> Result<Option<String>, String> {
        let read = self.web(|_| true).read(&self.address(path)).await;
        read.map_err(|error| format!("{error:#}"))
    }
}

fn found(text: &str) -> (u16, String, Vec<u8>) {
    (200, String::new(), text.as_bytes().to_vec())
}

fn moved(to: &str) -> (u16, String, Vec<u8>) {
    (302, format!("Location: {to}\r\n"), Vec::new())
}

fn pages(path: &str) -> (u16, String, Vec<u8>) {
    match path {
        "/file" => found("text"),
        "/near" => moved("/file"),
        "/far" => moved("https://example.com/file"),
        "/plain" => moved("http://localhost/file"),
        "/relative" => moved("//example.com/file"),
        "/circle" => moved("/circle"),
        "/large" => (200, String::new(), vec![b'a'; (1 << 20) + 1]),
        "/largest" => (200, String::new(), vec![b'a'; 1 << 20]),
        "/binary" => (200, String::new(), vec![0xff]),
        "/broken" => (500, String::new(), Vec::new()),
        _ => (404, String::new(), Vec::new()),
    }
}

#[tokio::test]
async fn files_of_an_allowed_host_are_read() {
    let site = Site::start(pages).await;
    assert_eq!(site.read("/file").await, Ok(Some("text".to_owned())));
    assert_eq!(site.read("/missing").await, Ok(None));
    assert_eq!(site.read("/near").await, Ok(Some("text".to_owned())));
    let largest = site.read("/largest").await.unwrap().unwrap();
    assert_eq!(largest.len(), 1 << 20);
}

#[tokio::test]
async fn redirects_and_sizes_have_limits() {
    let site = Site::start(pages).await;
    for (path, error) in [
        ("/far", "it redirects to another host"),
        ("/plain", "it redirects to another host"),
        ("/relative", "it redirects to another host"),
        ("/circle", "more than 5 redirects"),
        ("/large", "it breaks off, or is larger than 1048576 bytes"),
        ("/broken", "the host returned the code 500"),
    ] {
        assert_eq!(site.read(path).await, Err(error.to_owned()), "{path}");
    }
    let error = site.read("/binary").await.unwrap_err();
    assert!(error.starts_with("it is not UTF-8"), "{error}");
}

#[tokio::test]
async fn only_public_addresses_and_trusted_certificates_are_connected_to() {
    let site = Site::start(pages).await;
    let address = site.address("/file");
    let error = site.web(is_public).read(&address).await.unwrap_err();
    assert_eq!(error.to_string(), "its host has no public address");
    let host: Host = site.host.parse().unwrap();
    let other = Site::start(pages).await.roots;
    let web = Web::with(&[host], other, |_| true).unwrap();
    let error = web.read(&address).await.unwrap_err();
    assert!(format!("{error:#}").contains("certificate"), "{error:#}");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_answer_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("localhost:{}", listener.local_addr().unwrap().port());
    let hosts = [host.parse().unwrap()];
    let web = Web::with(&hosts, RootCertStore::empty(), |_| true).unwrap();
    let read = web.read(&format!("https://{host}/file")).await;
    assert_eq!(read.unwrap_err().to_string(), "it takes longer than 5 s");
}

#[test]
fn an_address_counts_by_scheme_host_and_port() {
    let hosts = ["Example.com", "other.org:8443"].map(|host| host.parse().unwrap());
    let web = Web::with(&hosts, RootCertStore::empty(), is_public).unwrap();
    for (address, expected) in [
        ("https://example.com/a.jinja", true),
        ("https://EXAMPLE.com:443/a.jinja", true),
        ("https://other.org:8443/a.jinja", true),
        ("https://other.org/a.jinja", false),
        ("https://example.com:8443/a.jinja", false),
        ("http://example.com/a.jinja", false),
        ("https://www.example.com/a.jinja", false),
        ("https://example.com.evil.org/a.jinja", false),
        ("https://example.com@evil.org/a.jinja", false),
        ("https://evil.org#@example.com/a.jinja", false),
        ("https://user@example.com/a.jinja", false),
        ("example.com/a.jinja", false),
    ] {
        assert_eq!(web.allows(address), expected, "{address}");
    }
    for wrong in ["", "https://example.com", "example.com/", "a b", "example.com:x", "a@b"] {
        assert!(wrong.parse::<Host>().is_err(), "{wrong}");
    }
}

fn templates(path: &str) -> (u16, String, Vec<u8>) {
    match path {
        "/t/vm.jinja" | "/disk.jinja" => found("resources: []"),
        "/t/vm.jinja.schema" => found("imports:\n- path: ../disk.jinja\n  name: disk\n"),
        "/many.jinja.schema" => {
            let paths = (0..200).map(|number| format!("- path: /t/vm.jinja?{number}\n"));
            found(&("imports:\n".to_owned() + &paths.collect::<String>()))
        }
        "/away.jinja.schema" => found("imports:\n- path: https://example.com/a.jinja\n"),
        "/away.jinja" | "/many.jinja" => found("a"),
        path if path.contains('?') => found("text"),
        _ => (404, String::new(), Vec::new()),
    }
}

/// Returns the names of the imports after fetching, or the error.
async fn added(site: &Site, path: &str) -> Result<Vec<String>, String> {
    let web = site.web(|_| true);
    let mut request = Request {
        name: "web".to_owned(),
        config: Config::new(Source::new("config", "resources: []")),
        imports: Imports::default(),
        env: std::collections::BTreeMap::new(),
        options: Options::default(),
    };
    let templates = [site.address(path)];
    let added = Fetcher { web }.add(&mut request, templates, &mut 0).await;
    added.map_err(|status| status.message.clone())?;
    let names = request.imports.iter().map(|import| import.name.clone());
    Ok(names.collect())
}

#[tokio::test]
async fn a_template_comes_with_its_schema_and_the_imports_of_that() {
    let site = Site::start(templates).await;
    let vm = site.address("/t/vm.jinja");
    let names = added(&site, "/t/vm.jinja").await.unwrap();
    assert_eq!(names, [vm.clone(), format!("{vm}.schema"), "disk".to_owned()]);
}

#[tokio::test]
async fn a_file_that_cannot_be_fetched_is_an_error_with_its_address() {
    let site = Site::start(templates).await;
    for (path, error) in [
        ("/none.jinja", "/none.jinja cannot be fetched: the host does not have it"),
        (
            "/away.jinja",
            "https://example.com/a.jinja cannot be fetched: its host is not among those of \
             --allow-fetch",
        ),
        ("/many.jinja", "cannot be fetched: more than 100 files"),
    ] {
        let found = added(&site, path).await.unwrap_err();
        assert!(found.ends_with(error), "{found}");
    }
}
