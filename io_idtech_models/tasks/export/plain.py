"""Vertex-animated models as a file holds them that no option changes: what levels are made of, and compared with."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from zlib import crc32

from ... import formats
from ...blender.compat import Context
from ...blender.mesh.levels import Sums
from ...blender.roots import root_of
from ...formats import VERTEX, Format

if TYPE_CHECKING:
    from ...blender.vertex.frame_plan import GatherSettings, Holds
    from ...model.vertex import VertexModel
    from .selection import Choice

log = logging.getLogger(__name__)


def row_of_levels() -> Format:
    """Return the format whose games read levels of detail from files."""
    return next(row for row in formats.ROWS if row.family is VERTEX and row.vertex.level_files)


def plain_model(chosen: Choice, scale: float, context: Context) -> VertexModel:
    """Return objects as that format holds them; `scale`: of a game unit in the scene. Raises ModelError."""
    from ...blender.vertex.frame_plan import GatherSettings

    return framed_model(chosen, GatherSettings(scale=scale), context)


def framed_model(chosen: Choice, settings: GatherSettings, context: Context) -> VertexModel:
    """Return objects as frames that no game limits.

    Raises:
        ModelError: they are no model.
    """
    from ...blender.scene import ExportScene
    from ...blender.vertex.gather import gather  # as much again as an import needs

    wanted = replace(settings, holds=holds_of(row_of_levels()))
    with shown_apart(chosen, wanted.space, context):
        return gather(chosen.blocks, chosen.collection, ExportScene(context.scene, context.view_layer, wanted))


def checksums_of(model: VertexModel) -> Sums:
    """Return the CRC-32 of a model's file: whatever it wears and is called, whatever it is called, and as it is.

    Raises:
        ModelError: the format can't hold it.
    """
    dressed, row = replace(model, name=""), row_of_levels()
    bare = replace(dressed, surfaces=[replace(surface, shaders=[]) for surface in model.surfaces])
    first, second, third = (crc32(row.dump(each)) for each in (bare, dressed, model))
    return first, second, third


def holds_of(row: Format) -> Holds:
    """Return what a format has that others have not."""
    from ...blender.vertex.frame_plan import Holds

    own = row.vertex
    named = row.skins == formats.SKIN_FILES
    return Holds(
        own.uv_splits_vertices,
        own.holds_pictures,
        named,
        own.colors,
        own.further_uvs,
        own.groups,
        own.several_frames,
        row.name,
    )


@contextmanager
def shown_apart(chosen: Choice, space: str, context: Context) -> Iterator[None]:
    """Show a vertex-animated model in the space that it is written in; a warning says which.

    What hangs on a root is gathered as that sees it, without a change to the scene.
    """
    from ...blender.hanging import in_space

    if any(root_of(block) is not None for block in chosen.blocks):
        yield
        return
    with in_space(space, chosen.whole, context.view_layer) as notes:
        for note in notes:
            log.warning("%s", note)
        yield
