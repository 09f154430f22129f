"""The examples in docs/transformers.md come out of kustomize with the same values; those that say
`With helm, it prints:` come out of krm-template as shown, with a stand-in for helm.

Of each example, the fields of a Kustomization that stand for its transformers are put together,
and the newest kubectl builds them beside the files of the example.
"""

import json
import re

from delegation import FOLDER
from support import ROOT, Failure, case, same_text

DOCS = ROOT / "docs/transformers.md"
# Stands in for helm.
HELM = FOLDER / "charts/bin"
# What kustomize cannot build, and why.
EXCEPTIONS = {}


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


def sections(prints):
    """The title of each section, and the files and the output of each of its examples."""
    for section in DOCS.read_text().split("\n## ")[1:]:
        files, found = {}, []
        blocks = rf"^(?:`([^`\n]+)`:|{prints})\n```\w*\n(.*?)^```$"
        for name, text in re.findall(blocks, section, re.MULTILINE | re.DOTALL):
            if name:
                files[name] = text
            else:
                found.append((dict(files), text))
        if found:
            yield section.split("\n")[0], found


def written(folder, files):
    """Writes files; gives the path and the text of each."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        yield file, text


def same_with_helm(clients, place, examples):
    command = ["--enable-helm", "--helm-command", HELM / "helm"]
    for number, (files, printed) in enumerate(examples):
        list(written(place / str(number), files))
        built = clients.run("krm-template", "build", *command, place / str(number))
        same_text(built.stdout, printed.encode())


def same_as_kustomize(clients, place, examples):
    for number, (files, printed) in enumerate(examples):
        folder = place / str(number)
        for file, text in written(folder, files):
            if file.name == "composition.yaml":
                composition = json.loads(values(clients, text))
                fields = json.dumps(kustomization(composition["transformers"]))
                file.with_name("kustomization.yaml").write_text(fields)
        built = clients.kustomize(clients.kubectls[-1], folder).stdout.decode()
        same_text(values(clients, printed).encode(), values(clients, built).encode())


def register():
    ways = [
        ("It prints:", same_as_kustomize, "kustomize makes what docs/transformers.md shows of {}"),
        ("With helm, it prints:", same_with_helm, "what docs/transformers.md shows of {} comes out with helm"),
    ]
    for prints, check, sentence in ways:
        found = list(sections(prints))
        if not found:
            raise Failure(f"{DOCS} has no examples with `{prints}`")
        for title, examples in found:
            if title not in EXCEPTIONS:
                bound = lambda clients, place, check=check, examples=examples: check(clients, place, examples)
                case(sentence.format(title))(bound)


register()
