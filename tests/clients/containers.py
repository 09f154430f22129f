"""Container functions of `krm-template build`, in the real Docker engine."""

import os
from pathlib import Path

from support import Failure, case, said, same_text, write

PROBE = Path(__file__).resolve().parent / "container/probe.rs"
PROBE_IMAGE = "localhost/krm-template-probe:dev"
COMPOSITION = """\
kind: Composition
transformers:
- apiVersion: example.com/v1
  kind: Probe
  runtime:
    container: {{image: {image}{more}}}
"""


def probe_image(clients, place):
    """Builds the image of a function that prints what it sees."""
    command = ["rustc", "--edition", "2021", "-C", "target-feature=+crt-static", "-C", "panic=abort"]
    clients.run(*command, "-o", place / "probe", PROBE)
    write(place / "Dockerfile", 'FROM scratch\nCOPY probe /probe\nENTRYPOINT ["/probe"]\n')
    clients.run("docker", "build", "--quiet", "--tag", PROBE_IMAGE, place)


def seen(clients, folder, more, *options, fails=False):
    """What the function sees, as lines of its ConfigMap."""
    write(folder / "composition.yaml", COMPOSITION.format(image=PROBE_IMAGE, more=more))
    build = ["krm-template", "build", "--enable-alpha-plugins", folder]
    result = clients.run(*build, *options, fails=fails, cwd=folder)
    return said(result) if fails else result.stdout.decode().split("\ndata:\n")[1]


def sees(**found):
    """The lines of the ConfigMap; what is not named is as without options."""
    usual = {"user": "65534", "network": "false", "read": "", "written": "false", "variable": ""}
    return "".join(f'  {key}: "{value}"\n' for key, value in {**usual, **found}.items()).encode()


@case("container functions get the network, mounts, variables and the user that are asked for, and no others")
def surroundings(clients, place):
    probe_image(clients, place)
    folder, outside = place / "app", place / "outside"
    for data in [folder / "data", outside]:
        data.mkdir(parents=True)
        data.chmod(0o777)
        write(data / "file", f"of {data.name}\n")
    check = lambda found, expected: same_text(found.encode(), expected)
    check(seen(clients, folder, ""), sees())
    # The Composition asks for a network, and the user has to agree.
    refused = seen(clients, folder, ", network: true", fails=True)
    if "--network" not in refused:
        raise Failure(refused)
    check(seen(clients, folder, ", network: true", "--network"), sees(network="true"))
    check(seen(clients, folder, "", "--network"), sees())
    mounts = ", mounts: [{src: data, dst: /data}]"
    check(seen(clients, folder, mounts), sees(read="of data"))
    writable = ", mounts: [{src: data, dst: /data, rw: true}]"
    check(seen(clients, folder, writable), sees(read="of data", written="true"))
    mount = f"type=bind,src={outside},dst=/data"
    check(seen(clients, folder, "", "--mount", mount), sees(read="of outside"))
    check(seen(clients, folder, "", "--mount", f"{mount},rw=true"), sees(read="of outside", written="true"))
    check(seen(clients, folder, "", "--env", "PROBE=a b"), sees(variable="a b"))
    check(seen(clients, folder, ", envs: [PROBE=own]"), sees(variable="own"))
    check(seen(clients, folder, "", "--as-current-user"), sees(user=os.getuid()))


@case("a mount of a container function does not leave its directory by a link")
def mount_by_link(clients, place):
    folder, outside = place / "app", place / "outside"
    folder.mkdir()
    outside.mkdir()
    (folder / "data").symlink_to(outside)
    refused = seen(clients, folder, ", mounts: [{src: data, dst: /data}]", fails=True)
    if f"/data` leads to `{outside}`" not in refused:
        raise Failure(refused)


@case("a mount of a container function is exactly `bind` below its directory, or `tmpfs`")
def mount_of_another_type(clients, place):
    folder = place / "app"
    folder.mkdir()
    for kind, source in [("Bind", "/etc"), ("BIND", "/etc"), ("volume", "probe"), ("npipe", "/var/run/docker.sock")]:
        mount = f", mounts: [{{type: {kind}, src: {source}, dst: /data, rw: true}}]"
        refused = seen(clients, folder, mount, fails=True)
        if f"`{kind}` is not a type of mount that may be used" not in refused:
            raise Failure(refused)
    tmpfs = seen(clients, folder, ", mounts: [{type: tmpfs, dst: /data, rw: true}]")
    same_text(tmpfs.encode(), sees(written="true"))


@case("a container function does not lead the mount of the next one out of its directory")
def mount_by_new_link(clients, place):
    folder, outside = place / "app", place / "outside"
    for directory in [folder, outside]:
        directory.mkdir()
        directory.chmod(0o777)
    write(outside / "file", "of outside\n")
    writable = "mounts: [{src: SOURCE, dst: /data, rw: true}]"
    first = f", envs: ['PROBE_LINK=data2:{outside}'], {writable}".replace("SOURCE", ".")
    transformers = COMPOSITION.format(image=PROBE_IMAGE, more=first)
    again = COMPOSITION.format(image=PROBE_IMAGE, more=", " + writable.replace("SOURCE", "data2"))
    again = again.split("transformers:\n")[1].replace("kind: Probe", "kind: Again")
    write(folder / "composition.yaml", transformers + again)
    refused = said(clients.run("krm-template", "build", "--enable-alpha-plugins", folder, fails=True, cwd=folder))
    if not (folder / "data2").is_symlink() or f"leads to `{outside}`" not in refused:
        raise Failure(refused)
    if (outside / "new").exists():
        raise Failure("the second container wrote outside of the directory")
