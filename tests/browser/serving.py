"""The servers of the tests, and the Templates in them."""

import json
import urllib.parse

from server_program import KRM, Place, Server
from support import Failure

import templates

COOKIE = "__Host-krm"


class Open(Server):
    """A server on the loopback interface without users, over HTTP."""

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def security(self):
        return []

    def store_template(self, namespace, template):
        """Stores a Template: a value, or YAML."""
        kind = "application/yaml" if isinstance(template, str) else "application/json"
        body = template if isinstance(template, str) else json.dumps(template)
        path = f"{KRM}/{namespace}/templates"
        status, _, answer = self.ask("POST", path, body.encode(), {"Content-Type": kind})
        if status != 201:
            raise Failure(f"a Template is not stored: {status} {answer[:500]!r}")

    def form(self, namespace, name):
        """The address of a form."""
        return f"{self.address}/ui/{namespace}/template.krm.dev/{name}"

    def submit(self, path, fields, headers=None, token="token-of-admin"):
        """Sends a form as a browser does. Returns the status, the headers and the text."""
        body = urllib.parse.urlencode(fields).encode()
        sent = {"Content-Type": "application/x-www-form-urlencoded", "Origin": self.address, **(headers or {})}
        status, found, answer = self.ask("POST", path, body, sent, token)
        return status, found, answer.decode()


class Servers:
    """An open server with all Templates; others are started by the cases that stop them."""

    def __init__(self, folder, binary):
        self.place = Place(folder, binary)
        self.count = 0
        self.open = Open(self.place, name="open")

    def __enter__(self):
        self.open.start()
        return self

    def __exit__(self, *_):
        self.open.stop()

    def another(self):
        """An open server that a case may stop."""
        self.count += 1
        return Open(self.place, name=f"open-{self.count}")

    def users(self):
        """A server with users, over TLS."""
        self.count += 1
        return Server(self.place, name=f"users-{self.count}")

    def fill(self, shared):
        """Stores the Templates that most cases need, once."""
        if self.open.ask("GET", f"{KRM}/shop/templates/shop")[0] == 200:
            return self.open
        made = [templates.shop(), templates.types(), templates.none()]
        made += [templates.ten(), templates.many_objects(), templates.generous(shared)]
        for template in [*templates.examples(), *made]:
            self.open.store_template("shop", template)
        self.open.store_template("long", templates.long())
        self.open.store_template("markup", templates.canary())
        return self.open
