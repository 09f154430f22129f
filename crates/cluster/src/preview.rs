//! The changes that an apply would make, as a dry run returns them.

use serde_json::Value;

use super::cluster::{Cluster, Silent};
use super::failure::{Failure, Refusal};
use super::plan::{Phase, Planned, defines};
use super::run::Run;
use super::types::{Conflicts, Object, Owner, Progress, Recorded};
use krm_template_server_core::auth::User;

/// An object before and after an apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// The object.
    pub object: Recorded,
    /// The live object, if there is one.
    pub before: Option<Value>,
    /// The object after the apply. If the set itself creates its Namespace or its kind, the cluster
    /// cannot be asked, and this is the object that would be sent.
    pub after: Value,
}

impl Cluster {
    /// Returns what an apply on behalf of the caller would change, and the error of each object that
    /// the cluster refuses. Changes nothing. With `is_strict`, the cluster is also asked about objects
    /// whose Namespace or kind the set itself creates.
    pub async fn preview(
        &self,
        caller: &User,
        owner: &Owner,
        objects: &[Object],
        conflicts: Conflicts,
        is_strict: bool,
    ) -> (Vec<Preview>, Vec<Failure>) {
        match self.run(caller, owner, &mut Silent).await {
            Ok(mut run) => {
                run.conflicts = conflicts;
                run.preview(objects, is_strict).await
            }
            Err(failure) => (Vec::new(), vec![failure]),
        }
    }
}

impl<P: Progress> Run<'_, P> {
    async fn preview(
        &mut self,
        objects: &[Object],
        is_strict: bool,
    ) -> (Vec<Preview>, Vec<Failure>) {
        let planned = match self.planned(objects) {
            Ok(planned) => self.placed(planned).await,
            Err(refusal) => Err((refusal, None)),
        };
        let planned = match planned {
            Ok(planned) => planned,
            Err(stop) => {
                let failure = self.ended(Err(stop)).err();
                return (Vec::new(), failure.into_iter().collect());
            }
        };
        let (mut previews, mut failures) = (Vec::new(), Vec::new());
        for one in &planned {
            match self.preview_one(&planned, one, is_strict).await {
                Ok(preview) => previews.push(preview),
                Err(refusal) => {
                    let stop = Err((refusal, Some(one.identity.clone())));
                    failures.extend(self.ended(stop).err());
                }
            }
        }
        (previews, failures)
    }

    async fn preview_one(
        &self,
        all: &[Planned],
        one: &Planned,
        is_strict: bool,
    ) -> Result<Preview, Refusal> {
        let is_new_namespace = all.iter().any(|other| {
            Phase::of(&other.identity) == Phase::Namespaces
                && other.identity.name == one.identity.namespace
        });
        let cannot_ask = is_new_namespace || defines(all, &one.identity);
        let (before, after) = if cannot_ask && !is_strict {
            (None, self.body(one, None, true))
        } else {
            let resource = self.resource(all, &one.identity).await?;
            let sent = self.sent(one, &resource, "&dryRun=All").await?;
            (sent.live, sent.applied)
        };
        Ok(Preview { object: one.identity.clone(), before, after })
    }
}
