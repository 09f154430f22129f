//! Shutdown.

use std::io::Write as _;
use std::net::TcpStream;

use crate::http::program::{PROCESS, Program, TEMPLATE, TEMPLATES, head, response, rest, until};

tests!(requests_end_before_the_program_does, a_server_that_leaves_is_not_ready);

fn requests_end_before_the_program_does() {
    let program = Program::start(&["--shutdown-delay", "0s"]);
    let mut watch = program.connect();
    let wanted = head("GET", &format!("{TEMPLATES}?watch=true"), &[]) + "\r\n";
    watch.write_all(wanted.as_bytes()).unwrap();
    let mut request = program.connect();
    let (front, back) = TEMPLATE.split_at(9);
    let begun = head("POST", PROCESS, &[("Content-Type", "application/json")])
        + &format!("Content-Length: {}\r\n\r\n{front}", TEMPLATE.len());
    request.write_all(begun.as_bytes()).unwrap();
    program.until_measured("krm_template_watches 1");
    program.until_measured("krm_template_in_flight{class=\"write\"} 1");
    program.signal("TERM");
    // The watch ends while the other request continues.
    let events = rest(&mut watch);
    assert!(events.ends_with(b"0\r\n\r\n"), "{}", String::from_utf8_lossy(&events));
    until("no new connections", || TcpStream::connect(program.address()).is_err().then_some(()));
    request.write_all(back.as_bytes()).unwrap();
    assert_eq!(response(&rest(&mut request)).code, 201);
    let (status, output) = program.end();
    assert!(status.success(), "{status} {output}");
    assert!(output.contains("processedtemplates"), "the audit log is complete: {output}");
}

fn a_server_that_leaves_is_not_ready() {
    let program = Program::start(&["--shutdown-delay", "1h"]);
    assert_eq!(program.get("/readyz").code, 200);
    program.signal("TERM");
    until("it is not ready", || (program.get("/readyz").code == 500).then_some(()));
    assert_eq!(program.get("/livez").code, 200);
    assert_eq!(program.get("/version").code, 200);
    // A second signal ends the delay.
    program.signal("TERM");
    assert!(program.end().0.success());
}
