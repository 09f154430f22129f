"""The Templates that the pages show: the examples, and made-up ones for each state."""

import re

import yaml

from support import EXAMPLES

API = "template.krm.dev/v1alpha1"
CANARY = "<script>document.title = 'taken over'</script>\"'>&amp;"
# It may occur in results that were asked for, and nowhere else.
SECRET = "canary-6f1d3b"


def template(name, parameters, objects, **more):
    """A Template in the proposal's dialect."""
    annotations = more.pop("annotations", {})
    metadata = {"name": name, "annotations": annotations}
    return {"apiVersion": API, "kind": "Template", "metadata": metadata, "parameters": parameters, "objects": objects, **more}


def config_map(name, data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def examples():
    """Templates of the repository, as text."""
    files = ["web/template.yaml", "mongodb/template.yaml"]
    return [(EXAMPLES / file).read_text() for file in files]


def shop():
    """A Template as an author would like it to look: groups, choices, a secret, a message."""
    names = {"namespace": "$(NAMESPACE)", "labels": {"app.kubernetes.io/name": "shop"}}
    container = {
        "name": "shop",
        "image": "registry.example.org/shop:$(VERSION)",
        "env": [
            {"name": "DATABASE_URL", "value": "postgres://$(DB_USER)@db.$(NAMESPACE).svc/orders"},
            {"name": "LOG_LEVEL", "value": "$(LOG_LEVEL)"},
        ],
        "resources": {"limits": {"memory": "$(MEMORY)"}},
    }
    pod = {"metadata": {"labels": {"app": "$(NAME)"}}, "spec": {"containers": [container]}}
    deployment = {"replicas": "$((REPLICAS))", "selector": {"matchLabels": {"app": "$(NAME)"}}, "template": pod}
    rule = {"host": "$(HOST)", "http": {"paths": "$((PATHS))"}}
    return template(
        "shop",
        [
            {"name": "NAME", "displayName": "Name", "description": "Names all objects", "required": True, "pattern": "^[a-z][a-z0-9-]*$", "group": "Application"},
            {"name": "NAMESPACE", "displayName": "Namespace", "value": "shop", "required": True, "group": "Application"},
            {"name": "VERSION", "displayName": "Version", "description": "The tag of the image", "value": "2.4.1", "group": "Application"},
            {"name": "REPLICAS", "displayName": "Replicas", "description": "How many pods run", "type": "int", "value": "2", "minimum": 1, "maximum": 20, "group": "Application"},
            {"name": "MEMORY", "displayName": "Memory", "enum": ["256Mi", "512Mi", "1Gi"], "value": "512Mi", "group": "Application"},
            {"name": "HOST", "displayName": "Host name", "description": "Where people reach the shop", "value": "$(NAME).example.org", "group": "Network"},
            {"name": "PATHS", "displayName": "Paths", "type": "array", "value": "- path: /\n  pathType: Prefix\n", "group": "Network"},
            {"name": "LOG_LEVEL", "displayName": "Log level", "enum": ["debug", "info", "warn", "error", "off"], "value": "info", "group": "Operations"},
            {"name": "DB_USER", "displayName": "Database user", "value": "orders", "group": "Database"},
            {"name": "DB_PASSWORD", "displayName": "Database password", "description": "The shop logs in to its database with it", "secret": True, "required": True, "minLength": 12, "group": "Database"},
            {"name": "SESSION_KEY", "displayName": "Session key", "description": "Signs the cookies", "generate": "expression", "from": "[a-zA-Z0-9]{24}", "group": "Database"},
        ],
        [
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "$(NAME)", **names}, "spec": deployment},
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "$(NAME)", **names}, "spec": {"selector": {"app": "$(NAME)"}, "ports": [{"port": 80, "targetPort": 8080}]}},
            {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "$(NAME)", **names}, "spec": {"rules": [rule]}},
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "$(NAME)", **names}, "stringData": {"password": "$(DB_PASSWORD)", "session-key": "$(SESSION_KEY)"}},
        ],
        annotations={
            "openshift.io/display-name": "Web shop",
            "description": "The shop with its ingress and the secrets of its database.",
            "tags": "web,shop,postgresql",
            "iconClass": "icon-shopping-cart",
            "openshift.io/provider-display-name": "Example Inc.",
            "openshift.io/documentation-url": "https://example.org/docs/shop",
            "openshift.io/support-url": "https://example.org/support",
        },
        message="The shop answers on https://$(HOST) after a minute.",
    )


def types():
    """A parameter of each type, and of each control."""
    parameters = [
        {"name": "TEXT", "description": "Any text", "value": "a text"},
        {"name": "LINES", "description": "Several lines", "value": "one\ntwo\n"},
        {"name": "COUNT", "type": "int", "value": "3", "minimum": 1, "maximum": 9},
        {"name": "RATIO", "type": "number", "value": "0.5"},
        {"name": "ENABLED", "type": "bool", "value": "true", "required": True},
        {"name": "VERBOSE", "type": "bool"},
        {"name": "SIZE", "enum": ["small", "medium", "large"], "value": "small"},
        {"name": "REGION", "enum": ["eu-1", "eu-2", "us-1", "us-2", "us-3", "ap-1"], "value": "eu-1"},
        {"name": "PORTS", "type": "array", "value": "[80, 443]"},
        {"name": "EXTRA", "type": "map", "value": "{team: sales}"},
        {"name": "ICON", "type": "base64"},
        {"name": "KEY", "generate": "expression", "from": "[a-f0-9]{16}"},
        {"name": "PASSWORD", "secret": True, "value": SECRET},
        {"name": "CODE", "pattern": "^[A-Z]{3}-[0-9]+$", "minLength": 5, "maxLength": 12, "value": "ABC-123"},
    ]
    data = {one["name"].lower(): f"$({one['name']})" for one in parameters if one["name"] != "PASSWORD"}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "types"}, "stringData": {"password": "$(PASSWORD)"}}
    return template("types", parameters, [config_map("types", data), secret], annotations={"description": "A parameter of each type"})


def canary():
    """Markup in each text."""
    parameters = [
        {"name": "TEXT", "displayName": CANARY, "description": CANARY, "value": CANARY, "group": CANARY},
        {"name": "CHOICE", "displayName": CANARY, "description": CANARY, "enum": [CANARY, "other"], "value": CANARY, "group": CANARY},
        {"name": "WRONG", "pattern": CANARY, "value": CANARY},
        {"name": "HIDDEN", "secret": True, "displayName": CANARY},
        {"name": "MADE", "generate": "expression", "from": f"[a-z]{{8}}{CANARY}"},
    ]
    annotations = {
        "openshift.io/display-name": CANARY,
        "description": CANARY,
        "openshift.io/long-description": CANARY,
        "openshift.io/provider-display-name": CANARY,
        "openshift.io/documentation-url": "javascript:document.title='taken over'",
        "openshift.io/support-url": CANARY,
        "tags": CANARY,
        "iconClass": CANARY,
    }
    data = {"text": "$(TEXT)", CANARY: "$(CHOICE)", "made": "$(MADE)", "wrong": "$(WRONG)"}
    objects = [config_map("canary", data), {"apiVersion": "v1", "kind": CANARY, "metadata": {"name": CANARY}}]
    return template("canary", parameters, objects, annotations=annotations, message=f"{CANARY} $(TEXT)")


def long():
    """Names as long as they may be, and descriptions of several paragraphs."""
    name = "x" * 20 + "-" + "long" * 10 + "-y"
    text = "The first paragraph says what this is for, at some length, so that it takes more than one line.\n\n" * 3
    parameters = [
        {"name": "P" * 63, "displayName": "L" * 63, "description": text + "https://example.org/" + "a" * 120, "required": True},
        {"name": "SHORT", "description": text, "value": "v" * 200},
        {"name": "C" * 63, "enum": ["e" * 63, "f" * 63], "value": "e" * 63},
    ]
    objects = [config_map(name, {"key" * 20: f"$({'P' * 63})", "short": "$(SHORT)", "choice": f"$({'C' * 63})"})]
    annotations = {"description": text, "openshift.io/display-name": "D" * 63, "tags": ",".join(["t" * 40, "u" * 63, "v"])}
    return template(name, parameters, objects, annotations=annotations)


def none():
    return template("none", [], [config_map("none", {"answer": "42"})], annotations={"description": "A Template without parameters"})


def ten():
    """Ten fields of which each starts wrong."""
    parameters = [
        {"name": f"PORT_{number}", "displayName": f"Port {number}", "type": "int", "maximum": 65535, "value": str(70000 + number)}
        for number in range(1, 11)
    ]
    return template("ten", parameters, [config_map("ten", {f"p{n}": f"$(PORT_{n})" for n in range(1, 11)})])


def many_objects():
    """200 objects of one parameter."""
    objects = [config_map(f"$(NAME)-{number}", {"number": str(number), "name": "$(NAME)"}) for number in range(200)]
    return template("objects", [{"name": "NAME", "value": "web", "required": True}], objects)


def generous(shared):
    """The largest list of parameters in the corpus of KUDO, in the groups of its comments."""
    file = shared / "corpus/kudo/operators/repository/cassandra/3.11/operator/params.yaml"
    text = file.read_text()
    groups = {}
    group = ""
    for line in text.splitlines():
        if found := re.match(r"  #{5,} (\S.*\S) #{5,}$", line):
            group = found[1]
        elif found := re.match(r"  - name: *(\S+)", line):
            groups[found[1]] = group
    parameters = []
    for one in yaml.safe_load(text)["parameters"]:
        default = one.get("default")
        parameter = {"name": one["name"], "description": one["description"], "group": groups[one["name"]]}
        if default is not None:
            parameter["value"] = default if isinstance(default, str) else yaml.safe_dump(default)
        parameters.append(parameter)
    data = {one["name"]: f"$({one['name']})" for one in parameters}
    return template("cassandra", parameters, [config_map("cassandra", data)], annotations={"openshift.io/display-name": "Cassandra", "description": "A cluster of Cassandra nodes", "tags": "database,cassandra"})


def catalog():
    """500 small Templates for a list."""
    kinds = ["cache", "database", "queue", "web"]
    return [
        template(
            f"{kinds[number % 4]}-{number:03}",
            [{"name": "NAME", "required": True}, {"name": "SIZE", "value": "1Gi"}],
            [config_map("$(NAME)", {"size": "$(SIZE)"})],
            annotations={"description": f"Number {number} of the catalog", "tags": kinds[number % 4]},
        )
        for number in range(500)
    ]
