//! Requests that use too many resources.

use libtest_mimic::Trial;
use serde_json::json;

use crate::deployments::paths::{JSON, names, site};
use crate::deployments::{body, trial};
use crate::http::program::Program;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("hostile/small_bodies_that_grow_are_stopped", growing),
        trial("hostile/a_manifest_beyond_the_store_is_413", large),
        trial("hostile/python_is_not_run", python),
        trial("hostile/only_public_addresses_of_listed_hosts_are_fetched", fetching),
        trial("hostile/secrets_are_in_no_log", secrets),
    ]
}

/// The maximum memory of a server for one of these requests, in addition to its idle memory.
const MEMORY: u64 = 700 << 20;

fn growing() {
    let program = Program::start(&["--expansion-timeout", "20s"]);
    let long = "x".repeat(100_000);
    let many: String =
        (0..2_000).map(|index| format!("- {{name: r{index}, type: a.jinja}}\n")).collect();
    let many = format!("resources:\n{many}");
    let references = "$(ref.big.o)".repeat(10_000);
    let outputs = format!(
        "resources: [{{name: big, type: big.jinja}}, {{name: all, type: A, properties: {{a: '{references}'}}}}]"
    );
    let big = format!("resources: []\noutputs: [{{name: o, value: {long}}}]");
    let loops = "resources: [{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}]";
    let itself = "resources: [{name: a, type: a.jinja}, {name: b, type: a.jinja}]";
    let one = "resources: [{name: a, type: a.jinja}]";
    let resources: String =
        (0..20_000).map(|index| format!("- {{name: r{index}, type: A}}\n")).collect();
    let resources = format!("resources:\n{resources}");
    let schema = format!("properties: {{a: {{type: string, default: {long}}}}}");
    let rendered = format!("resources: []\na: {long}");
    let cases = [
        ("rendered texts", many.as_str(), vec![("a.jinja", rendered.as_str())], 422),
        ("outputs", &outputs, vec![("big.jinja", &big)], 422),
        ("defaults", &many, vec![("a.jinja", "resources: []"), ("a.jinja.schema", &schema)], 422),
        ("loops", one, vec![("a.jinja", loops)], 400),
        ("nesting", one, vec![("a.jinja", itself)], 400),
        ("resources", &resources, vec![], 422),
    ];
    let idle = program.memory();
    for (what, content, imports, code) in cases {
        let sent = body("grow", content, &imports);
        for path in ["/expand", "/deployments"] {
            let answer = program.send("POST", path, &JSON, &sent);
            assert_eq!(answer.code, code, "{what}: {}", String::from_utf8_lossy(&answer.body));
            answer.is_status(code);
        }
        assert!(program.memory() < idle + MEMORY, "{what}: {}", program.memory());
    }
    assert_eq!(names(&program, "/deployments"), [""; 0]);
}

fn large() {
    let program = Program::start(&[]);
    assert_eq!(program.send("POST", "/deployments", &JSON, &site("web", 1)).code, 201);
    let text = "x".repeat(1 << 20);
    let content = format!("resources: [{{name: a, type: A, properties: {{a: {text}}}}}]");
    for (method, path, name) in
        [("POST", "/deployments", "big"), ("PUT", "/deployments/web", "web")]
    {
        let answer = program.send(method, path, &JSON, &body(name, &content, &[]));
        answer.is_status(413);
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains("manifest-000"), "{message}");
        assert!(message.ends_with("limit is 1048576"), "{message}");
    }
    assert_eq!(names(&program, "/deployments"), ["web"]);
    assert_eq!(names(&program, "/deployments/web/manifests"), ["manifest-0001"]);
}

fn python() {
    let program = Program::start(&[]);
    let marker = program.folder().join("marker");
    let template = format!(
        "open('{}', 'w')\ndef GenerateConfig(context): return 'resources: []'",
        marker.display()
    );
    let config = "resources: [{name: a, type: a.py}]";
    let answer = program.send("POST", "/expand", &JSON, &body("a", config, &[("a.py", &template)]));
    answer.is_status(400);
    let causes = answer.json()["details"]["causes"].to_string();
    assert!(causes.contains("--allow-python"), "{causes}");
    assert!(!marker.exists());
}

fn fetching() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let expand = |program: &Program, scheme: &str| {
        let address = format!("{scheme}://{host}/vm.jinja");
        let imports = format!("imports: [{{path: '{address}'}}]");
        let config = format!("{imports}\nresources: [{{name: a, type: '{address}'}}]");
        program.send("POST", "/expand", &JSON, &body("a", &config, &[]))
    };
    let (closed, other) = (&[][..], &["--allow-fetch", "example.com,localhost"][..]);
    for arguments in [closed, other] {
        let program = Program::start(arguments);
        for scheme in ["http", "https"] {
            let answer = expand(&program, scheme);
            // Like the original, the server passes on a type that is not imported.
            assert_eq!(answer.code, 200);
            let warning = answer.header("Warning").unwrap();
            assert!(warning.contains("not among the imports"), "{warning}");
        }
    }
    let program = Program::start(&["--allow-fetch", &host]);
    let answer = expand(&program, "https");
    answer.is_status(400);
    let error =
        format!("https://{host}/vm.jinja cannot be fetched: its host has no public address");
    assert_eq!(answer.json()["message"], *error);
    assert!(listener.accept().is_err(), "the server connected");
}

fn secrets() {
    const CANARY: &str = "canary4711";
    let program = Program::start(&["--log-level", "trace"]);
    let template = format!("resources: [{{name: a, type: A, properties: {{password: {CANARY}}}}}]");
    let config = "resources: [{name: a, type: a.jinja}]";
    let good = body("web", config, &[("a.jinja", &template)]);
    let schema = "properties: {a: {type: integer}}";
    let wrong = format!("resources: [{{name: a, type: a.jinja, properties: {{a: {CANARY}}}}}]");
    let bad = body("bad", &wrong, &[("a.jinja", &template), ("a.jinja.schema", schema)]);
    let broken = json!({"name": CANARY}).to_string();
    for (method, path, body) in [
        ("POST", "/expand", good.as_slice()),
        ("POST", "/deployments", &good),
        ("PUT", "/deployments/web", &good),
        ("GET", "/deployments/web", b""),
        ("POST", "/deployments", &bad),
        ("POST", "/expand", &bad),
        ("POST", "/deployments", broken.as_bytes()),
        ("DELETE", "/deployments/web", b""),
    ] {
        assert_ne!(program.send(method, path, &JSON, body).code, 500, "{method} {path}");
    }
    let metrics = String::from_utf8(program.get("/metrics").body).unwrap();
    program.signal("TERM");
    let said = metrics + &program.end().1;
    let found: Vec<&str> = said.lines().filter(|line| line.contains(CANARY)).collect();
    assert!(found.is_empty(), "{found:#?}");
}
