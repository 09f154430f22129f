"""The examples in examples/transformers come out of kustomize with the same values; the one with a
Helm chart comes out of krm-template as expected, with a stand-in for helm.

Of each example, the fields of a Kustomization that stand for its transformers are put together,
and the newest kubectl builds them beside the files of the example.
"""

import json
import shutil

from delegation import FOLDER
from support import ROOT, Failure, case, same_text

EXAMPLES = ROOT / "examples/transformers"
# Stands in for helm.
HELM = FOLDER / "charts/bin"


def resources(transformer):
    return {"resources": transformer["paths"]}


def generator(field):
    """Generators are named by their `metadata` where they have no name."""

    def made(transformer):
        name = transformer.get("metadata", {}).get("name")
        config = {key: value for key, value in transformer.items() if key not in ("kind", "metadata")}
        return {field: [{"name": name, **config}]}

    return made


def patches(transformer):
    texts = [transformer.get("patch") or transformer.get("patches") or transformer.get("jsonOp")]
    paths = transformer.get("paths") or [transformer["path"]] if not texts[0] else []
    found = [{"patch": text} for text in texts if text] + [{"path": path} for path in paths]
    more = {key: transformer[key] for key in ("target", "options") if key in transformer}
    return {"patches": [{**patch, **more} for patch in found]}


def affixes(transformer):
    fields = {"prefix": "namePrefix", "suffix": "nameSuffix"}
    return {field: transformer[key] for key, field in fields.items() if key in transformer}


def builtin(transformer):
    """The transformer itself, which kustomize wants to have a name."""
    metadata = {"name": "it", **transformer.get("metadata", {})}
    return {"transformers": [json.dumps({"apiVersion": "builtin", **transformer, "metadata": metadata})]}


def fields_of(kustomization):
    """The fields of a Kustomization, which gives names a hash."""
    fields = {key: value for key, value in kustomization.items() if key != "kind"}
    return {"generatorOptions": {"disableNameSuffixHash": False}, **fields}


# The field of a Kustomization for each kind.
FIELDS = {
    "ResourceAccumulator": resources,
    "ConfigMapGenerator": generator("configMapGenerator"),
    "SecretGenerator": generator("secretGenerator"),
    "IAMPolicyGenerator": lambda it: {"generators": builtin(it)["transformers"]},
    "Kustomization": fields_of,
    "HashTransformer": lambda _: {"generatorOptions": {"disableNameSuffixHash": False}},
    "LabelTransformer": lambda it: {"commonLabels": it["labels"]},
    "AnnotationsTransformer": lambda it: {"commonAnnotations": it["annotations"]},
    "NamespaceTransformer": lambda it: {"namespace": it["metadata"]["namespace"]},
    "PrefixTransformer": affixes,
    "SuffixTransformer": affixes,
    "PrefixSuffixTransformer": affixes,
    "ReplicaCountTransformer": lambda it: {"replicas": [it["replica"]]},
    "ImageTagTransformer": lambda it: {"images": [it["imageTag"]]},
    "PatchTransformer": patches,
    "PatchStrategicMergeTransformer": patches,
    "PatchJson6902Transformer": patches,
    "ReplacementTransformer": lambda it: {"replacements": it["replacements"]},
    "LegacyOrderTransformer": lambda _: {"sortOptions": {"order": "legacy"}},
    "SortOrderTransformer": lambda it: {"sortOptions": it["sortOptions"]},
}


def kustomization(transformers):
    fields = {"generatorOptions": {"disableNameSuffixHash": True}}
    for transformer in transformers:
        find = FIELDS.get(transformer["kind"], builtin)
        for key, value in (builtin if "fieldSpecs" in transformer else find)(transformer).items():
            fields[key] = fields.get(key, []) + value if isinstance(value, list) else value
    return fields


def values(clients, text):
    """The objects in a text, in an order of their own."""
    lines = clients.run("yq", "-cS", ".", input=text.encode()).stdout.decode().splitlines()
    return "".join(line + "\n" for line in sorted(lines))


def same_with_helm(clients, _place, example):
    command = ["--enable-helm", "--helm-command", HELM / "helm"]
    built = clients.run("krm-template", "build", *command, example)
    same_text(built.stdout, (example / "expected.yaml").read_bytes())


def same_as_kustomize(clients, place, example):
    folder = shutil.copytree(example, place / example.name)
    for file in folder.rglob("composition.yaml"):
        composition = json.loads(values(clients, file.read_text()))
        fields = json.dumps(kustomization(composition["transformers"]))
        file.with_name("kustomization.yaml").write_text(fields)
    built = clients.kustomize(clients.kubectls[-1], folder).stdout.decode()
    expected = (example / "expected.yaml").read_text()
    same_text(values(clients, expected).encode(), values(clients, built).encode())


def register():
    examples = sorted(EXAMPLES.iterdir())
    if not examples:
        raise Failure(f"{EXAMPLES} has no examples")
    for example in examples:
        if (example / "charts").exists():
            check, sentence = same_with_helm, "the example of {} comes out with helm"
        else:
            check, sentence = same_as_kustomize, "kustomize makes what the example of {} expects"
        bound = lambda clients, place, check=check, example=example: check(clients, place, example)
        case(sentence.format(example.name))(bound)


register()
