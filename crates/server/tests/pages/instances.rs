//! The page of an instance, for users with some of the permissions. `tests/browser` has the rest.

use serde_json::json;

use crate::pages::deployment_rights::{admin, rules};
use crate::pages::deployments::{api, has, lacks};
use crate::pages::site::{Page, Site};

tests!(parameters_are_those_of_a_template_that_the_user_may_read);

/// Returns the page of an instance of a stored Template, for a user with some rights.
async fn seen(rights: &[(&str, &str)]) -> Page {
    let site = Site::with_rights(&rules(rights)).await;
    let version = "template.krm.dev/v1alpha1";
    let metadata = json!({"name": "web"});
    let template = json!({"apiVersion": version, "kind": "Template", "metadata": metadata,
        "parameters": [{"name": "SIZE", "value": "small"}], "objects": []});
    let spec = json!({"templateRef": {"name": "web"}, "parameters": {"COLOR": "red"}});
    let instance = json!({"apiVersion": version, "kind": "TemplateInstance", "metadata": metadata,
        "spec": spec});
    let headers = [("content-type", "application/json"), ("authorization", &*admin())];
    for (resource, body) in [("templates", template), ("templateinstances", instance)] {
        let path = format!("/apis/{version}/namespaces/shop/{resource}");
        let page = site.send("POST", &path, &headers, &body.to_string()).await;
        assert_eq!(page.code, 201, "{}", page.text);
    }
    api(&site, "GET", "/ui/instances/web?namespace=shop", "").await
}

#[tokio::main(flavor = "current_thread")]
async fn parameters_are_those_of_a_template_that_the_user_may_read() {
    let (color, size) = ("COLOR", "SIZE");
    let history = "You are not allowed to see the history";
    let page = seen(&[("get", "templateinstances")]).await;
    has(&page, &["web", history]);
    lacks(&page, &[color, size, "Show changes"]);
    let change = ("\"get\", \"update\"", "templateinstances");
    let page = seen(&[change]).await;
    has(&page, &[color, "Show changes"]);
    lacks(&page, &[size]);
    let read = [("get", "templates"), ("get", "templateinstances/revisions")];
    let page = seen(&[change, read[0], read[1]]).await;
    has(&page, &[color, size]);
    lacks(&page, &[history]);
    assert_eq!(seen(&read).await.code, 403);
}
