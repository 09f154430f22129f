//! Responses that last end with the rights of their users; files that cannot be read are seen.

use std::io::Read as _;
use std::time::{Duration, Instant};

use crate::http::program::{Program, TEMPLATES, until};
use crate::http::watches::{CLOSE, frame, shake};

tests!(a_watch_ends_with_its_token_its_groups_and_its_role, what_cannot_be_read_is_told_and_ends);

/// The period of the checks, and some time for a slow machine.
const PATIENCE: Duration = Duration::from_secs(25);

const TOKENS: &str = "token-of-ada,ada,1,readers\ntoken-of-bob,bob,2,readers\n\
    token-of-cyd,cyd,3,readers\ntoken-of-dan,dan,4,\ntoken-of-eve,eve,5,readers\n";

fn role(binding: &str, kind: &str, name: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: reader}}
rules:
- {{apiGroups: [template.krm.dev], resources: [templates], verbs: [get, list, watch]}}
- {{nonResourceURLs: [/metrics], verbs: [get]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: {binding}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}}
subjects: [{{apiGroup: rbac.authorization.k8s.io, kind: {kind}, name: {name}}}]
"
    )
}

/// Starts the program, whose users are those of `TOKENS`.
fn start(arguments: &[&str]) -> Program {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("tokens.csv", TOKENS);
    std::fs::create_dir(folder.path().join("roles")).unwrap();
    write("roles/readers.yaml", &role("readers", "Group", "readers"));
    let of_dan = role("dan", "User", "dan");
    write("roles/dan.yaml", of_dan.split_once("---\n").unwrap().1);
    let auth = ["--auth", "tokens=tokens.csv", "--rbac", "roles"];
    Program::start_in(folder, &[&auth, arguments].concat())
}

fn a_watch_ends_with_its_token_its_groups_and_its_role() {
    let program = start(&[]);
    let write = |name: &str, text: &str| {
        std::fs::write(program.folder().join(name), text).unwrap();
    };
    let path = format!("{TEMPLATES}?watch=true&timeoutSeconds=60");
    let mut watches = ["ada", "bob", "cyd", "dan", "eve"].map(|user| {
        let authorization = format!("Authorization: Bearer token-of-{user}");
        let (stream, head) = if user == "ada" {
            shake(&program, &path, &[&authorization])
        } else {
            let mut stream = program.connect();
            let request =
                format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}\r\n\r\n");
            std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
            let mut head = [0; 12];
            stream.read_exact(&mut head).unwrap();
            (stream, String::from_utf8(head.to_vec()).unwrap())
        };
        assert!(head.starts_with("HTTP/1.1 101") || head == "HTTP/1.1 200", "{user}: {head}");
        stream
    });
    let began = Instant::now();
    // The token of Ada is gone, Bob has another name, and Cyd other groups that have the same right.
    write(
        "tokens.csv",
        "token-of-bob,robert,2,readers\ntoken-of-cyd,cyd,3,\"readers,others\"\n\
         token-of-dan,dan,4,\ntoken-of-eve,eve,5,readers\n",
    );
    // Dan has the same token without a role.
    std::fs::remove_file(program.folder().join("roles/dan.yaml")).unwrap();
    program.signal("HUP");
    let [ada, bob, cyd, dan, eve] = &mut watches;
    assert_eq!(frame(ada).0, CLOSE);
    for stream in [bob, cyd, dan] {
        let mut rest = Vec::new();
        let mut part = [0; 512];
        // The last chunk is empty: the watch ends as it does after its time.
        while !rest.ends_with(b"0\r\n\r\n") {
            let length = stream.read(&mut part).unwrap();
            assert!(length > 0, "{}", String::from_utf8_lossy(&rest));
            rest.extend_from_slice(&part[..length]);
        }
    }
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    // The watch of Eve, whose rights are the same, goes on.
    eve.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let mut part = [0; 512];
    loop {
        match eve.read(&mut part) {
            Ok(length) => assert!(length > 0 && !part[..length].ends_with(b"0\r\n\r\n")),
            Err(error) => break assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
        }
    }
}

fn what_cannot_be_read_is_told_and_ends() {
    let ada = [("Authorization", "Bearer token-of-ada")];
    for (grace, code) in [("1h", 200), ("0", 401)] {
        let program = start(&["--reload-grace", grace]);
        let tokens = program.folder().join("tokens.csv");
        let get = |path: &str| program.send("GET", path, &ada, b"");
        assert_eq!((program.get("/readyz").code, get(TEMPLATES).code), (200, 200));
        std::fs::rename(&tokens, program.folder().join("former")).unwrap();
        program.signal("HUP");
        until("the server is not ready", || (program.get("/readyz").code == 500).then_some(()));
        let reason = String::from_utf8(program.get("/readyz/files").body).unwrap();
        assert!(reason.contains("the files of --auth tokens cannot be used"), "{reason}");
        assert_eq!(program.get("/livez").code, 200);
        assert_eq!(get(TEMPLATES).code, code);
        if code == 200 {
            let metrics = String::from_utf8(get("/metrics").body).unwrap();
            for line in [
                "krm_template_files_failed{option=\"--auth tokens\"} 1",
                "krm_template_files_failed{option=\"--rbac\"} 0",
            ] {
                assert!(metrics.lines().any(|one| one == line), "{metrics}");
            }
        }
        std::fs::rename(program.folder().join("former"), &tokens).unwrap();
        program.signal("HUP");
        until("the server is ready again", || (program.get("/readyz").code == 200).then_some(()));
        assert_eq!(get(TEMPLATES).code, 200);
        // Roles that cannot be parsed.
        std::fs::write(program.folder().join("roles/dan.yaml"), "kind: [").unwrap();
        program.signal("HUP");
        until("the roles are wrong", || (program.get("/readyz").code == 500).then_some(()));
        let refused = get(TEMPLATES);
        assert_eq!(refused.code, if code == 200 { 200 } else { 403 });
    }
}
