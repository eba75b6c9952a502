"""The page of operators in the guide is what Blender knows of them."""

import json
import os
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from tests.kept import KEEP
from tests.samples import PROJECT
from tests.ui.scene import bpy

PAGE = PROJECT / "docs" / "operators.md"
TITLES = {
    "import_scene": "Import models",
    "import_anim": "Import animations",
    "export_scene": "Export models",
    "export_anim": "Export animations",
    "object": "In the scene",
}
HEAD = """\
# Operators, for scripts

All that menus and panels do, scripts can: each has an operator, which takes the options of its dialog by name. Those
that a script leaves out are as they stand here; `...` is the first of what the model has, by its name.

```python
import bpy

bpy.ops.import_scene.idtech_md3(filepath="models/players/tock/lower.md3")
bpy.ops.export_scene.idtech_md3(filepath="lower.md3", what="SCENE", game="ioquake3")
```

What an operator works on is the scene's active object, as in the window; what goes wrong raises `RuntimeError` with the
sentence that the window would show. The [cookbook](cookbook.md) has whole scripts, [the command line](command-line.md)
what needs none, and [Python without Blender](library.md) what works on files alone.
"""


def operators(room: str) -> Iterator[tuple[str, Any, list[Any]]]:
    """Yield the operators of a room that are for scripts, each with its options: names, what Blender knows of them."""
    home = getattr(bpy.ops, room)
    for name in dir(home):
        kind = getattr(bpy.types, f"{room.upper()}_OT_{name}", None)
        if name.startswith("idtech_") and kind is not None and "INTERNAL" not in kind.bl_options:
            told = getattr(home, name).get_rna_type()
            yield name, told, [each for each in told.properties if each.identifier != "rna_type" and not each.is_hidden]


def default_of(option: Any) -> str:
    """Return what an option is where nobody says, as Python writes it."""
    value = option.default
    if isinstance(value, bool):
        return repr(value)
    if option.type == "ENUM" and not value:
        return "..."  # its values are the scene's
    return json.dumps(value) if isinstance(value, str) else repr(round(value, 6))


def signature(room: str, name: str, options: Iterable[Any]) -> str:
    """Return how an operator is called, with what its options are where nobody says."""
    inside = ", ".join(f"{option.identifier}={default_of(option)}" for option in options)
    call = f"bpy.ops.{room}.{name}("
    if len(call) + len(inside) < 110:
        return f"{call}{inside})"
    lines = textwrap.wrap(inside, 110, break_on_hyphens=False, initial_indent="    ", subsequent_indent="    ")
    return "\n".join((call, *lines, ")"))


def meanings(every: list[tuple[str, Any, list[Any]]]) -> Iterator[str]:
    """Yield a line for each option of a room's operators, and for each value that it can have."""
    owners: dict[tuple[str, str], list[str]] = defaultdict(list)
    values: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for name, _, options in every:
        for option in options:
            key = option.identifier, option.description or option.name
            owners[key].append(name)
            if option.type == "ENUM":
                values[key].update(
                    (item.identifier, item.description or item.name) for item in option.enum_items_static
                )
    shared = [identifier for identifier, _ in owners]
    for (identifier, said), names in sorted(owners.items()):
        of = f" ({', '.join(f'`{name}`' for name in names)})" if shared.count(identifier) > 1 else ""
        yield f"- `{identifier}`{of}: {said}"
        yield from (f"  - `{value}`: {meant}" for value, meant in values[identifier, said].items() if value)


def page() -> str:
    """Return the page."""
    parts = [HEAD]
    for room, title in TITLES.items():
        every = list(operators(room))
        parts.append(f"## {title}\n")
        for name, told, options in every:
            parts.append(f"**{told.name}**: {told.description}.\n\n```text\n{signature(room, name, options)}\n```\n")
        parts.append("### Options: " + title[0].lower() + title[1:] + "\n\n" + "\n".join(meanings(every)) + "\n")
    return "\n".join(parts)


def test_the_guide_lists_what_there_is():
    found = page()
    if os.environ.get(KEEP):
        PAGE.write_text(found, encoding="utf-8", newline="\n")
    assert PAGE.read_text(encoding="utf-8") == found, "see tests/kept.py: IDTECH_KEEP writes the page anew"


def test_it_says_what_options_mean():
    lines = page().splitlines()
    assert "- `frames`: Which frames to write" in lines
    assert "  - `KEYS`: One frame per shape key, in their order" in lines
    for room in TITLES:
        for name, told, options in operators(room):
            assert told.description, name
            assert all(option.description for option in options), name
