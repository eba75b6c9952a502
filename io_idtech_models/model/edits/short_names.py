"""Names that a format or a game has no room for, made shorter: what a conversion does where an export refuses.

Of a path the front goes, folder by folder, because its end says what it is; games look for a shader's picture whatever
its ending, so that goes before. Of other names the end goes, of frames' what comes before their number. What was apart
stays apart, whatever the case of letters, and what fits keeps its name. The same list of names gives the same result,
so that joints are called alike in a model and in animations that are converted by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from ..clips import numbered
from ..limits.games import GAMES

if TYPE_CHECKING:
    from ..skeletal import Animation, SkeletalModel
    from ..vertex import VertexModel

SEPARATOR = re.compile(r"[/\\]")
PICTURE = re.compile(r"(?i)\.(tga|jpe?g|png|pcx|webp|dds|bmp|tiff?)\Z")
LETTERS = "bcdefghijklmnopqrstuvwxyz"  # of further ones: no digits, which would be taken for a frame's number
MOST = 12  # renamed ones that a message lists
Room = Callable[[str], int | None]  # a name's room in bytes; None: as much as it wants
Renamed = dict[str, str]


def short_names(names: Iterable[str], room: Room, pictures: bool = False) -> Renamed:
    """Return new names for those that are longer than their room; `pictures`: their ending does not count."""
    wanted = list(dict.fromkeys(names))
    long = {name: size for name in wanted if (size := room(name)) is not None and _bytes(name) > size}
    taken = {name.casefold() for name in wanted if name not in long}
    found: Renamed = {}
    further: dict[str, int] = {}  # how many marks a name's first choice has used up
    for name, size in long.items():
        new = first = _choice(name, size, pictures, "")
        while new.casefold() in taken:
            number = further.get(first.casefold(), 0)
            further[first.casefold()] = number + 1
            new = _choice(name, size, pictures, _mark(number))
        found[name] = new
        taken.add(new.casefold())
    return found


def _choice(name: str, size: int, pictures: bool, mark: str) -> str:
    """Return a name in `size` bytes, with a mark that tells it apart from others that begin or end alike."""
    match = PICTURE.search(name)
    ending = "" if match is None else match.group()
    stem = name.removesuffix(ending)
    ending = "" if pictures else ending
    room = size - _bytes(ending) - _bytes(mark)
    if room < 1:  # too little even for that: the ending goes
        ending, room = "", max(size - _bytes(mark), 0)
    cut = _cut_path if SEPARATOR.search(stem) is not None else _cut_end
    return f"{cut(stem, room)}{mark}{ending}"


def _mark(number: int) -> str:
    """Return ~b, ~c, and so on."""
    letters = ""
    while not letters or number:
        number, letter = divmod(number, len(LETTERS))
        letters = LETTERS[letter] + letters
    return f"~{letters}"


def _cut_path(path: str, size: int) -> str:
    """Return the end of a path from the first folder on that fits, or the end of the file's name."""
    starts = [0, *(match.end() for match in SEPARATOR.finditer(path))]
    fitting = (path[start:] for start in starts if _bytes(path[start:]) <= size and path[start:])
    if (found := next(fitting, None)) is not None:
        return found
    raw = path.encode("utf-8", errors="replace")
    return raw[len(raw) - size :].decode("utf-8", errors="ignore")


def _cut_end(name: str, size: int) -> str:
    return name.encode("utf-8", errors="replace")[:size].decode("utf-8", errors="ignore")


def _bytes(name: str) -> int:
    return len(name.encode("utf-8", errors="replace"))


def short_frames(names: Sequence[str], room: Room) -> Renamed:
    """Return new names for frames: their numbers stay, and those that had one name before it have one still."""
    long = {name: size for name in names if (size := room(name)) is not None and _bytes(name) > size}
    parts = {name: _numbered(name, size) for name, size in long.items()}
    stems: dict[str, int] = {}
    for name, (stem, number) in parts.items():
        stems[stem] = min(stems.get(stem, long[name]), long[name] - len(number))
    others = [_numbered(name, _bytes(name))[0] for name in names if name not in long]
    short = short_names([*others, *stems], stems.get)
    found = {name: short.get(stem, stem) + number for name, (stem, number) in parts.items()}
    taken = {name.casefold() for name in names if name not in long}
    for name, (stem, number) in parts.items():
        marks = count()
        while found[name].casefold() in taken:  # by one whose own number ends it
            found[name] = _choice(stem, long[name] - len(number), pictures=False, mark=_mark(next(marks))) + number
        taken.add(found[name].casefold())
    return found


def _numbered(name: str, size: int) -> tuple[str, str]:
    """Return what comes before a frame's number, and the number: as much of its end as `size` bytes leave room for."""
    digits = len(name) - len(name.rstrip("0123456789"))
    start = len(name) - min(digits, max(size - 1, 0))
    return name[:start], name[start:]


def short_animations(animations: Sequence[Animation], size: int | None) -> tuple[list[Animation], list[str]]:
    """Return animations whose names fit the names of their frames, of `size` bytes each, and what is to be said."""
    if size is None:
        return list(animations), []
    rooms: dict[str, int] = {}
    for animation in animations:
        if not numbered(animation.name, animation.num_frames, size)[0].startswith(animation.name):
            digits = max(len(str(animation.num_frames)), 2)
            rooms[animation.name] = min(rooms.get(animation.name, size), size - digits)
    found = short_names([animation.name for animation in animations], rooms.get)
    said = f"names of animations are shortened to fit the names of their frames: {_pairs(found)}"
    return [replace(a, name=found.get(a.name, a.name)) for a in animations], [said] if found else []


def short_vertex(model: VertexModel, row: Any, game: str) -> tuple[VertexModel, list[str]]:
    """Return a model that has the shape of a format, with names that it and a game hold, and what is to be said.

    Names that the format's own source has are written as they were.
    """
    limits = GAMES[game].formats.get(row.name)
    source = model.source_of(row.name)
    surfaces = [] if source is None else source.surfaces
    known = {
        "model": {model.name} if source is not None and source.facts else set(),
        "surface": {surface.name for surface in surfaces},
        "shader": {shader for surface in surfaces for shader in surface.shaders},
        "tag": set() if source is None else set(source.tag_names),
        "frame": set() if source is None else set(source.frame_names),
    }
    rooms = {kind: _least(row.name_sizes[kind], getattr(limits, "name_bytes", None)) for kind in row.name_sizes}
    notes: list[str] = []

    def short(kind: str, names: list[str], word: str = "") -> Renamed:
        def room(name: str) -> int | None:
            return None if name in known[kind] else rooms.get(kind)

        found = short_frames(names, room) if kind == "frame" else short_names(names, room, word == "shaders")
        notes.extend(_said(word or f"{kind}s", rooms.get(kind), found))
        return found

    called = short("model", [model.name])
    of_surfaces = short("surface", [surface.name for surface in model.surfaces])
    shaders = [shader for surface in model.surfaces for shader in surface.shaders]
    of_shaders = short("shader", shaders, getattr(limits, "shader_word", "shaders"))
    of_tags = short("tag", [tag.name for tag in model.tags])
    of_frames = short("frame", model.frame_names)
    if not notes:
        return model, []
    model = replace(model, name=called.get(model.name, model.name), frame_names=_new(of_frames, model.frame_names))
    model.surfaces = [
        replace(s, name=of_surfaces.get(s.name, s.name), shaders=_new(of_shaders, s.shaders)) for s in model.surfaces
    ]
    model.tags = [replace(tag, name=of_tags.get(tag.name, tag.name)) for tag in model.tags]
    return model, notes


def short_frame_names(model: VertexModel, row: Any) -> tuple[VertexModel, list[str]]:
    """Return a model whose frames' names a format holds, and what is to be said; those of its own source stay."""
    source, size = model.source_of(row.name), row.name_sizes.get("frame")
    known = set() if source is None else set(source.frame_names)
    found = short_frames(model.frame_names, lambda name: None if name in known else size)
    return replace(model, frame_names=_new(found, model.frame_names)), _said("frames", size, found)


def short_skeleton(
    model: SkeletalModel | None, animations: Sequence[Animation], row: Any, game: str
) -> tuple[SkeletalModel | None, list[Animation], list[str]]:
    """Return a model and animations with names that a format and a game hold, and what is to be said.

    `row` is the model's, or of animations alone theirs. Joints are called alike in all of them.
    """
    limit = getattr(GAMES[game].formats.get(row.name), "name_bytes", None)
    source = None if model is None else model.source_of(row.name)
    notes: list[str] = []

    def short(kind: str, names: list[str], known: set[str], size: int | None, pictures: bool = False) -> Renamed:
        field = row.name_sizes.get(kind)
        found = short_names(names, lambda name: size if name in known else _least(field, size), pictures)
        notes.extend(_said(f"{kind}s", _least(field, size), found))
        return found

    joints = next(iter(a.joint_names for a in animations), []) if model is None else model.skeleton.names
    own = set() if source is None else set(source.skeleton.names)
    of_joints = short("joint", joints, own, limit)
    found = [replace(a, joint_names=_new(of_joints, a.joint_names)) for a in animations] if of_joints else animations
    if model is None:
        return None, list(found), notes
    meshes = [] if source is None else source.meshes
    of_meshes = short("surface", [mesh.name for mesh in model.meshes], {mesh.name for mesh in meshes}, None)
    of_shaders = short("shader", [m.shader for m in model.meshes], {m.shader for m in meshes}, None, True)
    tags = set() if source is None else {tag.name for tag in source.tags}
    of_tags = short("tag", [tag.name for tag in model.tags], tags, limit)
    if not notes:
        return model, list(found), []
    skeleton = replace(model.skeleton, names=_new(of_joints, model.skeleton.names))
    parts = [
        replace(m, name=of_meshes.get(m.name, m.name), shader=of_shaders.get(m.shader, m.shader)) for m in model.meshes
    ]
    named = [replace(tag, name=of_tags.get(tag.name, tag.name)) for tag in model.tags]
    return replace(model, skeleton=skeleton, meshes=parts, tags=named), list(found), notes


def _least(*sizes: int | None) -> int | None:
    return min((size for size in sizes if size is not None), default=None)


def _new(found: Renamed, names: Iterable[str]) -> list[str]:
    return [found.get(name, name) for name in names]


def _said(kinds: str, size: int | None, found: Renamed) -> list[str]:
    return [f"names of {kinds} are shortened to {size} bytes: {_pairs(found)}"] if found else []


def _pairs(found: Renamed) -> str:
    pairs = [f"'{old}' is now '{new}'" for old, new in found.items()]
    return ", ".join(pairs[:MOST] + ([f"and {len(pairs) - MOST} more"] if len(pairs) > MOST else []))
