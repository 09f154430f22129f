//! Instances of a server without a cluster: they are expanded, and their conditions say that nothing
//! was installed.

use super::expansion;
use super::status::Status;
use super::store::{Context, Instance, Outcome, Plan, Stop};
use super::used_templates::Templates;
use krm_template_server_core::Group;

/// The reason of a condition: the instance is valid, but the server installs nothing.
const VALIDATED: &str = "ValidatedOnly";

/// Expands an instance, and writes the result into its status.
pub(super) async fn step(context: &Context, instance: &mut Instance) -> Result<Outcome, Stop> {
    let mut status = Status::of(instance);
    let user = instance.requester().unwrap_or_default();
    let state = &context.state;
    let plan = Plan::default();
    let expanded = match Templates::shown(state, instance, &user, &plan, false).await {
        Ok(stored) => expansion::of(state, instance, &user, &plan, &stored, Vec::new()).await,
        Err(problem) => Err(problem),
    };
    match (instance.group(), expanded) {
        (Group::Krm, Ok(expansion)) => {
            let count = expansion.objects.len();
            let message = format!(
                "the Template creates {count} objects; none was installed, because the server runs \
                 without --apply"
            );
            status.conclude(false, VALIDATED, &message, true);
        }
        (Group::Krm, Err(problem)) => {
            status.conclude(false, problem.reason, &problem.message, true);
        }
        (Group::OpenShift, Ok(_)) => {
            let message = "the Template is valid; nothing was created, because the server runs \
                           without --apply";
            status.set("Ready", false, VALIDATED, message);
        }
        (Group::OpenShift, Err(problem)) => {
            let message = format!("unable to process Template objects: {}", problem.message);
            status.set("InstantiateFailure", true, "Failed", &message);
            let message = "See InstantiateFailure condition for error message";
            status.set("Ready", false, "Failed", message);
        }
    }
    instance.save(context, &status.value()).await?;
    Ok(Outcome::Done)
}
