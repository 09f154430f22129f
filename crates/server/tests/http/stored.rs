//! Each kind of stored thing has a row in `docs/security.md`, and each row has a test.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use clap::Parser as _;
use krm_template_server_core::{Admission, Limits, Measured, Metrics, Store, store::KINDS};

tests!(each_stored_kind_has_a_row_and_each_row_a_test, a_kind_without_a_row_is_not_stored);

/// The test of each row: the file, and the name in it.
const TESTS: [(&str, &str, &str); 19] = [
    (
        "templates",
        "crates/server/tests/http/existence.rs",
        "no_condition_tells_which_templates_exist",
    ),
    ("templateauthors", "tests/server/instances", "automatic"),
    (
        "templateinstances",
        "crates/server/tests/instances.rs",
        "the_requester_of_ours_is_who_changed_the_spec",
    ),
    ("instanceplans", "tests/server/instances", "values_of_others"),
    (
        "instancerevisions",
        "crates/server/tests/instances.rs",
        "a_status_is_written_through_its_path",
    ),
    ("instancedeleters", "tests/server/instances", "deleter"),
    ("leases", "tests/server/instances", "replicas"),
    ("deployments", "crates/server/tests/apply/rights.rs", "what_the_caller_may_not_delete_stays"),
    (
        "manifests",
        "crates/server/tests/pages/deployment_rights.rs",
        "a_user_who_may_get_a_deployment_sees_neither_manifests_nor_operations",
    ),
    (
        "operations",
        "crates/server/tests/deployments/restart.rs",
        "an_operation_that_was_interrupted_says_so",
    ),
    ("locks", "crates/server/tests/deployments/replicas.rs", "taken_over"),
    ("ConfigMaps and Secrets with values", "tests/server/instances", "values_of_others"),
    ("objects in the cluster", "tests/server/instances", "others"),
    ("the generated Secret", "tests/server/instances", "values_of_others"),
    (
        "imports and fetched types",
        "crates/server/tests/apply/rights.rs",
        "a_forbidden_object_ends_the_change",
    ),
    (
        "answers of the cluster",
        "crates/server/tests/auth/cluster.rs",
        "answers_about_access_are_remembered",
    ),
    ("sessions", "crates/server-core/src/auth/sessions.rs", "a_session_ends_by_logout_and_by_time"),
    (
        "watches",
        "crates/server/tests/http/lasting.rs",
        "a_watch_ends_with_its_token_its_groups_and_its_role",
    ),
    (
        "files of options",
        "crates/server/tests/http/lasting.rs",
        "what_cannot_be_read_is_told_and_ends",
    ),
];

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(path)).unwrap()
}

fn each_stored_kind_has_a_row_and_each_row_a_test() {
    let document = read("docs/security.md");
    let (_, section) = document.split_once("### Stored now, used later").unwrap();
    let rows = section.lines().skip_while(|line| !line.starts_with("|---"));
    let rows = rows.skip(1).take_while(|line| line.starts_with('|'));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split('|').map(str::trim).collect()).collect();
    let names: Vec<String> = rows.iter().map(|row| row[1].replace('`', "")).collect();
    for (row, name) in rows.iter().zip(&names) {
        assert!(
            row.len() == 6 && row.iter().skip(1).take(4).all(|cell| !cell.is_empty()),
            "{name}"
        );
    }
    let tested: Vec<&str> = TESTS.iter().map(|(row, ..)| *row).collect();
    assert_eq!(names, tested, "the rows, and the rows with a test");
    let stored: BTreeSet<&str> = rows.iter().filter_map(|row| row[1].strip_prefix('`')).collect();
    let stored: BTreeSet<&str> = stored.iter().map(|name| name.trim_end_matches('`')).collect();
    assert_eq!(stored, BTreeSet::from(KINDS), "the rows, and the kinds of keys");
    for (row, file, name) in TESTS {
        let text = read(file);
        let found = [format!("fn {name}("), format!("def {name}("), format!("{name}\"")];
        assert!(found.iter().any(|one| text.contains(one)), "{row}: {file} has no test {name}");
    }
}

#[derive(clap::Parser)]
struct Options {
    #[command(flatten)]
    limits: Limits,
}

#[tokio::main(flavor = "current_thread")]
async fn a_kind_without_a_row_is_not_stored() {
    let admission = Admission::new(&Options::parse_from(["server"]).limits);
    let metrics = Arc::new(Metrics::new(admission, "", ""));
    let store = Measured::new(Store::memory(), metrics);
    for kind in KINDS {
        let key = format!("/template.krm.dev/{kind}/shop/web");
        assert!(store.create(&key, Bytes::from_static(b"{}")).await.is_ok());
    }
    for key in ["/template.krm.dev/others/shop/web", "/templates/shop", "templates", ""] {
        assert!(store.create(key, Bytes::from_static(b"{}")).await.is_err(), "{key}");
    }
}
