"""What the objects of a model wear, for levels of detail of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import bpy

from .. import names
from ..compat import Block
from ..mesh.surface_names import worn_materials
from ..provenance import is_stand_in
from ..shading.materials import Materials


@dataclass
class SameMaterials(Materials):
    """The materials that a model's objects have, for a level of it."""

    of_name: dict[str, list[Block]] = field(default_factory=dict)  # by the surface's name: what shows on it
    of_shader: dict[str, Block] = field(default_factory=dict)

    def of_surface(self, surface: str, shaders: Sequence[str]) -> list[bpy.types.Material]:
        """Return the materials of a surface that has these shaders in a file."""
        worn = self.of_name.get(surface, [])
        if not shaders:
            return worn[:1]
        first = next((m for m in worn if names.file_name_of(m) == shaders[0]), self.of_shader.get(shaders[0]))
        others = [self.of_shader.get(shader) or self.get(shader) for shader in shaders[1:]]
        return [first or self.get(shaders[0]), *others]


def materials_of(blocks: Sequence[Block]) -> SameMaterials:
    """Return the materials that objects have."""
    found = SameMaterials()
    meshes = [block for block in blocks if block.type == "MESH"]
    for wanted, material in worn_materials(meshes):
        if material is not None:
            found.of_name.setdefault(wanted.name, []).append(material)
    for block in meshes:
        for slot in block.material_slots:
            if slot.material is not None and not is_stand_in(slot.material):
                found.of_shader.setdefault(names.file_name_of(slot.material), slot.material)
    return found
