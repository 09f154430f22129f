"""The server as a process, for the scripts of this folder."""

import json
import socket
import subprocess
import time
import urllib.error
import urllib.request

START_SECONDS = 30


class Failure(Exception):
    """Something is not as it must be."""


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Server:
    """A process of the program with a file as its store, in a folder."""

    def __init__(self, binary, folder, options=()):
        self.folder, self.process, self.port = folder, None, free_port()
        self.command = [binary, "--listen", f"127.0.0.1:{self.port}", "--store", "file:store.redb", *options]

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(self.command, cwd=self.folder, stdout=log, stderr=log)
        began = time.monotonic()
        while True:
            try:
                if self.ask("GET", "/readyz", parse=False)[0] == 200:
                    return
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() - began > START_SECONDS:
                raise Failure(f"the server does not start\n{(self.folder / 'log').read_text()[-3000:]}")
            time.sleep(0.01)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, method, path, body=None, token=None, parse=True):
        """The code and the body of an answer."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                code, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            code, text = error.code, error.read()
        return code, json.loads(text) if parse else text
