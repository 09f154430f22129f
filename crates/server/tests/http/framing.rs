//! Malformed and slow HTTP requests.

use std::fmt::Write as _;
use std::io::Write as _;
use std::thread::{self, sleep};

use crate::http::program::{
    PAUSE, PROCESS, Program, TEMPLATE, TEMPLATES, exchange, head, response, rest,
};

tests!(
    slow_clients_are_left,
    wrong_framing_is_refused_or_closed,
    what_is_too_large_is_refused,
    a_body_may_be_as_large_as_the_limit,
    pipelined_requests_are_answered_in_order,
    paths_and_methods_that_are_not_served_get_a_status
);

/// Returns the head of a request with a body, without the empty line.
fn post() -> String {
    head("POST", PROCESS, &[("Content-Type", "application/json")])
}

fn slow_clients_are_left() {
    let program = Program::start(&["--read-timeout", "1s", "--idle-timeout", "2s"]);
    // An incomplete head, and a client that sends nothing.
    for begun in ["GET /version HTTP/1.1\r\nHost: local", ""] {
        assert_eq!(exchange(&program, begun.as_bytes(), false), b"", "{begun:?}");
    }
    // Single bytes do not extend the timeout.
    let mut stream = program.connect();
    let mut slow = stream.try_clone().unwrap();
    let writing = thread::spawn(move || {
        while slow.write_all(b"G").is_ok() {
            sleep(PAUSE * 10);
        }
    });
    assert_eq!(rest(&mut stream), b"");
    writing.join().unwrap();
    // An incomplete body.
    let begun = post() + "Content-Length: 10\r\n\r\n{";
    let answer = exchange(&program, begun.as_bytes(), false);
    response(&answer).is_status(408);
    assert_eq!(program.get("/readyz").code, 200);
}

fn wrong_framing_is_refused_or_closed() {
    let program = Program::start(&[]);
    let wrong = [
        ("Content-Length: 100\r\n\r\n".to_owned() + TEMPLATE, true),
        ("Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}".to_owned(), false),
        ("Content-Length: -1\r\n\r\n{}".to_owned(), false),
        ("Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n".to_owned(), false),
        ("Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}".to_owned(), false),
        ("Transfer-Encoding: chunked\r\n\r\n5\r\n{}".to_owned(), true),
        ("Transfer-Encoding: rot13\r\n\r\n{}".to_owned(), false),
        ("No colon\r\n\r\n".to_owned(), false),
    ];
    for (rest, is_all) in wrong {
        let answer = exchange(&program, (post() + &rest).as_bytes(), is_all);
        if !answer.is_empty() {
            assert_eq!(response(&answer).code, 400, "{rest}");
        }
    }
    for garbage in
        [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"[..], b"\0\0\0\0\r\n\r\n", b"GET\r\n\r\n"]
    {
        let answer = exchange(&program, garbage, true);
        if !answer.is_empty() {
            assert_eq!(response(&answer).code, 400, "{garbage:?}");
        }
    }
    assert_eq!(program.get("/readyz").code, 200);
}

fn what_is_too_large_is_refused() {
    let program = Program::start(&[]);
    let announced = post() + "Content-Length: 3145729\r\n\r\n";
    response(&exchange(&program, announced.as_bytes(), false)).is_status(413);

    let mut chunked = (post() + "Transfer-Encoding: chunked\r\n\r\n").into_bytes();
    let chunk = [&b"100000\r\n"[..], &vec![b' '; 1 << 20], b"\r\n"].concat();
    for _ in 0..4 {
        chunked.extend_from_slice(&chunk);
    }
    response(&exchange(&program, &chunked, false)).is_status(413);

    let long = "x".repeat(16 << 10);
    program.get(&format!("/{long}")).is_status(414);
    let headers: String = (0..70).fold(String::new(), |mut all, n| {
        let _ = write!(all, "X-{n}: {}\r\n", "x".repeat(1_000));
        all
    });
    let request = head("GET", "/version", &[]) + &headers + "\r\n";
    assert_eq!(response(&exchange(&program, request.as_bytes(), false)).code, 431);
    let lines = |count| "X: y\r\n".repeat(count) + "Connection: close\r\n\r\n";
    for (count, code) in [(254, 200), (255, 431)] {
        let request = head("GET", "/version", &[]) + &lines(count);
        let answer = exchange(&program, request.as_bytes(), false);
        assert_eq!(response(&answer).code, code, "{count} and two lines");
    }
    assert_eq!(program.get("/readyz").code, 200);
}

fn a_body_may_be_as_large_as_the_limit() {
    let program = Program::start(&["--max-body-bytes", "1000"]);
    let padded = |length| format!("{TEMPLATE:<length$}");
    let json = [("Content-Type", "application/json")];
    let sent = |length| program.send("POST", PROCESS, &json, padded(length).as_bytes());
    assert_eq!(sent(1_000).code, 201);
    sent(1_001).is_status(413);
}

fn pipelined_requests_are_answered_in_order() {
    let program = Program::start(&[]);
    let mut requests = String::new();
    for n in 0..100 {
        let last = if n == 99 { "Connection: close\r\n" } else { "" };
        requests += &head("GET", &format!("{TEMPLATES}/t{n}"), &[]);
        requests += last;
        requests += "\r\n";
    }
    let answers = exchange(&program, requests.as_bytes(), false);
    let answers = String::from_utf8(answers).unwrap();
    let names: Vec<&str> = answers
        .split("templates.template.krm.dev \\\"")
        .skip(1)
        .map(|rest| rest.split('\\').next().unwrap())
        .collect();
    let expected: Vec<String> = (0..100).map(|n| format!("t{n}")).collect();
    assert_eq!(names, expected);
}

fn paths_and_methods_that_are_not_served_get_a_status() {
    let program = Program::start(&[]);
    for (method, path, code) in [
        ("GET", "/nothing", 404),
        ("GET", "/apis/apps/v1/deployments", 404),
        ("PUT", "/version", 405),
        ("POST", TEMPLATES, 415),
        ("BREW", TEMPLATES, 405),
        ("HEAD", "/healthz", 200),
    ] {
        let answer = program.send(method, path, &[("Content-Type", "text/html")], b"");
        if method == "HEAD" {
            assert_eq!((answer.code, answer.body.len()), (code, 0));
        } else {
            answer.is_status(code);
        }
    }
}
