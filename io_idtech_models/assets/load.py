"""Files to models, with the files that lie with them; without Blender. No other module reads models or animations."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

from .. import formats
from ..formats import Asset, Family, Format
from ..game.search import SearchPath, game_folder, model_name
from ..game.store import GameFile
from ..model.pictures import Palette, quake_palette, read_palette
from ..reporting import FormatError, LimitError, ModelError

if TYPE_CHECKING:
    from ..model.skeletal import Animation, Outline, SkeletalModel

log = logging.getLogger(__name__)
T = TypeVar("T")

PALETTE = ("gfx",), ("palette.lmp",)  # where games of Quake's kin have it


@dataclass
class Loaded(Asset):
    """What was read; the animations of a model whose bones lie in another file are that one's."""

    bones: GameFile | None = None  # that file
    checksum: int = 0  # CRC-32 of the file's bytes
    file: GameFile | None = None  # which was read; `load` always says it

    @property
    def animation(self) -> Animation | None:
        """Return the first animation, or None."""
        return next(iter(self.animations), None)


def load(file: GameFile, companions: Sequence[GameFile] = (), wanted: Family | None = None) -> Loaded:
    """Return what a file holds; a model whose bones lie in another file has them of the `companions`, or of one found.

    Raises:
        ModelError: the file, or all companions that are named, can't be read, or it holds nothing of the `wanted`
            family.
    """
    data = file.read()
    row = formats.identify(data, file)
    if wanted is not None and row not in formats.rows_of(wanted):
        raise LimitError(f"its content is {row.name.upper()}, whatever its name: rename it, and import it as that")
    structs = row.read(data)
    if row.skeletal.companions:
        return _with_bones(file, structs, row, companions)
    if not row.has_model:
        return Loaded(row, None, [_motion(row, structs, file)], file=file)
    found = row.unpack(structs, model_name(file))
    if row.vertex.holds_pictures:
        take_palette(found.model, file)
    return Loaded(row, found.model, found.animations, checksum=crc32(data), file=file)


def load_animation(file: GameFile, row: Format) -> Animation:
    """Return the animation in a file for a model of a format.

    Raises:
        ModelError: the file can't be read, or holds something else; the sentence names it.
    """
    return _of_motion(file, row, lambda found, data: _motion(found, found.read(data), file))


def load_outline(file: GameFile, row: Format) -> Outline | Animation:
    """Return what the file of an animation for a model of a format says before its frames, which stay unread.

    Raises:
        ModelError: as `load_animation`.
    """
    return _of_motion(file, row, lambda found, data: found.outline(data))


def _of_motion(file: GameFile, row: Format, read: Callable[[Format, bytes], T]) -> T:
    """Return what is read of the animation in a file for a model of a format; raises ModelError, which names it."""
    try:
        data = file.read()
        found = formats.identify(data, file)
        if found is row.skeletal.animation:
            return read(found, data)
    except ModelError as error:
        raise ModelError(f"'{file.name}': {error}") from error
    raise LimitError(f"'{file.name}' is no animation for {row.name.upper()}")


def animations_beside(
    file: GameFile, row: Format, model: SkeletalModel, besides: GameFile | None = None
) -> list[tuple[Animation, GameFile]]:
    """Return the animations in a model's folder that fit its joints, by name; warnings name what can't be read."""
    from ..model.skeletal import mismatch

    found = []
    for other in map(file.beside, file.folder.names()):
        if other.suffix.lower() not in row.suffixes or not other.is_file() or other == besides:
            continue
        try:
            animation = _motion(row, row.read(other.read()), other)
        except ModelError as error:
            log.warning("%s: %s", other.name, error)
            continue
        if not mismatch(model.skeleton, animation):
            found.append((animation, other))
    return found


def _motion(row: Format, structs: Any, file: GameFile) -> Animation:
    """Return the animation of a file's structs, called as the file is, with what lies beside it; raises ModelError."""
    from .scale_files import with_scales  # which models without a skeleton do without

    return with_scales(row.unpack(structs, file.stem).animations[0], row, file)


def _with_bones(file: GameFile, structs: Any, row: Format, companions: Sequence[GameFile]) -> Loaded:
    """Return the model of a file's structs with the bones of the first companion that has them all."""
    other = row.skeletal.companions[0]
    search = SearchPath(file)
    complaints = []
    for each in companions or search.companions(other.suffixes[0], row.skeletal.usual_companion):
        try:
            bones = other.read(each.read())
            model = row.unpack(structs, model_name(file), [bones]).model
            return Loaded(row, model, other.unpack(bones, each.stem).animations, each, file=file)
        except ModelError as error:
            complaints.append(f"'{each.name}': {error}")
    if companions:
        raise FormatError("; ".join(complaints[:3]))
    places = " and ".join(search.companion_places(row.skeletal.usual_companion))
    log.warning(
        "%s", "; ".join([f"no {other.suffixes[0]} with its bones in {places}: they have no names", *complaints[:3]])
    )
    return Loaded(row, row.unpack(structs, model_name(file)).model, file=file)


def palette_of(file: GameFile) -> Palette | None:
    """Return the palette of a file's game where it has one of its own, else None: then Quake's counts."""
    game = game_folder(file)
    found = None if game is None else game.find_first(*PALETTE)
    if found is None:
        return None
    try:
        palette = read_palette(found.read())
    except ModelError as error:
        log.warning("'%s' can't be read: %s", found.name, error)
        return None
    return palette if palette is not None and (palette != quake_palette()).any() else None


def take_palette(model: Any, file: GameFile) -> None:
    """Let a model's pictures have the colours of its game."""
    palette = palette_of(file)
    if palette is not None:
        model.palette = palette
        if model.source is not None:
            model.source.facts["palette"] = palette.copy()
