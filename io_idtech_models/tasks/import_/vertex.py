"""Files of vertex-animated models into the scene: what operators, drop handlers and the command line share."""

from __future__ import annotations

import bpy

from ... import formats
from ...assets.load import Loaded, load
from ...blender.provenance import CHECKSUM, CONTENT, note_file
from ...blender.vertex.build import BuildSettings, Built, build
from ...formats import VERTEX
from ...game.store import GameFile
from ...model.facts import describe
from ...reporting import Summary, collected_warnings
from .dressing import AS_USUAL, Dressing, Worn, lacking, materials_for, note_skin, rate_of


def import_file(
    file: GameFile | Loaded,
    settings: BuildSettings,
    scene: bpy.types.Scene,
    into: bpy.types.Collection,
    dressing: Dressing = AS_USUAL,
    worn: Worn | None = None,
) -> tuple[Built, Summary]:
    """Bring a file, or what was read of one, into the scene; files that are imported together are of one `Disk`.

    `worn` is what a model wears that is dressed already: one that this one is a level of.

    Raises:
        ModelError: the file can't be read; the .blend is as it was.
    """
    with collected_warnings() as warnings:
        loaded = file if isinstance(file, Loaded) else load(file, wanted=VERTEX)
        source, model = loaded.file, loaded.model
        assert source is not None
        rate = rate_of(scene, settings.frame_rate)
        materials, dress = worn or materials_for(source, loaded.row, dressing, rate)
        materials.rate = rate
        built = build(model, settings, materials, scene, into)
        note_file(built.collection, [*built.surfaces, *built.tags], source.place, settings.scale)
        built.collection[CHECKSUM] = f"{loaded.checksum:08x}"
        if formats.by_suffix(source) is not loaded.row:
            built.collection[CONTENT] = loaded.row.name
        note_skin(built.collection, dress)
        warnings.extend(lacking(materials, dress))
    return built, Summary(describe(model), warnings)
