"""A Composition makes the same objects by `krm-template build` and as a function of each client.

In a function the resources are the items. So the Composition that `build` gets first adds the
files that kustomize and kpt bring along, and then imports the one that they run. Objects are
compared as values, for kustomize respells them.
"""

import shutil
import textwrap
from pathlib import Path

from support import EXAMPLES, IMAGE, Failure, case, copy, edit, same_text, write

STORIES = EXAMPLES / "composition"
FUNCTION = EXAMPLES / "composition-function"
BUILTINS = Path(__file__).resolve().parent / "composition"
# Leaves out what is there for clients only, and the name of who made an object.
FILTER = """\
select(.apiVersion | test("^(kpt.dev|kustomize.config.k8s.io)/") | not)
| del(.metadata.annotations["template.krm.dev/instance"], .metadata.annotations["template.krm.dev/origin"])
| if .metadata.annotations == {} then del(.metadata.annotations) else . end
"""


def objects(clients, text):
    """The objects in a text as values, a line each, sorted."""
    lines = clients.run("yq", "-cS", FILTER, input=text).stdout.splitlines(keepends=True)
    return b"".join(sorted(lines))


def built(clients, folder, path):
    """The objects that `krm-template build` makes, of the same bytes each time."""
    texts = [clients.run("krm-template", "build", path, cwd=folder).stdout for _ in range(2)]
    same_text(texts[1], texts[0], "of the second build")
    if not texts[0]:
        raise Failure(f"{path} makes nothing")
    return objects(clients, texts[0])


def evaluated(clients, folder, config, *how):
    """The objects that `kpt fn eval` prints, run in the package."""
    command = ["kpt", "fn", "eval", ".", "--fn-config", config, "-o", "unwrap", *how]
    return objects(clients, clients.run(*command, cwd=folder).stdout)


def mounted(mounts):
    """`SOURCE:TARGET`, with spaces between them."""
    return [mount.split(":") for mount in mounts.split()]


def same_in_kpt(clients, folder, expected, config, mounts):
    """Compares with what kpt makes by the program, and by the image with what is mounted."""
    found = evaluated(clients, folder, config, "--exec", "krm-template")
    same_text(found, expected, "of kpt's exec")
    mounts = [f"--mount=type=bind,src={folder / src},dst={dst}" for src, dst in mounted(mounts)]
    found = evaluated(clients, folder, config, "--image", IMAGE, *mounts)
    same_text(found, expected, "of kpt's image")


def same_in_kustomize(clients, folder, expected):
    for kubectl in clients.kubectls:
        same_text(objects(clients, clients.kustomize(kubectl, folder).stdout), expected, kubectl)


def annotate(composition, mounts):
    """Says to kustomize what runs a Composition that has no metadata yet."""
    mounts = "".join(f"        - {{type: bind, src: {src}, dst: {dst}}}\n" for src, dst in mounted(mounts))
    edit(
        composition,
        (
            "kind: Composition\n",
            "kind: Composition\nmetadata:\n  name: function\n  annotations:\n"
            "    config.kubernetes.io/function: |\n      container:\n"
            f"        image: {IMAGE}\n        mounts:\n{mounts}",
        ),
    )


@case("kustomize and kpt make the objects of examples/composition-function that build makes")
def the_example(clients, place):
    folder = copy(FUNCTION, place / "package")
    expected = built(clients, folder, "local.yaml")
    same_in_kustomize(clients, folder, expected)
    # kpt brings the imported Composition along: it is among the items.
    same_in_kpt(clients, folder, expected, "composition.yaml", "")


@case("kustomize and kpt make the objects of a Composition of all kinds that build makes")
def all_kinds(clients, place):
    folder = copy(BUILTINS, place / "package")
    expected = built(clients, folder, "local.yaml")
    same_in_kustomize(clients, folder, expected)
    same_in_kpt(clients, folder, expected, "composition.yaml", "files:/files")


@case("both stories of examples/composition come out of kustomize and kpt as of build")
def the_stories(clients, place):
    # kustomize does not say where a functionConfig is, so paths begin at the root; kpt does.
    stories = [("app", "app/web.yaml:/web.yaml", "app:/app"), ("staging", "app:/app", "app:/app")]
    for story, of_kustomize, of_kpt in stories:
        folder = copy(STORIES, place / story)
        expected = built(clients, folder, story)
        config = f"{story}/composition.yaml"
        annotate(folder / config, of_kustomize)
        write(folder / "kustomization.yaml", f"transformers: [{config}]\n")
        same_in_kustomize(clients, folder, expected)
        # What a Composition reads itself must not be among the items.
        write(folder / ".krmignore", "app/web.yaml\nkustomization.yaml\n")
        same_in_kpt(clients, folder, expected, config, of_kpt)


@case("kustomize makes of examples/kept-comments the objects that build makes")
def kept_comments(clients, place):
    folder = copy(EXAMPLES / "kept-comments", place / "example")
    same_in_kustomize(clients, folder, built(clients, folder, "composition.yaml"))


# Transformers that look for names from before the prefix and the namespace of a Kustomization.
BY_OLD_NAMES = """\
apiVersion: builtin
kind: ReplicaCountTransformer
metadata: {name: more}
replica: {name: web, count: 3}
fieldSpecs: [{path: spec/replicas, kind: Deployment}]
---
apiVersion: builtin
kind: PatchTransformer
metadata: {name: settings}
target: {kind: ConfigMap, name: settings}
patch: |
  - {op: add, path: /data/color, value: blue}
---
apiVersion: builtin
kind: PrefixTransformer
metadata: {name: prefix}
prefix: more-
fieldSpecs: [{path: metadata/name}]
"""
RENAMES = """\
resources: [web.yaml]
namePrefix: blue-
namespace: shop
configMapGenerator:
- {name: settings, literals: [size=large]}
transformers: [transformers.yaml]
"""


@case("a Composition in kustomize finds objects by the names they had before, as kustomize does")
def by_old_names(clients, place):
    shutil.copy(FUNCTION / "web.yaml", place)
    write(place / "kustomization.yaml", RENAMES)
    listed = "".join(
        "- " + textwrap.indent(text, "  ").lstrip() for text in BY_OLD_NAMES.split("---\n")
    )
    composition = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Composition\ntransformers:\n"
    for kubectl in clients.kubectls:
        write(place / "transformers.yaml", BY_OLD_NAMES)
        expected = clients.kustomize(kubectl, place).stdout
        write(place / "transformers.yaml", composition + listed)
        annotate(place / "transformers.yaml", "")
        same_text(clients.kustomize(kubectl, place).stdout, expected, kubectl)
