"""Skins that name no meshes: their lines go by the order of a body's meshes, as XreaL reads them."""

from __future__ import annotations

import logging
from pathlib import PurePath

from ...blender.shading.materials import worn_by
from ...blender.skeletal.rig_scene import RigScene
from ...game.character.files import BODY
from ...game.skin import SUFFIX, SURFACE, read_skin
from ...reporting import listed
from .record import Record

log = logging.getLogger(__name__)


def in_order(export: RigScene | None, old: bytes) -> bytes:
    """Return a skin whose lines are the meshes that an export has gathered, one after another, with what these wear."""
    if export is None or export.stored is None:
        return old
    skin = read_skin(old)
    lines = [entry.value for entry in skin.entries if entry.kind == SURFACE]
    if len(lines) < len(export.stored.source.meshes):  # then the meshes wear their own
        return old
    of_shader: dict[str, set[str]] = {}  # what meshes of one shader wear, which all show the same in Blender
    for written in export.written:
        if written.mesh.source_index >= 0:
            of_shader.setdefault(written.mesh.shader, set()).add(lines[written.mesh.source_index])
    worn: list[tuple[str, str]] = []
    for written in export.written:
        mesh, material = written.mesh, written.material
        wears = "" if material is None else worn_by(material)
        if mesh.source_index >= 0 and (not wears or wears in of_shader[mesh.shader]):
            wears = lines[mesh.source_index]
        worn.append((mesh.name, wears or mesh.name))
    return skin.set_in_order(worn).write()


def say_of_others(export: RigScene | None, record: Record, path: str) -> None:
    """Name the skins beside that of a path which are not worn, and whose lines are of other meshes by now."""
    if export is None or export.stored is None:
        return
    known = range(len(export.stored.source.meshes))
    if [written.mesh.source_index for written in export.written] == [*known]:
        return
    folder = PurePath(record.models[BODY]).parent
    others = [each for each in map(PurePath, record.besides) if each.suffix == SUFFIX and each.parent == folder]
    left = [each.name for each in others if each.name.startswith(f"{BODY}_") and each != PurePath(path)]
    if left:
        text = "lines of skins go by the order of meshes, which is another now, put these in that order: %s"
        log.warning(text, listed(left))
