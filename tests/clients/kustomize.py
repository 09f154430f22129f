"""krm-template in kustomize, with a Template as the functionConfig."""

import re
import shutil
from pathlib import Path

from kpt import rendered
from support import EXAMPLES, ROOT, Failure, append, case, copy, edit, said, same_text, write
from template import drop_password, names_the_password

KUSTOMIZE = EXAMPLES / "kustomize"
OPENAPI = ROOT / "functionconfig/openapi.json"
CASES_FOLDER = Path(__file__).resolve().parent / "kustomize"
# Patches that each change one parameter of the Template `web`.
ONE_PARAMETER = {
    "values": """\
patches:
- patch: |
    apiVersion: template.krm.dev/v1alpha1
    kind: Template
    metadata: {name: web}
    values: {REPLICAS: "7"}
""",
    "JSON 6902": """\
patches:
- target: {kind: Template, name: web}
  patch: |
    - {op: replace, path: /parameters/1/value, value: "7"}
""",
    "strategic merge": """\
openapi: {path: openapi.json}
patches:
- patch: |
    apiVersion: template.krm.dev/v1alpha1
    kind: Template
    metadata: {name: web}
    parameters: [{name: REPLICAS, value: "7"}]
""",
}
# An object that has the name of one of the Template's.
STRANGER = (
    "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: mongodb\nspec:\n  ports:\n  - port: 1\n"
)


def with_a_stranger(place):
    """The example of transformers, with the stranger among its resources."""
    directory = copy(KUSTOMIZE / "transformers", place / "transformers")
    append(directory / "web.yaml", STRANGER)
    return directory


def makes_what_is_expected(clients, directory):
    """Builds a directory with each kubectl."""
    for kubectl in clients.kubectls:
        result = clients.kustomize(kubectl, directory)
        same_text(result.stdout, directory / "expected.yaml", kubectl)


@case("kubectl kustomize refuses to write over an object that the Template has not made")
def transformers_refuse(clients, place):
    directory = with_a_stranger(place)
    result = clients.kustomize("kubectl", directory, fails=True)
    if b"Service mongodb" not in result.stderr or b"template.krm.dev/adopt" not in result.stderr:
        raise Failure("stderr does not say how to adopt the Service\n" + said(result))


@case("kubectl kustomize puts an object of the Template in place of one that it may adopt")
def transformers_adopt(clients, place):
    directory = with_a_stranger(place)
    edit(
        directory / "template.yaml",
        ("  annotations:\n", '  annotations:\n    template.krm.dev/adopt: "true"\n'),
    )
    result = clients.kustomize("kubectl", directory)
    same_text(result.stdout, directory / "expected.yaml")


@case("kubectl kustomize without a required value fails and says which")
def kustomize_without_a_value(clients, place):
    for use in ["generators", "transformers"]:
        directory = copy(KUSTOMIZE / use, place / use)
        drop_password(directory / "template.yaml")
        for kubectl in clients.kubectls:
            names_the_password(clients.kustomize(kubectl, directory, fails=True))


@case("one parameter may be patched in `values`, by JSON 6902 and by strategic merge")
def one_parameter(clients, place):
    directory = copy(EXAMPLES / "kustomize/overlay", place / "overlay")
    edit(
        directory / "expected.yaml",
        ("replicas: 3", "replicas: 7"),
        ("LOG_LEVEL: warning", "LOG_LEVEL: debug"),
        # The name that kustomize gives the ConfigMap for this content.
        ("web-b6dh7b267t", "web-47668c6k28"),
    )
    for patches in ONE_PARAMETER.values():
        write(directory / "template/kustomization.yaml", "resources: [../base]\n" + patches)
        makes_what_is_expected(clients, directory)


@case("kubectl kustomize merges the instances of a TemplateInstance by name")
def instances(clients, place):
    directory = copy(CASES_FOLDER / "instances", place / "instances")
    shutil.copy(OPENAPI, directory)
    makes_what_is_expected(clients, directory)


@case("kubectl kustomize patches Kubernetes's own kinds as without our openapi.json")
def kubernetes(clients, place):
    directory = copy(CASES_FOLDER / "kubernetes", place / "kubernetes")
    plain = "resources: [resources.yaml]\npatches:\n"
    for number, patch in enumerate((directory / "patches.yaml").read_text().split("---\n")):
        write(directory / f"{number}.yaml", patch)
        plain += f"- path: {number}.yaml\n"
    shutil.copy(OPENAPI, directory)
    for kubectl in clients.kubectls:
        write(directory / "kustomization.yaml", plain)
        expected = clients.kustomize(kubectl, directory)
        write(directory / "kustomization.yaml", plain + "openapi: {path: openapi.json}\n")
        same_text(clients.kustomize(kubectl, directory).stdout, expected.stdout, kubectl)


@case("kubectl kustomize merges, replaces and renames what the Template asks it to")
def annotations(clients, _place):
    directory = CASES_FOLDER / "annotations"
    makes_what_is_expected(clients, directory)


@case("kpt and kubectl kustomize make the same objects, but for the annotations of kpt's")
def same_objects(clients, place):
    directory = copy(KUSTOMIZE / "generators", place / "plain")
    objects = (rendered(clients, place) / "database/mongodb-ephemeral-generated.yaml").read_text()
    annotations = "  annotations:\n    template.krm.dev/instance: .*\n    template.krm.dev/origin: .*\n"
    objects, count = re.subn(annotations, "", objects)
    if count != 2:
        raise Failure(f"expected two objects that name their instance:\n{objects}")
    (directory / "mongodb.yaml").write_text(objects)
    edit(
        directory / "kustomization.yaml",
        ("generators:\n- template.yaml\n", ""),
        ("- web.yaml\n", "- web.yaml\n- mongodb.yaml\n"),
    )
    result = clients.kustomize("kubectl", directory)
    same_text(result.stdout, directory / "expected.yaml")
