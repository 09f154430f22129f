//! Self subject reviews, as kubectl sends them.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use krm_template_server_core::auth::reviews::{
    self_subject_access_review, self_subject_review, self_subject_rules_review,
};
use krm_template_server_core::{User, auth::Authorizer, auth::rbac::Policy, protobuf};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::auth::support::write;

tests!(
    answers_can_i_in_protobuf_and_in_json,
    answers_can_i_list_and_who_am_i,
    refuses_bodies_that_ask_nothing_or_something_else,
    any_bytes_of_protobuf_are_an_object_or_a_status
);

/// `kubectl auth can-i get templates.template.krm.dev/web --subresource=schema -n shop`, kubectl
/// 1.33, without discovery.
const CAN_I: &str = "azhzAAoyChdhdXRob3JpemF0aW9uLms4cy5pby92MRIXU2VsZlN1YmplY3RBY2Nlc3NSZXZpZXcSWAoQCgASABoAIgAqADIAOABCABI6CjgKBHNob3ASA2dldBoAIgAqGnRlbXBsYXRlcy50ZW1wbGF0ZS5rcm0uZGV2MgZzY2hlbWE6A3dlYhoICAASABoAIAAaACIA";

/// `kubectl auth can-i get /metrics`.
const CAN_I_PATH: &str = "azhzAAoyChdhdXRob3JpemF0aW9uLms4cy5pby92MRIXU2VsZlN1YmplY3RBY2Nlc3NSZXZpZXcSLwoQCgASABoAIgAqADIAOABCABIREg8KCC9tZXRyaWNzEgNnZXQaCAgAEgAaACAAGgAiAA==";

/// `kubectl auth can-i --list -n shop`.
const CAN_I_LIST: &str = "azhzAAoxChdhdXRob3JpemF0aW9uLms4cy5pby92MRIWU2VsZlN1YmplY3RSdWxlc1JldmlldxIgChAKABIAGgAiACoAMgA4AEIAEgYKBHNob3AaBBgAIgAaACIA";

/// `kubectl auth whoami`.
const WHO_AM_I: &str = "azhzAAotChhhdXRoZW50aWNhdGlvbi5rOHMuaW8vdjESEVNlbGZTdWJqZWN0UmV2aWV3EhoKEAoAEgAaACIAKgAyADgAQgASBgoECgASABoAIgA=";

fn bytes(base64: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(base64).unwrap()
}

fn anna() -> User {
    User { name: "anna".to_owned(), groups: vec!["devs".to_owned()], ..User::default() }
}

fn rbac(folder: &tempfile::TempDir) -> Authorizer {
    let path = write(
        folder.path(),
        "rbac.yaml",
        "apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: reader
  namespace: shop
rules:
- verbs: [get, list]
  apiGroups: [template.krm.dev, '']
  resources: [templates, templates/schema]
  resourceNames: [web]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: reader
  namespace: shop
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: reader
subjects:
- kind: User
  name: anna
",
    );
    Authorizer::Rbac(Policy::open(path).unwrap())
}

#[tokio::main(flavor = "current_thread")]
async fn answers_can_i_in_protobuf_and_in_json() {
    let folder = tempfile::tempdir().unwrap();
    let rbac = rbac(&folder);
    let in_json = json!({
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {"creationTimestamp": null},
        "spec": {"resourceAttributes": {"namespace": "shop", "verb": "get",
            "group": "template.krm.dev", "resource": "templates", "name": "web"}},
        "status": {"allowed": false},
    });
    let without_name = json!({"spec": {"resourceAttributes": {"namespace": "shop", "verb": "get",
            "group": "template.krm.dev", "resource": "templates"}}});
    let cases = [
        (in_json.to_string().into_bytes(), true),
        (without_name.to_string().into_bytes(), false),
        (bytes(CAN_I_PATH), false),
        (br#"{"spec":{"nonResourceAttributes":{"path":"/apis/a","verb":"get"}}}"#.to_vec(), false),
    ];
    for (body, allowed) in cases {
        let review = self_subject_access_review(&rbac, &anna(), &body).await.unwrap();
        assert_eq!(review["status"]["allowed"], allowed, "{review}");
    }
    let review =
        self_subject_access_review(&Authorizer::Everything, &anna(), &bytes(CAN_I)).await.unwrap();
    assert_eq!(
        review.to_string(),
        concat!(
            r#"{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","#,
            r#""metadata":{},"spec":{"resourceAttributes":{"namespace":"shop","verb":"get","#,
            r#""resource":"templates.template.krm.dev","subresource":"schema","name":"web"}},"#,
            r#""status":{"allowed":true}}"#,
        )
    );
}

#[tokio::main(flavor = "current_thread")]
async fn answers_can_i_list_and_who_am_i() {
    let folder = tempfile::tempdir().unwrap();
    let rbac = rbac(&folder);
    let review = self_subject_rules_review(&rbac, &anna(), &bytes(CAN_I_LIST)).unwrap();
    assert_eq!(
        review,
        json!({
            "kind": "SelfSubjectRulesReview",
            "apiVersion": "authorization.k8s.io/v1",
            "metadata": {},
            "spec": {"namespace": "shop"},
            "status": {
                "resourceRules": [{"verbs": ["get", "list"], "apiGroups": ["template.krm.dev", ""],
                    "resources": ["templates", "templates/schema"], "resourceNames": ["web"]}],
                "nonResourceRules": [],
                "incomplete": false,
            },
        })
    );
    let review = self_subject_rules_review(&Authorizer::Everything, &anna(), &bytes(CAN_I_LIST));
    assert_eq!(
        review.unwrap()["status"],
        json!({
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
            "incomplete": false,
        })
    );
    let review = self_subject_review(&anna(), &bytes(WHO_AM_I)).unwrap();
    assert_eq!(review["status"], json!({"userInfo": {"username": "anna", "groups": ["devs"]}}));
}

#[tokio::main(flavor = "current_thread")]
async fn refuses_bodies_that_ask_nothing_or_something_else() {
    let anna = anna();
    let everything = Authorizer::Everything;
    let both = json!({"spec": {"resourceAttributes": {"verb": "get"},
        "nonResourceAttributes": {"path": "/", "verb": "get"}}})
    .to_string();
    let mut compressed = bytes(CAN_I);
    let end = compressed.len() - 4;
    compressed.truncate(end);
    compressed.extend([0x1a, 4, b'g', b'z', b'i', b'p']);
    let cases: &[(&[u8], u16)] = &[
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b"{\"spec\":[1]}", 400),
        (b"{}", 422),
        (both.as_bytes(), 422),
        (br#"{"kind":"SelfSubjectRulesReview"}"#, 400),
        (br#"{"apiVersion":"authorization.k8s.io/v1beta1"}"#, 400),
        (&bytes(CAN_I_LIST), 400),
        (&compressed, 415),
        (b"k8s\0\xff", 400),
        (b"k8s\0", 415),
    ];
    for (body, code) in cases {
        let status = self_subject_access_review(&everything, &anna, body).await.unwrap_err();
        assert_eq!(status.code, *code, "{body:?}: {status}");
    }
    let status = self_subject_rules_review(&everything, &anna, b"{}").unwrap_err();
    assert_eq!((status.code, status.message.as_str()), (400, "no namespace on request"));
}

proptest! {
    fn any_bytes_of_protobuf_are_an_object_or_a_status(
        change in any::<(prop::sample::Index, u8)>(),
        end in any::<prop::sample::Index>(),
        which in 0..4_usize,
    ) {
        let mut body = bytes([CAN_I, CAN_I_PATH, CAN_I_LIST, WHO_AM_I][which]);
        let (place, byte) = change;
        let place = place.index(body.len());
        body[place] = byte;
        body.truncate(end.index(body.len() + 1));
        match protobuf::to_json(&body) {
            Ok(object) => prop_assert!(matches!(object, Value::Object(_))),
            Err(status) => prop_assert!(matches!(status.code, 400 | 415)),
        }
    }
}
