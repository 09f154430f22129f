#!/usr/bin/env python3
"""Runs whole processes side by side and prints ratios; docs/performance.md says what they mean.

usage: peers.py [BINARY] [--rounds R] [--large N] [--limit SECONDS] [--kubectl KUBECTL] [--only PART ...] [--record]

BINARY is target/dist/krm-template if none is given. The contestants of a part take turns
(A B A B ...), so that a machine that is busy for a while is busy for all of them, if not to the
same effect: measure on a quiet one. A ratio is the median of the ratios of one round each, and the
range after it is the middle half of them. The load at the start is printed first. --record writes
the ratios into figures.json.
`wall` is the time that passes, `cpu` the time of processors (user and system) of the program and its
children, without what feeds it: a program that uses all cores needs less of the first only.
Peak memory is what `/usr/bin/time -v` says of one more run. A peer that is not there is named and
left out; a program that fails is an error, and one that takes longer than the limit is not waited
for. Peers: cat, /bin/true, kpt, kubectl, oc, ktmpl (`cargo install ktmpl`).
"""

import argparse
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import typing

import figures

HERE = pathlib.Path(__file__).resolve().parent
MONGODB = HERE.parent / "examples" / "mongodb" / "template.yaml"
PASSWORD = ["-p", "MONGODB_PASSWORD=x"]
TIME = "/usr/bin/time"
STARTS = 50
KIB = 1024


class Missing(Exception):
    """A peer that is not there: the part is left out."""


class Slow(Exception):
    """A contestant that takes longer than the limit."""


class Failed(Exception):
    """A contestant that does not do its work: nothing it was measured by would count."""


class Sample(typing.NamedTuple):
    """Seconds of one run."""

    wall: float
    cpu: float


def cpu_of_children():
    """Seconds of all child processes that have ended and were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Contestant:
    """A program, what feeds it through a pipe, and how often one sample runs it."""

    def __init__(self, name, argv, feed=None, times=1, limit=None):
        self.name, self.argv, self.feed, self.times = name, [str(a) for a in argv], feed, times
        self.limit = limit
        self.cpu = 0.0
        if shutil.which(self.argv[0]) is None:
            raise Missing(f"{self.argv[0]} is not installed")

    def run(self, argv=None, output=subprocess.DEVNULL):
        """Runs it once, its output thrown away; returns what it said on stderr."""
        argv = argv or self.argv
        feeder = None
        if self.feed:
            feeder = subprocess.Popen(["cat", str(self.feed)], stdout=subprocess.PIPE)
        before = cpu_of_children()
        try:
            done = subprocess.run(
                argv,
                stdin=feeder.stdout if feeder else subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                timeout=self.limit,
            )
        except subprocess.TimeoutExpired:
            raise Slow(f"{self.name} takes more than {self.limit:g} s") from None
        # What feeds it was not waited for yet, so it does not count.
        self.cpu = cpu_of_children() - before
        if feeder:
            feeder.stdout.close()
            feeder.wait()
        if done.returncode != 0:
            raise Failed(f"{self.name}: {done.stderr.strip()[-600:]}")
        return done.stderr

    def sample(self):
        argv = self.argv
        if self.times > 1:
            # A start takes about a millisecond: a shell makes many, which costs it little itself.
            loop = f'n={self.times}; while [ $n -gt 0 ]; do "$@" >/dev/null || exit; n=$((n-1)); done'
            argv = ["sh", "-c", loop, "sh", *argv]
        start = time.perf_counter()
        self.run(argv)
        wall = time.perf_counter() - start
        return Sample(wall / self.times, self.cpu / self.times)

    def peak(self):
        """Peak memory in bytes."""
        if not os.path.exists(TIME):
            return None
        said = self.run([TIME, "-v", *self.argv])
        found = re.search(r"Maximum resident set size \(kbytes\): (\d+)", said)
        return int(found.group(1)) * KIB if found else None


def race(contestants, rounds):
    """Samples of each contestant, a list a contestant, taken in turns after one run to warm up."""
    samples = [[] for _ in contestants]
    for one in contestants:
        one.run()
    for _ in range(rounds):
        for one, own in zip(contestants, samples):
            own.append(one.sample())
    return samples


def median_wall(samples):
    return statistics.median(one.wall for one in samples)


def ratio(samples, base):
    """Median and middle half of the ratios of rounds, as text."""
    ratios = sorted(a / b if b else float("nan") for a, b in zip(samples, base))
    quarter = len(ratios) // 4
    middle, low, high = statistics.median(ratios), ratios[quarter], ratios[-1 - quarter]
    digits = 2 if middle >= 0.1 else 4
    return f"{middle:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"


def size(count):
    return f"{count / 1e6:.1f} MB"


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()




class Parts:
    """What is measured: each method that is named in `ALL` prints one table."""

    ALL = ["start", "items", "expand", "oc", "kpt", "ktmpl", "tree", "composition", "growth", "parameters", "chart"]

    def __init__(self, binary, inputs, arguments):
        self.binary, self.inputs = binary, inputs
        self.rounds, self.large = arguments.rounds, arguments.large
        self.limit, self.kubectl = arguments.limit, arguments.kubectl
        self.records = arguments.record

    def compare(self, work, contestants, rounds, input_size=None):
        """Races all against the last and prints a row each."""
        samples = race(contestants, rounds)
        last = contestants[-1].name
        rows, ratios = [], []
        bases = list(zip(*samples[-1]))
        for one, own in zip(contestants, samples):
            peak = one.peak()
            of_input = f"{peak / input_size:.2f}" if peak and input_size else ""
            memory = [size(peak) if peak else "?", of_input]
            wall, cpu = (
                (f"{statistics.median(times) * 1e3:.2f} ms", ratio(times, base))
                for times, base in zip(zip(*own), bases)
            )
            rows.append([one.name, *wall, *cpu, *memory])
            ratios.append([work, one.name, last, wall[1], cpu[1], *memory])
        table(["program", "wall", f"× {last}", "cpu", f"× {last}", "peak", "peak / input"], rows)
        if self.records:
            head = ["work", "program", "compared with", "wall", "processor time", "peak", "peak / input"]
            figures.record("processes", head, ratios[:-1], keys=3)
        return samples

    def chart(self):
        """The rows of the README's chart, in seconds of processor time"""
        rounds = 3
        self.generate("--objects", 10_000, "--parameters", "--tree", 364)
        at_once = pathlib.Path(self.composed(1_000).argv[-1]) / "at-once"
        tree, template = self.inputs / "tree-364", self.inputs / "openshift-10000.yaml"
        kustomize = [self.kubectl, "kustomize"]
        oc = ["oc", "process", "--local", "-o", "yaml", "-f"]
        for work, name, peer, ours, path in (
            ("364 Kustomizations, 4,004 objects", "kubectl kustomize", kustomize, ["build"], tree),
            ("Ten transformers, 1,000 Deployments", "kubectl kustomize", kustomize, ["build"], at_once),
            ("A Template of 10,000 objects", "oc process", oc, ["process", "-f"], template),
        ):
            try:
                pair = [Contestant(name, [*peer, path]), Contestant("krm-template", [self.binary, *ours, path])]
            except Missing as reason:
                print(f"{work}: left out: {reason}\n")
                continue
            seconds = [f"{statistics.median(one.cpu for one in own):.3f}" for own in race(pair, rounds)]
            head, row = ["work", "peer", "its seconds", "our seconds"], [work, name, *seconds]
            table(head, [row])
            if self.records:
                figures.record("build-time", head, [row])

    def generate(self, *arguments):
        """Has only what is named written: generate.py writes nothing it is given no number of."""
        command = [sys.executable, HERE / "generate.py", self.inputs, *map(str, arguments)]
        subprocess.run(command, check=True)

    def objects(self, n, kind):
        path = self.inputs / f"{kind}-{n}.yaml"
        if not path.exists():
            self.generate("--objects", n, "--parameters")
        return path

    def process(self, path, name="krm-template", extra=(), times=1):
        return Contestant(name, [self.binary, "process", "-f", path, *extra], times=times)

    def start(self):
        """Cold start, and the mongodb example"""
        contestants = [
            self.process(MONGODB, "mongodb example", extra=PASSWORD, times=STARTS),
            Contestant("krm-template --version", [self.binary, "--version"], times=STARTS),
            Contestant("/bin/true", ["/bin/true"], times=STARTS),
        ]
        self.compare("cold start", contestants, self.rounds)

    def list_of(self, n):
        path = self.objects(n, "list")
        return path, Contestant("krm-template", [self.binary], feed=path)

    def items(self):
        """10,000 items passed through, against `cat FILE | cat`"""
        path, ours = self.list_of(10_000)
        self.compare("10,000 items passed through", [ours, Contestant("cat", ["cat"], feed=path)], self.rounds, path.stat().st_size)

    def expand(self):
        """Template of 10,000 objects, 205 parameters, against `cat FILE | cat`"""
        n = 10_000
        openshift, proposal = self.objects(n, "openshift"), self.objects(n, "proposal")
        contestants = [
            self.process(openshift, "OpenShift's dialect"),
            self.process(proposal, "the proposal's dialect"),
            self.process(openshift, "OpenShift's, to JSON", extra=["-o", "json"]),
            Contestant("cat", ["cat"], feed=openshift),
        ]
        self.compare("Template of 10,000 objects", contestants, self.rounds, openshift.stat().st_size)

    def oc(self):
        """Template of 10,000 objects, 205 parameters, against `oc process`"""
        path = self.objects(10_000, "openshift")
        command = ["oc", "process", "--local", "-f", path, "-o", "yaml"]
        oc = Contestant("oc process", command, limit=self.limit)
        self.compare("Template of 10,000 objects", [self.process(path), oc], max(3, self.rounds // 4), path.stat().st_size)

    def kpt(self):
        """`kpt fn eval` on 1,000 items: our share of it"""
        n = 1_000
        path, alone = self.list_of(n)
        self.generate("--objects", "--parameters", "--package", n)
        rounds = max(3, self.rounds // 4)

        def kpt(name, program):
            package, config = self.inputs / f"package-{n}", self.inputs / "config.yaml"
            command = ["kpt", "fn", "eval", package, "--fn-config", config, "-o", "unwrap"]
            return Contestant(name, [*command, "--exec", program])

        contestants = [
            kpt("kpt with krm-template", self.binary),
            Contestant("krm-template alone", alone.argv, feed=path),
            kpt("kpt with cat", "cat"),
        ]
        self.compare("1,000 items", contestants, rounds)

    def ktmpl(self):
        """Template of 1,000 objects in the proposal's dialect, against ktmpl"""
        path = self.objects(1_000, "proposal")
        contestants = [self.process(path), Contestant("ktmpl", ["ktmpl", path])]
        self.compare("Template of 1,000 objects", contestants, self.rounds, path.stat().st_size)

    def tree(self):
        """364 Kustomizations, 4,004 objects, against kustomize"""
        self.generate("--objects", "--parameters", "--tree", 364)
        directory = self.inputs / "tree-364"
        ours = Contestant("krm-template", [self.binary, "build", directory])
        peer = Contestant("kubectl kustomize", [self.kubectl, "kustomize", directory], limit=self.limit)
        print(f"{self.same(ours, peer)}\n", flush=True)
        self.compare("364 Kustomizations, 4,004 objects", [peer, ours], max(3, self.rounds // 4))

    def composition(self):
        """Composition of ten transformers over 1,000 and 10,000 Deployments, against kustomize"""
        sizes = (1_000, 10_000)
        ours = [self.composed(n) for n in sizes]
        print("Growth:\n", flush=True)
        self.compare("ten transformers", ours[::-1], self.rounds)
        for n, one in zip(sizes, ours):
            self.beside_kustomize(n, one)
        for n, one in zip(sizes, ours):
            print(f"Each transformer, {n:,} Deployments:\n")
            print(one.run([*one.argv, "--stats"]))

    def composed(self, n):
        """The Composition, with what its Templates make for kustomize, which has none."""
        self.generate("--objects", "--parameters", "--composition", n)
        directory = self.inputs / f"composition-{n}"
        with open(directory / "base" / "expanded.yaml", "w", encoding="utf-8") as file:
            for template in ("config", "settings"):
                file.write("---\n")
                file.flush()
                self.process(self.inputs / f"{template}.yaml").run(output=file)
        return Contestant(f"krm-template, {n:,}", [self.binary, "build", directory])

    def beside_kustomize(self, n, ours):
        """Beside one Kustomization that does all of it, and beside one for each transformer."""
        directory = self.inputs / f"composition-{n}"
        last = max(directory.glob("step-*"), key=lambda path: int(path.name.split("-")[1]))
        peers = [("a Kustomization for each", last), ("one Kustomization", directory / "at-once")]
        for name, path in peers:
            peer = Contestant(f"kubectl, {name}", [self.kubectl, "kustomize", path], limit=self.limit)
            print(f"{n:,} Deployments, {name}: ", end="", flush=True)
            try:
                print(f"{self.same(ours, peer)}\n", flush=True)
                self.compare("ten transformers", [peer, ours], max(3, self.rounds // 4))
            except Slow:
                seconds = median_wall(race([ours], 3)[0])
                print(f"not done in {self.limit:g} s, {self.limit / seconds:.0f} times what krm-template takes\n")

    def same(self, *contestants):
        """Whether they print the same objects."""
        try:
            import yaml
        except ImportError:
            return "not compared, for there is no PyYAML"
        texts = [self.inputs / f"printed-{index}.yaml" for index in range(len(contestants))]
        for one, path in zip(contestants, texts):
            with open(path, "w", encoding="utf-8") as file:
                one.run(output=file)
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        printed = [list(yaml.load_all(path.read_text(), loader)) for path in texts]
        if any(objects != printed[0] for objects in printed):
            raise Failed("they print other objects")
        return f"the same {len(printed[0]):,} objects"

    def growth(self):
        """Time and memory per item, from 100 items up"""
        sizes = [n for n in (100, 1_000, 10_000, 100_000) if n <= self.large]
        lists = [self.list_of(n)[1] for n in sizes]
        templates = [self.process(self.objects(n, "openshift")) for n in sizes]
        nothing = Contestant("--version", [self.binary, "--version"])
        head = ["work", "items", "× an item of 10,000", "peak per item"]
        rows = []
        for work, contestants in (("passed through", lists), ("Template", templates)):
            *samples, start = race([*contestants, nothing], self.rounds)
            start = median_wall(start)
            times = [median_wall(own) for own in samples]
            net = [(seconds - start) / n for seconds, n in zip(times, sizes)]
            base = net[min(2, len(net) - 1)]
            for one, n, each in zip(contestants, sizes, net):
                peak = one.peak()
                rows.append(
                    [
                        work,
                        f"{n:,}",
                        f"{each / base:.2f}",
                        f"{peak / n / KIB:.2f} KiB" if peak else "?",
                    ]
                )
        table(head, rows)
        if self.records:
            figures.record("growth", head, rows, keys=2)

    def parameters(self):
        """1,000 objects with 8,000 references to few parameters or many"""
        self.generate("--objects", "--parameters", 10, 100, 1_000)
        contestants = [
            self.process(self.inputs / f"many-{count}.yaml", f"{count:,} parameters")
            for count in (1_000, 100, 10)
        ]
        self.compare("8,000 references", contestants, self.rounds)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = HERE.parent / "target" / "dist" / "krm-template"
    parser.add_argument("binary", nargs="?", type=pathlib.Path, default=default)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--large", type=int, default=100_000, help="most items in `growth`")
    parser.add_argument("--only", nargs="+", choices=Parts.ALL, default=Parts.ALL)
    parser.add_argument("--limit", type=float, default=300, help="seconds that kubectl and oc get")
    parser.add_argument("--kubectl", default="kubectl")
    parser.add_argument("--record", action="store_true", help="write the ratios into figures.json")
    arguments = parser.parse_args()
    binary = arguments.binary.resolve()
    if not binary.exists():
        sys.exit(f"{binary} is not there: cargo build --profile dist")
    failures = 0
    print("load: {:.1f} {:.1f} {:.1f}, cores: {}\n".format(*os.getloadavg(), os.cpu_count()))
    with tempfile.TemporaryDirectory() as directory:
        parts = Parts(binary, pathlib.Path(directory), arguments)
        for name in arguments.only:
            part = getattr(parts, name)
            print(f"### {part.__doc__}\n", flush=True)
            try:
                part()
            except (Missing, Slow) as reason:
                print(f"left out: {reason}\n")
            except Failed as failed:
                failures += 1
                print(f"FAILED: {failed}\n")
            sys.stdout.flush()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
