//! Limits of concurrent requests, and large responses.

use std::io::{Read as _, Write as _};

use flate2::read::GzDecoder;
use serde_json::json;

use crate::http::program::{PROCESS, Program, Response, TEMPLATE, head, response, rest, until};

tests!(
    beyond_the_limit_clients_shall_come_again,
    a_further_connection_takes_the_place_of_an_idle_one,
    while_all_connections_are_busy_health_and_metrics_answer,
    only_large_answers_are_compressed,
    a_client_that_leaves_is_in_the_audit_log,
    the_store_is_measured
);

const JSON: (&str, &str) = ("Content-Type", "application/json");

fn process(program: &Program) -> Response {
    program.send("POST", PROCESS, &[JSON], TEMPLATE.as_bytes())
}

fn beyond_the_limit_clients_shall_come_again() {
    let program = Program::start(&["--max-writes", "1"]);
    let mut first = program.connect();
    let (front, back) = TEMPLATE.split_at(9);
    let begun = head("POST", PROCESS, &[JSON, ("Connection", "close")])
        + &format!("Content-Length: {}\r\n\r\n{front}", TEMPLATE.len());
    first.write_all(begun.as_bytes()).unwrap();
    program.until_measured("krm_template_in_flight{class=\"write\"} 1");
    let refused = process(&program);
    refused.is_status(429);
    assert_eq!(refused.header("Retry-After"), Some("1"));
    // Reads have a separate limit.
    assert_eq!(program.get("/version").code, 200);
    first.write_all(back.as_bytes()).unwrap();
    assert_eq!(response(&rest(&mut first)).code, 201);
    until("the place is free", || (process(&program).code == 201).then_some(()));
}

fn a_further_connection_takes_the_place_of_an_idle_one() {
    for limit in ["--max-connections", "--max-connections-per-address"] {
        let program = Program::start(&[limit, "2"]);
        let request = head("GET", "/version", &[]) + "\r\n";
        let mut open = Vec::new();
        for _ in 0..2 {
            let mut stream = program.connect();
            stream.write_all(request.as_bytes()).unwrap();
            stream.read_exact(&mut [0; 12]).unwrap();
            open.push(stream);
        }
        // The first one has been idle for longer.
        let mut third = program.connect();
        third.write_all(request.as_bytes()).unwrap();
        third.read_exact(&mut [0; 12]).unwrap();
        let first = rest(&mut open[0]);
        assert!(first.ends_with(b"}"), "{}", String::from_utf8_lossy(&first));
        let last = head("GET", "/version", &[("Connection", "close")]) + "\r\n";
        for stream in [&mut open[1], &mut third] {
            stream.write_all(last.as_bytes()).unwrap();
            assert!(rest(stream).ends_with(b"}"));
        }
    }
}

fn while_all_connections_are_busy_health_and_metrics_answer() {
    let program = Program::start(&["--max-connections", "2"]);
    let (front, back) = TEMPLATE.split_at(9);
    let headers = [JSON, ("Connection", "close"), ("Expect", "100-continue")];
    let begun =
        head("POST", PROCESS, &headers) + &format!("Content-Length: {}\r\n\r\n", TEMPLATE.len());
    let busy = [(); 2].map(|()| {
        let mut stream = program.connect();
        stream.write_all(begun.as_bytes()).unwrap();
        let mut line = [0; 25];
        stream.read_exact(&mut line).unwrap();
        assert_eq!(&line, b"HTTP/1.1 100 Continue\r\n\r\n");
        stream.write_all(front.as_bytes()).unwrap();
        stream
    });
    program.until_measured("krm_template_in_flight{class=\"write\"} 2");
    for path in ["/livez", "/readyz", "/metrics"] {
        assert_eq!(program.get(path).code, 200, "{path}");
    }
    let refused = program.get("/version");
    assert_eq!((refused.code, refused.header("Retry-After")), (429, Some("1")));
    for mut stream in busy {
        stream.write_all(back.as_bytes()).unwrap();
        assert_eq!(response(&rest(&mut stream)).code, 201);
    }
    until("a place is free", || (program.get("/version").code == 200).then_some(()));
}

fn only_large_answers_are_compressed() {
    let program = Program::start(&[]);
    for (length, is_large) in [(1_000, false), (128 << 10, true)] {
        let template = json!({
            "apiVersion": "template.krm.dev/v1alpha1",
            "kind": "Template",
            "metadata": {"name": "web"},
            "objects": [{
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "web"},
                "data": {"x": "x".repeat(length)},
            }],
        });
        let body = template.to_string();
        let plain = program.send("POST", PROCESS, &[JSON], body.as_bytes());
        assert_eq!((plain.code, plain.header("Content-Encoding")), (201, None));
        for (accepted, is_accepted) in [("gzip", true), ("gzip;q=0, br", false)] {
            let headers = [JSON, ("Accept-Encoding", accepted)];
            let answer = program.send("POST", PROCESS, &headers, body.as_bytes());
            let is_gzip = answer.header("Content-Encoding") == Some("gzip");
            assert_eq!(is_gzip, is_large && is_accepted, "{length} {accepted}");
            let mut text = Vec::new();
            if is_gzip {
                GzDecoder::new(answer.body.as_slice()).read_to_end(&mut text).unwrap();
            } else {
                text = answer.body;
            }
            assert_eq!(text, plain.body);
        }
    }
}

fn a_client_that_leaves_is_in_the_audit_log() {
    let program = Program::start(&[]);
    let mut stream = program.connect();
    let begun =
        head("POST", PROCESS, &[JSON, ("User-Agent", "leaving")]) + "Content-Length: 9\r\n\r\n{";
    stream.write_all(begun.as_bytes()).unwrap();
    drop(stream);
    until("the audit line", || {
        let output = program.output();
        let line = output.lines().find(|line| line.contains("leaving"))?;
        // In both cases its body ended early.
        assert!(line.contains("\"code\":499") || line.contains("\"code\":400"), "{line}");
        Some(())
    });
}

fn the_store_is_measured() {
    let program = Program::start(&[]);
    let path = crate::http::program::TEMPLATES;
    assert_eq!(program.send("POST", path, &[JSON], TEMPLATE.as_bytes()).code, 201);
    let metrics = String::from_utf8(program.get("/metrics").body).unwrap();
    for expected in [
        "krm_template_store_objects{resource=\"templates.template.krm.dev\"} 1\n",
        "krm_template_store_objects{resource=\"templates.template.openshift.io\"} 0\n",
        "krm_template_store_seconds_count{store=\"memory\",operation=\"create\"} 1\n",
    ] {
        assert!(metrics.contains(expected), "{expected}{metrics}");
    }
}
