"""Makes up trees of Kustomizations: bases, overlays, Components, and their files, the same for the same seed."""
import copy
import json
import random
import re

import objects as made_up
import written

CLUSTER = {
    "Namespace", "ClusterRole", "ClusterRoleBinding", "PriorityClass", "StorageClass", "IngressClass", "PersistentVolume",
    "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "APIService", "CustomResourceDefinition",
}
UNRENAMED = {"Namespace", "CustomResourceDefinition", "APIService"}
SCALED = ("Deployment", "StatefulSet", "ReplicaSet")
TEXTS = ["changed", "a b", "0644", "yes", "1.10", "", "a: b", "x" * 90, "two\nlines\n", "é", "# no comment", "12e3", "null", "~", "- a", "@x"]
KEYS = ("name", "containerPort", "port", "protocol", "mountPath", "key", "topologyKey", "ip", "type")  # of items of lists
LABELS = {"team": "a", "app.example.com/part": "b", "app": "c", "tier": "yes", "version": "1.10"}


class Known:
    """An object as far as fields of overlays need it: as it was written, and the names that it got."""

    def __init__(self, body):
        self.body, self.kind = copy.deepcopy(body), body["kind"]
        metadata = body["metadata"]
        self.names, self.namespaces = [metadata["name"]], [metadata.get("namespace")]
        group, _, self.version = body.get("apiVersion", "").rpartition("/")
        self.group = group

    def renamed(self, prefix, suffix):
        if self.kind not in UNRENAMED:
            self.names.append(prefix + self.names[-1] + suffix)

    def moved(self, namespace):
        if self.kind not in CLUSTER:
            self.namespaces.append(namespace)


class Tree:
    """Files by their path; those of mappings are Kustomizations. `root` is the directory to build."""

    def __init__(self, seed, real=()):
        self.dice = random.Random(seed)
        self.files, self.count, self.comments, self.variables = {}, 0, [], []
        # The kinds of what patches remove, with the name or the keys of a field: what comes there later is new.
        self.removed = set()
        # The objects of files, and the kinds of those with labels or annotations that are null.
        self.bodies, self.nulled = [], set()
        self.real = real
        self.namespaces = set()
        self.root, _ = self.directory(self.dice.choice([0, 1, 1, 2, 2, 3]))

    def maybe(self, chance=0.5):
        return self.dice.random() < chance

    def some(self, chance=0.5, **fields):
        return {key: value for key, value in fields.items() if self.maybe(chance)}

    def pick(self, values, most=2):
        values = list(values)
        return self.dice.sample(values, min(len(values), self.dice.randint(1, most)))

    def number(self, word):
        self.count += 1
        return f"{word}{self.count}"

    def write(self, place, name, text):
        """A file beside a Kustomization, sometimes in a folder; its path from there."""
        name = self.dice.choice(["", "", "more/"]) + name
        self.files[f"{place}/{name}"] = text
        return name

    def document(self, value, is_object=False):
        self.bodies += [value] if is_object else []
        return written.Writer(self.dice, self.comments).document(value, is_object)

    def inline(self, value):
        return self.dice.choice([json.dumps, self.document])(value)

    # Directories

    def directory(self, depth, changed=None):
        """Adds a directory: its path, and its objects. A Component changes those that are there, too."""
        is_component = changed is not None
        place = self.number("component" if is_component else "overlay" if depth else "base")
        objects = changed if is_component else []
        fields = {"resources": []}
        for _ in range(self.dice.choice([1, 1, 1, 2]) if depth else 0):
            path, below = self.directory(depth - 1)
            fields["resources"].append(f"../{path}")
            objects += below
        if depth == 1 and self.real and self.maybe(0.7):
            path, below = self.dice.choice(self.real)
            fields["resources"].append(f"../../{path}")
            objects += map(Known, below)
        if not depth and (not is_component or self.maybe(0.3)) or self.maybe(0.3):
            objects += self.resources(place, fields)
        self.tables(place, fields)
        self.generators(place, fields, objects)
        if objects and self.maybe(0.1 if is_component else 0.3):
            path, _ = self.directory(0, objects)
            adds = set(next(content for file, content in self.files.items() if file.startswith(path) and isinstance(content, dict)))
            is_twice = not adds & {"resources", "generators", "configMapGenerator", "secretGenerator", "vars"} and self.maybe(0.2)
            fields["components"] = [f"../{path}"] * (1 + is_twice)
        self.transformers(place, fields, objects)
        if not fields["resources"]:
            del fields["resources"]
        head = {}
        if is_component or self.maybe():
            kind, version = ("Component", "v1alpha1") if is_component else ("Kustomization", "v1beta1")
            head = {"apiVersion": f"kustomize.config.k8s.io/{version}", "kind": kind}
        keys = list(fields)
        if self.maybe(0.3):
            self.dice.shuffle(keys)
        name = self.dice.choice(["kustomization.yaml"] * 8 + ["kustomization.yml", "Kustomization"])
        self.files[f"{place}/{name}"] = {**head, **{key: fields[key] for key in keys}} or {"resources": []}
        return place, objects

    def resources(self, place, fields):
        if self.real and self.maybe(0.3):
            bodies = self.pick(self.dice.choice(self.real)[1], 6)
        else:
            bodies = made_up.package(self.dice.randrange(10**6), str(self.count))
            bodies = self.pick(bodies, 14) + self.special()
        bodies = [one for one in bodies if not (one["kind"] == "Namespace" and self.known_namespace(one))]
        bodies = [self.decorated(one) for one in bodies]
        while bodies:
            part = bodies[: self.dice.randint(1, 8)]
            bodies = bodies[len(part):]
            name = self.number("file") + self.dice.choice([".yaml", ".yaml", ".yml", ".json" if len(part) == 1 else ".yaml"])
            text = json.dumps(part[0], indent=2) if name.endswith("json") else self.stream(part)
            fields["resources"].insert(self.dice.randint(0, len(fields["resources"])), self.write(place, name, text))
            yield from map(Known, part)

    def known_namespace(self, body):
        name = body["metadata"]["name"]
        known = name in self.namespaces
        self.namespaces.add(name)
        return known

    def decorated(self, body):
        """With a label or an annotation of any text, and the value of a variable."""
        body = json.loads(json.dumps(body))
        metadata = body["metadata"]
        if self.maybe(0.3):
            annotations = metadata["annotations"] = dict(metadata.get("annotations") or {})
            annotations[self.number("made.example.com/text")] = self.dice.choice(TEXTS)
        for container in containers(body):
            if self.maybe(0.1):
                container["args"] = ["--value", f"$(VAR{self.dice.randint(1, 4)})", "$$(VAR1)"]
        if self.maybe(0.05):
            value, field = self.dice.choice([{}, {}, None]), self.dice.choice(["labels", "annotations"])
            metadata[field] = value
            if value is None:
                self.nulled.add((body["kind"], field))
        return body

    def special(self):
        """Custom kinds, and objects without what others have."""
        name = self.number("special")
        some = [
            {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name},
             "spec": {"image": "nginx:1.27", "replicas": 2, "list": [{"name": "a", "x": 1}, {"name": "b"}],
                      "template": {"metadata": {"labels": {"app": "w"}}, "spec": {"containers": [{"name": "c", "image": "busybox:1"}]}},
                      "selector": {"matchLabels": {"app": "w"}}, "ref": {"name": "web1-settings"}, "empty": {}}},
            {"apiVersion": "example.com/v1beta1", "kind": "Widget", "metadata": {"name": name + "-b"}, "spec": {"text": "a\n  b\n", "keep": "x \n"}},
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a.conf": "x = 1\ny = $(VAR1)\n\n", "b": "true", "c": " lead\nx"},
             "binaryData": {"d": "AAEC"}},
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name + "-l", "annotations": {"config.kubernetes.io/local-config": "true"}}},
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {"template": {"spec": {"containers": [
                {"name": "c", "image": "nginx@sha256:" + "1" * 64, "envFrom": [{"configMapRef": {"name": name}}], "resources": {"limits": {"cpu": 1, "memory": "1Gi"}}}]}}}},
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "type": "kubernetes.io/tls", "data": {"tls.crt": "YQ==", "tls.key": "Yg=="}},
            {"apiVersion": "flowcontrol.apiserver.k8s.io/v1beta1", "kind": "PriorityLevelConfiguration", "metadata": {"name": name}, "spec": {"type": "Exempt"}},
            {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": name}, "spec": {"limits": [{"type": "Pod", "max": {"cpu": "2"}}]}},
        ]
        return self.pick(some, 3)

    def stream(self, bodies):
        if self.maybe(0.08):
            return self.document({"apiVersion": "v1", "kind": "List", "items": bodies})
        texts = [self.document(one, True) for one in bodies]
        between = ["---\n"] * 6 + ["---\n---\n", "--- # next\n", "---\n# only a comment\n---\n", "---\nnull\n---\n"]
        first = self.dice.choice(["", "", "---\n", "# at the top\n", "# at the top\n---\n"])
        return first + "".join(text + self.dice.choice(between) for text in texts[:-1]) + texts[-1]

    # Tables and generators

    def tables(self, place, fields):
        if self.maybe(0.12):
            entries = {
                "nameReference": [{"kind": "ConfigMap", "version": "v1", "fieldSpecs": [
                    {"kind": "Widget", "path": "spec/ref/name"}, {"kind": "Thing", "path": "spec/configMapRef/name"}]}],
                "varReference": [{"kind": "ConfigMap", "path": "data"}, {"path": "spec/text", "kind": "Widget"}],
                "commonLabels": [{"kind": "Widget", "path": "spec/selector/matchLabels", "create": True},
                                 {"kind": "Widget", "path": "spec/template/metadata/labels", "group": "example.com"}],
                "commonAnnotations": [{"kind": "Widget", "path": "spec/template/metadata/annotations", "create": True}],
                "namePrefix": [{"kind": "Widget", "path": "spec/ref/name"}],
                "nameSuffix": [{"kind": "Widget", "path": "spec/list/name"}],
                "namespace": [{"kind": "Widget", "path": "spec/namespace", "create": True}],
                "images": [{"kind": "Widget", "path": "spec/image"}, {"path": "spec/image", "kind": "Thing"}],
                "replicas": [{"kind": self.dice.choice(["Widget", "Thing"]), "path": "spec/replicas", "create": True}],
                "labels": [{"kind": "Widget", "path": "spec/labels", "create": True}],
                "templateLabels": [{"kind": "Widget", "path": "spec/template/metadata/labels"}],
            }
            keys = self.pick(entries, 3)
            fields["configurations"] = [self.write(place, self.number("table") + ".yaml", self.document({key: entries[key] for key in keys}))]
        if self.maybe(0.04):
            properties = {"ref": {"x-kubernetes-object-ref-api-version": "v1", "x-kubernetes-object-ref-kind": "ConfigMap",
                                  "properties": {"name": {"type": "string"}}}}
            types = {"example.com/v1.Widget": {"Schema": {"properties": {
                "kind": {}, "apiVersion": {}, "metadata": {}, "spec": {"$ref": "example.com/v1.WidgetSpec"}}}},
                "example.com/v1.WidgetSpec": {"Schema": {"properties": properties}}}
            fields["crds"] = [self.write(place, self.number("types") + ".json", json.dumps(types))]
        # In a base, it depends on what was read before whether the schema that is built in stays.
        if place in ("base1", "overlay1") and self.maybe(0.05):
            merged = {"type": "array", "items": {"type": "object"}, "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"}
            definitions = {"v1.Widget": {"properties": {"spec": {"properties": {"list": merged}}},
                           "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Widget"}]}}
            fields["openapi"] = {"path": self.write(place, self.number("schema") + ".json", json.dumps({"definitions": definitions}))}

    def generators(self, place, fields, objects):
        options = {
            "disableNameSuffixHash": True, "labels": {"made": "here"}, "annotations": {"made.example.com/by": "a generator"}, "immutable": True,
        }
        if self.maybe(0.15):
            fields["generatorOptions"] = self.some(0.4, **options)
        for field, kind in (("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")):
            if not self.maybe(0.3):
                continue
            fields[field] = made = []
            there = [one for one in objects if one.kind == kind and one.body.get("is generated")]
            for _ in range(self.dice.randint(1, 2)):
                one = self.generated(place, kind, options)
                if there and self.maybe(0.6):
                    of = there.pop(self.dice.randrange(len(there)))
                    at = self.dice.choice([0, -1])
                    one["name"], one["behavior"] = of.names[at], self.dice.choice(["merge", "replace"])
                    one.update({"namespace": of.namespaces[at]} if of.namespaces[at] else {})
                else:
                    names = [name for used in objects for name in names_used(used.body, kind)]
                    known = {name for other in objects for name in other.names if other.kind == kind}
                    names = sorted(set(names) - known)
                    one["name"] = self.dice.choice(names) if names and self.maybe(0.7) else self.number("generated")
                    if one["name"] in {other["name"] for other in made}:
                        continue
                    one.update(self.some(0.1, behavior="create", namespace="one"))
                    body = {"apiVersion": "v1", "kind": kind, "is generated": True, "metadata": {"name": one["name"]}}
                    if "namespace" in one:
                        body["metadata"]["namespace"] = one["namespace"]
                    objects.append(Known(body))
                made.append(one)
        if self.maybe(0.08):
            name = self.number("plugin")
            fields["generators"] = [self.plugin(place, {
                "apiVersion": "builtin", "kind": self.dice.choice(["ConfigMapGenerator", "SecretGenerator"]),
                "metadata": {"name": name, **self.some(0.2, namespace="one")},
                "literals": ["A=1"], **self.some(0.3, options={"disableNameSuffixHash": True}),
            })]

    def generated(self, place, kind, options):
        """Keys are others for each, so that merging works."""
        one = {"name": ""}
        key = self.number("KEY")
        literals = [f"{key}=1", f"{key}B='a b'", f"{key}C=x=y", f'{key}D="q"', f"{key}E= s ", f"{key}F="]
        one.update(self.some(0.5, literals=self.pick(literals, 3)))
        if self.maybe(0.4):
            text = self.dice.choice(["a: 1\nb:\n- c\n", "no line break", "tab\there\n", "x \ny\n", "é\n", "", "\n\nz\n\n", " lead\n", "a\r\nb\r\n"])
            name = self.write(place, self.number("content") + ".txt", text)
            one["files"] = [self.dice.choice([name, f"{key}.named={name}"])]
        if self.maybe(0.25):
            name = self.write(place, self.number("content") + ".env", f"# comment\n{key}G=1\n\n  {key}H=two words\n{key}I=\n{key}J=\"q\" # x\n")
            one["envs"] = [name]
        if self.maybe(0.2):
            one["options"] = self.some(0.4, **options)
        if kind == "Secret":
            one.update(self.some(0.2, type="example.com/kind"))
        return one

    # Transformers

    def transformers(self, place, fields, objects):
        """One after the other in the order of kustomize, as each may change what the next finds."""
        patches = [self.patch(objects) for _ in range(self.dice.choice([0, 0, 1, 2, 3]))]
        for patch in filter(None, patches):
            self.add_patch(place, fields, patch)
        objects[:] = [one for one in objects if one.body["metadata"]]
        if self.maybe(0.3) and are_distinct(objects):
            namespace = self.dice.choice(["one", "else", "third"])
            fields["namespace"] = namespace
            for one in objects:
                one.moved(namespace)
        prefix, suffix = self.dice.choice(["p-", "x.", "a1-"]) if self.maybe(0.25) else "", "-s" if self.maybe(0.15) else ""
        fields.update({"namePrefix": prefix} if prefix else {})
        fields.update({"nameSuffix": suffix} if suffix else {})
        if prefix or suffix:
            for one in objects:
                one.renamed(prefix, suffix)
        if self.maybe(0.3):
            fields["labels"] = [self.label() for _ in range(self.dice.randint(1, 2))]
        if self.maybe(0.12):
            fields["commonLabels"] = self.pairs(LABELS)
        if self.maybe(0.2):
            fields["commonAnnotations"] = self.pairs({"note": "0644", "a.example.com/text": "two\nlines", "b": "$(VAR1)", "c": "yes"})
        if objects and self.maybe(0.1):
            one = self.dice.choice(objects)
            target = {"version": one.version, "kind": one.kind, "name": one.names[-1], **self.some(group=one.group)}
            fields["patchesJson6902"] = [{"target": target, **self.path_or_text(place, "patch", self.operations(one))}]
        scaled = [one for one in objects if one.kind in SCALED]
        if scaled and self.maybe(0.25):
            fields["replicas"] = [{"name": one.names[-1], "count": self.dice.choice([0, 3])} for one in self.pick(scaled)]
        if self.maybe(0.25):
            fields["images"] = [self.image(objects) for _ in range(self.dice.randint(1, 2))]
        if objects and self.maybe(0.25):
            replacements = list(filter(None, (self.replacement(objects) for _ in range(self.dice.randint(1, 2)))))
            if replacements and self.maybe(0.3):
                replacements[0] = {"path": self.write(place, self.number("replacement") + ".yaml", self.document(replacements[0]))}
            fields["replacements"] = replacements
        if self.maybe(0.12):
            fields["transformers"] = [self.plugin(place, self.transformer(objects)) for _ in range(self.dice.randint(1, 2))]
        if objects and self.maybe(0.15):
            self.add_variables(fields, objects)
        fields.update(self.some(0.07, sortOptions=self.dice.choice([
            {"order": "fifo"}, {"order": "legacy"},
            {"order": "legacy", "legacySortOptions": {"orderFirst": ["Deployment"], "orderLast": ["ConfigMap", "Namespace"]}},
        ])))
        words = ["originAnnotations", "transformerAnnotations"]
        fields.update(self.some(0.05, buildMetadata=self.pick(words)))

    def pairs(self, values):
        return {key: values[key] for key in self.pick(values)}

    def label(self):
        form = self.dice.choice([{}, {"includeSelectors": True}, {"includeTemplates": True}, {"includeSelectors": False}])
        spec = {"path": "spec/labels", "kind": "Widget", "create": True}
        return {"pairs": self.pairs(LABELS), **form, **self.some(0.15, fields=[spec])}

    def image(self, objects):
        images = sorted({image for one in objects for image in find_images(one.body)})
        image = self.dice.choice(images or ["nginx"])
        name = re.sub(r"(@.*|:[^/:]*)$", "", image)
        return {"name": name, **self.dice.choice([
            {"newTag": "v2"}, {"newName": "example.com/other"}, {"newName": "other", "newTag": "1.10"}, {"digest": "sha256:" + "2" * 64},
            {"newTag": "v3", "digest": "sha256:" + "3" * 64}, {"newName": "registry.example.com:5000/a/b"},
        ])}

    def add_patch(self, place, fields, patch):
        target, content = patch
        options = self.some(0.1, options=self.some(allowNameChange=False, allowKindChange=False))
        if target is None and self.maybe(0.2):
            old = fields.setdefault("patchesStrategicMerge", [])
            old.append(self.write(place, self.number("patch") + ".yaml", self.document(content)) if self.maybe() else self.inline(content))
            return
        fields.setdefault("patches", []).append({
            **self.path_or_text(place, "patch", content), **({"target": target} if target is not None else {}), **options,
        })

    def path_or_text(self, place, key, content):
        if self.maybe():
            return {"path": self.write(place, self.number("patch") + ".yaml", self.document(content))}
        # A JSON patch that begins with `[` has to be JSON.
        return {key: self.inline(content) if isinstance(content, dict) else json.dumps(content)}

    def patch(self, objects):
        there = [one for one in objects if one.body["metadata"]]
        if not there:
            return None
        one = self.dice.choice(there)
        name = self.dice.choice([0, -1])
        if self.maybe(0.3):
            operations = self.operations(one)
            exact = {"kind": one.kind, "name": f"^{re.escape(one.names[name])}$"}
            return (exact if operations[0]["path"] != "/metadata/finalizers" else self.target(one, name)), operations
        content = self.strategic(one, name)
        return (self.target(one, name) if self.maybe(0.3) else None), content

    def target(self, one, name):
        regular = [re.escape(one.names[name]), ".*", one.names[name][:3] + ".*", f"({one.names[name]}|other)"]
        labels = one.body["metadata"].get("labels") or {}
        selector = self.dice.choice([f"{key}={value}" for key, value in labels.items() if re.fullmatch("[a-z0-9A-Z]+", str(value))] or ["app"])
        return {"kind": one.kind, **self.some(
            0.4, version=one.version, name=self.dice.choice([one.names[name]] + regular), labelSelector=selector,
            **({"group": one.group} if one.group else {}), **({"namespace": one.namespaces[-1]} if one.namespaces[-1] else {}),
        )}

    def strategic(self, one, name):
        metadata = {"name": one.names[name]}
        if one.namespaces[name]:
            metadata["namespace"] = one.namespaces[name]
        head = {"kind": one.kind, "metadata": metadata}
        if one.body.get("apiVersion"):
            head = {"apiVersion": one.body["apiVersion"], **head}
        if self.maybe(0.06):
            self.removed.add((one.kind, one.names[0]))
            one.body = {**one.body, "metadata": {}, "spec": {}}
            return {"$patch": "delete", **head}
        metadata.update(self.some(0.3, labels=self.pairs(LABELS), annotations={"patched": self.dice.choice(TEXTS)}))
        for _ in range(self.dice.randint(0, 2)):
            found = self.scalar(one.body)
            if found:
                value = None if self.maybe(0.15) and is_field(found[0]) else self.other(found[1])
                self.removed |= {(one.kind, *keys_of(found[0]))} if value is None else set()
                merge(head, nested(one.body, found[0], value))
                forget(one.body, found[0])
        if named(containers(one.body)) and one.group in ("apps", "batch") and self.maybe(0.6):
            first = {"name": containers(one.body)[0]["name"]}
            first.update(self.dice.choice([
                {"$patch": "delete"}, {"image": "patched:1"}, {"env": [{"name": "PLAIN", "value": "2"}, {"name": "NEW", "value": "x"}]},
                {"env": [{"name": "MAP", "$patch": "delete"}]}, {"command": None, "args": ["-v"]}, {"env": None},
                {"ports": [{"containerPort": 8080, "name": "web"}]}, {"volumeMounts": [{"mountPath": "/new", "name": "new"}]},
                {"resources": {"limits": {"memory": "1Gi"}}}, {"livenessProbe": {"exec": {"command": ["true"]}}},
            ]))
            spec = {"containers": self.dice.choice([[first], [{"name": "added", "image": "nginx"}, first]]), **self.some(
                0.2, volumes=[{"name": "new", "emptyDir": {}}], tolerations=[{"key": "a", "operator": "Exists"}],
                nodeSelector={"$patch": "replace", "disk": "ssd"}, serviceAccountName=None, imagePullSecrets=[{"name": "new"}],
            )}
            merge(head, {"spec": {"template": {"spec": spec}}})
            del one.body["spec"]["template"]
        return head

    def other(self, value):
        """A value of the same type."""
        if isinstance(value, bool):
            return not value
        if isinstance(value, (int, float)):
            return self.dice.choice([0, 7, 8080])
        return self.dice.choice(TEXTS + [f"$(VAR{self.dice.randint(1, 4)})"])

    def scalar(self, body, *, texts=False):
        """The path and the value of a scalar that is no identity."""
        found = [(path, value) for path, value in scalars(body) if not texts or isinstance(value, str)]
        return self.dice.choice(found) if found else None

    def operations(self, one):
        """A JSON patch."""
        operations = []
        for _ in range(self.dice.choice([1, 1, 2])):
            path, value = self.scalar(one.body) or (None, None)
            if path is None:
                return [{"op": "add", "path": "/metadata/finalizers", "value": ["a.example.com/b"]}]
            pointer = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
            parent = pointer.rpartition("/")[0]
            operations.append(self.dice.choice([
                {"op": "replace", "path": pointer, "value": self.other(value)},
                {"op": "replace", "path": pointer, "value": self.other(value) if path[0] != "spec" else {"a": [1, "b"]}},
                {"op": "add", "path": "/metadata/finalizers", "value": ["a.example.com/b"]},
                {"op": "add", "path": parent + ("/0" if isinstance(path[-1], int) else "/added"), "value": self.other(value)},
                {"op": "add", "path": pointer, "value": self.other(value)},
                {"op": "test", "path": pointer, "value": value} if path[0] == "data" else {"op": "test", "path": "/kind", "value": one.kind},
                {"op": "remove", "path": pointer},
                {"op": "copy", "from": pointer, "path": parent + ("/-" if isinstance(path[-1], int) else "/copied")},
                {"op": "move", "from": pointer, "path": parent + ("/0" if isinstance(path[-1], int) else "/moved")},
            ]))
            self.removed |= {(one.kind, *keys_of(path))} if operations[-1]["op"] in ("remove", "move") else set()
            forget(one.body, path)
        return operations

    def replacement(self, objects):
        source, other = self.dice.choice(objects), self.dice.choice(objects)
        found, place = self.scalar(source.body, texts=True), self.scalar(other.body, texts=True)
        if not (found and place):
            return None
        name = self.dice.choice([0, -1])
        select = {"kind": source.kind, "name": source.names[name], **self.some(0.3, version=source.version)}
        path = self.dice.choice([dotted(source.body, found[0]), "metadata.name", "metadata.name"])
        target = {"select": {"kind": other.kind, **self.some(name=other.names[self.dice.choice([0, -1])])}}
        target["fieldPaths"] = [self.dice.choice([dotted(other.body, place[0]), "metadata.annotations.copied", r"metadata.labels.a\.b/c"])]
        if "metadata" in target["fieldPaths"][0] or self.maybe(0.2):
            target["options"] = {"create": True}
        if self.maybe(0.3):
            target["options"] = {**target.get("options", {}), "delimiter": self.dice.choice(["-", "/", ":", "."]), "index": self.dice.choice([0, 0, 1, -1])}
        if self.maybe(0.2):
            target["reject"] = [{"name": self.dice.choice(objects).names[0]}]
        options = {"options": {"delimiter": "-", "index": 0}} if self.maybe(0.2) else {}
        return {"source": {**select, "fieldPath": path, **options}, "targets": [target]}

    def plugin(self, place, value):
        return self.write(place, self.number("plugin") + ".yaml", self.document(value)) if self.maybe(0.6) else self.inline(value)

    def transformer(self, objects):
        everywhere = [{"path": "metadata/name"}]
        choices = [
            {"kind": "PrefixTransformer", "prefix": "t-", "fieldSpecs": everywhere},
            {"kind": "SuffixTransformer", "suffix": "-t", "fieldSpecs": [{"path": "metadata/name", "kind": "ConfigMap"}]},
            {"kind": "LabelTransformer", "labels": self.pairs(LABELS), "fieldSpecs": [{"path": "metadata/labels", "create": True}]},
            {"kind": "AnnotationsTransformer", "annotations": {"by": "t"}, "fieldSpecs": [
                {"path": "metadata/annotations", "create": True}, {"path": "spec/template/metadata/annotations", "create": True, "kind": "Deployment"}]},
            {"kind": "ImageTagTransformer", "imageTag": self.image(objects), "fieldSpecs": [{"path": "spec/image"}]},
            {"kind": "NamespaceTransformer", "metadata": {"namespace": "moved"}, "fieldSpecs": [{"path": "metadata/namespace", "create": True}],
             **self.some(unsetOnly=True, setRoleBindingSubjects=self.dice.choice(["none", "defaultOnly", "allServiceAccounts"]))},
        ]
        if not are_distinct(objects):
            choices.pop()
        if objects:
            one = self.dice.choice(objects)
            choices += [
                {"kind": "PatchTransformer", "patch": json.dumps(self.strategic(one, -1)), **self.some(target=self.target(one, -1))},
                {"kind": "PatchJson6902Transformer", "jsonOp": json.dumps(self.operations(one)), "target": {"kind": one.kind, "name": one.names[-1], "version": one.version,
                 **({"group": one.group} if one.group else {})}},
                {"kind": "PatchStrategicMergeTransformer", "patches": json.dumps(self.strategic(one, -1))},
                {"kind": "ValueAddTransformer", "value": "added", "targets": [{"selector": {"kind": one.kind}, "fieldPath": "metadata/annotations/added"}]},
            ]
            replacement = self.replacement(objects)
            choices += [{"kind": "ReplacementTransformer", "replacements": [replacement]}] if replacement else []
        chosen = self.dice.choice(choices)
        for one in objects:
            if chosen["kind"] == "NamespaceTransformer":
                one.moved("moved")
            elif chosen["kind"] == "PrefixTransformer" or (chosen["kind"], one.kind) == ("SuffixTransformer", "ConfigMap"):
                one.renamed(chosen.get("prefix", ""), chosen.get("suffix", ""))
        return {"apiVersion": "builtin", **chosen, "metadata": {"name": self.number("it"), **chosen.get("metadata", {})}}

    def add_variables(self, fields, objects):
        for one in self.pick(objects):
            name = f"VAR{len(self.variables) + 1}"
            found = self.scalar(one.body) if self.maybe(0.4) else None
            reference = {"apiVersion": one.body.get("apiVersion"), "kind": one.kind, "name": one.names[self.dice.choice([0, -1])]}
            self.variables.append(name)
            variable = {"name": name, "objref": reference}
            if found and all(isinstance(step, str) and "." not in step for step in found[0]):
                variable["fieldref"] = {"fieldPath": ".".join(found[0])}
            fields.setdefault("vars", []).append(variable)


def are_distinct(objects):
    """Whether objects have different names without their namespaces."""
    return len({(one.kind, one.names[-1]) for one in objects}) == len(objects)


def scalars(value, path=()):
    if isinstance(value, dict):
        for key, below in value.items():
            if key not in ("name", "kind", "apiVersion", "is generated") and path + (key,) != ("metadata", "namespace"):
                yield from scalars(below, path + (key,))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from scalars(below, path + (index,))
    elif value is not None and path:
        yield path, value


def is_field(path):
    """Whether null removes it in all patches: no label, no annotation and no item."""
    return isinstance(path[-1], str) and path[-2:-1] not in (("labels",), ("annotations",))


def nested(body, path, value):
    """A patch that sets what is at a path: items are named, if they can be."""
    if not path:
        return value
    step, below = path[0], body[path[0]]
    if not isinstance(below, list):
        return {step: nested(below, path[1:], value)}
    if len(path) < 2:
        return {step: value}
    item = below[path[1]]
    keys = {key: item[key] for key in KEYS if key in item} if isinstance(item, dict) else {}
    return {step: [{**keys, **nested(item, path[2:], value)} if len(path) > 2 else value]}


def keys_of(path):
    """The keys of a path, without positions in lists."""
    return tuple(step for step in path if isinstance(step, str))


def forget(body, path):
    """Nothing else may name what may have gone."""
    for step in path[:-1]:
        body = body.get(step) if isinstance(body, dict) else body[step]
    if isinstance(body, dict):
        body.pop(path[-1], None)


def dotted(body, path):
    """A field path of replacements."""
    steps, value = [], body
    for step in path:
        item = value[step]
        if isinstance(step, int):
            steps.append(f"[name={item['name']}]" if isinstance(item, dict) and isinstance(item.get("name"), str) else str(step))
        else:
            steps.append(step.replace(".", r"\."))
        value = item
    return ".".join(steps)


def merge(into, patch):
    for key, value in patch.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value


def containers(body):
    spec = body.get("spec")
    template = spec.get("template") if isinstance(spec, dict) else None
    pod = template.get("spec") if isinstance(template, dict) else None
    return (pod.get("containers") if isinstance(pod, dict) else None) or []


def named(items):
    return items and isinstance(items[0], dict) and items[0].get("name")


def find_images(value):
    if isinstance(value, dict):
        if isinstance(value.get("image"), str) and not set(value["image"]) & set("$ *{}()"):
            yield value["image"]
        value = list(value.values())
    if isinstance(value, list):
        for below in value:
            yield from find_images(below)


def names_used(value, kind):
    """Names of ConfigMaps or Secrets in volumes and variables."""
    key = {"ConfigMap": "configMap", "Secret": "secret"}[kind]
    if isinstance(value, list):
        for item in value:
            yield from names_used(item, kind)
    elif isinstance(value, dict):
        for at, below in value.items():
            if at in (key, f"{key}KeyRef", f"{key}Ref") and isinstance(below, dict):
                name = below.get("name") or below.get("secretName")
                if isinstance(name, str) and re.fullmatch("[a-z0-9-]+", name):
                    yield name
            yield from names_used(below, kind)
