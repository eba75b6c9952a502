"""The guide names operators, options, choices and panels as the window shows them."""

import ast
import re

import pytest

from io_idtech_models.formats.format import ENGINES
from io_idtech_models.ui import menus as files
from io_idtech_models.ui import registration
from tests.samples import PROJECT
from tests.ui.scene import bpy

PAGES = sorted([PROJECT / "README.md", *(PROJECT / "docs").rglob("*.md")])
FENCED = re.compile(r"^(`{3,}).*?^\1$", re.M | re.S)
MARKED = re.compile(r'\*\*([^*]+)\*\*|(?<![*\w])\*([^*\n]+)\*(?![*\w])|"([^"\n]+)"')
OPTION = re.compile(r"^\| `([a-z_]+)` ([A-Z][^|,]*?) \|", re.M)
SMALL = {"a", "an", "and", "as", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with", "its"}
SHOWN = {"All Frames", "Game Additive", "Game Filter", "Game Reflection", "Game Texture Matrix", "Game Shine"}
WORDS = frozenset({"PCX", "Modifiers", "Bounds", "Tags", "Esc", "FIT", "Numbers.", "Import", "Edit", "Try"})  # emphasis
# What Blender itself calls so.
BLENDERS = {
    "Add", "Base Color", "Blend", "Shape", "Location", "Rotation", "Size", "Radius", "Depth", "Segments", "Rings",
    "Principled BSDF", "Alpha", "Normal", "Normal Map", "Specular Tint", "Specular IOR Level", "Emission", "Gamma",
    "Emission Color", "Channel Packed", "Cyclic Animation", "Evaluation Time", "Deform", "Inherit Scale: None",
}  # fmt: skip


def operator_of(cls):
    """Return what Blender knows of an operator's class."""
    group, _, name = cls.bl_idname.partition(".")
    return getattr(getattr(bpy.ops, group), name).get_rna_type()


def structures():
    """Yield what Blender knows of each class: of an operator all that it declares."""
    for cls in registration._classes:
        if issubclass(cls, bpy.types.Operator):
            yield operator_of(cls)
        elif hasattr(cls, "bl_rna"):
            yield cls.bl_rna


@pytest.fixture(scope="module")
def labels():
    """Return all that the extension shows: names of classes, presets, options and choices, and texts that are drawn."""
    found = {getattr(cls, "bl_label", "") for cls in registration._classes} | SHOWN
    found |= {label for way in ("import", "export") for engine in ENGINES for _, label in files.entries(way, engine)}
    presets = (PROJECT / "io_idtech_models/presets").rglob("*.py")
    found |= {path.stem.replace("_", " ") for path in presets}
    for structure in structures():
        found |= {structure.name, *(p.name for p in structure.properties)}
        found |= {item.name for p in structure.properties if p.type == "ENUM" for item in p.enum_items}
    for path in (PROJECT / "io_idtech_models/ui").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "text" and isinstance(node.value, ast.Constant):
                found.add(str(node.value.value).removesuffix("..."))
    return found


@pytest.fixture(scope="module")
def options():
    """Return the names in scripts and the labels of all options and choices."""
    found = set()
    for structure in structures():
        found |= {(p.identifier, p.name) for p in structure.properties}
        found |= {(i.identifier, i.name) for p in structure.properties if p.type == "ENUM" for i in p.enum_items}
    return found


def is_title(text):
    """Tell whether a text is written as labels are: Each Word Begins With a Capital."""
    words = text.split()
    return len(words) < 7 and all(word[0].isupper() or word in SMALL or not word[0].isalpha() for word in words)


def unknown(text, labels):
    """Return what a page sets off as a label, and is none."""
    found = (" ".join("".join(marked).split()).rpartition(" > ")[2] for marked in MARKED.findall(text))
    return [name for name in found if name[:1].isupper() and is_title(name) and name not in labels | BLENDERS | WORDS]


def test_labels_of_the_guide_are_those_of_the_window(labels):
    wrong = {page.name: bad for page in PAGES if (bad := unknown(plain(page), labels))}
    assert not wrong


def test_options_in_tables_have_their_names(options):
    rows = {(page.name, *row) for page in PAGES for row in OPTION.findall(plain(page))}
    assert len(rows) > 50
    assert not sorted(row for row in rows if row[1:] not in options)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**Hold Still in Other Frames** and *Weld Seams*", []),
        ("**File > Export > id Tech > Quake III (.md3)**", []),
        ("**Hold Still in all Frames**", []),  # no title
        ("**Hold Still in Some Frames**, *Weld Seam*", ["Hold Still in Some Frames", "Weld Seam"]),
        ('"Same Boxes"', ["Same Boxes"]),
        ("**File > Export > id Tech > Quake IV (.md6)**", ["Quake IV (.md6)"]),
    ],
)
def test_what_is_no_label(labels, text, expected):
    assert unknown(text, labels) == expected


def plain(page):
    return FENCED.sub("", page.read_text(encoding="utf-8"))
