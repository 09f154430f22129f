//! Whether the groups of recorded users still count: nobody acts indefinitely with the groups of one
//! request.
//!
//! Where a file of this server has the users, it is asked at each use. Elsewhere nobody can tell
//! whether a user still has these groups, so the record ages.

use std::time::Duration;

use jiff::Timestamp;

use super::store::{Context, Instance, Planned, Stop};
use krm_template_server_core::{Group, User};

/// How long a record counts of a user whom no file has, unless `--requester-max-age` is given.
const MAX_AGE: Duration = Duration::from_hours(30 * 24);

/// Returns the requester of an instance, or why their permissions do not count any more.
pub(super) async fn requester(
    context: &Context,
    instance: &Instance,
    planned: &mut Planned,
) -> Result<Result<User, String>, Stop> {
    let Some(user) = instance.requester() else {
        return Ok(Err("the instance has no requester".to_owned()));
    };
    note_change(context, instance, &user, planned).await?;
    let plan = &planned.plan;
    // A ServiceAccount stays what it is: the cluster knows its groups.
    let ended = if instance.is_of_user() {
        ended(context, &user, plan.since, plan.is_listed == Some(true))
    } else {
        None
    };
    let way = match instance.group() {
        Group::Krm => format!(
            "run `krm-template-server upgrade {}`, or change the spec, to take over",
            instance.name()
        ),
        Group::OpenShift => "delete the instance and create it again to take over".to_owned(),
    };
    Ok(ended.map_or(Ok(user), |why| Err(format!("{why}; {way}"))))
}

/// Returns why a user who was recorded at a time does not count any more. `is_listed` tells that a
/// file had the user.
pub(super) fn ended(context: &Context, user: &User, since: i64, is_listed: bool) -> Option<String> {
    if is_listed && !context.state.authenticator.lists(user) {
        return Some(format!(
            "no file of the server has the user {:?} with the groups of the request any more",
            user.name
        ));
    }
    let max_age = context.max_age.or((!is_listed).then_some(MAX_AGE))?;
    let age = Timestamp::now().as_second().saturating_sub(since);
    let is_old = u64::try_from(age).is_ok_and(|age| age >= max_age.as_secs());
    (!max_age.is_zero() && is_old).then(|| {
        format!("the user {:?} was recorded longer than --requester-max-age ago", user.name)
    })
}

/// Records when the `spec`, and so the requester, has changed.
async fn note_change(
    context: &Context,
    instance: &Instance,
    user: &User,
    planned: &mut Planned,
) -> Result<(), Stop> {
    // OpenShift's group has no generation, and its spec never changes.
    let marked = i64::from(instance.draft.is_being_deleted());
    // A deletion raises the generation, but asks for nothing to be installed.
    let generation = (instance.generation() - marked).max(1);
    let mut plan = planned.plan.clone();
    if plan.seen == generation && plan.is_listed.is_some() {
        return Ok(());
    }
    plan.since = match plan.seen {
        // Earlier versions recorded it only with a limit.
        0 if generation == 1 => instance.time("creationTimestamp"),
        0 if plan.generation == generation && plan.began > 0 => plan.began,
        seen if seen == generation => match plan.since {
            0 => instance.time("creationTimestamp"),
            since => since,
        },
        _ => Timestamp::now().as_second(),
    };
    let authenticator = &context.state.authenticator;
    // In OpenShift's group, the requester may be another user, whom no file of this server has.
    let is_own = instance.group() == Group::Krm;
    plan.is_listed = Some(authenticator.lists(user) || is_own && authenticator.lists_all());
    plan.seen = generation;
    planned.save(context, plan).await
}
