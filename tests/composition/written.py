"""Writes values as YAML in the ways of people: comments, quotes, block scalars, flow collections, aliases."""
import json
import re

PLAIN = re.compile(r"[A-Za-z/][\w./-]*( [\w./-]+)*")
WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


class Writer:
    """One document. Each of its comments is added to `comments`, with its object and the keys of its field."""

    def __init__(self, dice, comments):
        self.dice, self.comments = dice, comments
        self.indented_items = dice.random() < 0.5
        self.step = dice.choice([2, 2, 2, 4])
        self.commented = dice.random() < 0.5
        self.anchors = {} if dice.random() < 0.15 else None
        self.body, self.keys = None, ()

    def document(self, value, is_object):
        self.body = value if is_object else None
        if isinstance(value, list):
            return "\n".join(self.items(value, 0)) + "\n"
        return "\n".join(self.entries(value, 0)) + "\n"

    def comment(self, chance):
        """Text of a comment, with a number of its own, or none."""
        if not self.commented or self.dice.random() > chance:
            return ""
        text = f"# comment {len(self.comments)}."
        self.comments.append((text, self.body, self.keys))
        return text

    def entries(self, value, indent):
        for key, below in value.items():
            outer, self.keys = self.keys, self.keys + (key,)
            above = self.comment(0.06)
            if above:
                yield " " * indent + above
            written = key_text(key)
            yield from self.after(f"{' ' * indent}{written}:", below, indent)
            self.keys = outer

    def items(self, value, indent):
        for item in value:
            above = self.comment(0.04)
            if above:
                yield " " * indent + above
            if isinstance(item, dict) and item and self.dice.random() < 0.9:
                lines = list(self.entries(item, indent + 2))
                # A comment above the first key comes before the dash.
                while lines[0].lstrip().startswith("#"):
                    yield lines.pop(0)[2:]
                yield f"{' ' * indent}- {lines[0].lstrip()}"
                yield from lines[1:]
            else:
                yield from self.after(f"{' ' * indent}-", item, indent)

    def after(self, head, value, indent):
        """A value behind its key or dash."""
        tail = self.comment(0.08)
        tail = f" {tail}" if tail else ""
        if isinstance(value, str):
            yield from self.text(head, value, indent, tail)
            return
        if not isinstance(value, (dict, list)):
            spelled = self.dice.choice(["null", "~", ""]) if value is None else json.dumps(value)
            yield f"{head} {spelled}{tail}" if spelled else head + tail
            return
        anchor = self.anchor(value)
        if anchor.startswith("*"):
            yield f"{head} {anchor}{tail}"
        elif not value or self.dice.random() < 0.07:
            flow = json.dumps(value) if self.dice.random() < 0.5 else flow_style(value)
            yield f"{head}{anchor} {flow}{tail}"
        elif isinstance(value, dict):
            yield head + anchor + tail
            yield from self.entries(value, indent + (2 if head.endswith("-") else self.step))
        else:
            yield head + anchor + tail
            yield from self.items(value, indent + (2 if self.indented_items or head.endswith("-") else 0))

    def anchor(self, value):
        """` &name`, or `*name` for a value that has one."""
        if self.anchors is None or not value:
            return ""
        key = json.dumps(value)
        if key in self.anchors:
            return f"*{self.anchors[key]}"
        if self.dice.random() < 0.3:
            self.anchors[key] = f"a{len(self.anchors)}"
            return f" &{self.anchors[key]}"
        return ""

    def text(self, head, value, indent, tail):
        lines = value.split("\n")
        is_block = "\n" in value and value.strip() and not re.search(r"[\r\t\0-\x08]|^ | \Z", value)
        if is_block and self.dice.random() < 0.8:
            ending = "-" if lines[-1] else "" if len(lines) < 3 or lines[-2] else "+"
            body = lines if lines[-1] else lines[:-1]
            yield f"{head} |{ending}{tail}"
            yield from (" " * (indent + 2) + line if line else "" for line in body)
        elif PLAIN.fullmatch(value) and value.lower() not in WORDS and self.dice.random() < 0.7:
            yield f"{head} {value}{tail}"
        elif value.isprintable() and self.dice.random() < 0.5:
            yield f"{head} '{value.replace(chr(39), chr(39) * 2)}'{tail}"
        else:
            yield f"{head} {json.dumps(value, ensure_ascii=self.dice.random() < 0.5)}{tail}"


def key_text(key):
    """A key as text: real objects have keys that are numbers, too."""
    key = str(key)
    return key if PLAIN.fullmatch(key) and key.lower() not in WORDS else json.dumps(key)


def flow_style(value):
    """With plain words where they are possible, and spaces within braces."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key_text(key)}: {flow_style(below)}" for key, below in value.items()) + " }" if value else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow_style, value)) + "]"
    if isinstance(value, str) and PLAIN.fullmatch(value) and value.lower() not in WORDS:
        return value
    return json.dumps(value)
