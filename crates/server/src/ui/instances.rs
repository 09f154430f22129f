//! Pages about instances of our group: their objects and history, and upgrades, whose changes are
//! shown before they are made.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method};
use minijinja::context;
use serde_json::{Value, json};

use super::deployments::{changed, moment};
use super::pages::{self, Data};
use super::visit::{Visit, encoded, html, redirect};
use crate::api::{Call, resource_request};
use crate::codec::Draft;
use crate::http::Answer;
use crate::instances::{expansion, preview, revisions};
use crate::registry::objects;
use crate::request::{DEFAULT_NAMESPACE, Query};
use krm_core::visible::counted;
use krm_template_server_core::{
    Attributes, Group, Item, Kind, Result, Status, conditions::find, rfc3339,
};

/// The address of the list.
pub(super) const HOME: &str = "/ui/instances";

/// The maximum number of instances, and of objects, on a page.
const MAX_ROWS: usize = 200;

/// Handles a request for a page about instances.
pub(super) async fn answer(visit: &Visit<'_>, path: &[&str]) -> Result<Answer> {
    let namespace = visit.incoming.query.text("namespace").trim();
    match path {
        [] => list(visit, namespace).await,
        [name] => {
            let namespace = if namespace.is_empty() { DEFAULT_NAMESPACE } else { namespace };
            Subject { visit, namespace, name }.answer().await
        }
        _ => Err(Status::no_such_path()),
    }
}

async fn list(visit: &Visit<'_>, namespace: &str) -> Result<Answer> {
    let at = (Group::Krm, namespace, "");
    visit.may("list", (Kind::Instance.resource(), ""), at).await?;
    let prefix = format!("/{}/{}/", Group::Krm.name(), Kind::Instance.resource());
    let prefix = match namespace {
        "" => prefix,
        namespace => format!("{prefix}{namespace}/"),
    };
    let page = visit.state.store.list(&prefix, None, MAX_ROWS, None).await;
    let page = page.map_err(|error| Status::unavailable(error.to_string()))?;
    let mut rows = Vec::new();
    for item in &page.items {
        rows.push(row(&resource_request::stored(item)?.draft(item.revision)));
    }
    let total = rows.len() + usize::try_from(page.remaining).unwrap_or(usize::MAX);
    let list = context! { rows, count => counted(total, "instance"), is_cut => page.remaining > 0 };
    let frame = visit.frame("instances", "Installed Templates", namespace);
    Ok(html(200, pages::render("instances.html", &frame, list)?))
}

/// The instance that a page is about.
struct Subject<'s> {
    visit: &'s Visit<'s>,
    namespace: &'s str,
    name: &'s str,
}

impl Subject<'_> {
    async fn answer(&self) -> Result<Answer> {
        self.may("get", "").await?;
        let (state, name) = (self.visit.state, self.name);
        let key = format!(
            "/{}/{}/{}/{name}",
            Group::Krm.name(),
            Kind::Instance.resource(),
            self.namespace
        );
        let item = state.store.get(&key).await;
        let item = item.map_err(|error| Status::unavailable(error.to_string()))?;
        let missing = || Status::not_found(Group::Krm.name(), Kind::Instance.resource(), name);
        let item = item.ok_or_else(missing)?;
        let draft = resource_request::stored(&item)?.draft(item.revision);
        if self.visit.incoming.method != Method::POST {
            return self.page(&draft, None).await;
        }
        self.may("update", "").await?;
        let spec = self.entered(&draft);
        if self.visit.entered.text("action") == "upgrade" {
            return self.upgrade(draft, &spec).await;
        }
        self.may("create", "preview").await?;
        let preview = self.preview(item, &draft, spec).await?;
        self.page(&draft, Some(preview)).await
    }

    async fn may(&self, verb: &str, subresource: &str) -> Result<()> {
        let resource = (Kind::Instance.resource(), subresource);
        let at = (Group::Krm, self.namespace, self.name);
        self.visit.may(verb, resource, at).await
    }

    async fn allows(&self, verb: &str, subresource: &str) -> Result<bool> {
        let of = (Group::Krm, Kind::Instance);
        let wanted =
            Attributes { subresource, ..Attributes::on(verb, of, self.namespace, self.name) };
        self.visit.state.allows(&self.visit.user, &wanted).await
    }

    async fn page(&self, draft: &Draft, preview: Option<Data>) -> Result<Answer> {
        let visit = self.visit;
        let status = draft.value("status");
        let objects = status.get("objects").and_then(Value::as_array);
        let objects = objects.map_or(&[][..], Vec::as_slice);
        let may_upgrade = self.allows("update", "").await?;
        let revisions = if self.allows("get", "revisions").await? {
            let uid = text(&Value::Object(draft.metadata.clone()), "uid");
            let at = (Group::Krm, self.namespace, self.name);
            let all = revisions::list(visit.state, at, &uid).await?;
            Some(all.iter().rev().map(|one| revision(visit, one)).collect::<Data>())
        } else {
            None
        };
        let parameters = if may_upgrade { Some(self.parameters(draft).await) } else { None };
        let upgrade = find(status.get("conditions"), "UpgradeAvailable");
        let upgrade = if upgrade.status == "True" { upgrade.message } else { "" };
        let page = context! {
            row => row(draft),
            list => context! {
                href => format!("{HOME}?namespace={}", encoded(self.namespace)),
                text => self.namespace.to_owned(),
            },
            message => ready(&status).2,
            upgrade => upgrade.to_owned(),
            objects => objects.iter().take(MAX_ROWS).map(object).collect::<Data>(),
            object_count => objects.len(),
            revisions,
            parameters,
            preview,
        };
        let frame = visit.frame("instance", self.name, self.namespace);
        Ok(html(200, pages::render("instance.html", &frame, page)?))
    }

    /// Returns the parameters of the instance and its Template, with their values.
    async fn parameters(&self, draft: &Draft) -> Vec<Data> {
        let spec = draft.value("spec");
        let given = spec.get("parameters").and_then(Value::as_object);
        let mut names: Vec<String> =
            given.into_iter().flatten().map(|(name, _)| name.clone()).collect();
        let declared = match spec.pointer("/templateRef/name").and_then(Value::as_str) {
            Some(name) => {
                let (state, user) = (self.visit.state, &self.visit.user);
                let stored = expansion::stored(state, draft, user, name).await;
                // The user may not read it, or it is gone.
                stored.map_or(Value::Null, |(_, stored, revision)| {
                    stored.draft(revision).value("parameters")
                })
            }
            None => spec.pointer("/template/parameters").cloned().unwrap_or_default(),
        };
        for one in declared.as_array().into_iter().flatten() {
            let name = text(one, "name");
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let value = |name: &str| {
            let entered = self.visit.entered.get(&format!("p.{name}"));
            let stored = given.and_then(|given| given.get(name));
            entered.map_or_else(|| stored.map(plain).unwrap_or_default(), str::to_owned)
        };
        let rows = names.into_iter().map(|name| context! { value => value(&name), name });
        rows.collect()
    }

    /// Returns the `spec` with the entered values. An empty value is the default.
    fn entered(&self, draft: &Draft) -> Value {
        let mut spec = draft.value("spec");
        let Some(fields) = spec.as_object_mut() else {
            return spec;
        };
        // The button also takes changed Templates.
        let now = rfc3339(self.visit.incoming.at);
        fields.insert("requestedAt".to_owned(), json!(now));
        let given = fields.entry("parameters").or_insert_with(|| json!({}));
        if let Some(given) = given.as_object_mut() {
            for (name, value) in self.visit.entered.values() {
                if value.is_empty() {
                    given.shift_remove(name);
                } else if given.get(name).map(plain).as_deref() != Some(value) {
                    given.insert(name.to_owned(), json!(value));
                }
            }
        }
        spec
    }

    async fn preview(&self, item: Item, draft: &Draft, spec: Value) -> Result<Data> {
        let visit = self.visit;
        let found = preview::changes(visit.state, &visit.user, item, Some(&spec)).await?;
        let list = |key: &str| found.get(key).and_then(Value::as_array).into_iter().flatten();
        let is_unchanged = |item: &&Value| text(item, "action") == "Unchanged";
        let texts = list("items").filter(|item| !is_unchanged(item)).map(|item| {
            let title =
                format!("{} {} {}", text(item, "action"), text(item, "kind"), text(item, "name"));
            changed(&title, text(item, "diff").lines())
        });
        Ok(context! {
            generation => generation(draft),
            texts => texts.map(|text| pages::data(&text)).collect::<Data>(),
            unchanged => counted(list("items").filter(is_unchanged).count(), "object"),
            failures => list("failures").map(plain).collect::<Data>(),
        })
    }

    /// Stores the instance with another `spec`, as a request to the API does.
    async fn upgrade(&self, mut draft: Draft, spec: &Value) -> Result<Answer> {
        let seen = self.visit.entered.text("generation");
        if seen != generation(&draft).to_string() {
            let why = "the instance has changed since the changes were shown; look at them again";
            return Err(Status::conflict(
                Group::Krm.name(),
                Kind::Instance.resource(),
                self.name,
                why,
            ));
        }
        draft.set("spec", spec);
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let query = Query::default();
        let call = Call {
            kind: Kind::Instance,
            query: &query,
            headers: &headers,
            body: Bytes::from(draft.to_value().to_string()),
            ..self.visit.call(Group::Krm, self.namespace)
        };
        objects::update(&call, self.name).await?;
        Ok(redirect(303, &address(&draft)))
    }
}

/// Returns the address of the page of an instance.
fn address(draft: &Draft) -> String {
    let (name, namespace) = (draft.name(), draft.namespace());
    format!("{HOME}/{}?namespace={}", encoded(name), encoded(namespace))
}

fn row(draft: &Draft) -> Data {
    let spec = draft.value("spec");
    let named = spec.pointer("/templateRef/name");
    let named = named.or_else(|| spec.pointer("/template/metadata/name"));
    let (tone, reason, _) = ready(&draft.value("status"));
    let (name, namespace) = (draft.name(), draft.namespace());
    context! {
        href => address(draft),
        name => name.to_owned(),
        namespace => namespace.to_owned(),
        template => named.map(plain).unwrap_or_default(),
        tone,
        reason,
    }
}

/// Returns how the condition `Ready` is shown, its reason and its message.
fn ready(status: &Value) -> (&'static str, String, String) {
    let ready = find(status.get("conditions"), "Ready");
    if ready.status.is_empty() {
        return ("pending", "Pending".to_owned(), String::new());
    }
    (tone(ready.reason), ready.reason.to_owned(), ready.message.to_owned())
}

/// Returns how a reason is shown.
fn tone(reason: &str) -> &'static str {
    match reason {
        "Applied" => "applied",
        "Progressing" => "running",
        "Deleting" => "deleting",
        "Suspended" | "ValidatedOnly" => "kept",
        _ => "failed",
    }
}

fn object(shown: &Value) -> Data {
    let readiness = text(shown, "readiness");
    let what = match readiness.as_str() {
        "Current" => "applied",
        "Failed" | "Missing" => "failed",
        "Terminating" => "deleting",
        _ => "pending",
    };
    let phase = text(shown, "phase");
    let message = match (phase.as_str(), readiness.as_str()) {
        ("Applied", readiness) if !readiness.is_empty() => readiness.to_owned(),
        _ => phase,
    };
    context! {
        kind => text(shown, "kind"),
        name => text(shown, "name"),
        namespace => text(shown, "namespace"),
        what => what.to_owned(),
        message,
    }
}

fn revision(visit: &Visit<'_>, one: &Value) -> Data {
    let outcome = text(one, "outcome");
    context! {
        number => one.get("revision").and_then(Value::as_u64).unwrap_or_default(),
        tone => tone(&outcome),
        outcome,
        user => text(one, "requester"),
        time => moment(visit, &text(one, "time")),
    }
}

fn generation(draft: &Draft) -> i64 {
    let generation = draft.metadata.get("generation");
    generation.and_then(Value::as_i64).unwrap_or_default()
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).map(plain).unwrap_or_default()
}

/// Returns a text as it is, and another value as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
