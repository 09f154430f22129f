"""The requests of `oc`, for where there is no `oc`: what it sends, and what it prints of the answers.

`oc process NAME` gets the Template, sets the given values and posts the whole of it; `oc process -f`
posts the file. It prints the objects of the answer in their order, as a List. As `oc` at 6b8e30c5,
whose outputs were recorded.
"""

import json
import shlex

import yaml

from server_program import OPENSHIFT
from support import Failure

TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}


class Refused(Exception):
    """What `oc` prints to stderr when it fails."""


def run(server, command, folder):
    """The exit code, stdout and stderr of a command; None if it is none of those made here."""
    words = shlex.split(command)
    verbs = {"process": process, "create": create, "get": get, "delete": delete, "patch": patch, "label": label}
    if words[0] != "oc" or words[1] not in verbs or any(word in "|;>" for word in words):
        return None
    try:
        return 0, verbs[words[1]](server, Arguments(words[2:]), folder), ""
    except NothingFound as nothing:
        return 0, "", f"{nothing}\n"
    except Refused as refused:
        return 1, "", f"{refused}\n"


class NothingFound(Exception):
    """What `oc get` prints to stderr of an empty list."""


class Arguments:
    """The words after the verb."""

    WITH_VALUE = {"-n", "-p", "-o", "-l", "-f"}

    def __init__(self, words):
        self.names, self.values, self.flags = [], {}, set()
        words = iter(words)
        for word in words:
            if word in self.WITH_VALUE:
                self.values.setdefault(word, []).append(next(words))
            elif word.startswith("--param-file="):
                self.values["--param-file"] = [word.partition("=")[2]]
            elif word.startswith("-"):
                self.flags.add(word)
            else:
                self.names.append(word)

    def value(self, flag, default=None):
        return self.values.get(flag, [default])[-1]

    @property
    def namespace(self):
        return self.value("-n", "shop")


def process(server, arguments, folder):
    """`oc process`."""
    template = read(server, arguments, folder)
    if "--parameters" in arguments.flags:
        return listed(template["parameters"])
    values = dict(pair.split("=", 1) for pair in arguments.values.get("-p", []))
    if file := arguments.value("--param-file"):
        lines = (folder / file).read_text().splitlines()
        values.update(line.split("=", 1) for line in lines if "=" in line)
    parameters = {parameter["name"]: parameter for parameter in template.get("parameters") or []}
    for name, value in values.items():
        if name in parameters:
            parameters[name].pop("generate", None)
            parameters[name]["value"] = value
        elif "--ignore-unknown-parameters" not in arguments.flags:
            raise Refused(f'error: unknown parameter name "{name}"')
    if label := arguments.value("-l"):
        key, value = label.split("=")
        template.setdefault("labels", {})[key] = value
    template.setdefault("metadata", {})["namespace"] = arguments.namespace
    answer = posted(server, f"{OPENSHIFT}/{arguments.namespace}/processedtemplates", template)
    return printed(answer, arguments)


def listed(parameters):
    """The table of parameters."""
    rows = [["NAME", "DESCRIPTION", "GENERATOR", "VALUE"]]
    for parameter in parameters:
        rows.append([parameter.get(field, "") for field in ["name", "description", "generate", "value"]])
    return "".join("".join(cell.ljust(20) for cell in row[:3]) + row[3] + "\n" for row in rows)


def posted(server, path, template):
    """The text of the processed Template, or the errors as `oc` prints them."""
    status, _, body = server.ask("POST", path, template, {"Accept": "application/json, */*"})
    if status == 201:
        return body.decode()
    failure = json.loads(body)
    causes = (failure.get("details") or {}).get("causes") or [failure]
    raise Refused("\n  ".join(["error: unable to process template", *(cause["message"] for cause in causes)]))


def read(server, arguments, folder):
    """The Template of `-f`, or the stored one of that name."""
    if file := arguments.value("-f"):
        return yaml.safe_load((folder / file).read_text())
    name, namespace = arguments.names[0], arguments.namespace
    if "//" in name:
        namespace, name = name.split("//")
    elif "/" in name:
        resource, name = name.split("/")
        if resource not in ["template", "templates"]:
            raise Refused(f'error: unable to process invalid resource "{resource}"')
    status, _, body = server.ask("GET", f"{OPENSHIFT}/{namespace}/templates/{name}")
    if status == 404:
        raise Refused(f'error: template "{name}" could not be found')
    if status != 200:
        raise Failure(f"GET {name}: {status} {body!r}")
    return json.loads(body)


def printed(answer, arguments):
    objects = json.loads(answer, parse_float=Number, parse_int=Number)["objects"] or []
    form = arguments.value("-o", "json")
    if "--raw" in arguments.flags:
        return "".join(indented(item) + "\n" for item in objects)
    if form == "json":
        return indented({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": objects}) + "\n"
    if form == "name":
        return "".join(f"{kind(item)}/{item['metadata']['name']}\n" for item in objects)
    if form == "yaml":
        plain = json.loads(answer)["objects"]
        return as_yaml({"apiVersion": "v1", "items": plain, "kind": "List", "metadata": {}})
    if form == "jsonpath={.items[*].kind}":
        return " ".join(item["kind"] for item in objects)
    raise Refused(f"no such form: {form}")


class Quoted(yaml.SafeDumper):
    """Writes a text that YAML would read as another type in double quotes, as Go does."""

    def text(self, data):
        is_text = self.resolve(yaml.ScalarNode, data, (True, False)) == "tag:yaml.org,2002:str"
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=None if is_text else '"')


Quoted.add_representer(str, Quoted.text)


def as_yaml(value):
    return yaml.dump(value, Dumper=Quoted, sort_keys=True, default_flow_style=False)


def kind(item):
    group = item["apiVersion"].rpartition("/")[0]
    return item["kind"].lower() + (f".{group}" if group else "")


class Number:
    """A number as it is spelled."""

    def __init__(self, digits):
        self.digits = digits


def indented(value, depth=0):
    """JSON as Go's `json.MarshalIndent` with four spaces prints it."""
    inner, outer = "\n" + " " * 4 * (depth + 1), "\n" + " " * 4 * depth
    if isinstance(value, Number):
        return value.digits
    if isinstance(value, dict) and value:
        entries = (f"{quoted(key)}: {indented(entry, depth + 1)}" for key, entry in value.items())
        return "{" + ",".join(inner + entry for entry in entries) + outer + "}"
    if isinstance(value, list) and value:
        return "[" + ",".join(inner + indented(item, depth + 1) for item in value) + outer + "]"
    return quoted(value)


def quoted(value):
    text = json.dumps(value, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def create(server, arguments, folder):
    """`oc create -f FILE`; it reads the mapping of kinds first, so `v1` Templates are not sent."""
    file = arguments.value("-f")
    template = yaml.safe_load((folder / file).read_text())
    name = template["metadata"]["name"]
    if template["apiVersion"] == "v1":
        raise Refused(
            f'error: resource mapping not found for name: "{name}" namespace: "" from "{file}": '
            'no matches for kind "Template" in version "v1"\nensure CRDs are installed first'
        )
    query = "?fieldManager=kubectl-create&fieldValidation=Strict"
    status, _, body = server.ask("POST", f"{OPENSHIFT}/{arguments.namespace}/templates{query}", template)
    if status != 201:
        failure = json.loads(body)
        raise Refused(
            f'Error from server ({failure["reason"]}): error when creating "{file}": {failure["message"]}'
        )
    return f"template.template.openshift.io/{name} created\n"


def get(server, arguments, _):
    """`oc get templates`, `oc get template NAME -o yaml`."""
    path = f"{OPENSHIFT}/{arguments.namespace}/templates"
    if arguments.value("-o") == "yaml":
        status, _, body = server.ask("GET", f"{path}/{arguments.names[1]}")
        template = json.loads(body)
        template["metadata"].pop("managedFields", None)
        return as_yaml(template)
    everywhere = "-A" in arguments.flags
    if everywhere:
        path = "/apis/template.openshift.io/v1/templates"
    status, _, body = server.ask("GET", path, headers=TABLE)
    table = json.loads(body)
    if status != 200 or table["kind"] != "Table":
        raise Failure(f"GET {path} as a Table: {status} {body!r}")
    shown = [index for index, column in enumerate(table["columnDefinitions"]) if not column.get("priority")]
    rows = [[table["columnDefinitions"][index]["name"].upper() for index in shown]]
    for row in table["rows"]:
        rows.append([str(row["cells"][index]) for index in shown])
    if everywhere:
        rows[0].insert(0, "NAMESPACE")
        for row, entry in zip(rows[1:], table["rows"]):
            row.insert(0, entry["object"]["metadata"]["namespace"])
    if len(rows) == 1:
        raise NothingFound(f"No resources found in {arguments.namespace} namespace.")
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("   ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)
    return "".join(line + "\n" for line in lines)


def delete(server, arguments, _):
    """`oc delete template NAME`, `oc delete templates --all`."""
    path = f"{OPENSHIFT}/{arguments.namespace}/templates"
    names = arguments.names[1:]
    if "--all" in arguments.flags:
        listed = json.loads(server.ask("GET", path)[2])
        names = [item["metadata"]["name"] for item in listed["items"]]
    for name in names:
        status, _, body = server.ask("DELETE", f"{path}/{name}", {"propagationPolicy": "Background"})
        if status != 200:
            raise Failure(f"DELETE {name}: {status} {body!r}")
    return "".join(f'template.template.openshift.io "{name}" deleted\n' for name in names)


def patch(server, arguments, _):
    """`oc patch template NAME -p PATCH`, a strategic merge patch."""
    change = {"Content-Type": "application/strategic-merge-patch+json"}
    return changed(server, arguments, json.loads(arguments.value("-p")), change, "patched")


def label(server, arguments, _):
    """`oc label template NAME KEY=VALUE`, a merge patch."""
    key, value = arguments.names.pop().split("=")
    change = {"Content-Type": "application/merge-patch+json"}
    return changed(server, arguments, {"metadata": {"labels": {key: value}}}, change, "labeled")


def changed(server, arguments, body, headers, done):
    name = arguments.names[1]
    path = f"{OPENSHIFT}/{arguments.namespace}/templates/{name}"
    status, _, answer = server.ask("PATCH", path, body, headers)
    if status != 200:
        raise Failure(f"PATCH {name}: {status} {answer!r}")
    return f"template.template.openshift.io/{name} {done}\n"
