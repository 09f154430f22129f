"""Pages of other sites, which must not use a server on the user's machine."""

import contextlib
import http.server
import json
import threading

from support import Failure, case

from browser import STRANGER

TEMPLATE = {"apiVersion": "template.krm.dev/v1alpha1", "kind": "Template", "metadata": {"name": "web"}, "objects": []}
CONFIGURATION = {"name": "made", "content": "resources: [{name: a, type: Pod}]", "imports": []}

# Sends requests one after the other, and returns their codes, or the names of errors.
SEND = """
const [address, mode, template, configuration, done] = arguments;
const other = template.replace('"web"', '"made"');
const form = () => new URLSearchParams({text: other, namespace: 'default', store: '1', action: 'store'});
const json = mode === 'no-cors' ? undefined : {'Content-Type': 'application/json'};
const requests = [
  ['GET', '/templates'], ['GET', '/templates/web'], ['GET', '/deployments'], ['GET', '/ui/'],
  ['POST', '/templates', new Blob([other])], ['POST', '/templates', new Blob([other]), json],
  ['POST', '/templates', new Blob([other], {type: 'text/plain'})],
  ['POST', '/expand', new Blob([configuration]), json],
  ['POST', '/deployments', new Blob([configuration]), json],
  ['POST', '/ui/upload', form()],
];
if (mode !== 'no-cors') {
  requests.push(['PUT', '/templates/web', new Blob([template]), json], ['DELETE', '/templates/web']);
}
(async () => {
  const found = [];
  for (const [method, path, body, headers] of requests) {
    const sent = fetch(address + path, {method, body, headers, mode, credentials: 'include'});
    found.push(await sent.then((answer) => answer.status, (error) => error.name));
  }
  done(found);
})();
"""


class Page(http.server.BaseHTTPRequestHandler):
    """An empty page."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def elsewhere():
    """A site of a stranger. Returns its port."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield site.server_port
        site.shutdown()


def send(browser, address, mode):
    """Sends the requests from the page that is open."""
    return browser.driver.execute_async_script(SEND, address, mode, json.dumps(TEMPLATE), json.dumps(CONFIGURATION))


def check(server, least):
    """Fails unless the requests of the browser were refused, and changed nothing."""
    names = [one["metadata"]["name"] for one in json.loads(server.ask("GET", "/templates")[2])["items"]]
    deployments = json.loads(server.ask("GET", "/deployments")[2])
    if (names, deployments) != (["web"], []):
        raise Failure(f"a page of another site changed what is stored: {names}, {deployments}")
    audited = [line for line in server.log.read_text().splitlines() if '"userAgent":"Mozilla' in line]
    lines = [json.loads(line) for line in audited]
    # The scripts and styles of pages are public.
    served = [line for line in lines if line["code"] != 403 and "/ui/assets/" not in line.get("path", "")]
    if served or len(lines) < least:
        raise Failure(f"{len(lines)} requests of a page of another site, and these are not refused: {served}")


@case("a page of another site reads and changes nothing on a server without users")
def foreign_page(bench):
    browser = bench.browser
    browser.tolerate("CORS policy", "status of 403", "net::ERR_FAILED", "favicon")
    with bench.servers.another() as server, elsewhere() as port:
        server.store_template("default", TEMPLATE)
        browser.open(f"http://{STRANGER}:{port}/")
        found = send(browser, server.address, "no-cors")
        # An opaque answer has the code 0.
        if set(found) - {0}:
            raise Failure(f"the page sees answers: {found}")
        found = send(browser, server.address, "cors")
        if set(found) != {"TypeError"}:
            raise Failure(f"the page sees answers: {found}")
        check(server, 10)


@case("a page whose name gets the address of a server without users reads and changes nothing there")
def rebound_page(bench):
    browser = bench.browser
    browser.tolerate("status of 403", "favicon")
    with bench.servers.another() as server:
        server.store_template("default", TEMPLATE)
        address = f"http://{STRANGER}:{server.port}"
        browser.open(f"{address}/ui/")
        if "--allow-host" not in browser.body():
            raise Failure(f"the page does not say how to allow its host: {browser.body()[:500]}")
        found = send(browser, address, "same-origin")
        if set(found) != {403}:
            raise Failure(f"the page gets answers: {found}")
        check(server, len(found))
