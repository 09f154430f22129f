"""What must survive: `kill -9` between writes, and writes of two replicas at once."""

import json
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from server_program import KRM, Server, expect, free_port
from support import Failure

PATCHES = 28


def template(name, **more):
    return {
        "apiVersion": "template.krm.dev/v1alpha1",
        "kind": "Template",
        "metadata": {"name": name},
        "objects": [],
        **more,
    }


def names(server):
    status, _, body = server.ask("GET", f"{KRM}/shop/templates")
    expect(status, 200, "status of the list")
    return {item["metadata"]["name"] for item in json.loads(body)["items"]}


def killed(place, rounds, store):
    """Creates Templates without a pause, kills the server at any moment, and looks for what it acknowledged."""
    server = Server(place, store=store, name="killed")
    expected, sent = set(), set()
    for round_number in range(rounds):
        server.start()
        try:
            stored = names(server)
            if lost := expected - stored:
                raise Failure(f"round {round_number}: lost after an acknowledgement: {sorted(lost)}")
            if made_up := stored - sent:
                raise Failure(f"round {round_number}: never sent: {sorted(made_up)}")
            expected = stored
            stop = threading.Event()

            def create(writer):
                index = 0
                while not stop.is_set():
                    name = f"r{round_number}-w{writer}-{index}"
                    sent.add(name)
                    try:
                        status, _, body = server.ask("POST", f"{KRM}/shop/templates", template(name))
                    except OSError:
                        return
                    if status != 201:
                        raise Failure(f"{name}: {status} {body!r}")
                    expected.add(name)
                    index += 1

            writers = [threading.Thread(target=create, args=[writer]) for writer in range(4)]
            for writer in writers:
                writer.start()
            time.sleep(0.1 + 0.07 * (round_number % 7))
            server.kill()
            stop.set()
            for writer in writers:
                writer.join()
        finally:
            server.stop()
    if len(expected) < rounds:
        raise Failure(f"only {len(expected)} Templates were created in {rounds} rounds")


class Etcd:
    """One etcd on a free port of the loopback address."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp()
        port, peers = free_port(), free_port()
        self.address = f"http://127.0.0.1:{port}"
        command = ["etcd", "--data-dir", f"{self.folder}/data", "--listen-client-urls", self.address]
        command += ["--advertise-client-urls", self.address, "--listen-peer-urls", f"http://127.0.0.1:{peers}"]
        command += ["--initial-advertise-peer-urls", f"http://127.0.0.1:{peers}"]
        command += ["--initial-cluster", f"default=http://127.0.0.1:{peers}"]
        with open(f"{self.folder}/log", "wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)


def replicas(place, kubectls):
    """Two replicas: no patch is lost, and a watch on one sees a write on the other within a second."""
    with Etcd() as etcd:
        store = ("etcd", etcd.address)
        with Server(place, store, "one") as one, Server(place, store, "two") as two:
            created = one.ask("POST", f"{KRM}/shop/templates", template("web"))
            expect(created[0], 201, "status of the creation")
            patches(place, [one, two], kubectls)
            seen(one, two)


def patches(place, servers, kubectls):
    """28 processes of kubectl patch one Template at the same time, half of them through each replica."""
    configs = []
    for server in servers:
        config = place.folder / f"kubeconfig-{server.name}"
        config.write_text(server.kubeconfig())
        configs.append(config)

    def start(index):
        change = {"metadata": {"labels": {f"p{index}": str(index)}}}
        command = [kubectls[index % len(kubectls)], "--kubeconfig", configs[index % 2]]
        command += ["patch", "templates.template.krm.dev", "web", "--type=merge", "-p", json.dumps(change)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    running = [start(index) for index in range(PATCHES)]
    for process in running:
        output = process.communicate(timeout=120)[0].decode()
        if process.returncode:
            raise Failure(f"a patch failed: {output}")
    for server in servers:
        labels = json.loads(server.ask("GET", f"{KRM}/shop/templates/web")[2])["metadata"]["labels"]
        expect(labels, {f"p{index}": str(index) for index in range(PATCHES)}, f"labels through {server.name}")


def seen(one, two):
    """A watch on one replica sees a write on the other within a second."""
    import urllib.request

    listed = json.loads(one.ask("GET", f"{KRM}/shop/templates")[2])
    revision = listed["metadata"]["resourceVersion"]
    path = f"{KRM}/shop/templates?watch=true&timeoutSeconds=10&resourceVersion={revision}"
    request = urllib.request.Request(one.address + path, headers={"Authorization": "Bearer token-of-admin"})
    with urllib.request.urlopen(request, timeout=15, context=one.place.context) as watch:
        for index in range(5):
            began = time.monotonic()
            created = two.ask("POST", f"{KRM}/shop/templates", template(f"seen-{index}"))
            expect(created[0], 201, "status of the creation")
            event = json.loads(watch.readline())
            expect((event["type"], event["object"]["metadata"]["name"]), ("ADDED", f"seen-{index}"), "event")
            if (took := time.monotonic() - began) > 1:
                raise Failure(f"the event came after {took:.2f} s")


def cases(place, kubectls, rounds):
    """The cases, each with its own servers."""
    folder = place.folder
    yield "41 kill -9, file", lambda _: killed(place, rounds, f"file:{folder / 'killed.redb'}")

    def with_etcd(_):
        with Etcd() as etcd:
            killed(place, rounds, ("etcd", etcd.address))

    yield "41 kill -9, etcd", with_etcd
    yield "42 two replicas on one etcd", lambda _: replicas(place, list(kubectls.values()))
