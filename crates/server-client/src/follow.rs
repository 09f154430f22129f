//! Follows an operation until it ends, and prints its steps on a terminal.

use std::io::IsTerminal as _;
use std::time::Duration;

use anyhow::bail;
use krm_core::visible::on_one_line;
use krm_template_exec::io;
use serde_json::Value;
use tokio::time::sleep;

use super::connection::{Connection, encoded, refusal};

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
    use serde_json::json;

    use super::*;

    #[test]
    fn a_step_is_a_line() {
        let step =
            json!({"kind": "Service", "namespace": "shop", "name": "web", "what": "applied"});
        assert_eq!(line(&step), "applied    Service shop/web");
        let step = json!({"kind": "Namespace", "name": "a", "what": "kept", "message": "why"});
        assert_eq!(line(&step), "kept       Namespace a: why");
    }
}
