"""Codecs: bytes to structs to models. numpy only, never bpy.

The tables here say what can be read and written: `FORMATS` models animated vertex by vertex, `SKELETAL` models that a
skeleton moves, `ANIMATIONS` what moves such skeletons. Operators, menus, drop handlers, the command line and the shared
tests iterate over them. A new format is one codec and one row.

A codec is imported when its row is first used: everyone who starts Blender waits for this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from ..reporting import FormatError

if TYPE_CHECKING:
    from ..model.edits.normals import NormalCoding
    from ..model.limits.games import Problem
    from ..model.skeletal import Animation, SkeletalModel
    from ..model.vertex import VertexModel

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Option:
    """An option of an export that one format has; operators and the command line declare it from this."""

    name: str
    label: str
    description: str
    default: bool | int = False
    most: int = 0  # of a number, from 0


def _codec(module: str) -> Any:
    """Return a module of this package, which is imported now if it was not."""
    return import_module(f".{module}", __name__)


@dataclass(frozen=True)
class Row:
    """What the rows of all tables have: how a format is called and recognised, and where its functions are."""

    name: str  # also part of the operators' names: import_scene.idtech_NAME
    label: str  # in menus
    suffixes: tuple[str, ...]  # lower case
    magic: bytes  # how its files begin
    file_codec: str  # the module that has `read` and `write`
    model_codec: str  # the module that has `to_model`, `from_model`, and what else the family asks for
    rooms: Mapping[str, int] = field(default_factory=dict, kw_only=True)  # bytes that names of a kind have; else any

    @property
    def read(self) -> Callable[[bytes], Any]:
        """Return the function from a file's bytes to structs; it raises FormatError."""
        function: Callable[[bytes], Any] = _codec(self.file_codec).read
        return function

    @property
    def write(self) -> Callable[[Any], bytes]:
        """Return the function from structs to a file's bytes."""
        function: Callable[[Any], bytes] = _codec(self.file_codec).write
        return function

    @property
    def games(self) -> tuple[str, ...]:
        """Return the games that read the format, keys of `limits.games.GAMES`."""
        from ..model.limits.games import games_of

        return games_of(self.name)

    def problems(self, model: Any) -> list[str]:
        """Return what in a file that was just read games trip over, beyond their limits."""
        function = getattr(_codec(self.model_codec), "problems", None)
        return [] if function is None else list(function(model))

    @property
    def to_model(self) -> Callable[..., Any]:
        """Return the function from structs (those of companions, too) and a name to a model."""
        function: Callable[..., Any] = _codec(self.model_codec).to_model
        return function

    @property
    def from_model(self) -> Callable[..., Any]:
        """Return the function from a model (and, of vertex-animated ones, options) to structs; raises LimitError."""
        function: Callable[..., Any] = _codec(self.model_codec).from_model
        return function


@dataclass(frozen=True)
class Format(Row):
    """A row of the table of vertex-animated models."""

    splits: bool = True  # a vertex has one texture coordinate and normal, a surface one material
    tags: bool = True  # it has some
    frame_rate: int = 0  # at which games play its frames; 0: not the format's matter
    options: tuple[Option, ...] = ()

    @property
    def conform(self) -> Callable[[VertexModel, Options], VertexModel]:
        """Return the function that makes what `from_model` takes of a model: that itself if it conforms."""
        function: Callable[[VertexModel, Options], VertexModel] = _codec(self.model_codec).conform
        return function

    @property
    def coding(self) -> NormalCoding:
        """Return how the format codes normals."""
        found: NormalCoding = _codec(self.model_codec).CODING
        return found

    def check(self, model: VertexModel, game: str) -> list[Problem]:
        """Return what a game refuses or changes of a model that has the shape of the format."""
        from ..model.limits import vertex as vertex_limits

        return vertex_limits.check(model, game, self.name)

    def load(self, data: bytes, name: str) -> VertexModel:
        """Return the model in a file's bytes; raises FormatError."""
        model: VertexModel = self.to_model(self.read(data), name)
        return model

    def shape(self, model: VertexModel, options: Options | None = None) -> VertexModel:
        """Return a model, which may come from another format, as this one can hold it; raises LimitError."""
        source = model.source
        if source is not None and source.format != self.name:
            from ..model.edits.normals import plain_normals

            coding = next((row.coding for row in FORMATS if row.name == source.format), None)
            surfaces = [plain_normals(model, surface, coding) for surface in model.surfaces]
            model = replace(model, surfaces=surfaces, source=None)
        return self.conform(model, options or {})

    def dump(self, model: VertexModel, options: Options | None = None) -> bytes:
        """Return the file's bytes of a model; raises LimitError."""
        return self.write(self.from_model(self.shape(model, options), options or {}))


@dataclass(frozen=True)
class SkeletalFormat(Row):
    """A row of the table of skeletal models.

    A model that lies in several files names the formats of the others as its `companions`: `load` takes their bytes
    too.
    """

    animation: str = ""  # the row of ANIMATIONS whose files move its models
    companions: tuple[str, ...] = ()  # rows of ANIMATIONS whose file tells what its own does not
    usual_companion: str = ""  # where the game has it
    normals: bool = False  # it stores some
    tags: bool = False  # it has some
    text: bool = False  # it can't hold quotes and line ends in names
    skins: bool = False  # a file beside it says what surfaces wear
    bind_pose_missing: bool = False  # it does not say in which pose meshes are bound: one has to be found
    options: tuple[Option, ...] = ()

    def check(self, model: SkeletalModel, game: str) -> list[Problem]:
        """Return what a game refuses of a model, or shows otherwise than meant."""
        from ..model.limits import skeletal as skeletal_limits

        return skeletal_limits.check(model, game, self.name, self.text)

    def load(self, data: bytes, name: str, companions: Mapping[str, bytes] | None = None) -> SkeletalModel:
        """Return the model in a file's bytes and those of its companions, by format; raises FormatError.

        A model can be read without its companions, as well as that goes.
        """
        given = companions or {}
        others = [by_name(other).read(given[other]) if other in given else None for other in self.companions]
        model: SkeletalModel = self.to_model(self.read(data), *others, name)
        return model

    def lost(self, model: SkeletalModel) -> list[str]:
        """Return what of a model the format has no place for, in sentences."""
        from ..model.wording import listed

        called, found = self.name.upper(), []
        if model.tags and not self.tags:
            found.append(f"{called} has no tags: left out: {listed([tag.name for tag in model.tags])}")
        traits = model.skeleton.traits
        if traits is not None and traits.torso_weights.any() and not self.companions:
            found.append(f"{called} has no torso weights: left out")
        if not self.tags and any(mesh.min_lod is not None for mesh in model.meshes):
            found.append(f"{called} has no levels of detail: left out")
        return found

    def dump(self, model: SkeletalModel, options: Options | None = None) -> bytes:
        """Return the file's bytes of a model; raises LimitError."""
        return self.write(self.from_model(model, options or {}) if self.options else self.from_model(model))


@dataclass(frozen=True)
class AnimationFormat(Row):
    """A row of the table of animations for skeletons."""

    joins_clips: bool = False  # several animations make one file, which a table beside it (.aninc) takes apart
    text: bool = False  # see `SkeletalFormat`
    scales: str = ""  # the suffix of a file beside it that says how large joints are, for games that read it

    def part(self, animation: Animation, name: str, frames: range, frame_rate: float) -> Animation:
        """Return some frames of an animation as one of its own; of formats that join."""
        found: Animation = _codec(self.model_codec).part(animation, name, frames, frame_rate)
        return found

    def dump_joined(self, animations: list[Animation]) -> bytes:
        """Return the bytes of one file with several animations, of formats that join; raises LimitError."""
        return self.write(_codec(self.model_codec).join(animations))

    def check(self, animation: Animation, game: str) -> list[Problem]:
        """Return what a game refuses of an animation, or shows otherwise than meant."""
        from ..model.limits import skeletal as skeletal_limits

        return skeletal_limits.check_animation(animation, game, self.name, self.text)

    def load(self, data: bytes, name: str) -> Animation:
        """Return the animation in a file's bytes; raises FormatError."""
        animation: Animation = self.to_model(self.read(data), name)
        return animation

    def dump(self, animation: Animation) -> bytes:
        """Return the file's bytes of an animation; raises LimitError."""
        return self.write(self.from_model(animation))


AnyFormat = Format | SkeletalFormat | AnimationFormat
FORMATS: tuple[Format, ...] = (
    Format(
        name="md2",
        label="Quake II (.md2)",
        suffixes=(".md2",),
        magic=b"IDP2",
        file_codec="md2.file",
        model_codec="md2.model",
        rooms={"shader": 63, "frame": 15},
        splits=False,
        tags=False,
        frame_rate=10,  # Quake II's server frames
        options=(
            Option("skin_width", "Skin Width", "Texels; 0: the source's, else the picture's, else 256", 0, 32767),
            Option("skin_height", "Skin Height", "Texels; 0: the source's, else the picture's, else 256", 0, 32767),
            Option(
                "same_box",
                "Same Box for All Frames",
                "Round positions alike in all frames: what stands still does not wobble, but all is a little coarser",
            ),
            Option(
                "remake_commands",
                "Remake OpenGL Commands",
                "Make the strips and fans that Quake II draws anew, also where the source's still hold",
            ),
        ),
    ),
    Format(
        name="md3",
        label="Quake III (.md3)",
        suffixes=(".md3",),
        magic=b"IDP3",
        file_codec="md3.file",
        model_codec="md3.model",
        rooms={"model": 63, "surface": 63, "shader": 63, "tag": 63, "frame": 15},
    ),
)


SKELETAL: tuple[SkeletalFormat, ...] = (
    SkeletalFormat(
        name="md5mesh",
        label="Doom 3 (.md5mesh)",
        suffixes=(".md5mesh",),
        magic=b"MD5Version",
        animation="md5anim",
        text=True,
        file_codec="md5.mesh_file",
        model_codec="md5.mesh_model",
    ),
    SkeletalFormat(
        name="mdm",
        label="Enemy Territory (.mdm)",
        suffixes=(".mdm",),
        magic=b"MDMW",
        animation="mdx",
        companions=("mdx",),
        usual_companion="animations/human/base/body.mdx",
        normals=True,
        tags=True,
        bind_pose_missing=True,
        skins=True,
        file_codec="mdm.file",
        model_codec="mdm.model",
        rooms={"surface": 63, "shader": 63, "tag": 63, "joint": 63},  # a joint's lies in its companion
        options=(
            Option(
                "make_lod",
                "Make Levels of Detail",
                "Order the vertices of changed surfaces so that games may draw fewer from afar; else all are drawn",
            ),
        ),
    ),
)

ANIMATIONS: tuple[AnimationFormat, ...] = (
    AnimationFormat(
        name="md5anim",
        label="Doom 3 Animation (.md5anim)",
        suffixes=(".md5anim",),
        magic=b"MD5Version",
        text=True,
        scales=".md5scale",
        file_codec="md5.anim_file",
        model_codec="md5.anim_model",
    ),
    AnimationFormat(
        name="mdx",
        label="Enemy Territory Animation (.mdx)",
        suffixes=(".mdx",),
        magic=b"MDXW",
        file_codec="mdx.file",
        model_codec="mdx.model",
        rooms={"joint": 63},
        joins_clips=True,
    ),
)

ALL: tuple[AnyFormat, ...] = (*FORMATS, *SKELETAL, *ANIMATIONS)


@dataclass(frozen=True)
class Written:
    """A model on its way into a file: the bytes, the model as the format holds it, and what a game shows otherwise."""

    data: bytes
    model: VertexModel
    notes: list[str]


def dump_for(
    row: Format, model: VertexModel, game: str, options: Options | None = None, shorten: bool = False
) -> Written:
    """Return a model's file for a game, a key of `games.GAMES`; `shorten`: names that are too long, else refused.

    Raises:
        LimitError: the format can't hold the model, or the game would refuse it.
    """
    from ..model.edits.short_names import short_vertex
    from ..model.limits.games import refused

    shaped = row.shape(model, options)
    shaped, notes = short_vertex(shaped, row, game) if shorten else (shaped, [])
    notes += refused(row.check(shaped, game))
    return Written(row.dump(shaped, options), shaped, notes)


def by_name(name: str) -> Any:
    """Return the row of that name in any table; raises KeyError."""
    return {row.name: row for row in ALL}[name]


class Named(Protocol):
    """A file as far as its name tells what it is: a path, or a file of a game."""

    @property
    def name(self) -> str:
        """Return the name, without a folder."""

    @property
    def suffix(self) -> str:
        """Return what the name ends in, from its last dot on."""


def by_suffix(file: Named) -> Any:
    """Return the row that a file's suffix asks for, whatever its case; None without one."""
    return next((row for row in ALL if file.suffix.lower() in row.suffixes), None)


def identify(data: bytes, file: Named) -> Any:
    """Return the format of a file: by its first bytes as the engines do, else (or of several) by its suffix.

    Raises:
        FormatError: neither is known.
    """
    rows = [row for row in ALL if row.magic and data.startswith(row.magic)]
    named = by_suffix(file)
    if named is None or (rows and named not in rows):
        named = rows[0] if rows else None
    if named is None:
        known = ", ".join(suffix for row in ALL for suffix in row.suffixes)
        raise FormatError("unknown kind of file", expected=known, found=file.name)
    return named
