//! A server without a socket, and requests of a browser.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use clap::Parser;
use http::header::{CONTENT_TYPE, HeaderMap};
use http::{HeaderValue, Request};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, StreamBody};
use krm_template_server::{App, Documents, State};
use krm_template_server_core::auth::{self, Args, AuthenticationMethod};
use krm_template_server_core::telemetry::audit::{self, Audit};
use krm_template_server_core::{
    Admission, Limits, Measured, Metrics, Peer, Store, aggregation::Aggregation,
    flow_control::shutdown, reload::Reload,
};
use krm_template_server_deployments::{Args as DeploymentArgs, Dependencies, Deployments};

use crate::crlf;

/// The token of the user `ada`, who has full access with only `--auth tokens`.
pub(crate) const TOKEN: &str = "secret-token-of-ada";

/// The token of an administrator.
pub(crate) const ADMIN: &str = "secret-token-of-root";

/// The option of a server behind a kube-apiserver. `=` and a kubeconfig may follow.
pub(crate) const AGGREGATED: &str = "aggregated";

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    shutdown: shutdown::Args,
    #[command(flatten)]
    deployments: DeploymentArgs,
}

/// A server.
pub(crate) struct Site {
    app: App,
    folder: tempfile::TempDir,
    files: Arc<[Arc<dyn Reload>]>,
}

/// A response.
pub(crate) struct Page {
    pub(crate) code: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Page {
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.text).unwrap()
    }
}

impl Site {
    /// Returns a server where everyone has full access.
    pub(crate) async fn open() -> Self {
        Self::with(|_| Args::default(), &[]).await
    }

    /// Returns a server with users.
    pub(crate) async fn with_login() -> Self {
        Self::with_login_and(&[]).await
    }

    pub(crate) async fn with_login_and(options: &[&str]) -> Self {
        let args = |folder: &std::path::Path| {
            let tokens = folder.join("tokens.csv");
            std::fs::write(&tokens, format!("{TOKEN},ada,1,\"admins\"\n")).unwrap();
            Args { auth: vec![AuthenticationMethod::Tokens(tokens)], ..Args::default() }
        };
        Self::with(args, options).await
    }

    /// Returns a server whose user has the permissions in `rights`.
    pub(crate) async fn with_rights(rights: &str) -> Self {
        let args = |folder: &std::path::Path| {
            let tokens = folder.join("tokens.csv");
            let users = format!("{TOKEN},ada,1\n{ADMIN},root,2,system:masters\n");
            std::fs::write(&tokens, users).unwrap();
            let rbac: PathBuf = folder.join("rbac.yaml");
            std::fs::write(&rbac, rights).unwrap();
            Args {
                auth: vec![AuthenticationMethod::Tokens(tokens)],
                rbac: Some(rbac),
                ..Args::default()
            }
        };
        Self::with(args, &[]).await
    }

    pub(crate) async fn with(
        args: impl FnOnce(&std::path::Path) -> Args,
        options: &[&str],
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listen: SocketAddr = "127.0.0.1:8080".parse().unwrap();
        let auth = auth::start(&args(folder.path()), listen).await.unwrap();
        let is_aggregated = options.iter().any(|option| option.starts_with(AGGREGATED));
        let kubeconfig = options.iter().find_map(|option| option.strip_prefix("aggregated="));
        let aggregation = match kubeconfig {
            Some(path) => Some(Aggregation::start(Some(path.as_ref())).await.unwrap()),
            None => None,
        };
        let others = options.iter().filter(|option| !option.starts_with(AGGREGATED));
        let program = Program::parse_from([&"server"].into_iter().chain(others));
        let admission = Admission::new(&program.limits);
        let metrics = Arc::new(Metrics::new(admission.clone(), "0.1.0", ""));
        let file = audit::Args { audit: Some(folder.path().join("audit.log")) };
        let (shutdown, _) = shutdown::listen(program.shutdown).unwrap();
        let store = Arc::new(Measured::new(Store::memory(), Arc::clone(&metrics)));
        let deployments = Arc::new(Deployments::new(Dependencies {
            store: Arc::clone(&store),
            limits: program.limits.clone(),
            admission: admission.clone(),
            metrics: Arc::clone(&metrics),
            python: program.deployments.interpreters(program.limits.expansion_timeout),
            fetcher: None,
            cluster: None,
        }));
        let app = App::new(State {
            store,
            deployments,
            cluster: None,
            authenticator: auth.authenticator,
            files: Arc::clone(&auth.files),
            authorizer: auth.authorizer,
            limits: program.limits,
            admission,
            audit: Audit::start(&file, Arc::clone(&metrics)).unwrap(),
            metrics,
            shutdown,
            is_standalone: !is_aggregated,
            is_aggregated,
            aggregation,
            documents: Documents::new(true),
        });
        let files = auth.files;
        Self { app, folder, files }
    }

    /// Replaces the file of tokens.
    pub(crate) fn set_tokens(&self, csv: &str) {
        std::fs::write(self.folder.path().join("tokens.csv"), csv).unwrap();
        self.files.iter().for_each(|file| file.reload(std::time::Duration::MAX));
    }

    /// Returns the audit log.
    pub(crate) fn audit(&self) -> String {
        self.app.state().audit.end();
        std::fs::read_to_string(self.folder.path().join("audit.log")).unwrap()
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Page {
        let mut request = Request::builder().method(method).uri(target);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", "localhost:8080");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = crlf::sent_body(headers, body.as_bytes()).into_owned();
        let body = Full::new(Bytes::from(body));
        let peer = Arc::new(Peer::new("127.0.0.1:40000".parse().unwrap()));
        let answer = self.app.answer(request.body(body).unwrap(), &peer);
        let answer = Box::pin(answer).await;
        let (parts, body) = answer.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Page {
            code: parts.status.as_u16(),
            headers: parts.headers,
            text: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    /// Sends a form whose body never ends.
    pub(crate) async fn begin(&self, target: &str) {
        let silent = futures_util::stream::pending::<Result<Frame<Bytes>, Infallible>>();
        let request = Request::post(target)
            .header("host", "localhost:8080")
            .header("sec-fetch-site", "same-origin")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(StreamBody::new(silent));
        let peer = Arc::new(Peer::new("127.0.0.1:40000".parse().unwrap()));
        let answer = self.app.answer(request.unwrap(), &peer);
        Box::pin(answer).await;
    }

    pub(crate) async fn get(&self, target: &str) -> Page {
        self.send("GET", target, &[], "").await
    }

    /// Sends a form like a browser.
    pub(crate) async fn post(&self, target: &str, fields: &[(&str, &str)]) -> Page {
        self.post_with(target, &[], fields).await
    }

    pub(crate) async fn post_with(
        &self,
        target: &str,
        headers: &[(&str, &str)],
        fields: &[(&str, &str)],
    ) -> Page {
        let all = [
            &[
                (CONTENT_TYPE.as_str(), "application/x-www-form-urlencoded"),
                ("sec-fetch-site", "same-origin"),
            ],
            headers,
        ]
        .concat();
        self.send("POST", target, &all, &urlencoded(fields)).await
    }

    /// Replaces an item in the store.
    pub(crate) async fn replace(&self, key: &str, value: &serde_json::Value) {
        let store = &self.app.state().store;
        let known = store.get(key).await.unwrap().unwrap();
        let bytes = serde_json::to_vec(value).unwrap();
        store.update(key, bytes.into(), known.revision).await.unwrap();
    }

    /// Sends a form with files like a browser.
    pub(crate) async fn post_parts(
        &self,
        target: &str,
        headers: &[(&str, &str)],
        parts: &[Part<'_>],
    ) -> Page {
        let all = [
            &[
                ("content-type", "multipart/form-data; boundary=limit"),
                ("sec-fetch-site", "same-origin"),
            ],
            headers,
        ]
        .concat();
        self.send("POST", target, &all, &multipart(parts)).await
    }

    /// Stores a Template with the API.
    pub(crate) async fn store(&self, path: &str, yaml: &str) {
        let headers =
            [("content-type", "application/yaml"), ("authorization", &format!("Bearer {TOKEN}"))];
        let page = self.send("POST", path, &headers, yaml).await;
        assert_eq!(page.code, 201, "{}", page.text);
    }
}

/// A part of a form: its name, its file name if it is a file, and its content.
pub(crate) type Part<'p> = (&'p str, Option<&'p str>, &'p str);

fn multipart(parts: &[Part<'_>]) -> String {
    let parts = parts.iter().map(|(name, file, content)| {
        let content = match file {
            Some(_) => crlf::sent(content),
            None => (*content).into(),
        };
        let file = file.map(|file| format!("; filename=\"{file}\"")).unwrap_or_default();
        format!(
            "--limit\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{content}\r\n"
        )
    });
    let body = parts.collect::<Vec<_>>().concat();
    body + "--limit--\r\n"
}

/// Decodes the character references of HTML.
pub(crate) fn unescaped(html: &str) -> String {
    let mut text = html.to_owned();
    for (code, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&#x2f;", "/"),
        ("&amp;", "&"),
    ] {
        text = text.replace(code, character);
    }
    text
}

/// Returns the hidden fields of a page, as a browser sends them.
pub(crate) fn hidden_texts(page: &Page) -> Vec<(String, String)> {
    let parts = page.text.split("<textarea name=\"").skip(1);
    let hidden = parts.filter_map(|part| {
        let (name, rest) = part.split_once("\" hidden")?;
        let (_, rest) = rest.split_once(">\n")?;
        let (text, _) = rest.split_once("</textarea>")?;
        Some((unescaped(name), unescaped(text).replace('\n', "\r\n")))
    });
    hidden.collect()
}

/// Encodes the fields of a form as a body.
pub(crate) fn urlencoded(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// Returns the cookie that a response sets, as a browser sends it back.
pub(crate) fn cookie(page: &Page) -> String {
    let set = page.headers.get("set-cookie").map(HeaderValue::to_str);
    let set = set.expect("a cookie").unwrap();
    set.split(';').next().unwrap().to_owned()
}

/// The name of the cookie header.
pub(crate) const COOKIES: &str = "cookie";
