//! Replays the recorded requests in order, with the unrecorded requests between them.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use http::HeaderMap;
use libtest_mimic::Failed;
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;

use crate::exchanges::client::{Answer, Sent, begin, finish, send};
use crate::exchanges::comparison::{differences, faults, yaml};
use crate::exchanges::known::Known;
use crate::exchanges::listed::{Listed, Outcome};
use crate::exchanges::program::token;
use crate::exchanges::recording::{Binding, Exchange};

const OPENSHIFT: &str = "/apis/template.openshift.io/v1/namespaces";

/// Recorded exchanges that were made one after the other.
pub(crate) struct Corpus {
    /// The folder in the shared data.
    pub(crate) folder: &'static str,
    /// The list of differences, in `tests/template-api`.
    pub(crate) differences: &'static str,
    /// The report, in `target`.
    pub(crate) report: &'static str,
    resource: &'static str,
    /// Watches during which objects were changed.
    beside: std::ops::RangeInclusive<u32>,
}

pub(crate) const TEMPLATES: Corpus = Corpus {
    folder: "corpus/template-api",
    differences: "differences.txt",
    report: "template-api-report.txt",
    resource: "prod/templates",
    beside: 325..=331,
};

pub(crate) const INSTANCES: Corpus = Corpus {
    folder: "corpus/template-instances/api",
    differences: "instances.txt",
    report: "template-instances-report.txt",
    resource: "shop/templateinstances",
    beside: 133..=134,
};

const THE_OBJECT: &str = "the object at this moment";

/// Sends all requests in order and compares the responses. Reads that take seconds run concurrently
/// with the following requests, until the next request that changes an object.
pub(crate) async fn run(
    corpus: &Corpus,
    recorded: &[Exchange],
    listed: &Listed,
    address: SocketAddr,
) -> Result<Vec<Outcome>, Failed> {
    let mut replay = Replay {
        corpus,
        address,
        known: Known::default(),
        answers: BTreeMap::new(),
        recorded: BTreeMap::new(),
    };
    let mut outcomes = Vec::new();
    let mut slow: Vec<(&Exchange, JoinHandle<Answer>)> = Vec::new();
    for exchange in recorded {
        if exchange.changes() || corpus.beside.contains(&exchange.number()) {
            for (exchange, answer) in slow.drain(..) {
                outcomes.push(replay.outcome(exchange, answer.await?));
            }
        }
        replay.unrecorded(exchange.number()).await?;
        if listed.is_unsent(exchange.number()) {
            outcomes.push(Outcome::unsent(exchange));
            continue;
        }
        let sent = replay.request(exchange).await;
        if corpus.beside.contains(&exchange.number()) {
            let answer = replay.with_changes_beside(sent).await;
            outcomes.push(replay.outcome(exchange, answer));
        } else if exchange.is_watch() || exchange.response.status == 504 {
            slow.push((exchange, tokio::spawn(send(address, sent))));
        } else {
            let answer = send(address, sent).await;
            outcomes.push(replay.outcome(exchange, answer));
        }
    }
    for (exchange, answer) in slow {
        outcomes.push(replay.outcome(exchange, answer.await?));
    }
    outcomes.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(outcomes)
}

struct Replay<'c> {
    corpus: &'c Corpus,
    address: SocketAddr,
    known: Known,
    answers: BTreeMap<String, (HeaderMap, Option<Value>)>,
    /// Recorded objects by uid and revision.
    recorded: BTreeMap<(String, String), Value>,
}

impl Replay<'_> {
    fn outcome(&mut self, exchange: &Exchange, answer: Answer) -> Outcome {
        let different = differences(exchange, &answer, &mut self.known);
        let request = &exchange.request;
        let faults = faults(&request.method, &request.path, &answer);
        self.recorded.extend(exchange.objects());
        if let (Some(recorded), [own, ..]) =
            (exchange.response.headers.get("Etag"), answer.header("Etag").as_slice())
            && let [recorded, ..] = recorded.to_vec().as_slice()
        {
            // A second tag for the same document is reported as a difference of the document.
            let _ = self.known.learn_id(recorded, own);
        }
        let json = answer.json();
        let status = answer.status;
        self.answers.insert(exchange.file.clone(), (answer.headers, json));
        Outcome::new(exchange, status, different, faults)
    }

    /// Returns the recorded request with our values.
    async fn request(&mut self, exchange: &Exchange) -> Sent {
        let recorded = &exchange.request;
        let mut sent = Sent {
            method: recorded.method.clone(),
            path: recorded.path.clone(),
            headers: headers(&recorded.user, &recorded.headers),
            body: recorded.body(),
        };
        for binding in &exchange.bindings {
            if let Some(ours) = self.bound(binding) {
                sent.path = sent.path.replace(&binding.value, &ours);
            }
        }
        let current = self.current(exchange).await;
        sent.path = self.known.fill(&sent.path, &current);
        for (_, value) in &mut sent.headers {
            if let Some(ours) = self.known.id(value) {
                *value = ours.to_owned();
            }
        }
        if let Some(text) = sent.body.as_deref().and_then(|body| str::from_utf8(body).ok()) {
            sent.body = Some(match self.rebased(exchange, text).await {
                Some(body) => body.to_string().into_bytes(),
                None => self.known.fill(text, &current).into_bytes(),
            });
        }
        if self.corpus.beside.contains(&exchange.number()) {
            for seconds in ["3", "4"] {
                let given = format!("timeoutSeconds={seconds}");
                sent.path = sent.path.replace(&given, "timeoutSeconds=1");
            }
        }
        sent
    }

    /// Returns our value for a value of an earlier response. Learns revisions, and returns `None`
    /// for them.
    fn bound(&mut self, binding: &Binding) -> Option<String> {
        if binding.header.is_some() {
            return None;
        }
        let path = binding.path.as_deref()?;
        let (_, answer) = self.answers.get(&binding.from)?;
        let ours = answer.as_ref()?.pointer(&pointer(path))?.as_str()?.to_owned();
        if let (Some((_, recorded)), Some((_, hash))) =
            (binding.value.split_once("hash="), ours.split_once("hash="))
        {
            let hash = format!("hash={hash}");
            self.known.learn_id(&format!("hash={recorded}"), &hash).ok()?;
        }
        if path.ends_with("resourceVersion") {
            // The revision of a list can be the known revision of an object.
            let _ = self.known.learn_revision(&binding.value, &ours);
            return None;
        }
        Some(ours)
    }

    /// Returns the body of an update of an object that was just read: our object with the recorded
    /// change.
    async fn rebased(&self, exchange: &Exchange, text: &str) -> Option<Value> {
        let body: Value = serde_json::from_str(text).or_else(|_| yaml(text)).ok()?;
        let mut bindings = exchange.bindings.iter();
        let read = match bindings.find(|binding| binding.from == THE_OBJECT) {
            Some(binding) => &binding.value,
            // Updates of our group have no bindings. Failed ones need their old revision.
            None if exchange.request.method == "PUT" && exchange.response.status == 200 => {
                body.pointer("/metadata/resourceVersion")?.as_str()?
            }
            None => return None,
        };
        let (path, _) =
            exchange.request.path.split_once('?').unwrap_or((&exchange.request.path, ""));
        let current = self.as_admin("GET", path, None).await.json()?;
        let uid = current.pointer("/metadata/uid")?.as_str()?;
        let mut before = self.recorded.iter().filter(|((recorded, revision), _)| {
            *revision == read && self.known.id(recorded) == Some(uid)
        });
        Some(changed(before.next()?.1, &body, &current))
    }

    /// Returns our latest revision, or the revision of the object that the request updates.
    async fn current(&self, exchange: &Exchange) -> String {
        let reads_object = exchange.bindings.iter().any(|binding| binding.from == THE_OBJECT);
        if !reads_object && !exchange.is_watch() {
            return "1".to_owned();
        }
        let path = if reads_object {
            exchange.request.path.split('?').next().unwrap_or_default().to_owned()
        } else {
            format!("{OPENSHIFT}/{}?limit=1", self.corpus.resource)
        };
        let answer = self.as_admin("GET", &path, None).await;
        let revision = answer.json().and_then(|answer| {
            answer.pointer("/metadata/resourceVersion").and_then(Value::as_str).map(str::to_owned)
        });
        revision.unwrap_or_else(|| "1".to_owned())
    }

    async fn as_admin(&self, method: &str, path: &str, body: Option<(&str, Value)>) -> Answer {
        self.by("admin", method, path, body).await
    }

    async fn by(
        &self,
        user: &str,
        method: &str,
        path: &str,
        body: Option<(&str, Value)>,
    ) -> Answer {
        let mut more = BTreeMap::from([("Accept".to_owned(), "application/json".to_owned())]);
        if let Some((content_type, _)) = &body {
            more.insert("Content-Type".to_owned(), (*content_type).to_owned());
        }
        let sent = Sent {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: headers(user, &more),
            body: body.map(|(_, body)| body.to_string().into_bytes()),
        };
        send(self.address, sent).await
    }

    async fn create(&self, namespace: &str, name: &str, labels: Value) -> Result<(), Failed> {
        let mut metadata = json!({"name": name});
        if !labels.is_null() {
            metadata = json!({"name": name, "labels": labels});
        }
        let template = json!({"kind": "Template", "apiVersion": "template.openshift.io/v1",
            "metadata": metadata, "objects": []});
        let path = format!("{OPENSHIFT}/{namespace}/templates");
        let answer = self.as_admin("POST", &path, Some(("application/json", template))).await;
        let created = answer.status == 201;
        created.then_some(()).ok_or_else(|| format!("{name}: {}", answer.text()).into())
    }

    /// Sends the unrecorded requests before an exchange.
    async fn unrecorded(&self, number: u32) -> Result<(), Failed> {
        if self.corpus.folder != TEMPLATES.folder {
            let path = format!("{OPENSHIFT}/{}", self.corpus.resource);
            match number {
                // The recorded request impersonates, which is refused here.
                17 => {
                    let instance = json!({"kind": "TemplateInstance",
                        "apiVersion": "template.openshift.io/v1", "metadata": {"name": "imp"},
                        "spec": {"template": {"metadata": {"name": "empty"}, "objects": []}}});
                    let body = Some(("application/json", instance));
                    self.by("jane", "POST", &path, body).await;
                }
                // The garbage collector did it: the owner did not exist.
                20 => _ = self.as_admin("DELETE", &format!("{path}/fin"), None).await,
                _ => {}
            }
            return Ok(());
        }
        if number == 483 {
            for index in 1..=12 {
                let group = if index < 10 { "y" } else { "x" };
                self.create("shop", &format!("d{index}"), json!({"grp": group})).await?;
            }
        } else if number == 657 {
            for index in 0..3 {
                self.create("prod", &format!("e{index}"), Value::Null).await?;
            }
        } else if number == 658 {
            for index in 0..5 {
                let path = format!("{OPENSHIFT}/prod/templates/e2");
                let message = json!({"message": index.to_string()});
                let body = Some(("application/merge-patch+json", message));
                self.as_admin("PATCH", &path, body).await;
            }
        }
        Ok(())
    }

    /// Opens a watch and makes the changes in its note.
    async fn with_changes_beside(&self, sent: Sent) -> Answer {
        let failed = |error: String| Answer {
            status: 0,
            headers: HeaderMap::new(),
            body: error.into_bytes(),
        };
        let watch = match begin(self.address, sent).await {
            Ok(watch) => watch,
            Err(error) => return failed(error.to_string()),
        };
        let changed = if self.corpus.folder == TEMPLATES.folder {
            self.change_template().await
        } else {
            self.change_instance().await
        };
        if let Err(error) = changed {
            return failed(error.message().unwrap_or_default().to_owned());
        }
        match tokio::time::timeout(std::time::Duration::from_secs(10), finish(watch)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => failed(error.to_string()),
            Err(late) => failed(late.to_string()),
        }
    }

    /// Creates an instance, labels it and deletes it, as its requester.
    async fn change_instance(&self) -> Result<(), Failed> {
        let path = format!("{OPENSHIFT}/{}", self.corpus.resource);
        let instance = json!({"kind": "TemplateInstance", "apiVersion": "template.openshift.io/v1",
            "metadata": {"name": "watched"},
            "spec": {"template": {"metadata": {"name": "empty"}, "objects": []}}});
        let body = Some(("application/json", instance));
        let answer = self.by("jane", "POST", &path, body).await;
        if answer.status != 201 {
            return Err(answer.text().into());
        }
        let path = format!("{path}/watched");
        let label = json!({"metadata": {"labels": {"w": "1"}}});
        let body = Some(("application/merge-patch+json", label));
        self.by("jane", "PATCH", &path, body).await;
        self.by("jane", "DELETE", &path, None).await;
        Ok(())
    }

    async fn change_template(&self) -> Result<(), Failed> {
        self.create("prod", "w1", json!({"w": "1"})).await?;
        let path = format!("{OPENSHIFT}/prod/templates/w1");
        for patch in [
            json!({"message": "changed"}),
            json!({"metadata": {"labels": {"w": "2"}}}),
            json!({"metadata": {"labels": {"w": "1"}}}),
        ] {
            self.as_admin("PATCH", &path, Some(("application/merge-patch+json", patch))).await;
        }
        self.as_admin("DELETE", &path, None).await;
        Ok(())
    }
}

/// Applies to `ours` the changes from `before` to `body`.
fn changed(before: &Value, body: &Value, ours: &Value) -> Value {
    match (before, body, ours) {
        _ if before == body => ours.clone(),
        (Value::Object(before), Value::Object(body), Value::Object(ours)) => {
            let mut fields = Map::new();
            for (key, value) in body {
                let value = match (before.get(key), ours.get(key)) {
                    (Some(before), Some(ours)) => changed(before, value, ours),
                    _ => value.clone(),
                };
                fields.insert(key.clone(), value);
            }
            let is_new = |key: &&String| !before.contains_key(*key) && !body.contains_key(*key);
            for key in ours.keys().filter(is_new) {
                fields.insert(key.clone(), ours[key].clone());
            }
            Value::Object(fields)
        }
        _ => body.clone(),
    }
}

/// Returns the recorded headers, with the default headers and the token of the user.
fn headers(user: &str, recorded: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let mut headers: Vec<(String, String)> =
        recorded.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    if !recorded.contains_key("User-Agent") {
        headers.push(("User-Agent".to_owned(), "recorder".to_owned()));
    }
    if let Some(token) = token(user) {
        headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
    }
    headers
}

/// Converts a path of a binding, such as `metadata.continue` or `paths["a/b"].c`, to a JSON
/// pointer.
pub(crate) fn pointer(path: &str) -> String {
    let mut pointer = String::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (key, after) = match rest.strip_prefix("[\"") {
            Some(quoted) => quoted.split_once("\"]").unwrap_or((quoted, "")),
            None => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len())),
        };
        pointer.push('/');
        pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
        rest = after.strip_prefix('.').unwrap_or(after);
    }
    pointer
}
