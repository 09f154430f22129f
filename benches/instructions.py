#!/usr/bin/env python3
"""Counts the instructions that works need: the same on a busy machine as on a quiet one.

usage: instructions.py [BINARY] [--objects N] [--only WORDS] [--bound FACTOR]

BINARY is target/dist/krm-template if none is given. valgrind counts the instructions a byte of
input, and generate.py makes up the objects. Each work has a goal; with --bound, more than FACTOR
times the goal is a failure.
The largest real Template is in the shared folder, which KRM_TEMPLATE_SHARED names; without it, that
work is left out.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import typing

import generate

HERE = pathlib.Path(__file__).resolve().parent
LARGEST = pathlib.Path("corpus", "template-api", "bench", "largest.json")
NOTHING = """\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items: []
functionConfig: {apiVersion: template.krm.dev/v1alpha1, kind: Template, metadata: {name: none}, objects: []}
"""
COMPOSITION = """\
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Composition
metadata: {name: one}
transformers:
"""
ACCUMULATOR = "- {kind: ResourceAccumulator, metadata: {name: all}, paths: [all.yaml]}\n"
REPLICAS = """\
- {kind: ReplicaCountTransformer, metadata: {name: replicas}, replica: {name: shop-0, count: 9}}
"""
RESOURCE = """\
- name: disk-{i}
  type: compute.v1.disk
  properties:
    zone: zone-{unit}
    sizeGb: {size} # as ordered
    description: "Disk number {i}, of unit {unit}"
    labels:
      unit: unit-{unit}
      tier: storage
"""


class Work(typing.NamedTuple):
    """What is counted. Without an input it is the start, which counts as a whole."""

    name: str
    goal: int
    arguments: list
    input: pathlib.Path | None
    stdin: pathlib.Path | None = None


class Inputs:
    """Writes the inputs for `n` objects."""

    def __init__(self, binary, folder, n):
        self.binary, self.folder, self.n = binary, folder, n

    def write(self, name, *pieces):
        path = self.folder / name
        generate.write(path, pieces)
        return path

    def list_for(self, config):
        """The objects as items of a ResourceList with a functionConfig."""
        head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig:\n"
        items = map(generate.deployment, range(self.n))
        return self.write("changed.yaml", head, generate.indented(config), "items:\n", *items)

    def documents(self):
        texts = map(generate.deployment, range(self.n))
        return ["---\n" + re.sub("^..", "", text, flags=re.M) for text in texts]

    def json(self, template):
        """What a Template expands to, as one List."""
        command = [self.binary, "process", "-f", template, "-o", "json"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return self.write("all.json", done.stdout)

    def disks(self):
        """A configuration of Deployment Manager without templates."""
        disks = (RESOURCE.format(i=i, unit=i % 37, size=10 + i % 90) for i in range(self.n))
        return self.write("disks.yaml", "resources:\n", *disks)

    def works(self):
        """All works, with the goals of instructions a byte."""
        generate.objects(self.folder, self.n)
        items, openshift, proposal = (
            self.folder / f"{name}-{self.n}.yaml" for name in ("list", "openshift", "proposal")
        )
        nothing = self.write("nothing.yaml", NOTHING)
        changed = self.list_for(COMPOSITION + REPLICAS)
        all_yaml = self.write("build/all.yaml", *self.documents())
        build = self.write("build/composition.yaml", COMPOSITION, ACCUMULATOR, REPLICAS)
        all_json, disks = self.json(openshift), self.disks()
        yield Work("start-up as a function", self.start_up(), [], None, nothing)
        yield Work("items passed through", 20, [], items, items)
        arguments = ["process", "-f", openshift]
        yield Work("expansion, OpenShift's dialect", 60, arguments, openshift)
        arguments = ["process", "-f", proposal]
        yield Work("expansion, the proposal's dialect", 60, arguments, proposal)
        largest = pathlib.Path(os.environ.get("KRM_TEMPLATE_SHARED", "."), LARGEST)
        if largest.exists():
            arguments = ["process", "-f", largest, "-o", "json"]
            # With 26 warnings, whose report reads the text once more, for secrets, and with the table
            # of kinds, which is read once.
            yield Work("JSON to JSON, the largest real Template", 95, arguments, largest)
        yield Work("Composition as a function, one field changed", 60, [], changed, changed)
        yield Work("build, one field changed", 60, ["build", build], all_yaml)
        yield Work("export, YAML", 250, ["export", "-f", all_yaml], all_yaml)
        yield Work("export, JSON", 250, ["export", "-f", all_json], all_json)
        yield Work("deployment expand", 90, ["deployment", "expand", disks], disks)

    def start_up(self):
        """A dynamic linker needs instructions, too."""
        headers = ["readelf", "--program-headers", self.binary]
        headers = subprocess.run(headers, check=True, stdout=subprocess.PIPE, text=True)
        return 460_000 if "INTERP" in headers.stdout else 120_000


def instructions(binary, work, folder):
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind.out"]
    with open(work.stdin or os.devnull, encoding="utf-8") as stdin:
        done = subprocess.run(
            [*command, binary, *work.arguments],
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            # libc looks at each variable when a program starts.
            env={"PATH": os.environ.get("PATH", os.defpath)},
            text=True,
            check=False,
        )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        sys.exit(f"{work.name}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return int(found.group(1))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = HERE.parent / "target" / "release" / "krm-template"
    parser.add_argument("binary", nargs="?", type=pathlib.Path, default=default)
    parser.add_argument("--objects", type=int, default=1_000)
    parser.add_argument("--only", default="", help="a part of the names of works")
    parser.add_argument("--bound", type=float, help="how many times a goal is a failure")
    arguments = parser.parse_args()
    binary = arguments.binary.resolve()
    if not binary.exists():
        sys.exit(f"{binary} is not there: cargo build --profile dist")
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        inputs = Inputs(binary, pathlib.Path(folder), arguments.objects)
        print(f"{'work':44} {'instructions':>13} {'a byte':>8} {'goal':>8}")
        for work in inputs.works():
            if arguments.only not in work.name:
                continue
            count = instructions(binary, work, folder)
            size = work.input.stat().st_size if work.input else None
            shown = f"{count / size:.1f}" if size else ""
            print(f"{work.name:44} {count:>13,} {shown:>8} {work.goal:>8,}", flush=True)
            if arguments.bound and count / (size or 1) > arguments.bound * work.goal:
                failed.append(work.name)
    if failed:
        sys.exit(f"more than {arguments.bound:g} times the goal: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
