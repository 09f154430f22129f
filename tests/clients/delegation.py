"""What a Composition leaves to other programs: containers and helm; and Kustomizations in it.

Comparing objects as kustomize prints them compares them as values.
"""

import shutil
from pathlib import Path

from support import IMAGE, Failure, case, copy, edit, same_text, said, write

FOLDER = Path(__file__).resolve().parent / "delegation"


def versions(clients, place):
    """Each kubectl, as the `kubectl` that is found on PATH."""
    path = clients.environment["PATH"]
    for number, kubectl in enumerate(clients.kubectls):
        (bin := place / f"bin-{number}").mkdir()
        (bin / "kubectl").symlink_to(Path(shutil.which(kubectl)).absolute())
        clients.environment["PATH"] = f"{bin}:{path}"
        yield kubectl
    clients.environment["PATH"] = path


def as_kustomize_prints(clients, place, objects):
    (directory := place / "printed").mkdir(exist_ok=True)
    (directory / "objects.yaml").write_bytes(objects)
    write(directory / "kustomization.yaml", "resources: [objects.yaml]\nsortOptions: {order: fifo}\n")
    return clients.run("kubectl", "kustomize", directory).stdout


@case("a Kustomization in a Composition does what it does for kubectl alone, and keeps comments")
def kustomization(clients, place):
    top = copy(FOLDER, place / "top")
    alone = copy(top / "app", place / "alone")
    for file in (top / "kustomize").iterdir():
        shutil.copy(file, alone)
    for kubectl in versions(clients, place):
        built = clients.run("krm-template", "build", top / "app").stdout
        expected = clients.run("kubectl", "kustomize", alone).stdout
        same_text(as_kustomize_prints(clients, place, built), expected, kubectl)
        for kept in [b"  # its name", b'"on", "0644"', b"shop.yaml"]:
            if kept.replace(b"  ", b" ") not in built:
                raise Failure(f"{kubectl}: {kept.decode()} is lost")


@case("an override of a Kustomization brings files from its own directory")
def override(clients, place):
    top = copy(FOLDER, place / "top")
    for kubectl in versions(clients, place):
        built = clients.run("krm-template", "build", cwd=top / "stage").stdout
        for expected in [b"level.txt: |\n    debug\n", b"level: |\n    debug\n"]:
            if expected not in built:
                raise Failure(f"{kubectl}: no {expected.decode()} in\n{built.decode()}")


@case("kubectl says what is wrong with a Kustomization in a Composition")
def mistakes(clients, place):
    top = copy(FOLDER, place / "top")
    edit(top / "app/composition.yaml", ("path: replicas.yaml", "path: missing.yaml"))
    for kubectl in versions(clients, place):
        result = clients.run("krm-template", "build", top / "app", fails=True)
        words = [b"app/composition.yaml:", b"missing.yaml"]
        if result.stdout or not all(word in result.stderr for word in words):
            raise Failure(f"{kubectl}: what is wrong is not said\n{said(result)}")
        if b"krm-template-" in result.stderr:
            raise Failure(f"{kubectl}: a directory is named that the user has not made\n{said(result)}")


@case("a Composition has the objects of a Helm chart, with a stand-in for helm")
def helm(clients, place):
    charts = copy(FOLDER / "charts", place / "charts")
    clients.environment["PATH"] = f"{charts / 'bin'}:{clients.environment['PATH']}"
    built = clients.run("krm-template", "build", "--enable-helm", charts).stdout
    same_text(built, charts / "expected.yaml")
    clients.run("krm-template", "build", charts, fails=True)


@case("a function of a Composition runs in a container, if that is allowed")
def container(clients, place):
    # By another name, it is not taken for the program itself.
    image = "localhost/another:dev"
    clients.run("docker", "tag", IMAGE, image)
    directory = copy(FOLDER / "container", place / "container")
    allowed = ["krm-template", "build", "--enable-alpha-plugins", directory]
    same_text(clients.run(*allowed).stdout, directory / "expected.yaml")
    clients.run("krm-template", "build", directory, fails=True)
    edit(directory / "composition.yaml", (image, "localhost/missing:dev"))
    result = clients.run(*allowed, fails=True)
    if result.stdout or b"localhost/missing:dev" not in result.stderr:
        raise Failure("it does not say which image is missing\n" + said(result))
