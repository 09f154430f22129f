//! The server under test: the program, with an in-memory store and users with tokens.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use tempfile::TempDir;

const START: Duration = Duration::from_secs(10);

/// Returns the token of a recorded user.
pub(crate) fn token(user: &str) -> Option<&'static str> {
    match user {
        "admin" => Some("token-of-admin"),
        "user" => Some("token-of-user"),
        _ => None,
    }
}

const TOKENS: &str = "token-of-admin,admin,1,\"system:masters\"\ntoken-of-user,user,2\n";

const RBAC: &str = r#"apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: cluster-admin
rules:
- apiGroups: ["*"]
  resources: ["*"]
  verbs: ["*"]
- nonResourceURLs: ["*"]
  verbs: ["*"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: cluster-admin
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: cluster-admin
subjects:
- apiGroup: rbac.authorization.k8s.io
  kind: Group
  name: system:masters
"#;

/// A process of the program. It is killed on drop.
pub(crate) struct Server {
    process: Child,
    address: SocketAddr,
    folder: TempDir,
}

impl Server {
    /// Starts the program on a free port of the loopback address, and waits until it listens.
    pub(crate) fn start() -> Result<Self, Failed> {
        let folder = tempfile::tempdir()?;
        let tokens = folder.path().join("tokens.csv");
        let rbac = folder.path().join("rbac");
        fs::write(&tokens, TOKENS)?;
        fs::create_dir(&rbac)?;
        fs::write(rbac.join("admin.yaml"), RBAC)?;
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let log = fs::File::create(folder.path().join("log"))?;
        let process = Command::new(env!("CARGO_BIN_EXE_krm-template-server"))
            .args(["--listen", &address.to_string(), "--store", "memory"])
            .arg("--auth")
            .arg(format!("tokens={}", tokens.display()))
            .arg("--rbac")
            .arg(&rbac)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let mut server = Self {
            process,
            address,
            folder,
        };
        let started = Instant::now();
        while TcpStream::connect(address).is_err() {
            let ended = server.process.try_wait()?;
            if ended.is_some() || started.elapsed() > START {
                let log = fs::read_to_string(server.folder.path().join("log"))?;
                return Err(format!("the server does not listen; {ended:?}\n{log}").into());
            }
            sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // If this fails, the process has already exited.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
