"""What surfaces are called and wear in a file: names are no two alike, for games look up by them what a surface wears.

What such a file has called alike stays alike, so that it comes back as it was; not what a file of another format has,
where names say nothing of what is worn: parts of an LWO have one for all their materials.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...model.edits.split_surfaces import further_names
from ...model.limits.checks import engine_surface_name
from .. import names
from ..compat import Block
from ..provenance import FILE, MODEL_ID, SURFACE_INDEX, is_stand_in, model_of
from . import attributes, levels
from .parts import Part
from .read import Shape

log = logging.getLogger(__name__)

LOOKED_UP = (".iqm", ".md3", ".mdc", ".mdm", ".mdr", ".mds")  # files in which games look up surfaces by their names
MOST_SAID = 6  # changes in a sentence
ROOM = 63  # bytes: of the 64 that files have for a name the last is a NUL
Key = tuple[int, str]  # level of detail, and the name as games keep it


@dataclass(frozen=True, eq=False)
class Wanted:
    """A surface of an object, its first or a further one, and what it would be called alone."""

    block: Block
    nth: int
    name: str


def settle(surfaces: Sequence[Wanted]) -> list[str]:
    """Return what to call surfaces, in their order: in whatever order they come, each gets the same name."""
    own = _originals(surfaces)
    order = sorted(range(len(surfaces)), key=lambda i: (i not in own, *_rank(surfaces[i])))
    found = [each.name for each in surfaces]
    taken: dict[Key, Any] = {}
    every: dict[int, set[str]] = {}
    of_level = [levels.number_of(each.block) for each in surfaces]
    for level, each in zip(of_level, surfaces, strict=True):
        every.setdefault(level, set()).add(engine_surface_name(each.name))
    for i in order:
        name, level, model = found[i], of_level[i], own.get(i)
        key = level, engine_surface_name(name)
        if key in taken and (model is None or taken[key] != model):
            room = max(ROOM, len(name.encode("utf-8", errors="replace")))
            (found[i],) = further_names(name, 1, every[level], room)
        taken.setdefault((level, engine_surface_name(found[i])), model)
    return found


def settle_and_say(surfaces: Sequence[Wanted]) -> list[str]:
    """Return what to call surfaces, and warn of those that are not called as they would be alone."""
    found = settle(surfaces)
    pairs = zip(surfaces, found, strict=True)
    changed = [f"'{each.name}' is now '{name}' ('{each.block.name}')" for each, name in pairs if each.name != name]
    if changed:
        more = [f"and {len(changed) - MOST_SAID} more"] if len(changed) > MOST_SAID else []
        said = ", ".join(changed[:MOST_SAID] + more)
        log.warning("games look up what surfaces wear by names, so no two are called alike: %s", said)
    return found


def _rank(each: Wanted) -> tuple[Any, ...]:
    """Return who comes first: what is called as import called it, then what Blender put no number behind."""
    name = each.block.name
    return names.is_renamed(each.block), each.nth > 0, name != names.stem_of(name), name, each.nth


def _originals(surfaces: Sequence[Wanted]) -> dict[int, Any]:
    """Return which surfaces have the names of their files, by their places, with the model that each came from."""
    claimed: set[Any] = set()
    found = {}
    for i in sorted(range(len(surfaces)), key=lambda i: _rank(surfaces[i])):
        block = surfaces[i].block
        number, model = block.data.get(SURFACE_INDEX), block.data.get(MODEL_ID)
        looks_up = str(block.data.get(FILE, "")).lower().endswith(LOOKED_UP) or FILE not in block.data
        if surfaces[i].nth or model is None or (model, number) in claimed or not looks_up:
            continue
        claimed.add((model, number))
        if surfaces[i].name == block.get(names.SOURCE):
            found[i] = model
    return found


def surface_name(block: Block, part: Part, shape: Shape, nth: int, keep_suffix: bool) -> str:
    """Return the name of an object's surface: of the further ones of several materials with the material's behind."""
    name = names.file_name_of(block, keep_suffix)
    if nth == 0 or not part.slots:
        return name
    # Without a shader, as where a stand-in shows what a skin says, the slot's number tells it apart.
    return _further_name(name, next(iter(shaders_of(part, shape, keep_suffix)), ""), part.slots[0])


def _further_name(name: str, shader: str, slot: int) -> str:
    ending = shader.replace("\\", "/").rsplit("/", 1)[-1].split(".")[0] or str(slot)
    return names.fit(f"{names.fit(name, 40)}-{ending}")


def worn_materials(blocks: Iterable[Block]) -> list[tuple[Wanted, Block | None]]:
    """Return the surfaces that objects without modifiers become, as they will be called, with the material of each."""
    every = [found for block in blocks for found in _worn(block)]
    called = settle([wanted for wanted, _ in every])
    return [(replace(wanted, name=name), material) for name, (wanted, material) in zip(called, every, strict=True)]


def name_in_source(block: Block) -> str:
    """Return what an object's surface is called in the file that it came from; "" of one that came from none.

    Copies and pieces of it came from there, too.
    """
    name = block.get(names.SOURCE) if model_of(block) else None
    return name if isinstance(name, str) else ""


def _worn(block: Block) -> list[tuple[Wanted, Block | None]]:
    slots = attributes.get_attribute(block.data, "material_index", "INT", "FACE")
    used = [0] if slots is None else np.unique(slots).tolist()
    found: list[tuple[Wanted, Block | None]] = []
    for nth, slot in enumerate(used):
        material = block.material_slots[slot].material if slot < len(block.material_slots) else None
        name = names.file_name_of(block)
        shader = "" if material is None or is_stand_in(material) else names.file_name_of(material)
        called = name if nth == 0 else _further_name(name, shader, slot)
        found.append((Wanted(block, nth, called), material))
    return found


def shaders_of(
    part: Part, shape: Shape, keep_suffix: bool, is_source: bool = True, are_skins: bool = False
) -> list[str]:
    """Return the shader names of a part's material slots, in order; what stands in for a missing one is none.

    Where faces wear such a one, slots that none wears are none, too, unless they `are_skins`: the first that a file
    names is what is worn.
    But for a part of which most is not the source's, or where what is written `is_source` not: a file of that format.
    No skin lists that, and what one says is a shader's name.
    """
    materials, numbers = [shape.materials[slot] for slot in part.slots], part.vertices.numbers
    is_new = not is_source or 2 * np.count_nonzero(numbers < 0) > len(numbers)
    known = [m for m in materials if m is None or not is_stand_in(m) or (is_new and names.SOURCE in m)]
    materials = known if are_skins or known[:1] == materials[:1] else []
    return ["" if m is None else names.file_name_of(m, keep_suffix) for m in materials]
