//! TLS, the reload of certificates, and authentication by client certificate.

use krm_template_server_core::Peer;
use krm_template_server_core::auth::{AuthenticationMethod, start};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::auth::support::{Authority, For, address, arguments, connect, headers, write};

tests!(
    the_subject_is_the_user_and_the_organizations_the_groups,
    new_connections_get_the_changed_certificate_and_a_broken_one_changes_nothing,
    a_changed_authority_counts_on_connections_that_are_open,
    a_certificate_that_expires_ends_with_its_connection_open,
    no_connection_has_a_certificate_that_could_not_be_read_for_too_long
);

fn der(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}

#[tokio::main(flavor = "current_thread")]
async fn the_subject_is_the_user_and_the_organizations_the_groups() {
    let folder = tempfile::tempdir().unwrap();
    let (server, clients) = (Authority::new("servers"), Authority::new("clients"));
    let ca = write(folder.path(), "ca.crt", &clients.pem());
    let args =
        arguments(folder.path(), &server, vec![AuthenticationMethod::ClientCertificates(ca)]);
    let auth = start(&args, address()).await.unwrap();
    let acceptor = auth.tls.as_ref().unwrap();

    let issued = clients.issue("anna", &["devs", "ops"], For::Client);
    let connected = connect(acceptor, &server, Some(&issued)).await;
    assert_eq!(connected.protocol.as_deref(), Some(b"h2".as_slice()));
    let user = auth.authenticator.authenticate(&headers(&[]), &connected.peer).await.unwrap();
    assert_eq!(user.name, "anna");
    assert_eq!(user.groups, ["devs", "ops", "system:authenticated"]);
    assert_eq!(auth.warnings.len(), 1, "every user may do everything");
    // The browser sends the certificate for every page.
    for (origin, is_own) in
        [("https://web", true), ("https://evil.example", false), ("null", false)]
    {
        let sent = headers(&[("host", "web"), ("origin", origin)]);
        let user = auth.authenticator.authenticate(&sent, &connected.peer);
        let code = user.await.map_or_else(|status| status.code, |_| 200);
        assert_eq!(code, if is_own { 200 } else { 403 }, "{origin}");
    }

    let without = connect(acceptor, &server, None).await.peer;
    for peer in [without, Peer::new(address())] {
        let status = auth.authenticator.authenticate(&headers(&[]), &peer).await.unwrap_err();
        assert_eq!(status.code, 401);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn new_connections_get_the_changed_certificate_and_a_broken_one_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (server, clients) = (Authority::new("servers"), Authority::new("clients"));
    let ca = write(folder.path(), "ca.crt", &clients.pem());
    let args =
        arguments(folder.path(), &server, vec![AuthenticationMethod::ClientCertificates(ca)]);
    let auth = start(&args, address()).await.unwrap();
    let acceptor = auth.tls.as_ref().unwrap();
    let reload = || {
        auth.files.iter().for_each(|file| file.reload(std::time::Duration::MAX));
    };
    let first = connect(acceptor, &server, None).await.server;

    let next = server.issue("server", &[], For::Server);
    write(folder.path(), "tls.crt", &next.certificate);
    reload();
    let with_old_key = connect(acceptor, &server, None).await.server;
    assert_eq!(with_old_key, first, "a certificate without its key is not used");

    write(folder.path(), "tls.key", &next.key);
    reload();
    let second = connect(acceptor, &server, None).await.server;
    assert_eq!(second, der(&next.certificate));

    for broken in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        write(folder.path(), "tls.crt", broken);
        reload();
        assert_eq!(connect(acceptor, &server, None).await.server, second);
    }
    std::fs::remove_file(folder.path().join("tls.crt")).unwrap();
    reload();
    assert_eq!(connect(acceptor, &server, None).await.server, second);
}

#[tokio::main(flavor = "current_thread")]
async fn a_changed_authority_counts_on_connections_that_are_open() {
    let folder = tempfile::tempdir().unwrap();
    let (server, old, new) =
        (Authority::new("servers"), Authority::new("old"), Authority::new("new"));
    let ca = write(folder.path(), "ca.crt", &old.pem());
    let args =
        arguments(folder.path(), &server, vec![AuthenticationMethod::ClientCertificates(ca)]);
    let auth = start(&args, address()).await.unwrap();
    let acceptor = auth.tls.as_ref().unwrap();
    let issued = old.issue("anna", &[], For::Client);
    let peer = connect(acceptor, &server, Some(&issued)).await.peer;
    let none = headers(&[]);
    assert!(auth.authenticator.authenticate(&none, &peer).await.is_ok());
    write(folder.path(), "ca.crt", &new.pem());
    auth.files.iter().for_each(|file| file.reload(std::time::Duration::MAX));
    assert!(auth.authenticator.authenticate(&none, &peer).await.is_err());
    write(folder.path(), "ca.crt", &format!("{}{}", new.pem(), old.pem()));
    auth.files.iter().for_each(|file| file.reload(std::time::Duration::MAX));
    assert!(auth.authenticator.authenticate(&none, &peer).await.is_ok());
}

#[tokio::main(flavor = "current_thread")]
async fn a_certificate_that_expires_ends_with_its_connection_open() {
    let folder = tempfile::tempdir().unwrap();
    let (server, clients) = (Authority::new("servers"), Authority::new("clients"));
    let ca = write(folder.path(), "ca.crt", &clients.pem());
    let args =
        arguments(folder.path(), &server, vec![AuthenticationMethod::ClientCertificates(ca)]);
    let auth = start(&args, address()).await.unwrap();
    let issued = clients.issue("anna", &[], For::LeavingClient);
    let peer = connect(auth.tls.as_ref().unwrap(), &server, Some(&issued)).await.peer;
    let none = headers(&[]);
    assert!(auth.authenticator.authenticate(&none, &peer).await.is_ok());
    // An open watch asks every ten seconds.
    tokio::time::sleep(std::time::Duration::from_secs(11)).await;
    assert!(auth.authenticator.authenticate(&none, &peer).await.is_err());
}

#[tokio::main(flavor = "current_thread")]
async fn no_connection_has_a_certificate_that_could_not_be_read_for_too_long() {
    let folder = tempfile::tempdir().unwrap();
    let (server, clients) = (Authority::new("servers"), Authority::new("clients"));
    let ca = write(folder.path(), "ca.crt", &clients.pem());
    let args =
        arguments(folder.path(), &server, vec![AuthenticationMethod::ClientCertificates(ca)]);
    let auth = start(&args, address()).await.unwrap();
    let acceptor = auth.tls.as_ref().unwrap();
    let issued = clients.issue("anna", &[], For::Client);
    let peer = connect(acceptor, &server, Some(&issued)).await.peer;
    let none = headers(&[]);
    let reload = || {
        let files = auth.files.iter();
        files.for_each(|file| file.reload(std::time::Duration::ZERO));
    };
    write(folder.path(), "ca.crt", "");
    reload();
    assert!(auth.authenticator.authenticate(&none, &peer).await.is_err());
    write(folder.path(), "ca.crt", &clients.pem());
    reload();
    assert!(auth.authenticator.authenticate(&none, &peer).await.is_ok());

    std::fs::rename(folder.path().join("tls.key"), folder.path().join("former")).unwrap();
    reload();
    let (near, far) = tokio::io::duplex(1 << 16);
    let hello = tokio::spawn(async move {
        let roots = rustls::RootCertStore::empty();
        let config = rustls::ClientConfig::builder().with_root_certificates(roots);
        let config = std::sync::Arc::new(config.with_no_client_auth());
        let name = rustls::pki_types::ServerName::try_from("server.test").unwrap();
        let connector = tokio_rustls::TlsConnector::from(config);
        connector.connect(name, near).await.is_ok()
    });
    assert!(acceptor.accept(far).await.is_err());
    assert!(!hello.await.unwrap());
    std::fs::rename(folder.path().join("former"), folder.path().join("tls.key")).unwrap();
    reload();
    connect(acceptor, &server, None).await;
}
