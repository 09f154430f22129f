"""The image, run as kpt and kustomize run it."""

import gzip
import itertools
import re
import shutil

from support import EXAMPLES, IMAGE, ROOT, Failure, case, said, same_text

IMAGE_LIMIT = 10_000_000
# How kpt and kustomize start a function, and --read-only besides.
DOCKER_RUN = "docker run --rm -i --network none --user nobody --read-only".split()


@case("the image answers --help on stdout")
def image_help(clients, _place):
    result = clients.run("docker", "run", "--rm", IMAGE, "--help")
    same_text(result.stdout, clients.run(clients.binary, "--help").stdout)
    if not result.stdout or result.stderr:
        raise Failure("--help belongs on stdout\n" + said(result))


@case("the image expands a ResourceList as nobody, read-only, without a network")
def image_run(clients, _place):
    given = (EXAMPLES / "mongodb/resource-list.yaml").read_bytes()
    for _ in range(2):
        result = clients.run(*DOCKER_RUN, IMAGE, input=given)
        same_text(result.stdout, EXAMPLES / "mongodb/expected.yaml")


@case("the image is not built around a dynamic binary")
def image_dynamic(clients, place):
    shutil.copy(ROOT / "Dockerfile", place)
    shutil.copytree(ROOT / "docker", place / "docker")
    shutil.copy(shutil.which("sh"), place / "dynamic")
    shutil.copy(ROOT / "LICENSE", place)
    build = ["docker", "build", "--target", "prebuilt", "--build-arg", "BINARY=dynamic", place]
    result = clients.run(*build, fails=True)
    if b"fails if BINARY is not static" not in result.stdout + result.stderr:
        raise Failure(said(result))


@case("the image has the licenses of the crates in the binary")
def image_licenses(clients, place):
    container = clients.run("docker", "create", IMAGE).stdout.decode().strip()
    clients.run("docker", "cp", f"{container}:/licenses/crates.gz", place)
    clients.run("docker", "rm", container)
    named = re.findall(r"^(\S+) (\S+) \(", gzip.decompress((place / "crates.gz").read_bytes()).decode(), flags=re.MULTILINE)
    # A place where a crate can panic names its file.
    linked = re.findall(rb"/registry/src/[^/]+/([^/]+)/", clients.binary.read_bytes())
    missing = {crate.decode() for crate in linked} - {"-".join(crate) for crate in named}
    if not linked or missing:
        raise Failure(f"of {len(linked)} places, no license is named for {missing}")


@case(f"the image is smaller than {IMAGE_LIMIT // 1_000_000} MB")
def image_size(clients, _place):
    size = int(clients.run("docker", "image", "inspect", "-f", "{{.Size}}", IMAGE).stdout)
    if size >= IMAGE_LIMIT:
        raise Failure(f"{size} bytes")


@case("1,000 commented Deployments pass through the binary and the image unchanged")
def many_deployments(clients, _place):
    deployments = "".join(commented_deployment(number) for number in range(1000))
    given = (EXAMPLES / "mongodb/resource-list.yaml").read_text()
    expected = (EXAMPLES / "mongodb/expected.yaml").read_text()
    # Beside items that are kept in files, new ones name their file and the instance that made them.
    numbers = itertools.count()
    kept = lambda labels: labels[0] + f"""\
    annotations:
      internal.config.kubernetes.io/path: mongodb-ephemeral-generated.yaml
      internal.config.kubernetes.io/index: "{next(numbers)}"
      template.krm.dev/instance: Template//mongodb-ephemeral
      template.krm.dev/origin: {next(kinds)} mongodb
"""
    kinds = iter(["Service", "ReplicationController"])
    expected = re.sub(r"^    labels:\n(?:      .*\n)+", kept, expected, flags=re.MULTILINE)
    given = given.replace("\nitems: []\n", "\nitems:\n" + deployments)
    expected = expected.replace("\nitems:\n", "\nitems:\n" + deployments)
    for command in [[clients.binary], [*DOCKER_RUN, IMAGE]]:
        result = clients.run(*command, input=given.encode())
        same_text(result.stdout, expected.encode())


def commented_deployment(number):
    """An item of a ResourceList in a spelling that no printer would choose."""
    return f"""\
# Deployment number {number}.

- # Its head.
  apiVersion: apps/v1
  kind: Deployment   # a kind
  metadata:
    name: "web-{number}"
    labels: {{app: web,   number: '{number}'}}   # in one line
    annotations:
      config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/path: 'web-{number}.yaml'
      note: >
        folded
        text, and $(DATABASE_SERVICE_NAME) in it
  spec:
      replicas:    {number % 5}
      selector: {{matchLabels: {{app: web, "number": '{number}'}}}}

      template:
          metadata:
              labels: {{app: web, number: '{number}'}}
          spec:
              containers:
                - image: web:1.{number}      # pinned
                  name: web
                  # Octal, and a string that looks like a number.
                  args: [ --mode, 0644, '1.10',
                          "two lines" ]
                  command:
                  - |
                      #!/bin/sh
                      # not a comment

                      exec web
  # Its foot.
"""
