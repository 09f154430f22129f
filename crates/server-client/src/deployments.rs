//! The commands for deployments. Those that change one follow the operation until it ends.

use std::io::IsTerminal as _;
use std::time::Duration;

use anyhow::{Context as _, bail};
use http::Method;
use krm_core::visible::on_one_line;
use krm_template_exec::configuration::request;
use krm_template_exec::io;
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use super::args::{Action, Args, ChangeOptions, Configuration, Output};
use super::connection::{Connection, encoded, refusal};
use super::print;

/// Runs a subcommand, and returns the exit status.
///
/// # Errors
///
/// If the server cannot be reached, or returns an error.
pub async fn run(args: &Args) -> anyhow::Result<u8> {
    let connection = Connection::new(&args.to, &args.namespace).await?;
    let session = Session { connection, output: args.output };
    match &args.action {
        Action::Create { name, configuration, change } => match body(name, configuration)? {
            Ok(body) => {
                let to = (Method::POST, "/deployments".to_owned());
                session.change(name, "created", to, body, change, &[]).await
            }
            Err(status) => Ok(status),
        },
        Action::Update { name, configuration, change } => match body(name, configuration)? {
            Ok(body) => {
                let to = (Method::PUT, path(name));
                session.change(name, "updated", to, body, change, &[]).await
            }
            Err(status) => Ok(status),
        },
        Action::Delete { name, abandon, change } => {
            let to = (Method::DELETE, path(name));
            let query = abandon.then_some(("abandon", "true"));
            let query = query.as_slice();
            session.change(name, "deleted", to, Vec::new(), change, query).await
        }
        Action::Get { name } => session.get(name).await,
        Action::List => session.list("/deployments", print::lines).await,
        Action::Manifest { name, manifest } => session.manifest(name, manifest.as_deref()).await,
        Action::Types { kind: None } => session.list("/types", print::lines).await,
        Action::Types { kind: Some(kind) } => {
            let path = format!("/types/{}/instances", encoded(kind));
            session.list(&path, instances).await
        }
    }
}

fn path(name: &str) -> String {
    format!("/deployments/{}", encoded(name))
}

fn instances(list: &Value) -> String {
    const COLUMNS: [(&str, &str); 5] = [
        ("NAME", "name"),
        ("TYPE", "type"),
        ("DEPLOYMENT", "deployment"),
        ("MANIFEST", "manifest"),
        ("PATH", "path"),
    ];
    print::table(list.as_array().map_or(&[], Vec::as_slice), &COLUMNS)
}

/// Returns the request body with a configuration and its imports. If they have errors, prints them
/// and returns the exit status.
fn body(name: &str, configuration: &Configuration) -> anyhow::Result<Result<Vec<u8>, u8>> {
    let mut env = configuration.env.clone();
    if let Some(project) = &configuration.project {
        env.push(format!("project={project}"));
    }
    let request = match request(
        &configuration.config,
        &configuration.imports,
        &env,
        configuration.load_restrictor,
    ) {
        Ok(request) => request,
        Err(status) => return Ok(Err(status)),
    };
    let imports: Vec<Value> = request
        .imports
        .iter()
        .map(|import| {
            json!({"name": import.name, "path": import.path, "content": import.content.text()})
        })
        .collect();
    let mut variables = Map::new();
    for (key, value) in &request.env {
        if key != "deployment" {
            variables.insert(key.clone(), serde_json::from_str(&value.to_json())?);
        }
    }
    let content = request.config.source().text();
    let configuration = json!({"content": content, "imports": imports, "env": variables});
    let body = json!({"name": name, "configuration": configuration});
    Ok(Ok(serde_json::to_vec(&body)?))
}

/// A connection and the output format.
struct Session {
    connection: Connection,
    output: Option<Output>,
}

impl Session {
    /// Makes a change, waits until it ends, and prints the result.
    async fn change(
        &self,
        name: &str,
        what: &str,
        (method, path): (Method, String),
        body: Vec<u8>,
        change: &ChangeOptions,
        query: &[(&str, &str)],
    ) -> anyhow::Result<u8> {
        let mut query = query.to_vec();
        query.push(("async", "true"));
        if change.prune_all {
            query.push(("prune", "all"));
        }
        let is_deletion = method == Method::DELETE;
        let answer = self.connection.send(method, &path, &query, body, Output::Json).await?;
        let begun = answer.accepted()?.json()?;
        let operation = begun.get("name").and_then(Value::as_str);
        let operation = operation.context("the server's answer names no operation")?;
        if !change.is_async {
            follow(&self.connection, operation).await?;
        }
        if let Some(output) = self.output {
            let path = if change.is_async || is_deletion {
                format!("/operations/{}", encoded(operation))
            } else {
                self::path(name)
            };
            return self.show(&path, output).await;
        }
        let text = if change.is_async {
            format!("{operation}\n")
        } else {
            let path = format!("/operations/{}", encoded(operation));
            let ended = self.connection.get(&path).await?;
            let text = |field: &str| ended.get(field).and_then(Value::as_str).unwrap_or_default();
            let (manifest, message) = (text("manifest"), text("message"));
            format!("deployment {name} {what} ({manifest}): {message}\n")
        };
        io::print_text(&text)?;
        Ok(0)
    }

    /// Prints a response as is.
    async fn show(&self, path: &str, output: Output) -> anyhow::Result<u8> {
        let answer = self
            .connection
            .send(Method::GET, path, &[("pretty", "true")], Vec::new(), output)
            .await?;
        if !(200..300).contains(&answer.code) {
            // This returns the error as text.
            self.connection.get(path).await?;
        }
        for warning in &answer.warnings {
            io::print_error(&format!("warning: {warning}\n"));
        }
        io::print([String::from_utf8_lossy(&answer.body).as_ref()])?;
        Ok(0)
    }

    async fn get(&self, name: &str) -> anyhow::Result<u8> {
        const COLUMNS: [(&str, &str); 4] = [
            ("NAME", "name"),
            ("STATE", "state"),
            ("MANIFEST", "latestManifest"),
            ("MODIFIED", "modifiedAt"),
        ];
        if let Some(output) = self.output {
            return self.show(&path(name), output).await;
        }
        let deployment = self.connection.get(&path(name)).await?;
        let message = deployment.get("message").and_then(Value::as_str);
        let message = message.unwrap_or_default().to_owned();
        let table = print::table(&[deployment], &COLUMNS);
        io::print_text(&format!("{table}{message}\n"))?;
        Ok(0)
    }

    async fn list(&self, path: &str, text: fn(&Value) -> String) -> anyhow::Result<u8> {
        if let Some(output) = self.output {
            return self.show(path, output).await;
        }
        let list = self.connection.get(path).await?;
        io::print_text(&text(&list))?;
        Ok(0)
    }

    async fn manifest(&self, name: &str, manifest: Option<&str>) -> anyhow::Result<u8> {
        let newest;
        let manifest = if let Some(manifest) = manifest {
            manifest
        } else {
            newest = self.connection.get(&path(name)).await?;
            let newest = newest.get("latestManifest").and_then(Value::as_str);
            newest.context("the server's answer names no manifest")?
        };
        let path = format!("{}/manifests/{}", path(name), encoded(manifest));
        self.show(&path, self.output.unwrap_or(Output::Yaml)).await
    }
}

/// The first and the longest delay between two polls of an operation.
const FIRST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(1);

/// Waits until an operation ends.
///
/// # Errors
///
/// If the operation fails or is interrupted.
pub(super) async fn follow(connection: &Connection, name: &str) -> anyhow::Result<()> {
    let path = format!("/operations/{}", encoded(name));
    let is_terminal = std::io::stderr().is_terminal();
    let mut printed: Vec<String> = Vec::new();
    let mut pause = FIRST;
    loop {
        let operation = connection.get(&path).await?;
        if is_terminal {
            print_steps(&operation, &mut printed);
        }
        let text = |field: &str| operation.get(field).and_then(Value::as_str);
        match text("state").unwrap_or_default() {
            "done" => {
                print_warnings(&operation);
                return Ok(());
            }
            "failed" => {
                let error = operation.get("error").cloned().unwrap_or_default();
                let object = operation.pointer("/errors/0").and_then(Value::as_str);
                let status = refusal(&error, 500);
                match object.filter(|object| !status.starts_with(object)) {
                    Some(object) => bail!("{object}"),
                    None => bail!("{status}"),
                }
            }
            "interrupted" => bail!(
                "the operation {name} was interrupted: {}",
                text("message").unwrap_or("run the command again")
            ),
            _ => {}
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST);
    }
}

/// Prints the warnings of an operation.
fn print_warnings(operation: &Value) {
    let warnings = operation.get("warnings").and_then(Value::as_array);
    for warning in warnings.into_iter().flatten().filter_map(Value::as_str) {
        io::print_error(&format!("warning: {warning}\n"));
    }
}

/// Prints new steps, and adds them to `printed`.
fn print_steps(operation: &Value, printed: &mut Vec<String>) {
    let steps = operation.get("steps").and_then(Value::as_array);
    for step in steps.into_iter().flatten() {
        let line = line(step);
        if !printed.contains(&line) {
            io::print_error(&format!("{}\n", on_one_line(&line)));
            printed.push(line);
        }
    }
}

/// Formats a step, such as `applied    Service shop/web`.
fn line(step: &Value) -> String {
    let text = |field: &str| step.get(field).and_then(Value::as_str).unwrap_or_default();
    let name = match text("namespace") {
        "" => text("name").to_owned(),
        namespace => format!("{namespace}/{}", text("name")),
    };
    let line = format!("{:<10} {} {name}", text("what"), text("kind"));
    match text("message") {
        "" => line,
        message => format!("{line}: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use serde_json::json;

    #[test]
    fn a_step_is_a_line() {
        let step =
            json!({"kind": "Service", "namespace": "shop", "name": "web", "what": "applied"});
        assert_eq!(line(&step), "applied    Service shop/web");
        let step = json!({"kind": "Namespace", "name": "a", "what": "kept", "message": "why"});
        assert_eq!(line(&step), "kept       Namespace a: why");
    }
}
