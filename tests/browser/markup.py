"""The markup of pages, as a reader of HTML sees it that forgives nothing."""

import html5lib
from html5lib.html5parser import ParseError
from html.parser import HTMLParser

from support import Failure


def well_formed(text, where):
    """Fails unless a text is HTML without an error."""
    parser = html5lib.HTMLParser(strict=True)
    try:
        parser.parse(text)
    except ParseError as error:
        line, column = parser.tokenizer.stream.position()
        near = text.splitlines()[line - 1][max(0, column - 120) : column + 40]
        raise Failure(f"{where} is not well-formed at {line}:{column}: {error}\n{near}") from None


class Controls(HTMLParser):
    """What a browser would send of the form with the id `form`, if nobody changed it."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.fields = []
        self.action = None
        self.names = []
        self.multipart = False
        self.is_in_form = False
        self.area = None
        self.select = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "form":
            self.is_in_form = values.get("id") == "form"
            if self.is_in_form:
                self.action = values["action"]
                self.multipart = values.get("enctype") == "multipart/form-data"
        if not self.is_in_form:
            return
        name = values.get("name")
        if tag == "input":
            self.input(name, values)
        elif tag == "textarea":
            self.area = (name, [])
        elif tag == "select":
            self.select = (name, [])
        elif tag == "option" and self.select:
            self.select[1].append((values["value"], "selected" in values))

    def input(self, name, values):
        kind = values.get("type", "text")
        self.names.append(name)
        if kind in ("radio", "checkbox"):
            if "checked" in values:
                self.fields.append((name, values.get("value", "on")))
        elif kind not in ("file", "submit", "button"):
            self.fields.append((name, values.get("value") or ""))

    def handle_data(self, data):
        if self.area:
            self.area[1].append(data)

    def handle_endtag(self, tag):
        if tag == "form":
            self.is_in_form = False
        elif tag == "textarea" and self.area:
            name, parts = self.area
            text = "".join(parts).removeprefix("\n")
            self.names.append(name)
            # A browser sends line breaks as CR LF.
            self.fields.append((name, text.replace("\r\n", "\n").replace("\n", "\r\n")))
            self.area = None
        elif tag == "select" and self.select:
            name, options = self.select
            self.names.append(name)
            chosen = [value for value, is_selected in options if is_selected] or [value for value, _ in options[:1]]
            self.fields += [(name, chosen[-1])] if chosen else []
            self.select = None
