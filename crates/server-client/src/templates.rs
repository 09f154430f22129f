//! The commands for stored Templates: list, process.

use http::Method;
use krm_template_exec::io;
use serde_json::{Value, json};

use super::args::{Output, Templates};
use super::instances::{Session, parameters};
use super::print;

const RESOURCE: &str = "templates";

/// Runs a subcommand of `templates`, and returns the exit status.
///
/// # Errors
///
/// If the server cannot be reached, or refuses the request.
pub async fn run(command: &Templates) -> anyhow::Result<u8> {
    match command {
        Templates::List { shared } => {
            let session = Session::new(shared).await?;
            let path = session.connection.resource(RESOURCE, "");
            if let Some(output) = session.output {
                return session.show(Method::GET, &path, Vec::new(), output).await;
            }
            let list = session.json(Method::GET, &path, None).await?;
            let items = list.get("items").and_then(Value::as_array);
            let rows: Vec<Value> = items.into_iter().flatten().map(row).collect();
            let columns = [("NAME", "name"), ("DESCRIPTION", "description")];
            io::print_text(&print::table(&rows, &columns))?;
            Ok(0)
        }
        Templates::Process { name, values, shared } => {
            let session = Session::new(shared).await?;
            let path = session.connection.resource(RESOURCE, name) + "/processed?output=list";
            let body = json!({
                "apiVersion": "template.krm.dev/v1alpha1",
                "kind": "Parameters",
                "values": parameters(values)?,
            });
            let output = session.output.unwrap_or(Output::Yaml);
            let body = body.to_string().into_bytes();
            session.show(Method::POST, &path, body, output).await
        }
    }
}

fn row(template: &Value) -> Value {
    let annotations = template.pointer("/metadata/annotations");
    let description = annotations.and_then(|all| all.get("description")?.as_str());
    let description = description.unwrap_or_default().lines().next();
    json!({"name": template.pointer("/metadata/name"), "description": description})
}
