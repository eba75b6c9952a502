"""Codecs: bytes to structs to models. numpy only, never bpy.

The table here, `ROWS`, says what can be read and written: a row for each format. Operators, menus, drop handlers, the
command line and the shared tests iterate over it. A new format is one codec and one row.

A codec is imported when its row is first used: everyone who starts Blender waits for this module.
"""

from __future__ import annotations

from typing import Protocol

from ..reporting import FormatError
from .codecs import Options
from .families import MOTION, SKELETAL, VERTEX, Family
from .format import (
    DOOM_3,
    FREE_ENGINES,
    MARK,
    QUAKE,
    QUAKE_3,
    SKIN_DECLS,
    SKIN_FILES,
    SPLIT,
    WRITE_TAGS,
    Asset,
    Format,
    MotionFormat,
    Option,
    SkeletalFormat,
    VertexFormat,
)

__all__ = [
    "MOTION",
    "QUAKE_3",
    "ROWS",
    "SKELETAL",
    "SKIN_DECLS",
    "SKIN_FILES",
    "VERTEX",
    "Asset",
    "Family",
    "Format",
    "Option",
    "Options",
    "by_name",
    "by_suffix",
    "identify",
    "kept_format",
    "rows_of",
]  # fmt: skip

SPLIT_OPTION = Option(
    SPLIT,
    "Split Surfaces",
    "Cut surfaces with more vertices or triangles than the game takes into pieces: x, x2, x3",
)
LOD_OPTION = Option(
    "make_lod",
    "Make Levels",
    "Order the vertices of changed surfaces so that games may draw fewer from afar; else all are drawn",
)
TAGS_OPTION = Option(
    WRITE_TAGS,
    "Write .tag",
    "Write the tags beside the model, too, as Enemy Territory's server reads them of vehicles",
)
MD2 = Format(
    name="md2",
    label="Quake II (.md2)",
    engine=QUAKE,
    suffixes=(".md2",),
    magic=b"IDP2",
    kind=VertexFormat(
        uv_splits_vertices=False,
        frame_rate=10,  # Quake II's server frames
    ),
    name_sizes={"shader": 63, "frame": 15},
    options=(
        Option("skin_width", "Skin Width", "Texels; 0: as the model has them, else 256", 0, 32767),
        Option("skin_height", "Skin Height", "Texels; 0: as the model has them, else 256", 0, 32767),
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
)
MD3 = Format(
    name="md3",
    label="Quake III (.md3)",
    engine=QUAKE_3,
    suffixes=(".md3",),
    magic=b"IDP3",
    kind=VertexFormat(
        level_files=True,
    ),
    name_sizes={"model": 63, "surface": 63, "shader": 63, "tag": 63, "frame": 15},
    tags=True,
    skins=SKIN_FILES,
    options=(SPLIT_OPTION, TAGS_OPTION),
)
MDC = Format(
    name="mdc",
    label="Wolfenstein (.mdc)",
    engine=QUAKE_3,
    suffixes=(".mdc",),
    magic=b"IDPC",
    kind=VertexFormat(
        level_files=True,
    ),
    name_sizes={"model": 63, "surface": 63, "shader": 63, "tag": 63, "frame": 15},
    tags=True,
    skins=SKIN_FILES,
    options=(SPLIT_OPTION, TAGS_OPTION),
)
TAG = Format(
    name="tag",
    lies_beside=True,
    label="Wolfenstein Tags (.tag)",
    engine=QUAKE_3,
    suffixes=(".tag",),
    magic=b"TAG",
    kind=VertexFormat(meshes=False),
    name_sizes={"tag": 63},
    tags=True,
)
MDL = Format(
    name="mdl",
    label="Quake (.mdl)",
    engine=QUAKE,
    suffixes=(".mdl",),
    magic=b"IDPO",
    kind=VertexFormat(
        uv_splits_vertices=False,
        frame_rate=10,  # Quake's monsters think ten times a second
        holds_pictures=True,
        traits=("flags", "sync_type"),
        groups=True,
    ),
    name_sizes={"frame": 15},
    options=(
        Option("skin_width", "Skin Width", "Texels; 0: as the model has them, else 256", 0, 32767),
        Option("skin_height", "Skin Height", "Texels; 0: as the model has them, else 256", 0, 32767),
        Option(
            "refit_grid",
            "Refit Grid",
            "Make the steps of positions as small as the model allows, also where the source's grid still holds",
        ),
        Option("dither", "Dither", "Mix colours of the palette where new pixels have one that lies between them"),
        Option(
            "avoid_full_brights",
            "No Full Brights",
            "Match new pixels to no colour that shines in the dark (224 to 255)",
        ),
        Option(
            "player_colors",
            "Player Colors",
            "Match new pixels of a player to the colours of shirt and trousers, too, which the game replaces",
        ),
        Option(
            "drop_tail",
            "Drop Tail",
            "Leave out what editors of models wrote behind the last frame",
        ),
    ),
)
MD5ANIM = Format(
    name="md5anim",
    label="Doom 3 Animation (.md5anim)",
    engine=DOOM_3,
    suffixes=(".md5anim",),
    magic=b"MD5Version",
    kind=MotionFormat(
        scales=".md5scale",
    ),
    is_text=True,
)
MD5MESH = Format(
    name="md5mesh",
    label="Doom 3 (.md5mesh)",
    engine=DOOM_3,
    suffixes=(".md5mesh",),
    magic=b"MD5Version",
    kind=SkeletalFormat(
        animation=MD5ANIM,
    ),
    is_text=True,
    skins=SKIN_DECLS,
)
ASE = Format(
    name="ase",
    label="Static Model (.ase)",
    engine=DOOM_3,
    suffixes=(".ase",),
    magic=b"*3DSMAX_ASCIIEXPORT",
    kind=VertexFormat(several_frames=False, colors=True, further_uvs=True),
    is_text=True,
    skins=SKIN_DECLS,
)
LWO = Format(
    name="lwo",
    label="Static Model (.lwo)",
    engine=DOOM_3,
    suffixes=(".lwo",),
    magic=b"FORM",
    kind=VertexFormat(several_frames=False, colors=True, further_uvs=True),
    skins=SKIN_DECLS,
    options=(
        Option(
            "triangulate",
            "Triangulate",
            "Write polygons that have more than three corners as triangles: games leave out all others",
        ),
    ),
)
MDX = Format(
    name="mdx",
    label="Enemy Territory Animation (.mdx)",
    engine=QUAKE_3,
    suffixes=(".mdx",),
    magic=b"MDXW",
    kind=MotionFormat(
        torso=True,
        joins_clips=True,
        one_length=True,
    ),
    name_sizes={"joint": 63},
)
MDM = Format(
    name="mdm",
    label="Enemy Territory (.mdm)",
    engine=QUAKE_3,
    suffixes=(".mdm",),
    magic=b"MDMW",
    kind=SkeletalFormat(
        animation=MDX,
        companions=(MDX,),
        usual_companion="animations/human/base/body.mdx",
        normals=True,
        one_length=True,
        collapses=True,
        bind_pose_missing=True,
    ),
    tags=True,
    skins=SKIN_FILES,
    name_sizes={"surface": 63, "shader": 63, "tag": 63, "joint": 63},  # a joint's lies in its companion
    options=(LOD_OPTION,),
)
MDS = Format(
    name="mds",
    label="Wolfenstein (.mds)",
    engine=QUAKE_3,
    suffixes=(".mds",),
    magic=b"MDSW",
    kind=SkeletalFormat(
        motions=MotionFormat(
            torso=True,
            table="wolfanim.cfg",
        ),
        normals=True,
        one_length=True,
        collapses=True,
        bind_pose_missing=True,
    ),
    tags=True,
    skins=SKIN_FILES,
    name_sizes={"surface": 63, "shader": 63, "tag": 63, "joint": 63},
    options=(LOD_OPTION,),
)
IQM = Format(
    name="iqm",
    label="Inter-Quake Model (.iqm)",
    engine=FREE_ENGINES,
    suffixes=(".iqm",),
    magic=b"INTERQUAKEMODEL",
    kind=SkeletalFormat(
        motions=MotionFormat(
            apart=True,
        ),
        normals=True,
        colors=True,
        stretches=True,
        tags_are_joints=True,
        unmoved_vertices=True,
    ),
    skins=SKIN_FILES,
    options=(
        Option(
            "write_joints",
            "Write Joints",
            "Also into a file of animations alone, where the source had none: games then know joints by number",
        ),
    ),
)
MDR = Format(
    name="mdr",
    label="Elite Force (.mdr)",
    engine=QUAKE_3,
    suffixes=(".mdr",),
    magic=b"RDM5",
    kind=SkeletalFormat(
        motions=MotionFormat(),
        levels=True,
        joint_names=False,
        normals=True,
        bind_pose_missing=True,
    ),
    tags=True,
    skins=SKIN_FILES,
    name_sizes={"surface": 63, "shader": 63, "tag": 31},
    options=(
        Option(
            "pack_frames",
            "Pack Frames",
            "Store matrices of bones in half the room, a little coarser; what came packed stays so",
        ),
    ),
)
ROWS: tuple[Format, ...] = (
    MD2,
    MD3,
    MDC,
    TAG,
    MDL,
    MD5MESH,
    ASE,
    LWO,
    MDM,
    MDS,
    IQM,
    MDR,
    MD5ANIM,
    MDX,
)  # in the order of menus


def rows_of(family: Family) -> tuple[Format, ...]:
    """Return the formats whose files hold things of a family."""
    return tuple(row for row in ROWS if row.family is family or (family is MOTION and row.has_motions))


def by_name(name: str) -> Format:
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


def by_suffix(file: Named) -> Format | None:
    """Return the row that a file's suffix asks for, whatever its case, or None."""
    return next((row for row in ROWS if file.suffix.lower() in row.suffixes), None)


def kept_format(found: Format, file: Named, to: Format) -> Format:
    """Return the format in which a model becomes a file that is named like those of `to`: that, or the one `found`.

    Some files hold a model of another format than their name says (MD3 in `.mdc`), and games go by the content: such
    a one stays what it is under a name of the same kind.
    """
    stays = found is not to and found.family is to.family and by_suffix(file) is to
    return found if stays else to


def identify(data: bytes, file: Named) -> Format:
    """Return the format of a file: by its first bytes as the engines do, else (or of several) by its suffix.

    Raises:
        FormatError: neither is known.
    """
    rows = [row for row in ROWS if row.magic and data.removeprefix(MARK).startswith(row.magic)]
    named = by_suffix(file)
    if named is None or (rows and named not in rows):
        named = rows[0] if rows else None
    if named is None:
        known = ", ".join(suffix for row in ROWS for suffix in row.suffixes)
        raise FormatError("unknown kind of file", expected=known, found=file.name)
    return named
