"""What a model holds, in words: for summaries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .skeletal import Animation, SkeletalModel
    from .vertex import VertexModel


OF_ONE = re.compile(r"'([^']*)' (.*)\Z", re.DOTALL)  # a sentence about one thing
NO_TEXT = '"\r\n\0'  # what the quoted names of a text can't hold; engines read up to a NUL


def once(texts: Iterable[str]) -> list[str]:
    """Return sentences, each once; of those that say the same of several things one, which names these."""
    found: dict[str, list[str]] = {}
    for text in dict.fromkeys(texts):
        match = OF_ONE.match(text)
        found.setdefault(text if match is None else match[2], []).append("" if match is None else match[1])
    return [
        f"each of {listed(names)} {rest}" if len(names) > 1 else f"'{names[0]}' {rest}" if names[0] else rest
        for rest, names in found.items()
    ]


def plural(count: int, noun: str, many: str = "") -> str:
    """Return "1 frame", "2 frames"; `many` is a noun's plural that takes more than an s."""
    return f"{count} {noun}" if count == 1 else f"{count} {many or noun + 's'}"


def listed(names: list[str], most: int = 6) -> str:
    """Return "'a', 'b'", and how many there are beyond the first few."""
    shown = [f"'{name}'" for name in names[:most]]
    more = [f"and {len(names) - most} more"] if len(names) > most else []
    return ", ".join(shown + more)


def describe(model: VertexModel) -> str:
    """Return "2 surfaces, 1 tag, 20 frames"; of surfaces and tags goes unsaid what it has none of."""
    counts = ((len(model.surfaces), "surface"), (len(model.tags), "tag"))
    return ", ".join([*(plural(count, noun) for count, noun in counts if count), plural(model.num_frames, "frame")])


def describe_skeletal(model: SkeletalModel) -> str:
    """Return "2 meshes, 24 joints, 1200 vertices", and how many more levels of detail there are."""
    near = model.nearest().meshes
    vertices = sum(mesh.num_vertices for mesh in near)
    found = [plural(len(near), "mesh", "meshes"), plural(model.skeleton.num_joints, "joint"), f"{vertices} vertices"]
    levels = max((mesh.level for mesh in model.meshes), default=0)
    return ", ".join([*found, *([f"{plural(levels, 'level')} of detail"] if levels else [])])


def describe_animation(animation: Animation) -> str:
    """Return "40 frames at 24 per second, 24 joints"."""
    frames, joints = plural(animation.num_frames, "frame"), plural(len(animation.joint_names), "joint")
    return f"{frames} at {animation.frame_rate:g} per second, {joints}"
