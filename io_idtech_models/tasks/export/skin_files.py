"""Skin files (`upper_red.skin`): what all surfaces of a model wear now, in words, with what a file had before."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ... import formats
from ...assets.storage import Target, write_file
from ...blender import names
from ...blender.compat import Block
from ...blender.mesh.surface_names import worn_materials
from ...blender.provenance import FILE, MODEL_ID, SKIN, collections_of
from ...blender.provenance import model_of as model_id_of
from ...blender.shading.materials import worn_by
from ...game.dress import Wardrobe
from ...game.skin import make, read_skin, surface_key
from ...game.store import GameFile
from ...reporting import Summary, plural
from ..import_.dressing import wardrobe
from ..import_.games import user_disk

log = logging.getLogger(__name__)


def model_file(block: Block) -> Path | None:
    """Return the file that an object's model was imported from; None if there is none, or it is not there any more."""
    holders: list[Any] = [*collections_of({block.data.get(MODEL_ID)}), *block.users_collection, block.data]
    found = next((holder[FILE] for holder in holders if isinstance(holder.get(FILE), str)), None)
    path = None if found is None else Path(found)
    return path if path is not None and user_disk().file(path).is_file() else None


def wardrobe_of(block: Block) -> Wardrobe | None:
    """Return the skins of an object's model; None if its file is not there, or of a format without skins."""
    path = model_file(block)
    file = None if path is None else user_disk().file(path)
    row = None if file is None else formats.by_suffix(file)
    return wardrobe(file, row) if file is not None and row is not None and row.skins else None


def skin_worn(block: Block) -> GameFile | None:
    """Return the file of the skin that an object's model wears; None if it wears none, or it is not there any more."""
    skins, name = wardrobe_of(block), noted_skin(block)
    return None if skins is None or name is None else skins.files.get(name)


def noted_skin(block: Block) -> str | None:
    """Return the name of the skin that an object's model is noted to wear; None if it wears none."""
    return next((str(c[SKIN]) for c in block.users_collection if isinstance(c.get(SKIN), str)), None)


def proposed_skin(block: Block) -> Path:
    """Return what to call the file of a model's skin: as that which it wears, on disk, or beside the .blend."""
    worn, path = skin_worn(block), model_file(block)
    if worn is not None:
        return Path(worn.path) if worn.path is not None else Path(bpy.data.filepath).parent / worn.name
    stem = names.stem_of(block.name) if path is None else path.stem
    folder = Path(bpy.data.filepath).parent
    beside = folder if path is None or user_disk().file(path).path is None else path.parent
    return beside / f"{stem}_default.skin"


def write_skin(blocks: list[Block], target: Path, source: GameFile | None = None) -> Summary:
    """Write what a model's surfaces wear now as a skin file: see `skin_file`; raises ModelError."""
    data, summary = skin_file(blocks, target, source)
    write_file(target, data)
    return summary


def skin_file(
    blocks: list[Block], target: Path, source: GameFile | None = None, pieces: Mapping[str, list[str]] | None = None
) -> tuple[bytes, Summary]:
    """Return a skin file of what a model's surfaces wear now, and `pieces` of those, by their names.

    A file that is there keeps all that the surfaces do not say otherwise: comments, attached models, order, spelling. A
    new one is like `source`, the skin that the model wore, or made anew.

    Raises:
        ModelError: the file that is there can't be read, or a name can't be written.
    """
    old: GameFile | None = user_disk().file(target)
    old = old if old is not None and old.is_file() else source
    data, count = skin_of(blocks, None if old is None else old.read(), pieces)
    return data, Summary(f"{plural(count, 'surface')} of '{target.name}'")


def skin_of(blocks: list[Block], old: bytes | None, pieces: Mapping[str, list[str]] | None = None) -> tuple[bytes, int]:
    """Return a skin file of what surfaces wear now, and how many they are: an old one with what they say otherwise.

    Raises:
        ModelError: a name can't be written.
    """
    every = pieces or {}
    now = [(piece, shader) for name, shader in _worn_now(blocks) if shader for piece in every.get(name, [name])]
    worn = _first_of_each(now)
    document = make(worn) if old is None else read_skin(old)
    for surface, shader in worn.items():
        document = document.set_shader(surface, shader)
    return document.write(), len(worn)


def _first_of_each(worn: list[tuple[str, str]]) -> dict[str, str]:
    """Return what surfaces wear, of those that a skin can't tell apart the first; others are named."""
    first: dict[str, tuple[str, str]] = {}
    for surface, shader in worn:
        shown = first.setdefault(surface_key(surface), (surface, shader))[1]
        if shader != shown:
            text = "'%s': a skin has one line for all of a name: '%s', not '%s'; rename one of these surfaces"
            log.warning(text, surface, shown, shader)
    return dict(first.values())


def skin_with(
    blocks: list[Block],
    old: bytes,
    pieces: Mapping[str, list[str]] | None = None,
    strangers: Collection[Block] = (),
) -> tuple[bytes, list[str]]:
    """Return a skin file that surfaces do not wear now, with new ones that it does not list, and their names.

    A new one that wears the same as a surface that is listed wears the same there, too: a piece that was cut off it.
    `strangers` are those of the surfaces that came with other models, and are as new to this one as what was made here.

    Raises:
        ModelError: a name can't be written.
    """
    before = (_name_in_source(block) for block in blocks if block not in strangers)
    document, came = read_skin(old), {surface_key(name) for name in before if name}
    own, added, every = document.shaders(), [], pieces or {}
    if came and own and came.isdisjoint(own):  # it is of another model, as heads of players may have
        return old, []
    now = _worn_now(blocks)
    alike = {shader: own[surface_key(surface)] for surface, shader in reversed(now) if surface_key(surface) in own}
    for surface, shader in now:
        for piece in every.get(surface, [surface]):
            if shader and surface_key(piece) not in own and surface_key(piece) not in came:
                document = document.set_shader(piece, own.get(surface_key(surface), alike.get(shader, shader)))
                added.append(piece)
    return document.write(), added


def listed_in(blocks: list[Block], skin: bytes) -> list[str]:
    """Return the names of the surfaces of some objects that a skin file lists."""
    own = read_skin(skin).shaders()
    return [surface for surface, _ in _worn_now(blocks) if surface_key(surface) in own]


def _name_in_source(block: Block) -> str:
    """Return what an object's surface is called in the file that it came from; "" of one that came from none."""
    name = block.get(names.SOURCE) if model_id_of(block) else None
    return name if isinstance(name, str) else ""


def _worn_now(blocks: list[Block]) -> list[tuple[str, str]]:
    return [(surface, "" if m is None else worn_by(m)) for surface, m in worn_materials(blocks)]


if TYPE_CHECKING:
    from ...assets.export_request import ExportRequest


def skin_files(
    asked: ExportRequest, blocks: Sequence[Any], pieces: Mapping[str, list[str]] | None = None
) -> list[tuple[Target, bytes]]:
    """Return the skin file that an export is to write beside its model, of what that wears, if it asks for one.

    `pieces` are those of surfaces that the export has cut.

    Raises:
        ModelError: the file that is there can't be read, or a name can't be written.
    """
    if not asked.skin:
        return []
    meshes = [block for block in blocks if block.type == "MESH"]
    target = asked.target.with_name(f"{asked.target.stem}_{asked.skin}.skin")
    source = skin_worn(meshes[0]) if meshes else None
    return [(target, skin_file(meshes, target, source, pieces)[0])]
