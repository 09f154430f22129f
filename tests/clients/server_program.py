"""krm-template-server as a process behind TLS, with users, and kubeconfigs for it."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from support import Failure

FILES = Path(__file__).resolve().parent / "server-files"
EXPECTED = Path(__file__).resolve().parent / "server-expected"
START_SECONDS = 15
TOKENS = 'token-of-admin,admin,1,"system:masters"\ntoken-of-user,user,2\n'
RBAC = """\
apiVersion: rbac.authorization.k8s.io/v1
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
kind: ClusterRole
metadata:
  name: system:basic-user
rules:
- apiGroups: [authorization.k8s.io]
  resources: [selfsubjectaccessreviews, selfsubjectrulesreviews]
  verbs: [create]
- apiGroups: [authentication.k8s.io]
  resources: [selfsubjectreviews]
  verbs: [create]
- nonResourceURLs: [/api, /apis, /apis/*, /openapi, /openapi/*, /version]
  verbs: [get]
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
kind: ClusterRoleBinding
metadata:
  name: system:basic-user
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: system:basic-user
subjects:
- apiGroup: rbac.authorization.k8s.io
  kind: Group
  name: system:authenticated
"""
KRM = "/apis/template.krm.dev/v1alpha1/namespaces"
OPENSHIFT = "/apis/template.openshift.io/v1/namespaces"


class Place:
    """A folder with a certificate, users and their rights, for any number of servers."""

    def __init__(self, folder, binary):
        self.folder = Path(folder)
        self.binary = binary
        (self.folder / "tokens.csv").write_text(TOKENS)
        (self.folder / "rbac").mkdir()
        (self.folder / "rbac/rbac.yaml").write_text(RBAC)
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        command += ["-keyout", self.folder / "tls.key", "-out", self.folder / "tls.crt"]
        command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
        command += ["-addext", "basicConstraints=critical,CA:FALSE"]
        subprocess.run(command, check=True, capture_output=True)
        self.context = ssl.create_default_context(cafile=self.folder / "tls.crt")


class Server:
    """A process of the program."""

    def __init__(self, place, store="memory", name="server", port=None, arguments=()):
        self.place = place
        self.store = store
        self.name = name
        self.port = port or free_port()
        self.arguments = arguments
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def address(self):
        return f"https://127.0.0.1:{self.port}"

    @property
    def log(self):
        return self.place.folder / f"{self.name}.log"

    def start(self):
        """Starts the program and waits until it is ready."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command(), cwd=self.place.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        began = time.monotonic()
        while True:
            try:
                if self.ask("GET", "/readyz")[0] == 200:
                    return time.monotonic() - began
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > began + START_SECONDS:
                self.stop()
                raise Failure(f"{self.name} is not ready\n{self.log.read_text()[-3000:]}")
            time.sleep(0.02)

    def command(self):
        command = [self.place.binary, "--listen", f"127.0.0.1:{self.port}", *self.store_arguments()]
        return [*command, *self.security(), *self.arguments]

    def security(self):
        """Who may connect, and how."""
        folder = self.place.folder
        users = ["--auth", f"tokens={folder / 'tokens.csv'}", "--rbac", folder / "rbac"]
        return [*users, "--tls-cert", folder / "tls.crt", "--tls-key", folder / "tls.key"]

    def store_arguments(self):
        """The store: `memory`, `file:PATH`, or the pair of `etcd` and its URL."""
        if isinstance(self.store, tuple):
            return ["--store", self.store[0], "--etcd-endpoints", self.store[1]]
        return ["--store", self.store]

    def kill(self):
        """Ends the process at once, as a power cut does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def ask(self, method, path, body=None, headers=None, token="token-of-admin", seconds=30):
        """Sends a request. Returns the status, the headers and the body."""
        sent = {"Content-Type": "application/json", **(headers or {})}
        if token:
            sent["Authorization"] = f"Bearer {token}"
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, body, sent, method=method)
        try:
            with urllib.request.urlopen(request, timeout=seconds, context=self.place.context) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def connect(self):
        """A connection for several requests."""
        return Connection(http.client.HTTPSConnection("127.0.0.1", self.port, context=self.place.context))

    def clear(self):
        """Deletes all Templates in the namespaces that the tests use."""
        for group in [KRM, OPENSHIFT]:
            for namespace in ["shop", "prod"]:
                status, _, body = self.ask("DELETE", f"{group}/{namespace}/templates")
                if status != 200:
                    raise Failure(f"templates cannot be deleted: {status} {body[:500]!r}")

    def shell(self, kubectl, folder):
        """Writes what commands need into a folder. Returns their environment."""
        (folder / "bin").mkdir()
        (folder / "bin/kubectl").symlink_to(shutil.which(kubectl))
        (folder / "kubeconfig").write_text(self.kubeconfig())
        header = 'header = "Authorization: Bearer token-of-admin"'
        (folder / ".curlrc").write_text(f'silent\ncacert = "{self.place.folder / "tls.crt"}"\n{header}\n')
        path = f"{folder / 'bin'}:{os.environ['PATH']}"
        home = {"HOME": str(folder), "CURL_HOME": str(folder), "KUBECONFIG": str(folder / "kubeconfig")}
        return {"PATH": path, "SERVER": self.address, "LC_ALL": "C.UTF-8", **home}

    def kubeconfig(self, namespace="shop"):
        return json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "x",
                "clusters": [
                    {
                        "name": "x",
                        "cluster": {
                            "server": self.address,
                            "certificate-authority": str(self.place.folder / "tls.crt"),
                        },
                    }
                ],
                "users": [{"name": "admin", "user": {"token": "token-of-admin"}}],
                "contexts": [
                    {"name": "x", "context": {"cluster": "x", "user": "admin", "namespace": namespace}}
                ],
            }
        )


class Connection:
    """A connection that stays open, for requests one after the other."""

    def __init__(self, http):
        self.http = http

    def ask(self, method, path, body=None, headers=None):
        """Sends a request. Returns the status and the body."""
        sent = {"Content-Type": "application/json", "Authorization": "Bearer token-of-admin", **(headers or {})}
        self.http.request(method, path, body, sent)
        with self.http.getresponse() as answer:
            return answer.status, answer.read()


def free_port():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


NORMAL = [
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"),
    (r"((?:Client|Kustomize) Version: v\d+\.\d+)\.\S+", r"\1.PATCH"),
    (r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+]0000", "TIME"),
    (r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME"),
    (r'((?:resourceVersion|Resource Version)"?: *"?)\d+', r"\1REVISION"),
    # kubectl says the namespace since 1.34.
    (r'(" (?:force )?deleted) from \w+ namespace', r"\1"),
    (r"/tmp/(LIVE|MERGED)-\d+", r"/tmp/\1"),
    (r"kubectl-edit-\d+", "kubectl-edit"),
    (r"(?m)^W\d{4} [\d:.]+ +\d+ ", "WARNING "),
    # The width of the column stays.
    (r"(?<=  )\d+s\b *", lambda age: "AGE".ljust(len(age[0]))),
    (r"SERVER\b|127\.0\.0\.1:\d+", "SERVER"),
]


def normal(text):
    """The text without what differs at each run and between versions of kubectl."""
    for pattern, replacement in NORMAL:
        text = re.sub(pattern, replacement, text)
    return text


def expect(found, wanted, what):
    """Fails unless two values are equal."""
    if found != wanted:
        raise Failure(f"{what}: {found!r}\nexpected: {wanted!r}")
