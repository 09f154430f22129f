#!/usr/bin/env python3
"""The measured figures: the only file that has them, and what is made from it.

usage: figures.py

The scripts that measure write tables into figures.json with --record. Without arguments, this one
writes the tables of the documents and the charts of the README from it. A row that was not measured
stays as it was, so a peer that is not installed does no harm. `cargo test` fails if a document has
other figures.

In a document, the comment `<!-- figures NAME WORK -->` stands before the rows of the table NAME whose
first cell is WORK, or before all of them without a WORK.
"""

import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE / "figures.json"
DOCS = HERE.parent / "docs"
THEMES = {
    "light": {"text": "#1f2328", "quiet": "#59636e", "peer": "#afb8c1", "ours": "#0969da"},
    "dark": {"text": "#f0f6fc", "quiet": "#9198a1", "peer": "#656c76", "ours": "#4493f8"},
}
WIDTH, LEFT, BAR, GAP, GROUP = 760, 150, 18, 6, 74
FONT = "-apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"


def tables():
    return json.loads(DATA.read_text())


def record(name, head, rows, keys=1):
    """Writes rows of cells into a table. A row replaces the one whose first cells, the keys, are the same."""
    all_tables = tables()
    table = all_tables.setdefault(name, {"rows": []})
    kept = {tuple(row[:keys]): row for row in table["rows"]}
    kept.update((tuple(row[:keys]), list(row)) for row in rows)
    all_tables[name] = {"head": list(head), "rows": list(kept.values())}
    text = json.dumps(all_tables, indent=1, ensure_ascii=False)
    # A row on one line.
    text = re.sub(r"\[\n +([^\[\]]*?)\n +\]", lambda row: "[" + re.sub(r"\n +", " ", row[1]) + "]", text)
    DATA.write_text(text + "\n")


def number(name, key):
    """The number in the second cell of a row, or None if there is no such row."""
    for row in tables()[name]["rows"]:
        if row[0] == key:
            return float(row[1].replace(",", ""))
    return None


def as_markdown(table, work):
    rows = [row for row in table["rows"] if work in ("", row[0])]
    lines = [table["head"], ["---"] * len(table["head"]), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def write_documents(all_tables):
    for page in DOCS.glob("*.md"):
        text = page.read_text()
        made = re.sub(
            r"(<!-- figures (\S+) ?(.*) -->\n)(?:\|.*\n)*",
            lambda found: found[1] + as_markdown(all_tables[found[2]], found[3]),
            text,
        )
        if made != text:
            page.write_text(made)


def text(x, y, content, color, size=13, anchor="start", weight="normal"):
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{content}</text>'
    )


def bar(y, name, seconds, width, color, theme):
    label = f"{seconds:.1f} s" if seconds >= 1 else f"{seconds:.2f} s"
    middle = y + BAR - 5
    return [
        text(LEFT - 8, middle, name, theme["quiet"], anchor="end"),
        f'<rect x="{LEFT}" y="{y}" width="{max(width, 1):.1f}" height="{BAR}" rx="2" fill="{color}"/>',
        text(LEFT + max(width, 1) + 8, middle, label, theme["text"]),
    ]


def chart(rows, theme):
    """Rows of a work, its peer, and the seconds of both."""
    longest = WIDTH - LEFT - 80
    lines = []
    for index, (work, peer, seconds, ours) in enumerate(rows):
        y = index * GROUP
        lines.append(text(LEFT, y + 16, work, theme["text"], 14, weight="600"))
        width = longest * float(ours) / float(seconds)
        lines += bar(y + 22, peer, float(seconds), longest, theme["peer"], theme)
        lines += bar(y + 22 + BAR + GAP, "krm-template", float(ours), width, theme["ours"], theme)
    height = len(rows) * GROUP
    title = "; ".join(f"{work}: {peer} {seconds} s, krm-template {ours} s" for work, peer, seconds, ours in rows)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="{FONT}" role="img">'
    return "\n".join([head, f"<title>Processor time. {title}</title>", *lines, "</svg>", ""])


def main():
    all_tables = tables()
    write_documents(all_tables)
    for name, theme in THEMES.items():
        image = DOCS / "images" / f"build-time-{name}.svg"
        image.write_text(chart(all_tables["build-time"]["rows"], theme))


if __name__ == "__main__":
    main()
