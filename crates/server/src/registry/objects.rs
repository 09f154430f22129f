//! Requests for one stored object: create, get, update and patch.

use std::iter;
use std::time::Duration;

use serde_json::Value;
use tokio::time::sleep;

use super::requester;
use crate::api::{Call, render, resource_request};
use crate::codec::{Draft, Stored, decode};
use crate::http::{Answer, response};
use crate::instances::authors;
use crate::patch::managed_fields::{self, Writer};
use crate::patch::{json, merge, strategic};
use crate::request::{
    At, PatchOptions, PatchType, ResponseFormat, Scope, WriteOptions, content_type, list_options,
};
use crate::validation::{instance, object_meta};
use krm_template_server_core::{Item, Result, Revision, Status, store::Error};

/// The maximum number of attempts to generate a name for `generateName`.
///
/// Source: `k8s.io/apiserver/pkg/registry/rest/create.go`.
const NAME_ATTEMPTS: usize = 8;

/// The maximum number of attempts to patch an object that other clients modify. kube-apiserver
/// retries until the request times out.
///
/// Source: `GuaranteedUpdate` of `k8s.io/apiserver/pkg/storage/etcd3`.
const PATCH_ATTEMPTS: usize = 100;

/// The number of attempts without a pause, and the longest pause before the others.
const QUICK_ATTEMPTS: usize = 5;
const MAX_PAUSE: Duration = Duration::from_millis(50);

/// An object after a write, and its revision. The revision of an object that is not stored is zero.
struct Written(Stored, Revision);

/// Stores the object in the request body.
pub(crate) async fn create(call: &Call<'_>) -> Result<Answer> {
    let shown = call.shown(Scope::One)?;
    let (written, warnings) = created(call).await?;
    Ok(show(call, 201, shown, &written, &warnings).await)
}

/// Stores the object in the request body and returns its name.
pub(crate) async fn store(call: &Call<'_>) -> Result<String> {
    let (Written(stored, _), _) = created(call).await?;
    Ok(stored.name().to_owned())
}

async fn created(call: &Call<'_>) -> Result<(Written, Vec<String>)> {
    let options = WriteOptions::create(call.query)?;
    let manager = call.manager(options.field_manager.as_deref());
    let read = call.work(call.body.len(), || -> Result<_> {
        let (mut draft, warnings) = decoded(call, &options)?;
        call.check_length(draft.name(), draft.length())?;
        track_managed_fields(call, None, &mut draft, &manager);
        Ok((draft, warnings))
    });
    let (mut draft, warnings) = read.await?;
    requester::admit(call, &mut draft, None).await?;
    let written = insert(call, draft, options.dry_run).await?;
    Ok((written, warnings))
}

/// Returns the object in the request body, and warnings about it.
fn decoded(call: &Call<'_>, options: &WriteOptions) -> Result<(Draft, Vec<String>)> {
    let format = content_type::of_object(call.content_type())?;
    let validation = options.field_validation;
    decode::object(call.group, call.kind, format, &call.body, validation)
}

/// Stores a new object. Generates its name if it has only `generateName`.
async fn insert(call: &Call<'_>, draft: Draft, dry_run: bool) -> Result<Written> {
    let attempts = if draft.name().is_empty() { NAME_ATTEMPTS } else { 1 };
    call.check_namespace(call.kind.resource(), draft.name()).await?;
    requester::check_room(call, draft.name()).await?;
    // The last attempt does not copy it.
    let mut drafts = iter::repeat_n(draft, attempts);
    while let Some(mut draft) = drafts.next() {
        let create = object_meta::Create {
            namespace: call.namespace,
            now: call.now,
            uid: &uuid::Uuid::new_v4().to_string(),
            suffix: &random_suffix()?,
        };
        let encoded = call.work(call.body.len(), || {
            object_meta::create(&mut draft, &create)?;
            call.encoded(&draft)
        });
        let stored = encoded.await?;
        let written = if dry_run {
            match call.find(stored.name()).await? {
                Some(_) => Err(Error::Exists),
                None => Ok(0),
            }
        } else {
            let key = call.key(stored.name());
            let created = call.state.store.create(&key, stored.bytes().clone()).await;
            authors::note(call, stored.name(), 0, &created).await;
            created
        };
        match written {
            Ok(revision) => return Ok(Written(stored, revision)),
            Err(Error::Exists) if drafts.len() > 0 => {}
            Err(error) => return Err(call.refused(stored.name(), &error)),
        }
    }
    Err(Status::internal("no generated name is free"))
}

pub(crate) async fn get(call: &Call<'_>, name: &str) -> Result<Answer> {
    let shown = call.shown(Scope::One)?;
    if let At::NotOlderThan(revision) = list_options::get(call.query)? {
        call.reach(revision).await?;
    }
    let item = call.found(name).await?;
    let stored = resource_request::stored(&item)?;
    Ok(render::object(call, 200, shown, &stored, item.revision).await)
}

pub(crate) async fn update(call: &Call<'_>, name: &str) -> Result<Answer> {
    let shown = call.shown(Scope::One)?;
    let options = WriteOptions::update(call.query)?;
    let read = call.work(call.body.len(), || -> Result<_> {
        let (mut draft, warnings) = decoded(call, &options)?;
        object_meta::named(&mut draft, call.namespace, name)?;
        call.check_length(name, draft.length())?;
        Ok((draft, warnings))
    });
    let (mut draft, warnings) = read.await?;
    let current = call.found(name).await?;
    let manager = call.manager(options.field_manager.as_deref());
    let old = resource_request::stored(&current)?;
    requester::admit(call, &mut draft, Some((&old, current.revision))).await?;
    let change = call.work(call.body.len() + current.value.len(), || {
        let old = old.draft(current.revision);
        let expected = object_meta::must_expect(&draft)?;
        object_meta::same_uid(&draft, &old)?;
        if expected != current.revision {
            return Err(call.modified(name));
        }
        track_managed_fields(call, Some(&old), &mut draft, &manager);
        complete(call, &mut draft, &old)?;
        Change::of(call, &draft, &old)
    });
    let change = change.await?;
    let written = replace(call, current, change, options.dry_run).await?;
    let written = written.map_err(|error| call.refused(name, &error))?;
    Ok(show(call, 200, shown, &written, &warnings).await)
}

/// Patches an object, or applies a configuration.
pub(crate) async fn patch(call: &Call<'_>, name: &str) -> Result<Answer> {
    let shown = call.shown(Scope::One)?;
    for attempt in 0..PATCH_ATTEMPTS {
        if attempt >= QUICK_ATTEMPTS {
            let random = getrandom::u32().unwrap_or(u32::MAX);
            sleep(MAX_PAUSE.mul_f64(f64::from(random) / f64::from(u32::MAX))).await;
        }
        // Read again for each attempt, which consumes it: a copy would need twice the memory.
        let patch = call.work(call.body.len(), || Patch::read(call)).await?;
        let dry_run = patch.options.write.dry_run;
        let Some(current) = call.find(name).await? else {
            if call.is_status {
                return Err(call.not_found(name));
            }
            if matches!(patch.content, PatchContent::Apply(_)) {
                call.may_create(name).await?;
            }
            let applied = call.work(call.body.len(), || patch.applied(call, name, None));
            let (mut draft, warnings) = applied.await?;
            requester::admit(call, &mut draft, None).await?;
            let written = insert(call, draft, dry_run).await?;
            return Ok(show(call, 201, shown, &written, &warnings).await);
        };
        let manager = patch.manager.clone();
        let is_apply = matches!(patch.content, PatchContent::Apply(_));
        let stored = resource_request::stored(&current)?;
        let cost = patch.cost(call, &current);
        let patched = call.work(cost, || {
            let old = stored.draft(current.revision);
            patch.applied(call, name, Some(&old))
        });
        let (mut draft, warnings) = patched.await?;
        requester::admit(call, &mut draft, Some((&stored, current.revision))).await?;
        let change = call.work(cost, || {
            let old = stored.draft(current.revision);
            if object_meta::must_expect(&draft)? != current.revision {
                return Err(call.modified(name));
            }
            if !is_apply {
                track_managed_fields(call, Some(&old), &mut draft, &manager);
            }
            complete(call, &mut draft, &old)?;
            Change::of(call, &draft, &old)
        });
        let change = change.await?;
        match replace(call, current, change, dry_run).await? {
            Ok(written) => return Ok(show(call, 200, shown, &written, &warnings).await),
            // Another client has modified it.
            Err(Error::Stale(_)) => {}
            Err(error) => return Err(call.refused(name, &error)),
        }
    }
    Err(call.modified(name))
}

/// The effect of a write on an object.
enum Change {
    /// Nothing: it is unchanged.
    None,
    /// It stores the object.
    Store(Stored),
    /// It deletes the object, which was marked for deletion and has no more finalizers. Has its last
    /// state.
    Delete(Stored),
}

impl Change {
    fn of(call: &Call<'_>, draft: &Draft, old: &Draft) -> Result<Self> {
        if object_meta::is_same(draft, old) {
            return Ok(Self::None);
        }
        let stored = call.encoded(draft)?;
        Ok(if draft.is_being_deleted() && draft.finalizers().next().is_none() {
            Self::Delete(stored)
        } else {
            Self::Store(stored)
        })
    }
}

struct Patch {
    content: PatchContent,
    options: PatchOptions,
    manager: String,
    /// The messages about duplicate keys in the body.
    repeated: Vec<String>,
}

/// The content of a patch request.
enum PatchContent {
    Json(json::JsonPatch),
    Merge(Value),
    Strategic(Value),
    /// A configuration for server-side apply.
    Apply(Value),
}

impl Patch {
    fn read(call: &Call<'_>) -> Result<Self> {
        let kind = content_type::of_patch(call.content_type(), call.group)?;
        let options = PatchOptions::parse(call.query, kind == PatchType::Apply)?;
        let manager = call.manager(options.write.field_manager.as_deref());
        let (content, repeated) = match kind {
            PatchType::Json => {
                let content = PatchContent::Json(json::parse(&call.body)?);
                (content, decode::repeated_keys(&call.body))
            }
            PatchType::Merge => {
                let (patch, repeated) = merge::parse(&call.body)?;
                (PatchContent::Merge(patch), repeated)
            }
            PatchType::Strategic => {
                let (patch, repeated) = merge::parse(&call.body)?;
                (PatchContent::Strategic(patch), repeated)
            }
            PatchType::Apply => {
                let validation = options.write.field_validation;
                let (object, repeated) = decode::configuration(&call.body, validation)?;
                (PatchContent::Apply(object), repeated)
            }
        };
        Ok(Self { content, options, manager, repeated })
    }

    /// Returns the size of the texts that determine the cost of the patch.
    fn cost(&self, call: &Call<'_>, current: &Item) -> usize {
        match self.content {
            // Operations can copy values again and again.
            PatchContent::Json(_) => usize::MAX,
            _ => call.body.len() + current.value.len(),
        }
    }

    /// Returns the patched object and the warnings about it. Only an apply can create an object.
    fn applied(
        self,
        call: &Call<'_>,
        name: &str,
        old: Option<&Draft>,
    ) -> Result<(Draft, Vec<String>)> {
        let current = old.map(Draft::to_value);
        let value = match (self.content, current) {
            (PatchContent::Apply(object), current) => {
                call.check_length(name, object.to_string().len())?;
                let time = call.time();
                let writer = writer(call, &self.manager, &time);
                let force = self.options.force;
                managed_fields::apply(
                    call.group,
                    call.kind,
                    current.as_ref(),
                    &object,
                    &writer,
                    force,
                )?
            }
            (_, None) => return Err(call.not_found(name)),
            (PatchContent::Json(patch), Some(mut value)) => {
                patch.apply(&mut value)?;
                value
            }
            (PatchContent::Merge(patch), Some(mut value)) => {
                merge::apply(&mut value, patch);
                value
            }
            (PatchContent::Strategic(patch), Some(mut value)) => {
                strategic::apply(&mut value, &patch)?;
                value
            }
        };
        let validation = self.options.write.field_validation;
        let (mut draft, warnings) =
            decode::patched(call.group, call.kind, value, old, &self.repeated, validation)?;
        object_meta::named(&mut draft, call.namespace, name)?;
        Ok((draft, warnings))
    }
}

/// Returns the writer of an object, or of its status.
const fn writer<'w>(call: &Call<'_>, manager: &'w str, time: &'w str) -> Writer<'w> {
    Writer { manager, time, subresource: if call.is_status { "status" } else { "" } }
}

/// Completes and validates an object that replaces another. As in kube-apiserver, this comes after
/// the managed fields: a client also owns what it could not change.
fn complete(call: &Call<'_>, draft: &mut Draft, old: &Draft) -> Result<()> {
    object_meta::keep_other_part(draft, old, call.is_status);
    object_meta::update(draft, old)?;
    instance::settle(draft);
    Ok(())
}

/// Updates the managed fields of an object after a write.
fn track_managed_fields(call: &Call<'_>, old: Option<&Draft>, draft: &mut Draft, manager: &str) {
    let time = call.time();
    // Fields that are unknown have no owners.
    let old = old.map(Draft::to_known_value);
    let mut value = draft.take_known_value();
    managed_fields::track_update(
        call.group,
        old.as_ref(),
        &mut value,
        &writer(call, manager, &time),
    );
    match value.pointer_mut("/metadata/managedFields").map(Value::take) {
        Some(fields) => _ = draft.metadata.insert("managedFields".to_owned(), fields),
        None => _ = draft.metadata.shift_remove("managedFields"),
    }
}

/// Makes a change of a stored object.
async fn replace(
    call: &Call<'_>,
    current: Item,
    change: Change,
    dry_run: bool,
) -> Result<Result<Written, Error>> {
    let store = &call.state.store;
    let (key, revision) = (&current.key, current.revision);
    let (stored, written) = match change {
        Change::None => return Ok(Ok(Written(resource_request::stored(&current)?, revision))),
        Change::Store(stored) | Change::Delete(stored) if dry_run => (stored, Ok(revision)),
        Change::Store(stored) => {
            let bytes = stored.bytes().clone();
            let written = store.update(key, bytes, revision).await;
            authors::note(call, stored.name(), revision, &written).await;
            (stored, written)
        }
        // As in kube-apiserver, the response has the revision of the last stored state.
        Change::Delete(stored) => {
            authors::forget(call, stored.name()).await;
            let deleted = store.delete(key, revision).await;
            (stored, deleted.map(|_| revision))
        }
    };
    Ok(written.map(|revision| Written(stored, revision)))
}

async fn show(
    call: &Call<'_>,
    code: u16,
    shown: ResponseFormat,
    Written(stored, revision): &Written,
    warnings: &[String],
) -> Answer {
    let mut answer = render::object(call, code, shown, stored, *revision).await;
    response::warn(&mut answer, warnings);
    answer
}

/// Returns the random suffix of a generated name.
fn random_suffix() -> Result<String> {
    let mut bytes = [0; object_meta::SUFFIX_LENGTH];
    getrandom::fill(&mut bytes)
        .map_err(|error| Status::internal(format!("cannot generate random numbers: {error}")))?;
    let letters = object_meta::SUFFIX_CHARACTERS.as_bytes();
    let letter = |byte: u8| letters.get(usize::from(byte) % letters.len()).copied();
    Ok(bytes.into_iter().filter_map(letter).map(char::from).collect())
}
