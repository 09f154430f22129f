"""The commands of the README, of docs/ and of the examples' READMEs do what they say.

Each block after a line ```sh runs, in order, in a copy of what the commands are about: from
the README and docs/ at its top, from an example in the example's folder. Blocks that begin
with ```console need a cluster, a registry, `oc` or Argo CD, and are not run.

Where a line `It prints:` and a block ```text follow, that is what it prints.

The tests of `cargo` run the blocks that need no client; they leave out cargo's own.
"""

import re
import shutil

from support import ROOT, Failure, case

# What commands in the documents need besides the clients.
PROGRAMS = ["bash", "diff", "jq", "yq"]
# What the commands are about.
COPIED = ["README.md", "action.yml", "docs", "examples", "functionconfig"]


def documents():
    return sorted([ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("examples/**/README.md")])


def blocks(document):
    """The commands, each with what the document says they print, or nothing."""
    block = r"^```sh\n(.*?)^```$(?:\n[^\n]*It prints:\n```text\n(.*?)^```$)?"
    return re.findall(block, document.read_text(), re.MULTILINE | re.DOTALL)


def is_cargos(block):
    return re.search(r"^cargo ", block, re.MULTILINE)


def run_document(clients, place, document):
    top = place / "top"
    top.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, top / name)
        else:
            shutil.copy(source, top / name)
    name = document.relative_to(ROOT)
    folder = (top / name).parent if name.parts[0] == "examples" else top
    for block, printed in blocks(document):
        if not is_cargos(block):
            said = clients.run("bash", "-e", "-o", "pipefail", "-c", block, cwd=folder).stdout.decode()
            if printed and said != printed:
                raise Failure(f"{block}\nprints\n{said}\nin place of\n{printed}")


def register():
    for document in documents():
        if blocks(document):
            bound = lambda clients, place, document=document: run_document(clients, place, document)
            case(f"the commands in {document.relative_to(ROOT)} do what they say")(bound)


register()
