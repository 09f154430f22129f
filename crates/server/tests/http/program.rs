//! The program under test, and a raw HTTP client.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle, sleep};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::crlf;

/// The timeout of a response.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// The interval between two checks of a condition.
pub(crate) const PAUSE: Duration = Duration::from_millis(10);

/// The number of checks of a condition before the test fails.
const LOOKS: usize = 6_000;

/// A Template that expands to one object.
pub(crate) const TEMPLATE: &str = r#"{"apiVersion":"template.krm.dev/v1alpha1","kind":"Template","metadata":{"name":"web"},"parameters":[{"name":"NAME","value":"shop"}],"objects":[{"apiVersion":"v1","kind":"Service","metadata":{"name":"$(NAME)"}}]}"#;

/// The path that expands it.
pub(crate) const PROCESS: &str =
    "/apis/template.krm.dev/v1alpha1/namespaces/shop/processedtemplates";

/// The path of stored Templates.
pub(crate) const TEMPLATES: &str = "/apis/template.krm.dev/v1alpha1/namespaces/shop/templates";

/// A process of the program, in its own folder. It is killed on drop.
pub(crate) struct Program {
    process: Child,
    address: SocketAddr,
    output: Arc<Mutex<String>>,
    readers: Vec<JoinHandle<()>>,
    folder: Option<TempDir>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) code: u16,
    /// The status line and the headers.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Program {
    /// Starts the program with an in-memory store, on a free port of the loopback address.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), arguments)
    }

    pub(crate) fn start_in(folder: TempDir, arguments: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_krm-template-server"))
            .args(["--listen", "127.0.0.1:0"])
            .args(if arguments.contains(&"--store") { &[][..] } else { &["--store", "memory"] })
            .args(arguments)
            // The host in the requests of `head`, which has no port.
            .args(if arguments.contains(&"--auth") {
                &[][..]
            } else {
                &["--allow-host", "localhost"]
            })
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = Arc::new(Mutex::new(String::new()));
        let readers = vec![
            follow(process.stdout.take().unwrap(), &output),
            follow(process.stderr.take().unwrap(), &output),
        ];
        let mut program = Self {
            process,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            output,
            readers,
            folder: Some(folder),
        };
        until("the server listens", || {
            let output = program.output();
            let (_, rest) = output.split_once("://127.0.0.1:")?;
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            // The line is complete.
            rest.contains('\n').then(|| program.address.set_port(digits.parse().unwrap()))
        });
        program
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.as_ref().unwrap().path()
    }

    /// Returns the output until now.
    pub(crate) fn output(&self) -> String {
        self.output.lock().unwrap().clone()
    }

    /// Opens a connection.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends a request on a new connection, and reads the response.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Response {
        let mut stream = self.connect();
        let body = crlf::sent_body(headers, body);
        let mut head = head(method, path, headers);
        let _ = write!(head, "Connection: close\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&body).unwrap();
        response(&rest(&mut stream))
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.send("GET", path, &[], b"")
    }

    /// Waits until the metrics have this line.
    pub(crate) fn until_measured(&self, line: &str) {
        until(line, || {
            let metrics = String::from_utf8(self.get("/metrics").body).unwrap();
            metrics.lines().any(|one| one == line).then_some(())
        });
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits until it exits, and returns the exit status and all output.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        let mut status = None;
        until("the server ends", || {
            status = self.process.try_wait().unwrap();
            status.map(drop)
        });
        for reader in self.readers.drain(..) {
            reader.join().unwrap();
        }
        (status.unwrap(), self.output())
    }

    /// Ends it with SIGTERM, and returns its folder.
    pub(crate) fn stop(mut self) -> TempDir {
        self.signal("TERM");
        assert!(self.process.wait().unwrap().success());
        self.folder.take().unwrap()
    }

    /// Returns the size of the anonymous memory of the process in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let path = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let number = line.unwrap().split_whitespace().next().unwrap();
        number.parse::<u64>().unwrap() << 10
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Checks that the response is a `Status` with this code.
    pub(crate) fn is_status(&self, code: u16) {
        assert_eq!(self.code, code, "{self:?}");
        let status = self.json();
        assert_eq!(status["kind"], "Status", "{status}");
        assert_eq!(status["code"], code, "{status}");
        assert!(self.header("Audit-Id").is_some(), "{}", self.head);
    }
}

fn follow(from: impl Read + Send + 'static, output: &Arc<Mutex<String>>) -> JoinHandle<()> {
    let output = Arc::clone(output);
    thread::spawn(move || {
        for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            *output.lock().unwrap() += &(line.into_owned() + "\n");
        }
    })
}

/// Waits until a condition is true.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> Option<()>) {
    for _ in 0..LOOKS {
        if is_so().is_some() {
            return;
        }
        sleep(PAUSE);
    }
    panic!("not yet: {what}");
}

/// Returns the head of a request, without the empty line.
pub(crate) fn head(method: &str, path: &str, headers: &[(&str, &str)]) -> String {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head
}

/// Reads a connection until it is closed or reset.
pub(crate) fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut read = Vec::new();
    let mut part = [0; 4_096];
    loop {
        match stream.read(&mut part) {
            Ok(0) => return read,
            Ok(length) => read.extend_from_slice(part.get(..length).unwrap()),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return read,
            Err(error) => panic!("no end of the connection: {error}"),
        }
    }
}

/// Sends bytes, and reads until the end. If `is_all` is set, closes the connection for writing.
pub(crate) fn exchange(program: &Program, bytes: &[u8], is_all: bool) -> Vec<u8> {
    let mut stream = program.connect();
    // The server may respond and close before it has read everything.
    let _ = stream.write_all(bytes);
    if is_all {
        let _ = stream.shutdown(Shutdown::Write);
    }
    rest(&mut stream)
}

/// Parses a response.
pub(crate) fn response(bytes: &[u8]) -> Response {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let Some(end) = end else { panic!("no answer: {}", String::from_utf8_lossy(bytes)) };
    let head = String::from_utf8(bytes.get(..end).unwrap().to_vec()).unwrap();
    let code = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut body = bytes.get(end + 4..).unwrap().to_vec();
    if head.to_ascii_lowercase().contains("\r\ntransfer-encoding: chunked") {
        body = joined(&body);
    }
    Response { code, head, body }
}

/// Joins the chunks of a body.
fn joined(mut chunks: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = chunks.windows(2).position(|two| two == b"\r\n").unwrap();
        let length = std::str::from_utf8(&chunks[..end]).unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return body;
        }
        body.extend_from_slice(&chunks[end + 2..end + 2 + length]);
        chunks = &chunks[end + 2 + length + 2..];
    }
}
