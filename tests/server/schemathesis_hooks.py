"""Makes requests that end, and half of those for one Template for a Template that is stored."""

import itertools
import json
import urllib.error
import urllib.request

import schemathesis

CALLS = itertools.count()


@schemathesis.hook
def before_call(_context, case, _arguments):
    # The answer of a watch ends when the client closes it, and schemathesis reads to the end.
    case.query.pop("watch", None)
    if "name" in case.path_parameters and next(CALLS) % 2:
        case.path_parameters = {**case.path_parameters, "namespace": "default", "name": "stored"}
        create(case)


def create(case):
    """Creates the Template, if the call before has deleted it."""
    prefix = case.operation.path.split("/namespaces/")[0]
    template = {
        "apiVersion": prefix.removeprefix("/apis/"),
        "kind": "Template",
        "metadata": {"name": "stored"},
        "parameters": [{"name": "A", "value": "1"}],
        "objects": [],
    }
    url = f"{case.operation.base_url}{prefix}/namespaces/default/templates"
    headers = {"Content-Type": "application/json"}
    try:
        urllib.request.urlopen(urllib.request.Request(url, json.dumps(template).encode(), headers))
    except urllib.error.HTTPError as error:
        if error.code != 409:
            raise
