//! Requests to the server, with the client's credentials.

use std::path::Path;

use anyhow::{Context as _, bail};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Limited};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::args::{Output, To};

/// The server without arguments.
const DEFAULT_SERVER: &str = "http://127.0.0.1:8080";

/// The maximum size of a response in bytes.
const MAX_BYTES: usize = 64 << 20;

/// A connection to a server.
pub(super) struct Connection {
    client: Client,
    namespace: String,
}

/// A response of the server.
pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) body: Vec<u8>,
    pub(super) warnings: Vec<String>,
}

impl Connection {
    /// Creates a connection from the arguments.
    pub(super) async fn new(to: &To, namespace: &str) -> anyhow::Result<Self> {
        let kubeconfig = kubeconfig(to)?;
        let given = kubeconfig.clusters.first();
        let given = given.and_then(|named| named.cluster.as_ref()?.server.clone());
        let about = || format!("cannot use the server {}", given.as_deref().unwrap_or_default());
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .with_context(about)?;
        Ok(Self {
            client: Client::try_from(config).with_context(about)?,
            namespace: namespace.to_owned(),
        })
    }

    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: Vec<u8>,
        output: Output,
    ) -> anyhow::Result<Answer> {
        let mut target = format!("{path}?namespace={}", encoded(&self.namespace));
        for (name, value) in query {
            target += "&";
            target += name;
            target += "=";
            target += &encoded(value);
        }
        self.exchange(method, &target, body, output).await
    }

    /// Returns the path of the objects of a resource of our group in the namespace, or of one object.
    pub(super) fn resource(&self, resource: &str, name: &str) -> String {
        let namespace = encoded(&self.namespace);
        let all = format!("/apis/template.krm.dev/v1alpha1/namespaces/{namespace}/{resource}");
        match name {
            "" => all,
            name => format!("{all}/{}", encoded(name)),
        }
    }

    /// Sends a request to a path with its query.
    pub(super) async fn exchange(
        &self,
        method: Method,
        target: &str,
        body: Vec<u8>,
        output: Output,
    ) -> anyhow::Result<Answer> {
        let accept = match output {
            Output::Json => "application/json",
            Output::Yaml => "application/yaml",
        };
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header(ACCEPT, accept)
            .header(CONTENT_TYPE, "application/json")
            .body(Body::from(body))?;
        let response = self.client.send(request).await;
        let response = response.context("the server cannot be reached")?;
        let code = response.status().as_u16();
        let warnings = response.headers().get_all("warning").iter();
        let warnings = warnings.filter_map(|value| std::str::from_utf8(value.as_bytes()).ok());
        let warnings = warnings.map(unquoted).collect();
        let body = Limited::new(response.into_body(), MAX_BYTES).collect().await;
        let Ok(body) = body else {
            bail!("the server's answer breaks off or is too large");
        };
        Ok(Answer { code, body: body.to_bytes().to_vec(), warnings })
    }

    /// Sends a GET request, and parses the JSON of the response.
    pub(super) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        let answer = self.send(Method::GET, path, &[], Vec::new(), Output::Json).await?;
        answer.accepted()?.json()
    }
}

/// Returns a kubeconfig with one cluster and one user: of the arguments, and of the current context
/// of the kubeconfig that they name.
fn kubeconfig(to: &To) -> anyhow::Result<Kubeconfig> {
    let (mut cluster, mut user) = match &to.kubeconfig {
        Some(path) => {
            let about = || format!("cannot use the kubeconfig {}", path.display());
            current(path).with_context(about)?
        }
        None => (server_of(DEFAULT_SERVER), json!({})),
    };
    if let Some(server) = &to.server {
        // The other fields of the cluster are about the server that it names.
        cluster = server_of(server.trim_end_matches('/'));
    }
    let authority = to.certificate_authority.as_deref();
    if let Some(authority) = authority {
        cluster.remove("certificate-authority-data");
        cluster.insert("certificate-authority".to_owned(), json!(authority));
    }
    if to.insecure_skip_tls_verify {
        cluster.insert("insecure-skip-tls-verify".to_owned(), json!(true));
    }
    if to.token.is_some() || to.client_certificate.is_some() {
        user = json!({
            "token": to.token,
            "client-certificate": to.client_certificate,
            "client-key": to.client_key,
        });
    }
    let config = json!({
        "current-context": "server",
        "clusters": [{"name": "server", "cluster": cluster}],
        "users": [{"name": "user", "user": user}],
        "contexts": [{"name": "server", "context": {"cluster": "server", "user": "user"}}],
    });
    Ok(serde_json::from_value(config)?)
}

/// Returns a cluster with only a server.
fn server_of(server: &str) -> Map<String, Value> {
    Map::from_iter([("server".to_owned(), json!(server))])
}

/// Returns the cluster and the user of the current context of a kubeconfig.
fn current(path: &Path) -> anyhow::Result<(Map<String, Value>, Value)> {
    // It makes the paths of its files absolute.
    let config = serde_json::to_value(Kubeconfig::read_from(path)?)?;
    let name = config.get("current-context").and_then(Value::as_str);
    let name = name.context("it has no current context")?;
    let named = |list: &str, name: &str, field: &str| {
        let mut items = config.get(list)?.as_array()?.iter();
        let item = items.find(|item| item.get("name").and_then(Value::as_str) == Some(name))?;
        item.get(field).cloned()
    };
    let context = named("contexts", name, "context");
    let context = context.with_context(|| format!("it has no context {name:?}"))?;
    let part = |key: &str, list: &str| {
        let name = context.get(key).and_then(Value::as_str).unwrap_or_default();
        named(list, name, key).with_context(|| format!("it has no {key} {name:?}"))
    };
    let Value::Object(cluster) = part("cluster", "clusters")? else {
        bail!("the cluster of its current context has no fields");
    };
    Ok((cluster, part("user", "users")?))
}

impl Answer {
    /// Returns the response, or its error if the status code is not 2xx.
    pub(super) fn accepted(self) -> anyhow::Result<Self> {
        if (200..300).contains(&self.code) {
            return Ok(self);
        }
        let status: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        bail!("{}", refusal(&status, self.code))
    }

    /// Parses the body as JSON.
    pub(super) fn json(&self) -> anyhow::Result<Value> {
        serde_json::from_slice(&self.body).context("the server's answer is not JSON")
    }
}

/// Returns the message of a `Status`, followed by each cause on its own line.
pub(super) fn refusal(status: &Value, code: u16) -> String {
    let message = status.get("message").and_then(Value::as_str);
    let mut text = match message {
        Some(message) => message.trim_end().to_owned(),
        None => format!("the server returned the code {code}"),
    };
    let causes = status.pointer("/details/causes").and_then(Value::as_array);
    for cause in causes.into_iter().flatten() {
        if let Some(message) = cause.get("message").and_then(Value::as_str) {
            text += "\n  ";
            text += message;
        }
    }
    text
}

/// Returns the text of a `Warning` header, such as `299 - "TEXT"`.
fn unquoted(warning: &str) -> String {
    let text = warning.split_once('"').map_or(warning, |(_, text)| text);
    let text = text.strip_suffix('"').unwrap_or(text);
    let (mut plain, mut is_escaped) = (String::new(), false);
    for c in text.chars() {
        if c == '\\' && !is_escaped {
            is_escaped = true;
        } else {
            plain.push(c);
            is_escaped = false;
        }
    }
    plain
}

/// Percent-encodes text for a path segment or a query.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_a_line_for_each_cause() {
        let status =
            json!({"message": "no", "details": {"causes": [{"message": "a"}, {"message": "b"}]}});
        assert_eq!(refusal(&status, 400), "no\n  a\n  b");
        assert_eq!(refusal(&Value::Null, 502), "the server returned the code 502");
    }

    #[test]
    fn a_warning_is_read_without_its_quotes() {
        assert_eq!(unquoted(r#"299 - "a \"b\" \\ c""#), r#"a "b" \ c"#);
    }
}
