"""Who may see the pages, and Templates that are not stored."""

from support import EXAMPLES, Failure, case

import templates
from server_program import KRM


def log_in(browser, token="token-of-admin"):
    browser.one("#token").send_keys(token)
    browser.leave(lambda: browser.click(".login .primary"))


@case("a login by token leads to the page that was asked for, and a logout ends it")
def logs_in(bench):
    browser = bench.browser
    browser.tolerate("status of 401", "status of 403")
    with bench.servers.users() as server:
        status, _, body = server.ask("POST", f"{KRM}/shop/templates", templates.types())
        if status != 201:
            raise Failure(f"{status} {body[:300]!r}")
        address = f"{server.address}/ui/shop/template.krm.dev/types"
        browser.open(address)
        browser.one("#token")
        browser.check("the login")
        bench.picture("login")
        log_in(browser, "no-such-token")
        browser.one("#summary")
        browser.check("a wrong token")
        log_in(browser)
        if browser.text("h1") != "types":
            raise Failure(f"the login leads to {browser.text('h1')!r}")
        cookie = next(one for one in browser.driver.get_cookies() if one["name"].startswith("__Host-"))
        if not (cookie["httpOnly"] and cookie["secure"] and cookie["sameSite"] == "Strict"):
            raise Failure(f"the cookie is {cookie}")
        browser.until_text("#status", "checked")
        browser.until_text(".account", "admin")
        browser.check("a page with an account")
        browser.leave(lambda: browser.click(".account button"))
        browser.open(address)
        browser.one("#token")


@case("an expired login is said at the form, and what was typed is there after the next one")
def expires(bench):
    browser = bench.browser
    browser.tolerate("status of 401", "status of 403")
    with bench.servers.users() as server:
        server.ask("POST", f"{KRM}/shop/templates", templates.types())
        browser.open(f"{server.address}/ui/shop/template.krm.dev/types")
        log_in(browser)
        browser.until_text("#status", "checked")
        browser.cdp("Network.clearBrowserCookies")
        browser.type("#p-TEXT", "typed after the end")
        browser.until_text("#status", "the login has expired")
        browser.check("an expired login")
        bench.picture("login-expired")
        browser.leave(lambda: browser.click("#status a"))
        log_in(browser)
        browser.until(lambda: browser.find("#p-TEXT"), "the login does not lead back")
        if browser.one("#p-TEXT").get_attribute("value") != "typed after the end":
            raise Failure("what was typed is lost")


@case("without scripts, what was typed is there after an expired login and the next one")
def expires_without_scripts(bench):
    browser = bench.browser
    browser.tolerate("status of 401", "status of 403")
    with bench.servers.users() as server:
        server.ask("POST", f"{KRM}/shop/templates", templates.types())
        browser.scripts(False)
        address = f"{server.address}/ui/shop/template.krm.dev/types"
        browser.open(address)
        log_in(browser)
        browser.one("#p-TEXT").clear()
        browser.one("#p-TEXT").send_keys("typed before the end")
        browser.one("#p-PASSWORD").send_keys("secret before the end")
        browser.cdp("Network.clearBrowserCookies")
        browser.leave(lambda: browser.click("button[value=show]"))
        browser.until_text("#summary", "What you entered is kept")
        if "secret before the end" in browser.body():
            raise Failure("the login shows a secret")
        browser.check("a login that keeps what was typed")
        bench.picture("login-kept")
        log_in(browser, "no-such-token")
        log_in(browser)
        if browser.driver.current_url != address or browser.one("#p-TEXT").get_attribute("value") != "typed before the end":
            raise Failure(f"what was typed is lost: {browser.driver.current_url} {browser.body()[:500]}")
        browser.until_text("#result", "typed before the end")


@case("an uploaded Template opens as a form without being stored, and is stored if asked")
def uploads(bench):
    browser = bench.browser
    with bench.servers.another() as server:
        browser.open(f"{server.address}/ui/upload")
        browser.check("the upload")
        bench.picture("upload")
        browser.one("#file").send_keys(str(EXAMPLES / "web/template.yaml"))
        browser.leave(lambda: browser.click(".drop .primary"))
        browser.until_text("#status", "missing")
        browser.type("#p-NAME", "uploaded")
        browser.until(lambda: len(browser.find(".object")) == 2, "the upload has no result")
        if b'"items":[]' not in server.ask("GET", f"{KRM}/default/templates")[2].replace(b" ", b""):
            raise Failure("the upload is stored, and nobody asked for it")
        browser.check("the form of an upload")
        browser.scripts(False)
        browser.open(f"{server.address}/ui/upload?namespace=shop")
        browser.one("#text").send_keys("not: a template")
        browser.leave(lambda: browser.click(".drop .primary"))
        browser.one("#summary")
        if "not: a template" not in browser.one("#text").get_attribute("value"):
            raise Failure("the text is lost")
        browser.one("#text").clear()
        browser.one("#text").send_keys((EXAMPLES / "web/template.yaml").read_text())
        browser.click("input[name=store]")
        browser.leave(lambda: browser.click(".drop .primary"))
        if server.ask("GET", f"{KRM}/shop/templates/web")[0] != 200:
            raise Failure(f"the Template is not stored: {browser.body()[:500]}")


@case("a file that is dropped on the upload is chosen")
def drops(bench):
    browser = bench.browser
    server = bench.servers.fill(bench.shared)
    browser.open(f"{server.address}/ui/upload")
    text = (EXAMPLES / "web/template.yaml").read_text()
    browser.run(DROP, text, ["dragover", "drop"])
    if browser.run("return document.getElementById('file').files[0]?.name") != "dropped.yaml":
        raise Failure("the file is not chosen")
    browser.leave(lambda: browser.click(".drop .primary"))
    browser.until(lambda: browser.find("#p-REPLICAS"), "the file is not opened")


DROP = """
const data = new DataTransfer();
data.items.add(new File([arguments[0]], 'dropped.yaml'));
const event = (name) => new DragEvent(name, {bubbles: true, cancelable: true, dataTransfer: data});
for (const name of arguments[1]) {
  document.querySelector('main').dispatchEvent(event(name));
}
"""


@case("a file that is dropped on the list opens as a form, and is not stored")
def drops_on_the_list(bench):
    browser = bench.browser
    text = (EXAMPLES / "web/template.yaml").read_text()
    with bench.servers.another() as server:
        browser.open(f"{server.address}/ui/?namespace=shop")
        browser.run(DROP, text, ["dragover"])
        if not browser.one(".dropping").is_displayed():
            raise Failure("a file that is dragged over the list has no sign")
        browser.check("a file over the list")
        bench.picture("list-dropping")
        browser.run(DROP, text, ["dragleave"])
        browser.until(lambda: not browser.one(".dropping").is_displayed(), "the sign stays")
        browser.leave(lambda: browser.run(DROP, text, ["dragover", "drop"]))
        browser.until_text("#status", "missing")
        if browser.one("#namespace").get_attribute("value") != "shop" or not browser.find("#p-REPLICAS"):
            raise Failure(f"the form of the file is not open: {browser.body()[:500]}")
        browser.until_text(".notice", "not stored")
        if b'"items":[]' not in server.ask("GET", f"{KRM}/shop/templates")[2].replace(b" ", b""):
            raise Failure("the dropped file is stored, and nobody asked for it")


@case("what a page does against its policy makes its case fail")
def notices_violations(bench):
    browser = bench.browser
    browser.open(f"{bench.servers.fill(bench.shared).address}/ui/")
    for markup in ["<p style='color: red'>", "<img src='https://example.org/'>"]:
        browser.run("document.body.insertAdjacentHTML('beforeend', arguments[0])", markup)
        try:
            browser.console()
        except Failure as failure:
            if "Content Security Policy" in str(failure):
                continue
        raise Failure(f"nothing is said about {markup}")


@case("a request from another site changes nothing, and a GET neither")
def refuses_other_sites(bench):
    server = bench.servers.fill(bench.shared)
    status, _, _ = server.submit("/ui/shop/template.krm.dev/web", {"p.NAME": "x", "action": "show"}, {"Origin": "https://evil.example"})
    if status != 403:
        raise Failure(f"a form of another site gets {status}")
    status, _, _ = server.submit("/ui/shop/template.krm.dev/web", {"p.NAME": "x", "action": "show"})
    if status != 200:
        raise Failure(f"a form of this site gets {status}")
