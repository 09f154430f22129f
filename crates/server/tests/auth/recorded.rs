//! Recorded responses of a real server to requests without credentials or permissions.

use std::path::Path;

use krm_template_server_core::auth::{Args, Auth, AuthenticationMethod, is_health, start};
use krm_template_server_core::{Attributes, Peer};
use serde_json::Value;

use crate::auth::support::{Authority, For, address, arguments, connect, headers, write};

tests!(
    impersonation_is_refused_also_to_those_who_may_do_everything,
    only_probes_need_no_rights;
    shared data: the_answers_are_those_of_a_real_server
);

/// Returns the attributes of a recorded request.
fn wanted<'a>(method: &str, path: &'a str) -> Attributes<'a> {
    let parts: Vec<&str> = path.split('/').collect();
    match (method, parts.as_slice()) {
        (_, ["", "apis", group, version, "namespaces", namespace, resource, rest @ ..]) => {
            let verb = match (method, rest) {
                ("POST", _) => "create",
                (_, []) => "list",
                _ => "get",
            };
            let name = rest.first().copied().unwrap_or_default();
            Attributes { verb, group, version, resource, namespace, name, ..Attributes::default() }
        }
        _ => Attributes { verb: "get", path: Some(path), ..Attributes::default() },
    }
}

async fn serve(folder: &Path, server: &Authority, clients: &Authority, proxy: &Authority) -> Auth {
    let ways = vec![
        AuthenticationMethod::ClientCertificates(write(folder, "clients.crt", &clients.pem())),
        AuthenticationMethod::FrontProxy,
        AuthenticationMethod::Tokens(write(folder, "tokens", "secret,anna,1\n")),
    ];
    let args = Args {
        requestheader_client_ca_file: Some(write(folder, "proxy.crt", &proxy.pem())),
        requestheader_allowed_names: vec!["fp".to_owned()],
        rbac: Some(write(folder, "rbac.yaml", "")),
        ..arguments(folder, server, ways)
    };
    start(&args, address()).await.unwrap()
}

/// Returns our response. Its body is empty if the request is allowed.
async fn answer(auth: &Auth, peer: &Peer, request: &Value) -> (u16, String) {
    let (method, path) = (request["method"].as_str().unwrap(), request["path"].as_str().unwrap());
    if is_health(path) {
        return (200, String::new());
    }
    let sent: Vec<(&str, &str)> = request["headers"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str().unwrap()))
        .collect();
    let result = match auth.authenticator.authenticate(&headers(&sent), peer).await {
        Ok(user) => auth.authorizer.authorize(&user, &wanted(method, path)).await,
        Err(status) => Err(status),
    };
    result.map_or_else(
        |status| (status.code, format!("{}\n", status.object())),
        |()| (200, String::new()),
    )
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::disallowed_methods, reason = "the test reads recorded files")]
async fn the_answers_are_those_of_a_real_server() {
    let folder = tempfile::tempdir().unwrap();
    let (server, clients, proxy) =
        (Authority::new("servers"), Authority::new("clients"), Authority::new("proxies"));
    let auth = serve(folder.path(), &server, &clients, &proxy).await;
    let shared = std::env::var_os("KRM_TEMPLATE_SHARED").unwrap();
    let exchanges = Path::new(&shared).join("corpus/template-api");
    // Without credentials there is no user here, so the code is 401, not 403 for
    // `system:anonymous`.
    let nobody = [
        "052-no-credentials",
        "059-discovery-no-credentials",
        "062-front-proxy-header-without-certificate",
    ];
    let same = [
        "053-bad-token",
        "054-not-allowed-list",
        "055-not-allowed-get",
        "056-not-allowed-create",
        "057-not-allowed-process",
        "058-not-allowed-path",
        "060-readyz-no-credentials",
        "061-healthz-no-credentials",
        "063-front-proxy-header-wrong-certificate",
        "064-front-proxy",
        "065-front-proxy-without-user",
        "066-front-proxy-other-user",
        "067-aggregated-not-allowed",
    ];
    for name in nobody.iter().chain(&same) {
        let text = std::fs::read_to_string(exchanges.join(format!("{name}.json"))).unwrap();
        let exchange: Value = serde_json::from_str(&text).unwrap();
        let (request, response) = (&exchange["request"], &exchange["response"]);
        let issued = match request["user"].as_str().unwrap() {
            "none" => None,
            "user" => Some(clients.issue("user", &[], For::Client)),
            "fp" => Some(proxy.issue("fp", &[], For::Client)),
            other => panic!("{name}: unknown user {other}"),
        };
        let peer = connect(auth.tls.as_ref().unwrap(), &server, issued.as_ref()).await.peer;
        let (code, body) = answer(&auth, &peer, request).await;
        if nobody.contains(name) {
            assert_eq!(code, 401, "{name}");
            continue;
        }
        assert_eq!(u64::from(code), response["status"].as_u64().unwrap(), "{name}");
        if code != 200 {
            assert_eq!(body, response["body"].as_str().unwrap(), "{name}");
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn impersonation_is_refused_also_to_those_who_may_do_everything() {
    let auth = start(&Args::default(), address()).await.unwrap();
    let peer = Peer::new(address());
    let host = ("Host", "127.0.0.1:40000");
    for header in
        ["Impersonate-User", "Impersonate-Group", "Impersonate-Uid", "Impersonate-Extra-A"]
    {
        let sent = headers(&[host, (header, "eve")]);
        let status = auth.authenticator.authenticate(&sent, &peer).await.unwrap_err();
        assert_eq!(status.code, 403, "{header}");
    }
    let sent = headers(&[host, ("Impersonate-User", "eve")]);
    let status = auth.authenticator.authenticate(&sent, &peer).await.unwrap_err();
    assert_eq!(
        status.message,
        "users \"eve\" is forbidden: User \"system:anonymous\" cannot impersonate resource \
         \"users\" in API group \"\" at the cluster scope: this server does not support \
         impersonation"
    );
    let user = auth.authenticator.authenticate(&headers(&[host]), &peer).await.unwrap();
    assert_eq!(
        (user.name.as_str(), &user.groups[..]),
        ("system:anonymous", &["system:unauthenticated".to_owned()][..])
    );
}

fn only_probes_need_no_rights() {
    let cases = [
        ("/healthz", true),
        ("/livez", true),
        ("/readyz", true),
        ("/readyz/store", true),
        ("/healthzz", false),
        ("/readyz2", false),
        ("/", false),
        ("/metrics", false),
        ("//healthz", false),
    ];
    for (path, expected) in cases {
        assert_eq!(is_health(path), expected, "{path}");
    }
}
