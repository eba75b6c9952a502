"""A .blend that was moved along with its project: the places that models remember go along.

They are whole paths, of the machine that they were noted on. Each scene notes where its .blend was saved last. What
lies as seen from there where a place lay is that file, where nothing is at the place any more: in a project that was
moved or renamed, or on another machine. Else the place stays.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any

import bpy

from ..blender.linked import is_from_library
from ..blender.properties import EXPORT
from ..blender.provenance import BLEND, CHARACTER, FILE
from ..blender.skeletal.kept_frames import ROWS
from ..game.store import plain_path, split_at_archive
from .export.last_export import target_of

NOTES = (EXPORT, ROWS, CHARACTER)  # what a model remembers beside its file, with places among it
_WINDOWS = re.compile(r"[A-Za-z]:|[\\/]{2}")  # how whole paths begin there


def note_place(place: str) -> None:
    """Note on scenes where their .blend is saved, if models in it remember places."""
    if not place or not any(_remembers(holder) for holder in _holders()):
        return
    for scene in bpy.data.scenes:
        if not is_from_library(scene):
            scene[BLEND] = place


def follow() -> None:
    """Let models in a .blend that was opened elsewhere than it was saved remember where things lie now."""
    now = bpy.data.filepath
    noted = (scene.get(BLEND) for scene in bpy.data.scenes if not is_from_library(scene))
    before = next((place for place in noted if isinstance(place, str)), "")
    if not now or not before or plain_path(before) == plain_path(now):
        return
    for holder in _holders():
        file = holder.get(FILE)
        if isinstance(file, str) and (moved := _moved(file, before, now)):
            holder[FILE] = moved
        for note in NOTES:
            _follow_in(holder, note, lambda place: _moved(place, before, now) or place)


def _follow_in(holder: Any, note: str, moved: Callable[[str], str]) -> None:
    """Let the places in a note follow, which is a JSON text."""
    text = holder.get(note)
    if not isinstance(text, str):
        return
    try:
        found = json.loads(text)
        followed = _with_places(found, moved)
    except (ValueError, RecursionError):  # who reads it says so
        return
    if followed != found:
        holder[note] = json.dumps(followed)


def _with_places(value: Any, moved: Callable[[str], str]) -> Any:
    """Return what a JSON text holds with its texts as `moved` has them; names in it are none."""
    if isinstance(value, dict):
        return {name: _with_places(each, moved) for name, each in value.items()}
    if isinstance(value, list):
        return [_with_places(each, moved) for each in value]
    return moved(value) if isinstance(value, str) else value


def _holders() -> Iterator[Any]:
    """Yield all that may remember a place, but for what another .blend has."""
    data = bpy.data
    for kind in (data.collections, data.objects, data.meshes, data.armatures, data.actions, data.images):
        yield from (block for block in kind if not is_from_library(block))


def _remembers(holder: Any) -> bool:
    return isinstance(holder.get(FILE), str) or bool(target_of(holder))


def _moved(place: str, before: str, now: str) -> str:
    """Return what a place is called as seen from a .blend that moved from `before` to `now`; "" where nothing is there.

    Nor where what lay at the place still does: a .blend that was moved alone may lie beside another model of that name.
    What is to be written anew need not be there, its folder has to.
    """
    path = _beside(place, before, now)
    if path is None or plain_path(path) == plain_path(place) or _is_there(Path(place)):
        return ""
    can_be = _is_there(path) or os.path.isdir(path.parent)  # noqa: PTH112 - Path's raises in closed folders
    return str(path) if can_be else ""


def _beside(place: str, before: str, now: str) -> Path | None:
    """Return the path that leads from `now` as `place` did from `before`; None if the two had no folder in common."""
    flavour: type[PurePath] = PureWindowsPath if _WINDOWS.match(before) else PurePosixPath
    file, folder = flavour(place), flavour(before).parent
    common = 0
    for own, other in zip(file.parts, folder.parts, strict=False):
        if flavour(own) != flavour(other):
            break
        common += 1
    up, home = len(folder.parts) - common, Path(now).parent
    if common < 2 or up > len(home.parts) - 2:  # the root is no folder of a project's
        return None
    return Path(*home.parts[: len(home.parts) - up], *file.parts[common:])


def _is_there(path: Path) -> bool:
    return os.path.lexists(path) or split_at_archive(path, os.path.isfile) is not None
