#!/usr/bin/env python3
"""Measures expansions of Deployment Manager configurations, in seconds of processor time.

usage: deployment_manager.py CORPUS [BINARY] [--rounds R] [--before BINARY] [--only PART ...] [--record]

CORPUS is `corpus/deployment-manager` of the shared data, BINARY is target/dist/krm-template if
none is given. The parts are:

  process  each Jinja case in a process of its own, in turns with a Python 3 process that renders it
           with jinja2 and PyYAML
  within   all Jinja cases in one process, here by one `deployment validate` of files
  python   each case with Python templates, in turns with `python3 -c 'import yaml, six'`
  growth   one Jinja template, used 100, 1,000 and 10,000 times
  start    instructions of commands that expand nothing, beside those of `--before` (needs valgrind)

Python leaves out the schemas, so it renders only the cases without them; where it renders a case,
its resources must be ours. Processor time is the sum of user and system time of a process and its
children. --record writes the rows into figures.json. Needs python3 with jinja2, PyYAML and six.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import figures

HERE = pathlib.Path(__file__).resolve().parent

# Of the original, which is Python 2 with jinja2 and PyYAML: seconds a Jinja case, recorded when the
# corpus was made.
ORIGINAL_PROCESS = 0.27
ORIGINAL_WITHIN = 0.03

TEMPLATE = """\
resources:
- name: {{ env["name"] }}-vm
  type: compute.v1.instance
  properties:
    zone: {{ properties["zone"] }}
    machineType: zones/{{ properties["zone"] }}/machineTypes/n1-standard-1
    disks:
    {% for disk in range(3) %}
    - deviceName: disk-{{ disk }}
      boot: {{ "true" if disk == 0 else "false" }}
    {% endfor %}
"""


# --- the same in Python -----------------------------------------------------


def expand(case):
    """The resources of a case without schemas, as the original expands it."""
    import jinja2
    import yaml

    request = json.loads((case / "input.json").read_text())
    imports = request["imports"]
    texts = {name: one["content"] for name, one in imports.items()}
    environment = jinja2.Environment(loader=jinja2.DictLoader(texts))
    made = []

    def resources(parsed):
        for resource in parsed.get("resources") or []:
            if resource["type"] not in imports:
                made.append(resource)
                continue
            own = {"name": resource["name"], "type": resource["type"]}
            env = dict(request["env"] or {}, **own)
            context = dict(resource, imports=texts, env=env)
            text = environment.get_template(resource["type"]).render(context)
            resources(yaml.safe_load(text))

    resources(yaml.safe_load(request["config"]) or {})
    return {"resources": made}


def print_expansion(case):
    import yaml

    yaml.safe_dump(expand(case), sys.stdout, default_flow_style=False)


def print_seconds_within(folders):
    """Expands all cases in this process, after one round to warm up."""
    for case in folders:
        expand(case)
    start = time.process_time()
    for case in folders:
        expand(case)
    print(time.process_time() - start)


# --- measuring --------------------------------------------------------------


def seconds(argv, output=subprocess.DEVNULL):
    """Processor time of a process and its children."""
    child = subprocess.Popen([str(word) for word in argv], stdout=output, stderr=subprocess.PIPE)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(map(str, argv))}\n{said.decode()}")
    return usage.ru_utime + usage.ru_stime


def race(contestants, rounds):
    """The minimum of each contestant, which take turns: others on the machine only add to it."""
    samples = [[] for _ in contestants]
    for _ in range(rounds):
        for argv, taken in zip(contestants, samples):
            taken.append(seconds(argv))
    return [min(taken) for taken in samples]


HEAD = ["work", "compared with", "krm-template", "the other", "ratio"]
ROWS = []


def row(*cells):
    ROWS.append(cells)
    print("| " + " | ".join(cells) + " |", flush=True)


def in_seconds(taken):
    return f"{taken:.5f} s"


class Corpus:
    """The cases that are expanded without an error."""

    def __init__(self, folder):
        self.folder = folder / "expand"
        cases = sorted(path for path in self.folder.iterdir() if (path / "expected.yaml").exists())
        self.meta = {case: json.loads((case / "meta.json").read_text()) for case in cases}

    def of(self, *kinds):
        return [case for case, meta in self.meta.items() if meta["template_kinds"] in kinds]

    def in_python(self):
        """The Jinja cases that Python renders here."""
        return [case for case in self.of("jinja") if not self.meta[case]["validate_schema"]]


def command(binary, case, *options):
    request = ["--request", case / "input.json", "--strict-schemas", "--no-outputs"]
    return [binary, "deployment", "expand", *request, *options]


def check(binary, cases):
    """The resources of a case must be the same, or nothing is compared."""
    import yaml

    for case in cases:
        argv = [str(word) for word in command(binary, case, "-o", "json")]
        ours = json.loads(subprocess.run(argv, capture_output=True, check=True).stdout)
        theirs = json.loads(json.dumps(expand(case), default=str))
        if ours != theirs:
            sys.exit(f"{case.name}: Python expands it otherwise")
    print(f"{len(cases)} cases have the same resources in Python", file=sys.stderr)


def processes(corpus, binary, rounds):
    ours, beside = {}, []
    for case in corpus.of("jinja"):
        ours[case] = race([command(binary, case, "--all")], rounds)[0]
    for case in corpus.in_python():
        python = [sys.executable, __file__, "--expand", case]
        beside.append(race([command(binary, case, "--all"), python], rounds))
    mean = statistics.mean(ours.values())
    row(f"a Jinja case, a process each ({len(ours)} cases)", "the original, recorded",
        in_seconds(mean), in_seconds(ORIGINAL_PROCESS), f"{ORIGINAL_PROCESS / mean:.0f}")
    mean, python = (statistics.mean(taken) for taken in zip(*beside))
    row(f"a Jinja case, a process each ({len(beside)} cases)", "Python 3, jinja2 and PyYAML",
        in_seconds(mean), in_seconds(python), f"{python / mean:.0f}")


def write(case, folder):
    """Writes a case as files, and returns the configuration."""
    import yaml

    request = json.loads((case / "input.json").read_text())
    folder.mkdir()
    imports = []
    for number, (name, one) in enumerate(request["imports"].items()):
        path = f"{number}-{pathlib.PurePath(one['path']).name}"
        (folder / path).write_text(one["content"])
        imports.append({"path": path, "name": name})
    config = yaml.safe_load(request["config"]) or {}
    (folder / "config.yaml").write_text(json.dumps(dict(config, imports=imports), default=str))
    return folder / "config.yaml"


def within(corpus, binary, rounds):
    """Processor time of several rounds less that of one: the start of the process is not counted."""
    cases = corpus.of("jinja")
    given = ["--name", "d", "--project", "p", "--no-outputs", "--quiet"]
    for name in ("project_number", "current_time", "username"):
        given += ["--env", f"{name}=1"]
    with tempfile.TemporaryDirectory() as folder:
        configs = [write(case, pathlib.Path(folder) / case.name) for case in cases]
        validate = [binary, "deployment", "validate", *given]
        first, more = race([[*validate, *configs], [*validate, *configs * (1 + rounds)]], rounds)
    ours = (more - first) / rounds / len(cases)
    row(f"a Jinja case, {len(cases)} in one process", "the original, recorded",
        in_seconds(ours), in_seconds(ORIGINAL_WITHIN), f"{ORIGINAL_WITHIN / ours:.0f}")
    argv = [sys.executable, __file__, "--expand-all", *corpus.in_python()]
    argv = [str(word) for word in argv]
    taken = [subprocess.run(argv, capture_output=True, check=True).stdout for _ in range(rounds)]
    python = min(map(float, taken)) / len(corpus.in_python())
    row(f"a Jinja case, {len(corpus.in_python())} in one process", "Python 3, jinja2 and PyYAML",
        in_seconds(ours), in_seconds(python), f"{python / ours:.0f}")


def python_templates(corpus, binary, rounds):
    empty = ["python3", "-s", "-B", "-c", "import yaml, six"]
    cases = corpus.of("py", "jinja+py")
    taken = [race([command(binary, case, "--allow-python"), empty], rounds) for case in cases]
    ours, theirs = (statistics.mean(one) for one in zip(*taken))
    row(f"a case with Python templates ({len(cases)})", "`import yaml, six`",
        in_seconds(ours), in_seconds(theirs), f"{ours / theirs:.2f} times as long")


def growth(binary, rounds):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "vm.jinja").write_text(TEMPLATE)

        def taken(count):
            config = folder / f"{count}.yaml"
            uses = "".join(
                f"- name: r{at}\n  type: vm.jinja\n  properties: {{zone: a}}\n" for at in range(count)
            )
            config.write_text(f"imports:\n- path: vm.jinja\nresources:\n{uses}")
            return race([[binary, "deployment", "expand", config]], rounds)[0]

        start = taken(0)
        each = {count: (taken(count) - start) / count for count in (100, 1_000, 10_000)}
    for count, one in each.items():
        row(f"one template, used {count:,} times", "used 100 times",
            f"{one * 1e6:.0f} µs each", f"{each[100] * 1e6:.0f} µs each", f"{one / each[100]:.2f}")


def instructions(argv):
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run([*tool, *map(str, argv)], capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def start(binary, before):
    mongodb = HERE.parent / "examples" / "mongodb"
    parameters = ["-f", mongodb / "template.yaml", "-p", "MONGODB_PASSWORD=x"]
    for arguments in (["--version"], ["process", *parameters], ["parameters", *parameters[:2]]):
        ours, theirs = (instructions([one, *arguments]) for one in (binary, before))
        row(f"`{arguments[0]}`", "before", f"{ours:,} instructions", f"{theirs:,}",
            f"{ours / theirs:.3f}")
    ours, theirs = (os.stat(one).st_size for one in (binary, before))
    row("the program", "before", f"{ours:,} bytes", f"{theirs:,}", f"{ours - theirs:+,}")


def main():
    if sys.argv[1:2] == ["--expand"]:
        return print_expansion(pathlib.Path(sys.argv[2]))
    if sys.argv[1:2] == ["--expand-all"]:
        return print_seconds_within([pathlib.Path(case) for case in sys.argv[2:]])
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("binary", nargs="?", default="target/dist/krm-template")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--before", help="a program without Deployment Manager")
    parser.add_argument("--only", nargs="+", default=["process", "within", "python", "growth", "start"])
    parser.add_argument("--record", action="store_true", help="write the rows into figures.json")
    given = parser.parse_args()
    corpus = Corpus(given.corpus)
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores", file=sys.stderr)
    print("| " + " | ".join(HEAD) + " |\n" + "|---" * len(HEAD) + "|")
    if "process" in given.only:
        check(given.binary, corpus.in_python())
        processes(corpus, given.binary, given.rounds)
    if "within" in given.only:
        within(corpus, given.binary, given.rounds)
    if "python" in given.only:
        python_templates(corpus, given.binary, given.rounds)
    if "growth" in given.only:
        growth(given.binary, given.rounds)
    if "start" in given.only and given.before:
        if not shutil.which("valgrind"):
            sys.exit("valgrind is not installed")
        start(given.binary, given.before)
    if given.record:
        figures.record("deployment-manager", HEAD, ROWS, keys=2)


main()
