"""The requests whose cost is recorded of a real OpenShift API server, for the scripts of this folder."""

import json
import os
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/clients"), str(ROOT / "benches")]

from server_program import OPENSHIFT  # noqa: E402
from support import Failure  # noqa: E402

BENCH = Path(os.environ.get("KRM_TEMPLATE_SHARED", "."), "corpus/template-api/bench")
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
STORED = f"{OPENSHIFT}/shop/templates"
PROCESSED = f"{OPENSHIFT}/shop/processedtemplates"
LISTED = 500


class Row(NamedTuple):
    """A kind of request."""

    what: str
    path: str
    body: str | None = None
    store: str = "any"

    def accept(self):
        return TABLE if "Table" in self.what else "application/json"

    def creates(self):
        return self.body is not None and self.path.endswith("/templates")

    def needs_stored(self):
        return "stored" in self.what or "list" in self.what


ROWS = [
    Row("GET /livez (cost of TLS, HTTP and the filters)", "/livez"),
    Row("mongodb", PROCESSED, "mongodb"),
    Row("median", PROCESSED, "median"),
    Row("largest", PROCESSED, "largest"),
    Row("tenfold", PROCESSED, "tenfold"),
    Row("get one stored Template (3.6 kB)", f"{STORED}/bench-0"),
    Row("list of 500 as Table", STORED),
    Row("list of 500 as Table, resourceVersion=0", f"{STORED}?resourceVersion=0"),
    Row("create stored (1.7 kB), etcd with fsync", f"{OPENSHIFT}/prod/templates", "mongodb", "etcd"),
]


def prepare(server):
    """Stores 500 Templates of the median size."""
    template = json.loads((BENCH / "median.json").read_text())
    connection = server.connect()
    for index in range(LISTED):
        template["metadata"] = {**template["metadata"], "name": f"bench-{index}"}
        status, body = connection.ask("POST", STORED, json.dumps(template).encode())
        if status != 201:
            raise Failure(f"bench-{index}: {status} {body[:300]!r}")
