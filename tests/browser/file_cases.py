"""The file of `krm-template form`: a form without a server."""

import json
import subprocess

import yaml

from support import Failure, case

import templates
from markup import well_formed

AWKWARD = "it's \"7\" $HOME `x` \\ ü: # -"


def make(bench, template, name="form.html"):
    """Writes the file for a Template. Returns its address, and the file of the Template."""
    folder = bench.folder / name.removesuffix(".html")
    folder.mkdir(exist_ok=True)
    source = folder / "template.yaml"
    source.write_text(template if isinstance(template, str) else json.dumps(template))
    made = subprocess.run([bench.function, "form", "-f", source], capture_output=True, check=True)
    (folder / name).write_bytes(made.stdout)
    well_formed(made.stdout.decode(), name)
    return (folder / name).as_uri(), source


def outputs(browser):
    return {one: browser.run(f"return document.getElementById('use-{one}').textContent") for one in ["command", "values", "instance"]}


def objects(bench, source, *arguments):
    command = [bench.function, "process", "-f", source, "-o", "json", *arguments]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise Failure(f"{arguments}: {result.stderr}")
    return json.loads(result.stdout)


@case("the form file makes outputs that process takes, with the values that were typed")
def makes_outputs(bench):
    browser = bench.browser
    address, source = make(bench, templates.types())
    browser.open(address)
    browser.type("#p-TEXT", AWKWARD)
    browser.type("#p-LINES", "a: 1\n  b\n\nlast")
    browser.type("#p-COUNT", "7")
    browser.type("#p-PORTS", "- 1\n- '2'")
    browser.type("#p-EXTRA", "{a: [x, yes]}")
    browser.type("#p-KEY", "0123456789abcdef")
    browser.type("#p-PASSWORD", "typed-secret")
    browser.type("#p-ICON", "aWNvbg==")
    browser.click("[id='field-SIZE'] input[value=large]")
    browser.click("[id='field-VERBOSE'] input[value=true]")
    browser.run("arguments[0].value = 'us-2'; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))", browser.one("#p-REGION"))
    given = {
        "TEXT": AWKWARD, "LINES": "a: 1\n  b\n\nlast", "COUNT": "7", "PORTS": "- 1\n- '2'", "EXTRA": "{a: [x, yes]}",
        "KEY": "<KEY>", "PASSWORD": "<PASSWORD>", "ICON": "aWNvbg==", "SIZE": "large", "VERBOSE": "true", "REGION": "us-2",
    }
    wanted = objects(bench, source, *[word for name, value in given.items() for word in ["-p", f"{name}={value}"]])
    made = outputs(browser)
    if "typed-secret" in "".join(made.values()):
        raise Failure("a secret is in the outputs")
    (source.parent / "values.yaml").write_text(made["values"])
    (source.parent / "instance.yaml").write_text(made["instance"])
    shell = made["command"].replace("krm-template ", f"{bench.function} ", 1).rstrip() + " -o json"
    ran = subprocess.run(["bash", "-c", shell], cwd=source.parent, capture_output=True, text=True)
    found = {
        "values": objects(bench, source, "-P", source.parent / "values.yaml"),
        "instance": objects(bench, source, "-f", source.parent / "instance.yaml"),
        "command": json.loads(ran.stdout) if ran.returncode == 0 else ran.stderr,
    }
    for one, result in found.items():
        if result != wanted:
            raise Failure(f"{one} gives other objects:\n{made[one]}\n{result}\nexpected {wanted}")
    if list(yaml.safe_load(made["values"])) != [name for name in yaml.safe_load(made["values"]) if name in given]:
        raise Failure(f"the values file has a value that nobody gave: {made['values']}")


@case("the form file names what is missing and what is wrong, by the browser's own checks")
def says_what_is_wrong(bench):
    browser = bench.browser
    address, _ = make(bench, templates.shop())
    browser.open(address)
    browser.until_text("#status", "2 values missing")
    browser.type("#p-NAME", "Not a name")
    browser.type("#p-REPLICAS", "21")
    browser.one("#p-VERSION").click()
    browser.until(lambda: browser.find("#p-NAME[aria-invalid=true]"), "a name that does not match is not wrong")
    browser.until(lambda: browser.find("#p-REPLICAS[aria-invalid=true]"), "a number that is too large is not wrong")
    browser.check("the form file with two wrong values")
    browser.type("#p-NAME", "web")
    browser.type("#p-REPLICAS", "20")
    browser.until(lambda: not browser.find("[aria-invalid=true]"), "what is right now is still wrong")
    browser.until_text("#status", "1 value missing")


@case("the form file keeps the lines of what is pasted, and checks their pattern")
def takes_lines(bench):
    browser = bench.browser
    address, source = make(bench, templates.types())
    browser.open(address)
    browser.paste("#p-TEXT", "first\nsecond\n")
    (source.parent / "values.yaml").write_text(outputs(browser)["values"])
    key = ["-p", "KEY=0123456789abcdef"]
    found = objects(bench, source, "-P", source.parent / "values.yaml", *key)
    if found != objects(bench, source, "-p", "TEXT=first\nsecond\n", *key):
        raise Failure(f"other lines: {found}")
    browser.paste("#p-CODE", "AB\nCD")
    browser.one("#p-TEXT").click()
    browser.until(lambda: browser.find("textarea#p-CODE[aria-invalid=true]"), "lines that do not match are not wrong")
    browser.check("the form file with pasted lines")


@case("the form file has no secret, runs none of the Template's markup, and needs nothing else")
def is_safe(bench):
    browser = bench.browser
    address, _ = make(bench, templates.types())
    browser.open(address)
    if templates.SECRET in browser.driver.page_source:
        raise Failure("the default of a secret is in the form")
    address, _ = make(bench, templates.canary())
    browser.open(address)
    if browser.driver.title == "taken over" or browser.find("main script"):
        raise Failure("markup of the Template is markup of the page")
    if templates.CANARY not in browser.body():
        raise Failure("the text of the Template is not shown as it is")
    browser.check("the form file with markup in each text")
    loaded = browser.run("return performance.getEntriesByType('resource').map((one) => one.name)")
    if loaded:
        raise Failure(f"the file loads {loaded}")


@case("the form file is accessible in light and dark, wide and narrow, with many fields and none")
def is_accessible(bench):
    browser = bench.browser
    for name, template in [("shop", templates.shop()), ("types", templates.types()), ("long", templates.long()), ("none", templates.none()), ("cassandra", templates.generous(bench.shared))]:
        address, _ = make(bench, template, f"{name}.html")
        browser.size(1440)
        browser.open(address)
        for scheme in ["light", "dark"]:
            browser.media(scheme)
            for width in [1440, 768, 320]:
                browser.size(width)
                browser.check(f"the form file of {name}, {width} px, {scheme}")
                browser.screenshot(bench.pictures / f"file-{name}-{width}-{scheme}.png")
