//! The commands for instances: install, list, status, upgrade, uninstall, history, rollback.
//!
//! The server does the work: a client that ends leaves nothing half-done.

use std::time::Duration;

use anyhow::{Context as _, bail};
use http::Method;
use krm_template_exec::io;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};

use super::args::{Instances, Output, Shared, Source, Values, Waiting};
use super::connection::Connection;
use super::print;
use krm_template_server_core::conditions::{Condition, find};

const RESOURCE: &str = "templateinstances";

/// The polling interval for an instance.
const POLL: Duration = Duration::from_millis(500);

/// The maximum number of attempts to change an instance that the server changes, too.
const TRIES: usize = 10;

/// Runs a command, and returns the exit status.
///
/// # Errors
///
/// If the server cannot be reached or refuses the request, or if the instance fails.
pub async fn run(command: &Instances) -> anyhow::Result<u8> {
    match command {
        Instances::Install { name, template, values, waiting, shared } => {
            let session = Session::new(shared).await?;
            session.install(name, template, values, *waiting).await
        }
        Instances::List { shared } => Session::new(shared).await?.list().await,
        Instances::Status { name, shared } => Session::new(shared).await?.status(name).await,
        Instances::Upgrade { name, template, values, reset_values, dry_run, waiting, shared } => {
            let upgrade = Upgrade {
                given: parameters(values)?,
                source: source(template)?,
                reset_values: *reset_values,
            };
            let session = Session::new(shared).await?;
            let change = |spec: &mut Map<String, Value>| upgrade.apply(spec);
            if *dry_run {
                return session.preview(name, change).await;
            }
            session.change(name, "upgraded", *waiting, change).await
        }
        Instances::Uninstall { name, keep, waiting, shared } => {
            let session = Session::new(shared).await?;
            session.uninstall(name, *keep, *waiting).await
        }
        Instances::History { name, shared } => Session::new(shared).await?.history(name).await,
        Instances::Rollback { name, revision, waiting, shared } => {
            let session = Session::new(shared).await?;
            session.rollback(name, *revision, *waiting).await
        }
    }
}

/// The change of an upgrade.
struct Upgrade {
    given: Map<String, Value>,
    source: Option<(&'static str, Value)>,
    reset_values: bool,
}

impl Upgrade {
    fn apply(&self, spec: &mut Map<String, Value>) {
        if let Some((key, value)) = &self.source {
            spec.shift_remove("template");
            spec.shift_remove("templateRef");
            spec.insert((*key).to_owned(), value.clone());
        }
        if self.reset_values {
            spec.shift_remove("parameters");
        }
        let all = spec.entry("parameters").or_insert_with(|| json!({}));
        if let Some(all) = all.as_object_mut() {
            all.extend(self.given.clone());
        }
        // The rest may be the same: the stored Template has changed, or another user takes over.
        let now = jiff::Timestamp::now().to_string();
        spec.insert("requestedAt".to_owned(), json!(now));
    }
}

/// Returns the field of the `spec` for the Template, and its value.
fn source(source: &Source) -> anyhow::Result<Option<(&'static str, Value)>> {
    if let Some(file) = &source.filename {
        return Ok(Some(("template", read(file)?)));
    }
    let named = source.template.as_ref();
    Ok(named.map(|name| ("templateRef", json!({ "name": name }))))
}

/// Reads a YAML or JSON file with one object.
fn read(file: &str) -> anyhow::Result<Value> {
    let source = if file == "-" { io::stdin() } else { io::read(file) };
    let source = source.map_err(|error| anyhow::anyhow!("{}", error.message))?;
    let text = json_of_yaml(source.text()).with_context(|| format!("{file} cannot be read"))?;
    Ok(serde_json::from_str(&text)?)
}

/// Converts a YAML text with one document to JSON.
fn json_of_yaml(text: &str) -> anyhow::Result<String> {
    use krm_yaml::diagnostic::Diagnostics;
    use krm_yaml::source::Source;
    use krm_yaml::{Document, DuplicateKeys};

    let document = Document::parse(&Source::new("file", text))
        .map_err(|error| anyhow::anyhow!("{}", error.message))?;
    let root = document.roots().next().context("the file is empty")?;
    let mut found = Diagnostics::new();
    let value = root.value(DuplicateKeys::LastWins, &mut found);
    if let Some(error) = found.iter().next().filter(|_| found.has_errors()) {
        bail!("{}", error.message);
    }
    Ok(value.context("the file has no value")?.to_json())
}

/// Returns the values of parameters. Those of the command line win.
pub(super) fn parameters(values: &Values) -> anyhow::Result<Map<String, Value>> {
    let mut all = Map::new();
    for file in &values.files {
        let Value::Object(fields) = read(file)? else {
            bail!("{file} is not a mapping from parameters to values");
        };
        let inner = ["values", "data"]
            .into_iter()
            .find_map(|key| fields.get(key).filter(|_| fields.contains_key("kind")));
        match inner {
            Some(Value::Object(inner)) => all.extend(inner.clone()),
            _ => all.extend(fields),
        }
    }
    for param in &values.params {
        let (name, value) =
            param.split_once('=').with_context(|| format!("-p {param:?} is not NAME=VALUE"))?;
        all.insert(name.to_owned(), json!(value));
    }
    Ok(all)
}

/// A connection and the output format.
pub(super) struct Session {
    pub(super) connection: Connection,
    pub(super) output: Option<Output>,
}

impl Session {
    pub(super) async fn new(shared: &Shared) -> anyhow::Result<Self> {
        Ok(Self {
            connection: Connection::new(&shared.to, &shared.namespace).await?,
            output: shared.output,
        })
    }

    async fn get(&self, name: &str) -> anyhow::Result<Value> {
        let path = self.connection.resource(RESOURCE, name);
        self.json(Method::GET, &path, None).await
    }

    /// Sends a request, and returns the JSON of the response.
    pub(super) async fn json(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<Value> {
        let body = body.map(|body| body.to_string().into_bytes());
        let answer =
            self.connection.exchange(method, path, body.unwrap_or_default(), Output::Json).await?;
        let answer = answer.accepted()?;
        for warning in &answer.warnings {
            io::print_error(&format!("warning: {warning}\n"));
        }
        answer.json()
    }

    /// Prints a response as is.
    pub(super) async fn show(
        &self,
        method: Method,
        path: &str,
        body: Vec<u8>,
        output: Output,
    ) -> anyhow::Result<u8> {
        let answer = self.connection.exchange(method, path, body, output).await?;
        if !(200..300).contains(&answer.code) {
            answer.accepted()?;
            return Ok(1);
        }
        for warning in &answer.warnings {
            io::print_error(&format!("warning: {warning}\n"));
        }
        io::print([String::from_utf8_lossy(&answer.body).as_ref()])?;
        Ok(0)
    }

    async fn install(
        &self,
        name: &str,
        template: &Source,
        values: &Values,
        waiting: Waiting,
    ) -> anyhow::Result<u8> {
        let Some((key, value)) = source(template)? else {
            bail!("give the Template: -f FILE, or --template NAME for a stored one");
        };
        let mut spec = Map::new();
        spec.insert(key.to_owned(), value);
        let given = parameters(values)?;
        if !given.is_empty() {
            spec.insert("parameters".to_owned(), Value::Object(given));
        }
        let body = json!({
            "apiVersion": "template.krm.dev/v1alpha1",
            "kind": "TemplateInstance",
            "metadata": {"name": name},
            "spec": spec,
        });
        let path = self.connection.resource(RESOURCE, "");
        let created = self.json(Method::POST, &path, Some(&body)).await?;
        self.finish(name, "installed", &created, waiting).await
    }

    /// Changes the `spec` of an instance.
    async fn change(
        &self,
        name: &str,
        what: &str,
        waiting: Waiting,
        change: impl Fn(&mut Map<String, Value>),
    ) -> anyhow::Result<u8> {
        let path = self.connection.resource(RESOURCE, name);
        for _ in 0..TRIES {
            let mut instance = self.get(name).await?;
            let before = instance.get("spec").cloned();
            let spec = instance.get_mut("spec").and_then(Value::as_object_mut);
            change(spec.context("the server's answer has no spec")?);
            let body = instance.to_string().into_bytes();
            let answer = self.connection.exchange(Method::PUT, &path, body, Output::Json).await?;
            if answer.code != 409 {
                let changed = answer.accepted()?.json()?;
                return self.finish(name, what, &changed, waiting).await;
            }
            // The server may have written the status; a change of the spec is another matter.
            if self.get(name).await?.get("spec").cloned() != before {
                bail!("another client changes {name:?} at the same time; try again");
            }
        }
        bail!("the server changes {name:?} all the time; try again")
    }

    /// Prints what a change of the `spec` would do to the objects. Returns 1 if it would fail.
    async fn preview(
        &self,
        name: &str,
        change: impl Fn(&mut Map<String, Value>),
    ) -> anyhow::Result<u8> {
        let mut instance = self.get(name).await?;
        let spec = instance.get_mut("spec").and_then(Value::as_object_mut);
        change(spec.context("the server's answer has no spec")?);
        let path = self.connection.resource(RESOURCE, name) + "/preview";
        if let Some(output) = self.output {
            let body = instance.to_string().into_bytes();
            return self.show(Method::POST, &path, body, output).await;
        }
        let found = self.json(Method::POST, &path, Some(&instance)).await?;
        let list = |key: &str| found.get(key).and_then(Value::as_array).into_iter().flatten();
        let mut unchanged = 0;
        for item in list("items") {
            let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
            if text("action") == "Unchanged" {
                unchanged += 1;
                continue;
            }
            let (action, kind, object) = (text("action"), text("kind"), text("name"));
            let place = match text("namespace") {
                "" => String::new(),
                namespace => format!("{namespace}/"),
            };
            io::print_text(&format!("{action} {kind} {place}{object}\n{}", text("diff")))?;
        }
        io::print_text(&format!("{unchanged} unchanged\n"))?;
        let mut code = 0;
        for failure in list("failures").filter_map(Value::as_str) {
            io::print_error(&format!("error: {failure}\n"));
            code = 1;
        }
        Ok(code)
    }

    /// Waits until the instance is ready in its generation, and prints the result.
    async fn finish(
        &self,
        name: &str,
        what: &str,
        instance: &Value,
        waiting: Waiting,
    ) -> anyhow::Result<u8> {
        if !waiting.no_wait {
            self.until_ready(name, instance, waiting.timeout).await?;
        }
        if let Some(output) = self.output {
            let path = self.connection.resource(RESOURCE, name);
            return self.show(Method::GET, &path, Vec::new(), output).await;
        }
        let found = self.get(name).await?;
        let revision = found.pointer("/status/revision").and_then(Value::as_u64);
        let revision =
            revision.map_or_else(String::new, |revision| format!(" (revision {revision})"));
        io::print_text(&format!("{name} {what}{revision}\n"))?;
        Ok(0)
    }

    /// Waits until an instance is ready in its generation.
    async fn until_ready(
        &self,
        name: &str,
        instance: &Value,
        timeout: Duration,
    ) -> anyhow::Result<()> {
        let uid = instance.pointer("/metadata/uid").cloned();
        let number = |instance: &Value, path: &str| instance.pointer(path).and_then(Value::as_i64);
        let wanted = number(instance, "/metadata/generation");
        let end = Instant::now() + timeout;
        let mut last = String::new();
        loop {
            let found = self.get(name).await?;
            if found.pointer("/metadata/uid").cloned() != uid {
                bail!("another client has deleted {name:?}");
            }
            if number(&found, "/status/observedGeneration") >= wanted {
                let Condition { status, reason, message, .. } = condition(&found, "Ready");
                if status == "True" {
                    return Ok(());
                }
                if condition(&found, "Stalled").status == "True" {
                    bail!("{name} is not ready: {reason}: {message}");
                }
                last = format!("{reason}: {message}");
            }
            if Instant::now() >= end {
                bail!("{name} is not ready after {timeout:?}: {last}");
            }
            sleep(POLL).await;
        }
    }

    /// Waits until an instance is gone.
    async fn until_gone(&self, name: &str, timeout: Duration) -> anyhow::Result<()> {
        let path = self.connection.resource(RESOURCE, name);
        let end = Instant::now() + timeout;
        loop {
            let answer = self.connection.exchange(Method::GET, &path, Vec::new(), Output::Json);
            let answer = answer.await?;
            if answer.code == 404 {
                return Ok(());
            }
            let found = answer.accepted()?.json()?;
            let Condition { reason, message, .. } = condition(&found, "Ready");
            if reason == "DeletionBlocked" {
                bail!("{name} cannot be deleted: {message}");
            }
            if Instant::now() >= end {
                bail!("{name} is not gone after {timeout:?}: {message}");
            }
            sleep(POLL).await;
        }
    }

    async fn list(&self) -> anyhow::Result<u8> {
        const COLUMNS: [(&str, &str); 5] = [
            ("NAME", "name"),
            ("TEMPLATE", "template"),
            ("REVISION", "revision"),
            ("READY", "ready"),
            ("REASON", "reason"),
        ];
        let path = self.connection.resource(RESOURCE, "");
        if let Some(output) = self.output {
            return self.show(Method::GET, &path, Vec::new(), output).await;
        }
        let list = self.json(Method::GET, &path, None).await?;
        let items = list.get("items").and_then(Value::as_array);
        let rows: Vec<Value> = items.into_iter().flatten().map(row).collect();
        io::print_text(&print::table(&rows, &COLUMNS))?;
        Ok(0)
    }

    async fn status(&self, name: &str) -> anyhow::Result<u8> {
        const OBJECTS: [(&str, &str); 5] = [
            ("KIND", "kind"),
            ("NAMESPACE", "namespace"),
            ("NAME", "name"),
            ("PHASE", "phase"),
            ("READINESS", "readiness"),
        ];
        let path = self.connection.resource(RESOURCE, name);
        if let Some(output) = self.output {
            return self.show(Method::GET, &path, Vec::new(), output).await;
        }
        let instance = self.get(name).await?;
        let Condition { reason, message, .. } = condition(&instance, "Ready");
        let row = row(&instance);
        let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut head = format!(
            "{name}: {reason} (template {}, revision {})\n{message}\n",
            text("template"),
            text("revision")
        );
        let upgrade = condition(&instance, "UpgradeAvailable");
        if upgrade.status == "True" {
            head.extend(["upgrade available: ", upgrade.message, "\n"]);
        }
        let objects = instance.pointer("/status/objects").and_then(Value::as_array);
        let objects = objects.map_or(&[][..], Vec::as_slice);
        let table =
            if objects.is_empty() { String::new() } else { print::table(objects, &OBJECTS) };
        io::print_text(&(head + &table))?;
        Ok(0)
    }

    async fn uninstall(&self, name: &str, keep: bool, waiting: Waiting) -> anyhow::Result<u8> {
        if keep {
            let quick = Waiting { no_wait: true, ..waiting };
            let orphan = |spec: &mut Map<String, Value>| {
                spec.insert("deletionPolicy".to_owned(), json!("Orphan"));
                // Until it is deleted, nothing else changes.
                spec.insert("suspend".to_owned(), json!(true));
            };
            self.change(name, "is left in the cluster", quick, orphan).await?;
        }
        let path = self.connection.resource(RESOURCE, name);
        self.json(Method::DELETE, &path, None).await?;
        if !waiting.no_wait {
            self.until_gone(name, waiting.timeout).await?;
        }
        io::print_text(&format!("{name} uninstalled\n"))?;
        Ok(0)
    }

    async fn revisions(&self, name: &str) -> anyhow::Result<Vec<Value>> {
        let path = self.connection.resource(RESOURCE, name) + "/revisions";
        let list = self.json(Method::GET, &path, None).await?;
        let items = list.get("items").and_then(Value::as_array);
        Ok(items.cloned().unwrap_or_default())
    }

    async fn history(&self, name: &str) -> anyhow::Result<u8> {
        const COLUMNS: [(&str, &str); 5] = [
            ("REVISION", "number"),
            ("TIME", "time"),
            ("REQUESTER", "requester"),
            ("OUTCOME", "outcome"),
            ("HASH", "templateHash"),
        ];
        if let Some(output) = self.output {
            let path = self.connection.resource(RESOURCE, name) + "/revisions";
            return self.show(Method::GET, &path, Vec::new(), output).await;
        }
        let mut revisions = self.revisions(name).await?;
        for revision in &mut revisions {
            let number = revision.get("revision").map(ToString::to_string);
            if let Some(fields) = revision.as_object_mut() {
                fields.insert("number".to_owned(), json!(number));
            }
        }
        io::print_text(&print::table(&revisions, &COLUMNS))?;
        Ok(0)
    }

    async fn rollback(
        &self,
        name: &str,
        wanted: Option<u64>,
        waiting: Waiting,
    ) -> anyhow::Result<u8> {
        let revisions = self.revisions(name).await?;
        let number = |revision: &Value| revision.get("revision").and_then(Value::as_u64);
        let found = match wanted {
            Some(wanted) => revisions.iter().find(|one| number(one) == Some(wanted)),
            None => revisions.iter().rev().nth(1),
        };
        let Some(found) = found else {
            bail!("{name} has no such revision; `history {name}` lists them");
        };
        let spec = found.get("spec").and_then(Value::as_object);
        let spec = spec.context("the server's answer has no spec")?.clone();
        let back = |now: &mut Map<String, Value>| {
            now.clone_from(&spec);
        };
        self.change(name, "rolled back", waiting, back).await
    }
}

/// Returns a condition of an instance.
fn condition<'v>(instance: &'v Value, kind: &str) -> Condition<'v> {
    find(instance.pointer("/status/conditions"), kind)
}

/// Returns the fields of an instance for a table.
fn row(instance: &Value) -> Value {
    let text = |path: &str| instance.pointer(path).and_then(Value::as_str);
    let template = text("/spec/templateRef/name").or(text("/spec/template/metadata/name"));
    let ready = condition(instance, "Ready");
    let revision = instance.pointer("/status/revision").map(ToString::to_string);
    json!({
        "name": text("/metadata/name"),
        "template": template,
        "revision": revision,
        "ready": ready.status,
        "reason": ready.reason,
    })
}
