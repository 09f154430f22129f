"""The clusters of tests/server/apply: the stand-in of this folder, or a real kube-apiserver."""

import json
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from server_program import Failure, free_port

HERE = Path(__file__).resolve().parent
START_SECONDS = 60
JSON = "application/json"
MERGE = "application/merge-patch+json"
EVENTS = {"verbs": ["create"], "apiGroups": [""], "resources": ["events"]}


class Cluster:
    """A cluster with the users `admin`, `server`, and those that are allowed something."""

    url = None
    context = None
    verification = {}

    def ask(self, method, path, body=None, kind=JSON):
        """The code and the body of an answer to the administrator."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": kind, "Authorization": "Bearer admin"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30, context=self.context) as answer:
                code, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            code, text = error.code, error.read()
        return code, json.loads(text)

    def must(self, method, path, body=None, kind=JSON):
        code, answer = self.ask(method, path, body, kind)
        if code not in (200, 201):
            raise Failure(f"the cluster answers {method} {path} with {code} {answer}")
        return answer

    def find(self, path):
        """An object, or None. One that is being deleted counts as gone."""
        code, answer = self.ask("GET", path)
        if code == 404 or code == 200 and "deletionTimestamp" in answer["metadata"]:
            return None
        if code != 200:
            raise Failure(f"the cluster answers GET {path} with {code} {answer}")
        return answer

    def names(self, path):
        return sorted(item["metadata"]["name"] for item in self.must("GET", path)["items"])

    def create_namespace(self, name):
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        self.must("POST", "/api/v1/namespaces", body)

    def kubeconfig(self):
        """A kubeconfig for the server, which may act in the name of others."""
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "clusters": [{"name": "test", "cluster": {"server": self.url, **self.verification}}],
            "users": [{"name": "test", "user": {"token": "server"}}],
        }


class StandIn(Cluster):
    """tests/server/cluster."""

    title = "the stand-in cluster"

    def __init__(self):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([HERE / "cluster"], stdin=pipe, stdout=pipe, text=True)
        self.url = self.process.stdout.readline().strip()
        self.users = {}
        impersonate = {"verbs": ["impersonate"], "apiGroups": ["", "authentication.k8s.io"], "resources": ["*"]}
        self.allow("server", [impersonate, EVENTS])

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)

    def allow(self, user, rules):
        """Sets all rights of a user, as the rules of a ClusterRole."""
        self.users[user] = {"rules": [{**rule, "groups": rule["apiGroups"]} for rule in rules]}
        self.must("POST", "/test", {"users": self.users})

    def leave(self):
        self.must("POST", "/test", {"away": 0})

    def come_back(self):
        self.must("POST", "/test", {"away": None})

    def aggregate(self, url, versions):
        """Serves group versions with the server, as kube-apiserver's aggregation layer does."""
        self.must("POST", "/test", {"aggregated": {version: url for version in versions}})
        return True

    def slow_down(self):
        """From now on, Namespaces and CustomResourceDefinitions take a while."""
        self.must("POST", "/test", {"delay": 2})


class Real(Cluster):
    """A kube-apiserver without controllers, with an etcd of its own."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.title = f"the real {program}"
        self.port, self.etcd, self.process = free_port(), None, None
        self.url = f"https://127.0.0.1:{self.port}"
        certificate = folder / "tls.crt"
        extensions = ["subjectAltName=IP:127.0.0.1", "basicConstraints=critical,CA:FALSE"]
        subject = ["-subj", "/CN=127.0.0.1", *(word for one in extensions for word in ("-addext", one))]
        key = ["-newkey", "rsa:2048", "-nodes", "-keyout", folder / "tls.key"]
        command = ["openssl", "req", "-x509", "-days", "2", *key, *subject, "-out", certificate]
        subprocess.run(command, check=True, capture_output=True)
        self.context = ssl.create_default_context(cafile=certificate)
        self.verification = {"certificate-authority": str(certificate)}
        (folder / "tokens.csv").write_text('admin,admin,1,"system:masters"\nserver,server,2\n')
        try:
            self.start_etcd()
            self.come_back()
            verbs = {"verbs": ["impersonate"]}
            core = {"apiGroups": [""], "resources": ["users", "groups", "serviceaccounts"]}
            extra = {"apiGroups": ["authentication.k8s.io"], "resources": ["uids", "userextras/*"]}
            self.allow("server", [{**verbs, **core}, {**verbs, **extra}, EVENTS])
        except BaseException:
            self.close()
            raise

    def start(self, command):
        with open(self.folder / "cluster.log", "ab") as log:
            return subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)

    def start_etcd(self):
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        addresses = [f"--listen-client-urls={client}", f"--advertise-client-urls={client}"]
        peers = [f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}"]
        peers.append(f"--initial-cluster=default={peer}")
        self.etcd_url = client
        self.etcd = self.start(["etcd", f"--data-dir={self.folder / 'etcd'}", *addresses, *peers])

    def come_back(self):
        options = {
            "etcd-servers": self.etcd_url,
            "bind-address": "127.0.0.1",
            "advertise-address": "127.0.0.1",
            "endpoint-reconciler-type": "none",
            "secure-port": self.port,
            "tls-cert-file": "tls.crt",
            "tls-private-key-file": "tls.key",
            "token-auth-file": "tokens.csv",
            "authorization-mode": "RBAC",
            "service-cluster-ip-range": "10.0.0.0/24",
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": "tls.key",
            "service-account-signing-key-file": "tls.key",
            # Their controllers are not here.
            "disable-admission-plugins": "ServiceAccount,StorageObjectInUseProtection",
        }
        self.process = self.start([self.program, *(f"--{name}={value}" for name, value in options.items())])
        began = time.monotonic()
        while True:
            try:
                code, _ = self.ask("GET", "/api/v1/namespaces/default")
                if code == 200:
                    return
            except (OSError, ValueError):
                pass
            if self.process.poll() is not None or time.monotonic() - began > START_SECONDS:
                raise Failure(f"kube-apiserver does not start\n{(self.folder / 'cluster.log').read_text()[-3000:]}")
            time.sleep(0.1)

    def close(self):
        for process in [self.process, self.etcd]:
            if process:
                process.kill()
                process.wait()

    def allow(self, user, rules):
        """Sets all rights of a user."""
        group = "/apis/rbac.authorization.k8s.io/v1"
        kind = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": f"test-{user}"}}
        role = {**kind, "kind": "ClusterRole", "rules": rules}
        if self.find(f"{group}/clusterroles/test-{user}"):
            self.must("PUT", f"{group}/clusterroles/test-{user}", role)
        else:
            self.must("POST", f"{group}/clusterroles", role)
            subject = {"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
            reference = {"kind": "ClusterRole", "name": f"test-{user}", "apiGroup": "rbac.authorization.k8s.io"}
            binding = {**kind, "kind": "ClusterRoleBinding", "subjects": [subject], "roleRef": reference}
            self.must("POST", f"{group}/clusterrolebindings", binding)
        # kube-apiserver reads the roles by a watch.
        time.sleep(1)

    def leave(self):
        self.process.kill()
        self.process.wait()

    def aggregate(self, url, versions):
        """It would need a front proxy."""
        return False

    def slow_down(self):
        """A real cluster takes its own time."""
