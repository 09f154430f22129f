"""Real Templates: each opens as a form, and gives the objects that process prints."""

import csv
import subprocess
from concurrent.futures import ThreadPoolExecutor

from support import Failure, case

from markup import Controls, well_formed

# Every so many are read by the strict reader, which is slow, and opened in the browser.
SAMPLE = 29


def process(bench, file, *arguments):
    command = [bench.function, "process", "-f", file, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def values_of(path):
    """The values in a file of lines `NAME=VALUE`, as process reads them."""
    return dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line) if path.exists() else {}


def opened(server, text):
    """The page that opens for the text of a Template."""
    return server.submit("/ui/upload", {"text": text, "action": "open"})


def one(bench, server, file, values):
    """What is wrong with the form of one file."""
    text = file.read_text(encoding="utf-8", errors="replace")
    status, _, page = opened(server, text)
    if status == 422 and process(bench, file, "--parameters").returncode:
        # Some files hold no Template, or are no YAML.
        return None
    if status != 200:
        return f"does not open: {status} {page[-900:-400]}"
    controls = Controls(page)
    if len(text) % SAMPLE == 0:
        well_formed(page, file.name)
    plain = process(bench, file)
    fields = [*controls.fields, ("action", "download")]
    status, _, answer = server.submit(controls.action, fields)
    if (status == 200) != (plain.returncode == 0):
        return f"the form gives {status}, process {plain.returncode}: {plain.stderr[:300]}"
    is_made = "generate" in text
    if status == 200 and not is_made and answer != plain.stdout:
        return "the objects of the defaults differ"
    if not values:
        return None
    # With values for what is generated or required, the objects are the same at each time.
    filled = [(name, values.get(name.removeprefix("p."), value) if name.startswith("p.") else value) for name, value in controls.fields]
    wanted = process(bench, file, *[word for name, value in values.items() for word in ["-p", f"{name}={value}"]])
    status, _, answer = server.submit(controls.action, [*filled, ("action", "download")])
    if (status == 200) != (wanted.returncode == 0):
        return f"with values the form gives {status}, process {wanted.returncode}: {wanted.stderr[:300]}"
    if status == 200 and answer != wanted.stdout:
        return "the objects with values differ"
    return None


@case("all real Templates open as a form, and submit to the objects that process prints")
def opens_real_templates(bench):
    corpus = bench.shared / "corpus/openshift"
    server = bench.servers.fill(bench.shared)
    with open(corpus / "index.tsv", encoding="utf-8") as index:
        names = [row["file"] for row in csv.DictReader(index, delimiter="\t")]

    def check(name):
        found = one(bench, server, corpus / "templates" / name, values_of(corpus / f"params/{name}.env"))
        return found and f"{name}: {found}"

    with ThreadPoolExecutor(2) as pool:
        problems = [problem for problem in pool.map(check, names) if problem]
    if problems:
        listed = "\n".join(problems[:20])
        raise Failure(f"{len(problems)} of {len(names)}:\n{listed}")
    print(f"      {len(names)} Templates")


@case("a sample of the real Templates is accessible in the browser")
def shows_real_templates(bench):
    browser = bench.browser
    server = bench.servers.fill(bench.shared)
    files = sorted(one for one in (bench.shared / "corpus/openshift/templates").rglob("*") if one.is_file())[::SAMPLE]
    for file in files:
        browser.open(f"{server.address}/ui/upload")
        browser.run("arguments[0].value = arguments[1]", browser.one("#text"), file.read_text())
        browser.leave(lambda: browser.click(".drop .primary"))
        browser.until(lambda: browser.text("#status"), f"{file.name} is not checked")
        browser.check(file.name)
