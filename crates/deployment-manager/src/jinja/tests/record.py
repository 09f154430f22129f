#!/usr/bin/env python3
"""Renders the templates of recorded.json with Jinja2, and records the results in place.

A result is null if Jinja2 fails. Needs `python3 -m pip install jinja2`.
"""
import copy
import json
import pathlib
import platform

import jinja2

FILE = pathlib.Path(__file__).with_name("recorded.json")


def render(group, template):
    imports = {"t.jinja": template, **group["imports"]}
    environment = jinja2.Environment(loader=jinja2.DictLoader(imports))
    context = copy.deepcopy(group["resource"])
    try:
        return environment.get_template("t.jinja").render(**context, env=group["env"], imports=imports)
    except Exception:
        return None


def line(value):
    return json.dumps(value, ensure_ascii=False)


def main():
    recorded = json.loads(FILE.read_text())
    groups = []
    for group in recorded["groups"]:
        cases = [line([template, render(group, template)]) for template, _ in group["cases"]]
        fields = [f'"{name}": {line(group[name])}' for name in ("resource", "env", "imports")]
        groups.append("{" + ",\n".join([*fields, '"cases": [\n' + ",\n".join(cases) + "\n]"]) + "}")
    head = [
        f'"jinja2": {line(jinja2.__version__)}',
        f'"python": {line(platform.python_version())}',
        f'"recorded by": {line(recorded["recorded by"])}',
    ]
    FILE.write_text("{\n" + ",\n".join([*head, '"groups": [\n' + ",\n".join(groups) + "\n]"]) + "\n}\n")


main()
