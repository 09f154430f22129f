"""Installed Templates: the list, an instance with its objects and history, and upgrades."""

import contextlib
import json

from selenium.webdriver.common.keys import Keys

from apply_clusters import StandIn
from server_program import KRM, Server
from support import Failure, case

from access_cases import log_in
from looks_cases import look
from markup import well_formed
from templates import CANARY, config_map, template

HOME = "/ui/instances"
PARAMETERS = [{"name": "COLOR", "value": "red"}, {"name": "SIZE", "value": "small"}]
LONG = "a" * 63


class Site(Server):
    """A server that installs instances in a cluster, with one user, over TLS."""

    def __init__(self, place, cluster):
        (place.folder / "jane.csv").write_text("token-of-jane,jane,1\n")
        (place.folder / "cluster").write_text(json.dumps(cluster.kubeconfig()))
        super().__init__(place, name="instances", arguments=["--apply", "--kubeconfig", place.folder / "cluster"])
        self.cluster = cluster

    def security(self):
        folder = self.place.folder
        keys = ["--tls-cert", folder / "tls.crt", "--tls-key", folder / "tls.key"]
        return ["--auth", f"tokens={folder / 'jane.csv'}", *keys]

    def send(self, method, path, body=None, code=200):
        status, _, answer = self.ask(method, f"{KRM}/{path}", body, token="token-of-jane")
        if status != code:
            raise Failure(f"{method} {path}: {status} {answer[:500]!r}")
        return json.loads(answer)

    def install(self, namespace, name, **spec):
        body = {"apiVersion": "template.krm.dev/v1alpha1", "kind": "TemplateInstance", "metadata": {"name": name}}
        self.send("POST", f"{namespace}/templateinstances", {**body, "spec": spec}, 201)

    def address_of(self, namespace, name):
        return f"{self.address}{HOME}/{name}?namespace={namespace}"

    def size(self, name="web"):
        return self.cluster.must("GET", f"/api/v1/namespaces/shop/configmaps/{name}")["data"]["size"]

    def until(self, browser, namespace, name, state):
        """Opens the page of an instance until that has a state."""

        def reached():
            browser.open(self.address_of(namespace, name))
            return browser.text("h1 .state") == state

        browser.until(reached, f"{name} is not {state}")


@contextlib.contextmanager
def site(bench):
    """A site with instances, and a browser that is logged in."""
    cluster = StandIn()
    server = Site(bench.servers.place, cluster)
    try:
        for namespace in ["shop", "markup", LONG]:
            cluster.create_namespace(namespace)
        # Not Secrets.
        resources = {"apiGroups": [""], "resources": ["configmaps", "services"]}
        cluster.allow("jane", [{"verbs": ["*"], **resources}])
        server.start()
        objects = [config_map("web", {"size": "$(SIZE)", "color": "$(COLOR)"}), config_map("other", {"a": "b"})]
        server.send("POST", "shop/templates", template("web", PARAMETERS, objects), 201)
        server.install("shop", "web", templateRef={"name": "web"})
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"key": "value"}}
        server.install("shop", "refused", template=template("refused", PARAMETERS, [config_map("more", {"a": "b"}), secret]))
        marked = template("canary", [{"name": "TEXT"}], [config_map("canary", {"text": "$(TEXT)"})])
        server.install("markup", "canary", template=marked, parameters={"TEXT": CANARY})
        many = [config_map(f"{LONG}-{number}", {"text": "$(TEXT)"}) for number in range(40)]
        server.install(LONG, f"{LONG}.{LONG}", template=template(f"{LONG}.{LONG}", [{"name": "TEXT"}], many))
        browser = bench.browser
        browser.tolerate("status of 401")
        browser.open(f"{server.address}{HOME}?namespace=shop")
        log_in(browser, "token-of-jane")
        server.until(browser, "shop", "web", "Applied")
        server.until(browser, "shop", "refused", "Forbidden")
        yield server
    finally:
        server.stop()
        cluster.close()


@case("from the list, an instance shows its objects and history; an upgrade shows its changes before it is made")
def upgrades(bench):
    browser = bench.browser
    for scripts in [True, False]:
        with site(bench) as server:
            browser.scripts(scripts)
            browser.open(f"{server.address}/ui/?namespace=shop")
            browser.leave(lambda: browser.driver.find_element("link text", "Installed").click())
            browser.until_text("#list .count", "2 instances")
            browser.leave(lambda: browser.driver.find_element("partial link text", "web").click())
            if [one.text for one in browser.find(".entries .name")] != ["web", "other", "Revision 1"]:
                raise Failure(f"the entries are {[one.text for one in browser.find('.entries .name')]}")
            if [one.text for one in browser.find(".entries .state")] != ["Current", "Current", "Applied"]:
                raise Failure(f"the states are {[one.text for one in browser.find('.entries .state')]}")
            # These are of the stored Template that the instance names.
            if [one.text for one in browser.find(".form label")] != ["COLOR", "SIZE"]:
                raise Failure(f"the fields are {[one.text for one in browser.find('.form label')]}")
            if browser.find("button[value=upgrade]"):
                raise Failure("the page has the button before the changes")
            browser.one("[id='p.SIZE']").send_keys("big")
            browser.leave(lambda: browser.click("button[value=show]"))
            lines = [[one.text for one in browser.find(f".diff {element}")] for element in ["del", "ins"]]
            if lines != [["-  size: small"], ["+  size: big"]] or "1 object unchanged" not in browser.body():
                raise Failure(f"the changes are {lines}")
            # Enter shows changes again, and upgrades nothing.
            browser.leave(lambda: browser.one("[id='p.COLOR']").send_keys("blue", Keys.ENTER))
            if "+  color: blue" not in [one.text for one in browser.find(".diff ins")] or server.size() != "small":
                raise Failure(f"Enter changes {server.size()!r}, and shows {browser.text('.diff')!r}")
            browser.leave(lambda: browser.click("button[value=upgrade]"))
            shown = lambda: [one.text for one in browser.find(".entries .name")]  # noqa: E731

            def is_done():
                browser.open(server.address_of("shop", "web"))
                return browser.text("h1 .state") == "Applied" and "Revision 2" in shown()

            browser.until(is_done, "there is no second revision")
            if shown()[2:] != ["Revision 2", "Revision 1"] or server.size() != "big":
                raise Failure(f"the history is {shown()[2:]}, the size {server.size()!r}")
            if browser.one("[id='p.SIZE']").get_attribute("value") != "big":
                raise Failure("the value is not in the form")


@case("an upgrade fails if the instance has changed since its changes were shown")
def is_outdated(bench):
    browser = bench.browser
    browser.tolerate("status of 409")
    with site(bench) as server:
        browser.open(server.address_of("shop", "web"))
        browser.type("[id='p.SIZE']", "big")
        browser.leave(lambda: browser.click("button[value=show]"))
        instance = server.send("GET", "shop/templateinstances/web")
        instance["spec"]["parameters"] = {"SIZE": "huge"}
        server.send("PUT", "shop/templateinstances/web", instance)
        browser.leave(lambda: browser.click("button[value=upgrade]"))
        if "look at them again" not in browser.body():
            raise Failure(f"the page says {browser.body()[:500]}")
        browser.check("an upgrade that is refused")
        server.until(browser, "shop", "web", "Applied")
        if server.size() != "huge":
            raise Failure(f"the size is {server.size()!r}")


@case("an upgrade of an instance that the cluster refuses says so, and cannot be made")
def is_refused(bench):
    browser = bench.browser
    with site(bench) as server:
        browser.open(server.address_of("shop", "refused"))
        browser.leave(lambda: browser.click("button[value=show]"))
        browser.until_text(".notice", "forbidden")
        if browser.find("button[value=upgrade]") or "unchanged" in browser.body():
            raise Failure(f"the page has the button, or says {browser.body()[:500]}")
        look(bench, "instance-refused")


@case("texts of instances are text, and their pages are HTML without an error")
def is_text(bench):
    browser = bench.browser
    with site(bench) as server:
        server.until(browser, "markup", "canary", "Applied")
        browser.type("[id='p.TEXT']", f"{CANARY}2")
        browser.leave(lambda: browser.click("button[value=show]"))
        if browser.driver.title == "taken over" or CANARY not in browser.text(".diff"):
            raise Failure(f"the title is {browser.driver.title}, the page says {browser.body()[:500]}")
        form = {"Accept": "text/html", "Origin": server.address, "Content-Type": "application/x-www-form-urlencoded"}
        for method, path, body in [
            ("GET", "", None),
            ("GET", "?namespace=empty", None),
            ("GET", "/web?namespace=shop", None),
            ("GET", "/missing?namespace=shop", None),
            ("GET", "/canary?namespace=markup", None),
            ("POST", "/canary?namespace=markup", b"action=show&p.TEXT=%3Cdel%3E%22"),
            ("POST", "/refused?namespace=shop", b"action=show"),
        ]:
            _, headers, text = server.ask(method, HOME + path, body, form, "token-of-jane")
            well_formed(text.decode(), path)
            if "default-src 'none'" not in (headers["Content-Security-Policy"] or ""):
                raise Failure(f"the policy of {path} is {headers['Content-Security-Policy']}")


@case("screenshots: installed Templates, an instance and its changes")
def of_instances(bench):
    browser = bench.browser
    browser.tolerate("status of 404")
    with site(bench) as server:
        server.until(browser, LONG, f"{LONG}.{LONG}", "Applied")
        for path, state in [
            ("?namespace=shop", "instances"),
            ("?namespace=empty", "instances-empty"),
            (f"?namespace={LONG}", "instances-long"),
            ("/missing?namespace=shop", "instance-missing"),
            ("/web?namespace=shop", "instance"),
            (f"/{LONG}.{LONG}?namespace={LONG}", "instance-long"),
        ]:
            browser.open(f"{server.address}{HOME}{path}")
            look(bench, state)
        browser.type("[id='p.TEXT']", "changed")
        browser.leave(lambda: browser.click("button[value=show]"))
        look(bench, "instance-changes")
