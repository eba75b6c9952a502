"""How much of everything a model has in Blender: lengths of arrays, which cost nothing to ask for."""

from __future__ import annotations

from ...blender.provenance import PART
from ...blender.vertex.shape_keys import frame_blocks
from ...formats import SKELETAL
from .subject import Subject


def counts_shown(subject: Subject) -> dict[str, int]:
    """Return what Blender holds, by the kinds that games have limits of; of surfaces' parts the largest surface's.

    Vertices are points: a file has more where seams split them. A face of n corners is n - 2 triangles.
    """
    meshes = subject.meshes
    tags = sum(block.type == "EMPTY" and PART not in block for block in subject.blocks)
    skeletal = subject.rig is not None and (subject.row is None or subject.row.family is SKELETAL)
    found = {"joints": len(subject.rig.data.bones)} if skeletal and subject.rig is not None else {}
    if not skeletal:
        keys = [block.data.shape_keys for block in meshes[:1]]
        found["frames"] = max((len(frame_blocks(key)) for key in keys if key is not None), default=1)
    found["meshes" if skeletal else "surfaces"] = len(meshes)
    found["tags"] = tags
    found["vertices"] = max((len(block.data.vertices) for block in meshes), default=0)
    triangles = (len(block.data.loops) - 2 * len(block.data.polygons) for block in meshes)
    found["triangles"] = max(triangles, default=0)
    return found
