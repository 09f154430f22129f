"""krm-template in kpt, with a Template as the functionConfig."""

import shutil

from support import EXAMPLES, EXPECTED, GIT, IMAGE, Failure, append, case, copy, edit, said, same_text, same_tree, write
from template import drop_password, names_the_password

PACKAGE = EXAMPLES / "kpt-template"
# What is in the example for its readers and for the tests.
BESIDES = shutil.ignore_patterns("README.md", ".expected", ".krmignore")


def unrendered(target):
    return shutil.copytree(PACKAGE, target, ignore=BESIDES)


def rendered(clients, place):
    """The package as `.expected/diff.patch` has it after a run."""
    target = place / "rendered"
    if not target.exists():
        unrendered(target)
        clients.run(*GIT, "apply", PACKAGE / ".expected/diff.patch", cwd=target)
    return target


@case("kpt fn render brings objects up to date when the Template changes, in their places")
def render_after_a_change(clients, place):
    package = copy(rendered(clients, place), place / "package")
    edit(
        package / "database/template.yaml",
        ('value: "1"', 'value: "3"'),
        (" # where mongod listens unless told otherwise", ""),
        ("# The pods of the database.", "# Its pods."),
    )
    # Comments in the file may be the user's own by now: they stay.
    expected = copy(package, place / "expected")
    edit(expected / "database/mongodb-ephemeral-generated.yaml", ("replicas: 1", "replicas: 3"))
    for _ in range(2):
        clients.render(package)
        same_tree(package, expected)


@case("kpt fn render puts an object that the Template gains after the others")
def render_after_an_addition(clients, place):
    package = copy(rendered(clients, place), place / "package")
    append(
        package / "database/template.yaml",
        "# How to get in.\n- apiVersion: v1\n  kind: Secret\n  metadata:\n"
        "    name: $(DATABASE_SERVICE_NAME)\n  stringData:\n    user: $(MONGODB_USER)\n",
    )
    expected = copy(package, place / "expected")
    append(
        expected / "database/mongodb-ephemeral-generated.yaml",
        "---\n# How to get in.\napiVersion: v1\nkind: Secret\nmetadata:\n  name: mongodb\n"
        "  labels:\n    template: mongodb-ephemeral-template\n  annotations:\n"
        "    template.krm.dev/instance: Template//mongodb-ephemeral\n"
        "    template.krm.dev/origin: Secret mongodb from template.yaml\nstringData:\n  user: app\n",
    )
    for _ in range(2):
        clients.render(package)
        same_tree(package, expected)


@case("kpt fn render leaves objects in the file that somebody moved them to")
def render_after_a_move(clients, place):
    package = copy(rendered(clients, place), place / "package")
    (package / "database/mongodb-ephemeral-generated.yaml").rename(package / "moved.yaml")
    expected = copy(package, place / "expected")
    # The place of the functionConfig as seen from the file.
    edit(expected / "moved.yaml", (" from template.yaml", " from database/template.yaml"))
    for _ in range(2):
        clients.render(package)
        same_tree(package, expected)


@case("kpt fn render does not write over a file that has the name of its own")
def render_beside_a_stranger(clients, place):
    package = unrendered(place / "package")
    stranger = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: stranger # not ours\n"
    append(package / "database/mongodb-ephemeral-generated.yaml", stranger)
    expected = copy(package, place / "expected")
    generated = (rendered(clients, place) / "database/mongodb-ephemeral-generated.yaml").read_text()
    append(expected / "database/mongodb-ephemeral-generated.yaml", "---\n" + generated)
    for _ in range(2):
        clients.render(package)
        same_tree(package, expected)


@case("kpt fn render without a required value fails, says which, and changes nothing")
def render_without_a_value(clients, place):
    package = unrendered(place / "package")
    drop_password(package / "database/template.yaml")
    expected = copy(package, place / "expected")
    result = clients.render(package, fails=True)
    names_the_password(result)
    same_tree(package, expected)


@case("kpt fn eval --exec in place makes what render makes, and a second time nothing")
def eval_in_place(clients, place):
    package = unrendered(place / "package")
    for _ in range(2):
        clients.eval(package, package / "database/template.yaml")
        same_tree(package, rendered(clients, place))


@case("kpt fn eval --exec with a Template from elsewhere writes to the package's root")
def eval_from_elsewhere(clients, place):
    package = unrendered(place / "package")
    template = (package / "database/template.yaml").rename(place / "template.yaml")
    (package / "database").rmdir()
    expected = copy(package, place / "expected")
    generated = rendered(clients, place) / "database/mongodb-ephemeral-generated.yaml"
    shutil.copy(generated, expected / "mongodb-ephemeral-generated.yaml")
    # It is not known where the Template is.
    edit(expected / "mongodb-ephemeral-generated.yaml", (" from template.yaml", ""))
    for _ in range(2):
        clients.eval(package, template)
        same_tree(package, expected)


@case("kpt fn eval --exec prints the package's own objects as they were, then the new ones")
def eval_to_stdout(clients, place):
    package = unrendered(place / "package")
    for _ in range(2):
        result = clients.eval(package, package / "database/template.yaml", "-o", "unwrap")
        same_text(result.stdout, EXPECTED / "eval-unwrap.yaml")


@case("kpt fn eval --exec without a required value fails and says which")
def eval_without_a_value(clients, place):
    package = unrendered(place / "package")
    drop_password(package / "database/template.yaml")
    expected = copy(package, place / "expected")
    result = clients.eval(package, package / "database/template.yaml", fails=True)
    names_the_password(result)
    same_tree(package, expected)


@case("kpt fn eval --image runs the image")
def eval_image(clients, place):
    package = unrendered(place / "package")
    config = package / "database/template.yaml"
    for _ in range(2):
        clients.run("kpt", "fn", "eval", package, "--image", IMAGE, "--fn-config", config)
        same_tree(package, rendered(clients, place))


@case("krm-template runs between kpt fn source and kpt fn sink")
def source_and_sink(clients, place):
    package = unrendered(place / "source")
    config = package / "database/template.yaml"
    source = clients.run("kpt", "fn", "source", package, "--fn-config", config)
    expanded = clients.run(clients.binary, input=source.stdout)
    clients.run("kpt", "fn", "sink", place / "package", input=expanded.stdout)
    same_tree(place / "package", rendered(clients, place))


@case("kpt fn doc prints what --help prints")
def doc(clients, _place):
    printed = clients.run("kpt", "fn", "doc", "--image", IMAGE).stdout
    same_text(printed.rstrip(), clients.run(clients.binary, "--help").stdout.rstrip())


SEEDED = """\
apiVersion: template.krm.dev/v1alpha1
kind: Template
metadata:
  name: seeded
  annotations: {config.kubernetes.io/local-config: "true"}
parameters:
- {name: PASSWORD, generate: expression, from: "[a-z]{12}"}
objects:
- apiVersion: v1
  kind: Secret
  metadata: {name: seeded}
  stringData: {password: $(PASSWORD)}
"""


@case("kpt fn eval -e gives an image the seed, from which it generates what the program does")
def eval_with_a_seed(clients, place):
    package = place / "package"
    package.mkdir()
    append(package / "template.yaml", SEEDED)
    config = ["--fn-config", package / "template.yaml", "-o", "unwrap"]
    command = ["env", "KRM_TEMPLATE_SEED=a seed for tests", "kpt", "fn", "eval", package]
    expected = clients.run(*command, "--exec", "krm-template", *config).stdout
    for variable in ["KRM_TEMPLATE_SEED", "KRM_TEMPLATE_SEED=a seed for tests"]:
        found = clients.run(*command, "--image", IMAGE, *config, "-e", variable).stdout
        same_text(found, expected, variable)
    # It sees no variable of this environment without the option.
    clients.run(*command, "--image", IMAGE, *config, fails=True)


# What a stranger's Template writes for the next run of a tool.
EVIL = """\
apiVersion: template.krm.dev/v1alpha1
kind: Template
metadata:
  name: evil
  annotations: {config.kubernetes.io/local-config: "true"}
objects:
- apiVersion: kpt.dev/v1
  kind: Kptfile
  metadata:
    name: NAME
    annotations:
      config.kubernetes.io/local-config: "true"
      template.krm.dev/adopt: "true"
      config.kubernetes.io/path: PATH
  pipeline:
    mutators:
    - exec: "touch RAN"
"""
KPTFILE = """\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata: {name: mine}
pipeline:
  mutators:
  - exec: krm-template
    configPath: template.yaml
"""


@case("kpt fn render runs nothing that a Template wrote")
def render_of_a_written_kptfile(clients, place):
    for name, path in [("evil", "evil/Kptfile"), ("mine", "Kptfile"), ("evil", "sub/kptfile"), ("evil", "x.yaml")]:
        package = place / f"{name}-{path.replace('/', '-')}"
        package.mkdir()
        write(package / "Kptfile", KPTFILE)
        evil = EVIL.replace("NAME", name).replace("PATH", path).replace("RAN", str(place / "ran"))
        write(package / "template.yaml", evil)
        for _ in range(2):
            refused = said(clients.render(package, fails=True))
        if "is not a resource: tools run what it names" not in refused:
            raise Failure(refused)
        if (place / "ran").exists() or len(list(package.rglob("*"))) != 2:
            raise Failure(f"{path} was written")
        same_text((package / "Kptfile").read_bytes().split(b"pipeline:")[1], KPTFILE.encode().split(b"pipeline:")[1])
