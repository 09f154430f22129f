"""Screenshots of each state, in three widths, light and dark; each of them is accessible, too."""

from support import case

import templates
from file_cases import make
from result_cases import PASSWORD, open_shop, view


def look(bench, state):
    """Screenshots of the page that is open, which is checked where it is narrowest and widest."""
    browser = bench.browser
    for scheme in ["light", "dark"]:
        browser.media(scheme)
        for width in [320, 1440]:
            browser.size(width)
            browser.settle()
            browser.check(f"{state}, {width} px, {scheme}")
    bench.picture(state)


def look_at_result(bench, state):
    """The same, with the result in view on narrow screens, too."""
    view(bench.browser, "Result")
    look(bench, state)
    view(bench.browser, "Values")
    bench.browser.size(1440)


def from_above(browser):
    """Shows the top of the page, without the focus on a field."""
    browser.run("document.activeElement.blur(); scrollTo(0, 0)")


@case("screenshots: the list, full, empty and without a hit")
def of_lists(bench):
    server = bench.servers.fill(bench.shared)
    for state, query in [("list", "?namespace=shop"), ("list-empty", "?namespace=empty"), ("list-nothing", "?q=nothing"), ("list-long", "?namespace=long"), ("list-canary", "?namespace=markup")]:
        bench.browser.open(f"{server.address}/ui/{query}")
        look(bench, state)


@case("screenshots: forms of all kinds")
def of_forms(bench):
    browser = bench.browser
    server = bench.servers.fill(bench.shared)
    long = templates.long()["metadata"]["name"]
    for state, namespace, name, says in [
        ("form", "shop", "shop", "missing"),
        ("form-types", "shop", "types", "checked"),
        ("form-long", "long", long, "missing"),
        ("form-none", "shop", "none", "checked"),
        ("form-250", "shop", "cassandra", "checked"),
        ("form-canary", "markup", "canary", ""),
    ]:
        browser.open(server.form(namespace, name))
        browser.until(lambda: browser.text("#status") and says in browser.text("#status"), f"{name} is not checked")
        look(bench, state)
        if state == "form-250":
            browser.type("#finder", "repair")
            look(bench, "form-250-search")
        if state == "form-none":
            look_at_result(bench, "result-1")


@case("screenshots: one wrong field, ten wrong fields, and a check that takes its time")
def of_errors(bench):
    browser = bench.browser
    server = bench.servers.fill(bench.shared)
    browser.open(server.form("shop", "types"))
    browser.until_text("#status", "checked")
    browser.type("#p-COUNT", "12\t")
    browser.until_text("#error-COUNT", "9")
    look(bench, "wrong-one")
    browser.open(server.form("shop", "ten"))
    browser.until_text("#status", "wrong")
    browser.click("button[value=show]")
    browser.one("#summary")
    look(bench, "wrong-ten")
    browser.open(server.form("shop", "web"))
    browser.until_text("#status", "missing")
    # The answer does not come before the browser is told that the network works again.
    browser.cdp("Network.enable")
    browser.cdp("Network.emulateNetworkConditions", offline=False, latency=600000, downloadThroughput=-1, uploadThroughput=-1)
    try:
        browser.one("#p-NAME").send_keys("web")
        browser.until_text("#status", "checking")
        look(bench, "checking")
    finally:
        browser.cdp("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
        browser.cdp("Network.disable")


@case("screenshots: the result, the Template beside it, and secrets")
def of_results(bench):
    browser = open_shop(bench)
    from_above(browser)
    look_at_result(bench, "result")
    browser.run("document.querySelectorAll('.object:not(:last-child)').forEach((object) => { object.open = false; })")
    look_at_result(bench, "secret-hidden")
    browser.click("button[value=reveal]")
    browser.until(lambda: PASSWORD in browser.run("return document.getElementById('output').textContent"), "the secret is not shown")
    look_at_result(bench, "secret-shown")
    browser.click("button[value=show]")
    browser.until(lambda: PASSWORD not in browser.run("return document.getElementById('output').textContent"), "the secret stays")
    browser.run("document.querySelectorAll('.object').forEach((object) => { object.open = true; })")
    browser.click(".beside")
    browser.run("arguments[0].focus()", browser.one("a.from[data-parameters='REPLICAS']"))
    look_at_result(bench, "beside")


@case("screenshots: forced colours and 200 % zoom")
def of_settings(bench):
    browser = open_shop(bench)
    form = browser.driver.current_url
    for state, address in [("list", f"{bench.servers.open.address}/ui/?namespace=shop"), ("form", form)]:
        browser.open(address)
        browser.until(lambda: browser.find(".row") or browser.text("#status"), f"the {state} is late")
        for scheme in ["light", "dark"]:
            browser.media(scheme, forced_colors="active")
            for width in [320, 768, 1440]:
                browser.size(width)
                browser.settle()
                browser.screenshot(bench.pictures / f"forced-colours-{state}-{width}-{scheme}.png")
            browser.media(scheme)
            # A window of 1,440 px at 200 % has 720 px.
            browser.size(720, 450, scale=2)
            browser.settle()
            browser.check(f"the {state} at 200 % zoom, {scheme}")
            browser.screenshot(bench.pictures / f"zoom-200-{state}-1440-{scheme}.png")


@case("screenshots: those of docs/server.md and docs/form.md, if they are asked for")
def of_documents(bench):
    if not bench.docs:
        return
    bench.docs.mkdir(exist_ok=True)
    browser = bench.browser
    with bench.servers.another() as server:
        for template in [*templates.examples(), templates.shop(), templates.generous(bench.shared)]:
            server.store_template("shop", template)
        browser.open(f"{server.address}/ui/?namespace=shop")
        document(bench, "list", 570)
        open_shop(bench, server)
        from_above(browser)
        document(bench, "form", 800, ["light", "dark"])
        browser.click(".beside")
        browser.run("arguments[0].focus()", browser.one("a.from[data-parameters='REPLICAS']"))
        document(bench, "result", 680)
    address, _ = make(bench, templates.shop(), "documents.html")
    browser.open(address)
    browser.type("#p-NAME", "web")
    from_above(browser)
    document(bench, "file", 640)


def document(bench, name, height, schemes=("light",)):
    """Pictures of docs/images."""
    browser = bench.browser
    browser.size(1280, height)
    for scheme in schemes:
        browser.media(scheme)
        browser.settle()
        browser.screenshot(bench.docs / f"{name}-{scheme}.png")
    browser.media()
