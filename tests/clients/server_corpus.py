"""The real Templates of the corpus: stored, read back, and processed through the API, as `oc` has them."""

import csv
import json
from concurrent.futures import ThreadPoolExecutor

import yaml

import server_oc
from server_program import OPENSHIFT
from support import ROOT, Failure

SHOWN = 20
EXCEPTIONS = ROOT / "tests/openshift/exceptions.txt"


def environment(file):
    """The values of a file of `NAME=VALUE` lines, as `process --param-file` reads them."""
    if not file.exists():
        return {}
    lines = file.read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


class Corpus:
    def __init__(self, server, shared):
        self.server = server
        # Templates that `oc` refuses and the engine takes.
        words = (line.split() for line in EXCEPTIONS.read_text().splitlines())
        self.accepted = {line[1] for line in words if line[:1] == ["accepted"]}
        self.folder = shared / "corpus/openshift"
        with open(self.folder / "index.tsv", newline="") as file:
            self.rows = list(csv.DictReader(file, delimiter="\t"))

    def check(self, index):
        """What is wrong with one Template; None if nothing is."""
        row = self.rows[index]
        source = self.folder / "templates" / row["file"]
        try:
            template = yaml.load(source.read_text(), Loader=yaml.CSafeLoader)
        except (yaml.YAMLError, UnicodeDecodeError):
            template = None
        stored = self.stored(f"c{index}", source.read_bytes(), template)
        if row["oc_rc"] == "0":
            return stored or self.processed(f"c{index}", row["file"])
        if stored:
            return None if stored.startswith("refused") else stored
        try:
            self.process(f"c{index}", row["file"])
        except server_oc.Refused:
            return None
        return None if row["file"] in self.accepted else "processed, but refused by oc"

    def stored(self, name, text, template):
        """Creates a Template of the text with another name, and compares what is stored."""
        path = f"{OPENSHIFT}/corpus/templates"
        if not isinstance(template, dict):
            status, _, body = self.server.ask("POST", path, text, {"Content-Type": "application/yaml"})
            return f"refused {status}" if is_status(status, body) else f"no Status: {status} {body[:300]!r}"
        template = json.loads(json.dumps(template, default=str))
        template.setdefault("metadata", {}) or template.update(metadata={})
        template["metadata"].update(name=name, namespace="corpus")
        template["apiVersion"] = "template.openshift.io/v1"
        status, _, body = self.server.ask("POST", path, template)
        if status != 201:
            return f"refused {status} {body[:300]!r}" if is_status(status, body) else f"no Status: {status}"
        status, _, body = self.server.ask("GET", f"{path}/{name}")
        found = json.loads(body)
        if (found.get("objects") or []) != (template.get("objects") or []):
            return "objects are not as they were stored"
        for field in ["message", "labels"]:
            if (found.get(field) or None) != (template.get(field) or None):
                return f"{field} is not as it was stored"
        return None

    def process(self, name, file):
        """The output of `oc process NAME` with the values of the corpus."""
        values = environment(self.folder / "params" / f"{file}.env")
        words = [name, "-n", "corpus"]
        for key, value in values.items():
            words += ["-p", f"{key}={value}"]
        return server_oc.process(self.server, server_oc.Arguments(words), self.folder)

    def processed(self, name, file):
        """Compares with the output of `oc process --local`."""
        wanted = (self.folder / "expected" / f"{file}.json").read_text()
        try:
            answer = self.process(name, file)
        except server_oc.Refused as refused:
            return f"not processed: {refused}"
        return None if answer == wanted else difference(answer, wanted)


def is_status(status, body):
    """Whether an answer is a Status of its own code."""
    try:
        found = json.loads(body)
    except ValueError:
        return False
    return found.get("kind") == "Status" and found.get("code") == status and 400 <= status < 500


def difference(ours, theirs):
    for index, (one, two) in enumerate(zip(ours.splitlines(), theirs.splitlines())):
        if one != two:
            return f"line {index + 1}: {one.strip()!r}, oc has {two.strip()!r}"
    return "one output is longer"


def check(server, shared):
    """All Templates of the corpus."""
    corpus = Corpus(server, shared)
    if len(corpus.rows) < 500:
        raise Failure(f"the corpus has only {len(corpus.rows)} Templates")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(corpus.check, range(len(corpus.rows))))
    wrong = [f"{row['file']}: {error}" for row, error in zip(corpus.rows, found) if error]
    if wrong:
        more = f"\n… {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        raise Failure(f"{len(wrong)} of {len(found)}\n" + "\n".join(wrong[:SHOWN]) + more)
