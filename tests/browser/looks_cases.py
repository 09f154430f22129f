"""Screenshots of each state, in three widths, light and dark; each of them is accessible, too."""

from support import case

import templates
from result_cases import open_shop


def look(bench, state, contrast=True, sizes=(320, 768, 1440)):
    browser = bench.browser
    for scheme in ["light", "dark"]:
        browser.media(scheme)
        browser.size(sizes[0])
        browser.settle()
        browser.check(f"{state}, {sizes[0]} px, {scheme}", contrast)
    browser.media()
    browser.size(1440)
    bench.picture(state, sizes)


@case("screenshots: the list, full, empty and without a hit")
def of_lists(bench):
    server = bench.servers.fill(bench.shared)
    for state, query in [("list", "?namespace=shop"), ("list-empty", "?namespace=empty"), ("list-nothing", "?q=nothing"), ("list-long", "?namespace=long")]:
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
        look(bench, state, contrast=name != "cassandra")


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


@case("screenshots: the result, the Template beside it, forced colours and 200 % zoom")
def of_results(bench):
    browser = open_shop(bench)
    look(bench, "result")
    browser.size(1440)
    if bench.docs:
        write_docs(bench)
    browser.click(".beside")
    browser.run("arguments[0].focus()", browser.one("a.from[data-parameters='REPLICAS']"))
    look(bench, "beside", sizes=(1440, 768, 320))
    browser.click(".beside")
    browser.size(320)
    browser.driver.find_element("xpath", "//button[starts-with(., 'Result')]").click()
    bench.picture("result-narrow", [320, 768])
    browser.size(320)
    browser.driver.find_element("xpath", "//button[starts-with(., 'Values')]").click()
    browser.size(1440)
    browser.media("dark", forced_colors="active")
    browser.settle()
    browser.screenshot(bench.pictures / "forced-colours-1440-dark.png")
    browser.media()
    # A window of 1,440 px at 200 % has 720 px.
    browser.size(720, 450, scale=2)
    browser.settle()
    browser.check("200 % zoom")
    browser.screenshot(bench.pictures / "zoom-200.png")


def write_docs(bench):
    """The pictures of docs/server.md."""
    browser = bench.browser
    bench.docs.mkdir(exist_ok=True)
    address = browser.driver.current_url
    browser.size(1280, 800)
    for scheme in ["light", "dark"]:
        browser.media(scheme)
        browser.settle()
        browser.screenshot(bench.docs / f"form-{scheme}.png")
    browser.open(f"{bench.servers.open.address}/ui/?namespace=shop")
    browser.size(1280, 640)
    browser.media()
    browser.settle()
    browser.screenshot(bench.docs / "list-light.png")
    browser.open(address)
    open_shop(bench)
