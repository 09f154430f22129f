"""What all cases need: the clients, and files and texts to compare."""

import difflib
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
EXPECTED = Path(__file__).resolve().parent / "expected"

# The image that the examples, docs/ and functionconfig/ name. It has a slash because kpt
# puts the address of its own catalog before a name without one.
IMAGE = "localhost/krm-template:dev"
DIFF_LINES = 60
# Commits of the same files have the same texts on every machine.
GIT = ["git", "-c", "user.name=test", "-c", "user.email=test", "-c", "core.abbrev=7"]
GIT += ["-c", "core.autocrlf=false", "-c", "diff.noprefix=false", "-c", "init.defaultBranch=main"]


class Failure(Exception):
    """What a case found wrong."""


CASES = []


def case(sentence):
    """Registers a function as the case that `sentence` states."""

    def register(function):
        CASES.append((sentence, function))
        return function

    return register


# --- clients ----------------------------------------------------------------------


class Clients:
    """The binary and the programs that start it."""

    def __init__(self, binary, kubectls, directory, update=False):
        self.binary = binary
        self.kubectls = kubectls
        # Whether expected files are written instead of compared.
        self.update = update
        # The Kptfiles have `exec: krm-template`, which kpt looks for on PATH.
        (directory / "krm-template").symlink_to(binary)
        self.environment = {**os.environ, "PATH": f"{directory}:{os.environ['PATH']}"}

    def run(self, *command, input=b"", fails=False, cwd=None):
        """Runs a command that has to succeed, or with `fails` has to fail."""
        command = [str(word) for word in command]
        result = subprocess.run(
            command, input=input, capture_output=True, env=self.environment, timeout=300, cwd=cwd
        )
        if (result.returncode != 0) != fails:
            ended = f"ended with exit code {result.returncode}"
            raise Failure(f"{' '.join(command)}: {ended}\n{said(result)}")
        return result

    def render(self, package, *more, fails=False):
        return self.run("kpt", "fn", "render", "--allow-exec", package, *more, fails=fails)

    def eval(self, package, config, *more, fails=False):
        command = ["kpt", "fn", "eval", package, "--exec", "krm-template", "--fn-config", config]
        return self.run(*command, *more, fails=fails)

    def kustomize(self, kubectl, directory, fails=False):
        return self.run(kubectl, "kustomize", "--enable-alpha-plugins", directory, fails=fails)

    def git(self, directory, *words):
        return self.run(*GIT, "-C", directory, *words).stdout.decode()

    def commit(self, directory):
        """Makes a commit of all there is, with which later changes are compared."""
        self.git(directory, "init", "--quiet")
        self.git(directory, "add", "--all")
        self.git(directory, "commit", "--quiet", "--message", "a state", "--allow-empty")

    def changes(self, directory):
        """What changed since the commit, as a patch."""
        self.git(directory, "add", "--all")
        return self.git(directory, "diff", "--cached")


# --- files and texts --------------------------------------------------------------


def copy(source, target):
    return Path(shutil.copytree(source, target))


def edit(file, *replacements):
    """Replaces texts in a file; each has to be there."""
    text = file.read_text()
    for old, new in replacements:
        if old not in text:
            raise Failure(f"{file} does not hold {old!r}")
        text = text.replace(old, new)
    file.write_text(text)


def write(file, text):
    file.write_text(text, encoding="utf-8")


def append(file, text):
    with open(file, "a", encoding="utf-8") as opened:
        opened.write(text)


def same_text(actual, expected, name=""):
    """Fails with a diff unless `actual` is `expected`: bytes, or the file that has them."""
    label = "expected"
    if isinstance(expected, Path):
        label, expected = str(expected), expected.read_bytes()
    if actual != expected:
        raise Failure(difference(actual, expected, label, f"actual {name}"))


def same_tree(actual, expected):
    """Fails with a diff unless two directories hold the same files."""
    files = {file.relative_to(top) for top in [actual, expected] for file in all_files(top)}
    differences = [
        difference(read(actual / file), read(expected / file), f"expected {file}", f"actual {file}")
        for file in sorted(files)
        if read(actual / file) != read(expected / file)
    ]
    if differences:
        raise Failure("\n".join(differences))


def all_files(top):
    return (file for file in top.rglob("*") if file.is_file())


def read(file):
    """The bytes of a file, None if there is no such file."""
    return file.read_bytes() if file.exists() else None


def difference(actual, expected, expected_name, actual_name):
    lines = [
        (text or b"").decode(errors="backslashreplace").splitlines(keepends=True)
        for text in [expected, actual]
    ]
    diff = list(difflib.unified_diff(*lines, expected_name, actual_name))
    cut = [f"... {len(diff) - DIFF_LINES} lines more\n"] if len(diff) > DIFF_LINES else []
    visible = (line if line.endswith("\n") else line + "\n\\ no newline at end\n" for line in diff)
    return "".join([*visible][:DIFF_LINES] + cut) or f"{actual_name}: only one of the two is there"


def said(result):
    return (result.stdout + result.stderr).decode(errors="backslashreplace")
