"""Reads YAML as kube-apiserver does: with the words of YAML 1.1, and times as texts."""

import yaml


class Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    bool_values = {**yaml.SafeLoader.bool_values, "y": True, "n": False}


Loader.add_implicit_resolver("tag:yaml.org,2002:bool", yaml.resolver.re.compile("^[yYnN]$"), list("yYnN"))


def read(text):
    return yaml.load(text, Loader)
