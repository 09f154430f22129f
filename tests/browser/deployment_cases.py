"""Deployments: the list, a deployment, a manifest with its layout, and what two manifests differ in."""

import json

from selenium.webdriver.common.keys import Keys

from support import EXAMPLES, Failure, case

from looks_cases import look
from markup import well_formed
from templates import CANARY

GUESTBOOK = EXAMPLES / "deployment-manager"
IMPORTS = ["redis.jinja", "redis.jinja.schema", "replicatedservice.jinja", "replicatedservice.jinja.schema"]
PAGES = [
    ("", "deployments"),
    ("/guestbook?namespace=shop", "deployment"),
    ("/guestbook/manifests/manifest-0002?namespace=shop", "manifest"),
    ("/guestbook/manifests/diff?namespace=shop", "manifest-changes"),
    ("?namespace=empty", "deployments-empty"),
    ("/missing?namespace=shop", "deployment-missing"),
]
# The Service of the leader of Redis: the leader is the first resource of the second one.
LEADER = "%24.resources%5B1%5D.resources%5B0%5D.resources%5B0%5D"


def send(server, method, path, name, content, imports):
    imports = [{"name": one, "path": one, "content": text} for one, text in imports]
    body = json.dumps({"name": name, "configuration": {"content": content, "imports": imports}})
    status, _, answer = server.ask(method, path, body.encode(), {"Content-Type": "application/json"})
    if status not in (200, 201):
        raise Failure(f"{method} {path}: {status} {answer[:500]!r}")


def fill(bench):
    """Stores deployments in the open server, once. Returns the address of their list."""
    server = bench.servers.fill(bench.shared)
    if server.ask("GET", "/deployments/guestbook?namespace=shop")[0] != 200:
        content = (GUESTBOOK / "guestbook.yaml").read_text()
        imports = [(name, (GUESTBOOK / name).read_text()) for name in IMPORTS]
        send(server, "POST", "/deployments?namespace=shop", "guestbook", content, imports)
        content = content.replace("replicas: 3", "replicas: 5") + "outputs:\n- name: host\n  value: $(ref.redis.host)\n"
        send(server, "PUT", "/deployments/guestbook?namespace=shop", "guestbook", content, imports)
        marked = f"# {CANARY}\nresources:\n- name: {json.dumps(CANARY)}\n  type: {json.dumps(CANARY)}\n"
        marked += f"outputs:\n- name: {json.dumps(CANARY)}\n  value: {json.dumps(CANARY)}\n"
        send(server, "POST", "/deployments?namespace=markup", "canary", "resources: []\n", [])
        send(server, "PUT", "/deployments/canary?namespace=markup", "canary", marked, [])
        long = "a" * 63
        many = "".join(f"- name: {long}-{number}\n  type: {long}\n" for number in range(40))
        send(server, "POST", f"/deployments?namespace={long}", f"{long}.{long}", f"resources:\n{many}", [])
    return f"{server.address}/ui/deployments"


@case("from the list, links lead to a deployment, its manifest, a resource and its template")
def follows_links(bench):
    browser = bench.browser
    for scripts in [True, False]:
        address = fill(bench)
        browser.scripts(scripts)
        browser.open(f"{address}?namespace=shop")
        browser.leave(lambda: browser.click(".row a"))
        if not browser.text("h1").startswith("guestbook"):
            raise Failure(f"the row leads to {browser.text('h1')!r}")
        browser.leave(lambda: browser.click(".entries a.name"))
        if not browser.text("h1").startswith("manifest-0002"):
            raise Failure(f"the manifest leads to {browser.text('h1')!r}")
        browser.leave(lambda: browser.click(f".tree a[href*='{LEADER}']"))
        if browser.text("#chosen .name") != "redis-leader-service":
            raise Failure(f"the node is {browser.text('#chosen')!r}")
        if len(browser.find(".tree [aria-current]")) != 1:
            raise Failure("the tree does not mark one node")
        for text in ["type: Service", "app: redis-leader"]:
            browser.until_text(".object pre", text)
        browser.until_text(".object summary", "replicatedservice.jinja")
        browser.leave(lambda: browser.click(".node > .meta a"))
        if browser.text("#chosen .name") != "redis-leader":
            raise Failure(f"the template leads to {browser.text('#chosen')!r}")
        browser.until_text(".object pre", "{{ properties")


@case("the tree of a layout folds and opens by keyboard alone, and a node is chosen by Enter")
def uses_keyboard(bench):
    browser = bench.browser
    address = fill(bench)
    browser.open(f"{address}/guestbook/manifests/manifest-0002?namespace=shop")
    first = browser.one(".tree a")
    browser.run("arguments[0].focus()", first)

    def press(key):
        browser.driver.switch_to.active_element.send_keys(key)

    press(Keys.TAB)
    if browser.focused() != "Resources of configuration":
        raise Failure(f"the focus is on {browser.focused()!r}")
    shown = lambda: len([one for one in browser.find(".tree a") if one.is_displayed()])  # noqa: E731
    before = shown()
    press(Keys.ENTER)
    browser.until(lambda: shown() == 1, "the tree does not fold")
    press(Keys.SPACE)
    browser.until(lambda: shown() == before, "the tree does not open")
    press(Keys.TAB)
    browser.leave(lambda: press(Keys.ENTER))
    if browser.text("#chosen .name") != "frontend":
        raise Failure(f"Enter chooses {browser.text('#chosen')!r}")


@case("two manifests are compared with signs, also in the other order")
def compares(bench):
    browser = bench.browser
    address = fill(bench)
    browser.scripts(False)
    browser.open(f"{address}/guestbook?namespace=shop")
    browser.leave(lambda: browser.click(".changes"))
    added = [one.text for one in browser.find(".diff ins")]
    removed = [one.text for one in browser.find(".diff del")]
    if "+    replicas: 5" not in added or "-    replicas: 3" not in removed:
        raise Failure(f"added {added}, removed {removed}")
    browser.one("#from").send_keys("manifest-0002")
    browser.one("#to").send_keys("manifest-0001")
    browser.leave(lambda: browser.click(".compare button"))
    if "-    replicas: 5" not in [one.text for one in browser.find(".diff del")]:
        raise Failure("the other order shows the same")


@case("the switch of the namespace stays in the list of deployments, and the empty one has a command")
def switches(bench):
    browser = bench.browser
    address = fill(bench)
    browser.open(address)
    browser.until_text("#list .count", "3 deployments")
    browser.one("#namespace").send_keys("empty")
    browser.leave(lambda: browser.click(".namespace button"))
    browser.until_text(".nothing pre", "deployments create web --config config.yaml")
    browser.leave(lambda: browser.driver.find_element("link text", "Templates").click())
    if "/ui/?namespace=empty" not in browser.driver.current_url:
        raise Failure(f"Templates are at {browser.driver.current_url}")


@case("texts of deployments are text")
def is_text(bench):
    browser = bench.browser
    address = fill(bench)
    manifest = f"{address}/canary/manifests"
    for page in [f"{address}/canary?", f"{manifest}/manifest-0002?", f"{manifest}/manifest-0002?node=%24.resources%5B0%5D&", f"{manifest}/diff?"]:
        browser.open(f"{page}namespace=markup")
        if browser.driver.title == "taken over" or CANARY not in browser.run("return document.body.textContent"):
            raise Failure(f"{page}: {browser.driver.title}")


@case("the pages of deployments are HTML without an error")
def is_well_formed(bench):
    fill(bench)
    server = bench.servers.open
    more = [("/canary?namespace=markup", ""), ("/canary/manifests/diff?namespace=markup", "")]
    more += [(f"/guestbook/manifests/manifest-0002?namespace=shop&node={LEADER}", "")]
    for path, _ in PAGES + more:
        _, headers, body = server.ask("GET", f"/ui/deployments{path}", headers={"Accept": "text/html"})
        well_formed(body.decode(), path)
        if "default-src 'none'" not in (headers["Content-Security-Policy"] or ""):
            raise Failure(f"the policy of {path} is {headers['Content-Security-Policy']}")


@case("screenshots: deployments, a manifest and its nodes, and what two manifests differ in")
def of_deployments(bench):
    browser = bench.browser
    browser.tolerate("status of 404")
    address = fill(bench)
    long = "a" * 63
    more = [
        (f"/guestbook/manifests/manifest-0002?namespace=shop&node={LEADER}#node", "manifest-node"),
        (f"/{long}.{long}?namespace={long}", "deployment-long"),
        (f"/{long}.{long}/manifests/manifest-0001?namespace={long}", "manifest-long"),
    ]
    for path, state in PAGES + more:
        browser.open(address + path)
        look(bench, state)
    if bench.docs:
        browser.open(f"{address}/guestbook/manifests/manifest-0002?namespace=shop&node={LEADER}")
        browser.size(1280, 800)
        browser.settle()
        browser.screenshot(bench.docs / "manifest-light.png")
