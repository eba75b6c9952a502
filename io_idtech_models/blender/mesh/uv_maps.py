"""Sets of texture coordinates as UV maps: the one that games draw, which is rendered, and those beside it.

A lone set is called `UVMap`. Of several each has the file's own name, as far as Blender takes it. A mesh remembers
which of its maps was which set of the file: one that is gone was deleted, one that Blender had no room for was not.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.vertex import Surface
from ...reporting import listed
from .. import names
from ..compat import Block
from . import attributes

log = logging.getLogger(__name__)

MOST = 8  # UV maps of a mesh: MAX_MTFACE of Blender's source
SETS = "idtech_uv_maps"  # on a mesh: the file's sets by the UV maps that show them, the drawn one first
# Names of attributes that Blender makes itself: a UV map that is called so keeps it from that.
RESERVED = ("position", "material_index", "sharp_face", "sharp_edge", "custom_normal", attributes.COLORS)
Floats = NDArray[np.float32]


@dataclass(eq=False)
class UvMaps:
    """The UV maps of a mesh but for the coordinates of the rendered one."""

    drawn: str = ""  # which set of a file that one is; "": as the source, or the format, calls it
    further: dict[str, Floats] = field(default_factory=dict)  # (C, 2), by set
    shown: tuple[str, ...] = ()  # sets of the source that import showed, the one that it draws among them


def show(mesh: Block, surface: Surface, corners: NDArray[Any]) -> None:
    """Give a mesh that shows a surface's drawn set of texture coordinates its other sets; `corners` (n,) of them all.

    Call it when all other attributes are there.
    """
    wanted = list(surface.further_uvs)[: MOST - 1]
    if wanted:
        called = names.unique([_free_name(name) for name in (surface.uv_name, *wanted)], attributes.UV_MAP)
        mesh.uv_layers[0].name = called[0]
        for name, new in zip(wanted, called[1:], strict=True):
            layer = mesh.uv_layers.new(name=new, do_init=False) or mesh.uv_layers.new(do_init=False)
            if len(mesh.loops):
                uvs = surface.further_uvs[name].reshape(-1, 2)[corners]
                layer.uv.foreach_set("vector", np.ascontiguousarray(uvs, np.float32).ravel())
        mesh.uv_layers.active_index = 0
        mesh.uv_layers[0].active_render = True
    if surface.uv_name:
        sets = (surface.uv_name, *wanted)
        mesh[SETS] = {layer.name: name for layer, name in zip(mesh.uv_layers, sets, strict=True)}
    left = list(surface.further_uvs)[MOST - 1 :]
    if left:
        text = "'%s' has more sets of texture coordinates than Blender's %d: kept, but not shown: %s"
        log.warning(text, surface.name, MOST, listed(left))


def _free_name(name: str) -> str:
    """Return a name that is no attribute's."""
    return f"UV {name}" if name in RESERVED or name.startswith(".") else name


def read(block: Block, mesh: Block) -> UvMaps:
    """Return the UV maps of an object's mesh, which may be an evaluated one."""
    stored = block.data.get(SETS)
    pairs = stored.items() if hasattr(stored, "items") else ()  # a .blend can come from a stranger
    sets = {name: value for name, value in pairs if isinstance(value, str)}
    rendered = attributes.rendered_uv_map(mesh)
    if rendered is None:
        return UvMaps(shown=tuple(sets.values()))
    called = {layer.name: sets[layer.name] for layer in mesh.uv_layers if layer.name in sets}
    for layer in mesh.uv_layers:
        if layer.name not in called:  # a new one, which may be called as a set that another shows
            called[layer.name] = names.free_name(layer.name, called.values())
    alone = not sets and len(mesh.uv_layers) == 1
    found = UvMaps("" if alone else called[rendered.name], shown=tuple(sets.values()))
    for layer in mesh.uv_layers:
        if layer.name != rendered.name:
            found.further[called[layer.name]] = attributes.uvs_of(mesh, layer)
    return found
