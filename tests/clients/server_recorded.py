"""Commands whose output was recorded with a real OpenShift API server: `corpus/template-api/clients`.

Those of kubectl are run with the kubectl of the recorded version. Those of `oc` are made of the
requests that `oc` sends. Each prints what was recorded, or is listed in
`server-expected/recorded.txt` as `NUMBERS<tab>REASON`; the output of a listed command of kubectl is
in `server-expected/recorded/NUMBER.txt` unless the reason begins with `not run`.
"""

import json
import re
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import server_oc
from server_program import EXPECTED, FILES, KRM, OPENSHIFT, normal
from support import Failure, difference

COMMAND_SECONDS = 60
# What was made between the recorded commands: before each of these commands.
MANY = [52, 134]
# Templates that are stored by a listed command, and were not when it was recorded.
STORED = {20: "ovalue", 102: "ovalue"}
# What is random in the output of a command.
RANDOM = {199: r'(?<="tier": ")[a-z]{6}(?=")'}


def recorded(shared):
    for file in sorted((shared / "corpus/template-api/clients").glob("*.json")):
        command = json.loads(file.read_text())
        command["number"] = int(file.stem)
        yield command


def listed():
    """The reasons of the differences, by number."""
    reasons = {}
    for line in (EXPECTED / "recorded.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            numbers, reason = line.split("\t")
            for part in numbers.split():
                first, _, last = part.partition("-")
                for number in range(int(first), int(last or first) + 1):
                    if number in reasons:
                        raise Failure(f"recorded.txt has {number} twice")
                    reasons[number] = reason
    return reasons


def transcript(exit_code, stdout, stderr):
    text = normal(stdout)
    text += "" if not text or text.endswith("\n") else "\n"
    text += "".join(f"stderr: {line}\n" for line in normal(stderr).splitlines())
    return text + (f"[exit {exit_code}]\n" if exit_code else "")


class Session:
    """Recorded commands in their order, in one folder."""

    def __init__(self, server, kubectls, shared, update):
        self.server = server
        self.kubectls = kubectls
        self.shared = shared
        self.update = update
        self.failures = []
        self.passed = 0

    def run(self, client):
        """Runs all commands of a client."""
        reasons = listed()
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            self.server.clear()
            environment = None
            if client != "oc":
                environment = self.server.shell(self.kubectls[client], folder)
            for command in recorded(self.shared):
                if command["client"] == client:
                    reason = reasons.get(command["number"], "")
                    if not reason.startswith("not run"):
                        self.check(command, reason, folder, environment)
        if self.failures:
            raise Failure("\n".join(self.failures))
        if not self.passed:
            raise Failure(f"there is no recorded command of {client}")

    def check(self, command, reason, folder, environment):
        number = command["number"]
        for name, text in (command.get("files") or {}).items():
            (folder / name).write_text(text)
        self.before(number)
        if environment is None:
            result = server_oc.run(self.server, command["command"], folder)
        else:
            result = self.shell(command, folder, environment)
        if result is None:
            self.failures.append(f"{number}: not made of requests: {command['command']}")
            return
        if number in STORED:
            self.server.ask("DELETE", f"{OPENSHIFT}/shop/templates/{STORED[number]}")
        actual = transcript(*result)
        expected = transcript(command["exit"], command["stdout"], command["stderr"])
        if number in RANDOM:
            actual, expected = (re.sub(RANDOM[number], "RANDOM", text) for text in [actual, expected])
        own = EXPECTED / "recorded" / f"{number:03}.txt"
        if reason and self.update:
            own.parent.mkdir(exist_ok=True)
            own.write_text(actual)
        if reason and actual == expected:
            self.failures.append(f"{number}: listed as a difference, but equal")
        elif actual != (own.read_text() if reason and own.exists() else expected):
            wanted = own.read_text() if reason and own.exists() else expected
            shown = difference(actual.encode(), wanted.encode(), "expected", "actual")
            self.failures.append(f"{number}: {command['command']}\n{shown}")
        else:
            self.passed += 1

    def before(self, number):
        """Makes what was made unrecorded before a command."""
        if number in MANY:
            template = json.loads((FILES / "oweb.json").read_text())
            for index in range(1, 6):
                template["metadata"]["name"] = f"many-{index}"
                self.server.ask("POST", f"{OPENSHIFT}/shop/templates", template)

    def shell(self, command, folder, environment):
        environment = {**environment, **(command.get("environment") or {})}
        beside = threading.Thread(target=self.beside, args=[command.get("beside") or ""])
        beside.start()
        result = subprocess.run(
            ["bash", "-c", command["command"]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            cwd=folder,
            timeout=COMMAND_SECONDS,
        )
        beside.join()
        return result.returncode, result.stdout.decode(), result.stderr.decode()

    def beside(self, changes):
        """Makes the changes that were made beside a command."""
        if not changes:
            return
        time.sleep(1.5)
        for change in changes.split("; "):
            verb, name = change.split(" ")
            group = KRM if name == "web" else OPENSHIFT
            path = f"{group}/shop/templates/{name}"
            if verb == "annotate":
                patch = {"metadata": {"annotations": {"w": "1"}}}
                content_type = {"Content-Type": "application/merge-patch+json"}
                self.server.ask("PATCH", path, patch, content_type)
            else:
                self.server.ask("DELETE", path)


def cases(kubectls, shared, update):
    """One case a client."""
    for client in ["kubectl-1.32", "kubectl-1.37", "oc"]:
        name = f"recorded commands of {client}"
        if client != "oc" and client not in kubectls:
            def missing(_, client=client):
                raise Failure(f"{client} is not on this machine")

            yield name, missing
        else:
            yield name, lambda server, client=client: Session(server, kubectls, shared, update).run(client)
