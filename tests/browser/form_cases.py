"""The form of a Template: fields, checks, messages, and what is kept."""

from selenium.webdriver.common.keys import Keys

from support import Failure, case

import templates


def open_form(bench, name, namespace="shop"):
    server = bench.servers.fill(bench.shared)
    bench.browser.open(server.form(namespace, name))
    return bench.browser


def value(browser, name):
    return browser.one(f"#p-{name}").get_attribute("value")


@case("each type has its control, with its default, and a secret has none")
def has_controls(bench):
    browser = open_form(bench, "types")
    browser.until_text("#status", "checked")
    found = browser.run(
        "return Object.fromEntries([...document.querySelectorAll('.field')].map((field) => "
        "[field.dataset.parameter, [field.localName, ...[...field.querySelectorAll('[name^=\"p.\"]')].map((one) => one.type)].join(' ')]))"
    )
    wanted = {
        "TEXT": "div text", "LINES": "div textarea", "COUNT": "div text", "RATIO": "div text", "ENABLED": "fieldset radio radio",
        "VERBOSE": "fieldset radio radio radio", "SIZE": "fieldset radio radio radio", "REGION": "div select-one",
        "PORTS": "div textarea", "EXTRA": "div textarea", "ICON": "div textarea", "KEY": "div password", "PASSWORD": "div password", "CODE": "div text",
    }
    if found != wanted:
        raise Failure(f"{found}\ninstead of {wanted}")
    if value(browser, "PASSWORD") or templates.SECRET in browser.driver.page_source:
        raise Failure("the default of a secret is in the page")
    if browser.one("#p-COUNT").get_attribute("inputmode") != "numeric":
        raise Failure("a number has no numeric keyboard")
    for name, text in [("COUNT", "1 to 9"), ("CODE", "^[A-Z]{3}-[0-9]+$"), ("KEY", "[a-f0-9]{16}")]:
        browser.until_text(f"#help-{name}", text)
    browser.check("the form of all types")


@case("a value is checked as one types, and its message comes and goes at its field")
def checks_as_one_types(bench):
    browser = open_form(bench, "types")
    browser.until_text("#status", "checked")
    browser.type("#p-COUNT", "12" + Keys.TAB)
    browser.until(lambda: browser.find("#p-COUNT[aria-invalid=true]"), "the number is not wrong")
    message = browser.until_text("#error-COUNT", "9")
    if browser.one("#p-COUNT").get_attribute("aria-errormessage") != message.get_attribute("id"):
        raise Failure("the control does not name its message")
    browser.until_text("#status", "1 value wrong")
    browser.check("a wrong field")
    browser.type("#p-COUNT", "8")
    browser.until(lambda: not browser.find("[aria-invalid=true]"), "the message stays")
    browser.until_text("#status", "checked")
    browser.until(lambda: '"8"' in browser.text("#result"), "the result does not have the new value")


@case("a required field has no message before it was visited")
def is_patient(bench):
    browser = open_form(bench, "shop")
    browser.until_text("#status", "2 values missing")
    if browser.find("[aria-invalid=true]"):
        raise Failure("a field that nobody visited has a message")
    names = [link.text for link in browser.find(".needs a")]
    if names != ["Name", "Database password"]:
        raise Failure(f"needed: {names}")
    browser.click(".needs a")
    if browser.focused() != "p-NAME":
        raise Failure(f"the link leads to {browser.focused()}")


@case("ten wrong values are listed on top after submitting, with the focus, and lead to their fields")
def summarizes(bench):
    browser = open_form(bench, "ten")
    browser.until_text("#status", "10 values wrong")
    browser.click("button[value=show]")
    browser.until(lambda: browser.focused() == "summary", "the summary has not the focus")
    links = browser.find("#summary a")
    if len(links) != 10 or len(browser.find("[aria-invalid=true]")) != 10:
        raise Failure(f"{len(links)} links")
    if not browser.run("return document.querySelector('main').firstElementChild.id === 'summary'"):
        raise Failure("the summary is not first")
    browser.check("ten wrong fields")
    links[6].click()
    if browser.focused() != "p-PORT_7":
        raise Failure(f"the link leads to {browser.focused()}")


@case("without scripts a wrong form comes back with its values and messages, and a right one with its result")
def works_without_scripts(bench):
    browser = bench.browser
    server = bench.servers.fill(bench.shared)
    browser.scripts(False)
    browser.open(server.form("shop", "shop"))
    browser.check("the form without scripts")
    browser.one("#p-NAME").send_keys("Not a name")
    browser.one("#p-VERSION").send_keys("-rc1")
    browser.leave(lambda: browser.click("button[value=show]"))
    wrong = {one.get_attribute("id") for one in browser.find("[aria-invalid=true]")}
    if wrong != {"p-NAME", "p-DB_PASSWORD"} or len(browser.find("#summary a")) != 2:
        raise Failure(f"wrong: {wrong}")
    if value(browser, "NAME") != "Not a name" or value(browser, "VERSION") != "2.4.1-rc1":
        raise Failure("what was typed is lost")
    browser.check("the form with messages, without scripts")
    height = browser.run("return document.getElementById('error-NAME').getBoundingClientRect().height")
    if height > 50:
        raise Failure(f"a message of one line is {height} px high")
    bench.picture("without-scripts-wrong")
    browser.click("#summary a")
    browser.one("#p-NAME").clear()
    browser.one("#p-NAME").send_keys("web")
    browser.one("#p-DB_PASSWORD").send_keys("correct horse battery")
    browser.leave(lambda: browser.click("button[value=show]"))
    if browser.find("#summary") or len(browser.find(".object")) != 4:
        raise Failure(f"no result: {browser.body()[:800]}")
    browser.until_text("#result", "2.4.1-rc1")
    browser.check("the result without scripts")
    bench.picture("without-scripts-result")


@case("what is typed survives a reload and the way back, and secrets are not kept")
def keeps_values(bench):
    browser = open_form(bench, "shop")
    browser.until_text("#status", "missing")
    browser.type("#p-NAME", "kept")
    browser.type("#p-DB_PASSWORD", "typed-secret-1234")
    browser.click("#field-MEMORY input[value='1Gi']")
    browser.until_text("#status", "checked")
    kept = browser.run("return JSON.stringify({...sessionStorage, ...localStorage})")
    if "kept" not in kept or "typed-secret" in kept:
        raise Failure(f"in the storage: {kept}")
    for again in [browser.driver.refresh, lambda: (browser.leave(lambda: browser.click(".product")), browser.driver.back())]:
        again()
        browser.until(lambda: browser.find("#p-NAME") and value(browser, "NAME") == "kept", "the name is lost")
        if not browser.find("#field-MEMORY input[value='1Gi']:checked"):
            raise Failure("the choice is lost")
        browser.until(lambda: browser.text("#status"), "nothing is said after the way back")


@case("a changed default has a mark and a way back, a secret can be shown")
def resets(bench):
    browser = open_form(bench, "types")
    browser.until_text("#status", "checked")
    if browser.find(".changed:not([hidden])"):
        raise Failure(f"changed before anyone typed: {[one.text for one in browser.find('.field:has(.changed:not([hidden]))')]}")
    browser.type("#p-TEXT", "other")
    browser.until(lambda: browser.find("#field-TEXT .changed:not([hidden])"), "no mark")
    browser.check("a changed default")
    browser.click("#field-TEXT .changed button")
    browser.until(lambda: value(browser, "TEXT") == "a text", "the default is not back")
    if browser.find("#field-TEXT .changed:not([hidden])"):
        raise Failure("the mark stays")
    browser.type("#p-PASSWORD", "seen")
    browser.click("#field-PASSWORD .show")
    if browser.one("#p-PASSWORD").get_attribute("type") != "text":
        raise Failure("the secret is not shown")
    browser.click("#field-PASSWORD .show")
    if browser.one("#p-PASSWORD").get_attribute("type") != "password":
        raise Failure("the secret stays shown")


@case("what is pasted keeps its lines, also in a secret, which stays masked")
def takes_lines(bench):
    browser = open_form(bench, "types")
    browser.until_text("#status", "checked")
    browser.paste("#p-TEXT", "first\nsecond\n")
    browser.paste("#p-PASSWORD", "----\nAA==\n----\n")
    browser.paste("#p-CODE", "XYZ-1\n")
    found = {name: (browser.one(f"#p-{name}").tag_name, value(browser, name)) for name in ["TEXT", "PASSWORD", "CODE"]}
    wanted = {"TEXT": ("textarea", "first\nsecond\n"), "PASSWORD": ("textarea", "----\nAA==\n----\n"), "CODE": ("input", "XYZ-1")}
    if found != wanted:
        raise Failure(f"{found}\ninstead of {wanted}")
    browser.until(lambda: "first" in browser.text("#result") and "second" in browser.text("#result"), "the result does not have the lines")
    if browser.one("#p-PASSWORD").value_of_css_property("-webkit-text-security") != "disc":
        raise Failure("the lines of the secret are shown")
    browser.click("#field-PASSWORD .show")
    if browser.one("#p-PASSWORD").value_of_css_property("-webkit-text-security") != "none":
        raise Failure("the lines of the secret are not shown")
    browser.check("fields with pasted lines")
    bench.picture("pasted-lines")
    browser.driver.refresh()
    browser.until_text("#status", "checked")
    if value(browser, "TEXT") != "first\nsecond\n":
        raise Failure("a reload loses the lines")
    if value(browser, "PASSWORD"):
        raise Failure("the secret is kept")


@case("250 parameters are grouped, folded and searched, and their views survive a reload")
def has_many_fields(bench):
    browser = open_form(bench, "cassandra")
    browser.until_text("#status", "checked")
    count = len(browser.find(".field"))
    folds = browser.find(".group-fold")
    if count < 240 or len(folds) < 5 or len(browser.find(".group-fold[open]")) != 1:
        raise Failure(f"{count} fields, {len(folds)} folds")
    browser.check("a form of 250 parameters")
    browser.driver.find_element("xpath", "//button[text()='Open all']").click()
    browser.until(lambda: len(browser.find(".group-fold[open]")) == len(folds), "the groups do not open")
    for scheme in ["light", "dark"]:
        browser.media(scheme)
        browser.check(f"250 open parameters, {scheme}")
    browser.driver.find_element("xpath", "//button[text()='Fold all']").click()
    browser.until(lambda: not browser.find(".group-fold[open]"), "the groups do not fold")
    browser.click(".group-fold > summary")
    browser.type("#finder", "backup")
    browser.until(lambda: len(browser.find(".field:not([hidden])")) < 30, "the search finds too much")
    visible = [field.text for field in browser.find(".field:not([hidden])")]
    if not visible or any("backup" not in text.lower() for text in visible):
        raise Failure(f"found: {visible}")
    browser.until_text(".finder .count", f"{len(visible)} of {count}")
    browser.driver.refresh()
    browser.until(lambda: len(browser.find(".field:not([hidden])")) == len(visible), "the search is lost")
    browser.type("#finder", Keys.BACKSPACE)
    browser.until(lambda: len(browser.find(".field:not([hidden])")) == count, "an empty search hides fields")
    browser.click(".group-fold:nth-of-type(2) > summary")
    browser.until(lambda: len(browser.find(".group-fold[open]")) == 2, "a group does not open")
    browser.driver.refresh()
    browser.until(lambda: len(browser.find(".group-fold[open]")) == 2, "the open group is lost")
    print(f"      {count} parameters: {timing(browser)}")


def timing(browser):
    """How long the page that is open took to be answered and painted, and its first check."""
    found = browser.until(
        lambda: browser.run(
            "const [page] = performance.getEntriesByType('navigation');"
            "const paint = performance.getEntriesByName('first-contentful-paint')[0];"
            "const check = performance.getEntriesByType('resource').find(({initiatorType}) => initiatorType === 'fetch');"
            "return paint && check && [page.responseEnd, paint.startTime, check.duration]"
        ),
        "nothing is painted and checked",
    )
    return "answered after {:.0f} ms, first paint after {:.0f} ms, a check takes {:.0f} ms".format(*found)


@case("a form can be filled in and sent with the keyboard alone, and what has the focus shows it")
def works_with_keys(bench):
    browser = open_form(bench, "shop")
    browser.until_text("#status", "missing")
    browser.keys(Keys.TAB)
    if not browser.stop().startswith("Skip"):
        raise Failure("the first stop is not the way past the head")
    for name, text in [("p-NAME", "web"), ("p-DB_PASSWORD", "correct horse battery")]:
        browser.tab_to(name)
        browser.keys(text)
    browser.tab_to("Show objects")
    browser.keys(Keys.ENTER)
    browser.until(lambda: len(browser.find(".object")) == 4, "Enter does not send the form")
    browser.until(lambda: browser.focused() == "Result", "the result has not the focus")


@case("markup in the texts of a Template is text, in the list, the form and the result")
def shows_markup_as_text(bench):
    browser = open_form(bench, "canary", "markup")
    browser.until(lambda: browser.text("#status"), "the form is not checked")
    for address in [browser.driver.current_url, f"{bench.servers.open.address}/ui/"]:
        browser.open(address)
        if browser.driver.title == "taken over" or browser.find("main script"):
            raise Failure("markup of the Template is markup of the page")
        if templates.CANARY not in browser.body():
            raise Failure("the text of the Template is not shown as it is")
        if browser.run("return [...document.links].some(({protocol}) => !/^https?:$/.test(protocol))"):
            raise Failure("a link is not for the web")
        browser.check("markup as text")


@case("when the server does not answer the form says so, keeps what was typed, and goes on when it does")
def survives_an_absence(bench):
    browser = bench.browser
    with bench.servers.another() as server:
        server.store_template("shop", templates.types())
        browser.open(server.form("shop", "types"))
        browser.until_text("#status", "checked")
        browser.tolerate("ERR_CONNECTION_REFUSED", "Failed to fetch", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE", "ERR_SOCKET")
        server.stop()
        browser.type("#p-TEXT", "typed while away")
        browser.until_text("#status", "not checked: the server does not answer")
        if value(browser, "TEXT") != "typed while away":
            raise Failure("what was typed is lost")
        browser.check("the server is away")
        bench.picture("server-away")
        server.start()
        server.store_template("shop", templates.types())
        browser.until(lambda: "typed while away" in browser.text("#result"), "the form does not go on")
        browser.until_text("#status", "checked")


@case("a Template that was deleted meanwhile is named, and what was typed is kept")
def survives_a_deletion(bench):
    browser = bench.browser
    with bench.servers.another() as server:
        server.store_template("shop", templates.types())
        browser.tolerate("status of 404")
        for scripts in [True, False]:
            browser.scripts(scripts)
            browser.open(server.form("shop", "types"))
            browser.until(lambda: not scripts or "checked" in browser.text("#status"), "the form is not checked")
            path = "/apis/template.krm.dev/v1alpha1/namespaces/shop/templates/types"
            server.ask("DELETE", path)
            browser.one("#p-TEXT").send_keys(" typed")
            if scripts:
                browser.until_text("#status", "not checked: ")
                browser.until_text("#status", "types")
                if value(browser, "TEXT") != "a text typed":
                    raise Failure("what was typed is lost")
                bench.picture("deleted")
            else:
                browser.leave(lambda: browser.click("button[value=show]"))
                browser.until_text("main", "types")
                browser.check("a deleted Template, without scripts")
            server.store_template("shop", templates.types())
            if not scripts:
                browser.leave(lambda: browser.driver.find_element("xpath", "//button[text()='Try again']").click())
                if value(browser, "TEXT") != "a text typed" or "a text typed" not in browser.text("#result"):
                    raise Failure(f"what was typed is lost: {browser.body()}")
