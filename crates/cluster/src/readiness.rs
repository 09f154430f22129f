//! Whether a live object is ready.
//!
//! Source: `kstatus` of `sigs.k8s.io/cli-utils`, with three differences: a Job that runs and a Pod
//! that failed are not ready, and a PersistentVolumeClaim that waits for its first consumer is.
//! [`openshift`] has the rules of `pkg/template/controller` of openshift-controller-manager.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use krm_template_server_core::conditions::{Condition, find};

/// How long a Pod may wait for a node.
///
/// Source: `ScheduleWindow` of `kstatus`.
const SCHEDULE_WINDOW: SignedDuration = SignedDuration::from_secs(15);

/// The state of a live object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is as its `spec` wants it.
    Current,
    /// It is on its way.
    InProgress,
    /// It will not become ready.
    Failed,
    /// It is being deleted.
    Terminating,
}

impl State {
    /// Returns the name, as in `kstatus`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Current => "Current",
            Self::InProgress => "InProgress",
            Self::Failed => "Failed",
            Self::Terminating => "Terminating",
        }
    }
}

/// The annotation of objects for which OpenShift waits.
const WAIT: &str = "template.alpha.openshift.io/wait-for-ready";

/// A live object.
#[derive(Clone, Copy)]
struct Live<'l>(&'l Value);

impl<'l> Live<'l> {
    fn at(self, path: &str) -> Option<&'l Value> {
        self.0.pointer(path).filter(|value| !value.is_null())
    }

    fn text(self, path: &str) -> &'l str {
        self.at(path).and_then(Value::as_str).unwrap_or_default()
    }

    fn number(self, path: &str, default: i64) -> i64 {
        self.at(path).and_then(Value::as_i64).unwrap_or(default)
    }

    fn condition(self, kind: &str) -> Condition<'l> {
        find(self.at("/status/conditions"), kind)
    }

    fn is(self, kind: &str, status: &str) -> bool {
        self.condition(kind).status == status
    }

    fn group(self) -> &'l str {
        let version = self.text("/apiVersion");
        version.split_once('/').map_or("", |(group, _)| group)
    }

    /// Returns `true` if the controller of the object has seen its `spec`.
    fn is_observed(self) -> bool {
        self.number("/status/observedGeneration", 0) == self.number("/metadata/generation", 0)
    }
}

/// Returns `true` if OpenShift waits for an object.
pub fn is_awaited(object: &Value) -> bool {
    let annotations = object.pointer("/metadata/annotations");
    let value = annotations.and_then(|all| all.get(WAIT)?.as_str());
    value.is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// Returns the state of an object at a time, by the rules of `kstatus`.
pub fn of(live: &Value, now: Timestamp) -> State {
    let live = Live(live);
    if live.at("/metadata/deletionTimestamp").is_some() {
        return State::Terminating;
    }
    let is_behind = live.at("/status/observedGeneration").is_some() && !live.is_observed();
    if is_behind || live.is("Reconciling", "True") {
        return State::InProgress;
    }
    if live.is("Stalled", "True") {
        return State::Failed;
    }
    match (live.group(), live.text("/kind")) {
        ("apps" | "extensions", "Deployment") => deployment(live),
        ("apps", "StatefulSet") => when(stateful_set(live)),
        ("apps" | "extensions", "DaemonSet") => when(daemon_set(live)),
        ("apps" | "extensions", "ReplicaSet") => when(replica_set(live)),
        ("batch", "Job") => job(live),
        ("", "Pod") => pod(live, now),
        ("", "PersistentVolumeClaim") => {
            let phase = live.text("/status/phase");
            let waits = phase == "Pending" && live.text("/spec/volumeName").is_empty();
            when(phase == "Bound" || waits)
        }
        ("", "Service") => {
            let is_balancer = live.text("/spec/type") == "LoadBalancer";
            when(!is_balancer || !live.text("/spec/clusterIP").is_empty())
        }
        ("", "Namespace") => when(live.text("/status/phase") == "Active"),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition(live),
        ("", "ConfigMap" | "Secret") | ("batch", "CronJob") | ("policy", "PodDisruptionBudget") => {
            State::Current
        }
        ("build.openshift.io" | "apps.openshift.io" | "route.openshift.io", _) => {
            openshift(live.0, None)
        }
        _ => when(matches!(live.condition("Ready").status, "" | "True")),
    }
}

const fn when(is_ready: bool) -> State {
    if is_ready { State::Current } else { State::InProgress }
}

fn deployment(live: Live<'_>) -> State {
    let progressing = live.condition("Progressing");
    if progressing.reason == "ProgressDeadlineExceeded" {
        return State::Failed;
    }
    let wanted = live.number("/spec/replicas", 1);
    let count = |key: &str| live.number(&format!("/status/{key}"), 0);
    let has_deadline = live.at("/spec/progressDeadlineSeconds").is_some();
    let is_rolled_out = !has_deadline
        || (progressing.status, progressing.reason) == ("True", "NewReplicaSetAvailable");
    when(
        count("replicas") >= wanted
            && count("updatedReplicas") >= wanted
            && count("replicas") <= wanted
            && count("availableReplicas") >= count("updatedReplicas")
            && count("readyReplicas") >= wanted
            && is_rolled_out
            && live.is("Available", "True"),
    )
}

fn stateful_set(live: Live<'_>) -> bool {
    if live.text("/spec/updateStrategy/type") == "OnDelete" {
        return true;
    }
    let wanted = live.number("/spec/replicas", 1);
    let count = |key: &str| live.number(&format!("/status/{key}"), 0);
    if count("replicas") != wanted || count("readyReplicas") < wanted {
        return false;
    }
    let partition = live.number("/spec/updateStrategy/rollingUpdate/partition", 0);
    if partition > 0 {
        return count("updatedReplicas") >= wanted - partition;
    }
    count("currentReplicas") >= wanted
        && live.text("/status/currentRevision") == live.text("/status/updateRevision")
}

fn daemon_set(live: Live<'_>) -> bool {
    let Some(wanted) = live.at("/status/desiredNumberScheduled").and_then(Value::as_i64) else {
        return false;
    };
    let count = |key: &str| live.number(&format!("/status/{key}"), 0) >= wanted;
    live.at("/status/observedGeneration").is_some()
        && count("currentNumberScheduled")
        && (wanted == 0 || count("updatedNumberScheduled"))
        && (wanted == 0 || count("numberAvailable"))
        && (wanted == 0 || count("numberReady"))
}

fn replica_set(live: Live<'_>) -> bool {
    let wanted = live.number("/spec/replicas", 1);
    let count = |key: &str| live.number(&format!("/status/{key}"), 0);
    !live.is("ReplicaFailure", "True")
        && count("fullyLabeledReplicas") >= wanted
        && count("availableReplicas") >= wanted
        && count("readyReplicas") >= wanted
        && count("replicas") <= wanted
}

fn job(live: Live<'_>) -> State {
    if live.is("Failed", "True") {
        return State::Failed;
    }
    let is_suspended = live.at("/spec/suspend") == Some(&Value::Bool(true));
    when(live.is("Complete", "True") || live.is("Suspended", "True") || is_suspended)
}

fn pod(live: Live<'_>, now: Timestamp) -> State {
    match live.text("/status/phase") {
        "Succeeded" => State::Current,
        "Failed" => State::Failed,
        "Running" if live.is("Ready", "True") => State::Current,
        _ => {
            let containers = live.at("/status/containerStatuses").and_then(Value::as_array);
            let mut containers = containers.into_iter().flatten();
            let waits = |one: &Value| {
                let reason = one.pointer("/state/waiting/reason").and_then(Value::as_str);
                reason == Some("CrashLoopBackOff")
            };
            if containers.any(waits) || is_unschedulable(live, now) {
                State::Failed
            } else {
                State::InProgress
            }
        }
    }
}

/// Returns `true` if no node has room for a Pod, and that for longer than [`SCHEDULE_WINDOW`].
fn is_unschedulable(live: Live<'_>, now: Timestamp) -> bool {
    let scheduled = live.condition("PodScheduled");
    (scheduled.status, scheduled.reason) == ("False", "Unschedulable")
        && scheduled
            .since
            .parse::<Timestamp>()
            .is_ok_and(|since| now.duration_since(since) > SCHEDULE_WINDOW)
}

fn definition(live: Live<'_>) -> State {
    let (names, established) = (live.condition("NamesAccepted"), live.condition("Established"));
    let is_refused = names.status == "False"
        || established.status == "False" && established.reason != "Installing";
    if is_refused {
        return State::Failed;
    }
    when(established.status == "True")
}

/// Returns the state of an object by the rules of OpenShift. `build` is the last `Build` of a
/// `BuildConfig`, if there is one.
pub fn openshift(live: &Value, build: Option<&Value>) -> State {
    let live = Live(live);
    match (live.group(), live.text("/kind")) {
        ("" | "build.openshift.io", "Build") => build_state(live),
        ("" | "build.openshift.io", "BuildConfig") => {
            build.map_or(State::InProgress, |build| build_state(Live(build)))
        }
        ("apps" | "extensions", "Deployment") => rollout(live, "NewReplicaSetAvailable"),
        ("" | "apps.openshift.io", "DeploymentConfig") => {
            rollout(live, "NewReplicationControllerAvailable")
        }
        ("apps", "StatefulSet") => {
            let wanted = live.number("/spec/replicas", 1);
            when(live.is_observed() && live.number("/status/readyReplicas", 0) == wanted)
        }
        ("batch", "Job") => {
            if live.number("/status/failed", 0) > 0 {
                State::Failed
            } else {
                when(live.at("/status/completionTime").is_some())
            }
        }
        ("" | "route.openshift.io", "Route") => when(!live.text("/spec/host").is_empty()),
        _ => State::Current,
    }
}

fn build_state(live: Live<'_>) -> State {
    match live.text("/status/phase") {
        "Complete" => State::Current,
        "Failed" | "Error" | "Cancelled" => State::Failed,
        _ => State::InProgress,
    }
}

fn rollout(live: Live<'_>, reason: &str) -> State {
    if !live.is_observed() {
        return State::InProgress;
    }
    let progressing = live.condition("Progressing");
    match progressing.status {
        "False" => State::Failed,
        "True" => when(progressing.reason == reason && live.is("Available", "True")),
        _ => State::InProgress,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(kind: (&str, &str), rest: Value, expected: State) {
        let mut live = rest;
        live["apiVersion"] = json!(kind.0);
        live["kind"] = json!(kind.1);
        assert_eq!(of(&live, now()), expected, "{live}");
    }

    fn now() -> Timestamp {
        "2026-01-01T00:01:00Z".parse().unwrap()
    }

    #[test]
    fn a_pod_without_a_node_fails_after_a_while() {
        let since = |seconds: &str| {
            json!({"status": {"phase": "Pending", "conditions": [{
                "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                "lastTransitionTime": format!("2026-01-01T00:00:{seconds}Z"),
            }]}})
        };
        check(("v1", "Pod"), since("45"), State::InProgress);
        check(("v1", "Pod"), since("44"), State::Failed);
    }

    #[test]
    fn deployments_are_ready_when_all_replicas_are_new_and_available() {
        let deployment = ("apps/v1", "Deployment");
        let status = |available: i64, reason: &str, generation: i64| {
            json!({
                "metadata": {"generation": 2},
                "spec": {"replicas": 2, "progressDeadlineSeconds": 600},
                "status": {
                    "observedGeneration": generation, "replicas": 2, "updatedReplicas": 2,
                    "readyReplicas": 2, "availableReplicas": available,
                    "conditions": [
                        {"type": "Progressing", "status": "True", "reason": reason},
                        {"type": "Available", "status": "True"},
                    ],
                },
            })
        };
        let new = "NewReplicaSetAvailable";
        check(deployment, status(2, new, 2), State::Current);
        check(deployment, status(1, new, 2), State::InProgress);
        check(deployment, status(2, new, 1), State::InProgress);
        check(deployment, status(2, "ReplicaSetUpdated", 2), State::InProgress);
        check(deployment, status(2, "ProgressDeadlineExceeded", 2), State::Failed);
        check(deployment, json!({}), State::InProgress);
    }

    #[test]
    fn other_kinds_are_ready_by_the_table() {
        let job = ("batch/v1", "Job");
        check(job, json!({"status": {"startTime": "x"}}), State::InProgress);
        let condition =
            |kind: &str| json!({"status": {"conditions": [{"type": kind, "status": "True"}]}});
        check(job, condition("Complete"), State::Current);
        check(job, condition("Failed"), State::Failed);
        check(("v1", "Pod"), json!({"status": {"phase": "Failed"}}), State::Failed);
        check(("v1", "Pod"), json!({"status": {"phase": "Succeeded"}}), State::Current);
        let claim = ("v1", "PersistentVolumeClaim");
        check(claim, json!({"status": {"phase": "Bound"}}), State::Current);
        check(claim, json!({"status": {"phase": "Pending"}}), State::Current);
        check(claim, json!({"status": {"phase": "Lost"}}), State::InProgress);
        check(("v1", "Service"), json!({"spec": {"type": "LoadBalancer"}}), State::InProgress);
        check(("v1", "ConfigMap"), json!({}), State::Current);
        check(("example.org/v1", "Widget"), json!({}), State::Current);
        let ready =
            |status: &str| json!({"status": {"conditions": [{"type": "Ready", "status": status}]}});
        check(("example.org/v1", "Widget"), ready("False"), State::InProgress);
        check(("example.org/v1", "Widget"), ready("True"), State::Current);
        let stalled = json!({"status": {"conditions": [{"type": "Stalled", "status": "True"}]}});
        check(("example.org/v1", "Widget"), stalled, State::Failed);
        let deleted = json!({"metadata": {"deletionTimestamp": "x"}});
        check(("v1", "ConfigMap"), deleted, State::Terminating);
        let set = ("apps/v1", "StatefulSet");
        let of_set = |revision: &str| {
            json!({"spec": {"replicas": 1}, "status": {"replicas": 1, "readyReplicas": 1,
                "currentReplicas": 1, "currentRevision": "a", "updateRevision": revision}})
        };
        check(set, of_set("a"), State::Current);
        check(set, of_set("b"), State::InProgress);
    }

    #[test]
    fn openshift_has_its_own_rules() {
        let job = json!({"apiVersion": "batch/v1", "kind": "Job",
            "status": {"failed": 1, "completionTime": "x"}});
        // A Job with a failed Pod has failed, even if it is complete (stories 14 and 41).
        assert_eq!(openshift(&job, None), State::Failed);
        let set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {"replicas": 1},
            "status": {"readyReplicas": 1, "currentRevision": "a", "updateRevision": "b"}});
        assert_eq!(openshift(&set, None), State::Current);
        let daemon = json!({"apiVersion": "apps/v1", "kind": "DaemonSet"});
        assert_eq!(openshift(&daemon, None), State::Current);
        let config = json!({"apiVersion": "build.openshift.io/v1", "kind": "BuildConfig"});
        assert_eq!(openshift(&config, None), State::InProgress);
        let build = json!({"apiVersion": "build.openshift.io/v1", "kind": "Build",
            "status": {"phase": "Error"}});
        assert_eq!(openshift(&config, Some(&build)), State::Failed);
    }

    #[test]
    fn the_annotation_is_read_in_any_case() {
        let object = |value: &str| json!({"metadata": {"annotations": {WAIT: value}}});
        assert!(is_awaited(&object("TRUE")) && !is_awaited(&object("yes")));
        assert!(!is_awaited(&json!({})));
    }
}
