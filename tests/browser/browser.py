"""Headless Chromium, driven by chromedriver, and what may not be in its console."""

import base64
import os
import re
import shutil
import sys
import time
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients"))

from support import Failure  # noqa: E402

# The machine may be slow; what is waited for decides, not this.
WAIT_SECONDS = 60
ACCESSIBILITY = (Path(__file__).resolve().parent / "accessibility.js").read_text()
# A name of a stranger, which has the address of this machine.
STRANGER = "evil.example"
SIZES = {320: 780, 768: 1024, 1440: 900}
# Roles of controls, which must have a name.
NAMED = {"button", "link", "textbox", "searchbox", "combobox", "radio", "checkbox", "spinbutton", "switch"}
NAMED |= {"DisclosureTriangle", "listbox", "menuitem", "tab", "group", "region", "navigation"}


class Browser:
    """One window. Each case leaves it as it was: with scripts, light, 1,440 px wide."""

    def __init__(self, downloads):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or "chromium"
        for word in ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]:
            options.add_argument(word)
        # As root, the sandbox of the browser cannot start.
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")
        options.add_argument(f"--host-resolver-rules=MAP {STRANGER} 127.0.0.1")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.set_capability("acceptInsecureCerts", True)
        preferences = {"download.default_directory": str(downloads), "download.prompt_for_download": False}
        options.add_experimental_option("prefs", preferences)
        service = webdriver.ChromeService(shutil.which("chromedriver") or "chromedriver")
        self.driver = webdriver.Chrome(options, service)
        self.downloads = downloads
        self.tolerated = []
        self.has_scripts = True
        self.reset()

    def reset(self):
        """Makes the window as it is at the beginning of a case."""
        self.tolerated = []
        self.scripts(True)
        self.media()
        self.size(1440)
        # Nothing of one case is kept for the next.
        self.run("try { sessionStorage.clear(); localStorage.clear(); } catch { }")
        self.driver.get("about:blank")
        self.cdp("Network.clearBrowserCookies")
        self.driver.get_log("browser")

    def close(self):
        self.driver.quit()

    # --- the window

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def scripts(self, are_on):
        """Turns the scripts of pages on or off."""
        self.has_scripts = are_on
        self.cdp("Emulation.setScriptExecutionDisabled", value=not are_on)

    def media(self, scheme="light", **features):
        """Sets what media queries see; features are named with `_` for `-`."""
        features = {"prefers-color-scheme": scheme, **{name.replace("_", "-"): value for name, value in features.items()}}
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": n, "value": v} for n, v in features.items()])

    def size(self, width, height=None, scale=1):
        height = height or SIZES.get(width, 900)
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def settle(self):
        """Waits until the window has painted what it was told to."""
        if not self.has_scripts:
            time.sleep(0.3)
            return
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def screenshot(self, file):
        picture = self.cdp("Page.captureScreenshot", format="png", optimizeForSpeed=False)
        file.write_bytes(base64.b64decode(picture["data"]))

    # --- the page

    def open(self, address):
        self.driver.get(address)

    def find(self, selector):
        """The elements of a selector, at once."""
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        """The element of a selector, once it is there."""
        return self.until(lambda: next(iter(self.find(selector)), None), f"there is no `{selector}`")

    def run(self, script, *arguments):
        """Runs a script in the page, from outside: it needs no right of the page's policy."""
        return self.driver.execute_script(script, *arguments)

    def text(self, selector):
        return self.one(selector).text

    def until(self, condition, otherwise):
        """Waits until a function gives something true, which is returned."""

        def holds(_):
            try:
                return condition()
            except StaleElementReferenceException:
                return None

        try:
            return WebDriverWait(self.driver, WAIT_SECONDS, poll_frequency=0.05).until(holds)
        except WebDriverException as error:
            said = error.msg or "timeout"
            raise Failure(f"{otherwise}\nat {self.driver.current_url} ({said}):\n{self.body()[:1500]}") from None

    def body(self):
        return self.run("return document.body?.innerText ?? ''")

    def until_text(self, selector, text):
        """Waits until an element holds a text."""
        found = lambda: next((part for part in self.find(selector) if text in part.text), None)  # noqa: E731
        return self.until(found, f"`{selector}` does not say {text!r}")

    def click(self, selector):
        """Clicks on what is in the middle of an element."""
        element = self.one(selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def leave(self, action):
        """Does what opens another page, and waits until it has."""
        before = self.one("html")
        action()

        def is_gone():
            try:
                before.is_enabled()
                return False
            except WebDriverException:
                return self.run("return document.readyState") == "complete"

        self.until(is_gone, "the page stays")

    def type(self, selector, text):
        """Replaces what is in a control."""
        element = self.one(selector)
        self.run("arguments[0].scrollIntoView({block: 'center'}); arguments[0].select()", element)
        element.send_keys(text)

    def paste(self, selector, text):
        """Replaces what is in a control by what is in the clipboard, with keys."""
        source = self.run("const e = document.createElement('textarea'); document.body.append(e); e.value = arguments[0]; return e", text)
        source.send_keys(Keys.CONTROL, "ac")
        self.run("arguments[0].remove()", source)
        element = self.one(selector)
        self.run("arguments[0].scrollIntoView({block: 'center'}); arguments[0].focus(); arguments[0].select()", element)
        element.send_keys(Keys.CONTROL, "v")

    def focused(self):
        """The id, else the text, of what has the focus."""
        return self.run("const e = document.activeElement; return e.id || e.textContent.trim()")

    def stop(self):
        """The id, else the text, of what has the focus. Fails unless that has a ring and is in view."""
        here, has_ring, is_visible = self.run(
            "const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();"
            "const hit = document.elementFromPoint(r.left + Math.min(r.width, 20) / 2, r.top + r.height / 2);"
            "return [e.id || e.textContent.trim().slice(0, 30), s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2,"
            " r.bottom > 0 && r.top < innerHeight && (!hit || e.contains(hit) || hit.contains(e))]"
        )
        if not has_ring:
            raise Failure(f"{here} has the focus and does not show it")
        if not is_visible:
            raise Failure(f"{here} has the focus and is hidden")
        return here

    def keys(self, *keys):
        """Presses keys where the focus is."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def tab_to(self, name):
        """Presses the tab key until something has the focus, of which the id or text begins with a name."""
        seen = []
        while len(seen) < 80:
            self.keys(Keys.TAB)
            seen.append(self.stop())
            if seen[-1].startswith(name):
                return
        raise Failure(f"{name} is not reached: {seen}")

    # --- what every page must keep

    def tolerate(self, *patterns):
        """Lines of the console that this case makes."""
        self.tolerated += patterns

    def console(self):
        """Fails if the console has anything but answers that the pages ask for."""
        for line in self.driver.get_log("browser"):
            message = line["message"]
            expected = [r"status of 422", r"favicon\.ico", *self.tolerated]
            if line["level"] in ("DEBUG", "INFO") or any(re.search(one, message) for one in expected):
                continue
            raise Failure(f"the console says: {line['level']} {message}")

    def check(self, where):
        """Fails unless the page is accessible, as far as a program can tell."""
        problems = self.run(f"{ACCESSIBILITY}\nreturn problems()") + self.names()
        if problems:
            listed = "\n".join(dict.fromkeys(problems[:30]))
            raise Failure(f"{where}, at {self.driver.current_url}:\n{listed}")

    def names(self):
        """Controls without a name, as the browser tells it to assistive technology."""
        problems = []
        for node in self.cdp("Accessibility.getFullAXTree")["nodes"]:
            role = node.get("role", {}).get("value")
            name = node.get("name", {}).get("value", "").strip()
            properties = {one["name"]: one["value"].get("value") for one in node.get("properties", [])}
            is_control = role in NAMED and (role not in {"group"} or properties.get("focusable"))
            if not node.get("ignored") and is_control and not name:
                problems.append(f"a {role} has no name: {self.describe(node.get('backendDOMNodeId'))}")
        return problems

    def describe(self, node):
        try:
            return self.cdp("DOM.getOuterHTML", backendNodeId=node)["outerHTML"][:200]
        except WebDriverException:
            return f"node {node}"
