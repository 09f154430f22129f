//! Observers of the steps of a change.

use super::objects::write;
use super::status::Status;
use super::store::{Context, Instance, Stop};
use krm_template_cluster::{Progress, Recorded, Step, record};
use krm_template_server_core::{Result as Answered, Status as Refused};

/// An observer that only stops a change when the server loses the lease.
pub(super) struct Silent<'s>(pub(super) &'s Context);

impl Progress for Silent<'_> {
    async fn step(&mut self, _: &Step) -> Answered<()> {
        may_work(self.0)
    }
}

pub(super) fn may_work(context: &Context) -> Answered<()> {
    if context.may_work() {
        return Ok(());
    }
    let message = "another server works on the instance now";
    Err(Refused::unavailable(message))
}

/// An observer that records each object in the status.
pub(super) struct Journal<'j> {
    pub(super) context: &'j Context,
    pub(super) instance: &'j mut Instance,
    pub(super) status: &'j mut Status,
    pub(super) before: Vec<Recorded>,
    pub(super) done: Vec<Step>,
    /// The number of steps between two writes.
    pub(super) every: usize,
    pub(super) stopped: Option<Stop>,
}

impl Progress for Journal<'_> {
    async fn step(&mut self, step: &Step) -> Answered<()> {
        may_work(self.context)?;
        self.done.push(step.clone());
        if !self.done.len().is_multiple_of(self.every) {
            return Ok(());
        }
        write(self.status, &record(&self.before, &self.done));
        let saved = self.instance.save(self.context, &self.status.value()).await;
        saved.map_err(|stop| {
            self.stopped = Some(stop);
            Refused::unavailable("the instance has changed")
        })
    }
}
