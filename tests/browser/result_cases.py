"""The result beside the form, and the same expansion elsewhere."""

import json
import subprocess

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from support import EXAMPLES, Failure, case

import templates

PASSWORD = "correct horse battery"


def open_shop(bench, server=None):
    """The form of the shop, filled in, with its result."""
    browser = bench.browser
    server = server or bench.servers.fill(bench.shared)
    browser.open(server.form("shop", "shop"))
    browser.until_text("#status", "missing")
    browser.type("#p-NAME", "web")
    browser.type("#p-DB_PASSWORD", PASSWORD)
    browser.until(lambda: len(browser.find(".object")) == 4, "there is no result")
    return browser


def view(browser, name):
    """Presses the switch that narrow screens have."""
    browser.size(320)
    browser.driver.find_element("xpath", f"//button[starts-with(., '{name}')]").click()


def shown(browser, number=0):
    return browser.run(f"return document.querySelectorAll('.object pre')[{number}].textContent")


@case("the result is what process prints, in the page and as a file")
def is_what_process_prints(bench):
    browser = bench.browser
    server = bench.servers.fill(bench.shared)
    browser.open(server.form("shop", "web"))
    browser.until_text("#status", "missing")
    browser.type("#p-NAME", "site")
    browser.type("#p-REPLICAS", "5")
    browser.until(lambda: browser.find(".object"), "there is no result")
    browser.until(lambda: "replicas: 5" in browser.body(), "the result is not that of the last value")
    command = [bench.function, "process", "-f", EXAMPLES / "web/template.yaml", "NAME=site", "REPLICAS=5"]
    wanted = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    browser.click("button[value=download]")
    file = browser.until(lambda: next((one for one in bench.browser.downloads.glob("*.yaml")), None), "nothing is downloaded")
    if file.read_text() != wanted:
        raise Failure(f"downloaded:\n{file.read_text()}\nexpected:\n{wanted}")
    file.unlink()
    documents = [text.strip() for text in wanted.split("---\n") if text.strip()]
    found = [shown(browser, number).strip() for number in range(len(documents))]
    without = [["\n".join(line for line in text.splitlines() if not line.startswith("#")) for text in texts] for texts in [documents, found]]
    if without[0] != without[1]:
        raise Failure(f"shown:\n{found}\nexpected:\n{documents}")


@case("a value that came from a parameter lights its field and its line, and a field its values")
def lights(bench):
    browser = open_shop(bench)
    value = browser.one("a.from[data-parameters='REPLICAS']")
    ActionChains(browser.driver).move_to_element(value).perform()
    browser.until(lambda: browser.find("#field-REPLICAS.lit"), "the field is not lit")
    origin = browser.until_text("#origin", "REPLICAS").text
    line = value.get_attribute("data-line")
    source = browser.run("return document.getElementById(arguments[0])?.textContent ?? ''", f"t-l{line}")
    if "$((REPLICAS))" not in source or line not in origin:
        raise Failure(f"line {line} of the Template is {source!r}, said is {origin!r}")
    browser.click(".beside")
    browser.until(lambda: browser.one("#template").is_displayed() and browser.find("#template[open]"), "the Template is not beside it")
    ActionChains(browser.driver).move_to_element(browser.one("a.from[data-parameters='REPLICAS']")).perform()
    browser.until(lambda: browser.find(f"#t-l{line}.lit"), "the line of the Template is not lit")
    browser.check("the Template beside the result")
    browser.click("#p-NAMESPACE")
    lit = browser.until(lambda: browser.find(".from.lit"), "a field does not light its values")
    if any("NAMESPACE" not in one.get_attribute("data-parameters") for one in lit):
        raise Failure("other values are lit")
    browser.click("a.from[data-parameters='REPLICAS']")
    browser.until(lambda: browser.focused() == "p-REPLICAS", "a click does not lead to the field")


@case("secrets are masked until a button asks for them, and left blank elsewhere")
def masks_secrets(bench):
    browser = open_shop(bench)
    if PASSWORD in browser.run("return document.getElementById('output').textContent"):
        raise Failure("the secret is in the page")
    if "***" not in shown(browser, 3):
        raise Failure(f"no mask: {shown(browser, 3)}")
    browser.click("button[value=reveal]")
    browser.until(lambda: PASSWORD in shown(browser, 3), "the secret is not shown")
    for one in ["command", "values", "instance"]:
        text = browser.run("return document.getElementById(arguments[0]).textContent", f"use-{one}")
        if PASSWORD in text or "<DB_PASSWORD>" not in text:
            raise Failure(f"{one}: {text}")


@case("the command, the values file and the TemplateInstance of the page give the same objects")
def gives_the_same_elsewhere(bench):
    browser = bench.browser
    browser.open(bench.servers.fill(bench.shared).form("shop", "types"))
    browser.until_text("#status", "checked")
    text = "it's \"7\" $HOME `x` \\ # -"
    browser.type("#p-TEXT", text)
    browser.type("#p-LINES", "a: 1\n  b\n")
    browser.type("#p-PORTS", "- 1\n- '2'")
    browser.type("#p-KEY", "0123456789abcdef")
    browser.until(lambda: "KEY=<KEY>" in browser.text("#use-command") and '[1,"2"]' in browser.text("#result"), "the result is late")
    folder = bench.folder / "elsewhere"
    folder.mkdir()
    (folder / "types.yaml").write_text(json.dumps(templates.types()))
    uses = {one: browser.run("return document.getElementById(arguments[0]).textContent", f"use-{one}") for one in ["command", "values", "instance"]}
    (folder / "values.yaml").write_text(uses["values"])
    (folder / "instance.yaml").write_text(uses["instance"])
    start = [str(bench.function), "process", "-f", "types.yaml", "-o", "json"]
    values = ["-p", f"TEXT={text}", "-p", "LINES=a: 1\n  b\n", "-p", "PORTS=- 1\n- '2'", "-p", "KEY=<KEY>"]
    commands = {
        "the values": [*start, *values],
        "command": ["bash", "-c", uses["command"].replace("krm-template", str(bench.function), 1) + " -o json"],
        "values": [*start, "-P", "values.yaml"],
        "instance": [*start, "-f", "instance.yaml"],
    }
    found = {}
    for one, command in commands.items():
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if ran.returncode:
            raise Failure(f"{one}: {ran.stderr}\n{uses.get(one)}")
        found[one] = json.loads(ran.stdout)
    for one, objects in found.items():
        if objects != found["the values"]:
            raise Failure(f"{one} gives {objects}\nexpected {found['the values']}\n{uses.get(one)}")


@case("copy buttons copy what they are at, and tabs stay chosen")
def copies(bench):
    browser = open_shop(bench)
    browser.cdp("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.click(".tab:nth-of-type(2) > summary")
    browser.click(".tab[open] .copy")
    browser.until_text(".tab[open] .copy", "Copied")
    wanted = browser.run("return document.getElementById('use-values').textContent")
    if copied(browser) != wanted:
        raise Failure(f"copied: {copied(browser)!r}")
    browser.type("#p-VERSION", "3.0")
    browser.until(lambda: "3.0" in browser.text("#result"), "the result is late")
    if browser.text(".tab[open] > summary") != "Values file":
        raise Failure("another tab is chosen after a check")


def copied(browser):
    return browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0], (e) => arguments[0](String(e)))")


@case("lines that are selected and copied are those of the file, each of them once")
def copies_lines(bench):
    browser = open_shop(bench)
    browser.cdp("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.click(".beside")
    for lines in [".object pre .line", "#template .line"]:
        wanted = browser.run(
            "const [first, , , last] = document.querySelectorAll(arguments[0]);"
            "getSelection().setBaseAndExtent(first, 0, last, last.childNodes.length);"
            "return [...document.querySelectorAll(arguments[0])].slice(0, 4).map((line) => line.textContent).join('')",
            lines,
        )
        browser.one("body").send_keys(Keys.CONTROL, "c")
        found = copied(browser)
        if wanted.count("\n") < 3 or found.replace("\r\n", "\n").rstrip("\n") != wanted.rstrip("\n"):
            raise Failure(f"{lines}: copied {found!r}\nexpected {wanted!r}")


@case("objects fold, tabs change and values lead to their fields with keys alone")
def works_with_keys(bench):
    browser = open_shop(bench)
    browser.tab_to("Template beside it")
    browser.tab_to("Deployment")
    browser.keys(Keys.ENTER)
    browser.until(lambda: len(browser.find(".object[open]")) == 3, "the object does not fold")
    browser.keys(Keys.ENTER)
    browser.until(lambda: len(browser.find(".object[open]")) == 4, "the object does not open")
    browser.tab_to("Values file")
    browser.keys(Keys.ENTER)
    browser.until(lambda: browser.text(".tab[open] > summary") == "Values file", "the tab does not change")
    browser.tab_to("Copy")
    browser.run("document.querySelector('.object pre').focus()")
    browser.tab_to("web")
    browser.until(lambda: browser.find("#field-NAME.lit"), "the field is not lit")
    browser.keys(Keys.ENTER)
    browser.until(lambda: browser.focused() == "p-NAME", "the value does not lead to its field")


@case("a result of 200 objects is shown, folded, and stays folded")
def shows_many_objects(bench):
    browser = bench.browser
    browser.open(bench.servers.fill(bench.shared).form("shop", "objects"))
    browser.until(lambda: len(browser.find(".object")) == 200, "there are not 200 objects")
    browser.until_text("#status", "200 objects")
    for scheme in ["light", "dark"]:
        browser.media(scheme)
        browser.check(f"200 objects, {scheme}")
    view(browser, "Result")
    browser.check("200 objects, 320 px")
    bench.picture("objects-200")
    view(browser, "Values")
    browser.size(1440)
    browser.driver.find_element("xpath", "//button[text()='Fold all']").click()
    browser.until(lambda: not browser.find(".object[open]"), "they do not fold")


@case("on a narrow screen the result is one press away, and says how many objects and errors there are")
def switches(bench):
    browser = open_shop(bench)
    browser.size(320)
    if browser.one("#output").is_displayed():
        raise Failure("form and result are both shown")
    browser.until_text(".switch", "Result: 4 objects")
    browser.driver.find_element("xpath", "//button[starts-with(., 'Result')]").click()
    browser.until(lambda: browser.one("#result").is_displayed() and not browser.one("#form").is_displayed(), "the result is not shown")
    browser.check("the result on a narrow screen")
    browser.click("a.from[data-parameters='REPLICAS']")
    browser.until(lambda: browser.focused() == "p-REPLICAS" and browser.one("#form").is_displayed(), "a value does not lead to its field")
