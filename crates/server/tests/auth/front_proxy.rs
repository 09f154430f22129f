//! The server trusts headers from the front proxy only: all combinations of certificate, name,
//! allowed names, header and other authenticators.

use krm_template_server_core::auth::{Args, AuthenticationMethod, start};

use crate::auth::support::{Authority, For, Issued, address, arguments, connect, headers, write};

tests!(
    headers_are_believed_from_the_front_proxy_alone,
    a_proxy_with_any_name_has_an_authority_of_its_own,
    takes_groups_uid_and_further_facts
);

/// The certificate of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Certificate {
    None,
    /// Signed by the authority for the proxy.
    Proxy,
    /// Signed by the authority for clients.
    Client,
    /// Signed by an untrusted authority with the name of the authority for the proxy.
    Impostor,
    /// Signed by the authority for the proxy, but expired.
    Expired,
    /// Signed by the authority for the proxy, but a server certificate.
    Server,
}

const CERTIFICATES: [Certificate; 6] = [
    Certificate::None,
    Certificate::Proxy,
    Certificate::Client,
    Certificate::Impostor,
    Certificate::Expired,
    Certificate::Server,
];

const NAMES: [&str; 3] = ["front-proxy-client", "someone", ""];

#[derive(Clone, Copy, Debug)]
struct Case<'a> {
    certificate: Certificate,
    name: &'a str,
    any_name: bool,
    has_clients: bool,
    header: Option<&'a str>,
    token: bool,
}

/// Returns the user according to the documentation.
fn expected(case: Case<'_>) -> Option<String> {
    let is_proxy = case.certificate == Certificate::Proxy
        && !case.name.is_empty()
        && (case.any_name || case.name == "front-proxy-client");
    match case.header {
        Some(user) if is_proxy && !user.is_empty() => return Some(user.to_owned()),
        _ => {}
    }
    if case.has_clients && case.certificate == Certificate::Client && !case.name.is_empty() {
        return Some(case.name.to_owned());
    }
    case.token.then(|| "token-user".to_owned())
}

struct Authorities {
    server: Authority,
    proxy: Authority,
    client: Authority,
    impostor: Authority,
}

impl Authorities {
    fn new() -> Self {
        Self {
            server: Authority::new("server CA"),
            proxy: Authority::new("proxy CA"),
            client: Authority::new("client CA"),
            impostor: Authority::new("proxy CA"),
        }
    }

    fn issue(&self, certificate: Certificate, name: &str) -> Option<Issued> {
        let (authority, purpose) = match certificate {
            Certificate::None => return None,
            Certificate::Proxy => (&self.proxy, For::Client),
            Certificate::Client => (&self.client, For::Client),
            Certificate::Impostor => (&self.impostor, For::Client),
            Certificate::Expired => (&self.proxy, For::FormerClient),
            Certificate::Server => (&self.proxy, For::Server),
        };
        Some(authority.issue(name, &["system:masters"], purpose))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn headers_are_believed_from_the_front_proxy_alone() {
    let folder = tempfile::tempdir().unwrap();
    let authorities = Authorities::new();
    let client_ca = write(folder.path(), "client.crt", &authorities.client.pem());
    let proxy_ca = write(folder.path(), "proxy.crt", &authorities.proxy.pem());
    let tokens = write(folder.path(), "tokens", "secret,token-user,1\n");
    // Authorization uses files, so no cluster is needed.
    let rbac = write(folder.path(), "rbac.yaml", "");
    for (any_name, has_clients) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut auth =
            vec![AuthenticationMethod::Tokens(tokens.clone()), AuthenticationMethod::FrontProxy];
        if has_clients {
            auth.insert(0, AuthenticationMethod::ClientCertificates(client_ca.clone()));
        }
        let names = if any_name { vec![] } else { vec!["front-proxy-client".to_owned()] };
        let args = Args {
            requestheader_client_ca_file: Some(proxy_ca.clone()),
            requestheader_allowed_names: names,
            rbac: Some(rbac.clone()),
            ..arguments(folder.path(), &authorities.server, auth)
        };
        let server = start(&args, address()).await.unwrap();
        for certificate in CERTIFICATES {
            for name in NAMES {
                let issued = authorities.issue(certificate, name);
                let acceptor = server.tls.as_ref().unwrap();
                let peer = connect(acceptor, &authorities.server, issued.as_ref()).await.peer;
                for header in [None, Some(""), Some("admin"), Some("system:anonymous")] {
                    for token in [false, true] {
                        let case = Case { certificate, name, any_name, has_clients, header, token };
                        let mut sent = vec![("x-remote-group", "system:masters")];
                        sent.extend(header.map(|user| ("x-remote-user", user)));
                        if token {
                            sent.push(("authorization", "Bearer secret"));
                        }
                        let user = server.authenticator.authenticate(&headers(&sent), &peer).await;
                        let found = user.as_ref().map(|user| user.name.clone());
                        assert_eq!(found.ok(), expected(case), "{case:?}");
                        if let Err(status) = user {
                            assert_eq!(status.code, 401, "{case:?}");
                        }
                    }
                }
            }
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn takes_groups_uid_and_further_facts() {
    let folder = tempfile::tempdir().unwrap();
    let authorities = Authorities::new();
    let proxy_ca = write(folder.path(), "proxy.crt", &authorities.proxy.pem());
    let args = Args {
        requestheader_client_ca_file: Some(proxy_ca),
        rbac: Some(write(folder.path(), "rbac.yaml", "")),
        ..arguments(folder.path(), &authorities.server, vec![AuthenticationMethod::FrontProxy])
    };
    let server = start(&args, address()).await.unwrap();
    let issued = authorities.issue(Certificate::Proxy, "any");
    let acceptor = server.tls.as_ref().unwrap();
    let peer = connect(acceptor, &authorities.server, issued.as_ref()).await.peer;
    let sent = headers(&[
        ("X-Remote-User", "eve"),
        ("X-Remote-Uid", "7"),
        ("X-Remote-Group", "devs"),
        ("X-Remote-Group", ""),
        ("X-Remote-Group", "ops, with a comma"),
        ("X-Remote-Extra-Scopes", "a"),
        ("X-Remote-Extra-Scopes", "b"),
        ("X-Remote-Extra-Example.com%2fKey", "c"),
        ("X-Remote-Other", "d"),
    ]);
    let user = server.authenticator.authenticate(&sent, &peer).await.unwrap();
    assert_eq!((user.name.as_str(), user.uid.as_str()), ("eve", "7"));
    assert_eq!(user.groups, ["devs", "ops, with a comma", "system:authenticated"]);
    let extra: Vec<(&str, Vec<&str>)> = user
        .extra
        .iter()
        .map(|(key, values)| (key.as_str(), values.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(extra, [("example.com/key", vec!["c"]), ("scopes", vec!["a", "b"])]);

    let anonymous = headers(&[
        ("x-remote-user", "system:anonymous"),
        ("x-remote-group", "system:unauthenticated"),
    ]);
    let user = server.authenticator.authenticate(&anonymous, &peer).await.unwrap();
    assert_eq!(user.groups, ["system:unauthenticated"]);
}

/// The owner of a certificate of the proxy's authority may name any user, so nobody else has one.
#[tokio::main(flavor = "current_thread")]
async fn a_proxy_with_any_name_has_an_authority_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let (server, proxy, other) =
        (Authority::new("server CA"), Authority::new("proxy CA"), Authority::new("other CA"));
    let (above, below) = (Authority::new("above"), proxy.below("below"));
    let middle = above.below("middle");
    let both = format!("{}{}", other.pem(), proxy.pem());
    // The authorities of the proxy, those of other clients, and whether they are distinct.
    let cases = [
        (proxy.pem(), other.pem(), true),
        (proxy.pem(), proxy.pem(), false),
        (proxy.pem(), both.clone(), false),
        (both, other.pem(), false),
        (proxy.pem(), proxy.renewed("proxy CA"), false),
        (proxy.pem(), proxy.renewed("with another name"), false),
        (proxy.pem(), below.pem(), false),
        (middle.pem(), above.pem(), false),
        (server.pem(), other.pem(), false),
    ];
    for (index, (of_proxy, of_clients, is_distinct)) in cases.into_iter().enumerate() {
        let start_with = async |names: &[&str], of_proxy: &str, of_clients: &str| {
            let clients = write(folder.path(), "client.crt", of_clients);
            let auth = vec![
                AuthenticationMethod::FrontProxy,
                AuthenticationMethod::ClientCertificates(clients),
            ];
            let args = Args {
                requestheader_client_ca_file: Some(write(folder.path(), "proxy.crt", of_proxy)),
                requestheader_allowed_names: names.iter().map(|&name| name.to_owned()).collect(),
                rbac: Some(write(folder.path(), "rbac.yaml", "")),
                ..arguments(folder.path(), &server, auth)
            };
            start(&args, address()).await
        };
        let started = start_with(&[], &of_proxy, &of_clients).await;
        match started {
            Ok(_) => assert!(is_distinct, "{index}"),
            Err(error) => {
                let text = format!("{error:#}");
                assert!(!is_distinct, "{index}: {text}");
                for part in ["--requestheader-client-ca-file: ", "--requestheader-allowed-names"] {
                    assert!(text.contains(part), "{index}: {text}");
                }
            }
        }
        let named = start_with(&["front-proxy-client"], &of_proxy, &of_clients).await;
        assert!(named.is_ok(), "{index}");
    }
    // A file that changes while the server runs is like one that cannot be read.
    let clients = write(folder.path(), "client.crt", &other.pem());
    let args = Args {
        requestheader_client_ca_file: Some(write(folder.path(), "proxy.crt", &proxy.pem())),
        rbac: Some(write(folder.path(), "rbac.yaml", "")),
        ..arguments(
            folder.path(),
            &server,
            vec![
                AuthenticationMethod::FrontProxy,
                AuthenticationMethod::ClientCertificates(clients),
            ],
        )
    };
    let auth = start(&args, address()).await.unwrap();
    let issued = proxy.issue("anna", &[], For::Client);
    let peer = connect(auth.tls.as_ref().unwrap(), &server, Some(&issued)).await.peer;
    let sent = headers(&[("x-remote-user", "root")]);
    let name = async || {
        let user = auth.authenticator.authenticate(&sent, &peer).await;
        user.ok().map(|user| user.name)
    };
    assert_eq!(name().await.as_deref(), Some("root"));
    write(folder.path(), "client.crt", &proxy.pem());
    for file in auth.files.iter() {
        file.reload(std::time::Duration::ZERO);
    }
    assert_eq!(name().await.as_deref(), Some("anna"));
}
