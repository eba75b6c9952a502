"""Codecs: bytes to structs to models. numpy only, never bpy.

The table here, `ROWS`, says what can be read and written: a row for each format. Operators, menus, drop handlers, the
command line and the shared tests iterate over it. A new format is one codec and one row.

A codec is imported when its row is first used: everyone who starts Blender waits for this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ..reporting import FormatError, LimitError
from .families import MOTION, SKELETAL, VERTEX, Family
from .rows import (
    DOOM_3,
    ENEMY_TERRITORY,
    FREE_ENGINES,
    QUAKE_2,
    QUAKE_3,
    SKIN_DECLS,
    SKIN_FILES,
    SPLIT,
    Asset,
    Option,
    Options,
    Row,
)

if TYPE_CHECKING:
    from ..model.vertex import VertexModel

__all__ = [
    "MOTION", "ROWS", "SKELETAL", "SKIN_DECLS", "SKIN_FILES", "VERTEX", "Asset", "Family", "Option", "Options", "Row",
    "Written", "by_name", "by_suffix", "dump_for", "identify", "rows_of",
]  # fmt: skip

ROWS: tuple[Row, ...] = (
    Row(
        name="md2",
        family=VERTEX,
        label="Quake II (.md2)",
        engine=QUAKE_2,
        suffixes=(".md2",),
        magic=b"IDP2",
        file_codec="md2.file",
        model_codec="md2.model",
        rooms={"shader": 63, "frame": 15},
        uv_splits_vertices=False,
        frame_rate=10,  # Quake II's server frames
        options=(
            Option("skin_width", "Skin Width", "Texels; 0: the source's, else the picture's, else 256", 0, 32767),
            Option("skin_height", "Skin Height", "Texels; 0: the source's, else the picture's, else 256", 0, 32767),
            Option(
                "same_box",
                "Same Box",
                "Round positions alike in all frames: what stands still does not wobble, but all is a little coarser",
            ),
            Option(
                "remake_commands",
                "Remake Commands",
                "Make the strips and fans that Quake II draws anew, also where the source's still hold",
            ),
        ),
    ),
    Row(
        name="md3",
        family=VERTEX,
        label="Quake III (.md3)",
        engine=QUAKE_3,
        suffixes=(".md3",),
        magic=b"IDP3",
        file_codec="md3.file",
        model_codec="md3.model",
        rooms={"model": 63, "surface": 63, "shader": 63, "tag": 63, "frame": 15},
        tags=True,
        skins=SKIN_FILES,
        level_files=True,
        options=(
            Option(
                SPLIT,
                "Split Surfaces",
                "Cut surfaces with more vertices or triangles than the game takes into pieces: x, x2, x3",
            ),
        ),
    ),
    Row(
        name="md5mesh",
        family=SKELETAL,
        label="Doom 3 (.md5mesh)",
        engine=DOOM_3,
        suffixes=(".md5mesh",),
        magic=b"MD5Version",
        animation="md5anim",
        is_text=True,
        skins=SKIN_DECLS,
        file_codec="md5.mesh_file",
        model_codec="md5.mesh_model",
    ),
    Row(
        name="mdm",
        family=SKELETAL,
        label="Enemy Territory (.mdm)",
        engine=ENEMY_TERRITORY,
        suffixes=(".mdm",),
        magic=b"MDMW",
        animation="mdx",
        companions=("mdx",),
        usual_companion="animations/human/base/body.mdx",
        normals=True,
        tags=True,
        bind_pose_missing=True,
        skins=SKIN_FILES,
        file_codec="mdm.file",
        model_codec="mdm.model",
        rooms={"surface": 63, "shader": 63, "tag": 63, "joint": 63},  # a joint's lies in its companion
        options=(
            Option(
                "make_lod",
                "Make Levels",
                "Order the vertices of changed surfaces so that games may draw fewer from afar; else all are drawn",
            ),
        ),
    ),
    Row(
        name="iqm",
        family=SKELETAL,
        label="Inter-Quake Model (.iqm)",
        engine=FREE_ENGINES,
        suffixes=(".iqm",),
        magic=b"INTERQUAKEMODEL",
        has_motions=True,
        apart=True,
        normals=True,
        colors=True,
        stretches=True,
        bare_vertices=True,
        skins=SKIN_FILES,
        file_codec="iqm.file",
        model_codec="iqm.model",
        options=(
            Option(
                "write_joints",
                "Write Joints",
                "Also into a file of animations alone, where the source had none: games then know joints by number",
            ),
        ),
    ),
    Row(
        name="mdr",
        family=SKELETAL,
        label="Elite Force (.mdr)",
        engine=QUAKE_3,
        suffixes=(".mdr",),
        magic=b"RDM5",
        has_motions=True,
        levels=True,
        joint_names=False,
        normals=True,
        tags=True,
        bind_pose_missing=True,
        skins=SKIN_FILES,
        file_codec="mdr.file",
        model_codec="mdr.model",
        rooms={"surface": 63, "shader": 63, "tag": 31},
        options=(
            Option(
                "pack_frames",
                "Pack Frames",
                "Store matrices of bones in half the room, a little coarser; what came packed stays so",
            ),
        ),
    ),
    Row(
        name="md5anim",
        family=MOTION,
        label="Doom 3 Animation (.md5anim)",
        engine=DOOM_3,
        suffixes=(".md5anim",),
        magic=b"MD5Version",
        is_text=True,
        scales=".md5scale",
        file_codec="md5.anim_file",
        model_codec="md5.anim_model",
    ),
    Row(
        name="mdx",
        family=MOTION,
        label="Enemy Territory Animation (.mdx)",
        engine=ENEMY_TERRITORY,
        suffixes=(".mdx",),
        magic=b"MDXW",
        file_codec="mdx.file",
        model_codec="mdx.model",
        rooms={"joint": 63},
        joins_clips=True,
    ),
)


@dataclass(frozen=True)
class Written:
    """A model on its way into a file: the bytes, the model as the format holds it, and what a game shows otherwise."""

    data: bytes
    model: VertexModel
    notes: list[str]
    pieces: Mapping[str, list[str]] = field(default_factory=dict)  # of surfaces that were cut, by their names


def dump_for(row: Row, model: VertexModel, game: str, options: Options | None = None, shorten: bool = False) -> Written:
    """Return a model's file for a game, a key of `games.GAMES`; `shorten`: names that are too long, else refused.

    Raises:
        LimitError: the format can't hold the model, or the game would refuse it.
    """
    from ..model.edits.short_names import short_vertex
    from ..model.limits.games import refused
    from ..model.wording import listed

    shaped = row.shape(model, options)
    shaped, notes = short_vertex(shaped, row, game) if shorten else (shaped, [])
    shaped, pieces = _split(row, shaped, game, options or {})
    notes += [f"'{name}' is cut, skin files must list its pieces: {listed(every)}" for name, every in pieces.items()]
    try:
        notes += refused(row.check(shaped, game))
    except LimitError as error:
        raise LimitError(f"{error}{_remedy(row, shaped, game)}") from error
    return Written(row.dump(shaped, options), shaped, notes, pieces)


def _split(row: Row, model: VertexModel, game: str, options: Options) -> tuple[VertexModel, Mapping[str, list[str]]]:
    """Return a model that has the shape of a format with pieces in the places of what a game takes no surface of.

    What is to be cut is coded first, so that both sides have the same normals.
    """
    from ..model.edits.split_surfaces import split_surfaces, too_large
    from ..model.limits.games import GAMES, VertexLimits

    limits = GAMES[game].formats.get(row.name)
    if not options.get(SPLIT) or not isinstance(limits, VertexLimits):
        return model, {}
    which = too_large(model, limits)
    if not which:
        return model, {}
    coded: VertexModel = row.load(row.dump(model, options), model.name)
    return split_surfaces(coded, which, limits, row.rooms.get("surface"))


def _remedy(row: Row, model: VertexModel, game: str) -> str:
    """Return what a modder can do about surfaces that a game takes none of that size of, or ""."""
    from ..model.edits.split_surfaces import apart, too_large
    from ..model.limits.games import GAMES, VertexLimits

    limits = GAMES[game].formats.get(row.name)
    large = too_large(model, limits) if isinstance(limits, VertexLimits) else []
    remedies = [f"; {text}" for text in apart([model.surfaces[index] for index in large])]
    remedies += [
        f"; the option '{option.label}' cuts what is too large" for option in row.options if option.name == SPLIT
    ]
    return "".join(remedies) if large else ""


def rows_of(family: Family) -> tuple[Row, ...]:
    """Return the formats whose files hold things of a family."""
    return tuple(row for row in ROWS if row.family is family or (row.has_motions and family is MOTION))


def by_name(name: str) -> Row:
    """Return the row of that name; raises KeyError."""
    return {row.name: row for row in ROWS}[name]


class Named(Protocol):
    """A file as far as its name tells what it is: a path, or a file of a game."""

    @property
    def name(self) -> str:
        """Return the name, without a folder."""

    @property
    def suffix(self) -> str:
        """Return what the name ends in, from its last dot on."""


def by_suffix(file: Named) -> Row | None:
    """Return the row that a file's suffix asks for, whatever its case, or None."""
    return next((row for row in ROWS if file.suffix.lower() in row.suffixes), None)


def identify(data: bytes, file: Named) -> Row:
    """Return the format of a file: by its first bytes as the engines do, else (or of several) by its suffix.

    Raises:
        FormatError: neither is known.
    """
    rows = [row for row in ROWS if row.magic and data.startswith(row.magic)]
    named = by_suffix(file)
    if named is None or (rows and named not in rows):
        named = rows[0] if rows else None
    if named is None:
        known = ", ".join(suffix for row in ROWS for suffix in row.suffixes)
        raise FormatError("unknown kind of file", expected=known, found=file.name)
    return named
