//! An unreachable cluster, and a busy one.

use krm_template_cluster::{Conflicts, Prune, record};
use serde_json::json;

use crate::apply::Test;
use crate::apply::support::{MAPS, Notes, Small, config_map, master, objects, owner, shown};

pub(crate) const TESTS: &[Test] = &[
    ("a_change_that_broke_off_is_completed_by_the_next", || Box::pin(completed())),
    ("a_deletion_that_broke_off_is_completed_by_the_next", || Box::pin(deleted())),
    ("a_busy_cluster_is_asked_again", || Box::pin(busy())),
    ("a_change_ends_when_its_steps_cannot_be_noted", || Box::pin(unnoted())),
];

/// Breaks the connection after each number of requests, with and without the last response. The
/// error must list the completed steps, and applying again must complete the change.
async fn completed() {
    let (web, names) = (owner("web"), ["a", "b", "c"]);
    let all = objects(&names.map(|name| config_map(name, "1")));
    let mut broken = 0;
    for lost in [false, true] {
        for away in 0..8 {
            let small = Small::start().await;
            let cluster = small.cluster();
            small.set(json!({"away": away, "lost": lost})).await;
            let mut notes = Notes::default();
            let first = cluster.apply(&master(), &web, &all, Conflicts::Fail, &mut notes).await;
            small.set(json!({"away": null, "lost": false})).await;
            let mut before = Vec::new();
            if let Err(failure) = first {
                broken += 1;
                assert_eq!(failure.code, 503, "{failure}");
                before = record(&[], &failure.done);
                assert_eq!(failure.done, notes.steps);
                for object in &before {
                    let live = small.get(&format!("{MAPS}/{}", object.name)).await.unwrap();
                    assert_eq!(live["metadata"]["uid"], object.uid.as_str());
                }
            }
            let steps = cluster
                .apply(&master(), &web, &all, Conflicts::Fail, &mut Notes::default())
                .await
                .unwrap();
            let recorded = record(&before, &steps);
            assert_eq!(recorded.len(), names.len());
            for object in &recorded {
                let live = small.get(&format!("{MAPS}/{}", object.name)).await.unwrap();
                assert_eq!(live["metadata"]["uid"], object.uid.as_str());
                assert_eq!(
                    live["metadata"]["annotations"]["template.krm.dev/owner"],
                    "Deployment/default/web"
                );
            }
        }
    }
    assert!(broken >= 10, "only {broken} changes broke off");
}

async fn deleted() {
    let web = owner("web");
    let all = objects(&["a", "b"].map(|name| config_map(name, "1")));
    for lost in [false, true] {
        for away in 0..5 {
            let small = Small::start().await;
            let cluster = small.cluster();
            let steps = cluster
                .apply(&master(), &web, &all, Conflicts::Fail, &mut Notes::default())
                .await
                .unwrap();
            let recorded = record(&[], &steps);
            small.set(json!({"away": away, "lost": lost})).await;
            let first = cluster
                .delete(&master(), &web, &recorded, Prune::Default, &mut Notes::default())
                .await;
            small.set(json!({"away": null, "lost": false})).await;
            let left = match first {
                Ok(steps) => record(&recorded, &steps),
                Err(failure) => {
                    assert_eq!(failure.code, 503, "{failure}");
                    record(&recorded, &failure.done)
                }
            };
            let steps = cluster
                .delete(&master(), &web, &left, Prune::Default, &mut Notes::default())
                .await
                .unwrap();
            assert_eq!(record(&left, &steps), []);
            for name in ["a", "b"] {
                assert_eq!(small.get(&format!("{MAPS}/{name}")).await, None);
            }
        }
    }
}

async fn busy() {
    let small = Small::start().await;
    small.set(json!({"busy": 3})).await;
    let all = objects(&[config_map("a", "1")]);
    let steps = small
        .cluster()
        .apply(&master(), &owner("web"), &all, Conflicts::Fail, &mut Notes::default())
        .await
        .unwrap();
    assert_eq!(shown(&steps), ["applied ConfigMap/a"]);
    small.set(json!({"busy": 100})).await;
    let failure = small
        .cluster()
        .apply(&master(), &owner("web"), &all, Conflicts::Fail, &mut Notes::default())
        .await
        .unwrap_err();
    assert_eq!(failure.code, 429);
}

async fn unnoted() {
    let small = Small::start().await;
    let all = objects(&["a", "b", "c"].map(|name| config_map(name, "1")));
    let mut notes = Notes { stop_after: Some(2), ..Notes::default() };
    let failure = small
        .cluster()
        .apply(&master(), &owner("web"), &all, Conflicts::Fail, &mut notes)
        .await
        .unwrap_err();
    assert_eq!((failure.code, failure.message()), (503, "the store is away"));
    assert_eq!(shown(&failure.done), ["applied ConfigMap/a", "applied ConfigMap/b"]);
    assert_eq!(small.get(&format!("{MAPS}/c")).await, None);
}
