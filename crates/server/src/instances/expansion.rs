//! The objects of an instance: its Templates and values are read with the permissions of its
//! requester, then expanded.

use std::collections::BTreeMap;

use super::store::{Instance, Plan, Taken};
use crate::api::State;
use crate::codec::{Draft, Stored};
use crate::request::Format;
use crate::templates::instance::{self, Expansion, Found, Named, Needed};
use krm_template_server_core::{Attributes, Group, Kind, Result, Revision, Status, User};

/// The reason of a condition: the values for an installed instance have changed.
pub(super) const VALUES_CHANGED: &str = "ValuesChanged";

/// Values, and the version of the object that has them; empty if there is none.
type Values = (BTreeMap<String, String>, String);

/// Why an instance has no objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The reason for the condition.
    pub(super) reason: &'static str,
    pub(super) message: String,
}

impl Problem {
    pub(super) fn new(reason: &'static str, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }
}

impl From<Box<Status>> for Problem {
    fn from(status: Box<Status>) -> Self {
        let causes = status.details.iter().flat_map(|details| &details.causes);
        let mut causes = causes.into_iter();
        let is_missing = causes.any(|cause| cause.reason == "FieldValueRequired");
        let reason = if is_missing { "ParametersMissing" } else { "ExpansionFailed" };
        Self::new(reason, status.message)
    }
}

/// Returns what the expansion of an instance needs.
pub(super) async fn needed(state: &State, instance: &Instance) -> Result<Needed, Problem> {
    let (group, text) = (instance.group(), instance.text());
    Ok(state.limited(move |_| instance::needed(group, &text)).await?)
}

/// Expands an instance, of which `templates` are the stored ones, with the generated values of a
/// plan. `labels` are added to all objects.
pub(super) async fn of(
    state: &State,
    instance: &Instance,
    user: &User,
    plan: &Plan,
    templates: &BTreeMap<String, Taken>,
    labels: Vec<(String, String)>,
) -> Result<Expansion, Problem> {
    let named = |taken: &Taken| Named {
        group: Group::named(&taken.group).unwrap_or(instance.group()),
        text: taken.text.clone(),
        syntax: Format::Json,
    };
    let templates = templates.iter();
    let mut found = Found {
        templates: templates.map(|(name, taken)| (name.clone(), named(taken))).collect(),
        generated: plan.generated.clone(),
        labels,
        ..Found::default()
    };
    let mut versions = BTreeMap::new();
    for ((kind, name), may_be_missing) in needed(state, instance).await?.objects {
        let (values, version) =
            values(state, instance, user, (kind, &name), may_be_missing).await?;
        versions.insert(format!("{kind} {name:?}"), version);
        found.objects.insert((kind, name), values);
    }
    plan.check_values(instance, &versions)?;
    let (group, text) = (instance.group(), instance.text());
    let namespace = instance.namespace().to_owned();
    let permit = state.admission.expansion().await?;
    let expanded = state.limited(move |limits| {
        let _permit = permit;
        instance::expanded(group, &namespace, &text, &found, *limits)
    });
    Ok(Expansion { values: versions, ..expanded.await? })
}

/// Reads a Template of the namespace of an instance, in the group of the instance first, of those in
/// which the user may read it.
pub(crate) async fn stored(
    state: &State,
    instance: &Draft,
    user: &User,
    name: &str,
) -> Result<(Group, Stored, Revision), Problem> {
    let other = match instance.group {
        Group::Krm => Group::OpenShift,
        Group::OpenShift => Group::Krm,
    };
    let namespace = instance.namespace();
    let message = format!("the namespace {namespace:?} has no Template {name:?}");
    let mut refused = Vec::new();
    for group in [instance.group, other] {
        let resource = Kind::Template.resource();
        let wanted = Attributes::on("get", (group, Kind::Template), namespace, name);
        // Before the store is read, which would tell whether there is one.
        if let Err(status) = state.authorize(user, &wanted).await {
            refused.push(status.message);
            continue;
        }
        let key = format!("/{}/{resource}/{namespace}/{name}", group.name());
        let item = state.store.get(&key).await;
        let item = item.map_err(|error| Problem::new("TemplateNotFound", error.to_string()))?;
        if let Some(item) = item {
            return Ok((group, Stored::decode(&item.value)?, item.revision));
        }
    }
    match <[String; 2]>::try_from(refused) {
        Ok([first, _]) => Err(Problem::new("Forbidden", first)),
        Err(_) => Err(Problem::new("TemplateNotFound", message)),
    }
}

impl Plan {
    /// Checks that the values are those of the time at which somebody asked for the generation.
    fn check_values(
        &self,
        instance: &Instance,
        versions: &BTreeMap<String, String>,
    ) -> Result<(), Problem> {
        let pinned = self.values.as_ref();
        let Some(pinned) = pinned.filter(|_| self.generation == instance.generation()) else {
            return Ok(());
        };
        let mut changed = versions.iter();
        let changed = changed.find(|(name, version)| pinned.get(*name) != Some(*version));
        changed.map_or(Ok(()), |(name, _)| {
            let instance = instance.name();
            let message = format!(
                "the values in the {name} have changed since the last change of the spec: to use \
                 them, run `krm-template-server upgrade {instance}`"
            );
            Err(Problem::new(VALUES_CHANGED, message))
        })
    }
}

/// Reads the values in a ConfigMap or Secret of the namespace of an instance, and its version.
async fn values(
    state: &State,
    instance: &Instance,
    user: &User,
    (kind, name): (&'static str, &str),
    may_be_missing: bool,
) -> Result<Values, Problem> {
    use krm_template_cluster::Recorded;

    let Some(cluster) = &state.cluster else {
        return without_cluster(kind, name, may_be_missing);
    };
    let object = Recorded::new("v1", kind, instance.namespace(), name);
    let live = cluster.live(user, &object).await;
    match live.map_err(|failure| Problem::new("Forbidden", failure.message()))? {
        Some(live) => {
            let text = |field: &str| live.pointer(field).and_then(serde_json::Value::as_str);
            let [uid, revision] = ["/metadata/uid", "/metadata/resourceVersion"].map(text);
            let version = [uid.unwrap_or_default(), revision.unwrap_or_default()].join(" ");
            let values = data(&live, kind == "Secret").ok_or_else(|| {
                let message = format!("a value of the {kind} {name:?} is not UTF-8 text");
                Problem::new("ExpansionFailed", message)
            });
            Ok((values?, version))
        }
        None if may_be_missing => Ok(Values::default()),
        None => {
            let message = format!("the {kind} {name:?} does not exist");
            Err(Problem::new("ParametersMissing", message))
        }
    }
}

fn without_cluster(kind: &str, name: &str, may_be_missing: bool) -> Result<Values, Problem> {
    if may_be_missing {
        return Ok(Values::default());
    }
    let message = format!("the {kind} {name:?} cannot be read: the server has no cluster");
    Err(Problem::new("ParametersMissing", message))
}

/// Returns the texts in the field `data` of an object. Returns `None` if one is not text.
pub(super) fn data(live: &serde_json::Value, is_base64: bool) -> Option<BTreeMap<String, String>> {
    use base64::engine::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    let entries = live.get("data").and_then(serde_json::Value::as_object);
    let entries = entries.into_iter().flatten();
    entries
        .map(|(key, value)| {
            let text = value.as_str()?;
            let text = if is_base64 {
                String::from_utf8(STANDARD.decode(text).ok()?).ok()?
            } else {
                text.to_owned()
            };
            Some((key.clone(), text))
        })
        .collect()
}
