//! Hostile requests of every path: no answer is much larger than its request, and an expansion
//! looks at the time wherever a body makes work.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use krm_template_server::templates::{Limits, Request};
use krm_template_server_core::Group;
use libtest_mimic::Trial;
use proptest::prelude::{Strategy, prop};
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::pages::site::Site;
use crate::process::shared::{request, template, yaml};

pub(crate) fn trials() -> Vec<Trial> {
    let tests: [(&str, fn()); 4] = [
        ("answers_are_in_proportion_to_requests", answers),
        ("answers_to_random_requests_are_too", random_answers),
        ("the_time_is_looked_at_in_all_work", time),
        ("an_expansion_ends_when_the_time_is_up", late),
    ];
    let tests = tests.into_iter();
    tests.map(|(name, test)| crate::trial(format!("process/bounds/{name}"), test)).collect()
}

const MIB: usize = 1 << 20;

const TEMPLATES: &str = "/apis/template.krm.dev/v1alpha1/namespaces/shop/templates";
const PROCESSED: &str = "/apis/template.krm.dev/v1alpha1/namespaces/shop/processedtemplates";
const UPSTREAM: &str = "/apis/template.openshift.io/v1/namespaces/shop/processedtemplates";

/// A request: its path, and its body.
type Sent = (&'static str, String);

fn own(fields: &str) -> String {
    format!(
        "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nmetadata: {{name: t}}\n{fields}"
    )
}

fn upstream(fields: &str) -> String {
    format!("apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {{name: t}}\n{fields}")
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(|index| format!("- {}\n", item(index))).collect()
}

fn expand(content: &str, imports: &[(&str, &str)]) -> Sent {
    let imports: Vec<Value> = imports
        .iter()
        .map(|(name, content)| json!({"name": name, "path": name, "content": content}))
        .collect();
    let body = json!({"name": "a", "configuration": {"content": content, "imports": imports}});
    ("/expand", body.to_string())
}

/// Properties of a template with this schema.
fn checked(schema: &str, properties: &str) -> Sent {
    let content = format!("resources: [{{name: a, type: a.jinja, properties: {properties}}}]");
    expand(&content, &[("a.jinja", "resources: []"), ("a.jinja.schema", schema)])
}

/// Requests with many errors, and with errors that quote long parts of the body.
fn requests() -> Vec<Sent> {
    let long = "x".repeat(100_000);
    let quotes = "\\\"\\u0001`".repeat(9_000);
    let items = vec!["1"; 20_000].join(",");
    let branches = vec!["{type: string}"; 5_000].join(", ");
    let object = "{apiVersion: v1, kind: X, metadata: {name: x}";
    let names =
        list(5_000, |index| format!("{{name: {long_name}{index}}}", long_name = &long[..200]));
    let mut all = vec![
        // Values that their schema refuses, whole or in many parts.
        checked(&format!("allOf: [{branches}]"), &format!("{{a: {long}}}")),
        checked("properties: {a: {items: {type: string}}}", &format!("{{a: [{items}]}}")),
        checked(
            "properties: {a: {allOf: [{items: {type: string}}, {maxItems: 1}]}}",
            &format!("{{a: [{items}]}}"),
        ),
        checked(&format!("oneOf: [{}]", vec!["{}"; 9_000].join(",")), &format!("{{a: {long}}}")),
        checked(&format!("required: [{}]", vec!["aaaaaaaaa"; 9_000].join(",")), "{b: 1}"),
        checked(
            "additionalProperties: false",
            &format!(
                "{{{}}}",
                (0..20_000).map(|at| format!("k{at}: 1")).collect::<Vec<_>>().join(",")
            ),
        ),
        checked(&format!("type: [{}]", vec!["intt"; 9_000].join(",")), "{a: 1}"),
        checked(&format!("properties: {{a: {{pattern: '{long}'}}}}"), &format!("{{a: {long}}}")),
        checked(&format!("properties: {{a: {{enum: [{long}]}}}}"), &format!("{{a: [{long}]}}")),
        expand(&format!("resources: [{{type: A, properties: {{a: {long}}}}}]"), &[]),
        expand(&format!("resources: [{{name: a, type: '{long}.jinja'}}]"), &[]),
        expand(
            "resources: [{name: a, type: a.jinja}]",
            &[("a.jinja", &format!("{{{{ {long} }}}}"))],
        ),
        expand(&format!("resources:\n{}", list(5_000, |_| "{type: A}".to_owned())), &[]),
        (
            PROCESSED,
            own(&format!(
                "parameters:\n- {{name: A, value: {long}, enum: [{long}]}}\n- {{name: B, value: b, pattern: '{long}'}}\nobjects: []\n"
            )),
        ),
        (
            PROCESSED,
            own(&format!(
                "parameters:\n{names}objects: []\nvalues: {{{}}}\n",
                (0..3_000)
                    .map(|at| format!("{}{at}: 1", &long[..300]))
                    .collect::<Vec<_>>()
                    .join(",")
            )),
        ),
        (
            PROCESSED,
            own(&format!(
                "parameters: [{{name: A, description: {long}, displayName: {long}, required: true}}]\nobjects: []\n"
            )),
        ),
        (PROCESSED, own(&format!("objects:\n{}", list(20_000, |_| "5".to_owned())))),
        (
            PROCESSED,
            own(&format!(
                "objects:\n- {object}, {long}: [{}]}}\n",
                vec!["$((A))"; 20_000].join(",")
            )),
        ),
        (
            PROCESSED,
            own(&format!(
                "objects:\n{}",
                list(3_000, |_| format!("{{kind: X, metadata: {{name: {}}}}}", &long[..100]))
            )),
        ),
        (
            PROCESSED,
            own(&format!(
                "objects:\n- {{kind: X, metadata: {{name: {long}}}, {}}}\n",
                (0..3_000).map(|at| format!("a{at}: $((A))")).collect::<Vec<_>>().join(",")
            )),
        ),
        (
            PROCESSED,
            own(&format!(
                "labels: {{{}}}\nobjects: [{object}}}]\n",
                (0..9_000)
                    .map(|at| format!("-{at}: '{}'", &long[..100]))
                    .collect::<Vec<_>>()
                    .join(",")
            )),
        ),
        (
            UPSTREAM,
            upstream(&format!(
                "parameters:\n{}objects: []\n",
                list(5_000, |_| format!("{{name: '{}'}}", "-".repeat(100)))
            )),
        ),
        (
            UPSTREAM,
            upstream(&format!(
                "parameters: [{{name: '{long} ', generate: '{long}'}}]\nobjects: []\n"
            )),
        ),
        (
            UPSTREAM,
            upstream(&format!(
                "parameters:\n{}objects: []\n",
                list(5_000, |_| { "{name: A, generate: expression, from: '[z-a]{3}'}".to_owned() })
            )),
        ),
        (UPSTREAM, upstream(&format!("objects:\n{}", list(9_000, |_| "5".to_owned())))),
        (
            TEMPLATES,
            own(&format!(
                "objects: []\n{}",
                (0..9_000).map(|at| format!("f{at}: 1\n")).collect::<String>()
            )),
        ),
        (TEMPLATES, own(&format!("objects: []\n{}", "message: a\n".repeat(9_000)))),
        (TEMPLATES, own(&format!("metadata: {{name: {long}}}\nobjects: {long}\n"))),
        (TEMPLATES, format!("apiVersion: {long}\nkind: {long}\n")),
        (
            TEMPLATES,
            format!(
                "{{\"apiVersion\": \"{quotes}\", \"kind\": \"{quotes}\", \"metadata\": {{\"name\": \"{quotes}\"}}}}"
            ),
        ),
        (TEMPLATES, format!("a: [{long}")),
        (
            TEMPLATES,
            own(&format!(
                "metadata: {{name: t, finalizers: [{}], ownerReferences: [{}]}}\n",
                vec!["a"; 9_000].join(","),
                vec!["{}"; 9_000].join(",")
            ))
            .replace("metadata: {name: t}\n", ""),
        ),
        ("/ui/upload", long.clone()),
        ("/deployments", format!("{{\"name\": \"{quotes}\"}}")),
    ];
    let value =
        own(&format!("parameters: [{{name: A, value: \"{quotes}\", type: int}}]\nobjects: []\n"));
    all.extend([(PROCESSED, value.clone()), (TEMPLATES, value)]);
    all
}

async fn check(site: &Site, (path, body): &Sent) -> u16 {
    let is_json = body.starts_with('{');
    let kind = if is_json { "application/json" } else { "application/yaml" };
    let mut code = 0;
    for query in ["", "?fieldValidation=Strict"] {
        let answer =
            site.send("POST", &format!("{path}{query}"), &[("content-type", kind)], body).await;
        let headers = answer.headers.iter().map(|(name, value)| name.as_str().len() + value.len());
        let length = answer.text.len() + headers.sum::<usize>();
        let start = &body[..body.floor_char_boundary(300)];
        assert!(length <= 4 * body.len() + MIB, "{path} {}: {length}\n{start}", body.len());
        assert_ne!(answer.code, 500, "{start}");
        code = answer.code;
    }
    code
}

#[tokio::main(flavor = "current_thread")]
async fn answers() {
    let site = Site::open().await;
    let mut refused = 0;
    for sent in requests() {
        refused += usize::from(check(&site, &sent).await >= 400);
    }
    assert!(refused > 25, "{refused}");
}

/// Parts of random requests: each is repeated, inside the one before it.
fn random() -> impl Strategy<Value = Sent> {
    const PARTS: &[&str] = &[
        "a: 5\n",
        "$(B): $((C))\n",
        "name: [z]\n",
        "value: {a: .inf}\n",
        "type: int\n",
        "? [1]\n",
        "pattern: (\n",
        "enum: [a]\n",
        "minLength: 9\n",
        "required: true\n",
        "generate: expression\n",
        "from: '[z-a]{0}'\n",
        "kind: List\n",
        "items: [5, null]\n",
        "metadata: 5\n",
        "labels: {-: 5}\n",
        "properties: {a: {type: string}}\n",
        "\"\\u0001\": `\n",
        "é: $(A\n",
    ];
    let part = prop::sample::select(PARTS);
    let line = (part, 1_usize..400, 0_usize..4).prop_map(|(part, times, depth)| {
        let indent = "  ".repeat(depth);
        let long = part.replace('a', &"a".repeat(times * depth + 1));
        format!("{indent}- {long}").repeat(times)
    });
    let lines = prop::collection::vec(line, 1..6);
    let field = prop::sample::select(&["parameters", "objects", "labels", "values", "message"][..]);
    let path = prop::sample::select(&[TEMPLATES, PROCESSED, UPSTREAM, "/expand"][..]);
    (path, field, lines).prop_map(|(path, field, lines)| {
        let fields = format!("{field}:\n{}", lines.concat());
        let body = match path {
            UPSTREAM => upstream(&fields),
            "/expand" => expand(&fields.replace("objects", "resources"), &[]).1,
            _ => own(&fields),
        };
        (path, body)
    })
}

fn random_answers() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let site = runtime.block_on(Site::open());
    let config =
        Config { cases: 200, failure_persistence: None, max_shrink_iters: 50, ..Config::default() };
    let run = TestRunner::new(config).run(&random(), |sent| {
        runtime.block_on(check(&site, &sent));
        Ok(())
    });
    run.unwrap();
}

/// Templates in which one thing is there very often, and how often.
fn work() -> Vec<(&'static str, usize, String)> {
    let object = "{apiVersion: v1, kind: X, metadata: {name: x}";
    let count = 2_000;
    let labels =
        |value: &str| -> String { (0..count).map(|at| format!("  a{at}: {value}\n")).collect() };
    let parameters = |fields: &str| list(count, |at| format!("{{name: P{at}, {fields}}}"));
    vec![
        (
            "generation",
            count,
            own(&format!(
                "parameters:\n{}objects: []\n",
                parameters("generate: expression, from: '[a-z]{255}[a-z]{255}'")
            )),
        ),
        (
            "constants",
            count,
            own(&format!(
                "parameters:\n{}objects: []\n",
                parameters("generate: expression, from: aaa")
            )),
        ),
        (
            "checks",
            count,
            own(&format!(
                "parameters:\n{}objects: []\n",
                parameters("value: a, enum: [a], minLength: 1")
            )),
        ),
        (
            "patterns",
            count,
            own(&format!(
                "parameters:\n{}objects: []\n",
                parameters("value: aaaaaaaaaaa, pattern: '(a|aa|aaa)*$'")
            )),
        ),
        (
            "defaults",
            count,
            own(&format!("parameters:\n{}objects: []\n", parameters("value: $(P0)a"))),
        ),
        (
            "unknown values",
            count,
            own(&format!("parameters: []\nobjects: []\nvalues:\n{}", labels("a"))),
        ),
        ("labels", count, own(&format!("labels:\n{}objects: [{object}}}]\n", labels("a")))),
        (
            "label merging",
            2 * count,
            own(&format!(
                "labels:\n{}objects: [{object}}}, {object}, spec: {{}}}}]\n",
                labels("a")
            )),
        ),
        ("invalid labels", 2 * count, own(&format!("labels:\n{}objects: []\n", labels("'-'")))),
        (
            "messages",
            count,
            own(&format!("objects:\n- {object}, a: [{}]}}\n", vec!["'$((A))'"; count].join(","))),
        ),
        (
            "equal keys",
            count / 40,
            own(&format!(
                "parameters: [{{name: A, value: a}}]\nobjects:\n- {object}, b: {{{}}}}}\n",
                (0..count).map(|at| format!("$(A){at}: 1")).collect::<Vec<_>>().join(",")
            )),
        ),
        ("objects", count, own(&format!("objects:\n{}", list(count, |_| format!("{object}}}"))))),
    ]
}

/// Expands a Template that is late after so many questions. Returns the code, and the questions.
fn asked(body: &str, most: usize) -> (u16, usize) {
    let asked = AtomicUsize::new(0);
    let is_late = || asked.fetch_add(1, Relaxed) >= most;
    let request = Request { limits: Limits::of_server(&is_late), ..request(Group::Krm) };
    let code = template(&request, yaml(body)).map_or_else(|status| status.code, |_| 200);
    (code, asked.load(Relaxed))
}

fn time() {
    for (what, count, body) in work() {
        let (code, asked) = asked(&body, usize::MAX);
        assert!(asked >= count, "{what}: {asked} questions, {code}");
    }
}

fn late() {
    for (what, count, body) in work() {
        for most in [0, 1, count / 2] {
            let (code, asked) = asked(&body, most);
            // Little is done after that.
            assert_eq!(code, 504, "{what} after {most}");
            assert!(asked <= most + 8, "{what}: {asked} questions instead of {most}");
        }
    }
}
