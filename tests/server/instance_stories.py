"""The recorded stories of OpenShift's controller, replayed with ours.

A story is a file of `corpus/template-instances/stories` of the shared data. Each has a cluster and a server of its
own. Its steps are sent in order, each after the statuses that were recorded before it. Compared are the codes of the
answers, the statuses of the instance in a watch, whether it is gone, the objects with its label, and the objects
that were read at the end. Times are not compared, uids and generated values only with one another, and defaults of
a kube-apiserver not at all. `DIFFERENCES` lists what is different in a story. In all of them:

- The finalizer is set when an instance is created, so finalizers are not compared.
- A failed instantiation also sets Ready=False, for `oc wait`.
- Objects have two more marks of their owner.
- `admin` is not in the group `system:masters`, which the server does not impersonate.
- Rules of kube-apiserver for fields are not in the stand-in cluster: it refuses what was refused, with the same words.
"""

import concurrent.futures
import json
import re
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from apply_clusters import MERGE, StandIn
from server_program import Failure, Server

WAIT_SECONDS = 60
# The controller looks at objects each 5 seconds.
PAUSE_SECONDS = 6
SETTLE_SECONDS = 1.5
WORKERS = 8
INSTANCES = "/apis/template.openshift.io/v1/"
OWNER = "template.openshift.io/template-instance-owner"
MARKS = {"template.krm.dev/owner", "template.krm.dev/instance-id"}
# The status of an object is what a step has written.
VOLATILE = {"creationTimestamp", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "status", *MARKS}
TOKENS = "".join(f"{name},{name},{uid},{group}\n" for name, uid, group in [
    ("admin", 1, "admins"),
    ("jane", 2, "editors"),
    ("boss", 9, "bosses"),
    ("lim", 10, "limited"),
])
# Resources in the ClusterRole `admin` that occur in the stories.
ADMIN = ["configmaps", "daemonsets", "deployments", "jobs", "pods", "secrets", "services", "statefulsets", "things"]
ADMIN += ["buildconfigs", "deploymentconfigs", "processedtemplates", "routes", "templateconfigs"]
# Kinds that are not Kubernetes' own.
CUSTOM = [
    ("apps.openshift.io", "deploymentconfigs", "DeploymentConfig"),
    ("build.openshift.io", "buildconfigs", "BuildConfig"),
    ("build.openshift.io", "builds", "Build"),
    ("example.com", "things", "Thing"),
    ("route.openshift.io", "routes", "Route"),
]
CREATED = "Ready=True/Created"
AS_REQUESTER = "objects are created with the permissions of the requester, not of the controller"
QUOTES_NOTHING = "messages do not quote objects, which may have secrets"

SEE = "Ready=False/Failed See InstantiateFailure condition for error message"


def unprocessed(name, problem):
    """The statuses of an instance whose second object is invalid."""
    why = f'Template.template.openshift.io "{name}" is invalid: item[1].objects: Invalid value: unable to handle object'
    return [f"InstantiateFailure=True/Failed unable to process Template objects: {why}: {problem}; {SEE}"]


# By the number of a story: the reason, and the values of our outcome that are not the recorded ones.
DIFFERENCES = {
    "08": (
        "the items of a List are objects of the Template",
        {
            "statuses": [
                "InstantiateFailure=True/Failed unable to identify the resource mapping for example.com/v1, Kind=Nope: "
                f'no matches for kind "Nope" in version "example.com/v1"; {SEE}'
            ]
        },
    ),
    "26": (
        AS_REQUESTER,
        {
            "statuses": [f"{CREATED}; v1 ConfigMap shop ok uid 2; rbac.authorization.k8s.io/v1 ClusterRole a26 uid 3"],
            "owned": ["ClusterRole a26", "ConfigMap ok"],
        },
    ),
    "30": ("an instance is there until its objects are gone", {"gone": False}),
    "31": ("an object with another uid is not deleted", {"read": [200]}),
    "35": ("objects are gone with their kind", {"gone": True, "read": [404, 404, 404]}),
    "36": ("a null object is an error in the Template", {"statuses": unprocessed("a36", "expected object, got null")}),
    "37": (QUOTES_NOTHING, {"statuses": unprocessed("a37", "expected object, got string")}),
    "38": (QUOTES_NOTHING, {"statuses": unprocessed("a38", "Object 'Kind' is missing")}),
    "46": ("the stand-in cluster ends a Namespace at once", {"read": [404]}),
    "47": (
        AS_REQUESTER,
        {
            "statuses": [
                f"{CREATED}; v1 ConfigMap shop x uid 2; rbac.authorization.k8s.io/v1 RoleBinding shop rb47 uid 3"
            ],
            "owned": ["ConfigMap x", "RoleBinding rb47"],
        },
    ),
    "49": (
        "objects are deleted with the permissions of the requester or of the user who deletes the instance",
        {"gone": False, "owned": ["ConfigMap par"], "read": [200]},
    ),
    "51": ("objects are planned before they are created, so that a deletion finds all of them", {"owned": []}),
}


def refused(story):
    """The invalid objects of a story, with the messages of kube-apiserver."""
    conditions = story["watch"][-1]["object"]["status"].get("conditions", [])
    messages = "\n".join(one["message"] for one in conditions)
    line = re.compile(r"unable to create [^,]+, Resource=(\S+), Name=(\S*): (.* is invalid: .*)")
    return {f"{plural}/{name}": message for plural, name, message in line.findall(messages)}


class Normal:
    """Values without what differs at each run."""

    def __init__(self, uid):
        self.uids = {uid: "uid 1"}

    def value(self, value, key=""):
        if isinstance(value, dict):
            found = {key: self.value(inner, key) for key, inner in value.items() if key not in VOLATILE}
            return {key: inner for key, inner in found.items() if inner != {} or key not in ["annotations", "labels"]}
        if isinstance(value, list):
            return [self.value(inner) for inner in value]
        if not isinstance(value, str):
            return value
        if re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", value):
            return self.uids.setdefault(value, f"uid {len(self.uids) + 1}")
        # Story 50 puts its own value in place of the first generated one.
        if key == "pw" and value != "aaaaaaaa":
            return re.sub("^[a-z]{8}$", "generated", value)
        return re.sub("^g-[a-z0-9]{5}$", "g-?????", value)

    def status(self, status):
        """A status in one line."""
        conditions = {one["type"]: one for one in status.get("conditions", [])}
        texts = [f"{kind}={one['status']}/{one['reason']} {one['message']}".strip() for kind, one in conditions.items()]
        if "InstantiateFailure" in conditions and "Ready" not in conditions:
            texts.append("Ready=False/Failed See InstantiateFailure condition for error message")
        objects = [self.value(one["ref"]) for one in status.get("objects", [])]
        fields = ["apiVersion", "kind", "namespace", "name", "uid"]
        texts += [" ".join(one[field] for field in fields if field in one) for one in objects]
        return "; ".join(texts)

    def outcome(self, answers, events, owned, read):
        statuses = [self.status(event["object"].get("status", {})) for event in events]
        changes = [status for before, status in zip(["", *statuses], statuses) if status != before]
        owned = sorted(owned, key=lambda one: (one["kind"], one["metadata"]["name"]))
        return {
            "answers": answers,
            "statuses": changes,
            "gone": bool(events) and events[-1]["type"] == "DELETED",
            "owned": [f"{one['kind']} {one['metadata']['name']}" for one in self.value(owned)],
            "read": [code for code, _ in read],
            "objects": self.value([*owned, *(body for code, body in read if code == 200)]),
        }


def recorded_outcome(story):
    uid = story["watch"][0]["object"]["metadata"]["uid"]
    answers = [step["response"]["status"] for step in story["steps"]]
    read = [(one["status"], one["body"]) for one in story["read_at_end"]]
    return Normal(uid).outcome(answers, story["watch"], story["objects_with_owner_label"], read)


def is_within(ours, recorded, key=""):
    """Whether all fields are the recorded ones. Defaults may be missing, and no labels."""
    if isinstance(ours, dict) and isinstance(recorded, dict) and key != "labels":
        return all(is_within(inner, recorded.get(key, []), key) for key, inner in ours.items())
    if isinstance(ours, list) and isinstance(recorded, list):
        return len(ours) == len(recorded) and all(map(is_within, ours, recorded))
    return ours == recorded


class Replay:
    """A story with our controller."""

    def __init__(self, file, binary, folder):
        self.file, self.story = file, json.loads(file.read_text())
        self.number = file.name[:2]
        self.recorded = recorded_outcome(self.story)
        self.reason, self.changes = DIFFERENCES.get(self.number, ("", {}))
        self.expected = {**self.recorded, **self.changes}
        self.namespaces = ["shop", "other", "going"]
        self.events, self.answers = [], []
        self.cluster = StandIn()
        (folder / "users.csv").write_text(TOKENS)
        (folder / "kubeconfig").write_text(json.dumps(self.cluster.kubeconfig()))
        options = ["--apply", "--kubeconfig", "kubeconfig", "--auth", "tokens=users.csv", "--resync", "500ms"]
        self.server = Server(binary, folder, options)

    def run(self):
        try:
            self.prepare()
            before = 0
            for index, step in enumerate(self.story["steps"]):
                after = step["after_seconds"]
                self.wait(len(recorded_outcome(self.until(after))["statuses"]))
                time.sleep(min(after - before, PAUSE_SECONDS))
                before = after
                PREPARED.get((self.number, index), Replay.nothing)(self)
                self.answers.append(self.send(step["request"])[0])
                COMPLETED.get((self.number, index), Replay.nothing)(self)
            self.wait(len(self.expected["statuses"]), self.expected["gone"])
            time.sleep(SETTLE_SECONDS)
            self.compare()
        finally:
            if self.server.process:
                self.server.kill()
            self.cluster.close()

    def prepare(self):
        for name in [*self.namespaces, "prod"]:
            self.cluster.create_namespace(name)
        for group, plural, kind in CUSTOM:
            schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
            spec = {
                "group": group,
                "names": {"plural": plural, "kind": kind},
                "scope": "Namespaced",
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
            }
            metadata = {"name": f"{plural}.{group}"}
            body = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata}
            where = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
            self.cluster.must("POST", where, {**body, "spec": spec})
        self.cluster.must("POST", "/test", {"refused": refused(self.story)})
        self.allow()
        self.server.start()
        self.watch()

    def allow(self):
        rule = {"verbs": ["*"], "apiGroups": ["*"], "resources": ADMIN}
        self.cluster.allow("jane", [{**rule, "namespaces": self.namespaces}])
        self.cluster.allow("boss", [{**rule, "namespaces": ["shop"]}])

    def until(self, seconds):
        watch = self.story["watch"]
        return {**self.story, "watch": [watch[0], *(one for one in watch[1:] if one["after_seconds"] < seconds)]}

    def watch(self):
        """Collects the events of the instance."""
        where = f"http://127.0.0.1:{self.server.port}{INSTANCES}templateinstances?watch=true"
        request = urllib.request.Request(where, headers={"Authorization": "Bearer admin"})
        stream = urllib.request.urlopen(request, timeout=10 * WAIT_SECONDS)

        def read():
            try:
                for line in stream:
                    self.events.append(json.loads(line))
            except (OSError, ValueError):
                pass  # The server has ended.

        threading.Thread(target=read, daemon=True).start()

    def send(self, request):
        """The code and the body of an answer."""
        binding = re.fullmatch(".*/namespaces/(.*)/rolebindings/jane-admin", request["path"])
        if binding and request["method"] == "DELETE":
            self.namespaces.remove(binding[1])
            self.allow()
            return 200, None
        is_ours = request["path"].startswith(INSTANCES)
        url = f"http://127.0.0.1:{self.server.port}" if is_ours else self.cluster.url
        headers = {"Authorization": f"Bearer {request.get('user', 'admin')}", **request.get("headers", {})}
        body = (request.get("body") or "").encode() or None
        sent = urllib.request.Request(url + request["path"], body, headers, method=request["method"])
        try:
            with urllib.request.urlopen(sent, timeout=WAIT_SECONDS) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def outcome(self, owned=(), read=()):
        events = list(self.events)
        uid = events[0]["object"]["metadata"]["uid"] if events else ""
        return Normal(uid).outcome(self.answers, events, owned, read)

    def wait(self, count, gone=False):
        """Waits for a number of statuses, and for the end of the instance. Which they are, is compared later."""
        began = time.monotonic()
        while time.monotonic() - began < WAIT_SECONDS:
            found = self.outcome()
            if len(found["statuses"]) >= count and (found["gone"] or not gone):
                return
            time.sleep(0.05)

    def owned(self):
        """All objects with the label of the instance."""
        uid = self.events[0]["object"]["metadata"]["uid"]
        groups = self.cluster.must("GET", "/apis")["groups"]
        versions = ["/api/v1", *(f"/apis/{version['groupVersion']}" for one in groups for version in one["versions"])]
        for version in versions:
            for resource in self.cluster.must("GET", version)["resources"]:
                listed = self.cluster.must("GET", f"{version}/{resource['name']}")
                for one in listed["items"]:
                    if one["metadata"].get("labels", {}).get(OWNER) == uid:
                        yield one

    def compare(self):
        read = [self.send({"method": "GET", "path": one["path"]}) for one in self.story["read_at_end"]]
        found = self.outcome(list(self.owned()), read)
        stale = [aspect for aspect, value in self.changes.items() if value == self.recorded[aspect]]
        if stale:
            raise Failure(f"{', '.join(stale)}: listed as different, but not different")
        wrong = [aspect for aspect in found if aspect != "objects" and found[aspect] != self.expected[aspect]]
        if not wrong and not {"owned", "read"} & set(self.changes):
            wrong = [] if is_within(found["objects"], self.recorded["objects"]) else ["objects"]
        if wrong:
            texts = [f"{one}\n  expected {self.expected[one]}\n  found    {found[one]}" for one in wrong]
            raise Failure("\n".join(texts))

    # --- what is not in the recorded steps ---------------------------------------

    def nothing(self):
        pass

    def take(self):
        """The object of another is that of story 09."""
        steps = json.loads(next(self.file.parent.glob("09-*")).read_text())["steps"]
        self.send(steps[0]["request"])

    def admit_route(self):
        """openshift-apiserver sets the host of a Route."""
        self.wait(1)
        where = "/apis/route.openshift.io/v1/namespaces/shop/routes/r"
        route = self.story["objects_with_owner_label"][0]
        self.cluster.must("PATCH", where, {"spec": {"host": route["spec"]["host"]}}, MERGE)

    def empty_namespace(self):
        """The controller of namespaces deletes what is in one, also at aggregated servers."""
        self.send({"method": "DELETE", "path": f"{INSTANCES}namespaces/going/templateinstances"})

    def stop_controller(self):
        self.server.kill()
        self.server.command.append("--no-instances")
        self.server.start()

    def start_controller(self):
        """It finds an object of the instance, as if it had been killed after it created that."""
        where = f"{INSTANCES}namespaces/shop/templateinstances/a50"
        _, instance = self.send({"method": "GET", "path": where})
        labels = {OWNER: instance["metadata"]["uid"]}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "first", "labels": labels}}
        self.cluster.must("POST", "/api/v1/namespaces/shop/configmaps", {**body, "data": {"pw": "aaaaaaaa"}})
        self.server.kill()
        self.server.command.remove("--no-instances")
        self.server.start()
        self.watch()

    def leave_later(self):
        """The cluster goes away while objects are created."""
        self.cluster.must("POST", "/test", {"away": 60})

    def is_away(self):
        began, asked = time.monotonic(), []
        while len(asked) < 60 and time.monotonic() - began < WAIT_SECONDS:
            asked += self.cluster.must("GET", "/test")
            time.sleep(0.05)
        created = [one for one in asked if one["method"] == "POST" and one["path"].endswith("/configmaps")]
        if not 0 < len(created) < 30:
            raise Failure(f"{len(created)} of 30 objects are created before the deletion")

    def come_back(self):
        self.cluster.come_back()


PREPARED = {
    ("10", 0): Replay.take,
    ("50", 0): Replay.stop_controller,
    ("51", 0): Replay.leave_later,
    ("51", 1): Replay.is_away,
}
COMPLETED = {
    ("16", 0): Replay.admit_route,
    ("46", 1): Replay.empty_namespace,
    ("50", 0): Replay.start_controller,
    ("51", 1): Replay.come_back,
}


def run(binary, stories, only):
    """Replays all stories of a folder."""
    files = [file for file in sorted(stories.glob("[0-9]*.json")) if only in file.stem]
    print("recorded stories:")

    def replay(file):
        with tempfile.TemporaryDirectory() as folder:
            try:
                story = Replay(file, binary, Path(folder))
                story.run()
            except Failure as failure:
                return f"{file.name}: {failure}"
        print(f"  ok: {file.stem}" + (f", different: {story.reason}" if story.reason else ""), flush=True)
        return None

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        failures = [failure for failure in pool.map(replay, files) if failure]
    if failures or not files and not only:
        raise Failure("\n".join(failures) or f"{stories} has no stories")
    print(f"  {len(files)} stories replayed")
