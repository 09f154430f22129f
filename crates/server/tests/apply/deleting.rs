//! Deletion of recorded objects only.

use krm_template_cluster::{Conflicts, Prune, Recorded, Step, record};
use serde_json::json;

use crate::apply::Test;
use crate::apply::support::{
    MAPS, Notes, Small, config_map, master, object, objects, owner, shown, widgets,
};

pub(crate) const TESTS: &[Test] = &[
    ("deletion_is_in_reverse_order_with_preconditions", || Box::pin(reverse())),
    ("what_holds_others_is_deleted_only_if_asked", || Box::pin(kept())),
    ("nothing_is_deleted_that_was_not_recorded", || Box::pin(foreign())),
    ("an_object_whose_uid_is_not_recorded_stays", || Box::pin(unknown_uid())),
    ("what_is_gone_is_gone", || Box::pin(gone())),
    ("another_version_of_a_kind_is_found", || Box::pin(other_version())),
];

/// Applies objects and returns their record.
async fn applied(small: &Small, values: &[serde_json::Value]) -> Vec<Recorded> {
    let steps = small
        .cluster()
        .apply(&master(), &owner("web"), &objects(values), Conflicts::Fail, &mut Notes::default())
        .await
        .unwrap();
    small.asked().await;
    record(&[], &steps)
}

/// Deletes recorded objects and returns the steps.
async fn deleted(small: &Small, recorded: &[Recorded], prune: Prune) -> Vec<Step> {
    let (cluster, mut notes) = (small.cluster(), Notes::default());
    cluster.delete(&master(), &owner("web"), recorded, prune, &mut notes).await.unwrap()
}

async fn reverse() {
    let small = Small::start().await;
    let recorded = applied(
        &small,
        &[
            object("apps/v1", "Deployment", "d"),
            config_map("a", "1"),
            object("v1", "ServiceAccount", "s"),
        ],
    )
    .await;
    let steps = deleted(&small, &recorded, Prune::Default).await;
    assert_eq!(
        shown(&steps),
        ["deleted Deployment/d", "deleted ConfigMap/a", "deleted ServiceAccount/s"]
    );
    let asked = small.asked().await;
    let deletions: Vec<_> = asked.iter().filter(|entry| entry["method"] == "DELETE").collect();
    assert_eq!(deletions.len(), 3);
    for (deletion, object) in deletions.iter().zip(recorded.iter().rev()) {
        let body = &deletion["body"];
        assert_eq!(body["preconditions"]["uid"], object.uid.as_str());
        assert!(body["preconditions"]["resourceVersion"].is_string());
        assert_eq!(body["propagationPolicy"], "Background");
    }
    assert_eq!(record(&recorded, &steps), []);
}

async fn kept() {
    let small = Small::start().await;
    let mut inside = config_map("a", "1");
    inside["metadata"]["namespace"] = json!("shop");
    let recorded = applied(
        &small,
        &[
            object("v1", "Namespace", "shop"),
            widgets(),
            object("v1", "PersistentVolumeClaim", "p"),
            inside,
        ],
    )
    .await;
    let steps = deleted(&small, &recorded, Prune::Default).await;
    let left = record(&recorded, &steps);
    assert_eq!(
        shown(&steps),
        [
            "kept PersistentVolumeClaim/p",
            "deleted ConfigMap/a",
            "kept CustomResourceDefinition/widgets.example.org",
            "kept Namespace/shop",
        ]
    );
    assert_eq!(left.len(), 3);
    assert!(small.get("/api/v1/namespaces/shop").await.is_some());
    let steps = deleted(&small, &left, Prune::All).await;
    assert_eq!(
        shown(&steps),
        [
            "deleted PersistentVolumeClaim/p",
            "deleted CustomResourceDefinition/widgets.example.org",
            "deleted Namespace/shop",
        ]
    );
    assert_eq!(record(&left, &steps), []);
    assert_eq!(small.get("/api/v1/namespaces/shop").await, None);
}

async fn foreign() {
    let small = Small::start().await;
    let recorded =
        applied(&small, &[config_map("a", "1"), config_map("b", "1"), config_map("c", "1")]).await;
    small.create(MAPS, &config_map("d", "1")).await;
    // Another object with the same marks replaces `a`; `b` loses its owner; `c` gets another one.
    let path = format!("{MAPS}/a");
    let marked = small.get(&path).await.unwrap();
    small.ask("DELETE", &path, "application/json", &json!(null)).await;
    small.create(MAPS, &marked).await;
    for (name, mark) in [("b", json!(null)), ("c", json!("Deployment/default/other"))] {
        let change = json!({"metadata": {"annotations": {"template.krm.dev/owner": mark}}});
        small.patch(&format!("{MAPS}/{name}"), &change).await;
    }
    small.asked().await;
    let steps = deleted(&small, &recorded, Prune::All).await;
    assert_eq!(
        shown(&steps),
        ["foreign ConfigMap/c", "foreign ConfigMap/b", "foreign ConfigMap/a"]
    );
    assert_eq!(small.changes().await, Vec::<String>::new());
    for name in ["a", "b", "c", "d"] {
        assert!(small.get(&format!("{MAPS}/{name}")).await.is_some());
    }
}

async fn unknown_uid() {
    let small = Small::start().await;
    let mut recorded = applied(&small, &[config_map("a", "1")]).await;
    recorded[0].uid.clear();
    let steps = deleted(&small, &recorded, Prune::All).await;
    assert_eq!(shown(&steps), ["foreign ConfigMap/a"]);
    assert_eq!(small.changes().await, Vec::<String>::new());
}

async fn gone() {
    let small = Small::start().await;
    let mut widget = object("example.org/v1", "Widget", "w");
    widget["spec"] = json!({"size": 1});
    let recorded = applied(&small, &[widgets(), widget, config_map("a", "1")]).await;
    let definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.org";
    for path in [definition, &format!("{MAPS}/a")] {
        let (code, _) = small.ask("DELETE", path, "application/json", &json!(null)).await;
        assert_eq!(code, 200);
    }
    let steps = deleted(&small, &recorded, Prune::All).await;
    assert_eq!(
        shown(&steps),
        ["gone Widget/w", "gone ConfigMap/a", "gone CustomResourceDefinition/widgets.example.org"]
    );
}

async fn other_version() {
    let small = Small::start().await;
    let recorded = applied(&small, &[widgets(), object("example.org/v1", "Widget", "w")]).await;
    let definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.org";
    let versions = json!([{"name": "v2", "served": true, "storage": true}]);
    small.patch(definition, &json!({"spec": {"versions": versions}})).await;
    let path = "/apis/example.org/v2/namespaces/default/widgets/w";
    assert!(small.get(path).await.is_some());
    let steps = deleted(&small, &recorded, Prune::Default).await;
    assert_eq!(
        shown(&steps),
        ["deleted Widget/w", "kept CustomResourceDefinition/widgets.example.org"]
    );
    assert_eq!(small.get(path).await, None);
}
