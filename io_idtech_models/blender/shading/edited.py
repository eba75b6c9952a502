"""Materials that an import made and that were edited since: they wait while the model wears another skin.

Whether one was edited shows beside one that is made anew, property by property. What Blender knows of nodes is asked,
and no list of ours: links, images, groups, numbers, choices of every kind of node. Left out is what shows in the editor
alone, and animation.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import bpy

from ...reporting import listed
from ..compat import Block
from ..provenance import MODEL_ID
from .materials import Materials, worn_by

WAITS = "idtech_waits"  # on a material that was edited: model, surface and skin for which it is kept, in JSON

# Of nodes and sockets: how the editor shows them, and what leads back to what they are told with.
LEFT_OUT = frozenset((
    "location", "location_absolute", "width", "height", "select", "hide", "hide_value", "show_expanded", "show_options",
    "show_preview", "show_texture", "use_custom_color", "color", "color_tag", "parent", "label", "warning_propagation",
    "panel_states", "internal_links", "node", "rna_type",
))  # fmt: skip
OF_ANY_ID = frozenset(("use_fake_user", "use_extra_user", "tag", "is_runtime_data", "use_nodes"))
BELONGS = ("POINTER", "COLLECTION")


def is_same(material: Block, other: Block) -> bool:
    """Tell whether two materials look the same, whatever they are called."""
    return _told_itself(material) == _told_itself(other)


def _told_itself(material: Block) -> list[Any]:
    named = ("STRING", *BELONGS)  # what it is called does not count
    plain = [wanted for wanted in material.bl_rna.properties if wanted.type not in named and not wanted.is_readonly]
    found: list[Any] = [_value(material, wanted, set()) for wanted in plain if wanted.identifier not in OF_ANY_ID]
    tree = material.node_tree
    if tree is not None:
        ends = [
            (k.from_node.name, k.from_socket.identifier, k.to_node.name, k.to_socket.identifier) for k in tree.links
        ]
        driven = set() if tree.animation_data is None else {curve.data_path for curve in tree.animation_data.drivers}
        found += [sorted(ends), *(_told(node, driven) for node in tree.nodes)]
    return found


def _told(thing: Any, driven: set[str]) -> list[Any]:
    """Return the values of what can be set of a thing, and of what belongs to it; none of what is `driven`."""
    found: list[Any] = []
    has_path = bool(driven) and isinstance(thing, (bpy.types.Node, bpy.types.NodeSocket))
    for wanted in thing.bl_rna.properties:
        if wanted.identifier in LEFT_OUT or (wanted.is_readonly and wanted.type not in BELONGS):
            continue
        if not has_path or wanted.type in BELONGS or thing.path_from_id(wanted.identifier) not in driven:
            found.append((wanted.identifier, _value(thing, wanted, driven)))
    return found


def _value(thing: Any, wanted: Any, driven: set[str]) -> Any:
    value = getattr(thing, wanted.identifier)
    if wanted.type == "COLLECTION":
        return [_told(each, driven) for each in value]
    if wanted.type != "POINTER":
        return tuple(value) if getattr(wanted, "is_array", False) else value
    if value is None or isinstance(value, bpy.types.ID):
        return None if value is None else value.name_full
    return _told(value, driven)


def waiting(models: Collection[Any]) -> list[Block]:
    """Return the materials that wait for models, by their ids, to wear a skin again."""
    places = ((material, json.loads(material.get(WAITS, "[]"))) for material in bpy.data.materials)
    return [material for material, kept in places if any(model in models for model, *_ in kept)]


class Waiting:
    """Edited materials of a model that stops wearing a skin, `worn`, or puts one on, `wanted`."""

    def __init__(self, ways: list[Materials], worn: str, wanted: str) -> None:
        self.ways, self.worn, self.wanted = ways, worn, wanted
        self.known: dict[Block, bool] = {}
        self.kept: dict[Block, None] = {}

    def is_edited(self, material: Block) -> bool:
        """Tell whether a material looks otherwise than an import makes it, in whatever way."""
        if material not in self.known:
            self.known[material] = not any(_is_like(material, way.like(material)) for way in self.ways)
        return self.known[material]

    def keep(self, material: Block, block: Block, surface: str) -> None:
        """Keep a material that an object, a surface of the file, does not show any more."""
        self.kept[material] = None
        if self.worn != self.wanted:  # else it is made anew on purpose
            places = json.loads(material.get(WAITS, "[]"))
            material[WAITS] = json.dumps([*places, [block.data.get(MODEL_ID, ""), surface, self.worn]])
        if not material.users:
            material.use_fake_user = True  # else it would not be saved

    def of(self, block: Block, surface: str) -> Block | None:
        """Return the material that waits for an object to wear the skin, if there is one; it waits no longer."""
        place = [block.data.get(MODEL_ID, ""), surface, self.wanted]
        for material in bpy.data.materials if self.worn != self.wanted else ():
            places = json.loads(material.get(WAITS, "[]"))
            if place in places:
                places.remove(place)
                material[WAITS] = json.dumps(places)
                material.use_fake_user = bool(places)
                return material
        return None

    def said(self) -> list[str]:
        """Return what becomes of materials that were edited, in sentences."""
        if not self.kept:
            return []
        which = listed([worn_by(material) or material.name for material in self.kept])
        if self.worn == self.wanted:
            return [f"made anew; materials that were edited are kept in the .blend, unused: {which}"]
        return [f"materials that were edited come back when '{self.worn}' is shown again: {which}"]


def _is_like(material: Block, made: Block | None) -> bool:
    """Tell whether a material looks as one that was made to compare it, which goes."""
    if made is None:
        return False
    try:
        return is_same(material, made)
    finally:
        bpy.data.materials.remove(made)
