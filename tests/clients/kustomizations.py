"""Kustomizations that other programs take part in, and their edits, beside the newest kubectl.

helm is a script that writes down how it is called. git is real, and its repositories are local.
"""

import json
import re
import shutil
import textwrap

from delegation import FOLDER
from support import Failure, case, copy, same_text, write

STYLE = ["--style", "kustomize"]

# --- helm -------------------------------------------------------------------------

CHARTS = FOLDER / "called"
# The fields of a chart, one Kustomization each.
OBJECTS = "{b: {c: 3, m: 1, e: '', d: [9]}, g: q, h: false, z: 5, n1: {k: v, o: null}, a: null, l: {}}"
CALLS = [
    "helmCharts: [{name: shop}]",
    "namespace: here\nhelmCharts: [{name: shop, releaseName: one}]",
    "namespace: here\nhelmCharts: [{name: shop, namespace: own, version: '1'}]",
    "helmCharts: [{name: shop, repo: https://example.com/charts}]",
    "helmCharts: [{name: far, repo: https://example.com/charts, version: 1.2.3, devel: true}]",
    "helmCharts: [{name: far, repo: oci://example.com/charts/}]",
    "helmGlobals: {chartHome: charts/more, configHome: config}\n"
    "helmCharts: [{name: far, repo: oci://example.com/charts, version: '2'}]",
    "helmCharts: [{name: shop, includeCRDs: true, skipHooks: true, skipTests: true}]",
    "helmCharts: [{name: shop, debug: true, devel: true, nameTemplate: '{{ x }}'}]",
    "helmCharts: [{name: shop, apiVersions: [v1/A, v1/B], kubeVersion: '1.30'}]",
    "helmCharts: [{name: shop, valuesFile: own.yaml, additionalValuesFiles: [more.yaml, own.yaml]}]",
    *(
        f"helmCharts: [{{name: shop, {more} valuesInline: {OBJECTS}}}]"
        for more in ["", "valuesMerge: merge,", "valuesMerge: replace,", "valuesFile: own.yaml,"]
    ),
    "namespace: here\nnamePrefix: x-\nbuildMetadata: [originAnnotations]\nhelmCharts: [{name: shop}]",
    "namespace: here\ngenerators: ['{apiVersion: builtin, kind: HelmChartInflationGenerator,"
    " metadata: {name: g}, name: shop}']",
    "namespace: here\nhelmChartInflationGenerator:\n- {chartName: shop, releaseName: r, values: own.yaml,"
    " valuesLocal: {c: 2}, releaseNamespace: x, helmHome: home, extraArgs: [--x]}",
    "namespace: outer\nresources: [inner]",
    "namespace: outer\ncomponents: [component]",
]
OPTIONS = [
    [],
    ["--helm-api-versions", "v1/X", "--helm-api-versions", "v1/Y,v1/Z"],
    ["--helm-kube-version", "1.40", "--helm-debug"],
]


def calls(folder):
    """How helm was called: its arguments and its own variables, with the values that it was given."""
    log = folder / "bin/log"
    text = log.read_text()
    log.unlink()
    text = re.sub(r"/\S*/(kustomize|krm-template)-helm-\w+", "TEMPORARY", text)
    text = re.sub(r"(shop|far)(-kustomize)?-values", r"\1-values", text)
    for pulled in ["charts/far", "charts/far-1.2.3", "charts/more"]:
        shutil.rmtree(folder / pulled, ignore_errors=True)
    # kubectl first asks for the version.
    return [call for call in text.split("--- call\n") if "[version]" not in call]


def read(clients, folder, call):
    """A call, with its values as JSON. kubectl drops those that are null."""

    def data(found):
        values = "kind: V\nmetadata: {name: v}\nv:\n" + textwrap.indent(found[0], "  ")
        write(folder / "read/values.yaml", values)
        read = clients.run("krm-template", "build", folder / "read", "-o", "json").stdout
        return json.dumps(without_nulls(json.loads(read)["items"][0].get("v")), sort_keys=True) + "\n"

    return re.sub(r"(?s)(?<=VALUES\n).*?\n(?=END\n)", data, call)


def without_nulls(value):
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    return value


@case("helm is called as kubectl calls it, for each field of a chart")
def helm(clients, place):
    folder = copy(CHARTS, place / "called")
    (folder / "read").mkdir()
    write(folder / "read/kustomization.yaml", "resources: [values.yaml]")
    kubectl = clients.kubectls[-1]
    command = ["--helm-command", folder / "bin/helm", "--enable-helm"]
    for kustomization in CALLS:
        write(folder / "kustomization.yaml", kustomization + "\nsortOptions: {order: fifo}\n")
        for options in OPTIONS:
            expected = clients.run(kubectl, "kustomize", folder, *command, *options)
            expected_calls = calls(folder)
            built = clients.run("krm-template", "build", folder, *STYLE, *command, *options)
            found_calls = calls(folder)
            same_text(built.stdout, expected.stdout, kustomization)
            for found, call in zip(found_calls, expected_calls, strict=True):
                expected_call = read(clients, folder, call).encode()
                same_text(read(clients, folder, found).encode(), expected_call, kustomization)


# --- git --------------------------------------------------------------------------

METADATA = "buildMetadata: [originAnnotations, transformerAnnotations]\n"


@case("Kustomizations of git repositories are built as by kubectl, and removed")
def git(clients, place):
    repository = copy(FOLDER / "repository", place / "repository")
    inner = copy(FOLDER / "repository/base", place / "inner")
    for one in [inner, repository]:
        clients.commit(one)
    clients.git(repository, "-c", "protocol.file.allow=always", "submodule", "add", f"file://{inner}", "sub")
    clients.git(repository, "commit", "--quiet", "--message", "with a submodule")
    clients.git(repository, "tag", "v1")
    (repository / "base/settings.yaml").write_text("")
    clients.commit(repository)
    clients.environment["TMPDIR"] = str(place / "tmp")
    clients.environment["GIT_ALLOW_PROTOCOL"] = "file"
    (place / "tmp").mkdir()
    (local := place / "local").mkdir()
    url = f"file://{repository}"
    for path in ["overlay", "base?ref=v1", "overlay?ref=v1", "sub?ref=v1"]:
        for field, of in [("resources", path), ("components", path.replace("overlay", "component"))]:
            if field == "components" and "component" not in of:
                continue
            write(local / "kustomization.yaml", f"{METADATA}namePrefix: l-\n{field}: ['{url}//{of}']\n")
            expected = clients.run(clients.kubectls[-1], "kustomize", local)
            built = clients.run("krm-template", "build", "--enable-git", local, *STYLE)
            same_text(built.stdout, expected.stdout, of)
        expected = clients.run(clients.kubectls[-1], "kustomize", f"{url}//{path}")
        built = clients.run("krm-template", "build", "--enable-git", f"{url}//{path}", *STYLE)
        same_text(built.stdout, expected.stdout, path)
    left = [file.name for file in (place / "tmp").iterdir()]
    if left:
        raise Failure(f"these stay: {left}")


# --- functions --------------------------------------------------------------------

FUNCTION = """\
apiVersion: example.com/v1
kind: Seen
metadata:
  name: seen
  annotations:
    config.kubernetes.io/function: |
      container: {image: %s%s}
"""
RUNS = [
    ("transformers", "", []),
    ("transformers", "", ["-e", "A=1", "--env", "B=2"]),
    ("transformers", ", envs: [A=3]", ["-e", "C"]),
    ("transformers", "", ["--mount", "type=bind,src=DIR,dst=/mnt"]),
    ("transformers", ", mounts: [{type: bind, src: ./data, dst: /mnt}]", []),
    ("transformers", "", ["--as-current-user"]),
    ("transformers", ", network: true", ["--network"]),
    ("generators", "", []),
]


@case("functions of a Kustomization see what they see with kubectl, in a container and as a program")
def functions(clients, place):
    image = "localhost/seen:dev"
    source = FOLDER / "seen"
    (context := place / "image").mkdir()
    clients.run("rustc", "-C", "target-feature=+crt-static", "-o", context / "seen", source / "seen.rs")
    shutil.copy(source / "Dockerfile", context)
    write(context / "passwd", "nobody:x:65534:65534::/:/\n")
    clients.run("docker", "build", "--quiet", "--tag", image, context)
    folder = copy(source / "app", place / "app")
    clients.environment["C"] = "outer"
    allowed = ["--enable-alpha-plugins"]
    for field, more, options in RUNS:
        options = [option.replace("DIR", str(folder / "data")) for option in options]
        write(folder / "seen.yaml", FUNCTION % (image, more))
        write(folder / "kustomization.yaml", f"resources: [pod.yaml]\n{field}: [seen.yaml]\n")
        expected = clients.run(clients.kubectls[-1], "kustomize", folder, *allowed, *options)
        built = clients.run("krm-template", "build", folder, *STYLE, *allowed, *options)
        same_text(built.stdout, expected.stdout, f"{field} {more} {options}")
        clients.run("krm-template", "build", folder, fails=True)
    # The same program outside of a container.
    shutil.copy(context / "seen", folder)
    for field in ["transformers", "generators"]:
        write(folder / "seen.yaml", FUNCTION % (image, ", envs: [A=3]"))
        write(folder / "kustomization.yaml", f"resources: [pod.yaml]\n{field}: [seen.yaml]\n")
        contained = clients.run(clients.kubectls[-1], "kustomize", folder, *allowed)
        text = (FUNCTION % (image, "")).replace(f"container: {{image: {image}}}", "exec: {path: ./seen, envs: [A=3]}")
        write(folder / "seen.yaml", text)
        options = ["--enable-alpha-plugins", "--enable-exec"]
        built = clients.run("krm-template", "build", folder, *STYLE, *options)
        # It has the rest of the environment, the user, the files and the network of this process.
        own = rb"(user|C|files|network)=\S*"
        same_text(re.sub(own, b"", built.stdout), re.sub(own, b"", contained.stdout), field)
        clients.run("krm-template", "build", folder, "--enable-alpha-plugins", fails=True)


# --- output -----------------------------------------------------------------------


@case("the files of a directory have the names and the text that kubectl gives them")
def output(clients, place):
    for objects in ["one-namespace", "several-namespaces"]:
        (folder := place / objects).mkdir()
        shutil.copy(FOLDER / "output" / f"{objects}.yaml", folder / "objects.yaml")
        write(folder / "kustomization.yaml", "resources: [objects.yaml]\n")
        for program in [[clients.kubectls[-1], "kustomize"], ["krm-template", "build", *STYLE]]:
            (out := place / f"{objects}-{program[0].rsplit('/')[-1]}").mkdir()
            clients.run(*program, folder, "-o", out)
        kubectl, ours = sorted(place.glob(f"{objects}-*"))
        names = [{file.name for file in out.iterdir()} for out in [kubectl, ours]]
        if names[0] != names[1]:
            raise Failure(f"files {sorted(names[1])}, expected {sorted(names[0])}")
        for name in names[0]:
            same_text((ours / name).read_bytes(), kubectl / name, name)


# --- edit -------------------------------------------------------------------------

OBJECT = '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "%s"}}'
POD = '{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template": {"spec": {"containers": [{"name": "c", "image": "nginx"}]}}}}'
# The texts of the same Kustomization, in which only the layout differs.
BLOCK = """\
# About the file.

# The resources.
resources:
- a.yaml # a

# The last one.
- web.yaml
images:
- name: nginx # the server
  newTag: "1.0" # old
commonLabels: {app: x} # all
configMapGenerator:
  - name: g
    literals:
      - A=1 # one
      - 'B=2'
patches:
- path: p.yaml # why
"""
LAYOUTS = {
    "block": BLOCK,
    "windows": BLOCK.replace("\n", "\r\n"),
    "no final newline": BLOCK[:-1],
    "indented": re.sub(r"(?m)^- ", "    - ", BLOCK).replace("  newTag", "      newTag"),
    "document": "---\n" + BLOCK + "...\n",
    "flow": "{resources: [a.yaml, web.yaml], images: [{name: nginx, newTag: '1.0'}], commonLabels: {app: x},\n"
    " configMapGenerator: [{name: g, literals: [A=1, B=2]}], patches: [{path: p.yaml}]}\n",
    "tabs": BLOCK.replace(" # ", "\t# ").replace(": {app", ":\t{app"),
    "json": '{"resources": ["a.yaml", "web.yaml"], "images": [{"name": "nginx", "newTag": "1.0"}],'
    ' "commonLabels": {"app": "x"}, "configMapGenerator": [{"name": "g", "literals": ["A=1", "B=2"]}],'
    ' "patches": [{"path": "p.yaml"}]}',
}
KUSTOMIZATION = json.loads(LAYOUTS["json"])
# Commands, and the fields that they set or, with None, remove.
EDITS = {
    "set image nginx=apache:2": {"images": [{"name": "nginx", "newName": "apache", "newTag": "2"}]},
    "set image other:3": {"images": [*KUSTOMIZATION["images"], {"name": "other", "newTag": "3"}]},
    "set replicas web=3": {"replicas": [{"name": "web", "count": 3}]},
    "set namespace -- ns": {"namespace": "ns"},
    "set nameprefix -- p-": {"namePrefix": "p-"},
    "set namesuffix -- -s": {"nameSuffix": "-s"},
    "set label app:y": {"commonLabels": {"app": "y"}},
    "set label -w -t k:v": {"labels": [{"pairs": {"k": "v"}, "includeTemplates": True}]},
    "set annotation k:v": {"commonAnnotations": {"k": "v"}},
    "set buildmetadata originAnnotations": {"buildMetadata": ["originAnnotations"]},
    "set configmap g --from-literal B=7": {"configMapGenerator": [{"name": "g", "literals": ["A=1", "B=7"]}]},
    "set configmap g --new-namespace ns": {
        "configMapGenerator": [{"name": "g", "namespace": "ns", "literals": ["A=1", "B=2"]}]
    },
    "add resource b.yaml": {"resources": ["a.yaml", "web.yaml", "b.yaml"]},
    "add component component": {"components": ["component"]},
    "add patch --path q.yaml --kind ConfigMap": {
        "patches": [{"path": "p.yaml"}, {"path": "q.yaml", "target": {"kind": "ConfigMap"}}]
    },
    "add configmap h --from-literal C=3 --disableNameSuffixHash": {
        "configMapGenerator": [
            *KUSTOMIZATION["configMapGenerator"],
            {"name": "h", "literals": ["C=3"], "options": {"disableNameSuffixHash": True}},
        ]
    },
    "add secret s --from-env-file e.env --type x": {
        "secretGenerator": [{"name": "s", "envs": ["e.env"], "type": "x"}]
    },
    "add label k:v": {"commonLabels": {"app": "x", "k": "v"}},
    "add annotation k:v": {"commonAnnotations": {"k": "v"}},
    "add transformer t.yaml": {"transformers": ["t.yaml"]},
    "add generator g.yaml": {"generators": ["g.yaml"]},
    "remove resource a.yaml": {"resources": ["web.yaml"]},
    "remove resource a*.yaml": {"resources": ["web.yaml"]},
    "remove label app": {"commonLabels": None},
    "remove patch --path p.yaml": {"patches": None},
    "remove configmap g": {"configMapGenerator": None},
    "fix": {"commonLabels": None, "labels": [{"pairs": {"app": "x"}, "includeSelectors": True}]},
}
# The comments that go with what these commands remove or replace.
GONE = {
    "set configmap g --from-literal B=7": [],
    "remove resource a.yaml": ["# a"],
    "remove resource a*.yaml": ["# a"],
    "remove label app": ["# all"],
    "remove patch --path p.yaml": ["# why"],
    "remove configmap g": ["# one"],
}


def files(folder):
    (folder / "component").mkdir(parents=True)
    for name in ["a", "b"]:
        write(folder / f"{name}.yaml", OBJECT % name)
    write(folder / "web.yaml", POD)
    write(folder / "p.yaml", POD.replace('"spec": {', '"spec": {"replicas": 2, ', 1))
    write(folder / "q.yaml", '[{"op": "add", "path": "/data", "value": {"q": "1"}}]')
    write(folder / "e.env", "E=1\n")
    write(folder / "t.yaml", '{"apiVersion": "builtin", "kind": "PrefixTransformer", "metadata": {"name": "t"}, "prefix": "t-", "fieldSpecs": [{"path": "metadata/name"}]}')
    write(folder / "g.yaml", '{"apiVersion": "builtin", "kind": "ConfigMapGenerator", "metadata": {"name": "gg"}, "literals": ["x=y"]}')
    write(folder / "component/kustomization.yaml", "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nnameSuffix: -c\n")


@case("each command of edit changes only what it says, in each layout of the file")
def edits(clients, place):
    kubectl = clients.kubectls[-1]
    for number, (command, fields) in enumerate(EDITS.items()):
        files(folder := place / str(number))
        file = folder / "kustomization.yaml"
        data = {key: value for key, value in {**KUSTOMIZATION, **fields}.items() if value is not None}
        write(file, json.dumps(data))
        expected = clients.run(kubectl, "kustomize", folder).stdout
        for layout, text in LAYOUTS.items():
            file.write_bytes(text.encode())
            clients.run("krm-template", "edit", *command.split(" "), cwd=folder)
            edited = file.read_bytes().decode()
            name = f"edit {command}, {layout}"
            try:
                built = clients.run(kubectl, "kustomize", folder).stdout
            except Failure as failure:
                raise Failure(f"{name}\n{edited}\n{failure}")
            same_text(built, expected, name)
            comments = [comment.strip() for comment in re.findall("#.*", text)]
            lost = [comment for comment in comments if comment not in edited]
            if not set(lost) <= set(GONE.get(command, [])):
                raise Failure(f"{name}: it loses {lost}\n{edited}")
            if edited.count("\r\n") not in [0, edited.count("\n")]:
                raise Failure(f"{name}: line breaks are mixed\n{edited!r}")
            if text[-1] != edited[-1] and "\n" in [text[-1], edited[-1]]:
                raise Failure(f"{name}: the end is another\n{edited!r}")
