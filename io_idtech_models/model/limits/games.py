"""What games take: one table, for all formats, by which `checks` goes; and which game a folder is of.

Every number names its source. An `error` is what the game refuses to load or crashes on, so an export refuses it before
anything is written; a `warning` is what it shows otherwise than meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...reporting import LimitError, joined
from ..arrays import LARGEST

ERROR, WARNING = "error", "warning"


class VertexLimits(NamedTuple):
    """What one game takes of one format of vertex-animated models; None where it has no limit of its own."""

    vertices: int | None  # of a surface
    triangles: int | None  # of a surface
    frames: int | None
    tags: int | None = None
    surfaces: int | None = None
    shaders: int | None = None  # of a surface; MD2's skins
    reach: float | None = None  # coordinates span -reach to almost +reach
    skin_height: int | None = None
    skin_multiple: int | None = None  # of which a skin's width is one
    name_bytes: int | None = 63  # MAX_QPATH - 1; None: names are not in the file
    shader_word: str = "shaders"
    strips_names: bool = False  # R_LoadMD3 lower-cases surface names and cuts a final "_x"
    needs_triangles: bool = False  # a model without is refused
    no_time: str = ""  # how bad frames or skins are that a game plays by itself, and that end at 0 or before
    # What the loader does not check but its tables or tools have as a maximum is a warning, else an error.
    soft: frozenset[str] = frozenset()


class SkeletalLimits(NamedTuple):
    """What one game takes of skeletal models and their animations; None where it has no limit of its own."""

    joints: int | None = None
    meshes: int | None = None
    weights: int | None = None  # of a mesh
    vertices: int | None = None  # of a mesh
    triangles: int | None = None  # of a mesh
    frames: int | None = None
    name_bytes: int | None = None  # of a joint's or tag's name
    vertex_weights: int | None = None  # of a vertex, beyond which the game leaves them out
    unique_names: bool = False  # of joints
    bare_vertices: str = WARNING  # how bad vertices without weights are
    scales: str = ""  # what the game does with joints that are scaled: EVEN_SCALES, NO_SCALES; "" = what it should
    several_roots: str = ""  # how bad joints without a parent are in an animation, beyond the first; "" = not at all
    soft: frozenset[str] = frozenset()


class Game(NamedTuple):
    """A game, and its limits for each format that it reads, by the formats' names."""

    label: str
    formats: dict[str, VertexLimits | SkeletalLimits]
    folder: str = ""  # in which it looks for MD5 files, below that of the model they replace
    one_of: tuple[str, ...] = ()  # suffixes of which it takes the first that there is, whichever a name has
    choice: str = ""  # what it is called where one is chosen, if otherwise
    scales: bool = False  # it reads how large joints are from a file beside an animation
    lone_animation: bool = False  # of an MD5 it shows the one that is called as the model, and no other


MOST_LEVELS = 3  # of detail, beside the model itself: MD3_MAX_LODS 4 of Enemy Territory, 3 of Quake III (tr_local.h)
EVEN_SCALES, NO_SCALES = "even", "none"
COMPRESSED_FIRST = (".mdc", ".md3")
UNCHECKED = frozenset(("frames", "tags", "surfaces", "shaders"))
BEYOND = UNCHECKED | {"vertices", "triangles"}


def _md3(vertices: int | None, triangles: int | None, **others: Any) -> dict[str, VertexLimits | SkeletalLimits]:
    """Return MD3's limits: MD3_MAX_FRAMES, _TAGS, _SURFACES, _SHADERS (qfiles.h), int16 / 64; others are the game's."""
    same: dict[str, Any] = {
        "frames": 1024,
        "tags": 16,
        "surfaces": 32,
        "shaders": 256,
        "reach": 512.0,
        "soft": UNCHECKED,
    }
    return {"md3": VertexLimits(vertices, triangles, **(same | others))}


def _md3_mdc(vertices: int | None, triangles: int | None, **others: Any) -> dict[str, VertexLimits | SkeletalLimits]:
    """Return limits that a game has alike of MD3 and MDC, whose maxima (MDC_MAX_TAGS ..., qfiles.h) are MD3's."""
    limits = _md3(vertices, triangles, **others)
    return limits | {"mdc": limits["md3"]}


def _tag() -> dict[str, VertexLimits | SkeletalLimits]:
    """Return the limits of `.tag`: MAX_SERVER_TAGS (server.h), of all files that a server has read (SV_LoadTag)."""
    return {"tag": VertexLimits(None, None, None, tags=256)}


def _md2(
    vertices: int | None, triangles: int | None, frames: int | None, **others: Any
) -> dict[str, VertexLimits | SkeletalLimits]:
    """Return MD2's limits: MAX_MD2SKINS (qfiles.h); others are the game's."""
    same: dict[str, Any] = {"shaders": 32, "shader_word": "skins"}
    return {"md2": VertexLimits(vertices, triangles, frames, **(same | others))}


def _mdl(
    vertices: int | None, triangles: int | None, frames: int | None, **others: Any
) -> dict[str, VertexLimits | SkeletalLimits]:
    """Return MDL's limits: MAX_SKINS 32, at least a triangle (Mod_LoadAliasModel); others are the game's.

    Times of groups are checked by WinQuake, which ends there ("interval<=0", Mod_LoadAliasGroup of model.c).
    """
    same: dict[str, Any] = {"shaders": 32, "shader_word": "skins", "needs_triangles": True, "name_bytes": None}
    same["no_time"] = WARNING
    return {"mdl": VertexLimits(vertices, triangles, frames, **(same | others))}


def _md5(**own: Any) -> dict[str, VertexLimits | SkeletalLimits]:
    """Return MD5's limits; idMD5Mesh (dhewm3) refuses vertices without weights.

    One root is Doom 3's rule alone: others (Q2PRO's MOD_LoadMD5Anim, Cube 2's md5 loader) read any number.
    """
    limits = SkeletalLimits(**({"bare_vertices": ERROR, "several_roots": WARNING} | own))
    return {"md5mesh": limits, "md5anim": limits}


def _ase(**own: Any) -> dict[str, VertexLimits | SkeletalLimits]:
    """Return ASE's limits: an export writes one frame, and a material for a surface; others are the game's."""
    return {"ase": VertexLimits(None, None, None, **own)}


def _lwo(**own: Any) -> dict[str, VertexLimits | SkeletalLimits]:
    """Return LWO's limits: an export writes one frame, and a material for a surface; others are the game's."""
    return {"lwo": VertexLimits(None, None, None, **own)}


def _mdm(**own: Any) -> dict[str, VertexLimits | SkeletalLimits]:
    """Return MDM's and MDX's limits: MDX_MAX_BONES, MAX_QPATH - 1 (qfiles.h); a tag finds its bone by its name."""
    limits = SkeletalLimits(**({"joints": 128, "name_bytes": 63, "unique_names": True} | own))
    return {"mdm": limits, "mdx": limits}


def _mds(**own: Any) -> dict[str, VertexLimits | SkeletalLimits]:
    """Return MDS's limits: MDS_MAX_BONES, _SURFACES, _TAGS, MAX_QPATH - 1 (qfiles.h); a tag is found by its name."""
    same: dict[str, Any] = {"joints": 128, "meshes": 32, "name_bytes": 63, "soft": frozenset(("meshes",))}
    return {"mds": SkeletalLimits(**(same | own))}


def _iqm(**own: Any) -> dict[str, VertexLimits | SkeletalLimits]:
    """Return IQM's limits: joints are counted in bytes, a vertex has four; others are the game's."""
    return {"iqm": SkeletalLimits(**({"joints": 256, "vertex_weights": 4} | own))}


def _mdr(**own: Any) -> dict[str, VertexLimits | SkeletalLimits]:
    """Return MDR's limits: MDR_MAX_BONES (qfiles.h)."""
    return {"mdr": SkeletalLimits(**({"joints": 128} | own))}


NO_GAME = "format"  # the key of the formats' own maxima, which no game asks for
GAMES: dict[str, Game] = {
    # GLQuake: MAXALIASVERTS 1024, MAXALIASTRIS 2048, MAXALIASFRAMES 256 (gl_model.h; all poses count): it checks the
    # first alone, and runs over memory with the others. MAX_LBM_HEIGHT 480 (modelgen.h, gl_model.c).
    "quake": Game("Quake (GLQuake)", _mdl(1024, 2048, 256, skin_height=480)),
    # WinQuake's software renderer: MAXALIASVERTS 2000 (d_iface.h), MAX_LBM_HEIGHT 480, skins of a width that is a
    # multiple of 4 (Mod_LoadAliasModel, model.c).
    "winquake": Game("Quake (software)", _mdl(2000, None, None, skin_height=480, skin_multiple=4, no_time=ERROR)),
    # MAXALIASVERTS 2000, MAXALIASTRIS 4096, MAXALIASFRAMES 1024 (gl_model.h); skins over 480 are a warning.
    "quakespasm": Game("QuakeSpasm", _mdl(2000, 4096, 1024, skin_height=480, soft=frozenset(("skin_height",)))),
    # 2000 vertices and 4096 triangles are QuakeSpasm's, beyond which it warns; 32767 vertices are the end (gl_model.c).
    # NAME.md3 or NAME.md5mesh beside a model takes its place (r_enhancedmodels).
    "ironwail": Game(
        "Ironwail",
        _mdl(32767, 4096, 1024, skin_height=480, soft=frozenset(("triangles", "skin_height")))
        | _md3(None, None, soft=BEYOND)
        | _md5(bare_vertices=WARNING),
    ),
    # The re-release of 2021 shows NAME.md5mesh, with NAME.md5anim, in place of the NAME.mdl beside it; the MDL is what
    # the rules of the game, and who switches that off, look at. Its numbers for MDL are not public: QuakeSpasm's stand.
    "quakeremaster": Game(
        "Quake remaster",
        _mdl(2000, 4096, 1024, skin_height=480, soft=BEYOND | {"skin_height"}) | _md5(bare_vertices=WARNING),
        lone_animation=True,
    ),
    # Mod_IDP0_Load (DarkPlaces, model_alias.c) takes 1 to 65536 of all; MD3, MD5 and IQM have no counts of their own,
    # and Mod_INTERQUAKEMODEL_Load knows no scale of joints.
    "darkplaces": Game(
        "DarkPlaces (Xonotic)",
        _mdl(65536, 65536, 65536, shaders=65536)
        | _md3(None, None, frames=None, tags=None)
        | _md2(None, None, None, shaders=None)
        | _md5(bare_vertices=WARNING)
        | _iqm(scales=NO_SCALES),
    ),
    # Mod_LoadMD2 (Yamagi Quake II) refuses more than MAX_VERTS 2048, none at all, and skins higher than 480 texels
    # (MAX_LBM_HEIGHT); MAX_TRIANGLES 4096 and MAX_FRAMES 512 are id's own (qfiles.h).
    "quake2": Game("Quake II", _md2(2048, 4096, 512, skin_height=480, needs_triangles=True)),
    # MOD_ValidateMD2 (Q2PRO, models.c): MD2_MAX_VERTS 2048, TESS_MAX_INDICES / 3 = 6144 triangles, 1024 frames.
    "q2pro": Game("Q2PRO", _md2(2048, 6144, 1024, needs_triangles=True)),
    # SHADER_MAX_VERTEXES 1000 and SHADER_MAX_INDEXES 6000 are refused, not reached: R_LoadMD3, tr_model.c (ioquake3).
    "quake3": Game("Quake III Arena", _md3(999, 1999, strips_names=True)),
    # R_LoadMDR (ioquake3, tr_model.c) refuses as much as R_LoadMD3, and so does R_LoadIQM (tr_model_iqm.c), which takes
    # IQM_MAX_JOINTS 128.
    "ioquake3": Game(
        "ioquake3",
        _md3(999, 1999, strips_names=True)
        | _mdr(vertices=999, triangles=1999)
        | _iqm(joints=128, vertices=999, triangles=1999),
    ),
    # Quake III's engine, which ioquake3 has its loader of MDR from.
    "eliteforce": Game(
        "Star Trek: Elite Force", _md3(999, 1999, strips_names=True) | _mdr(vertices=999, triangles=1999)
    ),
    # A misc_model becomes part of the map: q3map2 takes one frame of it, no tags (InsertModel, model.c), and cuts what
    # has more vertices than the game draws into small surfaces (ClassifySurfaces, surface.c: SURFACE_FORCED_META).
    "quake3map": Game("Quake III map object", _md3(None, None, frames=1, tags=None) | _ase() | _lwo()),
    # SHADER_MAX_VERTEXES 1000 and SHADER_MAX_INDEXES 6000 of the multiplayer engine, Quake III's (iortcw, MP's
    # tr_local.h); R_LoadMDC (tr_model.c) refuses them as R_LoadMD3 does, and strips names likewise.
    "rtcw": Game(
        "Return to Castle Wolfenstein",
        _md3_mdc(999, 1999, strips_names=True) | _mds(vertices=999, triangles=1999),
        one_of=COMPRESSED_FIRST,
    ),
    # SHADER_MAX_VERTEXES 4000 and SHADER_MAX_INDEXES 24000 of the single-player engine (iortcw, SP's tr_local.h).
    "rtcwsp": Game(
        "Return to Castle Wolfenstein, single player",
        _md3_mdc(3999, 7999, strips_names=True) | _mds(vertices=3999, triangles=7999),
        one_of=COMPRESSED_FIRST,
    ),
    # SHADER_MAX_VERTEXES 1025, SHADER_MAX_INDEXES 6150 of Enemy Territory 2.60 (tr_local.h), not reached either.
    "et": Game(
        "Wolfenstein: Enemy Territory",
        _md3_mdc(1024, 2049, strips_names=True) | _mdm(vertices=1024, triangles=2049) | _tag(),
        one_of=COMPRESSED_FIRST,
    ),
    # ET: Legacy refuses more than 10000 vertices and 20000 triangles (R_LoadMD3, R_LoadMDM, tr_model.c); its second
    # renderer keeps four weights of a vertex.
    "etlegacy": Game(
        "ET: Legacy",
        _md3_mdc(10000, 20000, strips_names=True) | _mdm(vertices=10000, triangles=20000, vertex_weights=4) | _tag(),
        one_of=COMPRESSED_FIRST[::-1],
    ),
    # dhewm3 has no counts of its own (idRenderModelMD5, idMD5Anim), but "Animations may have only one root joint"
    # (idMD5Anim::LoadAnim). Of an ASE it keeps names of 127 bytes (aseObject_t and aseMaterial_t, Model_ase.h).
    "doom3": Game("Doom 3", _md5(several_roots=ERROR) | _ase(name_bytes=127) | _lwo(name_bytes=None)),
    # Q2PRO's MOD_LoadMD5: MD5_MAX_JOINTS 256, _MESHES 32, _WEIGHTS 8192, TESS_MAX_VERTICES 6144 and as many triangles,
    # _FRAMES 1024, MD5_MAX_JOINTNAME 48 with its NUL. DIR/md5/NAME.md5mesh and .md5anim replace DIR/NAME.md2.
    "quake2remaster": Game(
        "Quake II remaster",
        _md5(
            joints=256,
            meshes=32,
            weights=8192,
            vertices=6144,
            triangles=6144,
            frames=1024,
            name_bytes=47,
            several_roots="",
        ),
        folder="md5",
        lone_animation=True,
        scales=True,
    ),
    # GZDoom reads any number of surfaces and does not strip names (models_md3.cpp); it has 32 places for their skins
    # (MD3_MAX_SURFACES, model.h). Of MD2's skins it looks at the first (models_md2.cpp).
    "gzdoom": Game("GZDoom", _md3(None, None, frames=None, tags=None) | _md2(None, None, None, shaders=None) | _iqm()),
    # R_LoadIQModel (Daemon) takes joints whose scale is positive and the same along all axes.
    "unvanquished": Game("Unvanquished", _iqm(scales=EVEN_SCALES)),
    # iqm.h of Red Eclipse (Cube 2) has no scale of joints.
    "redeclipse": Game("Red Eclipse", _iqm(scales=NO_SCALES)),
    # The formats' own maxima: MD3_MAX_VERTS and MD3_MAX_TRIANGLES, MAX_VERTS, MAX_TRIANGLES and MAX_FRAMES of MD2
    # (qfiles.h of either game), which the loaders of most games ignore; the others have none.
    NO_GAME: Game(
        "the format",
        _md3_mdc(4096, 8192, soft=BEYOND)
        | _tag()
        | _mds(joints=None, meshes=None, name_bytes=None)
        | _md2(2048, 4096, 512, soft=BEYOND)
        | _mdl(2000, 4096, 1024, soft=BEYOND, needs_triangles=False, no_time="")
        | _md5(bare_vertices=WARNING)
        | _ase(name_bytes=None)
        | _lwo(name_bytes=None)
        | _mdm(joints=None, name_bytes=None, unique_names=False)
        | _iqm(joints=None)
        | _mdr(joints=None),
        choice="No Game",
    ),
}


def games_of(format_name: str) -> tuple[str, ...]:
    """Return the keys of the games that read a format."""
    return tuple(key for key, game in GAMES.items() if format_name in game.formats)


class Problem(NamedTuple):
    """What a game refuses, or shows otherwise than meant."""

    severity: str  # ERROR or WARNING
    subject: str  # name of the surface, joint or tag; "" for the model
    text: str

    def __str__(self) -> str:
        """One sentence, naming its subject."""
        return f"'{self.subject}' {self.text}" if self.subject else f"the model {self.text}"


def refused(problems: list[Problem]) -> list[str]:
    """Return what problems say that is no reason to refuse a model; raises LimitError for the others."""
    errors = [str(problem) for problem in problems if problem.severity == ERROR]
    if errors:
        raise LimitError(joined(errors))
    return [str(problem) for problem in problems]


def not_read(game_name: str, format_name: str) -> list[Problem]:
    """Return what is to be said of a format that a game does not read; nothing if it does."""
    game = GAMES[game_name]
    said = Problem(ERROR, "", f"is {format_name.upper()}, which {game.label} does not read")
    return [] if format_name in game.formats else [said]


def unwritable(subject: str, **values: NDArray[Any] | None) -> Iterator[Problem]:
    """Yield those of the `values` that are no numbers in single precision; "_" in their names stands for a blank."""
    for name, array in values.items():
        if array is not None and array.size and not float(np.abs(array).max()) <= LARGEST:
            yield Problem(ERROR, subject, f"has {name.replace('_', ' ')} that are no numbers, or beyond all")


def over(
    game: str, limits: VertexLimits | SkeletalLimits, kind: str, subject: str, count: int, called: str = ""
) -> Iterator[Problem]:
    """Yield what is to be said of a count of some `kind`, a field of the limits, if there are too many.

    `called` is that count in words, if it is not "5 frames" for five of the kind "frames".
    """
    limit = getattr(limits, kind)
    if limit is not None and count > limit:
        severity = WARNING if kind in limits.soft else ERROR
        verb = "takes" if severity == ERROR else "is made for"
        word = limits.shader_word if kind == "shaders" and isinstance(limits, VertexLimits) else kind
        yield Problem(severity, subject, f"has {called or f'{count} {word}'}, {game} {verb} {limit}")


def too_long(game: str, limits: VertexLimits | SkeletalLimits, name: str, subject: str, what: str) -> Iterator[Problem]:
    """Yield what is to be said of a name that the game has no room for; `what` it is comes before its size."""
    size = len(name.encode("utf-8", errors="replace"))
    if limits.name_bytes is not None and size > limits.name_bytes:
        yield Problem(ERROR, subject, f"{what} of {size} bytes, {game} takes {limits.name_bytes}: rename it")


OF_PLAYERS = "quake3"
# The folders of games' own files (FS_InitFilesystem and its like; COM_InitFilesystem), and the games that have one of
# that name, the likeliest first. Of several engines of a game it is one that takes what the game's own files hold.
FOLDERS: dict[str, tuple[str, ...]] = {
    "id1": ("quakespasm",),
    "hipnotic": ("quakespasm",),
    "rogue": ("quakespasm",),
    "baseq2": ("quake2", "quake2remaster"),
    "xatrix": ("quake2", "quake2remaster"),
    "baseq3": ("quake3", "ioquake3"),
    "missionpack": ("quake3", "ioquake3"),
    "baseoa": ("ioquake3",),
    "baseef": ("eliteforce",),
    "main": ("rtcw",),
    "etmain": ("et",),
    "legacy": ("etlegacy",),
    "base": ("doom3",),
    "d3xp": ("doom3",),
}
# Formats that one game's modders make, though other engines read them.
GAME_OF_FORMAT = {
    "mdl": "quakespasm",
    "md2": "quake2",
    "md5mesh": "doom3",
    "md5anim": "doom3",
    "mds": "rtcw",
    "mdm": "et",
    "mdx": "et",
    "tag": "et",
}


def game_for(format_name: str, folders: Sequence[str]) -> str:
    """Return the key in `GAMES` of the game of a model, by the folders above it, outermost first, or by its format.

    `NO_GAME` where neither tells. A folder that no game of the format has says nothing.
    """
    for folder in reversed(folders):
        found = next((key for key in FOLDERS.get(folder.lower(), ()) if format_name in GAMES[key].formats), "")
        if found:
            return found
    below_md5 = bool(folders) and folders[-1].lower() == GAMES["quake2remaster"].folder
    if below_md5 and format_name in GAMES["quake2remaster"].formats:
        return "quake2remaster"
    return GAME_OF_FORMAT.get(format_name, NO_GAME)


def game_of_player(folders: Sequence[str]) -> str:
    """Return the key in `GAMES` of the game of a player of MD3 files: where no folder above it tells, Quake III."""
    found = game_for("md3", folders)
    return OF_PLAYERS if found == NO_GAME else found
