"""Do the arrays of a model go together? Those that readers and exports make do; what scripts put together may not.

What says which part of its source something was is of that source's numbers. Who takes frames, vertices, triangles or
joints away, or adds some, need not know of it: where its length is another now, all of it counts as new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import EllipsisType
from typing import Any, TypeVar

import numpy as np

from ..reporting import LimitError
from .skeletal import Animation, SkeletalModel, Skeleton, SkinnedMesh
from .vertex import Surface, Tag, VertexModel

Shape = tuple[str | int | EllipsisType, ...]  # letters stand for numbers that arrays have in common
Sizes = dict[str, int]
Thing = TypeVar("Thing", Surface, Skeleton, SkinnedMesh, Animation, VertexModel)

LISTS = frozenset(("frame_names", "names", "joint_names"))
ARRAYS: Mapping[type, Mapping[str, Shape]] = {
    VertexModel: {"frame_names": ("F",)},
    Surface: {
        "triangles": ("T", 3), "positions": ("F", "V", 3), "normals": ("F", "V", 3), "own_normals": ("V",),
        "colors": ("V", 4),
    },
    Tag: {"origins": ("F", 3), "axes": ("F", 3, 3)},
    Skeleton: {
        "names": ("J",), "parents": ("J",), "positions": ("J", 3), "rotations": ("J", 4), "scales": ("J", 3),
        "traits.torso_weights": ("J",), "traits.flags": ("J",),
    },
    SkinnedMesh: {
        "uvs": ("V", 2), "triangles": ("T", 3), "normals": ("V", 3), "colors": ("V", 4), "weights.starts": ("V",),
        "weights.counts": ("V",), "weights.joints": ("W",), "weights.factors": ("W",), "weights.offsets": ("W", 3),
        "weights.still": ("V", 3),
    },
    Animation: {
        "joint_names": ("J",), "parents": ("J",), "positions": ("F", "J", 3), "rotations": ("F", "J", 4),
        "bounds": ("F", 2, 3), "scales.values": ("F", "J", ...), "traits.torso_weights": ("J",), "traits.flags": ("J",),
    },
}  # fmt: skip
OF_SOURCE: Mapping[type, Mapping[str, Shape]] = {
    VertexModel: {"frame_sources": ("F",)},
    Surface: {
        "source_vertices": ("V",), "source_triangles": ("T",), "corner_sources": ("T", 3), "shown_corners": ("T", 3),
        "copies": ("V",),
    },
    Skeleton: {"sources": ("J",), "kept": ("J",)},
    SkinnedMesh: {
        "source_vertices": ("V",), "source_triangles": ("T",), "kept": ("V",), "kept_normals": ("V",),
        "carried": ("V",),
    },
    Animation: {"source_frames": ("F", "J", ...), "source_joints": ("J",), "edited": ("F", 2, 3), "times": ("F",)},
}  # fmt: skip


def settled_vertex(model: VertexModel) -> VertexModel:
    """Return a model whose arrays go together, with its source where that still is of its numbers.

    Raises:
        LimitError: arrays are not of the shapes that others ask for.
    """
    sizes = Sizes()
    found = _settled(model, "the model", sizes)
    if not model.num_frames:
        raise LimitError("the model has no frames")
    for tag in model.tags:
        _fit(tag, f"the tag '{tag.name}'", dict(sizes))
    return replace(found, surfaces=[_settled_surface(surface, dict(sizes)) for surface in model.surfaces])


def _settled_surface(surface: Surface, sizes: Sizes) -> Surface:
    called, uvs = f"the surface '{surface.name}'", np.shape(surface.uvs)
    _array(surface.uvs, called, "uvs")
    if len(uvs) == 2:
        sizes["V"] = uvs[0]
    if uvs not in {(sizes.get("V"), 2), (len(surface.triangles), 3, 2)}:
        raise LimitError(
            f"{called}: 'uvs' has the shape {uvs}, not (V, 2) or, by corners, ({len(surface.triangles)}, 3, 2)"
        )
    settled = _settled(surface, called, sizes)
    _within(surface.triangles, sizes["V"], f"{called}: 'triangles'", "vertices")
    return settled


def settled_skeletal(model: SkeletalModel) -> SkeletalModel:
    """Return a model whose arrays go together; see `settled_vertex`."""
    sizes = Sizes()
    skeleton = _settled(model.skeleton, "the skeleton", sizes)
    meshes = [_settled_mesh(mesh, sizes["J"]) for mesh in model.meshes]
    if skeleton is not model.skeleton:  # by whose numbers weights of the source are
        meshes = [replace(mesh, kept=None, carried=None) for mesh in meshes]
    return replace(model, skeleton=skeleton, meshes=meshes)


def _settled_mesh(mesh: SkinnedMesh, joints: int) -> SkinnedMesh:
    called, sizes = f"the mesh '{mesh.name or mesh.shader}'", Sizes()
    settled = _settled(mesh, called, sizes)
    _within(mesh.triangles, sizes["V"], f"{called}: 'triangles'", "vertices")
    _within(mesh.weights.joints, joints, f"{called}: 'weights.joints'", "joints")
    return settled


def settled_motion(motion: Animation) -> Animation:
    """Return an animation whose arrays go together; see `settled_vertex`."""
    return _settled(motion, f"the animation '{motion.name}'", Sizes())


def _settled(thing: Thing, called: str, sizes: Sizes) -> Thing:
    """Return a thing without what is of other numbers of its source; raises LimitError where arrays are no match."""
    _fit(thing, called, sizes)
    wanted = OF_SOURCE[type(thing)]
    values = {name: getattr(thing, name) for name in wanted}
    stale = [n for n, v in values.items() if v is not None and not _fits(np.shape(v), wanted[n], sizes)]
    none: dict[str, Any] = dict.fromkeys(stale)
    return replace(thing, **none) if stale else thing


def _fit(thing: Any, called: str, sizes: Sizes) -> None:
    """Refuse arrays that are not of their shape; adds to `sizes`, by letter. Raises LimitError."""
    for name, shape in ARRAYS[type(thing)].items():
        value = _value(thing, name)
        if value is None:
            continue
        if name not in LISTS:
            _array(value, called, name)
        found = np.shape(value)
        if not _fits(found, shape, sizes):
            wanted = ", ".join("..." if each is ... else str(sizes.get(str(each), each)) for each in shape)
            raise LimitError(f"{called}: '{name}' has the shape {found}, not ({wanted})")
        sizes |= {each: size for each, size in zip(shape, found, strict=False) if isinstance(each, str)}


def _array(value: Any, called: str, name: str) -> None:
    """Refuse what is no array; raises LimitError."""
    if not isinstance(value, np.ndarray):
        raise LimitError(f"{called}: '{name}' is no array of numpy but a {type(value).__name__}")


def _value(thing: Any, name: str) -> Any:
    """Return what an attribute is, or one of that with a dot between; None where one on the way is None."""
    for part in name.split("."):
        thing = None if thing is None else getattr(thing, part)
    return thing


def _fits(found: tuple[int, ...], shape: Shape, sizes: Sizes) -> bool:
    wanted = [sizes.get(str(each), each) for each in shape if each is not ...]
    same = len(found) >= len(wanted) if ... in shape else len(found) == len(wanted)
    return same and all(isinstance(size, str) or size == n for size, n in zip(wanted, found, strict=False))


def _within(values: Any, count: int, called: str, what: str) -> None:
    """Refuse numbers of what there is not; raises LimitError."""
    numbers = np.asarray(values)
    if numbers.dtype.kind not in "iu":
        raise LimitError(f"{called} has numbers that are not whole: {numbers.dtype}")
    if numbers.size and not 0 <= int(numbers.min()) <= int(numbers.max()) < count:
        raise LimitError(f"{called} has numbers from {numbers.min()} to {numbers.max()}, there are {count} {what}")
