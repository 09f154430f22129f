//! The exposed names, and the values of labels.

use std::collections::BTreeSet;

use super::*;
use crate::flow_control::admission::Class;
use crate::flow_control::limits::tests::limits;

fn metrics() -> (Admission, Metrics) {
    let admission = Admission::new(&limits(&[]).unwrap());
    (admission.clone(), Metrics::new(admission, "0.1.0", "abc"))
}

const LIST: Request =
    Request { verb: "list", group: "template.krm.dev", resource: "templates", subresource: "" };

fn observed() -> Metrics {
    let (_, metrics) = metrics();
    let time = Duration::from_millis(3);
    metrics.observe_request(LIST, 200, Some(time));
    metrics.observe_expansion(Group::Krm.dialect(), Ok(3), time);
    metrics.observe_store("file", "get", time);
    metrics.set_store_objects(Group::OpenShift, Kind::Template, 7);
    metrics.observe_authorization(time);
    metrics.count_dropped_events();
    metrics.count_panic();
    metrics.count_dropped_audit();
    metrics.set_instances(Group::Krm, true, 2);
    metrics.observe_reconcile("done", time);
    metrics.count_instance_error("Conflict");
    metrics.set_files_failed("--rbac", true);
    metrics.set_instances_queued(3);
    metrics
}

#[track_caller]
fn check(metrics: &Metrics, line: &str) {
    let text = metrics.text().unwrap();
    assert!(text.lines().any(|one| one == line), "no line {line} in\n{text}");
}

#[test]
fn the_names_are_those_of_the_documentation() {
    let text = observed().text().unwrap();
    let exposed: BTreeSet<&str> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split(['{', ' ']).next())
        .collect();
    let expected = [
        "krm_template_audit_dropped_total",
        "krm_template_authorization_seconds_bucket",
        "krm_template_authorization_seconds_count",
        "krm_template_authorization_seconds_sum",
        "krm_template_build_info",
        "krm_template_connections",
        "krm_template_events_dropped_total",
        "krm_template_expansion_objects_bucket",
        "krm_template_expansion_objects_count",
        "krm_template_expansion_objects_sum",
        "krm_template_expansion_seconds_bucket",
        "krm_template_expansion_seconds_count",
        "krm_template_expansion_seconds_sum",
        "krm_template_expansions_total",
        "krm_template_files_failed",
        "krm_template_in_flight",
        "krm_template_instances",
        "krm_template_instances_queue_length",
        "krm_template_instances_reconcile_errors_total",
        "krm_template_instances_reconcile_seconds_bucket",
        "krm_template_instances_reconcile_seconds_count",
        "krm_template_instances_reconcile_seconds_sum",
        "krm_template_panics_total",
        "krm_template_request_seconds_bucket",
        "krm_template_request_seconds_count",
        "krm_template_request_seconds_sum",
        "krm_template_requests_total",
        "krm_template_store_objects",
        "krm_template_store_seconds_bucket",
        "krm_template_store_seconds_count",
        "krm_template_store_seconds_sum",
        "krm_template_watches",
        "process_cpu_seconds_total",
        "process_max_fds",
        "process_open_fds",
        "process_resident_memory_bytes",
        "process_start_time_seconds",
        "process_virtual_memory_bytes",
    ];
    assert_eq!(exposed, BTreeSet::from(expected));
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn values_are_exposed_with_their_labels() {
    let metrics = observed();
    for line in [
        "krm_template_requests_total{verb=\"list\",group=\"template.krm.dev\",\
         resource=\"templates\",subresource=\"\",code=\"200\"} 1",
        "krm_template_request_seconds_bucket{le=\"0.005\",verb=\"list\",\
         group=\"template.krm.dev\",resource=\"templates\",subresource=\"\"} 1",
        "krm_template_expansions_total{dialect=\"proposal\",outcome=\"ok\"} 1",
        "krm_template_expansion_objects_sum 3.0",
        "krm_template_store_seconds_count{store=\"file\",operation=\"get\"} 1",
        "krm_template_store_objects{resource=\"templates.template.openshift.io\"} 7",
        "krm_template_authorization_seconds_count 1",
        "krm_template_events_dropped_total 1",
        "krm_template_panics_total 1",
        "krm_template_audit_dropped_total 1",
        "krm_template_files_failed{option=\"--rbac\"} 1",
        "krm_template_build_info{version=\"0.1.0\",commit=\"abc\"} 1",
        "# TYPE krm_template_requests counter",
    ] {
        check(&metrics, line);
    }
}

#[test]
fn a_watch_has_no_duration() {
    let (_, metrics) = metrics();
    metrics.observe_request(Request { verb: "watch", ..LIST }, 200, None);
    let text = metrics.text().unwrap();
    assert!(
        !text.contains("krm_template_request_seconds_count{"),
        "a watch is not measured\n{text}"
    );
}

#[test]
fn what_runs_is_counted_while_it_runs() {
    let (admission, metrics) = metrics();
    let taken = [Class::Read, Class::Write, Class::Write, Class::Watch, Class::Connection]
        .map(|class| admission.enter(class).unwrap());
    for line in [
        "krm_template_in_flight{class=\"read\"} 1",
        "krm_template_in_flight{class=\"write\"} 2",
        "krm_template_watches 1",
        "krm_template_connections 1",
    ] {
        check(&metrics, line);
    }
    drop(taken);
    check(&metrics, "krm_template_in_flight{class=\"write\"} 0");
}
