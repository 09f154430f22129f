//! The error for an object that two instances create.

use crate::plan::instance::Instance;
use krm_core::Identity;
use krm_yaml::diagnostic::Diagnostic;

/// The error for an object that two instances create. `names` are the parameters in its name.
pub fn both_create(
    first: &Instance,
    second: &Instance,
    identity: &Identity,
    names: &[String],
) -> Diagnostic {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let hint = match quoted.as_slice() {
        [] => {
            "use a parameter in its `metadata.name`, and give it a different value in each instance"
                .to_owned()
        }
        [name] => format!("change the value of parameter {name} in one of them"),
        names => {
            format!("change the value of one of the parameters {} in one of them", names.join(", "))
        }
    };
    let problem =
        format!("the instances `{}` and `{}` both create `{identity}`", first.name, second.name);
    Diagnostic::error(problem).rule("duplicate-object").hint(hint)
}
