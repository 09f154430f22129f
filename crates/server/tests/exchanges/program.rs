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
    let found = TOKENS.lines().find(|line| {
        let name = line.split(',').nth(1).unwrap_or_default();
        name == user
    });
    found.and_then(|line| line.split(',').next())
}

const TOKENS: &str = "token-of-admin,admin,1,\"system:masters\"
token-of-user,user,2
token-of-jane,jane,2,\"editors\"
token-of-anna,anna,3,\"viewers\"
token-of-nobody,nobody,4
token-of-boss,boss,9,\"bosses\"
token-of-lim,lim,10,\"limited\"
token-of-carl,carl,,\"editors\"
token-of-bot,system:serviceaccount:shop:bot,6e8e4d8b-2f20-4894-a677-246dd62a33c7,\"system:serviceaccounts,system:serviceaccounts:shop\"
";

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
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: instances, namespace: shop}
rules:
- {apiGroups: [template.openshift.io], resources: [templateinstances], verbs: [create, delete, deletecollection, get, list, patch, update, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: instances, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: instances}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: editors}
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: bosses}
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: limited}
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: 'system:serviceaccount:shop:bot'}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: boss, namespace: shop}
rules:
- {apiGroups: [template.openshift.io], resources: [templateinstances], verbs: [assign]}
- {apiGroups: [template.openshift.io], resources: [templateinstances/status], verbs: [get, patch, update]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: boss, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: boss}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: bosses}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: view, namespace: shop}
rules:
- {apiGroups: [template.openshift.io], resources: [templateinstances], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: view, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: view}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: viewers}
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
            // The recorded servers had no controllers.
            .arg("--no-instances")
            .arg("--auth")
            .arg(format!("tokens={}", tokens.display()))
            .arg("--rbac")
            .arg(&rbac)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let mut server = Self { process, address, folder };
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
