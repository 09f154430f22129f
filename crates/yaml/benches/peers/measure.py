#!/usr/bin/env python3
"""Compares krm-yaml with other crates, as its README shows: what each keeps, and what it costs.

usage: measure.py [--few N] [--many N]

The inputs are the commented Deployments of benches/generate.py: N of them as the items of one List,
where one field changes (`one`), and as a stream of N documents, each of which changes (`each`).
valgrind counts the instructions for a few objects. For many, the time, compared with that of krm-yaml's
`update`, and the peak of memory, compared with the input, are the least of three rounds.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[3]
sys.path.insert(0, str(REPOSITORY / "benches"))

import generate  # noqa: E402

TARGET = REPOSITORY / "target" / "peers"
BINARY = TARGET / "release" / "krm-yaml-peers"
# A dependency of yamlpatch asks for a newer Rust than it needs.
BUILD = ["cargo", "build", "--release", "--locked", "--ignore-rust-version"]
BUILD += ["--manifest-path", HERE / "Cargo.toml", "--target-dir", TARGET]
CRATES = {
    "krm-yaml": "krm-yaml, `update_read`",
    "update": "krm-yaml, `update`",
    "yamlpatch": "yamlpatch",
    "yaml-edit": "yaml-edit",
    "noyalib": "noyalib",
    "serde_yaml": "serde_yaml",
}
WORKS = {"one": "one field", "each": "a field of each document"}
# yamlpatch reads up to 32,768 lines; an object has 68.
FEW = 480
ROUNDS = 3
KIB = 1024


def write_inputs(folder, count):
    items = [generate.deployment(at) for at in range(count)]
    generate.write(folder / f"one-{count}.yaml", ["apiVersion: v1\nkind: List\nitems:\n", *items])
    documents = ("---\n" + re.sub("^..", "", item, flags=re.M) for item in items)
    generate.write(folder / f"each-{count}.yaml", documents)


def instructions(crate, work, path):
    """The instructions a byte."""
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}"]
    command = [*valgrind, BINARY, crate, work, path, "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        sys.exit(f"{crate} {work}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return int(found.group(1)) / path.stat().st_size


def cost(crate, work, path):
    """The seconds and the peak of memory as a multiple of the input; None if the crate refuses."""
    start = time.monotonic()
    command = [BINARY, crate, work, path, "--quiet"]
    child = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        return None
    return time.monotonic() - start, usage.ru_maxrss * KIB / path.stat().st_size


def changed(crate, work, path):
    """How many lines a crate changes; None if it cannot do the work."""
    done = subprocess.run([BINARY, crate, work, path], capture_output=True, text=True, check=False)
    return None if done.returncode else f"{int(done.stdout):,}"


def costs(folder, work, count):
    """The least of the costs of some rounds, in which the crates take turns."""
    path = folder / f"{work}-{count}.yaml"
    least = {}
    for _ in range(ROUNDS):
        for crate in CRATES:
            found = cost(crate, work, path)
            if found:
                least[crate] = min(least.get(crate, found), found)
    return least


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--few", type=int, default=FEW)
    parser.add_argument("--many", type=int, default=10_000)
    arguments = parser.parse_args()
    few, many = arguments.few, arguments.many
    subprocess.run(BUILD, check=True)
    subprocess.run([BINARY, "cases"], check=True)
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        for count in (few, many):
            write_inputs(folder, count)
        for work, label in WORKS.items():
            path = folder / f"{work}-{few}.yaml"
            least = costs(folder, work, many)
            print(f"\n| {label} | lines | instructions a byte | time | memory |")
            print("|---|---|---|---|---|")
            for crate, name in CRATES.items():
                lines = changed(crate, work, path)
                if lines is None:
                    continue
                cells = [name, lines, f"{instructions(crate, work, path):,.0f}"]
                if crate in least:
                    (seconds, memory), (unit, _) = least[crate], least["update"]
                    cells += [f"{seconds / unit:.1f} ×", f"{memory:.1f} ×"]
                else:
                    cells += ["refused", "refused"]
                print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
