"""What a game would refuse of objects: the checker of exports, without an export."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..assets.export_request import ExportRequest
from ..blender import names
from ..blender.compat import Context
from ..blender.hanging import in_space
from ..blender.mesh.levels import is_level, levels_of
from ..blender.player.parts import all_shown, find_player
from ..blender.provenance import unit_of
from ..blender.scene import ExportScene
from ..blender.skeletal.gather import find_rig
from ..blender.skeletal.gather import gather as gather_skeletal
from ..blender.skeletal.rig_scene import SkeletalGatherSettings, rig_scene
from ..blender.vertex.frame_plan import GatherSettings
from ..blender.vertex.gather import gather
from ..formats import SKELETAL, VERTEX, Format
from ..model.limits.games import Problem
from ..model.limits.tags import gone_tags
from ..model.vertex import VertexModel
from ..reporting import ModelError, collected_warnings
from .export import levels as rig_levels
from .export.plain import holds_of, shown_apart
from .export.selection import Choice, choose, part_of
from .export.skeletal import whole_model
from .export.skin_files import model_file, of_unlisted
from .export.subject import subject_of
from .player.tables import lack_of_parts, lack_of_table

log = logging.getLogger(__name__)

Facts = dict[str, int]


def models_meant(context: Context) -> dict[str, Choice]:
    """Return the model of the active object, or the selection, by "", or of a whole player its parts by their kinds.

    These with what is hidden of them, as the player is written; levels of detail by the names of their collections.

    Raises:
        ModelError: there is none.
    """
    subject = subject_of(context)
    player = None if subject is None or subject.player is None else find_player(subject.active)
    if player is None:
        chosen = choose(context, "AUTO")
        is_framed = chosen.blocks and not any(block.type == "ARMATURE" for block in chosen.blocks)
        return {"": chosen, **_levels(levels_of(rig_levels.holder_of(chosen)).values() if is_framed else (), context)}
    parts = {kind: part_of(context, root).with_hidden() for kind, root in player.parts.items()}
    return {**parts, **_levels(player.levels.values(), context)}


def _levels(collections: Iterable[Any], context: Context) -> dict[str, Choice]:
    return {names.file_name_of(each): choose(context, "AUTO", each.name).with_hidden() for each in collections}


@dataclass(frozen=True, eq=False)
class CheckResult:
    """What a game refuses of one model, or shows otherwise than meant."""

    name: str  # of the part or level, "" of a model alone
    blocks: Sequence[Any]
    problems: Sequence[Problem] = ()
    counts: Facts = field(default_factory=dict)  # how much the file holds
    said: Sequence[str] = ()
    lack: str = ""  # why it is no model that the format can hold at all

    @property
    def offenders(self) -> list[Any]:
        """Return the objects that problems name."""
        return self.offenders_of(self.problems)

    def offenders_of(self, problems: Sequence[Problem]) -> list[Any]:
        """Return the objects that some problems name; those of a joint mean its armature."""
        subjects = {problem.subject for problem in problems}
        found = []
        for block in self.blocks:
            called = {block.name, names.file_name_of(block)}
            if block.type == "ARMATURE":
                called |= {bone.name for bone in block.data.bones}
            if called & subjects:
                found.append(block)
        return found


def check_all(context: Context, row: Format, game: str) -> list[CheckResult]:
    """Return what a game refuses in a format of all models that are meant, and what is said of levels alone.

    Raises:
        ModelError: there is none, or one alone is no model that the format can hold at all.
    """
    results = _of_player(context)
    for name, chosen in models_meant(context).items():
        with collected_warnings() as said:
            try:
                result = CheckResult(name, chosen.blocks, *checked(chosen, row, game, context))
            except ModelError as error:
                if not name:
                    raise
                result = CheckResult(name, chosen.blocks, lack=str(error))
        known = {text for each in results for text in each.said} if is_level(chosen.collection) else set[str]()
        results.append(replace(result, said=[text for text in said if text not in known]))
    return results


def _of_player(context: Context) -> list[CheckResult]:
    """Return what a whole player lacks."""
    subject = subject_of(context)
    player = None if subject is None or subject.player is None else find_player(subject.active)
    if player is None:
        return []
    return [CheckResult("", (), lack=text) for text in (lack_of_parts(player), lack_of_table(player)) if text]


def checked(chosen: Choice, row: Format, game: str, context: Context) -> tuple[list[Problem], Facts]:
    """Return what a game refuses of objects in a format, or shows otherwise than meant, and how much the file holds.

    Raises:
        ModelError: the objects are no model that the format can hold at all.
    """
    with all_shown(context.view_layer, chosen.blocks):
        model = GATHER[row.family](chosen, row, context)
    found, subject = row.check(model, game), subject_of(context)
    if is_level(chosen.collection):  # games ask the model itself for tags and skins
        return found, counts_of(model)
    if subject is not None and subject.player is None:  # a player's export lists new surfaces in its skins by itself
        for text in _of_skins(chosen, row):
            log.warning("%s", text)
    if subject is not None and subject.whole is not None:
        found += gone_tags(model, besides=[names.file_name_of(block) for block in chosen.hidden])
    return found, counts_of(model)


def _of_skins(chosen: Choice, row: Format) -> list[str]:
    """Return what skins beside the file that a model came from lack of it, in sentences."""
    meshes = [block for block in chosen.blocks if block.type == "MESH"]
    file = model_file(meshes[0]) if meshes else None
    return [] if file is None else of_unlisted(ExportRequest(file), row, meshes)


def counts_of(model: Any) -> Facts:
    """Return how much a model has of what games have limits of; of surfaces' parts the largest surface's."""
    if isinstance(model, VertexModel):
        surfaces, found = model.surfaces, {"frames": model.num_frames, "tags": len(model.tags)}
        found["surfaces"] = len(surfaces)
    else:
        surfaces, found = model.meshes, {"joints": model.skeleton.num_joints, "tags": len(model.tags)}
        found["meshes"] = len(surfaces)
    found["vertices"] = max((surface.num_vertices for surface in surfaces), default=0)
    found["triangles"] = max((len(surface.triangles) for surface in surfaces), default=0)
    return found


def _gather_vertex(chosen: Choice, row: Format, context: Context) -> Any:
    asked = GatherSettings(holds=holds_of(row), scale=unit_of(*chosen.blocks))
    export = ExportScene(context.scene, context.view_layer, asked)
    with shown_apart(chosen, asked.space, context):
        return row.shape(gather(chosen.blocks, chosen.collection, export))


def _gather_skeletal(chosen: Choice, row: Format, context: Context) -> Any:
    blocks = whole_model(chosen.blocks, context)
    normals = "SOURCE" if row.skeletal.normals else "NONE"
    settings = SkeletalGatherSettings(normals=normals, scale=unit_of(*blocks))
    rig = find_rig(blocks)
    with in_space(settings.space, blocks, context.view_layer), rig_levels.shown(rig, row, context) as levels:
        return gather_skeletal([*blocks, *levels], rig_scene(context.scene, context.view_layer, settings, rig))


GATHER = {VERTEX: _gather_vertex, SKELETAL: _gather_skeletal}
