//! Templates of `apiVersion: v1`, whose dialect is found, and the proposal's own requests.

use serde_json::{Value, json};

use crate::http::program::{Program, Response};

tests_and_crlf!(
    a_template_of_v1_belongs_to_the_group_of_its_dialect,
    a_path_with_a_group_takes_only_its_dialect,
    values_can_be_a_list,
    unknown_and_repeated_fields_are_refused_on_every_path
    ; shared data: the_example_of_the_proposal_works
);

const JSON: (&str, &str) = ("Content-Type", "application/json");
const YAML: (&str, &str) = ("Content-Type", "application/yaml");
const OURS: &str = "/apis/template.krm.dev/v1alpha1/namespaces/default";
const OPENSHIFT: &str = "/apis/template.openshift.io/v1/namespaces/default";

fn legacy(name: &str, reference: &str) -> String {
    let template = json!({
        "kind": "Template",
        "apiVersion": "v1",
        "metadata": {"name": name},
        "parameters": [{"name": "NAME", "value": "shop"}],
        "objects": [{"kind": "Service", "apiVersion": "v1", "metadata": {"name": reference}}],
    });
    template.to_string()
}

fn post(program: &Program, path: &str, body: &str) -> Response {
    program.send("POST", path, &[JSON], body.as_bytes())
}

fn object_name(answer: &Response) -> Value {
    answer.json()["objects"][0]["metadata"]["name"].clone()
}

fn a_template_of_v1_belongs_to_the_group_of_its_dialect() {
    let program = Program::start(&[]);
    for (name, reference, path, version) in [
        ("ours", "$(NAME)", OURS, "template.krm.dev/v1alpha1"),
        ("theirs", "${NAME}", OPENSHIFT, "template.openshift.io/v1"),
        ("plain", "shop", OPENSHIFT, "template.openshift.io/v1"),
    ] {
        let template = legacy(name, reference);
        let processed = post(&program, "/processedtemplates", &template);
        assert_eq!(processed.code, 201, "{processed:?}");
        assert_eq!(processed.json()["apiVersion"], version);
        assert_eq!(object_name(&processed), "shop");

        let created = post(&program, "/templates", &template);
        assert_eq!(created.code, 201, "{created:?}");
        assert_eq!(created.json()["apiVersion"], version);
        let stored = program.get(&format!("{path}/templates/{name}"));
        assert_eq!(stored.json()["apiVersion"], version, "{stored:?}");

        let yaml = format!("# kept\n{}", template.replace("\":", "\": "));
        let processed = program.send("POST", "/processedtemplates", &[YAML], yaml.as_bytes());
        assert_eq!(object_name(&processed), "shop", "{processed:?}");
    }
    let answer = post(&program, "/templates/ours/processed", "{}");
    assert_eq!(object_name(&answer), "shop", "{answer:?}");
}

fn a_path_with_a_group_takes_only_its_dialect() {
    let program = Program::start(&[]);
    let ours = legacy("ours", "$(NAME)");
    for path in ["processedtemplates", "templates"] {
        let path = format!("{OURS}/{path}");
        let answer = post(&program, &path, &ours);
        assert_eq!(answer.code, 201, "{answer:?}");
        assert_eq!(answer.json()["apiVersion"], "template.krm.dev/v1alpha1");
        post(&program, &path, &legacy("theirs", "${NAME}")).is_status(400);
    }
    let path = format!("{OPENSHIFT}/processedtemplates");
    let answer = post(&program, &path, &legacy("theirs", "${NAME}"));
    assert_eq!(object_name(&answer), "shop", "{answer:?}");
}

fn the_example_of_the_proposal_works() {
    let program = Program::start(&[]);
    let shared = std::env::var("KRM_TEMPLATE_SHARED").unwrap();
    let file = std::path::Path::new(&shared).join("corpus/proposal/seed_example.json");
    let example = std::fs::read_to_string(file).unwrap();
    let given = r#"{"parameters": [{"name": "MONGODB_PASSWORD", "value": "pass"}]}"#;
    let created = post(&program, "/templates", &example);
    assert_eq!(created.code, 201, "{created:?}");
    let answer = post(&program, "/templates/mongodb-ephemeral/processed", given);
    assert_eq!(answer.code, 201, "{answer:?}");
    let answer = answer.json();
    let controller = &answer["objects"][1];
    assert_eq!(controller["spec"]["replicas"], 1);
    let env = &controller["spec"]["template"]["spec"]["containers"][0]["env"];
    assert_eq!(env[1]["value"], "pass");
}

fn values_can_be_a_list() {
    let program = Program::start(&[]);
    let template = r#"{"apiVersion": "template.krm.dev/v1alpha1", "kind": "Template",
        "metadata": {"name": "web"},
        "parameters": [{"name": "NAME", "required": true}, {"name": "PORT", "type": "int"}],
        "objects": [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "$(NAME)"}}]}"#;
    assert_eq!(post(&program, "/templates", template).code, 201);
    let process = |body: &str| post(&program, "/templates/web/processed", body);
    let list = r#"{"parameters": [{"name": "NAME", "value": "b"}, {"name": "PORT", "value": 80}]}"#;
    let answer = process(list);
    assert_eq!(answer.code, 201, "{answer:?}");
    assert_eq!(object_name(&answer), "b");
    for (list, expected) in [
        (r#"[{"name": "NAME"}]"#, "expected a `name` and a `value`"),
        (r#"["NAME"]"#, "expected a `name` and a `value`"),
        (r#"{"NAME": "b"}"#, "expected a list of values"),
        (
            r#"[{"name": "NAME", "value": "a"}, {"name": "NAME", "value": "b"}]"#,
            "parameter `NAME` is given twice",
        ),
        (r#"[{"name": "NAME", "value": "a", "valeu": "b"}]"#, "unknown field `valeu` of a value"),
        (r#"[{"name": "NAME", "value": null}]"#, "parameter `NAME` is null"),
        (
            r#"[{"name": "NAME", "value": "a"}, {"name": "PORT", "value": "x"}]"#,
            "parameter `PORT` must be an int",
        ),
    ] {
        let answer = process(&format!("{{\"parameters\": {list}}}"));
        answer.is_status(422);
        let causes = answer.json()["details"]["causes"].to_string();
        assert!(causes.contains(expected), "{list}: {causes}");
        assert!(causes.contains("\"field\":\"parameters"), "{list}: {causes}");
    }
}

fn unknown_and_repeated_fields_are_refused_on_every_path() {
    let program = Program::start(&[]);
    assert_eq!(post(&program, "/templates", &legacy("web", "$(NAME)")).code, 201);
    for (body, expected) in [
        (r#"{"parametres": []}"#, "unknown field `parametres`; did you mean `parameters`?"),
        (r#"{"NAME": "b"}"#, "unknown field `NAME`; values of parameters are under `values`"),
        (r#"{"values": {}, "values": {}}"#, "field `values` is given twice"),
        (r#"{"values": {"NAME": "a", "NAME": "b"}}"#, "parameter `NAME` is given twice"),
    ] {
        for path in ["/templates/web".to_owned(), format!("{OURS}/templates/web")] {
            for query in ["", "?fieldValidation=Strict"] {
                let answer = post(&program, &format!("{path}/processed{query}"), body);
                answer.is_status(422);
                let causes = answer.json()["details"]["causes"].to_string();
                assert!(causes.contains(expected), "{body}: {causes}");
            }
        }
    }
    let unknown = legacy("other", "$(NAME)").replacen('{', "{\"parametres\": [],", 1);
    let repeated = legacy("other", "$(NAME)").replacen('{', "{\"labels\": {}, \"labels\": {},", 1);
    for body in [unknown, repeated] {
        for path in ["/processedtemplates", "/templates"] {
            for path in [path.to_owned(), format!("{OURS}{path}")] {
                let answer = post(&program, &format!("{path}?fieldValidation=Strict"), &body);
                answer.is_status(400);
                let message = answer.json()["message"].to_string();
                assert!(message.contains("strict decoding error"), "{message}");
                post(&program, &format!("{path}?fieldValidation=strict"), &body).is_status(422);
            }
        }
    }
}
