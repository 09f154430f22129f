"""The examples give the expected results next to them.

A folder with `.expected/` is a kpt package, in the layout of kpt's function catalog:

    .expected/config.yaml    testType: render or eval, exitCode, and for eval execPath, fnConfig
    .expected/diff.patch     what `git diff` says after the run
    .expected/results.yaml   what kpt writes into its --results-dir

kpt runs twice: the second time nothing may change any more. A folder with `expected.yaml`
beside its `kustomization.yaml` is built by every kubectl.
"""

import re
import shutil

from support import EXAMPLES, IMAGE, Failure, case, copy, edit, same_text, same_tree

DEFAULTS = {"testType": "render", "exitCode": "0", "execPath": "krm-template", "fnConfig": None}


def read_config(file):
    """The lines `key: value` of a config.yaml."""
    config = dict(DEFAULTS)
    for line in file.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        match = re.fullmatch(r"(\w+): *(\S.*)", line)
        if not match or match[1] not in DEFAULTS:
            raise Failure(f"{file}: `{line}` is not one of {', '.join(DEFAULTS)}")
        config[match[1]] = match[2]
    return config


def kpt_command(config, package):
    if config["testType"] == "render":
        return ["kpt", "fn", "render", "--allow-exec", package]
    command = ["kpt", "fn", "eval", package, "--exec", config["execPath"]]
    if config["fnConfig"]:
        command += ["--fn-config", package / config["fnConfig"]]
    return command


def kpt_example(clients, place, example):
    expected = example / ".expected"
    config = read_config(expected / "config.yaml")
    package = copy(example, place / example.name)
    clients.commit(package)
    for run in ["first", "second"]:
        results = place / f"{run}-results"
        command = kpt_command(config, package)
        fails = config["exitCode"] != "0"
        clients.run(*command, "--results-dir", results, fails=fails)
        found = {
            "diff.patch": clients.changes(package).encode(),
            "results.yaml": (results / "results.yaml").read_bytes(),
        }
        for name, text in found.items():
            if clients.update and run == "first":
                (expected / name).write_bytes(text)
            same_text(text, expected / name, f"after the {run} run")


def kustomize_example(clients, _place, example):
    expected = example / "expected.yaml"
    for number, kubectl in enumerate(clients.kubectls):
        stdout = clients.kustomize(kubectl, example).stdout
        if clients.update and number == 0:
            expected.write_bytes(stdout)
        same_text(stdout, expected, kubectl)


def register():
    """A case for each example."""
    packages = sorted(config.parents[1] for config in EXAMPLES.rglob(".expected/config.yaml"))
    builds = sorted(file.parent for file in EXAMPLES.rglob("expected.yaml"))
    builds = [build for build in builds if (build / "kustomization.yaml").exists()]
    if not packages or not builds:
        raise Failure(f"there are no examples in {EXAMPLES}")
    for folders, check, sentence in [
        (packages, kpt_example, "kpt makes of {} what .expected/ says, and no more on a second run"),
        (builds, kustomize_example, "every kubectl makes of {} what its expected.yaml says"),
    ]:
        for folder in folders:
            name = folder.relative_to(EXAMPLES.parent)
            bound = lambda clients, place, check=check, folder=folder: check(clients, place, folder)
            case(sentence.format(name))(bound)


register()

# --- instances in a package -------------------------------------------------------

INSTANCES = EXAMPLES / "kpt-instances"
CONFIG = "sites/instances.yaml"


def rendered(clients, place):
    """The package after a run, as a commit."""
    package = copy(INSTANCES, place / "package")
    clients.render(package)
    clients.commit(package)
    return package


def render_after(clients, package, *replacements):
    """Changes the instances, makes a commit of it, and renders."""
    edit(package / CONFIG, *replacements)
    clients.commit(package)
    clients.render(package)


def same_changes(clients, package, *expected):
    """Fails unless these files, and no others, have changed: `M`, `A` or `D` and a path."""
    clients.git(package, "add", "--all")
    changed = clients.git(package, "diff", "--cached", "--name-status", "--no-renames")
    changed = [tuple(line.split("\t")) for line in changed.splitlines()]
    if changed != list(expected):
        raise Failure(f"expected the changes {list(expected)}, found {changed}")


def settled(clients, package):
    """Fails unless a further run changes nothing."""
    clients.commit(package)
    clients.render(package)
    same_changes(clients, package)


@case("kpt fn render makes a file for each instance; a second and a third time it changes nothing")
def three_times(clients, place):
    package = copy(INSTANCES, place / "package")
    clients.commit(package)
    clients.render(package)
    files = [("A", f"sites/{name}-generated.yaml") for name in ["blog", "docs", "shop"]]
    same_changes(clients, package, *files)
    settled(clients, package)
    settled(clients, package)


@case("the image in place of the program makes the same, and needs no --allow-exec")
def with_the_image(clients, place):
    expected = rendered(clients, place)
    package = copy(INSTANCES, place / "with-image")
    for changed in [expected, package]:
        edit(changed / "Kptfile", ("  - exec: krm-template\n", f"  - image: {IMAGE}\n"))
    clients.run("kpt", "fn", "render", package)
    shutil.rmtree(expected / ".git")
    same_tree(package, expected)


@case("another value of one instance changes the file of this instance")
def another_value(clients, place):
    package = rendered(clients, place)
    render_after(clients, package, ("REPLICAS: 3", "REPLICAS: 4"))
    same_changes(clients, package, ("M", "sites/shop-generated.yaml"))
    stat = clients.git(package, "diff", "--cached", "--stat")
    if "1 file changed, 1 insertion(+), 1 deletion(-)" not in stat:
        raise Failure(f"expected one line to change:\n{stat}")
    settled(clients, package)


@case("another value of all instances changes the files of all")
def another_value_for_all(clients, place):
    package = rendered(clients, place)
    render_after(clients, package, ("nginx:1.28", "nginx:1.29"))
    files = [("M", f"sites/{name}-generated.yaml") for name in ["blog", "docs", "shop"]]
    same_changes(clients, package, *files)
    settled(clients, package)


@case("without an instance its file goes, and no other")
def one_instance_less(clients, place):
    package = rendered(clients, place)
    blog = (package / CONFIG).read_text().split("  - name: ")
    blog = "  - name: " + next(part for part in blog if part.startswith("blog"))
    render_after(clients, package, (blog, ""))
    same_changes(clients, package, ("D", "sites/blog-generated.yaml"))
    settled(clients, package)


@case("of a file that others have written to, only the objects of the instance go")
def one_instance_less_among_others(clients, place):
    package = rendered(clients, place)
    own = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own # by hand\ndata: {a: b}\n"
    docs = package / "sites/docs-generated.yaml"
    docs.write_text(own + "---\n" + docs.read_text())
    entry = "  - name: docs" + (package / CONFIG).read_text().split("  - name: docs")[1]
    render_after(clients, package, (entry, ""))
    same_changes(clients, package, ("M", "sites/docs-generated.yaml"))
    same_text(docs.read_bytes(), own.encode())
    settled(clients, package)


@case("comments, labels and annotations that were added by hand stay, after another value too")
def by_hand(clients, place):
    package = rendered(clients, place)
    shop = package / "sites/shop-generated.yaml"
    # An annotation on each object, a label, comments beside and above.
    edit(
        shop,
        ("  annotations:\n", "  annotations:\n    example.org/owner: ann # ask her\n"),
        ("nginx:1.28", "nginx:1.28 # tested"),
        ("      - name: server\n", "      # The only one.\n      - name: server\n"),
        ("  labels:\n    app", "  labels:\n    team: red\n    app"),
    )
    settled(clients, package)
    before = shop.read_text()
    render_after(clients, package, ("REPLICAS: 3", "REPLICAS: 4"))
    same_changes(clients, package, ("M", "sites/shop-generated.yaml"))
    same_text(shop.read_bytes(), before.replace("replicas: 3", "replicas: 4").encode())
    settled(clients, package)


@case("another name through a parameter takes the old objects away and adds new ones")
def another_name(clients, place):
    package = rendered(clients, place)
    results = place / "results"
    edit(package / CONFIG, ("NAME: shop", "NAME: store"))
    clients.commit(package)
    clients.render(package, "--results-dir", results)
    same_changes(clients, package, ("M", "sites/shop-generated.yaml"))
    said = (results / "results.yaml").read_text()
    removed = re.findall(r"message: '?removed:.*\n.*\n *resourceRef:\n.*\n *kind: (\w+)\n *name: (\S+)", said)
    if removed != [("ConfigMap", "shop-pages"), ("Deployment", "shop"), ("Service", "shop")]:
        raise Failure(f"expected three objects to be removed, found {removed}\n{said}")
    # What is made of the new name does not depend on what was there.
    fresh = copy(INSTANCES, place / "fresh")
    shutil.copy(package / CONFIG, fresh / CONFIG)
    clients.render(fresh)
    same_text((package / "sites/shop-generated.yaml").read_bytes(), fresh / "sites/shop-generated.yaml")
    settled(clients, package)


@case("an object of the same name that was made by hand is not written over, but may be adopted")
def by_hand_before(clients, place):
    package = copy(INSTANCES, place / "package")
    own = "apiVersion: v1\nkind: Service\nmetadata:\n  name: shop\nspec:\n  type: NodePort # ours\n"
    (package / "own.yaml").write_text(own)
    clients.commit(package)
    result = clients.render(package, fails=True)
    if b"own.yaml" not in result.stderr or b"template.krm.dev/adopt" not in result.stderr:
        raise Failure(f"the error names neither the file nor a way out\n{result.stderr.decode()}")
    same_changes(clients, package)
    adopt = '  annotations:\n    template.krm.dev/adopt: "true"\n    template.krm.dev/update: merge\n'
    render_after(clients, package, ("  annotations:\n", adopt))
    files = [("A", f"sites/{name}-generated.yaml") for name in ["blog", "docs", "shop"]]
    same_changes(clients, package, ("M", "own.yaml"), *files)
    text = (package / "own.yaml").read_text()
    if "type: NodePort # ours" not in text or "port: 80" not in text:
        raise Failure(f"expected fields of both:\n{text}")
    settled(clients, package)
