//! The metrics of the server, in the text format of `OpenMetrics`.
//!
//! A label has few values, and none of them comes from a client: unknown values become `other`. No
//! label contains the name of a Template, a namespace or a user.

mod labels;
mod process;
mod running;

use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

pub use self::labels::{Dialect, Operation, Outcome, Request};
use self::labels::{
    ExpansionLabels, InstanceLabels, ObjectsLabels, OptionLabels, ReasonLabels, RequestLabels,
    ResultLabels, StoreLabels, TimeLabels,
};
use super::admission::Admission;
use crate::groups::{Group, Kind};

/// The content type of [`Metrics::text`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The upper bounds of the duration buckets, in seconds.
const SECONDS: [f64; 16] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
    60.0,
];

/// The upper bounds of the buckets for numbers of objects.
const OBJECTS: [f64; 13] =
    [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0, 2_000.0, 5_000.0, 10_000.0];

type Histograms<Labels> = Family<Labels, Histogram, fn() -> Histogram>;

/// All metrics of the server.
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Histograms<TimeLabels>,
    expansions: Family<ExpansionLabels, Counter>,
    expansion_seconds: Histogram,
    expansion_objects: Histogram,
    store_seconds: Histograms<StoreLabels>,
    store_objects: Family<ObjectsLabels, Gauge>,
    events_dropped: Counter,
    authorization_seconds: Histogram,
    files_failed: Family<OptionLabels, Gauge>,
    panics: Counter,
    audit_dropped: Counter,
    instances: Family<InstanceLabels, Gauge>,
    reconcile_seconds: Histograms<ResultLabels>,
    reconcile_errors: Family<ReasonLabels, Counter>,
    queue_length: Gauge,
}

impl Metrics {
    /// Creates metrics that start at zero. `admission` counts the requests in flight and the
    /// watches. `version` and `commit` describe the build; `commit` may be empty.
    #[must_use]
    pub fn new(admission: Admission, version: &str, commit: &str) -> Self {
        let mut metrics = Self {
            registry: Registry::default(),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(seconds),
            expansions: Family::default(),
            expansion_seconds: seconds(),
            expansion_objects: Histogram::new(OBJECTS),
            store_seconds: Family::new_with_constructor(seconds),
            store_objects: Family::default(),
            events_dropped: Counter::default(),
            authorization_seconds: seconds(),
            files_failed: Family::default(),
            panics: Counter::default(),
            audit_dropped: Counter::default(),
            instances: Family::default(),
            reconcile_seconds: Family::new_with_constructor(seconds),
            reconcile_errors: Family::default(),
            queue_length: Gauge::default(),
        };
        metrics.register_requests();
        metrics.register_work();
        metrics.register_instances();
        let built = vec![("version", version.to_owned()), ("commit", commit.to_owned())];
        let ours = metrics.registry.sub_registry_with_prefix("krm_template");
        ours.register("build", "The version and the commit of the program", Info::new(built));
        ours.register_collector(Box::new(running::Running(admission)));
        metrics.registry.register_collector(Box::new(process::Process::new()));
        metrics
    }

    fn register_requests(&mut self) {
        let ours = self.registry.sub_registry_with_prefix("krm_template");
        ours.register("requests", "Requests that were answered", self.requests.clone());
        ours.register(
            "request_seconds",
            "How long requests took, except watches",
            self.request_seconds.clone(),
        );
        ours.register("panics", "Panics that were caught", self.panics.clone());
        ours.register(
            "authorization_seconds",
            "How long it took to decide whether a request is allowed",
            self.authorization_seconds.clone(),
        );
        ours.register(
            "files_failed",
            "Whether the files of an option cannot be used any more",
            self.files_failed.clone(),
        );
        ours.register(
            "audit_dropped",
            "Lines of the audit log that were not written",
            self.audit_dropped.clone(),
        );
    }

    fn register_work(&mut self) {
        let ours = self.registry.sub_registry_with_prefix("krm_template");
        ours.register("expansions", "Expansions of Templates", self.expansions.clone());
        ours.register(
            "expansion_seconds",
            "How long expansions took",
            self.expansion_seconds.clone(),
        );
        ours.register(
            "expansion_objects",
            "How many objects expansions created",
            self.expansion_objects.clone(),
        );
        ours.register(
            "store_seconds",
            "How long operations of the store took",
            self.store_seconds.clone(),
        );
        ours.register("store_objects", "Objects in the store", self.store_objects.clone());
        ours.register(
            "events_dropped",
            "Watches that were ended because the client was too slow",
            self.events_dropped.clone(),
        );
    }

    fn register_instances(&mut self) {
        let ours = self.registry.sub_registry_with_prefix("krm_template");
        ours.register(
            "instances",
            "TemplateInstances that the server works on",
            self.instances.clone(),
        );
        ours.register(
            "instances_reconcile_seconds",
            "How long steps of TemplateInstances took",
            self.reconcile_seconds.clone(),
        );
        ours.register(
            "instances_reconcile_errors",
            "Failed steps of TemplateInstances",
            self.reconcile_errors.clone(),
        );
        ours.register(
            "instances_queue_length",
            "TemplateInstances that wait for a step",
            self.queue_length.clone(),
        );
    }

    /// Sets the number of instances of a group that are ready, or are not.
    pub fn set_instances(&self, group: Group, is_ready: bool, count: usize) {
        let labels =
            InstanceLabels { group: group.name(), ready: if is_ready { "true" } else { "false" } };
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.instances.get_or_create(&labels).set(count);
    }

    /// Measures a step of an instance, by its result.
    pub fn observe_reconcile(&self, result: &'static str, elapsed: Duration) {
        self.reconcile_seconds
            .get_or_create(&ResultLabels { result })
            .observe(elapsed.as_secs_f64());
    }

    /// Counts a failed step of an instance by the reason of its condition.
    pub fn count_instance_error(&self, reason: &'static str) {
        let labels = ReasonLabels { reason };
        self.reconcile_errors.get_or_create(&labels).inc();
    }

    /// Sets the number of instances that wait for a step.
    pub fn set_instances_queued(&self, count: usize) {
        self.queue_length.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Counts a request that was answered with `code`. `elapsed` is absent for a watch.
    pub fn observe_request(&self, request: Request<'_>, code: u16, elapsed: Option<Duration>) {
        let labels = RequestLabels::new(request, code);
        if let Some(elapsed) = elapsed {
            let seconds = self.request_seconds.get_or_create(&TimeLabels::new(&labels));
            seconds.observe(elapsed.as_secs_f64());
        }
        self.requests.get_or_create(&labels).inc();
    }

    /// Counts an expansion that created `objects` objects; zero if it failed.
    pub fn observe_expansion(
        &self,
        dialect: Dialect,
        outcome: Outcome,
        objects: usize,
        elapsed: Duration,
    ) {
        self.expansions.get_or_create(&ExpansionLabels::new(dialect, outcome)).inc();
        self.expansion_seconds.observe(elapsed.as_secs_f64());
        if outcome == Outcome::Ok {
            self.expansion_objects.observe(f64::from(u32::try_from(objects).unwrap_or(u32::MAX)));
        }
    }

    /// Measures an operation of the store, which is `memory`, `file` or `etcd`.
    pub fn observe_store(&self, store: &'static str, operation: Operation, elapsed: Duration) {
        self.store_seconds
            .get_or_create(&StoreLabels::new(store, operation))
            .observe(elapsed.as_secs_f64());
    }

    /// Sets the number of stored objects of a kind in a group.
    pub fn set_store_objects(&self, group: Group, kind: Kind, objects: u64) {
        self.store_objects
            .get_or_create(&ObjectsLabels::new(group, kind))
            .set(i64::try_from(objects).unwrap_or(i64::MAX));
    }

    /// Records the time of an authorization decision.
    pub fn observe_authorization(&self, elapsed: Duration) {
        self.authorization_seconds.observe(elapsed.as_secs_f64());
    }

    /// Sets whether the files of an option cannot be used.
    pub fn set_files_failed(&self, option: &'static str, has_failed: bool) {
        let failed = self.files_failed.get_or_create(&OptionLabels { option });
        failed.set(i64::from(has_failed));
    }

    /// Counts a watch that was ended because its client was too slow.
    pub fn count_dropped_events(&self) {
        self.events_dropped.inc();
    }

    /// Counts a panic that was caught.
    pub fn count_panic(&self) {
        self.panics.inc();
    }

    /// Counts a line of the audit log that was not written.
    pub fn count_dropped_audit(&self) {
        self.audit_dropped.inc();
    }

    /// Encodes all metrics as [`CONTENT_TYPE`].
    ///
    /// # Errors
    ///
    /// Fails if a metric cannot be encoded.
    pub fn text(&self) -> Result<String, fmt::Error> {
        let mut printed = String::new();
        text::encode(&mut printed, &self.registry)?;
        Ok(printed)
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

fn seconds() -> Histogram {
    Histogram::new(SECONDS)
}

#[cfg(test)]
mod tests;
