#!/usr/bin/env python3
"""Measures what the README's chart shows, and draws it.

usage: chart.py [BINARY] [--kubectl KUBECTL] [--draw]

Each row has two programs on the same input, in turns in one run: the seconds are medians of processor
time. They are kept in build-time.json, so a row whose peer is not installed stays as it was measured
before. --draw only draws. The charts are docs/images/build-time-light.svg and -dark.svg.
"""

import argparse
import json
import pathlib
import statistics
import tempfile

import peers

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE / "build-time.json"
IMAGES = HERE.parent / "docs" / "images"
THEMES = {
    "light": {"text": "#1f2328", "quiet": "#59636e", "peer": "#afb8c1", "ours": "#0969da"},
    "dark": {"text": "#f0f6fc", "quiet": "#9198a1", "peer": "#656c76", "ours": "#4493f8"},
}
WIDTH, LEFT, BAR, GAP, GROUP = 760, 150, 18, 6, 74
FONT = "-apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"


def measure(binary, kubectl, rows):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        arguments = argparse.Namespace(rounds=3, large=0, limit=300, kubectl=kubectl)
        parts = peers.Parts(binary, folder, arguments)
        parts.generate("--objects", 10_000, "--parameters", "--tree", 364)
        directory = parts.composed(1_000).argv[-1]
        template = folder / "openshift-10000.yaml"
        commands = {
            "364 Kustomizations, 4,004 objects": (
                [kubectl, "kustomize", folder / "tree-364"],
                ["build", folder / "tree-364"],
            ),
            "Ten transformers, 1,000 Deployments": (
                [kubectl, "kustomize", pathlib.Path(directory) / "at-once"],
                ["build", pathlib.Path(directory) / "at-once"],
            ),
            "A Template of 10,000 objects": (
                ["oc", "process", "--local", "-f", template, "-o", "yaml"],
                ["process", "-f", template],
            ),
        }
        for row in rows:
            theirs, ours = commands[row["work"]]
            try:
                contestants = [peers.Contestant(row["peer"], theirs), peers.Contestant("ours", [binary, *ours])]
            except peers.Missing as reason:
                print(f"{row['work']}: as before, {reason}")
                continue
            times = [statistics.median(one.cpu for one in own) for own in peers.race(contestants, 3)]
            row["seconds"], row["ours"] = (round(seconds, 3) for seconds in times)
            print(f"{row['work']}: {row['peer']} {times[0]:.2f} s, krm-template {times[1]:.3f} s")


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
    longest = WIDTH - LEFT - 80
    lines = []
    for index, row in enumerate(rows):
        y = index * GROUP
        lines.append(text(LEFT, y + 16, row["work"], theme["text"], 14, weight="600"))
        width = longest * row["ours"] / row["seconds"]
        lines += bar(y + 22, row["peer"], row["seconds"], longest, theme["peer"], theme)
        lines += bar(y + 22 + BAR + GAP, "krm-template", row["ours"], width, theme["ours"], theme)
    height = len(rows) * GROUP
    title = "; ".join(
        f"{row['work']}: {row['peer']} {row['seconds']} s, krm-template {row['ours']} s" for row in rows
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="{FONT}" role="img">'
    return "\n".join([head, f"<title>Processor time. {title}</title>", *lines, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?", type=pathlib.Path, default=HERE.parent / "target/static/krm-template")
    parser.add_argument("--kubectl", default="kubectl")
    parser.add_argument("--draw", action="store_true")
    arguments = parser.parse_args()
    rows = json.loads(DATA.read_text())
    if not arguments.draw:
        measure(arguments.binary.resolve(), arguments.kubectl, rows)
        DATA.write_text(json.dumps(rows, indent=2) + "\n")
    for name, theme in THEMES.items():
        (IMAGES / f"build-time-{name}.svg").write_text(chart(rows, theme))


if __name__ == "__main__":
    main()
