"""What a codec is, and where each one's two modules are: bytes <-> structs, and structs <-> model.

They are imported when they are first asked for: everyone who starts Blender waits for the table of formats. A row says
what else its format can (`format.Format`); for that the second module has further functions:

- `to_animations(structs, name)` returns the motions beside a model, a list of `Animation`.
- `part(animation, name, frames, frame_rate)` returns some frames of a motion as one, `join(animations)` the structs of
  a file with several, and `cut(structs, frames)` those of one with some frames alone.
- `mixed(legs, torso, name, aim)` returns what a player shows whose legs and torso play two motions.
- `turns_of(model, motions)` returns how joints are turned against those of the file, (J, 4), or None.
- `problems(model)` returns what games trip over in what was just read, beyond their limits, in sentences.

And the first `outline(data)`, which returns what a file of one motion says before its frames.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ..model.edits.normals import NormalCoding
    from ..model.skeletal import Animation, SkeletalModel
    from ..model.vertex import VertexModel

Options = Mapping[str, Any]


class FileCodec(Protocol):
    """Bytes <-> structs: the classes of a format's own, which say all that its files do."""

    def read(self, data: bytes, /) -> Any:
        """Return the structs in a file's bytes; raises FormatError."""

    def write(self, structs: Any, /) -> bytes:
        """Return a file's bytes: those that were read, where nothing was changed."""


class VertexCodec(Protocol):
    """Structs <-> models that are animated vertex by vertex."""

    CODING: NormalCoding  # how normals are coded

    def to_model(self, structs: Any, name: str, /) -> VertexModel:
        """Return the model that a file holds; raises FormatError."""

    def conform(self, model: VertexModel, options: Options, /) -> VertexModel:
        """Return what `from_model` takes of a model: itself if it conforms; raises LimitError."""

    def from_model(self, model: VertexModel, options: Options, /) -> Any:
        """Return the structs of a model; raises LimitError."""


class SkeletalCodec(Protocol):
    """Structs <-> models that a skeleton moves."""

    # Takes the structs, those of the row's `companions`, None where there is no such file, and a name.
    to_model: Callable[..., SkeletalModel]
    # Takes a model and options, and motions where files hold these, too; raises LimitError.
    from_model: Callable[..., Any]


class MotionCodec(Protocol):
    """Structs <-> motions of skeletons."""

    def to_model(self, structs: Any, name: str, /) -> Animation:
        """Return the motion that a file holds; raises FormatError."""

    def from_model(self, animation: Animation, /) -> Any:
        """Return the structs of a motion; raises LimitError."""


def _md2() -> tuple[FileCodec, VertexCodec]:
    from .md2 import file, model

    return file, model


def _md3() -> tuple[FileCodec, VertexCodec]:
    from .md3 import file, model

    return file, model


def _mdc() -> tuple[FileCodec, VertexCodec]:
    from .mdc import file, model

    return file, model


def _tag() -> tuple[FileCodec, VertexCodec]:
    from .tag import file, model

    return file, model


def _mdl() -> tuple[FileCodec, VertexCodec]:
    from .mdl import file, model

    return file, model


def _md5mesh() -> tuple[FileCodec, SkeletalCodec]:
    from .md5 import mesh_file, mesh_model

    return mesh_file, mesh_model


def _mdm() -> tuple[FileCodec, SkeletalCodec]:
    from .mdm import file, model

    return file, model


def _mds() -> tuple[FileCodec, SkeletalCodec]:
    from .mds import file, model

    return file, model


def _iqm() -> tuple[FileCodec, SkeletalCodec]:
    from .iqm import file, model

    return file, model


def _mdr() -> tuple[FileCodec, SkeletalCodec]:
    from .mdr import file, model

    return file, model


def _md5anim() -> tuple[FileCodec, MotionCodec]:
    from .md5 import anim_file, anim_model

    return anim_file, anim_model


def _mdx() -> tuple[FileCodec, MotionCodec]:
    from .mdx import file, model

    return file, model


def _ase() -> tuple[FileCodec, VertexCodec]:
    from .ase import file, model

    return file, model


def _lwo() -> tuple[FileCodec, VertexCodec]:
    from .lwo import file, model

    return file, model


CODECS: dict[str, Callable[[], tuple[FileCodec, VertexCodec | SkeletalCodec | MotionCodec]]] = {
    "md2": _md2,
    "md3": _md3,
    "mdc": _mdc,
    "tag": _tag,
    "mdl": _mdl,
    "ase": _ase,
    "lwo": _lwo,
    "md5mesh": _md5mesh,
    "mdm": _mdm,
    "mds": _mds,
    "iqm": _iqm,
    "mdr": _mdr,
    "md5anim": _md5anim,
    "mdx": _mdx,
}
