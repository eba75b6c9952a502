"""What the table of formats says of each: a `Format`, and what its family adds; and what its files hold: an `Asset`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from .codecs import CODECS, FileCodec, Options
from .families import MOTION, SKELETAL, VERTEX, Family

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..model.clips import Clip
    from ..model.edits.normals import NormalCoding
    from ..model.limits.games import Problem
    from ..model.skeletal import Animation, Outline, SkeletalModel
    from ..model.vertex import VertexModel

QUAKE, QUAKE_3, DOOM_3, FREE_ENGINES = "Quake, Quake II", "Quake III, Wolfenstein", "Doom 3", "Free Engines"
ENGINES = (QUAKE, QUAKE_3, DOOM_3, FREE_ENGINES)  # headings of menus, in their order; few, for menus must not scroll
SKIN_FILES, SKIN_DECLS = "files", "decls"
MARK = b"\xef\xbb\xbf"  # some editors put it before a text, and id's lexers skip it as a blank
SPLIT = "split_surfaces"  # the option of formats whose surfaces may be cut where a game takes none so large
WRITE_TAGS = "write_tags"  # the option of formats beside whose files a game reads one of the tags alone


def unmarked(read: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """Return a function that reads a text as another one does, behind a byte order mark, if there is one."""

    @wraps(read)
    def of_text(data: bytes) -> Any:
        return read(data.removeprefix(MARK))

    return of_text


class Option(NamedTuple):
    """An option of an export that one format has; operators and the command line declare it from this."""

    name: str
    label: str
    description: str
    default: bool | int = False
    most: int = 0  # of a number, from 0


@dataclass
class Asset:
    """What a file holds: a model, if its format has one, and motions of its skeleton, or of one like it."""

    row: Format
    model: Any  # of the format's family; None in a file of motions alone
    animations: list[Animation] = field(default_factory=list)

    @property
    def content(self) -> Any:
        """Return what the file is there for: the model, or else the motion."""
        return self.animations[0] if self.model is None else self.model


class VertexFormat(NamedTuple):
    """What is to be said of a format of models animated vertex by vertex."""

    several_frames: bool = True
    meshes: bool = True  # not tags alone
    uv_splits_vertices: bool = True  # a vertex has one texture coordinate and normal, a surface one material
    level_files: bool = False  # games read levels of detail from files beside a model's: NAME_1, NAME_2
    frame_rate: int = 0  # at which games play its frames; 0: not the format's matter
    holds_pictures: bool = False  # its skins lie in the file
    traits: tuple[str, ...] = ()  # numbers of its header that say how a game shows a model, of which 0 says nothing
    groups: bool = False  # games play some of its frames by themselves
    colors: bool = False  # of vertices
    further_uvs: bool = False  # sets of texture coordinates besides those that games draw


class MotionFormat(NamedTuple):
    """What is to be said of a format of motions of skeletons, alone or beside a model."""

    apart: bool = False  # beside a model: a file may hold either alone
    torso: bool = False  # its games play two at once, on legs and torso
    joins_clips: bool = False  # several animations make one file, which a table beside it (.aninc) takes apart
    table: str = ""  # the file beside it that says which of its frames are which animation
    one_length: bool = False  # joints lie as far from their parents in all frames
    scales: str = ""  # the suffix of a file beside it that says how large joints are, for games that read it


class SkeletalFormat(NamedTuple):
    """What is to be said of a format of models that a skeleton moves."""

    animation: Format | None = None  # whose files move its models
    motions: MotionFormat | None = None  # those that lie in its own files
    companions: tuple[Format, ...] = ()  # whose file tells what its own does not
    usual_companion: str = ""  # where the game has it
    normals: bool = False  # it stores some
    colors: bool = False  # of vertices
    unmoved_vertices: bool = False  # vertices that no joint moves stay where they are
    stretches: bool = False  # joints are scaled along their axes, with what hangs on them: see `model.joint_scales`
    one_length: bool = False  # joints lie as far from their parents in all frames
    levels: bool = False  # its files hold levels of detail, too
    collapses: bool = False  # from afar fewer of the same vertices are drawn: see `model.lod.collapse`
    joint_names: bool = True  # and parents of joints
    tags_are_joints: bool = False  # what is a tag becomes a joint, by whose name games find it
    bind_pose_missing: bool = False  # it does not say in which pose meshes are bound: one has to be found

    @property
    def dropped_with(self) -> tuple[Format, ...]:
        """Return the formats of motions whose files are chosen or dropped together with a model's."""
        return self.companions or (() if self.animation is None else (self.animation,))


FAMILY_OF: dict[type, Family] = {VertexFormat: VERTEX, MotionFormat: MOTION, SkeletalFormat: SKELETAL}
# What rows of other families answer, so that nobody has to ask first of which one a row is.
NOT_VERTEX, NOT_SKELETAL, NOT_MOTION = VertexFormat(), SkeletalFormat(), MotionFormat()


@dataclass(frozen=True, kw_only=True, eq=False)
class Format:
    """A format: how it is called and recognised, where its functions are, and in what it differs from others."""

    name: str  # also part of the operators' names: import_scene.idtech_NAME
    label: str  # in menus
    engine: str  # under which heading, one of ENGINES
    suffixes: tuple[str, ...]  # lower case
    magic: bytes  # how its files begin
    kind: VertexFormat | SkeletalFormat | MotionFormat  # what its files hold
    name_sizes: Mapping[str, int] = field(default_factory=dict)  # bytes that names of a kind have; else any
    options: tuple[Option, ...] = ()  # what its export alone asks for
    tags: bool = False  # it has some
    lies_beside: bool = False  # a model of another format, of which its files say something: nothing to see by itself
    skins: str = ""  # what says what surfaces wear: SKIN_FILES beside the model, or SKIN_DECLS of its game
    is_text: bool = False  # it can't hold quotes and line ends in names

    @cached_property
    def family(self) -> Family:
        """Return the family of its models; MOTION where its files hold nothing else."""
        return FAMILY_OF[type(self.kind)]

    @property
    def skins_in_slots(self) -> bool:
        """Tell whether its files list a model's skins, one of which all of it wears."""
        return self.vertex is not NOT_VERTEX and not self.vertex.uv_splits_vertices

    @cached_property
    def has_model(self) -> bool:
        """Tell whether its files hold models."""
        return not isinstance(self.kind, MotionFormat)

    @property
    def has_motions(self) -> bool:
        """Tell whether its files hold motions: beside a model that a skeleton moves, or alone."""
        return self.motion is not NOT_MOTION

    @cached_property
    def vertex(self) -> VertexFormat:
        """Return what is said of its models where these are animated vertex by vertex."""
        return self.kind if isinstance(self.kind, VertexFormat) else NOT_VERTEX

    @cached_property
    def skeletal(self) -> SkeletalFormat:
        """Return what is said of its models where a skeleton moves these."""
        return self.kind if isinstance(self.kind, SkeletalFormat) else NOT_SKELETAL

    @cached_property
    def motion(self) -> MotionFormat:
        """Return what is said of motions that its files hold, alone or beside a model."""
        if isinstance(self.kind, MotionFormat):
            return self.kind
        return self.skeletal.motions or NOT_MOTION

    @cached_property
    def _file(self) -> FileCodec:
        return CODECS[self.name]()[0]

    @cached_property
    def _model(self) -> Any:  # by its family, and what else its format can
        return CODECS[self.name]()[1]

    @property
    def read(self) -> Callable[[bytes], Any]:
        """Return the function from a file's bytes to structs; it raises FormatError."""
        return unmarked(self._file.read) if self.is_text else self._file.read

    @property
    def write(self) -> Callable[[Any], bytes]:
        """Return the function from structs to a file's bytes."""
        return self._file.write

    @property
    def to_model(self) -> Callable[..., Any]:
        """Return the function from structs (those of companions, too) and a name to a model, or to the motion."""
        function: Callable[..., Any] = self._model.to_model
        return function

    @property
    def from_model(self) -> Callable[..., Any]:
        """Return the function from a model and options, or from a motion, to structs; raises LimitError.

        Where a format `has_motions` it takes these behind the options.
        """
        function: Callable[..., Any] = self._model.from_model
        return function

    @property
    def conform(self) -> Callable[[VertexModel, Options], VertexModel]:
        """Return the function that makes what `from_model` takes of a vertex-animated model: itself if it conforms."""
        function: Callable[[VertexModel, Options], VertexModel] = self._model.conform
        return function

    @property
    def coding(self) -> NormalCoding:
        """Return how a format of vertex-animated models codes normals."""
        found: NormalCoding = self._model.CODING
        return found

    @property
    def games(self) -> tuple[str, ...]:
        """Return the games that read the format, keys of `limits.games.GAMES`."""
        from ..model.limits.games import games_of

        return games_of(self.name)

    def check(self, thing: Any, game: str) -> list[Problem]:
        """Return what a game refuses of a model (of a format of motions alone: a motion), or shows otherwise."""
        from ..model.limits.tags import alike_tags  # enabling does without

        found = self.family.check(thing, game, self.name, self.is_text)
        return [*found, *alike_tags(thing)] if self.tags or self.skeletal.tags_are_joints else found

    def check_motion(self, animation: Animation, game: str) -> list[Problem]:
        """Return what a game refuses of a motion in the format, or shows otherwise."""
        return MOTION.check(animation, game, self.name, self.is_text)

    def problems(self, thing: Any) -> list[str]:
        """Return what in a file that was just read games trip over, beyond their limits."""
        function = getattr(self._model, "problems", None)
        return [] if function is None else list(function(thing))

    def unpack(self, structs: Any, name: str, companions: Sequence[Any] = ()) -> Asset:
        """Return what a file's structs hold; those of `companions` are None where there is no such file."""
        if not self.has_model:
            return Asset(self, None, [self.to_model(structs, name)])
        others = companions or [None] * len(self.skeletal.companions)
        motions = self._model.to_animations(structs, name) if self.has_motions else []
        model = self.to_model(structs, *others, name)
        if self.family is SKELETAL:
            model.lists_tags = self.tags
        return Asset(self, model, motions)

    def load(self, data: bytes, name: str, companions: Mapping[str, bytes] | None = None) -> Any:
        """Return the model in a file's bytes, or else its motion; raises FormatError.

        `companions` are bytes by format; a model can be read without, as well as that goes.
        """
        given, needed = companions or {}, self.skeletal.companions
        others = [other.read(given[other.name]) if other.name in given else None for other in needed]
        return self.unpack(self.read(data), name, others).content

    def dump(self, thing: Any, options: Options | None = None, animations: Sequence[Animation] = ()) -> bytes:
        """Return the bytes of a file with a model, and motions where the format has both, or with a motion.

        Raises:
            LimitError: the format can't hold it.
        """
        if not self.has_model:
            return self.write(self.from_model(thing))
        if self.family is VERTEX:
            thing = self.shape(thing, options)
        motions = (list(animations),) if self.has_motions else ()
        return self.write(self.from_model(thing, options or {}, *motions))

    def outline(self, data: bytes) -> Outline | Animation:
        """Return what a file of one motion says before its frames; all of it where these take no time to read.

        Raises:
            FormatError: that can't be read; what is behind it may be damaged all the same.
        """
        function = getattr(self._file, "outline", None)
        if function is None:
            return self.motion_in(self.read(data), "")
        found: Outline = (unmarked(function) if self.is_text else function)(data)
        return found

    def part(self, animation: Animation, name: str, frames: range, frame_rate: float) -> Animation:
        """Return some frames of a motion as one of its own; of formats that join."""
        found: Animation = self._model.part(animation, name, frames, frame_rate)
        return found

    def motion_in(self, structs: Any, name: str, clip: Clip | None = None) -> Animation:
        """Return the one motion that a file's structs hold, or the frames of a clip alone as one of its own.

        Of formats that cut.
        """
        given = structs if clip is None else self._model.cut(structs, range(clip.first, clip.first + clip.length))
        found: Animation = self._model.to_animations(given, name)[0] if self.has_model else self.to_model(given, name)
        if clip is not None:
            found.frame_rate = clip.frame_rate
            if found.source is not None:
                found.source.frame_rate = clip.frame_rate
        return found

    def dump_joined(self, animations: list[Animation]) -> bytes:
        """Return the bytes of one file with several motions, of formats that join; raises LimitError."""
        return self.write(self._model.join(animations))

    def mixed(self, legs: Animation, torso: Animation, name: str, aim: tuple[float, float]) -> Animation:
        """Return what a player shows whose legs and torso play two motions; of formats with a `torso`.

        `aim` is down and to the left against the legs, in degrees.

        Raises:
            LimitError: the motions are of different skeletons, or no bone follows the torso.
        """
        found: Animation = self._model.mixed(legs, torso, name, aim)
        return found

    def shape(self, model: VertexModel, options: Options | None = None) -> VertexModel:
        """Return a vertex-animated model, perhaps of another format, as this one can hold it; raises LimitError."""
        source = model.source
        is_other = source is not None and source.format != self.name
        if source is not None and (is_other or any(surface.copies is not None for surface in model.surfaces)):
            from ..model.edits.copies import with_copied_normals

            coding = getattr(CODECS[source.format]()[1], "CODING", None) if source.format in CODECS else None
            model = with_copied_normals(model, coding)
        if is_other:
            from ..model.edits.normals import plain_normals

            surfaces = [plain_normals(model, surface, coding) for surface in model.surfaces]
            model = replace(model, surfaces=surfaces, source=None)
        return self.conform(model, options or {})

    def lost_levels(self) -> list[str]:
        """Return what becomes of levels of detail that a model has, in a sentence, where the format has none."""
        called = self.name.upper()
        return (
            []
            if self.skeletal.levels
            else [f"{called} files hold no levels of detail: what is drawn from afar is left out"]
        )

    def turns(self, model: SkeletalModel, motions: Sequence[Animation]) -> NDArray[Any] | None:
        """Return how joints of a model are turned against those of its file, (J, 4), for formats that choose axes."""
        function = getattr(self._model, "turns_of", None)
        return None if function is None else function(model, motions)

    def runs(self, motions: Sequence[Animation]) -> list[str]:
        """Return, in a sentence, where each of several motions of a model's file begins, if the file does not say."""
        from ..reporting import listed

        if len(motions) < 2 or self.motion.apart:
            return []
        firsts = accumulate((motion.num_frames for motion in motions), initial=0)
        found = [f"{motion.name} from {first}" for motion, first in zip(motions, firsts, strict=False)]
        return [f"{self.name.upper()} has no names of animations, they follow one another: {listed(found)}"]

    def lost(self, model: SkeletalModel) -> list[str]:
        """Return what of a model that a skeleton moves the format has no place for, in sentences."""
        from ..reporting import listed

        called, found = self.name.upper(), []
        joints = self.family is SKELETAL  # which games may look up by their names
        tags = [tag.name for tag in model.tags if not (joints and tag.is_joint_of(model.skeleton))]
        if tags and not (self.tags or self.skeletal.tags_are_joints):
            found.append(f"{called} has no tags: left out: {listed(tags)}")
        traits = model.skeleton.traits
        if traits is not None and traits.torso_weights.any() and not (self.skeletal.companions or self.motion.torso):
            found.append(f"{called} has no torso weights: left out")
        fewer = any(mesh.min_lod is not None and mesh.min_lod < mesh.num_vertices for mesh in model.meshes)
        if fewer and not self.skeletal.collapses:
            found.append(f"{called} can't say which vertices go from afar: all are drawn")
        if any(mesh.level for mesh in model.meshes):
            found += self.lost_levels()
        if not self.skeletal.joint_names and model.source_of(self.name) is None:
            found.append(f"{called} has no names and no parents of bones: they become numbers, which tags alone name")
        return found
