"""Write measured figures into docs/performance.md.

    python3 build.py bench --all --json figures.json
    python3 build.py bench --all --growth --json figures.json
    python3 build.py bench --all --small --json figures.json
    python3 -P benchmarks/page.py figures.json

What was not measured stays on the page as it is.

Standard library only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
STEPS = ("read", "to_model", "build", "gather", "from_model", "write")
OTHERS = ("import operator", "export operator")


def main(arguments: Sequence[str]) -> int:
    """Replace the figures of the page by those of a file that `bench --json` wrote; returns the exit status."""
    measured = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    text = PAGE.read_text(encoding="utf-8")
    for part, key, lines in (
        ("figures", "models", page),
        ("growth", "growth", growth),
        ("small models", "small", small),
    ):
        known = {version: found for version, found in measured.items() if key in found}
        if known:
            start, end = f"<!-- {part}: written by benchmarks/page.py -->", f"<!-- end of {part} -->"
            before, rest = text.split(start)
            text = "\n".join([before + start, "", *lines(known), end + rest.split(end)[1]])
    PAGE.write_text(text, encoding="utf-8")
    return 0


def growth(measured: dict[str, Any]) -> list[str]:
    """Return the lines of the table of growth: seconds at the largest size, and the exponent."""
    versions = sorted(measured)
    lines = head("seconds at the largest size, k", versions)
    for case in measured[versions[0]]["growth"]:
        found = [measured[version]["growth"][case] for version in versions]
        for name, first in found[0].items():
            cells = [f"{lesser(f[name]):.2f}, {f[name]['exponent']:.2f}" for f in found]
            label = f"*{name}*" if name.startswith("bare") else name
            lines.append(row(f"{case}, {first['sizes'][0]:,} to {first['sizes'][-1]:,}: {label}", cells))
    return [*lines, ""]


def lesser(row: dict[str, Any]) -> float:
    """Return the lesser of the seconds that passed and those of the processors, as the exponent is of these."""
    return float(min(row["seconds"][-1], row["processor"][-1]))


def small(measured: dict[str, Any]) -> list[str]:
    """Return the lines of the tables of small models."""
    versions = sorted(measured)
    found = [measured[version]["small"] for version in versions]
    lines = head("seconds for 400 files", versions)
    for name, what in (("alone", "each alone in a scene"), ("together", "all in one call, into one scene")):
        lines.append(row(what, [f"{f[name]['seconds']:.2f}" for f in found]))
        lines.append(row("its floor", [f"{f[name]['floor']:.2f}" for f in found]))
        lines.append(row("ratio (target 2.00)", [f"{f[name]['seconds'] / f[name]['floor']:.2f}" for f in found]))
    lines += ["", *head("milliseconds: the first import of a session, the second", versions)]
    for name in found[0]["first"]:
        lines.append(row(name, [f"{1000 * f['first'][name][0]:.0f}, {1000 * f['first'][name][1]:.0f}" for f in found]))
    return [*lines, ""]


def page(measured: dict[str, Any]) -> list[str]:
    """Return the lines of all tables."""
    versions = sorted(measured)
    lines = []
    for title in measured[versions[0]]["models"]:
        found = [measured[version]["models"][title] for version in versions]
        lines += ["### " + title, "", *head("milliseconds", versions)]
        rows = [(step, [f["seconds"][step]["best"] for f in found]) for step in STEPS]
        rows.append(("**import** (read, to_model, build)", [total(f, STEPS[:3]) for f in found]))
        rows.append(("its floor", [f["seconds"]["floor of import"]["best"] for f in found]))
        rows.append(("**export** without writing (gather, from_model)", [total(f, STEPS[3:5]) for f in found]))
        rows += [(name.replace(" op", ": whole op"), [f["seconds"][name]["best"] for f in found]) for name in OTHERS]
        lines += [row(name, [f"{1000 * value:.1f}" for value in values]) for name, values in rows]
        for name, target in found[0]["targets"].items():
            lines.append(row(f"{name} (target {target:.2f})", [f"{f['ratios'][name]:.2f}" for f in found]))
        lines.append("")
    lines += [line for title in measured[versions[0]]["skeletal"] for line in skeletal(title, measured, versions)]
    text = [measured[version]["text"] for version in versions]
    lines += [
        f"### The text of an .md5anim of {text[0]['megabytes']:.1f} MB",
        "",
        *head("megabytes per second", versions),
    ]
    for way in text[0]["speeds"]:
        target = f" (target {text[0]['target']:.0f})" if way == "read" else ""
        lines.append(row(way + target, [f"{found['speeds'][way]:.0f}" for found in text]))
    lines.append("")
    lines += ["### Decoding a PCX of 640 x 480 pixels", "", *head("milliseconds", versions)]
    for name in measured[versions[0]]["pictures"]:
        values = [measured[version]["pictures"][name]["best"] for version in versions]
        lines.append(row(name, [f"{1000 * value:.1f}" for value in values]))
    lines += ["", "### Enabling the extension", "", *head("milliseconds", versions)]
    values = [measured[version]["enabling"]["enable"]["best"] for version in versions]
    return [*lines, row("import and register", [f"{1000 * value:.0f}" for value in values]), ""]


def skeletal(title: str, measured: dict[str, Any], versions: Sequence[str]) -> list[str]:
    """Return the lines of a skeletal model's table."""
    found = [measured[version]["skeletal"][title] for version in versions]
    lines = ["### " + title, "", *head("milliseconds", versions)]
    for name in (*STEPS, "floor of import", "floor of export"):
        lines.append(row(name, [f"{1000 * f['seconds'][name]['best']:.1f}" for f in found]))
    for name, target in found[0]["targets"].items():
        lines.append(row(f"{name} (target {target:.2f})", [f"{f['ratios'][name]:.2f}" for f in found]))
    return [*lines, ""]


def total(found: dict[str, Any], steps: Sequence[str]) -> float:
    """Return the sum of several steps' best times."""
    return sum(float(found["seconds"][step]["best"]) for step in steps)


def head(what: str, versions: Sequence[str]) -> list[str]:
    """Return the first two lines of a table."""
    return [
        row(what, ["Blender " + version.removesuffix(" LTS") for version in versions]),
        row("---", ["---:"] * len(versions)),
    ]


def row(name: str, cells: Sequence[str]) -> str:
    """Return a line of a table."""
    return f"| {name} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
