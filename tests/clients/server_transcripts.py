"""The commands that people type, with what they print: server-expected/*.txt.

A file is a shell session: `$ COMMAND`, then its output, both streams as they come, and `[exit N]`
if the command does not end with 0. It begins with an empty store and with the files of server-files.
"""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from server_program import EXPECTED, FILES, normal
from support import Failure, difference

COMMAND_SECONDS = 60


def steps(text):
    """The commands of a session, each with its expected output."""
    found = []
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append([line[2:].rstrip("\n"), ""])
        else:
            found[-1][1] += line
    return found


def run(command, environment, folder):
    """Runs a command and returns its output, with the exit code if that is not 0."""
    result = subprocess.run(
        ["bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        cwd=folder,
        timeout=COMMAND_SECONDS,
    )
    output = result.stdout.decode(errors="backslashreplace")
    if output and not output.endswith("\n"):
        output += "\n"
    return output + (f"[exit {result.returncode}]\n" if result.returncode else "")


def session(server, kubectl, file):
    """Runs a session with one version of kubectl."""
    server.clear()
    actual = ""
    text = file.read_text()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        environment = server.shell(kubectl, folder)
        for given in FILES.iterdir():
            shutil.copy(given, folder)
        for command, _ in steps(text):
            actual += f"$ {command}\n" + normal(run(command, environment, folder))
    if re.sub("(?m) +$", "", actual) != re.sub("(?m) +$", "", normal(text)):
        name = str(file.relative_to(EXPECTED.parent))
        raise Failure(difference(actual.encode(), normal(text).encode(), name, "actual"))


def cases(kubectls):
    """One case a session and version of kubectl."""
    for file in sorted(EXPECTED.glob("[0-9]*.txt")):
        for version, kubectl in kubectls.items():
            name = f"commands {file.stem} with {version}"
            yield name, lambda server, file=file, kubectl=kubectl: session(server, kubectl, file)
