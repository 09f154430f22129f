"""The owners of fields: `metadata.managedFields`, and server-side apply.

A set of fields is a set of paths. A path is a tuple of `f:NAME`, of `k:KEYS` for an item of a list
with keys, and of `v:VALUE` for an item of a set, as in `fieldsV1`.
"""

import copy
import json

# What belongs to the server, and to no manager.
SYSTEM = ["apiVersion", "kind"]
SYSTEM_METADATA = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp", "generation"]
SYSTEM_METADATA += ["managedFields", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"]

# The keys of lists in objects of Kubernetes, by the last names of their path; other lists are one value.
KEYS = {
    ("containers",): ["name"],
    ("initContainers",): ["name"],
    ("containers", "env"): ["name"],
    ("containers", "ports"): ["containerPort", "protocol"],
    ("containers", "volumeMounts"): ["mountPath"],
    ("template", "spec", "volumes"): ["name"],
    ("spec", "ports"): ["port", "protocol"],
    ("metadata", "ownerReferences"): ["uid"],
}
SETS = [("metadata", "finalizers")]
DEFAULTS = {"protocol": "TCP"}


class Conflict(Exception):
    """Fields that other managers own and an applied object changes."""

    def __init__(self, conflicts):
        super().__init__()
        self.causes = [
            {"reason": "FieldManagerConflict", "message": f"conflict with {manager}", "field": shown(path)}
            for manager, paths in conflicts
            for path in paths
        ]
        if len(self.causes) == 1:
            self.message = f"Apply failed with 1 conflict: {self.causes[0]['message']}: {self.causes[0]['field']}"
        else:
            listed = [
                f"conflicts with {manager}:\n" + "\n".join(f"- {shown(path)}" for path in paths)
                for manager, paths in conflicts
            ]
            self.message = f"Apply failed with {len(self.causes)} conflicts: " + "\n".join(listed)


class Untyped(Exception):
    """A field that a schema does not have, or a value of another type."""


class Types:
    """How values are merged: by the schema of a CustomResourceDefinition, or by the tables above."""

    def __init__(self, resource):
        self.schema = resource.schema

    def keys(self, path, schema):
        """The keys of a list; `set` for one of plain values; `None` if it is one value."""
        names = tuple(part[2:] for part in path if part.startswith("f:"))
        if names[-2:] in SETS:
            return "set"
        if self.schema is not None and names[:1] != ("metadata",):
            kind = (schema or {}).get("x-kubernetes-list-type")
            return {"map": (schema or {}).get("x-kubernetes-list-map-keys"), "set": "set"}.get(kind)
        for length in (3, 2, 1):
            if names[-length:] in KEYS and len(names) >= length:
                return KEYS[names[-length:]]
        return None

    def is_one(self, schema):
        """Whether a map is one value."""
        return (schema or {}).get("x-kubernetes-map-type") == "atomic"

    def inner(self, schema, name):
        if schema is None:
            return None
        properties, more = schema.get("properties", {}), schema.get("additionalProperties")
        if name in properties:
            return properties[name]
        return more if isinstance(more, dict) else None

    def check(self, value):
        """Refuses what a schema does not know."""
        if self.schema is None:
            return
        for name, field in value.items():
            if name in ["apiVersion", "kind", "metadata"]:
                continue
            self.check_field(self.schema, name, field, "")

    def check_field(self, schema, name, value, path):
        path = f"{path}.{name}"
        inner = self.inner(schema, name)
        if inner is None:
            if schema.get("x-kubernetes-preserve-unknown-fields"):
                return
            raise Untyped(f"{path}: field not declared in schema")
        self.check_value(inner, value, path)

    def check_value(self, schema, value, path):
        kinds = {"string": str, "integer": int, "boolean": bool, "object": dict, "array": list}
        kind = kinds.get(schema.get("type"))
        if value is None:
            return
        if kind and (not isinstance(value, kind) or (kind is not bool and isinstance(value, bool))):
            word = {True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else value
            raise Untyped(f"{path}: expected {schema['type']}, got &value.valueUnstructured{{Value:{word}}}")
        if isinstance(value, dict) and not schema.get("x-kubernetes-preserve-unknown-fields"):
            for name, field in value.items():
                self.check_field(schema, name, field, path)
        if isinstance(value, list):
            for index, item in enumerate(value):
                self.check_value(schema.get("items", {}), item, f"{path}[{index}]")


def key_of(item, keys):
    if keys == "set":
        return "v:" + json.dumps(item)
    found = {key: item.get(key, DEFAULTS.get(key)) for key in keys}
    return "k:" + json.dumps({key: value for key, value in found.items() if value is not None}, separators=(",", ":"))


def entries(types, path, value, schema):
    """The fields of a map or the items of a list, with the schema of each; `None` for one value."""
    if isinstance(value, dict) and not types.is_one(schema):
        return {f"f:{name}": (inner, types.inner(schema, name)) for name, inner in value.items()}
    if isinstance(value, list):
        keys = types.keys(path, schema)
        if keys:
            return {key_of(item, keys): (item, (schema or {}).get("items")) for item in value}
    return None


def is_system(path):
    if len(path) == 1:
        return path[0][2:] in [*SYSTEM, "metadata"]
    return path[0] == "f:metadata" and path[1][2:] in SYSTEM_METADATA


def fields(types, value, path=(), schema=None):
    """The paths of an object that a manager owns who applies it."""
    found = set()
    inside = entries(types, path, value, schema)
    if path and (not inside or not path[-1].startswith("f:")):
        found.add(path)
    for part, (inner, its) in (inside or {}).items():
        found |= fields(types, inner, (*path, part), its)
    return {path for path in found if not is_system(path)}


def leaves(types, value, path=(), schema=None):
    """All paths of an object with their values; a map or list with parts has none of its own."""
    inside = entries(types, path, value, schema)
    found = {} if not path else {path: value if not inside else ...}
    for part, (inner, its) in (inside or {}).items():
        found |= leaves(types, inner, (*path, part), its)
    return found


def changed(types, before, after):
    """The paths that have another value, the new ones, and those that are gone."""
    schema = types.schema
    old, new = leaves(types, before, (), schema), leaves(types, after, (), schema)
    changed = {path for path in new if path in old and old[path] is not ... and old[path] != new[path]}
    changed |= {path for path in new if path in old and old[path] is ... and new[path] is not ... and new[path]}
    added = {path for path in new if path not in old}
    gone = {path for path in old if path not in new}
    return [{path for path in paths if not is_system(path)} for paths in (changed, added, gone)]


def merged(types, live, applied, path=(), schema=None):
    """The live value with the applied one in it."""
    if isinstance(live, dict) and isinstance(applied, dict) and not types.is_one(schema):
        result = dict(live)
        for name, inner in applied.items():
            part, its = (*path, f"f:{name}"), types.inner(schema, name)
            result[name] = merged(types, live[name], inner, part, its) if name in live else copy.deepcopy(inner)
        return result
    keys = types.keys(path, schema) if isinstance(live, list) and isinstance(applied, list) else None
    if not keys:
        return copy.deepcopy(applied)
    its = (schema or {}).get("items")
    new = {key_of(item, keys): item for item in applied}
    old = {key_of(item, keys): item for item in live}
    result = {key: item for key, item in old.items()}
    for key, item in new.items():
        result[key] = merged(types, old[key], item, (*path, key), its) if key in old else copy.deepcopy(item)
    return list(result.values())


def with_parents(paths):
    return {path[:length] for path in paths for length in range(1, len(path) + 1)}


def pruned(types, value, gone, path=(), schema=None):
    """The value without some paths and what is in them."""
    inside = entries(types, path, value, schema)
    if inside is None:
        return value
    kept = {
        part: pruned(types, inner, gone, (*path, part), its)
        for part, (inner, its) in inside.items()
        if (*path, part) not in gone
    }
    return {part[2:]: inner for part, inner in kept.items()} if isinstance(value, dict) else list(kept.values())


def decoded(tree, path=()):
    found = set()
    for part, inner in tree.items():
        if part == ".":
            found.add(path)
        else:
            found |= decoded(inner, (*path, part)) if inner else {(*path, part)}
    return found


def encoded(paths):
    tree = {}
    for path in sorted(paths):
        at = tree
        for part in path:
            at = at.setdefault(part, {})
        at["."] = {}

    def tidy(at):
        if list(at) == ["."]:
            return {}
        return {part: tidy(at[part]) if part != "." else {} for part in sorted(at)}

    return tidy(tree)


def managers_of(value):
    found = {}
    for entry in (value or {}).get("metadata", {}).get("managedFields", []):
        version = entry["apiVersion"] if entry["operation"] == "Update" else ""
        found[entry["manager"], entry["operation"], version] = [decoded(entry["fieldsV1"]), entry["time"], entry["apiVersion"]]
    return found


def write_managers(value, managers):
    listed = [
        {
            "manager": manager,
            "operation": operation,
            "apiVersion": version,
            "time": time,
            "fieldsType": "FieldsV1",
            "fieldsV1": encoded(paths),
        }
        for (manager, operation, _), (paths, time, version) in managers.items()
        if paths
    ]
    listed.sort(key=lambda entry: (entry["operation"], entry["time"], entry["manager"]))
    value["metadata"].pop("managedFields", None)
    if listed:
        value["metadata"]["managedFields"] = listed


def shown(path):
    text = ""
    for part in path:
        if part.startswith("f:"):
            text += f".{part[2:]}"
        elif part.startswith("v:"):
            text += f"[={part[2:]}]"
        else:
            keys = json.loads(part[2:])
            text += "[" + ",".join(f"{key}={json.dumps(value)}" for key, value in keys.items()) + "]"
    return text


def ordered(paths):
    """Paths as a set of kube-apiserver lists them: at each level first the members, then what is in others."""
    members = sorted(path[0] for path in paths if len(path) == 1)
    inner = {}
    for path in paths:
        if len(path) > 1:
            inner.setdefault(path[0], set()).add(path[1:])
    return [(part,) for part in members] + [(part, *rest) for part in sorted(inner) for rest in ordered(inner[part])]


def apply(resource, live, applied, manager, force, time):
    """What an applied object makes of the live one."""
    types = Types(resource)
    types.check(applied)
    schema = types.schema
    before = live or {"metadata": {}}
    managers = managers_of(live)
    id = manager, "Apply", ""
    last = managers.pop(id, [set(), None, None])
    own = fields(types, applied, (), schema)

    base = {**before, "metadata": {k: v for k, v in before["metadata"].items() if k != "managedFields"}}
    body = copy.deepcopy(applied)
    for name in ["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"]:
        body.get("metadata", {}).pop(name, None)
    value = merged(types, base, body, (), schema)
    others = set().union(*(paths for paths, _, _ in managers.values())) if managers else set()
    gone = with_parents(last[0]) - with_parents(own | others)
    value = pruned(types, value, gone, (), schema)

    altered, added, removed = changed(types, base, value)
    conflicts = []
    for (name, operation, version), (paths, _, _) in sorted(managers.items()):
        if found := paths & (altered | added):
            text = json.dumps(name) + (f" using {version}" if operation == "Update" else "")
            conflicts.append((text, ordered(found)))
    if conflicts and not force:
        raise Conflict(conflicts)
    for entry in managers.values():
        entry[0] = entry[0] - altered - added - removed
    is_same = base == value
    managers[id] = [own, last[1] if is_same and last[1] and last[0] == own else time, resource.api_version]
    write_managers(value, managers)
    return value


def updated(resource, live, value, manager, time):
    """The managers after a write that is no apply."""
    types = Types(resource)
    managers = managers_of(live)
    altered, added, removed = changed(types, live or {"metadata": {}}, value)
    for entry in managers.values():
        entry[0] = entry[0] - altered - added - removed
    if altered | added:
        id = manager, "Update", resource.api_version
        known = managers.get(id, [set(), None, None])[0]
        managers[id] = [known | altered | added, time, resource.api_version]
    write_managers(value, managers)
    return value


def merge_patch(live, patch):
    """RFC 7386."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = copy.deepcopy(live) if isinstance(live, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merge_patch(result.get(name), value)
    return result
