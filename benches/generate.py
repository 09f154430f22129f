#!/usr/bin/env python3
"""Writes the inputs that peers.py measures on.

usage: generate.py DIR [--objects N ...] [--parameters P ...] [--package N ...]
       [--composition N ...] [--tree N ...]

  list-N.yaml      ResourceList of N commented Deployments of 68 lines; the functionConfig, a small
                   Template, comes last, where kpt puts it
  openshift-N.yaml Template of N such Deployments in OpenShift's dialect, with 205 parameters
  proposal-N.yaml  the same in the dialect of the Kubernetes proposal
  many-P.yaml      Template of 1,000 Deployments, 8 references each, spread over P parameters
  package-N/       the N Deployments as one file, for kpt
  composition-N/   a Composition of ten transformers over the N Deployments; base/ and what is beside
                   it does the same with Kustomizations, for which base/expanded.yaml has to hold what
                   the Templates make
  tree-N/          N directories with a Kustomization each, of ten objects and a generated ConfigMap
                   with a namespace, a prefix and labels of their own, and one above all of them
  config.yaml      the small Template alone
"""

import argparse
import json
import pathlib

DEPLOYMENT = """\
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: shop-{i} # as customers know it
    namespace: unit-{unit}
    labels:
      app: shop-{i}
      tier: storefront
      version: "2.{minor}"
    annotations:
      config.kubernetes.io/index: '0'
      config.kubernetes.io/path: 'shops/shop-{i}.yaml'
      internal.config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/path: 'shops/shop-{i}.yaml'
      description: "Shop number {i}, looked after by unit {unit}"
  spec:
    # raised for the holidays; the autoscaler has the same lower bound
    replicas: {replicas}
    revisionHistoryLimit: 4
    selector:
      matchLabels:
        app: shop-{i}
    strategy:
      type: RollingUpdate
      rollingUpdate:
        maxSurge: 50%
        maxUnavailable: 0
    template:
      metadata:
        labels:
          app: shop-{i}
          tier: storefront
      spec:
        serviceAccountName: shop-{i}
        containers:
        - name: shop
          image: images.example.org/unit-{unit}/shop:2.{minor}.{i} # tested
          args: ["--listen=8443", "--verbosity=2"]
          ports:
          - name: https
            containerPort: 8443
            protocol: TCP
          env:
          - name: NODE_NAME
            valueFrom:
              fieldRef:
                fieldPath: spec.nodeName
          - name: HEAP_OPTIONS
            value: "-Xms256m -XX:+UseZGC"
          resources:
            requests: {{cpu: 250m, memory: 256Mi}}
            limits:
              cpu: "2"
              memory: 768Mi
          readinessProbe:
            httpGet:
              path: /ready
              port: https
            initialDelaySeconds: 3
          volumeMounts:
          - name: settings
            mountPath: /etc/shop
            readOnly: true
        volumes:
        - name: settings
          configMap:
            name: shop-{i}-settings
            defaultMode: 0444
"""

CONFIG = """\
apiVersion: template.krm.dev/v1alpha1
kind: Template
metadata:
  name: cache
labels:
  template: cache
parameters:
- name: CACHE_NAME
  value: cache
  required: true
- name: COPIES
  type: int
  value: "2"
objects:
- apiVersion: v1
  kind: Service
  metadata:
    name: $(CACHE_NAME)
  spec:
    ports:
    - name: memcache
      port: 11211
    selector:
      name: $(CACHE_NAME)
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: $(CACHE_NAME)
  spec:
    replicas: $((COPIES))
    selector:
      matchLabels:
        name: $(CACHE_NAME)
    template:
      metadata:
        labels:
          name: $(CACHE_NAME)
      spec:
        containers:
        - name: cache
          image: images.example.org/cache:1
"""

SETTINGS = """\
apiVersion: template.krm.dev/v1alpha1
kind: Template
metadata:
  name: settings
parameters:
- name: LEVEL
  value: info
objects:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: shop-1-settings
  data:
    level: $(LEVEL)
"""

PATCH = """\
- op: add
  path: /spec/template/spec/terminationGracePeriodSeconds
  value: 60
"""
# What the Composition does to the objects, each beside the fields of a Kustomization that does it; in
# the order that kustomize keeps, so that one Kustomization can have them all.
STEPS = [
    ({"kind": "PatchTransformer", "target": {"kind": "Deployment"}, "patch": PATCH},
     {"patches": [{"target": {"kind": "Deployment"}, "patch": PATCH}]}),
    ({"kind": "NamespaceTransformer", "metadata": {"namespace": "shops"}}, {"namespace": "shops"}),
    ({"kind": "PrefixTransformer", "prefix": "north-"}, {"namePrefix": "north-"}),
    ({"kind": "LabelTransformer", "labels": {"season": "winter"}}, {"commonLabels": {"season": "winter"}}),
    ({"kind": "AnnotationsTransformer", "annotations": {"example.com/owner": "retail"}},
     {"commonAnnotations": {"example.com/owner": "retail"}}),
    ({"kind": "ReplicaCountTransformer", "replica": {"name": "shop-1", "count": 9}},
     {"replicas": [{"name": "shop-1", "count": 9}]}),
    ({"kind": "ImageTagTransformer", "imageTag": {"name": "images.example.org/unit-1/shop", "newTag": "2"}},
     {"images": [{"name": "images.example.org/unit-1/shop", "newTag": "2"}]}),
]

OPENSHIFT = ("template.openshift.io/v1", "${%s}", "${{%s}}")
PROPOSAL = ("template.krm.dev/v1alpha1", "$(%s)", "$((%s))")


def deployment(i):
    return DEPLOYMENT.format(i=i, unit=i % 37, minor=i % 20, replicas=1 + i % 7)


def indented(text):
    return "".join("  " + line for line in text.splitlines(keepends=True))


def resource_list(n):
    yield "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
    yield "items:\n" if n else "items: []\n"
    yield from map(deployment, range(n))
    yield "functionConfig:\n" + indented(CONFIG)


def package(n):
    for i in range(n):
        lines = deployment(i).splitlines(keepends=True)
        # The path and the index belong to a ResourceList, not to a file.
        yield "---\n" + "".join(line[2:] for line in lines if "config.kubernetes.io" not in line)


def composition(directory, n):
    """Files in JSON where they are short, and the Templates as they are."""
    write(directory / "base" / "shops.yaml", package(n))
    templates = "".join("- " + indented(text)[2:] for text in (CONFIG, SETTINGS))
    accumulator = {"kind": "ResourceAccumulator", "paths": ["base/shops.yaml"]}
    lines = [f"- {json.dumps(step)}\n" for step in [accumulator, *(ours for ours, _ in STEPS)]]
    lines.insert(1, templates)
    write(directory / "composition.yaml", ["kind: Composition\ntransformers:\n", *lines])

    def kustomization(name, *parts):
        merged = {"sortOptions": {"order": "fifo"}}
        for part in parts:
            merged.update(part)
        write(directory / name / "kustomization.yaml", [json.dumps(merged)])

    kustomization("base", {"resources": ["shops.yaml", "expanded.yaml"]})
    kustomization("at-once", {"resources": ["../base"]}, *(theirs for _, theirs in STEPS))
    below = "base"
    for number, (_, theirs) in enumerate(STEPS, 1):
        kustomization(f"step-{number}", {"resources": [f"../{below}"]}, theirs)
        below = f"step-{number}"


TREE_OBJECTS = """\
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web{j} # of unit {i}
spec:
  replicas: 2
  selector:
    matchLabels: {{app: web{j}}}
  template:
    metadata:
      labels: {{app: web{j}}}
    spec:
      containers:
      - name: web
        image: images.example.org/web:1.10 # tested
        envFrom:
        - configMapRef: {{name: settings}}
---
apiVersion: v1
kind: Service
metadata:
  name: web{j}
spec:
  selector: {{app: web{j}}}
  ports:
  - port: 80
"""


def tree(directory, n):
    """JSON is a Kustomization, too."""
    for i in range(n):
        write(directory / f"unit{i}" / "objects.yaml", (TREE_OBJECTS.format(i=i, j=j) for j in range(5)))
        fields = {
            "resources": ["objects.yaml"],
            "namespace": f"unit{i}",
            "namePrefix": "shop-",
            "labels": [{"includeSelectors": True, "pairs": {"unit": f"u{i}"}}],
            "configMapGenerator": [{"name": "settings", "literals": [f"UNIT={i}"]}],
        }
        write(directory / f"unit{i}" / "kustomization.yaml", [json.dumps(fields)])
    top = {
        "resources": [f"unit{i}" for i in range(n)],
        "commonAnnotations": {"example.org/division": "retail"},
        "images": [{"name": "images.example.org/web", "newTag": "1.11"}],
    }
    write(directory / "kustomization.yaml", [json.dumps(top)])


def with_references(i, string, raw, count):
    """A Deployment with eight references, to other parameters than the one before it."""

    def reference(k):
        return string % f"P{(i * 7 + k) % count:03d}"

    text = deployment(i)
    changes = {
        f"shop:2.{i % 20}.{i}": f"{reference(1)}:{reference(2)}",
        f"namespace: unit-{i % 37}": f'namespace: "{reference(3)}"',
        "tier: storefront": f'tier: "{reference(4)}"',
        "-Xms256m": "-Xms" + reference(5),
        f"replicas: {1 + i % 7}": f'replicas: "{raw % f"COUNT{i % 5}"}"',
        "/etc/shop": "/etc/" + reference(6),
        "path: /ready": f'path: "/{reference(7)}"',
    }
    for old, new in changes.items():
        text = text.replace(old, new)
    return text


def template(n, dialect, count=200):
    api_version, string, raw = dialect
    yield f"apiVersion: {api_version}\nkind: Template\nmetadata:\n  name: shops\n"
    yield "labels:\n  division: retail\n  template: shops\nobjects:\n"
    for i in range(n):
        yield with_references(i, string, raw, count)
    yield "parameters:\n"
    for k in range(5):
        yield f'- name: COUNT{k}\n  value: "{k + 1}"\n'
    for k in range(count):
        yield f"- name: P{k:03d}\n  description: Parameter number {k}\n  value: value{k}\n  required: true\n"


def write(path, pieces):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(pieces)


def objects(directory, n):
    write(directory / f"list-{n}.yaml", resource_list(n))
    write(directory / f"openshift-{n}.yaml", template(n, OPENSHIFT))
    write(directory / f"proposal-{n}.yaml", template(n, PROPOSAL))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--objects", type=int, nargs="*", default=[100, 1000, 10000])
    parser.add_argument("--parameters", type=int, nargs="*", default=[10, 100, 1000])
    parser.add_argument("--package", type=int, nargs="*", default=[])
    parser.add_argument("--composition", type=int, nargs="*", default=[])
    parser.add_argument("--tree", type=int, nargs="*", default=[])
    arguments = parser.parse_args()
    for n in arguments.objects:
        objects(arguments.directory, n)
    for count in arguments.parameters:
        write(arguments.directory / f"many-{count}.yaml", template(1000, PROPOSAL, count))
    for n in arguments.package:
        write(arguments.directory / f"package-{n}" / "shops.yaml", package(n))
    for n in arguments.composition:
        composition(arguments.directory / f"composition-{n}", n)
    for n in arguments.tree:
        tree(arguments.directory / f"tree-{n}", n)
    write(arguments.directory / "config.yaml", [CONFIG])
    write(arguments.directory / "settings.yaml", [SETTINGS])


if __name__ == "__main__":
    main()
