"""Skin files (`upper_red.skin`): what all surfaces of a model wear now, in words, with what a file had before."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ... import formats
from ...assets.storage import Target, file_names, write_file
from ...blender import names
from ...blender.compat import Block
from ...blender.mesh.surface_names import name_in_source, worn_materials
from ...blender.provenance import FILE, MODEL_ID, SKIN, collections_of
from ...blender.shading.materials import worn_by
from ...game.dress import Wardrobe
from ...game.skin import make, read_skin, surface_key
from ...game.store import GameFile
from ...reporting import ModelError, Summary, listed, plural
from ..import_.dressing import wardrobe
from ..import_.games import user_disk

if TYPE_CHECKING:
    from ...assets.export_request import ExportRequest
    from ...formats import Format

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
    found = [each for each in _worn_now(blocks) if each.shader]
    now = [(piece, each.shader) for each in found for piece in every.get(each.surface, [each.surface])]
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
    shown: bytes | None = None,
) -> tuple[bytes, list[str]]:
    """Return a skin file that surfaces do not wear now, with new ones that it does not list, and their names.

    A new one that came of a surface that is listed, and wears what the skin that is `shown` says of that, wears the
    same as that here, too: it was renamed, or cut off. So does one that wears the same as a surface that is listed.
    `strangers` are those of the surfaces that came with other models, and are as new to this one as what was made here.

    Raises:
        ModelError: a name can't be written.
    """
    document, came = read_skin(old), {_key_in_source(block) for block in blocks if block not in strangers} - {""}
    own, added, every = document.shaders(), [], pieces or {}
    if came and own and came.isdisjoint(own):  # it is of another model, as heads of players may have
        return old, []
    worn, now = {} if shown is None else read_skin(shown).shaders(), _worn_now(blocks)
    alike = {each.shader: own[each.key] for each in reversed(now) if each.key in own}
    for each in now:
        origin = "" if each.block in strangers else _key_in_source(each.block)
        line = own[origin] if origin in own and worn.get(origin) == each.shader else alike.get(each.shader, each.shader)
        for piece in every.get(each.surface, [each.surface]):
            if each.shader and surface_key(piece) not in own and surface_key(piece) not in came:
                document = document.set_shader(piece, own.get(each.key, line))
                added.append(piece)
    return document.write(), added


def bare(blocks: list[Block]) -> list[str]:
    """Return the names of surfaces that wear nothing by the skin that is shown, and came from no file so."""
    came = {_key_in_source(block) for block in blocks}
    return [each.surface for each in _worn_now(blocks) if not each.shader and each.material and each.key not in came]


def of_unlisted(
    asked: ExportRequest, row: Format, blocks: Sequence[Any], pieces: Mapping[str, list[str]] | None = None
) -> list[str]:
    """Name, in a sentence, new surfaces that skins beside a model's file do not list: games show them grey.

    What the file had like that came so. Skins that list none of the surfaces are another model's.
    """
    found, every = {}, pieces or {}
    meshes = [block for block in blocks if block.type == "MESH"]
    called = [piece for each in _worn_now(meshes) for piece in every.get(each.surface, [each.surface])]
    came = {_key_in_source(block) for block in meshes}
    for name, file in _skins_beside(asked, row).items():
        try:
            own = {} if name == asked.skin.lower() else read_skin(file.read()).shaders()
        except ModelError:
            continue
        lacking = [surface for surface in called if surface_key(surface) not in {*own, *came}]
        if lacking and not own.keys().isdisjoint({*came, *map(surface_key, called)}):
            found[file.name] = lacking
    if not found:
        return []
    surfaces = listed(list(dict.fromkeys(chain.from_iterable(found.values()))))
    return [f"{surfaces}: not listed in {listed(list(found))} beside the file, games show them grey (Write Skin)"]


def _skins_beside(asked: ExportRequest, row: Format) -> dict[str, GameFile]:
    """Return the skins that lie where a model is written to."""
    file = user_disk().file(asked.target)
    return wardrobe(file, row).files if row.skins == formats.SKIN_FILES and asked.target.parent.is_dir() else {}


def listed_in(blocks: list[Block], skin: bytes) -> list[str]:
    """Return the names of the surfaces of some objects that a skin file lists."""
    own = read_skin(skin).shaders()
    return [each.surface for each in _worn_now(blocks) if each.key in own]


def _key_in_source(block: Block) -> str:
    """Return what skins call an object's surface in the file that it came from; "" of one that came from none."""
    name = name_in_source(block)
    return surface_key(name) if name else ""


@dataclass(frozen=True, eq=False)
class Worn:
    """A surface of an object, and what it wears now; "" where that is nothing."""

    surface: str
    block: Block
    material: Block | None

    @property
    def key(self) -> str:
        """Return what skins call the surface."""
        return surface_key(self.surface)

    @property
    def shader(self) -> str:
        """Return what it wears."""
        return "" if self.material is None else worn_by(self.material)


def _worn_now(blocks: list[Block]) -> list[Worn]:
    return [Worn(wanted.name, wanted.block, material) for wanted, material in worn_materials(blocks)]


def skin_files(
    asked: ExportRequest, blocks: Sequence[Any], pieces: Mapping[str, list[str]] | None = None
) -> list[tuple[Target, bytes]]:
    """Return the skin file that an export is to write beside its model, of what that wears, if it asks for one.

    `pieces` are those of surfaces that the export has cut.

    Raises:
        ModelError: the file that is there can't be read, or a name can't be written.
    """
    given = asked.skin.strip().removesuffix(".skin")
    if not given:
        return []
    (called,) = file_names([given])
    if called != given:
        log.warning("no file can be called so everywhere, the skin is '%s' now: '%s'", called, given)
    meshes = [block for block in blocks if block.type == "MESH"]
    target = asked.target.with_name(f"{asked.target.stem}_{called}.skin")
    source = skin_worn(meshes[0]) if meshes else None
    return [(target, skin_file(meshes, target, source, pieces)[0])]
