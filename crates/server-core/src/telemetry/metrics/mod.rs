//! The metrics of the server, in the text format of `OpenMetrics`.
//!
//! A label has few values, and none of them comes from a client. No label contains the name of a
//! Template, a namespace or a user.

mod process;
mod running;

use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use crate::flow_control::admission::Admission;
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

/// A label and its value.
type Label = (&'static str, &'static str);

/// The labels of a request's metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Request {
    /// The Kubernetes verb, such as `list`; for other paths, the HTTP method in lower case.
    pub verb: &'static str,
    /// The API group; empty for other paths.
    pub group: &'static str,
    /// The plural name of the resource; empty for other paths.
    pub resource: &'static str,
    /// The subresource; empty if there is none.
    pub subresource: &'static str,
}

/// The labels of counted requests. Durations have no code, because a histogram has many series.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    #[prometheus(flatten)]
    request: Request,
    code: u16,
}

/// All metrics of the server.
pub struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    request_seconds: Histograms<Request>,
    expansions: Family<[Label; 2], Counter>,
    expansion_seconds: Histogram,
    expansion_objects: Histogram,
    store_seconds: Histograms<[Label; 2]>,
    store_objects: Family<[(&'static str, String); 1], Gauge>,
    events_dropped: Counter,
    authorization_seconds: Histogram,
    files_failed: Family<[Label; 1], Gauge>,
    panics: Counter,
    audit_dropped: Counter,
    instances: Family<[Label; 2], Gauge>,
    reconcile_seconds: Histograms<[Label; 1]>,
    reconcile_errors: Family<[Label; 1], Counter>,
    queue_length: Gauge,
}

impl Metrics {
    /// Creates metrics that start at zero. `admission` counts the requests in flight and the
    /// watches. `version` and `commit` describe the build; `commit` may be empty.
    #[must_use]
    pub fn new(admission: Admission, version: &str, commit: &str) -> Self {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(process::Process::new()));
        let ours = registry.sub_registry_with_prefix("krm_template");
        let built = vec![("version", version.to_owned()), ("commit", commit.to_owned())];
        ours.register("build", "The version and the commit of the program", Info::new(built));
        ours.register_collector(Box::new(running::Running(admission)));
        let expanding = "How long expansions took";
        let objects = "How many objects expansions created";
        let store = "How long operations of the store took";
        let audit = "Lines of the audit log that were not written";
        let instances = "TemplateInstances that the server works on";
        let requests = "How long requests took, except watches";
        let authorization = "How long it took to decide whether a request is allowed";
        let files = "Whether the files of an option cannot be used any more";
        let events = "Watches that were ended because the client was too slow";
        let queued = "TemplateInstances that wait for a step";
        let steps = "How long steps of TemplateInstances took";
        let failed = "Failed steps of TemplateInstances";
        Self {
            requests: add(ours, "requests", "Requests that were answered", Family::default()),
            request_seconds: add(ours, "request_seconds", requests, all_seconds()),
            expansions: add(ours, "expansions", "Expansions of Templates", Family::default()),
            expansion_seconds: add(ours, "expansion_seconds", expanding, seconds()),
            expansion_objects: add(ours, "expansion_objects", objects, Histogram::new(OBJECTS)),
            store_seconds: add(ours, "store_seconds", store, all_seconds()),
            store_objects: add(ours, "store_objects", "Objects in the store", Family::default()),
            events_dropped: add(ours, "events_dropped", events, Counter::default()),
            authorization_seconds: add(ours, "authorization_seconds", authorization, seconds()),
            files_failed: add(ours, "files_failed", files, Family::default()),
            panics: add(ours, "panics", "Panics that were caught", Counter::default()),
            audit_dropped: add(ours, "audit_dropped", audit, Counter::default()),
            instances: add(ours, "instances", instances, Family::default()),
            reconcile_seconds: add(ours, "instances_reconcile_seconds", steps, all_seconds()),
            reconcile_errors: add(ours, "instances_reconcile_errors", failed, Family::default()),
            queue_length: add(ours, "instances_queue_length", queued, Gauge::default()),
            registry,
        }
    }

    /// Sets the number of instances of a group that are ready, or are not.
    pub fn set_instances(&self, group: Group, is_ready: bool, count: usize) {
        let ready = if is_ready { "true" } else { "false" };
        let labels = [("group", group.name()), ("ready", ready)];
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.instances.get_or_create(&labels).set(count);
    }

    /// Measures a step of an instance, by its result.
    pub fn observe_reconcile(&self, result: &'static str, elapsed: Duration) {
        let seconds = self.reconcile_seconds.get_or_create(&[("result", result)]);
        seconds.observe(elapsed.as_secs_f64());
    }

    /// Counts a failed step of an instance by the reason of its condition.
    pub fn count_instance_error(&self, reason: &'static str) {
        self.reconcile_errors.get_or_create(&[("reason", reason)]).inc();
    }

    /// Sets the number of instances that wait for a step.
    pub fn set_instances_queued(&self, count: usize) {
        self.queue_length.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Counts a request that was answered with `code`. `elapsed` is absent for a watch.
    pub fn observe_request(&self, request: Request, code: u16, elapsed: Option<Duration>) {
        if let Some(elapsed) = elapsed {
            let seconds = self.request_seconds.get_or_create(&request);
            seconds.observe(elapsed.as_secs_f64());
        }
        self.requests.get_or_create(&Answered { request, code }).inc();
    }

    /// Counts an expansion in a dialect that created a number of objects, or failed for a reason.
    pub fn observe_expansion(
        &self,
        dialect: &'static str,
        created: Result<usize, &'static str>,
        elapsed: Duration,
    ) {
        let outcome = created.err().unwrap_or("ok");
        self.expansions.get_or_create(&[("dialect", dialect), ("outcome", outcome)]).inc();
        self.expansion_seconds.observe(elapsed.as_secs_f64());
        if let Ok(objects) = created {
            self.expansion_objects.observe(f64::from(u32::try_from(objects).unwrap_or(u32::MAX)));
        }
    }

    /// Measures an operation of the store, which is `memory`, `file` or `etcd`.
    pub fn observe_store(&self, store: &'static str, operation: &'static str, elapsed: Duration) {
        let seconds =
            self.store_seconds.get_or_create(&[("store", store), ("operation", operation)]);
        seconds.observe(elapsed.as_secs_f64());
    }

    /// Sets the number of stored objects of a kind in a group.
    pub fn set_store_objects(&self, group: Group, kind: Kind, objects: u64) {
        let resource = format!("{}.{}", kind.resource(), group.name());
        self.store_objects
            .get_or_create(&[("resource", resource)])
            .set(i64::try_from(objects).unwrap_or(i64::MAX));
    }

    /// Records the time of an authorization decision.
    pub fn observe_authorization(&self, elapsed: Duration) {
        self.authorization_seconds.observe(elapsed.as_secs_f64());
    }

    /// Sets whether the files of an option cannot be used.
    pub fn set_files_failed(&self, option: &'static str, has_failed: bool) {
        let failed = self.files_failed.get_or_create(&[("option", option)]);
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

/// Registers a metric.
fn add<M: EncodeMetric + Clone + fmt::Debug + Send + Sync + 'static>(
    registry: &mut Registry,
    name: &str,
    help: &str,
    metric: M,
) -> M {
    registry.register(name, help, metric.clone());
    metric
}

fn seconds() -> Histogram {
    Histogram::new(SECONDS)
}

fn all_seconds<Labels: Clone + Eq + Hash>() -> Histograms<Labels> {
    Family::new_with_constructor(seconds)
}

#[cfg(test)]
mod tests;
