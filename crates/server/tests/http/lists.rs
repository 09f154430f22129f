//! Large lists, and clients that read them slowly.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::http::program::{Program, Response, TEMPLATES, head, response, rest, until};

tests!(a_large_list_is_sent_in_pages, slow_readers_cost_a_page_and_keep_their_places);

const JSON: (&str, &str) = ("Content-Type", "application/json");
/// The number of Templates, and the size of each one.
const COUNT: usize = 20;
const SIZE: usize = 900 << 10;

fn stored(count: usize, size: usize) -> Program {
    let program = Program::start(&[]);
    for number in 0..count {
        let template = json!({
            "apiVersion": "template.krm.dev/v1alpha1",
            "kind": "Template",
            "metadata": {"name": format!("web-{number:02}")},
            "objects": [{
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "web"},
                "data": {"x": "x".repeat(size)},
            }],
        });
        let created = program.send("POST", TEMPLATES, &[JSON], template.to_string().as_bytes());
        assert_eq!(created.code, 201);
    }
    program
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().unwrap().iter();
    items.map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

fn a_large_list_is_sent_in_pages() {
    let program = stored(10, 100 << 10);
    let list = |headers: &[(&str, &str)]| program.send("GET", TEMPLATES, headers, b"");
    let plain = list(&[]);
    assert_eq!(plain.header("Transfer-Encoding"), Some("chunked"));
    let value = plain.json();
    let expected: Vec<String> = (0..10).map(|number| format!("web-{number:02}")).collect();
    assert_eq!(names(&value), expected);
    assert_eq!(value["metadata"]["resourceVersion"], "10");
    let mut unpacked = Vec::new();
    let packed = list(&[("Accept-Encoding", "gzip")]);
    assert_eq!(packed.header("Content-Encoding"), Some("gzip"));
    let mut decoder = GzDecoder::new(packed.body.as_slice());
    decoder.read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain.body);
    let pretty = program.get(&format!("{TEMPLATES}?pretty=true"));
    assert_eq!(pretty.json(), value);
    let yaml = list(&[("Accept", "application/yaml")]);
    let yaml = String::from_utf8(yaml.body).unwrap();
    assert!(yaml.starts_with("apiVersion: template.krm.dev/v1alpha1\nitems:\n- apiVersion:"));
    assert_eq!(yaml.matches("\n- apiVersion:").count(), 10);
    assert!(yaml.ends_with("kind: TemplateList\nmetadata:\n  resourceVersion: \"10\"\n"));
    // A small list has a length.
    let small = program.get(&format!("{TEMPLATES}?limit=1"));
    assert_eq!(small.header("Transfer-Encoding"), None);
    assert_eq!(names(&small.json()), ["web-00"]);
    // The audit log has the bytes of the whole list.
    let bytes = format!("\"bytesOut\":{}", plain.body.len());
    until("the audit line", || program.output().contains(&bytes).then_some(()));
}

/// Sends a request, and reads only the beginning of its response.
fn begun(program: &Program, path: &str) -> TcpStream {
    let mut stream = program.connect();
    let request = head("GET", path, &[("Connection", "close")]) + "\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    stream.read_exact(&mut [0; 12]).unwrap();
    stream
}

fn slow_readers_cost_a_page_and_keep_their_places() {
    let program = stored(COUNT, SIZE);
    // The memory that one reader needs, and that the allocator keeps.
    let whole: Response = program.get(TEMPLATES);
    let before = program.memory();
    let lists = [(); 15].map(|()| begun(&program, TEMPLATES));
    let watch = format!("{TEMPLATES}?watch=true&timeoutSeconds=600");
    let watches = [(); 15].map(|()| begun(&program, &watch));
    program.until_measured("krm_template_in_flight{class=\"read\"} 16");
    program.until_measured("krm_template_watches 15");
    // A page has one of the objects at least. Each reader would need all of them.
    let most = 30 * 3 * SIZE as u64;
    let grown = program.memory().saturating_sub(before);
    assert!(grown < most, "{grown} bytes");
    drop(watches);
    for mut list in lists {
        let read = response(&[b"HTTP/1.1 200".as_slice(), &rest(&mut list)].concat());
        assert_eq!(read.body, whole.body);
    }
    program.until_measured("krm_template_in_flight{class=\"read\"} 1");
    program.until_measured("krm_template_watches 0");
}
