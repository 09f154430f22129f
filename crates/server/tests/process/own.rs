//! Our group, and the behavior that both groups share.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use krm_template_server::request::Format;
use krm_template_server::templates::{self, Limits, Output, Processed, Request};
use krm_template_server_core::{Group, Status};
use krm_yaml::Document;
use krm_yaml::source::Source;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::process::shared::{json, on_thread, request, template, yaml};

pub(crate) fn trials() -> Vec<Trial> {
    let tests: [(&str, fn()); 20] = [
        ("the_answer_keeps_the_order_of_the_template", the_answer_keeps_the_order_of_the_template),
        ("a_list_has_only_the_objects", a_list_has_only_the_objects),
        (
            "labels_and_namespace_of_the_request_are_set",
            labels_and_namespace_of_the_request_are_set,
        ),
        ("errors_name_the_field_of_the_body", errors_name_the_field_of_the_body),
        ("parameters_are_for_a_stored_template", parameters_are_for_a_stored_template),
        ("mistakes_in_parameters_name_their_field", mistakes_in_parameters_name_their_field),
        ("numbers_in_json_are_finite", numbers_in_json_are_finite),
        ("openshift_knows_no_fields_of_ours", openshift_knows_no_fields_of_ours),
        ("yaml_keeps_its_comments", yaml_keeps_its_comments),
        ("json_becomes_yaml_if_asked", json_becomes_yaml_if_asked),
        ("generated_values_are_the_same_everywhere", generated_values_are_the_same_everywhere),
        ("a_source_map_has_places_and_no_values", a_source_map_has_places_and_no_values),
        ("a_schema_shows_no_secret", a_schema_shows_no_secret),
        (
            "a_schema_has_a_limited_number_of_parameters",
            a_schema_has_a_limited_number_of_parameters,
        ),
        ("a_schema_ends_when_the_time_is_up", a_schema_ends_when_the_time_is_up),
        ("another_namespace_is_refused", another_namespace_is_refused),
        ("warnings_are_few_and_short", warnings_are_few_and_short),
        ("objects_are_checked_if_asked", objects_are_checked_if_asked),
        ("too_many_parameters_are_refused", too_many_parameters_are_refused),
        ("values_of_numbers_keep_their_digits", values_of_numbers_keep_their_digits),
    ];
    let tests = tests.into_iter();
    let run = |test: fn()| {
        move || {
            test();
            Ok(())
        }
    };
    tests.map(|(name, test)| Trial::test(format!("process/own/{name}"), run(test))).collect()
}

const WEB: &str = r#"{"kind": "Template", "apiVersion": "template.krm.dev/v1alpha1",
 "metadata": {"name": "web", "uid": "1", "labels": {"z": "1", "a": "2"}},
 "message": "Made $(NAME).",
 "labels": {"team": "sales", "app": "$(NAME)"},
 "objects": [{"kind": "Service", "apiVersion": "v1", "metadata": {"name": "$(NAME)"},
   "spec": {"ports": [{"port": "$((PORT))", "weight": 1.0}]}}],
 "parameters": [{"required": true, "name": "NAME"}, {"name": "PORT", "type": "int", "value": "80"}]"#;

/// Returns the Template with `values`.
fn web(values: &str) -> String {
    format!(r#"{WEB}, "values": {values}}}"#)
}

#[track_caller]
fn done(request: &Request<'_>, body: &str) -> Processed {
    template(request, json(body)).unwrap_or_else(|status| panic!("{}", status.message))
}

#[track_caller]
fn refused(request: &Request<'_>, body: &str) -> Box<Status> {
    match template(request, json(body)) {
        Ok(done) => panic!("{}", done.body),
        Err(status) => status,
    }
}

/// Returns the causes, each as `REASON FIELD: MESSAGE`.
fn causes(status: &Status) -> Vec<String> {
    let details = status.details.iter();
    let causes = details.flat_map(|details| &details.causes);
    causes.map(|one| format!("{} {}: {}", one.reason, one.field, one.message)).collect()
}

fn the_answer_keeps_the_order_of_the_template() {
    let done = done(&request(Group::Krm), &web(r#"{"NAME": "shop", "PORT": 8080}"#));
    let expected = concat!(
        r#"{"kind":"Template","apiVersion":"template.krm.dev/v1alpha1","#,
        r#""metadata":{"name":"web","namespace":"shop","labels":{"z":"1","a":"2"}},"#,
        r#""message":"Made shop.","objects":[{"kind":"Service","apiVersion":"v1","#,
        r#""metadata":{"name":"shop","labels":{"team":"sales","app":"shop"}},"#,
        r#""spec":{"ports":[{"port":8080,"weight":1.0}]}}],"#,
        r#""parameters":[{"required":true,"name":"NAME","value":"shop"},"#,
        r#"{"name":"PORT","type":"int","value":"8080"}],"#,
        r#""labels":{"team":"sales","app":"shop"}}"#,
        "\n",
    );
    assert_eq!(done.body, expected);
    assert_eq!(done.warnings, [""; 0]);
}

fn a_list_has_only_the_objects() {
    let request = Request { output: Output::List, ..request(Group::OpenShift) };
    let body =
        r#"{"objects": [{"kind": "B", "apiVersion": "v1"}, {"kind": "A", "apiVersion": "v1"}]}"#;
    assert_eq!(
        done(&request, body).body,
        concat!(
            r#"{"kind":"List","apiVersion":"v1","metadata":{},"items":["#,
            r#"{"apiVersion":"v1","kind":"B"},{"apiVersion":"v1","kind":"A"}]}"#,
            "\n"
        )
    );
    let empty = r#"{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}"#;
    assert_eq!(done(&request, "{}").body, format!("{empty}\n"));
}

fn labels_and_namespace_of_the_request_are_set() {
    let mut request = request(Group::OpenShift);
    request.labels = vec![("b".to_owned(), "2".to_owned())];
    request.target_namespace = Some("prod");
    let body = r#"{"labels": {"b": "1", "a": "0"}, "objects": [
        {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "s"}},
        {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "n"}}]}"#;
    let done = done(&request, body);
    let answer: Value = serde_json::from_str(&done.body).expect("JSON");
    assert_eq!(answer["labels"].to_string(), r#"{"a":"0","b":"2"}"#);
    let metadata = |index: usize| answer["objects"][index]["metadata"].to_string();
    let labels = r#""labels":{"a":"0","b":"2"}"#;
    assert_eq!(metadata(0), format!(r#"{{{labels},"name":"s","namespace":"prod"}}"#));
    assert_eq!(metadata(1), format!(r#"{{{labels},"name":"n"}}"#));
}

fn errors_name_the_field_of_the_body() {
    let body = web(r#"{"PORT": "secret-word", "NAMES": "x"}"#);
    let status = refused(&request(Group::Krm), &body);
    assert_eq!((status.code, status.reason), (422, "Invalid"));
    assert!(status.message.starts_with(r#"Template.template.krm.dev "web" is invalid: ["#));
    assert!(!status.object().to_string().contains("secret-word"));
    assert_eq!(
        causes(&status),
        [
            "FieldValueInvalid values.NAMES: the Template has no parameter `NAMES`; did you mean `NAME`?",
            "FieldValueRequired parameters[0].value: parameter `NAME` is required and has no value",
            "FieldValueInvalid values.PORT: parameter `PORT` must be an int; write digits, with an optional sign",
        ]
    );
    let body =
        r#"{"objects": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}, null]}"#;
    let status = refused(&request(Group::Krm), body);
    assert_eq!(
        causes(&status),
        ["FieldValueInvalid objects[1]: the object is empty; \
          an object has `apiVersion`, `kind` and `metadata.name`"]
    );
}

fn stored(template: &str, parameters: &str) -> Result<Processed, Box<Status>> {
    let request = request(Group::Krm);
    on_thread(|| templates::stored(&request, json(template), json(parameters)))
}

fn parameters_are_for_a_stored_template() {
    let template = format!("{WEB}}}");
    for kind in ["Parameters", "ParameterValues"] {
        let parameters = format!(
            r#"{{"apiVersion": "template.krm.dev/v1alpha1", "kind": "{kind}", "template": "web",
              "values": {{"NAME": "shop", "PORT": 8080}}, "labels": {{"team": "all"}},
              "namespace": "prod"}}"#
        );
        let done = stored(&template, &parameters).unwrap_or_else(|status| panic!("{status}"));
        let answer: Value = serde_json::from_str(&done.body).expect("JSON");
        assert_eq!(answer["labels"].to_string(), r#"{"team":"all","app":"shop"}"#);
        assert_eq!(answer["metadata"]["namespace"], "shop");
        assert_eq!(answer["objects"][0]["metadata"]["namespace"], "prod");
        assert_eq!(answer["objects"][0]["spec"]["ports"][0]["port"].to_string(), "8080");
    }
}

fn mistakes_in_parameters_name_their_field() {
    let template = format!("{WEB}}}");
    for (parameters, expected) in [
        (
            r#"{"template": "other", "labels": {"a": 1}, "namespace": 5, "values": {"NAME": "n"}}"#,
            vec![
                "FieldValueInvalid template: these values are not for the Template `web`",
                "FieldValueInvalid labels.a: label `a` must be a string; put it in quotes",
                "FieldValueInvalid namespace: `namespace` must be a string",
            ],
        ),
        (
            r#"{"values": {"PORT": "x"}}"#,
            vec![
                "FieldValueRequired values.NAME: parameter `NAME` is required and has no value",
                "FieldValueInvalid values.PORT: parameter `PORT` must be an int; write digits, with an optional sign",
            ],
        ),
        (
            r#"{"values": {"NAME": "n"}, "lables": {}, "typo": 1}"#,
            vec![
                "FieldValueInvalid lables: unknown field `lables`; did you mean `labels`?",
                "FieldValueInvalid typo: unknown field `typo`; values of parameters are under `values`",
            ],
        ),
        (
            r#"{"values": {"NAME": null}}"#,
            vec![
                "FieldValueInvalid values.NAME: parameter `NAME` is null; \
                  give a value, or remove the key to use the default",
            ],
        ),
    ] {
        let status = stored(&template, parameters).err().expect("a mistake");
        assert_eq!(causes(&status), expected, "{parameters}");
    }
    for (parameters, expected) in [
        (
            r#"{"kind": "Secret"}"#,
            "Secret in version \"v1alpha1\" cannot be handled as a Parameters",
        ),
        (r#"{"apiVersion": "apps/v1"}"#, "the API version in the data (apps/v1) does not match"),
        ("[]", "the body must be one object of kind Parameters"),
    ] {
        let status = stored(&template, parameters).err().expect("a mistake");
        assert_eq!(status.code, 400, "{parameters}");
        assert!(status.message.starts_with(expected), "{}", status.message);
    }
}

fn numbers_in_json_are_finite() {
    for fields in [
        r#""parameters": [{"name": "A", "unknown": [.nan, 1]}]"#,
        r#""parameters": [], "metadata": {"annotations": {"a": -.inf}}"#,
    ] {
        let body = format!("{{{fields}, \"objects\": []}}");
        let status = template(&request(Group::Krm), yaml(&body)).err().expect("no JSON");
        assert_eq!(status.code, 400, "{body}");
        assert!(status.message.ends_with("not finite"), "{}", status.message);
        // A List has neither metadata nor parameters of the Template.
        let list = Request { output: Output::List, ..request(Group::Krm) };
        assert!(template(&list, yaml(&body)).is_ok(), "{body}");
    }
}

fn openshift_knows_no_fields_of_ours() {
    let body = r#"{"objectLabels": {"a": "b"}, "values": {"A": "given"},
        "parameters": [{"name": "A", "type": "int", "pattern": "^x", "value": "word"}],
        "objects": [{"kind": "X", "apiVersion": "v1", "metadata": {"name": "x"}, "a": "${A}"}]}"#;
    assert_eq!(
        done(&request(Group::OpenShift), body).body,
        concat!(
            r#"{"kind":"Template","apiVersion":"template.openshift.io/v1","metadata":{"namespace":"shop"},"#,
            r#""objects":[{"a":"word","apiVersion":"v1","kind":"X","metadata":{"name":"x"}}],"#,
            r#""parameters":[{"name":"A","value":"word"}]}"#,
            "\n"
        )
    );
}

const COMMENTED: &str = "\
# A shop.
apiVersion: template.krm.dev/v1alpha1
kind: Template
metadata:
  name: web # its name
  uid: \"1\"
parameters:
- name: NAME # of the shop
  value: shop
objects:
# It listens.
- apiVersion: v1
  kind: Service
  metadata: {name: $(NAME)} # short
";

fn yaml_keeps_its_comments() {
    let mut request = Request { syntax: Format::Yaml, ..request(Group::Krm) };
    let answer = template(&request, yaml(COMMENTED)).expect("no mistake").body;
    let expected = COMMENTED.replace("  uid: \"1\"\n", "  namespace: shop\n");
    let expected = expected.replace("# It listens.\n- api", "- # It listens.\n  api");
    assert_eq!(answer, expected.replace("$(NAME)", "shop"));
    request.output = Output::List;
    let answer = template(&request, yaml(COMMENTED)).expect("no mistake").body;
    assert_eq!(
        answer,
        "apiVersion: v1\nkind: List\nmetadata: {}\nitems:\n- # It listens.\n  apiVersion: v1\n  \
         kind: Service\n  metadata: {name: shop} # short\n"
    );
    let anonymous = "objects: []\n";
    request.output = Output::Template;
    assert_eq!(
        template(&request, yaml(anonymous)).expect("no mistake").body,
        "kind: Template\napiVersion: template.krm.dev/v1alpha1\nmetadata:\n  namespace: shop\nobjects: []\n"
    );
}

fn json_becomes_yaml_if_asked() {
    let request = Request { syntax: Format::Yaml, ..request(Group::OpenShift) };
    let body = r#"{"parameters": [{"name": "A", "value": "007"}], "objects": []}"#;
    assert_eq!(
        done(&request, body).body,
        "kind: Template\napiVersion: template.openshift.io/v1\nmetadata:\n  namespace: shop\n\
         objects: []\nparameters:\n- name: A\n  value: \"007\"\n"
    );
}

fn generated_values_are_the_same_everywhere() {
    let body = r#"{"parameters": [{"name": "A", "generate": "expression", "from": "[a-z]{20}"}],
        "objects": [{"kind": "X", "apiVersion": "v1", "metadata": {"name": "${A}"}}]}"#;
    for (syntax, source_map) in [(Format::Json, false), (Format::Json, true), (Format::Yaml, true)]
    {
        let request = Request { syntax, source_map, ..request(Group::OpenShift) };
        let answer = template(&request, yaml(body)).expect("no mistake").body;
        let document = krm_yaml::Document::parse(&krm_yaml::source::Source::new("a", answer));
        let document = document.expect("YAML");
        let root = document.roots().next().expect("a root");
        let at = |path: &str| {
            let node = root.lookup(&path.parse().expect("a path")).expect("a field");
            node.text().expect("readable").expect("a scalar").into_owned()
        };
        let made = at("parameters[0].value");
        assert_eq!((made.len(), at("objects[0].metadata.name")), (20, made));
    }
}

fn a_source_map_has_places_and_no_values() {
    let mut request = Request { source_map: true, ..request(Group::Krm) };
    request.labels = vec![("team".to_owned(), "all".to_owned())];
    let done = done(&request, &web(r#"{"NAME": "shop"}"#));
    let answer: Value = serde_json::from_str(&done.body).expect("JSON");
    let map = &answer["sourceMap"];
    assert_eq!(map["version"], 1);
    assert_eq!(map["objects"][0]["name"], "shop");
    let fields = map["objects"][0]["fields"].as_array().expect("fields");
    let field = |path: &str| fields.iter().find(|field| field["path"] == path).expect("a field");
    let port = field("spec.ports[0].port");
    assert_eq!(port["parameters"].to_string(), r#"["PORT"]"#);
    assert_eq!(
        (port["line"].to_string(), &port["cause"]),
        ("6".to_owned(), &Value::from("object"))
    );
    assert_eq!(field("metadata.labels.team")["cause"], "argumentLabels");
    assert_eq!(field("metadata.labels.app")["cause"], "labels");
}

fn a_schema_ends_when_the_time_is_up() {
    let body = r#"{"objects": [], "parameters": [{"name": "A"}]}"#;
    for asked in 0..2 {
        let count = AtomicUsize::new(0);
        let is_late = || count.fetch_add(1, Relaxed) >= asked;
        let schema = templates::schema(Group::Krm, json(body), &Limits::of_server(&is_late));
        assert_eq!(schema.unwrap_err().code, 504);
        let document = Arc::new(Document::parse(&Source::new("Template", body)).unwrap());
        count.store(0, Relaxed);
        let described = templates::described(Group::Krm, &document, &Limits::of_server(&is_late));
        assert_eq!(described.unwrap_err().code, 504);
    }
}

fn a_schema_has_a_limited_number_of_parameters() {
    let parameters: Vec<String> =
        (0..5_001).map(|index| format!("{{\"name\": \"P{index}\"}}")).collect();
    let body = format!("{{\"objects\": [], \"parameters\": [{}]}}", parameters.join(","));
    let schema = templates::schema(Group::Krm, json(&body), &Limits::of_server(&|| false));
    let causes = schema.unwrap_err().details.unwrap().causes;
    assert_eq!(causes[0].reason, "FieldValueTooMany");
}

fn a_schema_shows_no_secret() {
    let body = r#"{"parameters": [{"name": "A", "type": "int", "value": "5", "displayName": "An A"},
        {"name": "P", "secret": true, "value": "hush-hush"}, {"name": "R", "required": true}]}"#;
    let of = |group, body: &str| {
        templates::schema(
            group,
            json(&body.replace("{\"param", "{\"objects\": [], \"param")),
            &Limits::of_server(&|| false),
        )
    };
    let schema = of(Group::Krm, body).unwrap_or_else(|status| panic!("{status}"));
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    assert_eq!(schema["properties"]["A"]["default"].to_string(), "5");
    assert_eq!(schema["properties"]["A"]["title"], "An A");
    assert_eq!(schema["required"].to_string(), r#"["R"]"#);
    assert!(!schema.to_string().contains("hush"));
    let status =
        of(Group::Krm, r#"{"parameters": [{"value": "hush-hush", "type": "map", "name": 5}, {}]}"#);
    let status = status.expect_err("a mistake");
    assert_eq!((status.code, status.object().to_string().contains("hush")), (422, false));
}

fn another_namespace_is_refused() {
    for group in Group::ALL {
        let status =
            refused(&request(group), r#"{"metadata": {"namespace": "prod"}, "objects": []}"#);
        assert_eq!(
            (status.code, status.message.as_str()),
            (
                400,
                "the namespace of the provided object does not match the namespace sent on the request"
            )
        );
        done(&request(group), r#"{"metadata": {"namespace": "shop"}, "objects": []}"#);
    }
}

fn warnings_are_few_and_short() {
    let object = |index: usize| {
        let text = format!("$({}{index})", "N".repeat(300));
        format!(
            r#"{{"kind": "X", "apiVersion": "v1", "metadata": {{"name": "x"}}, "a": "{text}"}}"#
        )
    };
    let objects: Vec<String> = (0..50).map(object).collect();
    let body = format!(r#"{{"typo": 1, "objects": [{}]}}"#, objects.join(","));
    let warnings = done(&request(Group::Krm), &body).warnings;
    assert_eq!(warnings.len(), 20);
    for warning in warnings {
        assert_eq!(warning.chars().count(), 256, "{warning}");
        assert!(warning.starts_with("objects["), "{warning}");
    }
}

fn objects_are_checked_if_asked() {
    let body = r#"{"objects": [
        {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "$(NAME)"},
         "spec": {"type": "$(TYPE)", "port": [{"port": 80}]}},
        {"kind": "Shop", "apiVersion": "example.com/v1", "metadata": {"name": "x"}}],
        "parameters": [{"name": "NAME", "value": "web"},
                       {"name": "TYPE", "secret": true, "value": "Nodeport"}]}"#;
    assert_eq!(done(&request(Group::Krm), body).warnings, [""; 0]);
    let request = Request { checks: true, ..request(Group::Krm) };
    assert_eq!(
        done(&request, body).warnings,
        [
            "objects[0].spec.type: `spec.type` must be `ClusterIP`, `ExternalName`, `LoadBalancer` or `NodePort`; the parameter `TYPE` decides the value",
            "objects[0].spec.port: `port` is not a field of ServiceSpec; did you mean `ports`?",
            "objects[0].spec.ports: `spec.ports` is required",
            "not checked: 1 object of unknown kinds (example.com/v1 Shop)",
        ]
    );
}

fn too_many_parameters_are_refused() {
    let body = |count: usize| {
        let parameters: Vec<String> =
            (0..count).map(|at| format!(r#"{{"name": "P{at}"}}"#)).collect();
        format!(r#"{{"objects": [], "parameters": [{}]}}"#, parameters.join(","))
    };
    done(&request(Group::Krm), &body(5_000));
    assert_eq!(
        causes(&refused(&request(Group::Krm), &body(5_001))),
        ["FieldValueTooMany parameters: Too many: 5001: must have at most 5000 items"]
    );
}

fn values_of_numbers_keep_their_digits() {
    let number = "12345678901234567890.10";
    let body = format!(
        r#"{{"parameters": [{{"name": "A", "value": "{number}"}}], "objects": [
        {{"kind": "X", "apiVersion": "v1", "metadata": {{"name": "x"}}, "a": "$((A))", "b": {number}}}]}}"#
    );
    let answer = done(&request(Group::Krm), &body).body;
    assert!(answer.contains(&format!(r#""a":{number},"b":{number}"#)), "{answer}");
}
