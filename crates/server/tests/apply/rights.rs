//! All changes use the permissions of the caller.

use krm_template_cluster::{Conflicts, Prune, record};
use krm_template_server_core::User;
use serde_json::{Value, json};

use crate::apply::Test;
use crate::apply::support::{
    MAPS, Notes, SELF_REVIEWS, Small, anna, config_map, master, object, objects, owner, shown,
};

pub(crate) const TESTS: &[Test] = &[
    ("a_forbidden_object_ends_the_change", || Box::pin(forbidden())),
    ("the_cluster_is_told_everything_about_the_caller", || Box::pin(impersonated())),
    ("a_server_that_may_not_impersonate_does_nothing", || Box::pin(powerless())),
    ("a_caller_that_runs_the_cluster_is_refused", || Box::pin(powerful())),
    ("what_the_caller_may_not_delete_stays", || Box::pin(deletion())),
];

async fn forbidden() {
    let small = Small::start().await;
    let all = objects(&[config_map("a", "1"), object("v1", "ServiceAccount", "s")]);
    let mut reordered = all.clone();
    reordered.push(krm_template_cluster::Object(object("apps/v1", "Deployment", "d")));
    reordered.remove(1);
    let failure = small
        .cluster()
        .apply(&anna(), &owner("web"), &reordered, Conflicts::Fail, &mut Notes::default())
        .await
        .unwrap_err();
    assert_eq!(failure.code, 403);
    assert_eq!(
        failure.message(),
        "deployments.apps \"d\" is forbidden: User \"anna\" cannot get resource \"deployments\" in \
         API group \"apps\" in the namespace \"default\""
    );
    assert_eq!(shown(&failure.done), ["applied ConfigMap/a"]);
    // Another namespace needs the caller's permission, too.
    let mut elsewhere = config_map("a", "1");
    elsewhere["metadata"]["namespace"] = json!("kube-system");
    let failure = small
        .cluster()
        .apply(
            &anna(),
            &owner("web"),
            &objects(&[elsewhere]),
            Conflicts::Fail,
            &mut Notes::default(),
        )
        .await
        .unwrap_err();
    assert_eq!((failure.code, failure.done.len()), (403, 0));
}

async fn impersonated() {
    let small = Small::start().await;
    let caller = User {
        name: "änna".to_owned(),
        uid: "7".to_owned(),
        groups: vec!["ops".to_owned(), "system:authenticated".to_owned()],
        extra: [("example.org/scopes".to_owned(), vec!["a".to_owned(), "b".to_owned()])].into(),
    };
    let rules = json!({"rules": [{"resources": ["configmaps"]}]});
    let server = json!({"rules": [{"verbs": ["impersonate"]}]});
    small.set(json!({"users": {"änna": rules, "server": server}})).await;
    small.asked().await;
    small
        .cluster()
        .apply(
            &caller,
            &owner("web"),
            &objects(&[config_map("a", "1")]),
            Conflicts::Fail,
            &mut Notes::default(),
        )
        .await
        .unwrap();
    let asked = small.asked().await;
    let of_objects: Vec<_> =
        asked.iter().filter(|entry| entry["path"] == format!("{MAPS}/a")).collect();
    assert_eq!(of_objects.len(), 2, "get and patch");
    for entry in of_objects {
        assert_eq!(entry["user"], "änna");
        assert_eq!(entry["uid"], "7");
        assert_eq!(entry["groups"], json!(["ops", "system:authenticated"]));
        assert_eq!(entry["extra"], json!({"example.org/scopes": ["a", "b"]}));
    }
    // No request changes anything with the permissions of the server.
    let of_server = |entry: &&Value| entry["user"] == "server" && entry["path"] != SELF_REVIEWS;
    for entry in asked.iter().filter(of_server) {
        assert_eq!(entry["method"], "GET");
        let path = entry["path"].as_str().unwrap();
        assert!(path.split('/').count() <= 4, "{path} is not a path of discovery");
    }
}

async fn powerful() {
    let small = Small::start().await;
    let (cluster, web) = (small.cluster(), owner("web"));
    let all = objects(&[config_map("a", "1")]);
    for (name, group, what) in [
        ("server", "ops", "its own account \"server\""),
        ("anna", "system:masters", "members of \"system:masters\""),
        ("system:kube-scheduler", "ops", "the user \"system:kube-scheduler\""),
    ] {
        let caller =
            User { name: name.to_owned(), groups: vec![group.to_owned()], ..User::default() };
        let mut notes = Notes::default();
        let apply = cluster.apply(&caller, &web, &all, Conflicts::Fail, &mut notes);
        let failure = apply.await.unwrap_err();
        assert_eq!((failure.code, failure.has_changed), (403, false));
        let message = failure.message();
        assert!(message.starts_with(&format!("the server does not impersonate {what}:")));
    }
    assert_eq!(small.changes().await, Vec::<String>::new());
}

async fn deletion() {
    let small = Small::start().await;
    let web = owner("web");
    let all = objects(&[object("v1", "ServiceAccount", "s"), config_map("a", "1")]);
    let cluster = small.cluster();
    let steps =
        cluster.apply(&master(), &web, &all, Conflicts::Fail, &mut Notes::default()).await.unwrap();
    let recorded = record(&[], &steps);
    let failure = cluster
        .delete(&anna(), &web, &recorded, Prune::Default, &mut Notes::default())
        .await
        .unwrap_err();
    assert_eq!(failure.code, 403);
    assert_eq!(shown(&failure.done), ["deleted ConfigMap/a"]);
    let left = record(&recorded, &failure.done);
    assert_eq!(left, [steps[0].object.clone()]);
}

async fn powerless() {
    let small = Small::start().await;
    small.set(json!({"users": {"server": {"rules": [{"resources": ["configmaps"]}]}}})).await;
    let failure = small
        .cluster()
        .apply(
            &anna(),
            &owner("web"),
            &objects(&[config_map("a", "1")]),
            Conflicts::Fail,
            &mut Notes::default(),
        )
        .await
        .unwrap_err();
    assert_eq!(
        (failure.code, failure.message()),
        (
            403,
            "users \"anna\" is forbidden: User \"server\" cannot impersonate resource \"users\" in \
             API group \"\" at the cluster scope"
        )
    );
    assert_eq!(small.get(&format!("{MAPS}/a")).await, None);
}
