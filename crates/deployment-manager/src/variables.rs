//! The variables of `env` that Google's service sets, and that users give here.

use krm_yaml::diagnostic::{Diagnostic, Way};

/// The variables that Google's service sets for every template.
pub const NAMES: [&str; 5] =
    ["current_time", "deployment", "project", "project_number", "username"];

/// Says how to give the variable `name`.
pub fn not_given(diagnostic: Diagnostic, name: &str) -> Diagnostic {
    let argument = match name {
        "project" => "add `--project ID`".to_owned(),
        "deployment" => "add `--name NAME`".to_owned(),
        _ => format!("add `--env {name}=VALUE`"),
    };
    diagnostic
        .advise(Way::Arguments, argument)
        .advise(Way::Objects, format!("set `spec.env.{name}`"))
}
