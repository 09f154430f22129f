//! The requester of a TemplateInstance: the user whose permissions install its objects.
//!
//! In OpenShift's group, a client may name another user with the verb `assign`, as there. Besides, the
//! name, the uid, the groups and the extra fields must be those of the client itself, or the client
//! needs the permission to impersonate each of them: else whoever has all verbs in one namespace
//! could act as any user, everywhere. In our group, it is always the user who last changed the
//! `spec`, and takes the stored Templates of that moment.

use serde_json::{Value, json};

use crate::api::Call;
use crate::codec::{Draft, Stored};
use crate::validation::instance;
use krm_template_server_core::auth::request::{AUTHENTICATED, SERVICE_ACCOUNT, SERVICE_ACCOUNTS};
use krm_template_server_core::{
    Attributes, Cause, Details, Group, Kind, Result, Revision, Status, User,
};

/// The maximum number of values for which permissions are asked.
const MAX_VALUES: usize = 100;

/// The fields of `metadata` that a garbage collector changes. For them, nobody needs to be the
/// requester.
///
/// Source: `IsOnlyMutatingGCFields` of `k8s.io/apiserver`, as OpenShift has it.
const COLLECTED: [&str; 4] = ["finalizers", "ownerReferences", "resourceVersion", "managedFields"];

/// Sets the requester of a written instance, and notes in the draft what the user may not set.
///
/// # Errors
/// Only those of authorization.
pub(crate) async fn admit(
    call: &Call<'_>,
    draft: &mut Draft,
    old: Option<(&Stored, Revision)>,
) -> Result<()> {
    if call.kind != Kind::Instance || call.is_status {
        return Ok(());
    }
    let old = old.map(|(old, revision)| old.draft(revision));
    if old.is_none() && call.state.installs() {
        finalize(draft);
    }
    match call.group {
        Group::Krm => admit_krm(call, draft, old.as_ref()).await?,
        Group::OpenShift => admit_openshift(call, draft, old.as_ref()).await,
    }
    Ok(())
}

/// Refuses a new instance in a namespace that has too many.
///
/// # Errors
/// 403, and those of the store.
pub(crate) async fn check_room(call: &Call<'_>, name: &str) -> Result<()> {
    if call.kind != Kind::Instance {
        return Ok(());
    }
    let mut count = 0;
    for group in Group::ALL {
        let prefix = format!("/{}/{}/{}/", group.name(), call.kind.resource(), call.namespace);
        let page = call.state.store.list(&prefix, None, 1, None).await;
        let page = page.map_err(|error| call.refused(name, &error))?;
        count += page.items.len() + page.damaged.len();
        count = count.saturating_add(usize::try_from(page.remaining).unwrap_or(usize::MAX));
    }
    let limit = call.state.limits.max_instances_per_namespace.get();
    if count < limit {
        return Ok(());
    }
    let (group, resource) = (call.group.name(), call.kind.resource());
    let message = format!(
        "{resource}.{group} {name:?} is forbidden: the namespace {:?} has {count} \
         TemplateInstances, and --max-instances-per-namespace is {limit}; delete some that are not \
         needed",
        call.namespace
    );
    let details = Details::of(group, resource, name);
    Err(Status::new(403, "Forbidden", message).with(details))
}

/// Adds the finalizer of the server that installs an instance: set later, an instance that is
/// deleted before would leave its objects behind.
fn finalize(draft: &mut Draft) {
    let own = instance::finalizer(draft.group);
    let mut all: Vec<&str> = draft.finalizers().collect();
    if !all.contains(&own) {
        all.push(own);
        let all = json!(all);
        draft.metadata.insert("finalizers".to_owned(), all);
    }
}

/// Sets the requester of an instance of our group, and the version of its stored Templates.
async fn admit_krm(call: &Call<'_>, draft: &mut Draft, old: Option<&Draft>) -> Result<()> {
    let mut spec = draft.value("spec");
    let before = old.map(|old| old.value("spec"));
    let kept = before.filter(|before| instance::is_same_request(before, &spec));
    let is_kept = kept.is_some();
    let names = instance::templates(&spec);
    let (requester, version) = if let Some(before) = kept {
        let field = |key| before.get(key).cloned();
        (field("requester"), field("templateVersion"))
    } else {
        let revision = call.state.store.revision().await;
        let revision = revision.map_err(|error| call.refused(draft.name(), &error))?;
        let version = (!names.is_empty()).then(|| json!(revision.to_string()));
        (Some(instance::requester(call.user)), version)
    };
    if !is_kept && spec.get("upgrades").and_then(Value::as_str) == Some("Automatic") {
        draft.refused = may_not_update(call, &names).await;
    }
    let account = spec.get("serviceAccountName").and_then(Value::as_str);
    let account = account.unwrap_or_default().to_owned();
    // Whoever changes the Template decides what the ServiceAccount does.
    if !is_kept && !account.is_empty() {
        let wanted = Attributes::impersonating("serviceaccounts", call.namespace, &account);
        if call.state.authorize(call.user, &wanted).await.is_err() {
            let message = format!(
                "Forbidden: you do not have permission to impersonate the ServiceAccount {account:?}"
            );
            let field = "spec.serviceAccountName";
            draft.refused.push(Cause::new("FieldValueForbidden", field, message));
        }
    }
    if let Some(fields) = spec.as_object_mut() {
        fields.insert("requester".to_owned(), requester.unwrap_or_default());
        fields.shift_remove("templateVersion");
        fields.extend(version.map(|version| ("templateVersion".to_owned(), version)));
        draft.set("spec", &spec);
    }
    Ok(())
}

/// Returns an error for each Template whose changes the user wants to be installed, but may not
/// make, in any group in which it may be stored.
async fn may_not_update(call: &Call<'_>, names: &[String]) -> Vec<Cause> {
    let mut refused = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let mut may = index < MAX_VALUES;
        for group in Group::ALL {
            let wanted = Attributes::on("update", (group, Kind::Template), call.namespace, name);
            may = may && call.state.authorize(call.user, &wanted).await.is_ok();
        }
        if !may {
            let message = format!(
                "Forbidden: you do not have permission to update the Template {name:?} in both \
                 groups"
            );
            refused.push(Cause::new("FieldValueForbidden", "spec.upgrades", message));
        }
    }
    refused
}

async fn admit_openshift(call: &Call<'_>, draft: &mut Draft, old: Option<&Draft>) {
    let mut spec = draft.value("spec");
    let Some(given) = spec.get("requester") else {
        if old.is_none()
            && let Some(fields) = spec.as_object_mut()
        {
            fields.insert("requester".to_owned(), instance::requester(call.user));
            draft.set("spec", &spec);
        }
        return;
    };
    if old.is_some_and(|old| is_collected(draft, old)) {
        return;
    }
    // Without a name, validation refuses it.
    let Some(wanted) = instance::user(given) else {
        return;
    };
    let mut refused = Vec::new();
    let may_assign = wanted.name == call.user.name || may_assign(call, draft.name()).await;
    if !may_assign {
        let why = "Forbidden: you do not have permission to set username";
        refused.push(Cause::new("FieldValueForbidden", "spec.requester.username", why));
    }
    // An update cannot change it.
    if old.is_none() {
        refused.extend(foreign(call, &wanted, may_assign).await);
    }
    draft.refused = refused;
}

/// Returns `true` if an update changes only what a garbage collector does.
fn is_collected(draft: &Draft, old: &Draft) -> bool {
    let rest = |draft: &Draft| {
        let mut metadata = draft.metadata.clone();
        for key in COLLECTED {
            metadata.shift_remove(key);
        }
        metadata
    };
    let fields = |draft: &Draft| (draft.value("spec"), draft.value("status"));
    rest(draft) == rest(old) && fields(draft) == fields(old)
}

async fn may_assign(call: &Call<'_>, name: &str) -> bool {
    let wanted = Attributes::on("assign", (call.group, call.kind), call.namespace, name);
    call.state.authorize(call.user, &wanted).await.is_ok()
}

/// Returns the permission to impersonate a user, and the groups that come with the name.
///
/// Source: `filters/impersonation.go` of `k8s.io/apiserver/pkg/endpoints`.
fn by_name(name: &str) -> (Attributes<'_>, Vec<String>) {
    let mut wanted = Attributes::impersonating("users", "", name);
    let mut groups = vec![AUTHENTICATED.to_owned()];
    let account = name.strip_prefix(SERVICE_ACCOUNT);
    let account = account.and_then(|account| account.split_once(':'));
    let is_account = |(namespace, account): &(&str, &str)| {
        !namespace.is_empty() && !account.is_empty() && !account.contains(':')
    };
    if let Some((namespace, account)) = account.filter(is_account) {
        wanted = Attributes::impersonating("serviceaccounts", namespace, account);
        groups.extend([SERVICE_ACCOUNTS.to_owned(), format!("{SERVICE_ACCOUNTS}:{namespace}")]);
    }
    (wanted, groups)
}

/// Returns an error for each part of the requester that is not the user's and that the user may not
/// impersonate; of the name only if it `may_assign` one.
async fn foreign(call: &Call<'_>, wanted: &User, may_assign: bool) -> Vec<Cause> {
    let own = call.user;
    let (of_name, implied) = by_name(&wanted.name);
    let part = |group, resource, subresource, name| Attributes {
        group,
        resource,
        subresource,
        namespace: "",
        name,
        ..of_name
    };
    let authentication = "authentication.k8s.io";
    let mut values = Vec::new();
    if wanted.name != own.name && may_assign {
        values.push(("username", of_name));
    }
    if !wanted.uid.is_empty() && wanted.uid != own.uid {
        values.push(("uid", part(authentication, "uids", "", &*wanted.uid)));
    }
    let groups = wanted.groups.iter();
    let groups = groups.filter(|group| !own.is_in(group) && !implied.contains(group));
    values.extend(groups.map(|group| ("groups", part("", "groups", "", group))));
    for (key, all) in &wanted.extra {
        let own = own.extra.get(key).map_or(&[][..], Vec::as_slice);
        let all = all.iter().filter(|value| !own.contains(value));
        let right = |value| part(authentication, "userextras", &**key, value);
        values.extend(all.map(|value| ("extra", right(value))));
    }
    let mut refused = Vec::new();
    for (index, (field, wanted)) in values.into_iter().enumerate() {
        if index < MAX_VALUES && call.state.authorize(own, &wanted).await.is_ok() {
            continue;
        }
        let name = wanted.name;
        let field = format!("spec.requester.{field}");
        let message = format!("Forbidden: you do not have permission to impersonate {name:?}");
        refused.push(Cause::new("FieldValueForbidden", &field, message));
    }
    refused
}
