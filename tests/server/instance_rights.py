"""What stored instances may do later: stories of tests/server/instances about recorded users, generated values,
instances that create instances, and values in messages."""

import base64
import json
import os
import subprocess
import time
import urllib.parse
import urllib.request

from server_program import Failure

OWNER = "template.krm.dev/owner"
KRM, OPENSHIFT = "template.krm.dev/v1alpha1", "template.openshift.io/v1"
EVERYTHING = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]
OBJECTS = ["configmaps", "deployments", "templateinstances"]
PASSWORD = {"name": "PASSWORD", "generate": "expression", "from": "[a-z0-9]{16}"}
USERS = ["jane,jane,1", "anna,anna,2"]
WAIT_SECONDS = 60
DAY = 24 * 3600


def check(holds, what, found):
    if not holds:
        raise Failure(f"{what}: {found}")


def until(holds, what):
    began = time.monotonic()
    while not holds():
        check(time.monotonic() - began < WAIT_SECONDS, what, "not after a minute")
        time.sleep(0.05)


def config_map(name, value="1", **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": {"key": value}}


def secret(name, value):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": {"key": value}}


def template(objects, parameters=(), name="t", version=KRM):
    metadata = {"name": name}
    return {"apiVersion": version, "kind": "Template", "metadata": metadata, "parameters": [*parameters], "objects": objects}


def nested(name, spec, version=KRM, **metadata):
    return {"apiVersion": version, "kind": "TemplateInstance", "metadata": {"name": name, **metadata}, "spec": spec}


def core(kind, namespace, name):
    return f"/api/v1/namespaces/{namespace}/{kind}/{name}"


def value_of(story, name="web-generated", key="PASSWORD"):
    return base64.b64decode(story.find("secrets", name)["data"][key]).decode()


def ready(instance):
    return [one for one in instance["status"]["conditions"] if one["type"] == "Ready"][0]["message"]


def users(story, lines):
    (story.server.folder / "users.csv").write_text("".join(f"{line}\n" for line in lines))


def restart(story, *options):
    """Starts the server again, with other options. Returns the former command."""
    before = story.server.command
    story.server.kill()
    story.server.command = [*before, *options]
    story.server.start()
    return before


def command(story, *arguments):
    address = f"http://127.0.0.1:{story.server.port}"
    environment = {**os.environ, "KRM_TEMPLATE_TOKEN": "jane", "KRM_TEMPLATE_SERVER": address}
    line = [story.server.command[0], *arguments, "-n", story.namespace]
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=False)


def generated(story):
    """a generated value is kept for its Template only, and for users who may read its Secret"""
    rule = {"verbs": ["*"], "apiGroups": ["*"], "resources": OBJECTS}
    story.cluster.allow("anna", [rule])
    kept = template([secret("s", "$(PASSWORD)")], [PASSWORD])
    story.install("web", {"template": kept})
    story.reached("web", "Applied")
    value = value_of(story)
    stolen = template([config_map("x-$(PASSWORD)", "$(PASSWORD)"), secret("s", "$(PASSWORD)")], [PASSWORD])
    # Whoever may only ask what would happen.
    instance = story.get("web")
    instance["spec"]["template"] = stolen
    for rules in [[], [rule]]:
        story.cluster.allow("anna", rules)
        code, found = story.ask("POST", "web/preview", instance, user="anna")
        check(code == 200 and found["failures"], "the preview of anna", found)
        check(value not in json.dumps(found), "the preview of anna", found)
    _, found = story.ask("POST", "web/preview", instance)
    check(f"+  name: x-{value}" in json.dumps(found), "the preview of jane", found)
    # Whoever may change it.
    instance = story.get("web")
    instance["spec"]["template"] = stolen
    story.ask("PUT", "web", instance, user="anna", code=200)
    instance = story.reached("web", "Forbidden")
    check("may not read" in ready(instance) and value not in json.dumps(instance), "the condition", instance)
    check(sorted(story.live()) == [] and value_of(story) == value, "the objects", story.live())
    # Their change does not count as one for which the value was generated.
    story.change("web", template=kept)
    story.reached("web", "Applied")
    check(value_of(story) == value, "the value", "has changed")
    # Another Template, and another parameter of the same name.
    for other in [template(stolen["objects"], [PASSWORD], "other"), template(stolen["objects"], [PASSWORD | {"from": "[a-z]{9}"}])]:
        story.change("web", template=other)
        story.reached("web", "Applied")
        check(value not in json.dumps(story.live()) and value_of(story) != value, "another Template", story.live())
        value = value_of(story)
    # A value that is lost is not replaced without a word.
    story.cluster.must("DELETE", core("secrets", story.namespace, "web-generated"))
    story.change("web", wait="None")
    instance = story.reached("web", "ParametersMissing")
    check("restore it, or give the parameters values" in ready(instance), "the condition", instance)
    story.change("web", parameters={"PASSWORD": "mine"})
    story.reached("web", "Applied")
    check(story.find("configmaps", "x-mine"), "the given value", story.live())


def removed(story):
    """a user who is gone, or has lost a group, does not act any more; whoever has rights takes over"""
    rule = {"verbs": ["*"], "apiGroups": [""], "resources": ["configmaps"]}
    for name in ["anna", "devs"]:
        story.cluster.allow(name, [rule])
    try:
        users(story, [USERS[0], 'anna,anna,2,"devs,ops"'])
        before = restart(story, "--resync", "500ms")
        for name in ["web", "two", "held"]:
            finalizers = {"finalizers": ["example.org/hold"]} if name == "held" else {}
            story.install(name, {"template": template([config_map(name, **finalizers)])}, user="anna")
            story.reached(name, "Applied")
        story.ask("DELETE", "held", user="anna", code=200)
        # Another token of the same user, with all groups.
        users(story, [USERS[0], 'other,anna,2,"ops,devs,more"'])
        restart(story)
        story.cluster.must("DELETE", core("configmaps", story.namespace, "web"))
        until(lambda: story.find("configmaps", "web"), "an object that is gone returns")
        users(story, [USERS[0], 'anna,anna,2,"ops"'])
        restart(story)
        instance = story.reached("web", "Forbidden")
        check("no file of the server has the user" in ready(instance), "the condition", instance)
        check(story.find("configmaps", "web"), "the object", "was deleted")
        story.cluster.must("DELETE", core("configmaps", story.namespace, "web"))
        time.sleep(1.5)
        check(story.find("configmaps", "web") is None, "the object", "was created as a user who has lost a group")
        # The way out that the condition names.
        line = ready(instance).split("`")[1].split()
        done = command(story, *line[1:])
        check(done.returncode == 0, " ".join(line), done.stderr)
        instance = story.reached("web", "Applied")
        check(instance["spec"]["requester"]["username"] == "jane", "requester", instance["spec"])
        # Nobody who is left has asked for this deletion, until somebody does.
        story.reached("held", "DeletionBlocked")
        where = core("configmaps", story.namespace, "held")
        story.cluster.must("PATCH", where, {"metadata": {"finalizers": None}}, "application/merge-patch+json")
        story.gone("held")
        story.gone("two")
        check(sorted(story.live()) == ["web"], "live", sorted(story.live()))
    finally:
        story.server.kill()
        users(story, USERS)
        story.server.command = before
        story.server.start()


def aged(story):
    """the record of a user whom no file has ages, a restart does not renew it, and a change does"""
    if "stand-in" not in story.cluster.title:
        return
    before = restart(story, "--auth", "token-review", "--rbac", "roles.yaml", "--resync", "500ms")
    try:
        for name in ["web", "two"]:
            story.install(name, {"template": template([config_map(name)])}, user="remote")
            story.reached(name, "Applied")
        story.install("listed", {"template": template([config_map("listed")])}, user="jane")
        story.reached("listed", "Applied")
        story.server.kill()
        store = [before[0], "store"]

        def older(line):
            line = json.loads(line)
            value = line.get("value", "")
            kind, _, name = line.get("key", "").rpartition(f"/{story.namespace}/")
            if kind.endswith("/instanceplans"):
                plan = json.loads(value)
                plan["since"] -= (29 if name == "two" else 31) * DAY
                line["value"] = json.dumps(plan)
            return json.dumps(line)

        where = story.server.folder
        lines = subprocess.run([*store, "dump", "--store", "file:store.redb"], cwd=where, capture_output=True, check=True)
        lines = "\n".join(map(older, lines.stdout.decode().splitlines())) + "\n"
        (where / "store.redb").unlink()
        subprocess.run([*store, "load", "--store", "file:store.redb"], cwd=where, input=lines.encode(), check=True)
        story.server.start()
        instance = story.reached("web", "Forbidden")
        check("--requester-max-age" in ready(instance), "the condition", instance)
        story.restart()
        story.reached("web", "Forbidden")
        story.cluster.must("DELETE", core("configmaps", story.namespace, "two"))
        until(lambda: story.find("configmaps", "two"), "a younger record counts")
        story.cluster.must("DELETE", core("configmaps", story.namespace, "listed"))
        until(lambda: story.find("configmaps", "listed"), "a file has the user")
        line = ready(instance).split("`")[1].split()
        done = command(story, *line[1:])
        check(done.returncode == 0, " ".join(line), done.stderr)
        story.reached("web", "Applied")
    finally:
        story.server.kill()
        story.server.command = before
        story.server.start()


def chain(story):
    """instances create one another only a few levels deep, and never with a Template of their own chain"""
    if not story.cluster.aggregate(f"http://127.0.0.1:{story.server.port}", [KRM, OPENSHIFT]):
        return
    other = f"{story.namespace}-b"
    story.cluster.create_namespace(other)
    places = [story.namespace, other]
    forged = {OWNER: f"TemplateInstance.template.krm.dev/{other}/nobody"}

    def store(name, objects, parameters=(), namespace=story.namespace):
        where = f"/apis/{KRM}/namespaces/{namespace}/templates"
        code, answer = story.server.ask("POST", where, template(objects, parameters, name), "jane")
        check(code == 201, f"the Template {name}", answer)

    def count(version=KRM):
        lists = [story.server.ask("GET", f"/apis/{version}/namespaces/{one}/templateinstances", None, "jane") for one in places]
        return sum(len(answer["items"]) for _, answer in lists)

    def settled(expected, what, version=KRM):
        until(lambda: count(version) >= expected, what)
        time.sleep(2)
        check(count(version) == expected, what, count(version))

    # A Template that creates another instance of itself, also in a List.
    again = nested("i-$(N)", {"templateRef": {"name": "loop"}, "parameters": {"N": "$(N)1"}}, annotations=forged)
    store("loop", [{"apiVersion": "v1", "kind": "List", "items": [again]}], [{"name": "N"}])
    story.install("loop", {"templateRef": {"name": "loop"}, "parameters": {"N": "1"}})
    instance = story.reached("loop", "Invalid")
    check("same Template" in ready(instance), "the condition", instance)
    settled(1, "a Template that creates itself")
    # Two that create each other.
    for one, two in ["ab", "ba"]:
        spec = {"templateRef": {"name": two}, "parameters": {"N": "$(N)1"}}
        store(one, [nested(f"{two}-$(N)", spec, annotations=forged)], [{"name": "N"}])
    story.install("root", {"templateRef": {"name": "a"}, "parameters": {"N": "1"}})
    until(lambda: story.ask("GET", "b-1")[0] == 200, "the second instance exists")
    story.reached("b-1", "Invalid")
    settled(3, "two Templates that create each other")
    for name in ["loop", "root"]:
        story.gone(name)
    settled(0, "after their deletion")
    # A long chain through two namespaces.
    for depth in range(10):
        following = nested(f"i-{depth + 1}", {"templateRef": {"name": f"t{depth + 1}"}}, namespace=places[(depth + 1) % 2])
        store(f"t{depth}", [following], namespace=places[depth % 2])
    story.install("i-0", {"templateRef": {"name": "t0"}})
    settled(8, "a long chain")
    # The same in OpenShift's group, where each Template is a part of the one before.
    inner = template([config_map("deep")], version=OPENSHIFT)
    for depth in reversed(range(10)):
        inner = template([nested(f"i-{depth + 1}", {"template": inner}, OPENSHIFT)], version=OPENSHIFT)
    story.install("i-0", {"template": inner}, group="openshift")
    settled(8, "a long chain of OpenShift's", OPENSHIFT)
    # An instance that exists is not changed by another.
    story.install("free", {"template": template([config_map("a")])})
    story.reached("free", "Applied")
    story.install("taker", {"template": template([nested("free", {"template": template([config_map("b")])})])})
    instance = story.reached("taker", "Conflict")
    check("only those that it has created" in ready(instance), "the condition", instance)
    for name, group in [("i-0", "krm"), ("i-0", "openshift"), ("free", "krm"), ("taker", "krm")]:
        story.gone(name, group)
    story.cluster.aggregate(None, [])


def orphans(story):
    """what belongs to an instance goes with it, also if somebody removes its finalizer"""
    body = template([config_map("a", "$(PASSWORD)")], [PASSWORD])
    story.install("web", {"template": body})
    instance = story.reached("web", "Applied")
    old, value = instance["metadata"]["uid"], value_of(story)
    instance["metadata"]["finalizers"] = []
    story.ask("PUT", "web", instance, code=200)
    story.ask("DELETE", "web", code=200)
    until(lambda: story.find("secrets", "web-generated") is None, "the Secret goes")
    check(story.find("configmaps", "a"), "another object", "was deleted")
    story.cluster.must("DELETE", core("configmaps", story.namespace, "a"))
    story.install("web", {"template": body})
    new = story.reached("web", "Applied")["metadata"]["uid"]
    _, found = story.ask("GET", "web/revisions")
    check([one["uid"] for one in found["items"]] == [new], "revisions", found)
    check(value_of(story) != value, "the generated value", "is that of the former instance")
    # A server that ends right after the deletion.
    story.ask("DELETE", "web", code=200)
    story.restart()
    story.gone("web")

    def stored():
        story.server.kill()
        dumped = [story.server.command[0], "store", "dump", "--store", "file:store.redb"]
        text = subprocess.run(dumped, cwd=story.server.folder, capture_output=True, text=True, check=True).stdout
        story.server.start()
        return [line for line in text.splitlines() if old in line or new in line]

    time.sleep(1)
    check(stored() == [], "the store", "has records of instances that are gone")


CANARIES = ["canary-4711 \"x\"/ü", "canary-of-default", "canary-in-a-secret"]


def spellings(value):
    """A value as it is, and as messages may have it."""
    text = json.dumps(value)[1:-1]
    code = base64.b64encode(value.encode()).decode()
    return [value, text, code, urllib.parse.quote(value, safe=""), json.dumps(value, ensure_ascii=False)[1:-1]]


def quoted(story):
    """no message has a value of a Secret or a secret parameter, in whatever spelling a cluster quotes it"""
    if "stand-in" not in story.cluster.title:
        return
    given, default, data = CANARIES
    source = {**secret("values", ""), "data": {"TOKEN": base64.b64encode(given.encode()).decode()}}
    story.cluster.must("POST", f"/api/v1/namespaces/{story.namespace}/secrets", {**source, "stringData": None})
    parameters = [PASSWORD, {"name": "TOKEN", "secret": True}, {"name": "DB_PASSWORD", "secret": True, "value": default}]
    all_values = "$(PASSWORD) http://u:$(TOKEN)@h/ $(DB_PASSWORD)"
    objects = [config_map("bad", all_values), secret("bad", f"{data} $(PASSWORD)"), secret("good", data)]
    where = f"/apis/{KRM}/namespaces/{story.namespace}/templates"
    code, answer = story.server.ask("POST", where, template(objects, parameters), "jane")
    check(code == 201, "the Template", answer)
    texts = []
    for number, denied in enumerate([["configmaps/bad"], ["secrets/bad"], ["configmaps/bad", "secrets/bad"]] * 2):
        name, group = f"web-{number}", "krm" if number < 3 else "openshift"
        story.cluster.must("POST", "/test", {"quoting": {one: [403, 422, 400][number % 3] for one in denied}})
        spec = {"templateRef": {"name": "t"}, "parametersFrom": [{"secretRef": {"name": "values"}}]}
        if group == "openshift":
            body = json.loads(json.dumps(template(objects, parameters, version=OPENSHIFT)).replace("$(", "${").replace(")", "}"))
            body["parameters"][1:] = [{"name": "TOKEN"}, {"name": "DB_PASSWORD", "value": default}]
            spec = {"template": body, "secret": {"name": "values"}}
        story.install(name, spec, group=group)
        reasons = ["Forbidden", "Invalid", "Failed"]
        until(lambda: story.condition(story.get(name, group))[1] in reasons, f"{name} fails")
        texts.append(json.dumps(story.get(name, group)["status"]))
        if group == "krm":
            _, found = story.ask("POST", f"{name}/preview", None)
            check(found["failures"], "failures", found)
            texts += found["failures"]
            headers = {"Authorization": "Bearer jane", "Accept": "text/html"}
            page = f"http://127.0.0.1:{story.server.port}/ui/instances/{name}?namespace={story.namespace}"
            with urllib.request.urlopen(urllib.request.Request(page, headers=headers), timeout=60) as answer:
                texts.append(answer.read().decode())
    quoted = story.cluster.must("GET", "/test/quoted")
    check(len(quoted) > 6 and any(given in one for one in quoted), "the cluster", "has quoted no value")
    story.cluster.must("POST", "/test", {"quoting": {}})
    texts += [json.dumps(one) for one in story.cluster.must("GET", f"/api/v1/namespaces/{story.namespace}/events")["items"]]
    texts.append((story.server.folder / "log").read_text())
    code, metrics = story.server.ask("GET", "/metrics", None, "jane", parse=False)
    check(code == 200, "metrics", code)
    texts.append(metrics.decode())
    everything = "\n".join(texts)
    for value in CANARIES:
        for spelling in spellings(value):
            at = everything.find(spelling)
            check(at < 0, f"a message has {spelling!r}", everything[max(0, at - 300) : at + 100])
    check("***" in everything, "a message", "has no masked value")


CASES = [generated, removed, aged, chain, orphans, quoted]
