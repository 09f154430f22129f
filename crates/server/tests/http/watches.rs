//! Watches, as clients read them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::program::{PAUSE, Program, TEMPLATE, TEMPLATES, head};

tests!(
    bookmarks_are_sent_only_if_the_client_asks,
    bookmarks_have_the_kind_of_their_objects,
    a_watch_goes_over_websocket
);

/// A time in which the store reports its progress, and nothing changes.
const IDLE: &str = "15";

/// Returns the types of the events of an idle watch.
fn events(program: &Program, query: &str) -> Vec<String> {
    let path = format!("{TEMPLATES}?watch=true&timeoutSeconds={IDLE}{query}");
    let began = Instant::now();
    let answer = program.get(&path);
    assert_eq!(answer.code, 200);
    assert!(began.elapsed() > Duration::from_secs(14));
    let text = String::from_utf8(answer.body).unwrap();
    let types = text.lines().map(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        event["type"].as_str().unwrap().to_owned()
    });
    types.collect()
}

fn bookmarks_are_sent_only_if_the_client_asks() {
    let program = Program::start(&[]);
    let json = [("Content-Type", "application/json")];
    let created = program.send("POST", TEMPLATES, &json, TEMPLATE.as_bytes());
    assert_eq!(created.code, 201);
    let revision = created.json()["metadata"]["resourceVersion"].clone();
    let after = format!("&resourceVersion={}", revision.as_str().unwrap());
    std::thread::scope(|scope| {
        let silent = ["", "&allowWatchBookmarks=false"].map(|more| {
            let query = format!("{after}{more}");
            let program = &program;
            scope.spawn(move || events(program, &query))
        });
        let marked = scope.spawn(|| events(&program, &format!("{after}&allowWatchBookmarks=true")));
        for events in silent {
            assert_eq!(events.join().unwrap(), [""; 0]);
        }
        let marked = marked.join().unwrap();
        assert!(!marked.is_empty());
        assert!(marked.iter().all(|kind| kind == "BOOKMARK"), "{marked:?}");
    });
}

fn bookmarks_have_the_kind_of_their_objects() {
    let program = Program::start(&[]);
    let partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let query = "?watch=true&allowWatchBookmarks=true&sendInitialEvents=true\
        &resourceVersionMatch=NotOlderThan&timeoutSeconds=1";
    let check = |version: &str, kind: &str| {
        let resources = format!("{}s", kind.to_lowercase());
        let path = format!("/apis/{version}/namespaces/shop/{resources}{query}");
        let first = |accept: &str| {
            let answer = program.send("GET", &path, &[("Accept", accept)], b"");
            let text = String::from_utf8(answer.body).unwrap();
            let event: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
            let annotation = &event["object"]["metadata"]["annotations"];
            assert_eq!(annotation["k8s.io/initial-events-end"], "true", "{event}");
            let [kind, version] = ["kind", "apiVersion"].map(|key| &event["object"][key]);
            json!([event["type"], version, kind])
        };
        assert_eq!(first("application/json"), json!(["BOOKMARK", version, kind]));
        let expected = json!(["BOOKMARK", "meta.k8s.io/v1", "PartialObjectMetadata"]);
        assert_eq!(first(partial), expected);
    };
    std::thread::scope(|scope| {
        for version in ["template.krm.dev/v1alpha1", "template.openshift.io/v1"] {
            for kind in ["Template", "TemplateInstance"] {
                scope.spawn(move || check(version, kind));
            }
        }
    });
}

/// The example of RFC 6455: the key of a client, and what accepts it.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/// Sends a handshake, and returns the connection and the head of the response.
pub(crate) fn shake(program: &Program, path: &str, more: &[&str]) -> (TcpStream, String) {
    let headers = [
        ("Connection", "keep-alive, Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", KEY),
        ("Sec-WebSocket-Protocol", "base64.binary.k8s.io"),
    ];
    let mut stream = program.connect();
    let more: String = more.iter().map(|line| format!("{line}\r\n")).collect();
    let request = head("GET", path, &headers) + &more + "\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        read.extend(byte);
    }
    (stream, String::from_utf8(read).unwrap())
}

/// Reads a frame of the server: its first byte, and its content.
pub(crate) fn frame(stream: &mut TcpStream) -> (u8, Vec<u8>) {
    let mut start = [0; 2];
    stream.read_exact(&mut start).unwrap();
    let length = match start[1] {
        126 => {
            let mut length = [0; 2];
            stream.read_exact(&mut length).unwrap();
            usize::from(u16::from_be_bytes(length))
        }
        length => usize::from(length),
    };
    let mut content = vec![0; length];
    stream.read_exact(&mut content).unwrap();
    (start[0], content)
}

const TEXT: u8 = 0x81;
pub(crate) const CLOSE: u8 = 0x88;

fn a_watch_goes_over_websocket() {
    let program = Program::start(&["--shutdown-delay", "0s"]);
    let watch = format!("{TEMPLATES}?watch=true");
    let (mut stream, head) = shake(&program, &watch, &[]);
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    let head = head.to_ascii_lowercase();
    let accept = format!("sec-websocket-accept: {}\r\n", ACCEPT.to_ascii_lowercase());
    assert!(head.contains(&accept), "{head}");
    assert!(head.contains("sec-websocket-protocol: base64.binary.k8s.io\r\n"), "{head}");
    program.until_measured("krm_template_watches 1");
    let json = [("Content-Type", "application/json")];
    let created = program.send("POST", TEMPLATES, &json, TEMPLATE.as_bytes());
    assert_eq!(created.code, 201);
    let (kind, content) = frame(&mut stream);
    assert_eq!(kind, TEXT);
    let event: Value = serde_json::from_slice(&content).unwrap();
    assert_eq!(event["type"], "ADDED");
    assert_eq!(event["object"]["metadata"]["name"], "web");
    // A message of the client is ignored: `hi`, with a mask of zeros.
    stream.write_all(b"\x81\x82\0\0\0\0hi").unwrap();
    std::thread::sleep(PAUSE);
    assert_eq!(program.send("DELETE", &format!("{TEMPLATES}/web"), &[], b"").code, 200);
    let (_, content) = frame(&mut stream);
    let event: Value = serde_json::from_slice(&content).unwrap();
    assert_eq!(event["type"], "DELETED");

    // A client that leaves ends its watch.
    let (other, _) = shake(&program, &watch, &[]);
    program.until_measured("krm_template_watches 2");
    drop(other);
    program.until_measured("krm_template_watches 1");

    // Requests that do not watch, or are refused, are answered without WebSocket.
    for (path, code) in [(TEMPLATES, "200"), (&*format!("{watch}&resourceVersion=a"), "400")] {
        let (_, head) = shake(&program, path, &[]);
        assert!(head.starts_with(&format!("HTTP/1.1 {code} ")), "{head}");
    }
    program.signal("TERM");
    assert_eq!(frame(&mut stream).0, CLOSE);
    drop(stream);
    assert!(program.end().0.success());
}
