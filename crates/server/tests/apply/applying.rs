//! Creating and updating objects.

use krm_template_cluster::{Conflicts, Prune, record};
use serde_json::json;

use crate::apply::Test;
use crate::apply::support::{
    MAPS, Notes, Small, config_map, master, object, objects, owner, shown,
};

pub(crate) const TESTS: &[Test] = &[
    ("objects_are_created_with_marks_of_their_owner", || Box::pin(created())),
    ("an_update_drops_what_is_no_longer_wanted", || Box::pin(updated())),
    ("a_field_of_another_manager_is_a_conflict", || Box::pin(conflict())),
    ("an_object_of_another_deployment_is_not_taken", || Box::pin(taken())),
    ("an_object_that_was_there_before_is_never_deleted", || Box::pin(before())),
    ("an_object_that_is_being_deleted_is_refused", || Box::pin(terminating())),
    ("values_of_secrets_are_in_no_message", || Box::pin(secret())),
    ("texts_keep_their_characters", || Box::pin(characters())),
];

async fn created() {
    let small = Small::start().await;
    let mut notes = Notes::default();
    let cluster = small.cluster();
    let all = objects(&[config_map("a", "1"), object("v1", "ServiceAccount", "s")]);
    let steps =
        cluster.apply(&master(), &owner("web"), &all, Conflicts::Fail, &mut notes).await.unwrap();
    assert_eq!(shown(&steps), ["applied ServiceAccount/s", "applied ConfigMap/a"]);
    assert_eq!(notes.steps, steps);
    let live = small.get(&format!("{MAPS}/a")).await.unwrap();
    let metadata = &live["metadata"];
    assert_eq!(steps[1].object.uid, metadata["uid"].as_str().unwrap());
    assert_eq!(
        metadata["annotations"],
        json!({"template.krm.dev/owner": "Deployment/default/web"})
    );
    // printf Deployment/default/web | sha256sum | cut -c-32
    assert_eq!(
        metadata["labels"],
        json!({"template.krm.dev/instance-id": "7f9faa24a5a9f88fc53c8ea3257f2d55"})
    );
    assert_eq!(metadata["managedFields"][0]["manager"], "krm-template");
    assert_eq!(metadata["managedFields"][0]["operation"], "Apply");
    let again = cluster
        .apply(&master(), &owner("web"), &all, Conflicts::Fail, &mut Notes::default())
        .await
        .unwrap();
    assert_eq!(shown(&again), ["unchanged ServiceAccount/s", "unchanged ConfigMap/a"]);
}

async fn updated() {
    let small = Small::start().await;
    let (cluster, web) = (small.cluster(), owner("web"));
    let first = objects(&[config_map("a", "1"), config_map("b", "1"), config_map("c", "1")]);
    let steps = cluster
        .apply(&master(), &web, &first, Conflicts::Fail, &mut Notes::default())
        .await
        .unwrap();
    let before = record(&[], &steps);
    let second = objects(&[config_map("b", "2"), config_map("d", "1")]);
    let mut notes = Notes::default();
    let steps = cluster
        .update(&master(), &web, &before, &second, Prune::Default, &mut notes)
        .await
        .unwrap();
    assert_eq!(
        shown(&steps),
        [
            "applied ConfigMap/b",
            "applied ConfigMap/d",
            "deleted ConfigMap/c",
            "deleted ConfigMap/a",
        ]
    );
    let recorded = record(&before, &steps);
    let names: Vec<&str> = recorded.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["b", "d"]);
    assert_eq!(small.get(&format!("{MAPS}/a")).await, None);
    let live = small.get(&format!("{MAPS}/b")).await.unwrap();
    assert_eq!(live["data"], json!({"a": "2"}));
}

async fn conflict() {
    let small = Small::start().await;
    let (cluster, web) = (small.cluster(), owner("web"));
    let all = objects(&[config_map("a", "1"), config_map("b", "1")]);
    cluster.apply(&master(), &web, &all, Conflicts::Fail, &mut Notes::default()).await.unwrap();
    small.patch(&format!("{MAPS}/b"), &json!({"data": {"a": "by hand"}})).await;
    let all = objects(&[config_map("a", "2"), config_map("b", "2"), config_map("c", "2")]);
    let failure = cluster
        .apply(&master(), &web, &all, Conflicts::Fail, &mut Notes::default())
        .await
        .unwrap_err();
    assert_eq!(failure.code, 409);
    assert_eq!(
        failure.status["details"]["causes"],
        json!([{"reason": "FieldManagerConflict", "message": "conflict with \"hand\" using v1",
                "field": ".data.a"}])
    );
    assert_eq!(
        failure.to_string(),
        "ConfigMap `b`: Apply failed with 1 conflict: conflict with \"hand\" using v1: .data.a"
    );
    assert_eq!(shown(&failure.done), ["applied ConfigMap/a"]);
    assert_eq!(small.get(&format!("{MAPS}/c")).await, None);
}

async fn taken() {
    let small = Small::start().await;
    let cluster = small.cluster();
    let all = objects(&[config_map("a", "1")]);
    cluster
        .apply(&master(), &owner("one"), &all, Conflicts::Fail, &mut Notes::default())
        .await
        .unwrap();
    small.asked().await;
    let failure = cluster
        .apply(&master(), &owner("two"), &all, Conflicts::Fail, &mut Notes::default())
        .await
        .unwrap_err();
    assert_eq!(failure.code, 409);
    assert_eq!(
        failure.message(),
        "the ConfigMap belongs to `Deployment/default/one`; remove it there, or give it another \
         name here"
    );
    assert_eq!(small.changes().await, Vec::<String>::new());
}

async fn before() {
    let small = Small::start().await;
    let (cluster, web) = (small.cluster(), owner("web"));
    let mut other = config_map("a", "1");
    other["data"] = json!({"b": "2"});
    small.create(MAPS, &other).await;
    // An owner annotation in the manifest has no effect.
    let mut own = config_map("a", "1");
    own["metadata"]["annotations"] = json!({"template.krm.dev/owner": web.annotation()});
    let steps = cluster
        .apply(&master(), &web, &objects(&[own]), Conflicts::Fail, &mut Notes::default())
        .await
        .unwrap();
    assert_eq!(shown(&steps), ["applied ConfigMap/a"]);
    assert_eq!(steps[0].message, "it existed before, so it will not be deleted");
    let live = small.get(&format!("{MAPS}/a")).await.unwrap();
    assert_eq!(live["data"], json!({"a": "1", "b": "2"}));
    let recorded = record(&[], &steps);
    let steps = cluster
        .delete(&master(), &web, &recorded, Prune::All, &mut Notes::default())
        .await
        .unwrap();
    assert_eq!(shown(&steps), ["foreign ConfigMap/a"]);
    assert_eq!(record(&recorded, &steps), []);
    assert!(small.get(&format!("{MAPS}/a")).await.is_some());
}

async fn terminating() {
    let small = Small::start().await;
    let mut value = config_map("a", "1");
    value["metadata"]["finalizers"] = json!(["example.org/wait"]);
    small.create(MAPS, &value).await;
    let path = format!("{MAPS}/a");
    small.ask("DELETE", &path, "application/json", &json!(null)).await;
    let all = objects(&[config_map("a", "1")]);
    let failure = small
        .cluster()
        .apply(&master(), &owner("web"), &all, Conflicts::Fail, &mut Notes::default())
        .await
        .unwrap_err();
    assert_eq!(
        (failure.code, failure.message()),
        (409, "the ConfigMap is being deleted; try again when it is gone")
    );
}

async fn secret() {
    let small = Small::start().await;
    let mut value = object("v1", "Secret", "Wrong_Name");
    value["stringData"] = json!({"a": "canary"});
    let failure = small
        .cluster()
        .apply(&master(), &owner("web"), &objects(&[value]), Conflicts::Fail, &mut Notes::default())
        .await
        .unwrap_err();
    assert_eq!(failure.code, 422);
    assert_eq!(failure.status["reason"], "Invalid");
    // The cluster's message quotes the refused value, which is the name here.
    assert!(!failure.status.to_string().contains("Wrong_Name"));
    assert!(!format!("{failure:?}").contains("canary"));
}

async fn characters() {
    let small = Small::start().await;
    let text = "a\u{85}b\u{2028}c\u{feff}d\u{7f}e\t😀 \"on\": 1e3\n";
    small
        .cluster()
        .apply(
            &master(),
            &owner("web"),
            &objects(&[config_map("a", text)]),
            Conflicts::Fail,
            &mut Notes::default(),
        )
        .await
        .unwrap();
    let live = small.get(&format!("{MAPS}/a")).await.unwrap();
    assert_eq!(live["data"]["a"], text);
}
