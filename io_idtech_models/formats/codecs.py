"""Where the two modules of each codec are: of the file, bytes <-> structs, and of its meaning, structs <-> model.

They are imported when they are first asked for: everyone who starts Blender waits for the table of formats.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

Codec = tuple[ModuleType, ModuleType]  # has `read` and `write`; has `to_model`, `from_model`, and so on


def _md2() -> Codec:
    from .md2 import file, model

    return file, model


def _md3() -> Codec:
    from .md3 import file, model

    return file, model


def _mdc() -> Codec:
    from .mdc import file, model

    return file, model


def _tag() -> Codec:
    from .tag import file, model

    return file, model


def _mdl() -> Codec:
    from .mdl import file, model

    return file, model


def _md5mesh() -> Codec:
    from .md5 import mesh_file, mesh_model

    return mesh_file, mesh_model


def _mdm() -> Codec:
    from .mdm import file, model

    return file, model


def _mds() -> Codec:
    from .mds import file, model

    return file, model


def _iqm() -> Codec:
    from .iqm import file, model

    return file, model


def _mdr() -> Codec:
    from .mdr import file, model

    return file, model


def _md5anim() -> Codec:
    from .md5 import anim_file, anim_model

    return anim_file, anim_model


def _mdx() -> Codec:
    from .mdx import file, model

    return file, model


def _ase() -> Codec:
    from .ase import file, model

    return file, model


def _lwo() -> Codec:
    from .lwo import file, model

    return file, model


CODECS: dict[str, Callable[[], Codec]] = {
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
