"""The list of Templates."""

import datetime

from selenium.webdriver.common.keys import Keys

from support import Failure, case

import templates
from markup import well_formed


def rows(browser):
    return browser.find(".row > a")


@case("the list shows name, description, tags, parameters and age, and the row is the link")
def shows_templates(bench):
    browser = bench.browser
    server = bench.servers.fill(bench.shared)
    browser.open(f"{server.address}/ui/?namespace=shop")
    browser.check("the list")
    row = browser.one("a[href$='/shop/template.krm.dev/shop']")
    for text in ["Web shop", "The shop with its ingress", "postgresql", "11", "2 required"]:
        if text not in row.text:
            raise Failure(f"the row has no {text!r}: {row.text!r}")
    title = row.find_element("css selector", "time").get_attribute("title")
    datetime.datetime.fromisoformat(title.replace("Z", "+00:00"))
    browser.leave(row.click)
    if browser.text("h1") != "Web shop":
        raise Failure(f"the row leads to {browser.text('h1')!r}")
    status, headers, _ = server.ask("GET", "/", headers={"Accept": "text/html"})
    if status != 200:
        raise Failure(f"/ does not lead to the list: {status}")


@case("the search filters the list as one types, and stays in the address")
def searches(bench):
    browser = bench.browser
    server = bench.servers.fill(bench.shared)
    browser.open(f"{server.address}/ui/?namespace=shop")
    everything = len(rows(browser))
    browser.type("#q", "mongo")
    browser.until(lambda: len(rows(browser)) == 1, "the list is not filtered")
    browser.until_text("#list .count", "1")
    if "q=mongo" not in browser.driver.current_url or browser.focused() != "q":
        raise Failure(f"{browser.driver.current_url}, with the focus on {browser.focused()}")
    browser.driver.refresh()
    if len(rows(browser)) != 1 or browser.one("#q").get_attribute("value") != "mongo":
        raise Failure("the search does not survive a reload")
    browser.type("#q", "no such template")
    browser.until(lambda: browser.find(".nothing"), "nothing is found, and the list does not say so")
    browser.type("#q", " ")
    browser.until(lambda: len(rows(browser)) == everything, "an empty search does not show all")


@case("without scripts the search, the tags and the namespaces of the list are links and forms")
def works_without_scripts(bench):
    browser = bench.browser
    server = bench.servers.fill(bench.shared)
    browser.scripts(False)
    browser.open(f"{server.address}/ui/")
    browser.one("#q").send_keys("mongo")
    browser.leave(lambda: browser.click(".find button"))
    if len(rows(browser)) != 1:
        raise Failure(f"the search finds {len(rows(browser))}")
    browser.open(f"{server.address}/ui/")
    browser.leave(lambda: browser.driver.find_element("partial link text", "postgresql").click())
    if len(rows(browser)) != 1 or not browser.find(".filter [aria-current]"):
        raise Failure("a tag does not filter")
    browser.one("#namespace").send_keys("long")
    browser.leave(lambda: browser.click(".namespace button"))
    if len(rows(browser)) != 1 or "namespace=long" not in browser.driver.current_url:
        raise Failure("the namespace does not filter")
    browser.check("the list of a namespace")


@case("a Template is found and opened with keys alone")
def works_with_keys(bench):
    browser = bench.browser
    server = bench.servers.fill(bench.shared)
    browser.open(f"{server.address}/ui/")
    browser.keys(Keys.TAB)
    browser.stop()
    browser.keys(Keys.ENTER)
    browser.tab_to("q")
    browser.keys("ingress")
    browser.until(lambda: len(rows(browser)) == 1, "the list is not filtered")
    browser.tab_to("WWeb shop")
    browser.leave(lambda: browser.keys(Keys.ENTER))
    if browser.text("h1") != "Web shop":
        raise Failure(f"the row leads to {browser.text('h1')!r}")


@case("an empty list says how to add the first Template")
def is_empty(bench):
    browser = bench.browser
    server = bench.servers.fill(bench.shared)
    browser.open(f"{server.address}/ui/?namespace=empty")
    browser.until_text(".nothing", f"--server {server.address} --namespace empty create -f")
    # The command is for a shell.
    browser.open(f"{server.address}/ui/?namespace=a%20b")
    browser.until_text(".nothing", "--namespace 'a b' create -f")
    browser.open(f"{server.address}/ui/?namespace=empty")
    browser.check("the empty list")


@case("500 Templates are listed in pages, each of them once")
def pages(bench):
    browser = bench.browser
    with bench.servers.another() as server:
        for template in templates.catalog():
            server.store_template("many", template)
        browser.open(f"{server.address}/ui/?namespace=many")
        browser.until_text("#list .count", "100 Templates, and more")
        browser.check("500 Templates")
        found = []
        while True:
            found += [row.get_attribute("href") for row in rows(browser)]
            following = browser.find(".pages a[rel=next]")
            if not following:
                break
            browser.leave(following[0].click)
        if len(found) != 500 or len(set(found)) != 500:
            raise Failure(f"{len(found)} rows, {len(set(found))} of them different")
        browser.open(f"{server.address}/ui/?namespace=many")
        browser.size(320)
        browser.check("500 Templates, 320 px")
        bench.picture("list-500")


@case("the pages are HTML without an error, with their security headers")
def is_well_formed(bench):
    server = bench.servers.fill(bench.shared)
    names = ["shop/{}/shop", "shop/{}/types", "markup/{}/canary", "shop/{}/none", "shop/{}/ten", "shop/{}/objects", "shop/{}/web"]
    paths = ["/ui/", "/ui/?namespace=empty", "/ui/?q=nothing", "/ui/upload", "/ui/shop/template.krm.dev/missing"]
    paths += [f"/ui/{name.format('template.krm.dev')}" for name in names]
    for path in paths:
        _, headers, body = server.ask("GET", path, headers={"Accept": "text/html"})
        well_formed(body.decode(), path)
        policy = headers["Content-Security-Policy"] or ""
        for part in ["default-src 'none'", "script-src 'self'", "style-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"]:
            if part not in policy or "unsafe" in policy:
                raise Failure(f"the policy of {path} is {policy}")
        if headers["Referrer-Policy"] != "no-referrer" or headers["X-Content-Type-Options"] != "nosniff":
            raise Failure(f"headers of {path}: {headers}")
    for name in ["markup/template.krm.dev/canary", "shop/template.krm.dev/types", "shop/template.krm.dev/ten"]:
        status, _, text = server.submit(f"/ui/{name}", {"action": "show"})
        well_formed(text, f"the answer {status} of {name}")
