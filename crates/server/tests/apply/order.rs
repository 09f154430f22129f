//! Objects that other objects need come first, and the change waits for them.

use krm_template_cluster::{Conflicts, Owner};
use serde_json::json;

use crate::apply::Test;
use crate::apply::support::{
    MAPS, Notes, Small, config_map, master, object, objects, owner, shown, widgets,
};

pub(crate) const TESTS: &[Test] = &[
    ("definitions_and_namespaces_are_waited_for", || Box::pin(waited())),
    ("an_unknown_kind_is_refused_before_anything_is_changed", || Box::pin(unknown())),
    ("an_object_is_in_its_own_namespace_or_that_of_the_request", || Box::pin(namespaces())),
    ("an_object_that_occurs_twice_is_refused", || Box::pin(twice())),
];

async fn waited() {
    let small = Small::start().await;
    // Each object is ready only after this number of reads.
    small.set(json!({"delay": 3})).await;
    let mut widget = object("example.org/v1", "Widget", "w");
    widget["metadata"]["namespace"] = json!("shop");
    widget["spec"] = json!({"size": 1});
    let all =
        objects(&[widget, config_map("a", "1"), widgets(), object("v1", "Namespace", "shop")]);
    let mut notes = Notes::default();
    let steps = small
        .cluster()
        .apply(&master(), &owner("web"), &all, Conflicts::Fail, &mut notes)
        .await
        .unwrap();
    assert_eq!(
        shown(&notes.steps),
        [
            "applied Namespace/shop",
            "waiting Namespace/shop",
            "applied CustomResourceDefinition/widgets.example.org",
            "waiting CustomResourceDefinition/widgets.example.org",
            "applied ConfigMap/a",
            "applied Widget/w",
        ]
    );
    assert_eq!(steps.len(), 4, "a wait is not recorded as a step");
    let path = "/apis/example.org/v1/namespaces/shop/widgets/w";
    assert!(small.get(path).await.is_some());
    let changes = small.changes().await;
    assert_eq!(changes.len(), 4, "{changes:?}");
}

async fn unknown() {
    let small = Small::start().await;
    let all = objects(&[config_map("a", "1"), object("example.org/v1", "Widget", "w")]);
    let failure = small
        .cluster()
        .apply(&master(), &owner("web"), &all, Conflicts::Fail, &mut Notes::default())
        .await
        .unwrap_err();
    assert_eq!(failure.code, 404);
    assert_eq!(
        failure.to_string(),
        "Widget `w`: the cluster has no kind `Widget` in `example.org/v1` that can be applied; \
         install its CustomResourceDefinition first"
    );
    assert_eq!(failure.done, []);
    assert_eq!(small.changes().await, Vec::<String>::new());
}

async fn namespaces() {
    let small = Small::start().await;
    let mut other = config_map("b", "1");
    other["metadata"]["namespace"] = json!("kube-system");
    let mut role = object("rbac.authorization.k8s.io/v1", "ClusterRole", "a:b");
    role["metadata"]["namespace"] = json!("shop");
    let all = objects(&[config_map("a", "1"), other, role]);
    let steps = small
        .cluster()
        .apply(&master(), &owner("web"), &all, Conflicts::Fail, &mut Notes::default())
        .await
        .unwrap();
    let namespaces: Vec<(&str, &str)> = steps
        .iter()
        .map(|step| (step.object.name.as_str(), step.object.namespace.as_str()))
        .collect();
    assert_eq!(namespaces, [("a:b", ""), ("a", "default"), ("b", "kube-system")]);
    let path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/a:b";
    assert!(small.get(path).await.is_some());
    let missing = config_map("c", "1");
    let nowhere = Owner { namespace: "nowhere".to_owned(), ..owner("web") };
    let failure = small
        .cluster()
        .apply(&master(), &nowhere, &objects(&[missing]), Conflicts::Fail, &mut Notes::default())
        .await
        .unwrap_err();
    assert_eq!((failure.code, failure.message()), (404, "namespaces \"nowhere\" not found"));
}

async fn twice() {
    let small = Small::start().await;
    let mut named = config_map("a", "2");
    named["metadata"]["namespace"] = json!("default");
    let all = objects(&[config_map("a", "1"), named]);
    let failure = small
        .cluster()
        .apply(&master(), &owner("web"), &all, Conflicts::Fail, &mut Notes::default())
        .await
        .unwrap_err();
    assert_eq!((failure.code, failure.message()), (400, "the object occurs twice; remove one"));
    assert_eq!(small.get(&format!("{MAPS}/a")).await, None);
}
