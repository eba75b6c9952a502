"""What a file holds once for all frames, beside faces: texture coordinates, and which materials faces wear."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compat import Block
from . import attributes

SAME = 1e-4  # of texture coordinates: a texel of a large picture, and much more than modifiers round


class HeldOnce:
    """That of an object's evaluated mesh as it is written, and what of it is other in other frames."""

    def __init__(self, block: Block, mesh: Block) -> None:
        self.name, self.written = block.name, _of(mesh)
        self.others: dict[str, str] = {}  # what, and where it was seen first

    def look(self, mesh: Block, where: str) -> None:
        """Note what of a mesh that has the same faces is other than what is written."""
        for what, value in _of(mesh).items():
            if not _is_same(value, self.written[what]):
                self.others.setdefault(what, where)

    def sentences(self) -> list[str]:
        """Return what was seen, in sentences."""
        return [
            f"'{self.name}': its {what} change, and a file has them once, for all frames (first other {where})"
            for what, where in self.others.items()
        ]


def _is_same(value: Any, other: Any) -> bool:
    """Tell whether arrays are the same as far as anyone sees; None is another than any."""
    if value is None or other is None:
        return value is other
    return value.shape == other.shape and bool(np.isclose(value, other, rtol=0.0, atol=SAME, equal_nan=True).all())


def _of(mesh: Block) -> dict[str, Any]:
    """Return texture coordinates (C, 2), and the material of each face (faces,), 0 for none."""
    slots = attributes.get_attribute(mesh, "material_index", "INT", "FACE")
    ids = np.array([0 if material is None else material.original.session_uid for material in mesh.materials] or [0])
    worn = np.zeros(len(mesh.polygons), np.int32) if slots is None else slots
    return {
        "texture coordinates": attributes.corner_uvs(mesh),
        "materials": ids[np.clip(worn, 0, len(ids) - 1)],
    }
