"""Codecs: bytes to structs to models. numpy only, never bpy.

`FORMATS` is the one table of what can be read and written: operators, menus, drop handlers, the command line and the
shared tests iterate over it. A new format is one codec and one row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import FormatError
from ..model.vertex import VertexModel
from . import md3, md3_model


@dataclass(frozen=True)
class Format:
    """A row of the table: how a format is called and recognised, and its four functions."""

    name: str  # also part of the operators' names: import_scene.idtech_NAME
    label: str  # in menus
    suffixes: tuple[str, ...]  # lower case
    magic: bytes  # how its files begin
    games: tuple[str, ...]  # rows of model.limits that apply
    read: Callable[[bytes], Any]
    write: Callable[[Any], bytes]
    to_model: Callable[[Any, str], VertexModel]
    from_model: Callable[[VertexModel], Any]

    def load(self, data: bytes, name: str) -> VertexModel:
        """Return the model in a file's bytes; raises FormatError."""
        return self.to_model(self.read(data), name)

    def dump(self, model: VertexModel) -> bytes:
        """Return the file's bytes of a model; raises LimitError."""
        return self.write(self.from_model(model))


FORMATS: tuple[Format, ...] = (
    Format(
        name="md3",
        label="Quake III (.md3)",
        suffixes=(".md3",),
        magic=md3.IDENT,
        games=("quake3", "rtcw", "et", "etlegacy", "gzdoom", "format"),
        read=md3.read,
        write=md3.write,
        to_model=md3_model.to_model,
        from_model=md3_model.from_model,
    ),
)


def by_name(name: str) -> Format:
    """Return the row of that name; raises KeyError."""
    return {row.name: row for row in FORMATS}[name]


def by_suffix(path: Path) -> Format | None:
    """Return the row that a path's suffix asks for, whatever its case."""
    return next((row for row in FORMATS if path.suffix.lower() in row.suffixes), None)


def identify(data: bytes, path: Path) -> Format:
    """Return the format of a file: by its first bytes as the engines do, else by its suffix.

    Raises:
        FormatError: neither is known.
    """
    row = next((row for row in FORMATS if row.magic and data.startswith(row.magic)), None) or by_suffix(path)
    if row is None:
        known = ", ".join(suffix for r in FORMATS for suffix in r.suffixes)
        raise FormatError("unknown kind of file", expected=known, found=path.name)
    return row
