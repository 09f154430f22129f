//! `TokenReview`, `SubjectAccessReview` and the cluster's settings, against a fake cluster.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use krm_template_server_core::auth::{Args, AuthenticationMethod, Authorizer, Decision, start};
use krm_template_server_core::{Attributes, Peer, User, auth::cluster::Cluster, reload::ready};
use serde_json::{Value, json};

use crate::auth::support::{Authority, Fake, For, address, arguments, connect, headers};

tests!(
    tokens_are_reviewed_and_answers_remembered,
    no_token_is_logged_at_any_level,
    a_token_that_cannot_be_reviewed_is_no_credential,
    access_is_reviewed,
    answers_about_access_are_remembered,
    a_cluster_that_is_away_allows_nothing,
    settings_that_cannot_be_read_count_for_a_while,
    a_cluster_whose_clients_are_all_proxies_has_none,
    the_front_proxy_is_the_one_of_the_cluster
);

const NOW: Duration = Duration::ZERO;
const TOKEN_REVIEWS: &str = "/apis/authentication.k8s.io/v1/tokenreviews";
const ACCESS_REVIEWS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const SETTINGS: &str =
    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";

fn token_review(status: &Value) -> Value {
    json!({
        "kind": "TokenReview",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {},
        "spec": {"token": "left out"},
        "status": status,
    })
}

fn access_review(status: &Value) -> Value {
    json!({
        "kind": "SubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": {},
        "status": status,
    })
}

fn failure(code: u16) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
           "message": "no", "reason": "InternalError", "code": code})
}

/// Returns the cluster's response to a token.
fn to_token(token: &str) -> (u16, Value, Duration) {
    let answer = |status: Value| (201, token_review(&status), NOW);
    match token.trim_start_matches("canary-") {
        "good" => answer(json!({"authenticated": true, "user": {
            "username": "anna", "uid": "7", "groups": ["devs"], "extra": {"scopes": ["a", "b"]}}})),
        "bad" => answer(json!({"authenticated": false})),
        "unchecked" => answer(json!({"error": "the webhook is away"})),
        "nameless" => answer(json!({"authenticated": true, "user": {}})),
        "garbage" => (201, json!({"spec": {"token": token}, "status": [token]}), NOW),
        "forbidden" => (403, failure(403), NOW),
        "broken" => (500, json!({"message": token}), NOW),
        _ => (201, token_review(&json!({"authenticated": true})), Duration::from_secs(30)),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn tokens_are_reviewed_and_answers_remembered() {
    let fake = Fake::start(|path, body| {
        assert_eq!(path, TOKEN_REVIEWS);
        to_token(body["spec"]["token"].as_str().unwrap())
    })
    .await;
    let cluster = Cluster::new(fake.client(), Duration::from_millis(500));
    let user = cluster.user("good").await.unwrap().unwrap();
    assert_eq!((user.name.as_str(), user.uid.as_str()), ("anna", "7"));
    assert_eq!(user.groups, ["devs"]);
    assert_eq!(user.extra["scopes"], ["a", "b"]);
    assert_eq!(cluster.user("bad").await.unwrap(), None);
    assert_eq!(cluster.user("good").await.unwrap().unwrap(), user);
    assert_eq!(cluster.user("bad").await.unwrap(), None);
    assert_eq!(fake.asked().len(), 2, "each was asked once");
    assert_eq!(fake.asked()[0].1["spec"], json!({"token": "good"}));

    for token in ["unchecked", "nameless", "garbage", "forbidden", "broken", "slow"] {
        for _ in 0..2 {
            let error = format!("{:#}", cluster.user(token).await.unwrap_err());
            assert!(token == "forbidden" || !error.contains(token), "{error}");
        }
        let asked = fake.asked();
        let count = asked.iter().filter(|(_, body)| body["spec"]["token"] == token).count();
        assert!(count >= 2, "{token}: errors are not remembered");
    }
}

/// Collects log output.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn no_token_is_logged_at_any_level() {
    let folder = tempfile::tempdir().unwrap();
    let fake = Fake::start(|_, body| to_token(body["spec"]["token"].as_str().unwrap())).await;
    let args = Args {
        auth: vec![AuthenticationMethod::TokenReview],
        kubeconfig: Some(fake.kubeconfig(folder.path())),
        ..Args::default()
    };
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    // With a single subscriber, tracing asks that of the thread that first meets an event whether the
    // event is of interest, and threads of other tests have none.
    let _other = tracing::Dispatch::new(tracing_subscriber::registry());
    let guard = tracing::subscriber::set_default(subscriber);
    let auth = start(&args, address()).await.unwrap();
    let peer = Peer::new(address());
    for token in ["good", "bad", "unchecked", "nameless", "garbage", "forbidden", "broken"] {
        let sent = headers(&[("authorization", &format!("Bearer canary-{token}"))]);
        let user = auth.authenticator.authenticate(&sent, &peer).await;
        assert_eq!(user.is_ok(), token == "good", "{token}");
    }
    drop(guard);
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("cannot review a token"), "{log}");
    assert!(!log.contains("canary"), "{log}");
}

#[tokio::main(flavor = "current_thread")]
async fn a_token_that_cannot_be_reviewed_is_no_credential() {
    let folder = tempfile::tempdir().unwrap();
    let fake = Fake::start(|_, body| to_token(body["spec"]["token"].as_str().unwrap())).await;
    let args = Args {
        auth: vec![AuthenticationMethod::TokenReview],
        kubeconfig: Some(fake.kubeconfig(folder.path())),
        ..Args::default()
    };
    let auth = start(&args, address()).await.unwrap();
    assert!(auth.authorizer.is_delegated());
    let peer = Peer::new(address());
    for (token, is_known) in [("good", true), ("bad", false), ("broken", false), ("garbage", false)]
    {
        let sent = headers(&[("authorization", &format!("Bearer {token}"))]);
        match auth.authenticator.authenticate(&sent, &peer).await {
            Ok(user) => {
                assert!(is_known, "{token}");
                assert_eq!(user.groups, ["devs", "system:authenticated"]);
            }
            Err(status) => {
                assert!(!is_known, "{token}");
                assert_eq!((status.code, status.message.as_str()), (401, "Unauthorized"));
            }
        }
    }
}

fn anna() -> User {
    User {
        name: "anna".to_owned(),
        uid: "7".to_owned(),
        groups: vec!["devs".to_owned()],
        extra: [("scopes".to_owned(), vec!["a".to_owned()])].into(),
    }
}

fn wanted(verb: &str) -> Attributes<'_> {
    Attributes {
        verb,
        group: "template.krm.dev",
        version: "v1alpha1",
        resource: "templates",
        subresource: "processed",
        namespace: "shop",
        name: "web",
        path: None,
    }
}

/// Starts a cluster whose response depends on the verb.
async fn by_verb() -> Fake {
    Fake::start(|path, body| {
        assert_eq!(path, ACCESS_REVIEWS);
        let attributes = &body["spec"]["resourceAttributes"];
        match attributes["verb"].as_str() {
            Some("get") | None => (201, access_review(&json!({"allowed": true})), NOW),
            Some("list") => (201, access_review(&json!({"allowed": false, "reason": "no!"})), NOW),
            Some("patch") => (201, access_review(&json!({"allowed": true, "denied": true})), NOW),
            Some("update") => (500, failure(500), NOW),
            Some("watch") => (201, json!({}), NOW),
            Some(_) => (201, access_review(&json!({"allowed": true})), Duration::from_secs(30)),
        }
    })
    .await
}

#[tokio::main(flavor = "current_thread")]
async fn access_is_reviewed() {
    let fake = by_verb().await;
    let cluster = Arc::new(Cluster::new(fake.client(), Duration::from_millis(500)));
    let authorizer = Authorizer::Cluster(Arc::clone(&cluster));
    let text = "templates.template.krm.dev \"web\" is forbidden: User \"anna\" cannot VERB resource \
                \"templates/processed\" in API group \"template.krm.dev\" in the namespace \"shop\"";
    let away = ": the cluster is unavailable";
    let cases = [
        ("get", None),
        ("list", Some(": no!")),
        ("patch", Some("")),
        ("update", Some(away)),
        ("watch", Some(away)),
        ("delete", Some(away)),
    ];
    for (verb, refusal) in cases {
        let result = authorizer.authorize(&anna(), &wanted(verb)).await;
        let message = result.as_ref().err().map(|status| (status.code, status.message.clone()));
        let expected = refusal.map(|reason| (403, text.replace("VERB", verb) + reason));
        assert_eq!(message, expected);
    }
    assert_eq!(
        fake.asked()[0].1["spec"],
        json!({
            "user": "anna",
            "uid": "7",
            "groups": ["devs"],
            "extra": {"scopes": ["a"]},
            "resourceAttributes": {
                "verb": "get",
                "group": "template.krm.dev",
                "version": "v1alpha1",
                "resource": "templates",
                "subresource": "processed",
                "namespace": "shop",
                "name": "web",
            },
        })
    );
    let path = Attributes { verb: "get", path: Some("/metrics"), ..Attributes::default() };
    authorizer.authorize(&anna(), &path).await.unwrap();
    let asked = fake.asked();
    let (_, last) = asked.last().unwrap();
    assert_eq!(last["spec"]["nonResourceAttributes"], json!({"path": "/metrics", "verb": "get"}));
    assert_eq!(last["spec"].get("resourceAttributes"), None);
}

#[tokio::main(flavor = "current_thread")]
async fn answers_about_access_are_remembered() {
    let fake = by_verb().await;
    let cluster = Arc::new(Cluster::new(fake.client(), Duration::from_millis(500)));
    let authorizer = Authorizer::Cluster(Arc::clone(&cluster));
    for verb in ["get", "list"] {
        cluster.decide(&anna(), &wanted(verb)).await.unwrap();
    }
    let count = fake.asked().len();
    let allowed = Decision { allowed: true, reason: String::new() };
    assert_eq!(cluster.decide(&anna(), &wanted("get")).await.unwrap(), allowed);
    assert!(!cluster.decide(&anna(), &wanted("list")).await.unwrap().allowed);
    let master = User { groups: vec!["system:masters".to_owned()], ..anna() };
    authorizer.authorize(&master, &wanted("list")).await.unwrap();
    assert_eq!(fake.asked().len(), count, "these answers were known");
    let other = User { uid: "8".to_owned(), ..anna() };
    cluster.decide(&other, &wanted("get")).await.unwrap();
    assert_eq!(fake.asked().len(), count + 1, "another user has answers of their own");
}

#[tokio::main(flavor = "current_thread")]
async fn a_cluster_that_is_away_allows_nothing() {
    let gone = kube::Config::new("http://127.0.0.1:1".parse().unwrap());
    let client = kube::Client::try_from(gone).unwrap();
    let cluster = Arc::new(Cluster::new(client, Duration::from_millis(500)));
    let authorizer = Authorizer::Cluster(cluster);
    let status = authorizer.authorize(&anna(), &wanted("get")).await.unwrap_err();
    assert_eq!(status.code, 403);
}

/// Returns the ConfigMap with a cluster's settings.
fn settings(clients: &Authority, proxy: &Authority) -> Value {
    json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {}, "data": {
        "client-ca-file": clients.pem(),
        "requestheader-client-ca-file": proxy.pem(),
        "requestheader-allowed-names": "[\"front-proxy-client\"]",
        "requestheader-username-headers": "[\"X-Remote-User\"]",
        "requestheader-group-headers": "[\"X-Remote-Group\"]",
        "requestheader-extra-headers-prefix": "[\"X-Remote-Extra-\"]",
    }})
}

/// Starts a cluster that has its settings once `is_there` is set.
async fn with_settings(settings: Value, is_there: Arc<AtomicBool>) -> Fake {
    Fake::start(move |path, _| {
        assert_eq!(path, SETTINGS);
        if is_there.load(Ordering::SeqCst) {
            (200, settings.clone(), NOW)
        } else {
            (404, failure(404), NOW)
        }
    })
    .await
}

#[tokio::main(flavor = "current_thread")]
async fn the_front_proxy_is_the_one_of_the_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let (server, proxy, clients) =
        (Authority::new("servers"), Authority::new("proxies"), Authority::new("clients"));
    let is_there = Arc::new(AtomicBool::new(false));
    let fake = with_settings(settings(&clients, &proxy), Arc::clone(&is_there)).await;
    let args = Args {
        kubeconfig: Some(fake.kubeconfig(folder.path())),
        ..arguments(folder.path(), &server, vec![AuthenticationMethod::FrontProxy])
    };
    let auth = start(&args, address()).await.unwrap();
    let acceptor = auth.tls.as_ref().unwrap();
    let issued = proxy.issue("front-proxy-client", &[], For::Client);
    let peer = connect(acceptor, &server, Some(&issued)).await.peer;
    let sent = headers(&[("x-remote-user", "eve"), ("x-remote-uid", "7")]);
    assert!(auth.authenticator.ready().is_err());
    assert_eq!(auth.authenticator.authenticate(&sent, &peer).await.unwrap_err().code, 401);

    is_there.store(true, Ordering::SeqCst);
    let ready = async {
        while auth.authenticator.ready().is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ready).await.unwrap();
    let user = auth.authenticator.authenticate(&sent, &peer).await.unwrap();
    assert_eq!((user.name.as_str(), user.uid.as_str()), ("eve", ""), "no header has the uid");
    let others = [
        (proxy.issue("someone", &[], For::Client), None),
        (clients.issue("front-proxy-client", &[], For::Client), Some("front-proxy-client")),
    ];
    for (issued, expected) in others {
        let peer = connect(acceptor, &server, Some(&issued)).await.peer;
        let user = auth.authenticator.authenticate(&sent, &peer).await.ok();
        assert_eq!(user.map(|user| user.name).as_deref(), expected);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn settings_that_cannot_be_read_count_for_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let (server, proxy, clients) =
        (Authority::new("servers"), Authority::new("proxies"), Authority::new("clients"));
    let is_there = Arc::new(AtomicBool::new(true));
    let fake = with_settings(settings(&clients, &proxy), Arc::clone(&is_there)).await;
    let args = Args {
        kubeconfig: Some(fake.kubeconfig(folder.path())),
        ..arguments(folder.path(), &server, vec![AuthenticationMethod::FrontProxy])
    };
    let auth = start(&args, address()).await.unwrap();
    let issued = proxy.issue("front-proxy-client", &[], For::Client);
    let peer = connect(auth.tls.as_ref().unwrap(), &server, Some(&issued)).await.peer;
    let sent = headers(&[("x-remote-user", "eve")]);
    let is_user = async || auth.authenticator.authenticate(&sent, &peer).await.is_ok();
    let until = async |is_ready: bool| {
        let reached = async {
            while ready(&auth.files).is_ok() != is_ready {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), reached).await.unwrap();
    };
    let reload = |grace| auth.files.iter().for_each(|file| file.reload(grace));
    until(true).await;
    is_there.store(false, Ordering::SeqCst);
    until(false).await;
    let failed = "the files of --auth front-proxy cannot be used";
    assert_eq!(ready(&auth.files).unwrap_err(), failed);
    reload(Duration::from_hours(1));
    assert!(is_user().await);
    reload(Duration::ZERO);
    assert!(!is_user().await && auth.authenticator.ready().is_err());
    is_there.store(true, Ordering::SeqCst);
    until(true).await;
    assert!(is_user().await && auth.authenticator.ready().is_ok());
}

#[tokio::main(flavor = "current_thread")]
async fn a_cluster_whose_clients_are_all_proxies_has_none() {
    let (server, all) = (Authority::new("servers"), Authority::new("all"));
    for (names, is_proxy) in [("[]", false), ("", false), ("[\"front-proxy-client\"]", true)] {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = settings(&all, &all);
        settings["data"]["requestheader-allowed-names"] = json!(names);
        let fake = with_settings(settings, Arc::new(AtomicBool::new(true))).await;
        let args = Args {
            kubeconfig: Some(fake.kubeconfig(folder.path())),
            ..arguments(folder.path(), &server, vec![AuthenticationMethod::FrontProxy])
        };
        let auth = start(&args, address()).await.unwrap();
        let issued = all.issue("front-proxy-client", &[], For::Client);
        let peer = connect(auth.tls.as_ref().unwrap(), &server, Some(&issued)).await.peer;
        let sent = headers(&[("x-remote-user", "root")]);
        let user = auth.authenticator.authenticate(&sent, &peer).await;
        assert_eq!(user.is_ok(), is_proxy, "{names}");
        assert_eq!(ready(&auth.files).is_ok(), is_proxy, "{names}");
    }
}
