#!/usr/bin/env python3
"""Measures the peak of memory that works on many objects need, as a multiple of their input.

usage: memory.py [BINARY] [--objects N]

BINARY is target/dist/krm-template if none is given. More than the bound of a work is a failure.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
KIB = 1024


def peak(command, stdin):
    """The bytes that a command needs at most."""
    with open(stdin or os.devnull, "rb") as read:
        child = subprocess.Popen(command, stdin=read, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{command}: exit status {child.returncode}")
    return usage.ru_maxrss * KIB


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = HERE.parent / "target" / "dist" / "krm-template"
    parser.add_argument("binary", nargs="?", type=pathlib.Path, default=default)
    parser.add_argument("--objects", type=int, default=10_000)
    arguments = parser.parse_args()
    binary, count = arguments.binary.resolve(), arguments.objects
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own: what this one needs counts for its children.
        generate = [sys.executable, HERE / "generate.py", folder, "--objects", str(count)]
        subprocess.run(generate, check=True, stdout=subprocess.DEVNULL)
        items, openshift, proposal = (
            pathlib.Path(folder, f"{name}-{count}.yaml") for name in ("list", "openshift", "proposal")
        )
        print(f"{'work':32} {'peak':>12} {'/ input':>8} {'bound':>6}")
        for name, bound, path, command, stdin in (
            ("items passed through", 1.5, items, [binary], items),
            ("expansion, OpenShift's dialect", 2.5, openshift, [binary, "process", "-f", openshift], None),
            ("expansion, the proposal's dialect", 2.5, proposal, [binary, "process", "-f", proposal], None),
        ):
            most = peak(command, stdin)
            ratio = most / path.stat().st_size
            print(f"{name:32} {most:>12,} {ratio:>8.2f} {bound:>6}", flush=True)
            if ratio > bound:
                failed.append(name)
    if failed:
        sys.exit(f"more memory than the bound: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
